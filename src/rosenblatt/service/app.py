"""The service as an ASGI application: a route table, bounded bodies, one error shape.

Invariant: every request gets exactly one reply. What a client sends is authorized and bounded before it is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
import time
import traceback
from collections.abc import Callable
from inspect import isawaitable
from typing import Any, NamedTuple

import msgspec

from rosenblatt import __version__
from rosenblatt.errors import RosenblattError
from rosenblatt.params import values_to_json
from rosenblatt.service import schemas
from rosenblatt.service.auth import ADMIN, LEARN, OPEN, PREDICT, Tokens, check_host, check_origin
from rosenblatt.service.config import LOOPBACK, ServiceLimits
from rosenblatt.service.decoding import JSON, NDJSON, decode, decode_learn, decode_predict
from rosenblatt.service.errors import HTTPError, error_body, too_large, unavailable
from rosenblatt.service.metrics import Metrics
from rosenblatt.service.online_model import model_bytes
from rosenblatt.service.openapi import describe
from rosenblatt.service.page import PAGE_HEADERS, PAGES
from rosenblatt.service.predictor import FixedModel
from rosenblatt.service.trainer import Trainer

ENCODER = msgspec.json.Encoder()
FEEDBACK = msgspec.json.Decoder(schemas.FeedbackRequest)
FEEDBACK_HINT = '; send for example {"id": "5e8e2d56b320", "label": "spam"}'
SHORT = 8192  # bytes of a body that arrives with its head
LARGE = 256 << 10  # bytes of a body that is decoded and predicted in a thread of its own
_FILE, _PROMETHEUS = "application/octet-stream", "text/plain; version=0.0.4; charset=utf-8"
_ALWAYS = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]

Reply = tuple[str, bytes]  # content type and content


class Route(NamedTuple):
    """A row of the route table; those without a summary are not described."""

    method: str
    path: str
    role: int
    handler: Callable[[Request], Any]  # gives a Reply or an object for JSON, or an awaitable of it
    summary: str = ""
    request: type | None = None
    reply: type | str = JSON
    errors: str = ""
    bulk: str = ""  # NDJSON for the request, or for both


class App:
    """Routes requests to the model.

    Parameters
    ----------
    source : Trainer or FixedModel
        What predicts, and may learn.
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
        table: list[Route] = [
            Route("POST", "/predict", PREDICT, self._predict, "Predict rows",
                  schemas.PredictRequest, schemas.PredictReply, "409", "both"),
            Route("POST", "/learn", LEARN, self._learn, "Learn rows with labels",
                  schemas.LearnRequest, schemas.LearnReply, "409", "in"),
            Route("POST", "/feedback", LEARN, self._feedback, "Learn the label of an earlier prediction",
                  schemas.FeedbackRequest, schemas.LearnReply, "404 409"),
            Route("POST", "/reload", ADMIN, self._reload, "Read the model file again", None, schemas.ModelInfo, "409"),
            Route("GET", "/model", PREDICT, lambda _: self.info(), "Model and lineage", None, schemas.ModelInfo),
            Route("GET", "/model/file", ADMIN, self._file, "The model file as of now", None, _FILE, "409 503"),
            Route("GET", "/live", LEARN, lambda _: self.metrics.live(self.info()), "What the live page shows"),
            Route("GET", "/health", OPEN, lambda _: schemas.Health("ok", __version__), "Is the process alive?",
                  None, schemas.Health),
            Route("GET", "/ready", OPEN, self._ready, "Can it predict, and can it learn?", None, schemas.Ready),
            Route("GET", "/metrics", PREDICT, lambda _: (_PROMETHEUS, self.metrics.text()), "Figures for Prometheus",
                  None, "text/plain"),
            Route("GET", "/openapi.json", OPEN, lambda _: self.description),
            *(Route("GET", path, OPEN, lambda request: PAGES[request.path]) for path in PAGES),
        ]  # fmt: skip
        self.routes: dict[str, Route] = {route.path: route for route in table}
        self.description = describe(table, source.predictor.schema.encoder is not None)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        begun, path, headers, status = time.perf_counter(), scope["path"], list(_ALWAYS), 200
        request = Request(scope, receive)
        try:
            kind, body = await self._reply(request)
            headers += PAGE_HEADERS if path in PAGES else []
        except _Disconnected:
            return
        except Exception as error:
            if isinstance(error, TimeoutError):
                error = unavailable("it took too long")
            elif not isinstance(error, HTTPError):
                traceback.print_exc(file=sys.stderr)
                error = HTTPError(500, "internal error; the server's log has the details")
            status, kind, body = error.status, JSON, error_body(error.status, error.message)
            headers += error.headers
        finally:
            self.bytes_in_flight -= request.body_bytes
        headers += [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        self.metrics.count(path if path in self.routes else "other", status, time.perf_counter() - begun)
        with contextlib.suppress(RuntimeError, OSError):  # the client has gone
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _reply(self, request: Request) -> Reply:
        route = self.routes.get(request.path)
        hosts = [str(value, "latin-1") for name, value in request.headers if name == b"host"]
        if request.path not in ("/health", "/ready"):  # asked by the machine that it runs on
            check_host(self.hosts, hosts)
        check_origin(request.header(b"origin"), hosts)
        if route is None:
            raise HTTPError(404, f"nothing at {request.path[:100]!r}: see /docs")
        if request.method != route.method and (request.method, route.method) != ("HEAD", "GET"):
            allowed = "GET, HEAD" if route.method == "GET" else route.method
            raise HTTPError(405, f"{request.path} needs {allowed}", [(b"allow", allowed.encode())])
        if route.role != OPEN and self.tokens is not None:
            self.tokens.authorize(request.header(b"authorization"), route.role)
        if route.request is not None:
            await self._read_body(request, route)
        found = route.handler(request)
        found = await found if isawaitable(found) else found
        return found if isinstance(found, tuple) else (JSON, ENCODER.encode(found))

    async def _read_body(self, request: Request, route: Route) -> None:
        if (encoding := request.header(b"content-encoding")) and encoding != "identity":
            raise HTTPError(415, f"Content-Encoding {encoding[:50]!r} is not supported: send the body as it is")
        kind = request.header(b"content-type")
        request.kind = kind = kind if kind == JSON else kind.split(";")[0].strip().lower()
        if kind != JSON and (kind != NDJSON or not route.bulk):
            hint = "" if "form" not in kind else " (with curl: -H 'Content-Type: application/json')"
            raise HTTPError(
                415, f"Content-Type {kind[:100]!r}: send {JSON}{f' or {NDJSON}' if route.bulk else ''}{hint}"
            )
        limits = self.limits
        claimed = int(request.header(b"content-length") or limits.body)
        if claimed > limits.body:
            raise too_large(f"the body has {claimed:,} bytes; the limit is {limits.body:,}")
        if claimed <= SHORT:  # it arrives with its head, nearly always; the protocol watches for the rest
            return await self._receive(request)
        try:
            async with asyncio.timeout(limits.seconds):
                await self._receive(request)
        except TimeoutError:
            late = f"the body did not arrive within {limits.seconds} seconds"
            raise HTTPError(408, late, [(b"connection", b"close")]) from None

    async def _receive(self, request: Request) -> None:
        parts: list[bytes] = []
        more = True
        while more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise _Disconnected
            part = message.get("body", b"")
            request.body_bytes += len(part)
            self.bytes_in_flight += len(part)
            if request.body_bytes > self.limits.body:
                raise too_large(f"the body has more than {self.limits.body:,} bytes, the limit")
            if self.bytes_in_flight > self.limits.bodies:
                error = unavailable("too many large requests at once")
                error.headers = (*error.headers, (b"connection", b"close"))
                raise error
            parts.append(part)
            more = message.get("more_body")
        request.body = parts[0] if len(parts) == 1 else b"".join(parts)

    # -- handlers

    async def _predict(self, request: Request) -> Reply:
        run: Any = asyncio.to_thread if len(request.body) > LARGE else _run_here
        predictor = self.source.predictor
        options, rows = await run(decode_predict, request.body, request.kind, request.query, predictor.schema)
        if options.min_seq is not None:
            await self._trainer().wait_for(options.min_seq)
            predictor = self.source.predictor
        predictions, stored = await run(predictor.predict, rows, options)
        self.metrics.predicted += len(rows)
        self.metrics.input_drift.update(predictor.schema.encoder, rows)
        if options.return_id:
            for each in predictions:
                each.id = secrets.token_hex(12)
            now = time.time()
            rows = [(each.id, now, ENCODER.encode(row)) for each, row in zip(predictions, stored, strict=True)]
            await self._trainer().submit(predictions=rows, size=len(request.body))
        if request.kind == NDJSON:
            return NDJSON, ENCODER.encode_lines(predictions)
        if options.rows is msgspec.UNSET:
            return JSON, ENCODER.encode(schemas.PredictReply(predictor.seq, prediction=predictions[0]))
        return JSON, await run(ENCODER.encode, schemas.PredictReply(predictor.seq, predictions=predictions))

    async def _learn(self, request: Request) -> Reply:
        trainer, key = self._trainer(), request.header(b"idempotency-key") or None
        if key is not None and (len(key) > 255 or not key.isprintable() or key.startswith("feedback:")):
            raise HTTPError(422, "an Idempotency-Key has at most 255 characters and does not start with feedback:")
        body, kind, query = request.body, request.kind, request.query
        label = next(iter(trainer.predictor.labels), "spam")
        request.body = b""  # the job has it
        run = lambda: decode_learn(body, kind, query, trainer.schema, label)  # noqa: E731
        return JSON, await trainer.submit(decode=run, size=len(body), key=key)

    async def _feedback(self, request: Request) -> Reply:
        trainer, found = self._trainer(), decode(FEEDBACK, request.body, lambda: FEEDBACK_HINT)
        return JSON, await trainer.submit(decode=lambda: trainer.feedback(found), key=f"feedback:{found.id}")

    def _trainer(self) -> Trainer:
        if not isinstance(self.source, Trainer):
            raise HTTPError(409, "this server does not learn: start it with --learn LOG")
        return self.source

    async def _reload(self, request: Request) -> schemas.ModelInfo:
        await self.reload()
        return self.info()

    async def reload(self) -> None:
        """Read the model file again, and predict by it."""
        if not isinstance(self.source, FixedModel):
            raise HTTPError(409, "this server learns: its model is its log. Start a new log to use another model")
        try:
            await asyncio.to_thread(self.source.reload)
            self.description = describe(self.routes.values(), self.source.predictor.schema.encoder is not None)
        except (RosenblattError, OSError) as error:
            raise HTTPError(409, f"the old model stays: {error}") from None

    def info(self) -> schemas.ModelInfo:
        """What is known of the model."""
        source, predictor = self.source, self.source.predictor
        encoder, learns = predictor.schema.encoder, isinstance(source, Trainer)
        if isinstance(source, FixedModel):
            learner, parameters = source.model.learner, source.model.parameters
        else:
            learner, parameters = type(source.model.learner).__name__, source.model.learner.params().values()
        found = schemas.ModelInfo(
            learner=learner,
            parameters=values_to_json(parameters),
            classes=predictor.labels,
            features=predictor.features,
            reads="rows of features" if encoder is None else encoder.describe(),
            seq=predictor.seq,
            learns=learns,
            lineage=source.lineage,
        )
        if isinstance(source, Trainer):
            tracker, found.skipped = source.model.tracker, source.model.skipped
            found.examples, found.mistakes, found.drift_alarms = (
                tracker.examples,
                tracker.mistakes,
                tracker.drift_alarms,
            )
            found.progressive_error, found.recent_error = tracker.error, tracker.recent_error
        return found

    async def _file(self, request: Request) -> Reply:
        source = self.source
        if isinstance(source, FixedModel):
            return _FILE, model_bytes(source.model)
        if not source.model.learner.has_learned or not source.schema.names:
            raise HTTPError(409, "nothing is learned yet")
        return _FILE, await source.submit(run=lambda: model_bytes(source.model.model()))

    def _ready(self, request: Request) -> schemas.Ready:
        learning = self.source.storage_error or "on" if isinstance(self.source, Trainer) else "off"
        return schemas.Ready(True, learning, self.source.predictor.seq)


async def _run_here(what: Callable[..., Any], *arguments: Any) -> Any:
    return what(*arguments)


class Request:
    """A request; its body is read when it is authorized."""

    __slots__ = ("body", "body_bytes", "headers", "kind", "method", "path", "query", "receive")

    def __init__(self, scope: Any, receive: Any) -> None:
        self.method, self.path, self.query = scope["method"], scope["path"], scope["query_string"]
        self.receive, self.headers = receive, scope["headers"]
        self.body, self.kind, self.body_bytes = b"", "", 0

    def header(self, name: bytes) -> str:
        """A header; empty if it was not sent."""
        for each, value in self.headers:
            if each == name:
                return str(value, "latin-1")
        return ""


class _Disconnected(Exception):
    """The client has hung up before its request was whole."""
