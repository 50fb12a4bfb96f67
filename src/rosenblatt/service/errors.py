"""Errors of the service: one class, one JSON shape. A request that ends with one has changed nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "conflict",
    413: "too_large",
    415: "unsupported_type",
    422: "invalid",
    431: "headers_too_large",
    500: "internal",
    503: "unavailable",
}


class HTTPError(Exception):
    """A request that gets an error reply.

    Parameters
    ----------
    status : int
    message : str
        One sentence: what is wrong, and where.
    headers : pairs of bytes
        Sent with the reply.
    """

    def __init__(self, status: int, message: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, tuple(headers)


def error_body(status: int, message: str) -> bytes:
    """The error as JSON.

    >>> error_body(404, "no such page")
    b'{"error":{"code":"not_found","message":"no such page"}}'
    """
    error = {"code": CODES.get(status, "error"), "message": message}
    return json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def too_large(message: str) -> HTTPError:
    """413 for a body that is not read to its end, so that the connection cannot be reused."""
    return HTTPError(413, message, [(b"connection", b"close")])


def unavailable(message: str, seconds: int = 1) -> HTTPError:
    """503 with Retry-After."""
    return HTTPError(503, message, [(b"retry-after", str(seconds).encode())])
