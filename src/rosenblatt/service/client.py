"""A client of the service that asks again where that is safe, and never learns anything twice.

Invariant: only the standard library is needed. Every request to learn carries a key of its own, so that one whose
answer was lost can be sent again.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import urlsplit

from rosenblatt.errors import RosenblattError

_AGAIN = (408, 429, 502, 503, 504)


class ServiceError(RosenblattError):
    """The service has refused, or cannot be reached.

    `status` is that of HTTP, or None if there was no answer.
    """

    def __init__(self, message: str, status: int | None = None, code: str = "unreachable") -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Client:
    """Asks a service, over one connection that is kept open. Not for several threads at once.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8000``.
    token : str, optional
        Sent with every request.
    patience : float, default=30
        Seconds for which a request is tried again, before its failure is raised.
    timeout : float, default=30
        Seconds for one answer.
    context : ssl.SSLContext, optional
        For HTTPS with a certificate of your own.

    Examples
    --------
    ::

        with Client("http://127.0.0.1:8000") as client:
            client.learn([{"win": 1.0}, {"lunch": 1.0}], ["spam", "ham"])
            client.predict([{"win": 1.0}])                       # ["spam"]
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
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ServiceError(f"{address!r} is no address of a service: write http://host:port")
        self._address, self._base, self.patience = f"{parts.hostname}:{parts.port}", parts.path.rstrip("/"), patience
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        if parts.scheme == "https":
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname, parts.port, timeout=timeout, context=context
            )
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

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
        """Predictions with options: scores, probabilities, top, contributions, return_id, min_seq."""
        found: list[dict[str, Any]] = self._post("/predict", {"rows": list(rows), **options})["predictions"]
        return found

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

    def feedback(self, id: str, label: Any, weight: float = 1.0) -> dict[str, Any]:
        """Learn the label of an earlier prediction, by its id."""
        return self._post("/feedback", {"id": id, "label": label, "weight": weight})

    def model(self) -> dict[str, Any]:
        """Facts about the model."""
        found: dict[str, Any] = json.loads(self.request("GET", "/model"))
        return found

    def file(self) -> bytes:
        """The model file of what was learned so far."""
        return self.request("GET", "/model/file")

    def _post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        packed = json.dumps(body, allow_nan=False, separators=(",", ":"), default=_plain).encode()
        found: dict[str, Any] = json.loads(self.request("POST", path, packed, headers))
        return found

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """A request, tried again as long as patience lasts. Every request of the service can be repeated safely."""
        until, pause = time.monotonic() + self.patience, 0.05
        while True:
            wait = pause
            try:
                reply, content = self._once(method, path, body, {**self._headers, **(headers or {})})
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

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        refused = None
        try:
            self._connection.request(method, self._base + path, body, headers)
        except (
            BrokenPipeError,
            ConnectionResetError,
        ) as error:  # too large a body gets its reply before its end
            refused = error
        try:
            reply = self._connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise refused or error from None
        return reply, reply.read()


def _failure(status: int, content: bytes) -> ServiceError:
    try:
        error = json.loads(content)["error"]
        return ServiceError(str(error["message"]), status, str(error["code"]))
    except (ValueError, KeyError, TypeError):
        return ServiceError(f"the service answered with the status {status}", status, "error")


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, without importing it."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be sent")
