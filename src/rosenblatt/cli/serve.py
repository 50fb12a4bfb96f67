"""Serve a model over HTTP: predict while it learns, without losing an acknowledged example.

    rosenblatt serve spam.model
    rosenblatt serve --learner averaged --learn spam.sqlite
    rosenblatt serve --learn spam.sqlite --token-file tokens --host 0.0.0.0

With --learn every example is stored in LOG before it is learned and acknowledged; a killed server continues from
there. GET / is the live page, GET /docs lists the requests. SIGHUP reloads the model file of a server without --learn.
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli.options import SEED, InputFile, OutputFile, Verb, make_params, option, params_options
from rosenblatt.errors import MissingExtraError, ParameterError
from rosenblatt.params import FAMILY


@click.command("serve", cls=Verb, help=__doc__)
@click.argument("model", metavar="[MODEL]", required=False, type=InputFile())
@option("--learn", metavar="LOG", type=OutputFile(folder=True), help="learn, and store every example in this log")
@option(
    "--learner",
    type=click.Choice([name for name in FAMILY if name not in ("voted", "kernel") and "regression" not in name]),
    help="start a new log with an untrained learner",
)
@option("--classes", metavar="A,B", help="class labels to start with, comma-separated")
@option("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
@option("--port", type=click.IntRange(0, 65535), default=8000, help="port; 0 takes a free one (default 8000)")
@option(
    "--token-file", metavar="FILE", type=InputFile(), help='file with one "ROLE TOKEN" per line (predict, learn, admin)'
)
@option("--allow-host", multiple=True, metavar="NAME", help="accept only this Host header (repeatable)")
@option("--tls-cert", metavar="FILE", type=InputFile(), help="certificate for HTTPS")
@option("--tls-key", metavar="FILE", type=InputFile(), help="its private key")
@option(
    "--limit",
    multiple=True,
    metavar="NAME=SIZE",
    help="change a limit: body, bodies, reply, rows, values, cells, features, classes, weights, name, connections, "
    "seconds, idle, predictions, retention or keys (repeatable)",
)
@option(
    "--snapshot-every",
    type=click.IntRange(1),
    default=200_000,
    metavar="N",
    help="examples between snapshots; there is also one per minute (default 200000)",
)
@option("--seed", type=SEED, default=0, metavar="N", section="Options of a new learner", help="seed (default 0)")
@params_options("Options of a new learner")
def command(
    learn: Any, learner: Any, classes: Any, allow_host: Any, limit: Any, seed: int, given: Any, **place: Any
) -> int:
    check_extra()
    from rosenblatt.service.config import ServerConfig, ServiceLimits
    from rosenblatt.service.server import serve

    if learner is None and given:
        raise ParameterError("the options of a learner need --learner")
    params = None if learner is None else make_params(learner, given, max_iter=1000, random_state=seed)
    hosts = frozenset(name.lower() for name in allow_host)
    limits = ServiceLimits.parse(limit)
    how: dict[str, Any] = {"classes": _classes(classes), "allowed_hosts": hosts, "limits": limits, **place}
    return serve(ServerConfig(log=learn, params=params, **how))


def check_extra() -> None:
    """Raise unless the packages of the service are installed."""
    from importlib.util import find_spec

    for package in ("uvicorn", "httptools", "uvloop", "msgspec", "prometheus_client"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "serve")


def _classes(text: str | None) -> tuple[Any, ...]:
    """Labels as a client would send them: integers if all of them are."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    try:
        return tuple(int(word) for word in words)
    except ValueError:
        return tuple(words)
