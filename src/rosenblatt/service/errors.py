"""Errors of the service: one class, one JSON shape. A request that ends with one has changed nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence

# The stable code of each status, and what it means.
ERRORS = {
    400: ("bad_request", "The body or the address cannot be parsed."),
    401: ("unauthorized", "The token is missing or unknown."),
    403: ("forbidden", "The token's role, the Host or the Origin is not allowed."),
    404: ("not_found", "Not found."),
    405: ("method_not_allowed", "The path has another method."),
    408: ("timeout", "The request did not arrive in time."),
    409: ("conflict", "The request contradicts an earlier one, or this server does not learn."),
    413: ("too_large", "The body, the rows or the reply exceed a limit."),
    415: ("unsupported_type", "The Content-Type is not supported."),
    422: ("invalid", "The request is well-formed but not valid for this model."),
    431: ("headers_too_large", "The head of the request exceeds its limit."),
    500: ("internal", "A defect; the server's log has the details."),
    503: ("unavailable", "Overloaded, or the disk is full: try again after Retry-After seconds."),
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
    error = {"code": ERRORS[status][0], "message": message}
    return json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def too_large(message: str) -> HTTPError:
    """413 for a body that is not read to its end, so that the connection cannot be reused."""
    return HTTPError(413, message, [(b"connection", b"close")])


def unavailable(message: str, seconds: int = 1, *, close: bool = False) -> HTTPError:
    """503 with Retry-After; `close` the connection if its body is not read to its end."""
    headers = [(b"retry-after", str(seconds).encode())] + ([(b"connection", b"close")] if close else [])
    return HTTPError(503, message, headers)
