"""What the service says when it will not do something: one shape for every error.

Invariant: a refused request has changed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

Headers = list[tuple[bytes, bytes]]

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
    422: "unusable",
    431: "headers_too_large",
    500: "internal",
    503: "unavailable",
}


class Refused(Exception):
    """A request that is answered with an error.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        One sentence that says what is wrong and where.
    headers : pairs of bytes
        Sent with the answer.
    """

    def __init__(self, status: int, message: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, tuple(headers)


def body_of(status: int, message: str) -> bytes:
    """The error as JSON.

    >>> body_of(404, "there is no such page")
    b'{"error":{"code":"not_found","message":"there is no such page"}}'
    """
    import json

    error = {"code": CODES.get(status, "error"), "message": message}
    return json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def too_large(what: str) -> Refused:
    """A body that will not be read to its end, so the connection cannot be used again."""
    return Refused(413, what, [(b"connection", b"close")])


def too_many_cells(who: str, what: str, limit: int) -> Refused:
    """More values, or scores, than one request may have."""
    return Refused(413, f"{who} more than {limit:,} {what}, the limit per request: send fewer rows at a time")


def busy(what: str, seconds: int = 1) -> Refused:
    """Come again."""
    return Refused(503, what, [(b"retry-after", str(seconds).encode())])
