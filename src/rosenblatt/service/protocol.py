"""The HTTP protocol of uvicorn with a bound on everything that a connection can hold or hold up.

Invariant: a connection that is too slow, silent for too long, one too many, or has headers without end is closed.
Errors have the one shape of the service here, too.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from rosenblatt.service.limits import Limits
from rosenblatt.service.refusals import body_of

HEADERS = 32 << 10  # bytes of a request's head
SWEEP = 1.0


def bounded(limits: Limits) -> type[HttpToolsProtocol]:
    """The protocol with these limits."""

    class Bounded(_Bounded):
        pass

    Bounded.limits = limits
    return Bounded


class _Bounded(HttpToolsProtocol):
    limits: ClassVar[Limits]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head = 0  # bytes of the head that is coming
        self._arriving: float | None = None  # since when a request is not whole
        self._leaving: float | None = None  # since when a reply is not taken

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
        before = self.cycle
        if self._head >= 0:
            self._head += len(data)
        super().data_received(data)
        if self.cycle is before and self._head > HEADERS:
            self._refuse(431, f"the head of a request has at most {HEADERS} bytes")

    def on_headers_complete(self) -> None:
        self._head = -1  # what comes now is a body, which the application bounds
        super().on_headers_complete()

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
        self._refuse(400, "this is not a request that HTTP knows")

    def _refuse(self, status: int, message: str, more: bytes = b"") -> None:
        body = body_of(status, message)
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n" % len(body)
        if not self.transport.is_closing():
            self.transport.write(STATUS_LINE[status] + head + more + b"\r\n" + body)
            self.transport.close()

    def cut_if_overdue(self, now: float) -> None:
        """Close the connection if the other side has kept us waiting for too long."""
        begun = [since for since in (self._arriving, self._leaving) if since is not None]
        # The application has its own word for a body that is late, and comes first.
        if not begun or now - min(begun) <= self.limits.seconds + SWEEP:
            return
        cycle = self.cycle
        unanswered = cycle is None or cycle.response_complete or not cycle.response_started
        if cycle is not None:
            cycle.disconnected = True
        if self._leaving is None and self._head and unanswered and not self.transport.is_closing():
            self._refuse(408, f"the request did not come within {self.limits.seconds} seconds")
        else:
            self.transport.abort()


async def sweep(connections: set[Any]) -> None:
    """Close, from time to time, the connections that are overdue."""
    while True:
        await asyncio.sleep(SWEEP)
        now = time.monotonic()
        for protocol in list(connections):
            if isinstance(protocol, _Bounded):
                protocol.cut_if_overdue(now)
