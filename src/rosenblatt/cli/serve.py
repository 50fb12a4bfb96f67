"""Serve a model over HTTP: predictions while it learns, and no acknowledged example is lost.

    rosenblatt serve spam.model
    rosenblatt serve --learner averaged --learn spam.sqlite
    rosenblatt serve --learn spam.sqlite --token-file tokens --host 0.0.0.0

With --learn every example is stored in LOG before it is learned and acknowledged; a killed server continues from
there. GET / is the live page, GET /docs lists the requests. SIGHUP reloads the model file of a server without --learn.
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "serve a model that predicts and learns"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.parameters import add_params_arguments
    from rosenblatt.params import FAMILY

    parser.usage = "rosenblatt serve [MODEL] [--learn LOG] [options]"
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help="a model to predict with, and to start a new log from"
    )
    parser.add_argument("--learn", metavar="LOG", help="learn, and store every example in this log; created if missing")
    parser.add_argument(
        "--learner",
        choices=[name for name in FAMILY if name not in ("voted", "kernel") and "regression" not in name],
        help="start a new log with a new learner",
    )
    parser.add_argument("--classes", metavar="A,B", help="class labels to start with, comma-separated")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="the port; 0 takes a free one (8000)")
    parser.add_argument(
        "--token-file", metavar="FILE", help='file with one "ROLE TOKEN" per line (predict, learn, admin)'
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="accept only this Host header (repeatable)",
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="a certificate, for HTTPS")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="change a limit: body, bodies, reply, rows, values, cells, features, classes, weights, name, connections, "
        "seconds, idle, predictions, retention or keys (repeatable)",
    )
    parser.add_argument(
        "--snapshot-every",
        type=_count,
        default=200_000,
        metavar="N",
        help="examples after which a snapshot is saved, beside one per minute (200000)",
    )
    group = parser.add_argument_group("of a new learner")
    group.add_argument("--random-state", type=int, default=0, metavar="N", help="a seed (0)")
    add_params_arguments(group)
    parser.set_defaults(max_iter=1000)


def run(args: argparse.Namespace) -> int:
    """0: ended properly."""
    from rosenblatt.cli.parameters import given_parameters, params_of
    from rosenblatt.errors import ParameterError

    check_extra()
    from rosenblatt.service.config import ServerConfig, ServiceLimits
    from rosenblatt.service.server import serve

    if args.learner is None and given_parameters(args):
        raise ParameterError("the options of a learner need --learner")
    config = ServerConfig(
        model=args.model,
        log=args.learn,
        params=None if args.learner is None else params_of(args),
        classes=_classes(args.classes),
        host=args.host,
        port=args.port,
        token_file=args.token_file,
        allowed_hosts=frozenset(name.lower() for name in args.allow_host),
        tls_cert=args.tls_cert,
        tls_key=args.tls_key,
        limits=ServiceLimits.parse(args.limit),
        snapshot_every=args.snapshot_every,
    )
    return serve(config)


def check_extra() -> None:
    """Raise unless what the service needs is installed."""
    from importlib.util import find_spec

    from rosenblatt.errors import MissingExtraError

    for package in ("uvicorn", "httptools", "uvloop", "msgspec", "prometheus_client"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "serve")


def _classes(text: str | None) -> tuple[Any, ...]:
    """Labels as a client would send them: whole numbers if all of them are."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    try:
        return tuple(int(word) for word in words)
    except ValueError:
        return tuple(words)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number, 1 or more")
    return int(text)
