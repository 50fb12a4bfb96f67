"""The OpenAPI description, made from the route table and the types of its messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from rosenblatt import __version__
from rosenblatt.service.decoding import JSON, NDJSON
from rosenblatt.service.schemas import ErrorReply, LearnRequest, PlainRow, PredictRequest, RawRow

if TYPE_CHECKING:
    from rosenblatt.service.app import Route

_ERRORS = {
    "400": "The body or the address cannot be parsed.",
    "401": "The token is missing or unknown.",
    "403": "The token's role, the Host or the Origin is not allowed.",
    "404": "Not found.",
    "405": "The path has another method.",
    "408": "The body did not arrive in time.",
    "409": "The request contradicts an earlier one, or this server does not learn.",
    "413": "The body, the rows or the reply exceed a limit.",
    "415": "The Content-Type is not supported.",
    "422": "The request is well-formed but not valid for this model.",
    "503": "Overloaded, or the disk is full: try again after Retry-After seconds.",
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]+$"},
    "description": "The same key with the same examples is learned once, however often it is sent.",
}


def describe(routes: Iterable[Route], raw: bool) -> dict[str, Any]:
    """The description of a server whose model reads plain rows, or raw ones."""
    row: Any = RawRow if raw else PlainRow
    generic: dict[Any, Any] = {PredictRequest: PredictRequest[row], LearnRequest: LearnRequest[row]}
    shown = [route for route in routes if route.summary]
    types = [ErrorReply, *(each for route in shown for each in (route.request, route.reply) if isinstance(each, type))]
    schemas, components = msgspec.json.schema_components(
        [generic.get(each, each) for each in types], ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip(types, schemas, strict=True))

    def content(kind: Any, bulk: bool) -> dict[str, Any]:
        if isinstance(kind, str):
            return {kind: {"schema": {"type": "object" if kind == JSON else "string"}}}
        lines = {NDJSON: {"schema": {"type": "string"}}} if bulk else {}
        return {JSON: {"schema": schema_of[kind]}, **lines}

    paths: dict[str, Any] = {}
    for route in shown:
        responses: dict[str, Any] = {
            "200": {"description": "OK", "content": content(route.reply, route.bulk == "both")}
        }
        posted = "400 408 413 415 422 503 " if route.method == "POST" else ""
        for status in sorted((posted + "403 405 " + ("401 " if route.role >= 0 else "") + route.errors).split()):
            responses[status] = {"description": _ERRORS[status], "content": content(ErrorReply, False)}
        operation = {"summary": route.summary, "responses": responses, "security": [{}, {"token": []}]}
        if route.request is not None:
            operation["requestBody"] = {"required": True, "content": content(route.request, bool(route.bulk))}
        if route.path == "/learn":
            operation["parameters"] = [_KEY]
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    about = "Predictions while it learns; no acknowledged example is lost."
    return {
        "openapi": "3.1.0",
        "info": {"title": "rosenblatt serve", "version": __version__, "description": about},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }
