"""A client of the service that retries without learning an example twice.

Invariant: only the standard library is needed. Every request to learn carries a key of its own, so that one whose
reply was lost can be sent again.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Self
from urllib.parse import urlsplit

from rosenblatt.errors import RosenblattError

_AGAIN = (408, 429, 502, 503, 504)


class ServiceError(RosenblattError):
    """The service replied with an error, or cannot be reached.

    `status` is that of HTTP, or None without a reply; `code` is that of the error body.

    >>> ServiceError("the queue is full", 503, "unavailable").code
    'unavailable'
    """

    def __init__(self, message: str, status: int | None = None, code: str = "unreachable") -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Client:
    """Sends requests over one open connection. Not thread-safe.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8000``.
    token : str, optional
        Sent with every request.
    patience : float, default=30
        Seconds for which a request is retried before its error is raised.
    timeout : float, default=30
        Seconds for one reply.
    context : ssl.SSLContext, optional
        For HTTPS with a certificate of your own.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8000")  # connects with the first request
    >>> with client:  # doctest: +SKIP
    ...     client.learn([{"win": 1.0}, {"lunch": 1.0}], ["spam", "ham"])
    ...     client.predict([{"win": 1.0}])
    ['spam']
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        patience: float = 30.0,
        timeout: float = 30.0,
        context: Any = None,
    ) -> None:
        try:
            parts = urlsplit(address)
            self._address = f"{parts.hostname}:{parts.port}"
        except ValueError:  # an invalid port or IPv6 address
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServiceError(f"{address!r} is not the address of a service: write http://host:port")
        self._base, self.patience = parts.path.rstrip("/"), patience
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        kind: Any = http.client.HTTPConnection
        if parts.scheme == "https":
            kind = partial(http.client.HTTPSConnection, context=context)
        self._connection: http.client.HTTPConnection = kind(parts.hostname, parts.port, timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens it again."""
        self._connection.close()

    def predict(self, rows: Sequence[Any]) -> list[Any]:
        """The labels of rows."""
        return [each["label"] for each in self.predictions(rows)]

    def predictions(self, rows: Sequence[Any], **options: Any) -> list[dict[str, Any]]:
        """Predictions with options: scores, probabilities, top, contributions, min_seq."""
        return self._post("/predict", {"rows": list(rows), **options})["predictions"]

    def learn(
        self, rows: Sequence[Any], labels: Sequence[Any], weights: Sequence[float] | None = None, key: str | None = None
    ) -> dict[str, Any]:
        """Learn rows with their labels; returns when they are on the server's disk and learned.

        Returns
        -------
        dict
            `first` and `last` number, `predicted` before learning, `mistaken`, and the count of `mistakes`.
        """
        body = {"rows": list(rows), "labels": list(labels)} | ({} if weights is None else {"weights": list(weights)})
        return self._post("/learn", body, {"Idempotency-Key": key or uuid.uuid4().hex})

    def model(self) -> dict[str, Any]:
        """Facts about the model."""
        return json.loads(self.request("GET", "/model"))

    def file(self) -> bytes:
        """The current model file."""
        return self.request("GET", "/model/file")

    def _post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        packed = json.dumps(body, allow_nan=False, separators=(",", ":"), default=_plain).encode()
        return json.loads(self.request("POST", path, packed, headers))

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """Send a request, and retry for `patience` seconds. Every request of the service can be repeated safely."""
        until, pause = time.monotonic() + self.patience, 0.05
        while True:
            wait = pause
            try:
                # Too large a body gets its reply before its end.
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._connection.request(method, self._base + path, body, {**self._headers, **(headers or {})})
                reply = self._connection.getresponse()
                content = reply.read()
                if reply.status < 400:
                    return content
                failure, after = _failure(reply.status, content), reply.headers.get("Retry-After", "0")
                if reply.status not in _AGAIN:
                    raise failure
                wait = max(pause, float(after) if after.isdecimal() else 0.0)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                failure = ServiceError(f"{self._address} does not answer: {error or type(error).__name__}")
            if time.monotonic() + wait > until:
                raise failure
            time.sleep(wait * random.uniform(0.5, 1.0))
            pause = min(2 * pause, 2.0)


def _failure(status: int, content: bytes) -> ServiceError:
    try:
        error = json.loads(content)["error"]
        return ServiceError(str(error["message"]), status, str(error["code"]))
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"the service replied with the status {status}", status, "error")


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, without importing it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be sent")
