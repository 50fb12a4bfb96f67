"""The service as an ASGI application: who asks, for what, and in which form.

Invariant: every request gets exactly one answer, and every error has the same shape. What a client sends is bounded
before it is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from rosenblatt.service.bodies import ARROW, JSON, LINES, TYPES, decode
from rosenblatt.service.live import live_facts
from rosenblatt.service.messages import Promote
from rosenblatt.service.metrics import Metrics
from rosenblatt.service.openapi import describe
from rosenblatt.service.page import PAGES
from rosenblatt.service.refusals import Refused, body_of, busy, too_large
from rosenblatt.service.service import Service
from rosenblatt.service.tokens import ROLES, Tokens

ENCODER = msgspec.json.Encoder()
PROMOTE = msgspec.json.Decoder(Promote)
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
_JSON, _LINES, _ARROW, _FILE = JSON.encode(), LINES.encode(), ARROW.encode(), b"application/octet-stream"
_TEXT = b"text/plain; version=0.0.4; charset=utf-8"
_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]
_WATCHED = frozenset(
    (
        b"accept",
        b"content-type",
        b"content-length",
        b"authorization",
        b"host",
        b"origin",
        b"idempotency-key",
        b"content-encoding",
    )
)
OPEN, PREDICT, LEARN, ADMIN = -1, 0, 1, 2
SHORT = 8192  # bytes of a body that is not waited for with a clock of its own

Reply = tuple[bytes, bytes]  # the type of the content, and the content


class App:
    """Routes requests to the service.

    Parameters
    ----------
    service : Service
    tokens : Tokens, optional
        Without them only this machine is served, and only by its own names.
    hosts : set of str
        Names under which this server may be asked; empty: any, if there are tokens.
    """

    def __init__(self, service: Service, tokens: Tokens | None = None, hosts: frozenset[str] = frozenset()) -> None:
        self.service, self.tokens = service, tokens
        self.hosts = hosts if hosts or tokens is not None else LOOPBACK
        self.metrics = Metrics(service)
        self.reading = 0  # bytes of bodies that are in memory
        self.description = ENCODER.encode(describe(service.form.raw))
        self.routes: dict[str, dict[str, tuple[int, Callable[[_Request], Awaitable[Reply]]]]] = {
            "/predict": {"POST": (PREDICT, self._predict)},
            "/learn": {"POST": (LEARN, self._learn)},
            "/feedback": {"POST": (LEARN, self._feedback)},
            "/model": {"GET": (PREDICT, self._model)},
            "/model/file": {"GET": (ADMIN, self._file)},
            "/promote": {"POST": (ADMIN, self._promote)},
            "/live": {"GET": (LEARN, self._live)},
            "/health": {"GET": (OPEN, self._health)},
            "/ready": {"GET": (OPEN, self._ready)},
            "/metrics": {"GET": (PREDICT, self._metrics)},
            "/openapi.json": {"GET": (OPEN, self._openapi)},
        }
        for path in PAGES:
            self.routes[path] = {"GET": (OPEN, self._page)}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        begun = time.perf_counter()
        path = scope["path"]
        headers = list(_ALWAYS)
        status = 200
        try:
            kind, body = await self._answer(_Request(scope, receive))
            if path in PAGES:
                headers += PAGES[path].headers
        except Refused as refused:
            status, kind, body = refused.status, _JSON, body_of(refused.status, refused.message)
            headers += refused.headers
        except TimeoutError:
            status, kind, body = 503, _JSON, body_of(503, "it took too long")
            headers.append((b"retry-after", b"1"))
        except _Gone:
            return
        except Exception:
            traceback.print_exc(file=sys.stderr)
            status, kind, body = 500, _JSON, body_of(500, "something went wrong in the server; its log says what")
        headers += [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        self.metrics.count(path if path in self.routes else "other", status, time.perf_counter() - begun)
        with contextlib.suppress(RuntimeError, OSError):  # the client was cut off: nobody is there to be told
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, request: _Request) -> Reply:
        self._check_host(request)
        methods = self.routes.get(request.path)
        if methods is None:
            raise Refused(404, f"there is nothing at {request.path[:100]!r}: /docs lists what there is")
        method = "GET" if request.method == "HEAD" else request.method
        if method not in methods:
            allowed = ", ".join([*methods, "HEAD"] if "GET" in methods else methods)
            raise Refused(405, f"{request.path} takes {allowed}", [(b"allow", allowed.encode())])
        role, run = methods[method]
        if role != OPEN and self.tokens is not None:
            self._check_token(request, role)
        if method == "POST":
            return await self._with_body(request, run)
        return await run(request)

    async def _with_body(self, request: _Request, run: Callable[[_Request], Awaitable[Reply]]) -> Reply:
        if (encoding := request.header(b"content-encoding")) and encoding != "identity":
            raise Refused(415, f"the body is in the encoding {encoding[:50]!r}: send it as it is")
        kind = request.header(b"content-type")
        request.kind = kind = kind if kind == JSON else kind.split(";")[0].strip().lower()
        if kind != JSON and (kind not in TYPES or request.path not in ("/predict", "/learn")):
            hint = "" if "form" not in kind else " (with curl: -H 'Content-Type: application/json')"
            raise Refused(415, f"the Content-Type {kind[:100]!r} is not among {', '.join(TYPES)}{hint}")
        limits = self.service.limits
        claimed = int(request.header(b"content-length") or limits.body)
        if claimed > limits.body:
            raise too_large(f"the body has {claimed:,} bytes; the limit is {limits.body:,}")
        try:
            if claimed <= SHORT:  # it has come with the head, nearly always; the protocol watches for the rest
                await self._read(request)
            else:
                async with asyncio.timeout(limits.seconds):
                    await self._read(request)
            return await run(request)
        except TimeoutError:
            if request.is_whole:
                raise
            late = f"the body did not come within {limits.seconds} seconds"
            raise Refused(408, late, [(b"connection", b"close")]) from None
        finally:
            self.reading -= request.held

    async def _read(self, request: _Request) -> None:
        """The whole body, as long as there is room for it."""
        limits = self.service.limits
        parts: list[bytes] = []
        size = 0
        while True:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise _Gone
            part = message.get("body", b"")
            size += len(part)
            request.held += len(part)
            self.reading += len(part)
            if size > limits.body:
                raise too_large(f"the body has more than {limits.body:,} bytes, the limit")
            if self.reading > limits.bodies:
                refused = busy("too many large requests at once")
                refused.headers = (*refused.headers, (b"connection", b"close"))
                raise refused
            parts.append(part)
            if not message.get("more_body"):
                break
        request.body = parts[0] if len(parts) == 1 else b"".join(parts)
        request.is_whole = True

    # -- who asks

    def _check_host(self, request: _Request) -> None:
        """A page elsewhere could point its own name here, or send a form: neither may reach the model."""
        host = request.header(b"host")
        if self.hosts:
            name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
            name, port = (name, port) if name else (port, "")
            if name.lower() not in self.hosts or (port and not port.isdecimal()) or request.hosts != 1:
                raise Refused(403, f"this server is not asked by the name {host[:100]!r}")
        origin = request.header(b"origin")
        if origin and origin.split("://", 1)[-1] != host:
            raise Refused(403, "pages of other sites may not ask this server")

    def _check_token(self, request: _Request, role: int) -> None:
        assert self.tokens is not None
        given = request.header(b"authorization")
        words = given.split(" ", 1)
        found = None
        if len(words) == 2 and words[0].lower() == "bearer":
            found = self.tokens.role_of(words[1].strip().encode("latin-1"))
        if found is None:
            raise Refused(401, "send Authorization: Bearer TOKEN", [(b"www-authenticate", b"Bearer")])
        if found < role:
            raise Refused(403, f"this needs a token with the role {ROLES[role]}")

    # -- what is asked for

    async def _predict(self, request: _Request) -> Reply:
        packed = request.header(b"accept") == ARROW
        body = await self.service.predict(request.body, request.kind, request.query, packed)
        return (_ARROW if packed else _LINES if request.kind == LINES else _JSON), body

    async def _learn(self, request: _Request) -> Reply:
        key = request.header(b"idempotency-key") or None
        if key is not None and (len(key) > 255 or not key.isprintable() or key.startswith("feedback:")):
            raise Refused(422, "an Idempotency-Key has at most 255 characters, and does not begin with feedback:")
        return _JSON, await self.service.learn(request.body, request.kind, request.query, key)

    async def _feedback(self, request: _Request) -> Reply:
        return _JSON, await self.service.feedback(request.body)

    async def _promote(self, request: _Request) -> Reply:
        await self.service.promote(decode(PROMOTE, request.body).learner)
        return _JSON, ENCODER.encode(self.service.facts())

    async def _model(self, request: _Request) -> Reply:
        return _JSON, ENCODER.encode(self.service.facts())

    async def _file(self, request: _Request) -> Reply:
        return _FILE, await self.service.file()

    async def _live(self, request: _Request) -> Reply:
        return _JSON, ENCODER.encode(live_facts(self.service, self.metrics))

    async def _health(self, request: _Request) -> Reply:
        return _JSON, ENCODER.encode(self.service.health())

    async def _ready(self, request: _Request) -> Reply:
        return _JSON, ENCODER.encode(self.service.ready())

    async def _metrics(self, request: _Request) -> Reply:
        return _TEXT, self.metrics.text()

    async def _openapi(self, request: _Request) -> Reply:
        return _JSON, self.description

    async def _page(self, request: _Request) -> Reply:
        page = PAGES[request.path]
        return page.kind, page.content


class _Request:
    """A request, with the headers that matter."""

    __slots__ = ("_headers", "body", "held", "hosts", "is_whole", "kind", "method", "path", "query", "receive")

    def __init__(self, scope: Any, receive: Any) -> None:
        self.method, self.path, self.query = scope["method"], scope["path"], scope["query_string"]
        self.receive = receive
        self.body, self.kind, self.held, self.is_whole = b"", "", 0, False
        self._headers = {name: value for name, value in scope["headers"] if name in _WATCHED}
        self.hosts = sum(name == b"host" for name, _ in scope["headers"])

    def header(self, name: bytes) -> str:
        """The text of a header; empty if it was not sent."""
        value = self._headers.get(name)
        return "" if value is None else value.decode("latin-1")


class _Gone(Exception):
    """The client has hung up before its request was whole."""
