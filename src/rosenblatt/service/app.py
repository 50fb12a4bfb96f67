"""The service as an ASGI application: a route table, bounded bodies, one error shape.

Invariant: every request gets exactly one reply. What a client sends is authorized and bounded before it is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
import time
import traceback
from collections.abc import Callable
from functools import cache, partial
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from rosenblatt import __version__
from rosenblatt.errors import ParameterError, RosenblattError
from rosenblatt.params import values_to_json
from rosenblatt.service import schemas
from rosenblatt.service.config import LOOPBACK, ServiceLimits
from rosenblatt.service.decoding import decode_learn, decode_predict
from rosenblatt.service.errors import HTTPError, error_body, too_large, unavailable
from rosenblatt.service.metrics import InputDrift, Metrics
from rosenblatt.service.online_model import model_bytes
from rosenblatt.service.predictor import FixedModel, Predictor
from rosenblatt.service.schemas import ENCODER, JSON, NDJSON, describe
from rosenblatt.service.trainer import Trainer

LARGE = 256 << 10  # bytes of a body that is decoded in a thread of its own
PART = 64 << 10  # bytes of a reply that are sent at once; requests and replies up to this size are never too much
MANY = 10_000  # scores that are computed in a thread of their own
_FILE, _PROMETHEUS = "application/octet-stream", "text/plain; version=0.0.4; charset=utf-8"
_SMALLER = "send fewer rows per request, or start the server with --limit body=SIZE"
_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]

ROLES = ("predict", "learn", "admin")  # each includes those before it
OPEN, PREDICT, LEARN, ADMIN = -1, 0, 1, 2
SHORTEST_TOKEN = 16

Tokens = dict[bytes, int]  # the role of each token, by its digest
# Nothing is fetched from another host, and no script runs but the files of the page.
_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"
)
PAGE_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_PATHS = {"live.html": "/", "docs.html": "/docs"}
# The content type and the content of each path.
PAGES = {
    _PATHS.get(file.name, f"/page/{file.name}"): (f"{_TYPES[file.suffix]}; charset=utf-8", file.read_bytes())
    for file in (Path(__file__).parent / "page").iterdir()
    if file.suffix in _TYPES
}

Reply = tuple[str, bytes]  # content type and content


class Route(NamedTuple):
    """A row of the route table; routes without a summary are not in the OpenAPI description."""

    method: str
    path: str
    role: int
    handler: Callable[[Request], Any]  # gives a Reply or an object for JSON, or an awaitable of it
    summary: str = ""
    request: type | None = None
    reply: type | str = JSON
    bulk: str = ""  # NDJSON for the request, or for both


class App:
    """Routes requests to the model.

    Parameters
    ----------
    source : Trainer or FixedModel
        It predicts, and a trainer learns.
    limits : ServiceLimits
    tokens : Tokens, optional
        Without them only this machine is served, and only by its own names.
    hosts : set of str
        The Host headers to accept; empty: any, if there are tokens.
    """

    def __init__(
        self,
        source: Trainer | FixedModel,
        limits: ServiceLimits,
        tokens: Tokens | None = None,
        hosts: frozenset[str] = frozenset(),
    ) -> None:
        self.source, self.limits, self.tokens = source, limits, tokens
        self.hosts = hosts if hosts or tokens is not None else LOOPBACK
        self.metrics = Metrics(source)
        self.bytes_in_flight = 0
        self.large = asyncio.Semaphore(2)  # predictions that take much time and memory
        table: list[Route] = [
            Route("POST", "/predict", PREDICT, self._predict, "Predict rows",
                  schemas.PredictRequest, schemas.PredictReply, "both"),
            Route("POST", "/learn", LEARN, self._learn, "Learn rows with labels",
                  schemas.LearnRequest, schemas.LearnReply, "in"),
            Route("GET", "/model", PREDICT, lambda _: self.info(), "Model and lineage", None, schemas.ModelInfo),
            Route("GET", "/model/file", ADMIN, self._file, "The model file as of now", None, _FILE),
            Route("GET", "/live", LEARN, lambda _: self.metrics.live(self.info()), "What the live page shows"),
            Route("GET", "/health", OPEN, lambda _: {"status": "ok", "version": __version__}, "Liveness check"),
            Route("GET", "/ready", OPEN, lambda _: {"ready": True, "learning": self.source.learning,
                  "seq": self.source.predictor.seq}, "Readiness to predict and to learn"),
            Route("GET", "/metrics", PREDICT, lambda _: (_PROMETHEUS, self.metrics.text()), "Figures for Prometheus",
                  None, "text/plain"),
            Route("GET", "/openapi.json", OPEN,
                  lambda _: (JSON, described(self.source.predictor.schema.encoder is not None))),
            *(Route("GET", path, OPEN, lambda request: PAGES[request.path]) for path in PAGES),
        ]  # fmt: skip
        described = cache(lambda raw: ENCODER.encode(describe(table, raw)))  # anybody may ask, as often as they like
        self.routes: dict[str, Route] = {route.path: route for route in table}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        try:
            await self._answer(request, send)
        finally:
            self.bytes_in_flight -= request.bytes

    async def _answer(self, request: Request, send: Any) -> None:
        begun, path, headers, status = time.perf_counter(), request.path, list(_ALWAYS), 200
        try:
            kind, body = await self._reply(request)
            self._hold(request, len(body))
            headers += PAGE_HEADERS if path in PAGES else []
        except Exception as error:
            if isinstance(error, TimeoutError):
                error = unavailable("it took too long")
            elif not isinstance(error, HTTPError):
                traceback.print_exc(file=sys.stderr)
                error = HTTPError(500, "internal error; the server's log has the details")
            status, kind, body = error.status, JSON, error_body(error.status, error.message)
            headers += error.headers
        headers += [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        shown = path if path in self.routes else "other"
        self.metrics.requests(shown, status).inc()
        self.metrics.seconds(shown).observe(time.perf_counter() - begun)
        with contextlib.suppress(RuntimeError, OSError):  # the client has gone
            await send({"type": "http.response.start", "status": status, "headers": headers})
            for at in range(0, len(body) or 1, PART):  # each part waits until the client has read those before
                part = {"body": body[at : at + PART], "more_body": at + PART < len(body)}
                await send({"type": "http.response.body", **part})

    async def _reply(self, request: Request) -> Reply:
        route = self.routes.get(request.path)
        hosts = [str(value, "latin-1") for name, value in request.headers if name == b"host"]
        if request.path not in ("/health", "/ready"):  # asked by the machine that it runs on
            check_host(self.hosts, hosts)
        check_origin(request.header(b"origin"), hosts)
        if route is None:
            raise HTTPError(404, f"nothing at {request.path[:100]!r}: see /docs")
        allowed = ("GET", "HEAD") if route.method == "GET" else (route.method,)
        if request.method not in allowed:
            names = ", ".join(allowed)
            raise HTTPError(405, f"{request.path} needs {names}: see /docs", [(b"allow", names.encode())])
        if self.tokens is not None:
            authorize(self.tokens, request.header(b"authorization"), route.role)
        if route.request is not None:
            self._check_head(request, route)
            await self._receive(request)
        found = route.handler(request)
        found = await found if isawaitable(found) else found
        return found if isinstance(found, tuple) else (JSON, ENCODER.encode(found))

    def _check_head(self, request: Request, route: Route) -> None:
        """Raise for a body that would be too large, or of another type."""
        if (encoding := request.header(b"content-encoding")) and encoding != "identity":
            raise HTTPError(415, f"Content-Encoding {encoding[:50]!r} is not supported: send the body as it is")
        request.kind = kind = request.header(b"content-type").split(";")[0].strip().lower()
        accepted = (JSON, NDJSON) if route.bulk else (JSON,)
        if kind not in accepted:
            hint = " (with curl: -H 'Content-Type: application/json')" if "form" in kind else ""
            raise HTTPError(415, f"Content-Type {kind[:100]!r}: send {' or '.join(accepted)}{hint}")
        claimed = int(request.header(b"content-length") or 0)
        if claimed > self.limits.body:
            raise too_large(f"the body has {claimed:,} bytes; the limit is {self.limits.body:,}: {_SMALLER}")

    async def _receive(self, request: Request) -> None:
        parts: list[bytes] = []
        more = True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise HTTPError(400, "the client disconnected")
            part = message.get("body", b"")
            self._hold(request, len(part))
            if request.bytes > self.limits.body:
                raise too_large(f"the body has more than {self.limits.body:,} bytes, the limit: {_SMALLER}")
            parts.append(part)
            more = message.get("more_body")
        request.body = parts[0] if len(parts) == 1 else b"".join(parts)

    def _hold(self, request: Request, size: int) -> None:
        """Count bytes of a request or its reply until it is answered; together they have a limit."""
        others = self.bytes_in_flight - request.bytes
        request.bytes += size
        self.bytes_in_flight += size
        if others and request.bytes > PART and self.bytes_in_flight > self.limits.bodies:
            raise unavailable("too many large requests at once", close=True)

    # -- handlers

    async def _predict(self, request: Request) -> Reply:
        is_large, predictor = len(request.body) > LARGE, self.source.predictor
        decode = partial(decode_predict, request.body, request.kind, request.query, predictor.schema)
        options, rows = await asyncio.to_thread(decode) if is_large else decode()
        if options.min_seq is not None:
            await self._trainer().wait_for(options.min_seq)
            predictor = self.source.predictor
        if is_large or len(rows) * len(predictor.labels) > MANY:
            async with self.large:
                reply = await asyncio.to_thread(_predicted, predictor, options, rows, request.kind)
        else:
            reply = _predicted(predictor, options, rows, request.kind)
        self.metrics.predicted += len(rows)
        self.metrics.input_drift.update(rows)
        return reply

    async def _learn(self, request: Request) -> Reply:
        trainer, key = self._trainer(), request.header(b"idempotency-key") or None
        if key is not None and (len(key) > 255 or not key.isprintable()):
            raise HTTPError(422, "an Idempotency-Key has at most 255 printable characters")
        body, kind, query = request.body, request.kind, request.query
        request.body = b""  # the job has it
        run = lambda: decode_learn(body, kind, query, trainer.schema, trainer.model.classes)  # noqa: E731
        return JSON, await trainer.submit(decode=run, size=len(body), key=key)

    def _trainer(self) -> Trainer:
        if not isinstance(self.source, Trainer):
            raise HTTPError(409, "this server does not learn: start it with --learn LOG")
        return self.source

    async def reload(self) -> str:
        """Read the model file again, and predict with it; returns a message for the operator."""
        if not isinstance(self.source, FixedModel):
            return "this server learns: its model is its log. Start a new log to use another model"
        try:
            fresh = await asyncio.to_thread(FixedModel, self.source.path, self.limits)
        except (RosenblattError, OSError) as error:
            return f"the old model stays: {error}"
        self.source = self.metrics.source = fresh  # between two requests: each sees one model whole
        self.metrics.input_drift = InputDrift(fresh.predictor.schema.encoder)
        return "reloaded the model"

    def info(self) -> schemas.ModelInfo:
        """Facts about the model."""
        source, predictor, progress = self.source, self.source.predictor, {}
        if isinstance(source, FixedModel):
            learner, parameters = source.model.learner, source.model.parameters
        else:
            learner, parameters = type(source.model.learner).__name__, source.model.learner.params().values()
            progress = source.model.progress.summary()
        encoder, shown = predictor.schema.encoder, values_to_json(parameters)
        if isinstance(weights := parameters.get("class_weight"), dict):
            shown["class_weight"] = {str(label): weight for label, weight in weights.items()}
        return schemas.ModelInfo(
            learner=learner,
            parameters=shown,
            classes=predictor.labels,
            features=predictor.features,
            reads="rows of features" if encoder is None else encoder.describe(),
            seq=predictor.seq,
            learns=isinstance(source, Trainer),
            lineage=source.lineage,
            **progress,
        )

    async def _file(self, request: Request) -> Reply:
        source = self.source
        if isinstance(source, FixedModel):
            return _FILE, model_bytes(source.model)
        if not source.model.learner.has_learned or not source.schema.names:
            raise HTTPError(409, "nothing is learned yet")
        return _FILE, await source.submit(run=lambda: model_bytes(source.model.model()))


def _predicted(predictor: Predictor, options: schemas.PredictRequest[Any], rows: list[Any], kind: str) -> Reply:
    predictions = predictor.predict(rows, options)
    if kind == NDJSON:
        return NDJSON, ENCODER.encode_lines(predictions)
    if options.rows is msgspec.UNSET:
        return JSON, ENCODER.encode(schemas.PredictReply(predictor.seq, prediction=predictions[0]))
    return JSON, ENCODER.encode(schemas.PredictReply(predictor.seq, predictions=predictions))


class Request:
    """A request; its body is read when it is authorized."""

    __slots__ = ("body", "bytes", "headers", "kind", "method", "path", "query", "receive")

    def __init__(self, scope: Any, receive: Any) -> None:
        self.method, self.path, self.query = scope["method"], scope["path"], scope["query_string"]
        self.receive, self.headers = receive, scope["headers"]
        self.body, self.kind, self.bytes = b"", "", 0

    def header(self, name: bytes) -> str:
        """A header; empty if it was not sent."""
        return next((str(value, "latin-1") for each, value in self.headers if each == name), "")


# -- roles: only digests of tokens are stored and looked up, so the time of a reply tells nothing about a token


def read_tokens(path: str) -> Tokens:
    """Read one ``ROLE TOKEN`` per line; empty lines and lines that start with # are skipped."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"--token-file {path}: {getattr(error, 'strerror', None) or 'not text'}") from None
    tokens: Tokens = {}
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or words[0] not in ROLES or len(words[1]) < SHORTEST_TOKEN:
            shape = f"ROLE TOKEN, with a role of {', '.join(ROLES)} and at least {SHORTEST_TOKEN} characters"
            raise ParameterError(f"{path}, line {number}: write {shape}")
        digest = _digest(words[1].encode())
        tokens[digest] = max(ROLES.index(words[0]), tokens.get(digest, OPEN))
    if not tokens:
        raise ParameterError(f"{path} has no token: write one ROLE TOKEN per line")
    return tokens


def authorize(tokens: Tokens, header: str, role: int) -> None:
    """Raise unless the Authorization header has a token of this role."""
    if role == OPEN:
        return
    scheme, _, token = header.partition(" ")
    granted = tokens.get(_digest(token.strip().encode("latin-1")))
    if granted is None or scheme.lower() != "bearer":
        unknown = "unknown token: the server read its token file at start" if scheme.lower() == "bearer" else ""
        message = unknown or "send the header Authorization: Bearer TOKEN"
        raise HTTPError(401, message, [(b"www-authenticate", b"Bearer")])
    if granted < role:
        raise HTTPError(403, f"the token has the role {ROLES[granted]}: send one with the role {ROLES[role]}")


def check_host(hosts: frozenset[str], sent: list[str]) -> None:
    """Raise for another Host than the allowed ones: a page elsewhere could point its own name at this server."""
    if not hosts:
        return
    with contextlib.suppress(ValueError, IndexError):
        if len(sent) == 1 and urlsplit(f"//{sent[0]}").hostname in hosts:
            return
    raise HTTPError(403, f"Host {', '.join(sent)[:100]!r} is not allowed; add it with --allow-host")


def check_origin(origin: str, sent: list[str]) -> None:
    """Raise for a request that a page of another site has sent."""
    if origin and [origin.split("://", 1)[-1]] != sent:
        host = ", ".join(sent)[:100]
        raise HTTPError(403, f"cross-origin requests are not allowed: Origin {origin[:100]!r}, Host {host!r}")


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
