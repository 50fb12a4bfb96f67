"""The server process: uvicorn with bounded connections, signals, the trainer's thread, and a clean end.

Invariant: a connection that is too slow, silent for too long, one too many, has a head or trailers without end, or
pipelines more requests than it may is closed. After SIGTERM everything accepted is answered and learned, and a snapshot
is on disk.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import ssl
import sys
import time
from typing import Any, ClassVar

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from rosenblatt.errors import ParameterError
from rosenblatt.service.app import App, Tokens, read_tokens
from rosenblatt.service.config import ServerConfig, ServiceLimits
from rosenblatt.service.errors import error_body
from rosenblatt.service.predictor import FixedModel
from rosenblatt.service.trainer import Trainer, trainer_of

BACKLOG = 2048  # connections that wait to be accepted
SWITCH_SECONDS = 0.0005  # after which a thread that computes lets another one run
GRACE_SECONDS = 30  # for requests to be answered after SIGTERM
HEAD_BYTES = 32 << 10  # of a request's head, or its trailers
MAX_PIPELINED = 8  # requests that wait behind the one in progress
REAP_SECONDS = 1.0


def serve(config: ServerConfig) -> int:
    """Serve until SIGTERM or Ctrl-C; the exit status."""
    config.check()
    tokens = None if config.token_file is None else read_tokens(config.token_file)
    if config.token_file is not None and os.stat(config.token_file).st_mode & 0o077:
        print(f"rosenblatt: warning: other users can read {config.token_file}: run chmod 600", file=sys.stderr)
    if config.tls_cert is not None:
        check_certificate(config.tls_cert, config.tls_key)
    with listen(config.host, config.port) as bound:
        source = FixedModel(str(config.model), config.limits) if config.log is None else trainer_of(config)
        sys.setswitchinterval(SWITCH_SECONDS)
        # What is loaded by now stays: scanning it again and again would hold up requests.
        gc.collect()
        gc.freeze()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(config, bound, source, tokens))


async def _serve(
    config: ServerConfig, bound: socket.socket, source: Trainer | FixedModel, tokens: Tokens | None
) -> int:
    app = App(source, config.limits, tokens, config.allowed_hosts)
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # the application reports errors itself
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=type("Bounded", (BoundedProtocol,), {"limits": config.limits}),
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_keep_alive=config.limits.idle,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ssl_certfile=config.tls_cert,
            ssl_keyfile=config.tls_key,
        )
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, lambda: loop.create_task(_reload(app)))
    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn stops, and raises the signal again: the exit status is 0
        signal.signal(number, lambda *_: None)
    trainer = source if isinstance(source, Trainer) else None
    if trainer is not None:
        trainer.loop = loop
        trainer.start()
    reaper = asyncio.create_task(reap_idle(server.server_state.connections))
    scheme, host = "http" if config.tls_cert is None else "https", config.host.strip("[]")
    host = f"[{host}]" if ":" in host else host
    stored = "" if trainer is None else f"examples in {trainer.log.path}: {trainer.log.last:,}; "
    print(f"Serving at {scheme}://{host}:{bound.getsockname()[1]}/  ({stored}SIGTERM or Ctrl-C stops it)", flush=True)
    try:
        await server.serve([bound])
    finally:
        reaper.cancel()
        if trainer is not None:
            trainer.stop()
            await asyncio.to_thread(trainer.join)
            trainer.log.close()
    if trainer is not None and trainer.snapshot_error:
        print(f"rosenblatt: no snapshot could be saved: {trainer.snapshot_error}", file=sys.stderr, flush=True)
        return 1
    return 0


async def _reload(app: App) -> None:
    """SIGHUP."""
    print(f"rosenblatt: {await app.reload()}", file=sys.stderr, flush=True)


def check_certificate(cert: str, key: str | None) -> None:
    """Raise for files of TLS that cannot be used; a key must not need a passphrase."""
    context, option, reason = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), f"--tls-cert {cert}", "not a certificate in PEM"
    try:
        context.load_verify_locations(cert)
        option, reason = f"--tls-key {key}", "not the private key of the certificate, in PEM and without a passphrase"
        context.load_cert_chain(cert, key, password=lambda: b"")
    except OSError as error:  # OpenSSL says little of the reason
        raise ParameterError(f"{option}: {reason if isinstance(error, ssl.SSLError) else error.strerror}") from None


def listen(host: str, port: int) -> socket.socket:
    """A socket; port 0 is a free one. Who connects before the log is learned waits."""
    try:
        return socket.create_server(
            (host.strip("[]"), port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=BACKLOG
        )
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"--host {host} --port {port}: {reason}") from None


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with a bound on everything that a connection can hold or hold up."""

    limits: ClassVar[ServiceLimits]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head = 0  # bytes since the last head, body part or message ended: of a head, or of trailers
        self._arriving: float | None = None  # since when a request is not whole
        self._leaving: float | None = None  # since when a reply is not read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._arriving = time.monotonic()
        if len(self.connections) > self.limits.connections:
            self._refuse(503, "too many connections", b"retry-after: 1\r\n")

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._arriving is None:
            self._arriving = time.monotonic()
        self._head += len(data)
        super().data_received(data)
        if self._head > HEAD_BYTES:
            self._refuse(431, f"the head of a request, and its trailers, have at most {HEAD_BYTES} bytes")

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= MAX_PIPELINED:
            raise ValueError("too many pipelined requests")  # the parser stops, and `send_400_response` closes
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head = 0
        super().on_headers_complete()
        self.headers = []  # for trailers, which are ignored: the request keeps its own

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        self._arriving = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._leaving = time.monotonic()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._leaving = None

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "not a valid HTTP request, or too many pipelined ones")

    def _refuse(self, status: int, message: str, more: bytes = b"") -> None:
        body = error_body(status, message)
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n" % len(body)
        if not self.transport.is_closing():
            self.transport.write(STATUS_LINE[status] + head + more + b"\r\n" + body)
            self.transport.close()

    def close_if_overdue(self, now: float) -> None:
        """Close the connection if the client keeps us waiting for too long."""
        begun = [since for since in (self._arriving, self._leaving) if since is not None]
        if not begun or now - min(begun) <= self.limits.seconds:
            return
        cycle = self.cycle
        unanswered = cycle is None or cycle.response_complete or not cycle.response_started
        if cycle is not None:
            cycle.disconnected = True
        if self._leaving is None and unanswered:
            self._refuse(408, f"the request did not arrive within {self.limits.seconds} seconds")
        else:
            self.transport.abort()


async def reap_idle(connections: set[Any]) -> None:
    """Close overdue connections from time to time."""
    while True:
        await asyncio.sleep(REAP_SECONDS)
        now = time.monotonic()
        for protocol in list(connections):
            if isinstance(protocol, BoundedProtocol):
                protocol.close_if_overdue(now)
