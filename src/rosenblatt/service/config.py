"""The configuration of a server: what to serve, where to listen, and how much to accept."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from rosenblatt.errors import ParameterError

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
SNAPSHOT_EXAMPLES = 200_000


@dataclass(frozen=True)
class ServiceLimits:
    """Everything that a client can make grow has a limit with a name.

    Attributes
    ----------
    body : bytes of a request's body
    bodies : bytes of all requests and replies in flight
    reply : bytes of a reply, as estimated from the request
    rows : rows per request
    cells : values of all rows of a request, and scores of all its predictions
    features : features of the model
    classes : classes of the model
    weights : features times classes
    name : bytes of a feature's name or a label
    connections : open connections
    seconds : for a request to arrive, and for its reply to be read
    idle : seconds of an open connection without a request
    """

    body: int = 16 << 20
    bodies: int = 64 << 20
    reply: int = 64 << 20
    rows: int = 100_000
    cells: int = 1_000_000
    features: int = 1 << 20
    classes: int = 1000
    weights: int = 64 << 20
    name: int = 1024
    connections: int = 2000
    seconds: int = 30
    idle: int = 75


@dataclass(frozen=True)
class ServerConfig:
    """The options of `serve`.

    Attributes
    ----------
    model : path of a model file to predict with, or to start a new log from
    log : path of the log to learn by; None: predict only
    params : params of a new learner to start a new log from, instead of a model
    token_file : path of a file with one "ROLE TOKEN" per line
    allowed_hosts : the Host headers to accept; empty: any with tokens, else this machine's names
    """

    model: str | None = None
    log: str | None = None
    params: Any = None
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
        for name in self.allowed_hosts:
            if not _is_host(name):
                raise ParameterError(f"--allow-host {name}: write one name or address, such as model.example.org")
        if self.token_file is None and self.host not in LOOPBACK:
            raise ParameterError(f"--host {self.host} needs --token-file, since other machines could connect")


def _is_host(name: str) -> bool:
    """True if a Host header can contain this name: no wildcard, no port."""
    with suppress(ValueError):
        return "*" not in name and urlsplit(f"//[{name}]" if ":" in name else f"//{name}").hostname == name
    return False
