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

from rosenblatt.cli import options as o
from rosenblatt.params import FAMILY

LEARNERS = [name for name in FAMILY if name not in ("voted", "kernel") and "regression" not in name]


@click.command("serve", cls=o.Verb, help=__doc__)
@click.argument("model", metavar="[MODEL]", required=False, type=o.InputFile())
@o.option("--learn LOG", "learn, and store every example in this log", name="log", type=o.OutputFile(folder=True))
@o.option("--host NAME", "address to listen on", default="127.0.0.1")
@o.option("--port N", "port; 0 takes a free one", type=o.PORT, default=8000)
@o.option("--token-file FILE", 'file with one "ROLE TOKEN" per line (predict, learn, admin)', type=o.InputFile())
@o.option("--allow-host NAME", "accept only this Host header (repeatable)", multiple=True)
@o.option("--tls-cert FILE", "certificate for HTTPS", type=o.InputFile(), needs="tls_key")
@o.option("--tls-key FILE", "its private key", type=o.InputFile(), needs="tls_cert")
@o.option("--limit NAME=SIZE", "change a limit, such as body=32M or rows=1000 (repeatable)", multiple=True)
@o.option(
    "--snapshot-every N", "snapshot after N examples and every minute", type=o.COUNT, default=200_000, needs="log"
)
@o.online_learner_options("start a new log with an untrained learner", LEARNERS, needs="log", without="model")
def command(allow_host: Any, limit: Any, learner: Any, params: Any, **place: Any) -> int:
    from rosenblatt.encode.options import parse_limits

    with o.importing("serve"):
        from rosenblatt.service.config import ServerConfig, ServiceLimits
        from rosenblatt.service.server import serve

    config = ServerConfig(
        params=o.online_params(learner, params),
        allowed_hosts=frozenset(name.lower().strip("[]") for name in allow_host),
        limits=parse_limits(ServiceLimits(), limit),
        **place,
    )
    return serve(config)
