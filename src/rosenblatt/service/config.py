"""Everything that a server is told: what to serve, where to listen, and how much to accept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rosenblatt.errors import ParameterError
from rosenblatt.io.limits import parse_limits

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
SNAPSHOT_EXAMPLES = 200_000


@dataclass(frozen=True)
class ServiceLimits:
    """Everything that a client can make grow has a limit with a name.

    Attributes
    ----------
    body : bytes of a request's body
    bodies : bytes of all bodies in flight
    reply : bytes of a reply, as estimated from the request
    rows : rows per request
    values : features per row
    cells : values of all rows of a request, and scores of all its predictions
    features : features of the model
    classes : classes of the model
    weights : features times classes
    name : bytes of a feature's name or a label
    connections : open connections
    seconds : for a request to arrive, and for its reply to be read
    idle : seconds of an open connection without a request
    predictions : stored predictions that wait for feedback
    retention : seconds for which they are stored
    keys : stored Idempotency-Keys
    """

    body: int = 16 << 20
    bodies: int = 64 << 20
    reply: int = 64 << 20
    rows: int = 100_000
    values: int = 100_000
    cells: int = 1_000_000
    features: int = 1 << 20
    classes: int = 1000
    weights: int = 64 << 20
    name: int = 1024
    connections: int = 2000
    seconds: int = 30
    idle: int = 75
    predictions: int = 100_000
    retention: int = 86_400
    keys: int = 1_000_000

    @classmethod
    def parse(cls, words: Sequence[str]) -> ServiceLimits:
        """The defaults, changed by ``name=size``.

        >>> ServiceLimits.parse(["body=1M", "classes=10"]).body
        1048576
        """
        limits: ServiceLimits = parse_limits(cls(), words)
        return limits


@dataclass(frozen=True)
class ServerConfig:
    """What `serve` is told.

    Attributes
    ----------
    model : path of a model file to predict with, or to start a new log from
    log : path of the log to learn by; None: predict only
    params : params of a new learner to start a new log from, instead of a model
    classes : class labels that a new learner starts with
    token_file : path of a file with one "ROLE TOKEN" per line
    allowed_hosts : the Host headers to accept; empty: any with tokens, else this machine's names
    """

    model: str | None = None
    log: str | None = None
    params: Any = None
    classes: tuple[Any, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    token_file: str | None = None
    allowed_hosts: frozenset[str] = frozenset()
    tls_cert: str | None = None
    tls_key: str | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    snapshot_every: int = SNAPSHOT_EXAMPLES

    def check(self) -> None:
        """Raise for options that contradict one another, or would let anybody in."""
        if self.log is None and self.model is None:
            raise ParameterError("nothing to serve: pass a MODEL, or --learn LOG")
        if self.log is None and (self.params is not None or self.classes):
            raise ParameterError("--learner and --classes need --learn LOG")
        if self.model is not None and (self.params is not None or self.classes):
            raise ParameterError(f"{self.model} has its own learner and classes: remove --learner and --classes")
        if self.classes and self.params is None:
            raise ParameterError("--classes needs --learner")
        if self.token_file is None and self.host not in LOOPBACK:
            raise ParameterError(f"--host {self.host}: without --token-file only this machine can be served")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ParameterError("--tls-cert and --tls-key go together")
        if not 0 <= self.port <= 65535:
            raise ParameterError(f"--port {self.port}: must be from 0 to 65535")
