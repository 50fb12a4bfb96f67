"""The OpenAPI description, made from the types of the messages."""

from __future__ import annotations

from typing import Any

import msgspec

from rosenblatt import __version__
from rosenblatt.service.bodies import ARROW, JSON, LINES
from rosenblatt.service.messages import (
    Facts,
    Failure,
    Feedback,
    Health,
    Learn,
    Learnt,
    PlainRow,
    Predict,
    Predicted,
    Promote,
    RawRow,
    Ready,
)

_ERRORS = {
    "400": "The body or the address cannot be read.",
    "401": "There is no token, or not one that is known.",
    "403": "The token's role, the Host or the Origin does not allow it.",
    "404": "There is no such thing.",
    "405": "The path takes another method.",
    "408": "The body did not come in time.",
    "409": "It contradicts what was done before, or this server does not learn.",
    "413": "The body or the number of rows is beyond the limit.",
    "415": "The Content-Type is not taken.",
    "422": "The body can be read, but means nothing here.",
    "503": "Overloaded, or the disk is full: try again after Retry-After seconds.",
}
_BULK = "Bulk bodies give options in the address."


def describe(raw: bool) -> dict[str, Any]:
    """The description of a service whose model reads plain rows, or raw ones."""
    row: Any = RawRow if raw else PlainRow
    types = {
        "Predict": Predict[row],
        "Learn": Learn[row],
        "Feedback": Feedback,
        "Promote": Promote,
        "Predicted": Predicted,
        "Learnt": Learnt,
        "Facts": Facts,
        "Health": Health,
        "Ready": Ready,
        "Failure": Failure,
    }
    schemas, components = msgspec.json.schema_components(
        list(types.values()), ref_template="#/components/schemas/{name}"
    )
    found = dict(zip(types, schemas, strict=True))

    def json(name: str) -> dict[str, Any]:
        return {JSON: {"schema": found[name]}}

    def operation(summary: str, answer: dict[str, Any], errors: str, **more: Any) -> dict[str, Any]:
        responses: dict[str, Any] = {"200": {"description": "Done.", "content": answer}}
        for status in errors.split():
            responses[status] = {"description": _ERRORS[status], "content": json("Failure")}
        return {"summary": summary, "responses": responses, "security": [{}, {"token": []}], **more}

    def takes(name: str, bulk: bool = False) -> dict[str, Any]:
        content = json(name)
        if bulk:
            content |= {
                LINES: {"schema": {"type": "string"}},
                ARROW: {"schema": {"type": "string", "format": "binary"}},
            }
        return {"required": True, "content": content, **({"description": _BULK} if bulk else {})}

    key = {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "maxLength": 255, "pattern": "^[!-~]+$"},
        "description": "The same key with the same examples is learned once, however often it is sent.",
    }
    text = {"text/plain": {"schema": {"type": "string"}}}
    file = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    anything = {JSON: {"schema": {"type": "object"}}}
    posted = "400 401 403 405 408 413 415 422 503"
    got = "401 403 405"
    binary = {"schema": {"type": "string", "format": "binary"}}
    answers = json("Predicted") | {LINES: {"schema": {"type": "string"}}, ARROW: binary}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rosenblatt serve",
            "version": __version__,
            "description": "Predictions while it learns; no acknowledged example is lost.",
        },
        "paths": {
            "/predict": {
                "post": operation("The labels of rows", answers, f"{posted} 409", requestBody=takes("Predict", True))
            },
            "/learn": {
                "post": operation(
                    "Learn rows with labels: answered when they are on disk and learned",
                    json("Learnt"),
                    f"{posted} 409",
                    requestBody=takes("Learn", True),
                    parameters=[key],
                )
            },
            "/feedback": {
                "post": operation(
                    "Learn the label of an earlier prediction",
                    json("Learnt"),
                    f"{posted} 404 409",
                    requestBody=takes("Feedback"),
                )
            },
            "/promote": {
                "post": operation(
                    "Let a shadow answer from now on", json("Facts"), f"{posted} 404 409", requestBody=takes("Promote")
                )
            },
            "/model": {"get": operation("Facts about the model", json("Facts"), got)},
            "/model/file": {"get": operation("The model file of what was learned so far", file, f"{got} 409 503")},
            "/live": {"get": operation("What the live page shows", anything, got)},
            "/health": {"get": operation("Does the process answer?", json("Health"), "403 405")},
            "/ready": {"get": operation("Can it predict, and can it learn?", json("Ready"), "403 405")},
            "/metrics": {"get": operation("Figures for Prometheus", text, got)},
        },
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
