"""The server process: uvicorn, signals, the writer's thread, and a proper end.

Invariant: after SIGTERM everything that was accepted is answered and learned, and a snapshot is on disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn
import uvloop

from rosenblatt.errors import ParameterError
from rosenblatt.models.model import Model
from rosenblatt.service.app import LOOPBACK, App
from rosenblatt.service.clock import Clock
from rosenblatt.service.learning import Learning
from rosenblatt.service.limits import Limits
from rosenblatt.service.protocol import bounded, sweep
from rosenblatt.service.rows import Form
from rosenblatt.service.service import Service
from rosenblatt.service.tokens import Tokens
from rosenblatt.service.writer import Writer

SWITCH = 0.0005  # seconds after which a thread that computes lets another one have its turn
GRACE = 30  # seconds for requests to be answered after SIGTERM


@dataclass(frozen=True)
class Place:
    """Where to listen, and who may ask."""

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: Tokens | None = None
    hosts: frozenset[str] = frozenset()
    certificate: str | None = None
    key: str | None = None

    def check(self) -> None:
        """Raise for what would let strangers in."""
        if self.tokens is None and self.host not in LOOPBACK:
            raise ParameterError(f"--host {self.host}: without --token-file only this machine is served")
        if (self.certificate is None) != (self.key is None):
            raise ParameterError("--tls-cert and --tls-key go together")


def serve(place: Place, limits: Limits, *, model: Model | None = None, learning: tuple[Learning, Clock] | None) -> int:
    """Serve until SIGTERM or Ctrl-C; 0 if it ended properly."""
    place.check()
    sys.setswitchinterval(SWITCH)
    # What is loaded by now stays: looking through all of it again and again would hold up requests.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    with listen(place.host, place.port) as bound, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_serve(place, bound, limits, model, learning))


async def _serve(
    place: Place, bound: socket.socket, limits: Limits, model: Model | None, learning: tuple[Learning, Clock] | None
) -> int:
    writer = None
    if learning is not None:
        writer = Writer(*learning)
        if writer.broken:
            print(f"rosenblatt: nothing can be learned, only predicted: {writer.broken}", file=sys.stderr, flush=True)
        form = learning[0].form
    else:
        assert model is not None
        form = form_of(model, limits)
    found = None if learning is None else learning[0]
    service = Service(form, limits, model=model if learning is None else None, learning=found, writer=writer)
    config = uvicorn.Config(
        App(service, place.tokens, place.hosts),
        http=bounded(limits),
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=max(2048, limits.connections),
        timeout_keep_alive=limits.idle,
        timeout_graceful_shutdown=GRACE,
        ssl_certfile=place.certificate,
        ssl_keyfile=place.key,
    )
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # the application says itself what goes wrong
    server = _Server(config, place)
    if writer is not None:
        writer.start()
    sweeper = asyncio.create_task(sweep(server.server_state.connections))
    try:
        await server.serve([bound])
    finally:
        sweeper.cancel()
        if writer is not None:
            writer.end()
            await asyncio.to_thread(writer.join)
            assert learning is not None
            learning[0].log.close()
    if not server.started:
        return 1
    if learning is not None and learning[0].complaint:
        why = f"the log holds every example, but not all could be saved: {learning[0].complaint}"
        print(f"rosenblatt: {why}", file=sys.stderr, flush=True)
        return 1
    return 0


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    def __init__(self, config: uvicorn.Config, place: Place) -> None:
        super().__init__(config)
        self._place = place

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if not self.started:
            return
        port = self.servers[0].sockets[0].getsockname()[1]
        scheme = "http" if self._place.certificate is None else "https"
        host = f"[{self._place.host}]" if ":" in self._place.host else self._place.host
        print(f"Serving at {scheme}://{host}:{port}/  (SIGTERM or Ctrl-C stops it)", flush=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does, but what was caught is not raised again: the end is a proper one."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound; port 0 takes a free one."""
    if not 0 <= port <= 65535:
        raise ParameterError(f"--port {port}: must be from 0 to 65535")
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound = socket.socket(found[0], found[1])
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(found[4])
    except OSError as error:
        raise ParameterError(f"--host {host} --port {port}: {error.strerror or error}") from None
    return bound


def form_of(model: Model, limits: Limits) -> Form:
    """How the rows of a model that does not learn are read."""
    if model.encoder is not None or not model.names:  # columns by number, or by hash
        names: dict[Any, int] = {column: column for column in range(model.features)}
    else:
        names = {name: column for column, name in model.names.items()}
    bits = model.parameters.get("hash_bits")
    return Form(names, limits, model.encoder, None if model.encoder is not None or bits else model.features, bits)
