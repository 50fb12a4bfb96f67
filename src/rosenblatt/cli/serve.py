"""Serve a model over HTTP: predictions while it learns, and no acknowledged example is lost.

    rosenblatt serve spam.model
    rosenblatt serve --learner averaged --learn spam.sqlite
    rosenblatt serve --learn spam.sqlite --shadow arow,pa1 --token-file tokens --host 0.0.0.0

With --learn every example is stored in LOG before it is learned and acknowledged; a server that was killed goes on
from there. GET / shows how it does, GET /docs what it can be asked.
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "serve a model that predicts and learns"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.parameters import add_params_arguments
    from rosenblatt.params.family import FAMILY

    parser.usage = "rosenblatt serve [MODEL] [--learn LOG] [options]"
    parser.add_argument("model", nargs="?", metavar="MODEL", help="a model to answer by, and to begin a new log with")
    parser.add_argument("--learn", metavar="LOG", help="learn, by this log; made if there is none")
    parser.add_argument(
        "--learner",
        choices=[name for name in FAMILY if name not in ("voted", "kernel")],
        help="begin a new log with a learner that knows nothing",
    )
    parser.add_argument("--classes", metavar="A,B", help="classes that it knows beforehand, with commas between")
    parser.add_argument("--shadow", metavar="A,B", help="learners that learn beside, and are compared")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="the port; 0 takes a free one (8000)")
    parser.add_argument(
        "--token-file", metavar="FILE", help="who may ask: a role (predict, learn, admin) and a token per line"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer only if asked by this name; may be repeated",
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="a certificate, for HTTPS")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="change a limit: body, bodies, rows, values, cells, features, classes, weights, name, connections, "
        "seconds, idle, waiting, predictions, retention or keys; may be repeated",
    )
    parser.add_argument(
        "--snapshot-every",
        type=_count,
        default=200_000,
        metavar="N",
        help="examples after which a snapshot is saved, beside one per minute (200000)",
    )
    group = parser.add_argument_group("of a learner that begins a log")
    group.add_argument("--random-state", type=int, default=0, metavar="N", help="a seed (0)")
    add_params_arguments(group)
    parser.set_defaults(max_iter=1000)


def run(args: argparse.Namespace) -> int:
    """0: ended properly."""
    from rosenblatt.errors import ParameterError
    from rosenblatt.service.limits import Limits

    check_extra()
    from rosenblatt.models.file import load
    from rosenblatt.service.serving import Place, serve
    from rosenblatt.service.tokens import Tokens

    limits = Limits.of(args.limit)
    tokens = Tokens.read(args.token_file) if args.token_file else None
    hosts = frozenset(name.lower() for name in args.allow_host)
    place = Place(args.host, args.port, tokens, hosts, args.tls_cert, args.tls_key)
    place.check()
    if args.learn is None:
        if args.model is None:
            raise ParameterError("there is nothing to serve: name a MODEL, or --learn LOG")
        if args.learner or args.shadow or args.classes:
            raise ParameterError("--learner, --classes and --shadow learn: name a log with --learn LOG")
        return serve(place, limits, model=load(args.model), learning=None)
    from rosenblatt.service.opening import open_learning

    learning = open_learning(args.learn, limits, _wanted(args), _shadows(args), args.snapshot_every)
    return serve(place, limits, learning=learning)


def check_extra() -> None:
    """Raise unless what the service needs is installed."""
    from importlib.util import find_spec

    from rosenblatt.errors import MissingExtraError

    for package in ("uvicorn", "httptools", "uvloop", "msgspec", "prometheus_client"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "serve")


def _wanted(args: argparse.Namespace) -> Any:
    """What a new log begins with, or an old one must have begun with."""
    from rosenblatt.cli.parameters import given_parameters, params_of
    from rosenblatt.errors import ParameterError
    from rosenblatt.service.opening import Wanted, wanted_from

    if args.model is not None:
        if args.learner or args.classes or given_parameters(args):
            raise ParameterError(
                f"the model {args.model} has its own learner and classes: leave --learner, --classes and its options "
                "out (several classes are written --classes A,B)"
            )
        return wanted_from(args.model)
    if args.learner is None:
        if args.classes or given_parameters(args):
            raise ParameterError("--classes and the options of a learner need --learner")
        return None
    return Wanted(params_of(args), classes=_classes(args.classes))


def _classes(text: str | None) -> tuple[Any, ...]:
    """Labels as a client would send them: whole numbers if all of them are."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    try:
        return tuple(int(word) for word in words)
    except ValueError:
        return tuple(words)


def _shadows(args: argparse.Namespace) -> list[Any]:
    from rosenblatt.params.family import make_params

    return [make_params(name.strip()) for name in (args.shadow or "").split(",") if name.strip()]


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number, 1 or more")
    return int(text)
