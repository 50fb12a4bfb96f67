"""Who may do what: bearer tokens with roles, and the Host and Origin that a request may have.

Invariant: a token is compared in constant time with every known one, and never written anywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import sys

from rosenblatt.errors import ParameterError
from rosenblatt.service.errors import HTTPError

ROLES = ("predict", "learn", "admin")  # each includes those before it
OPEN, PREDICT, LEARN, ADMIN = -1, 0, 1, 2
SHORTEST_TOKEN = 16


class Tokens:
    """The tokens of a file, as digests."""

    def __init__(self, digests: list[tuple[bytes, int]]) -> None:
        self._digests = digests

    @classmethod
    def read(cls, path: str) -> Tokens:
        """Read one ``ROLE TOKEN`` per line; empty lines and lines that start with # are skipped."""
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            mode = os.stat(path).st_mode
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"--token-file {path}: {getattr(error, 'strerror', None) or 'not text'}") from None
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            print(f"rosenblatt: other users can read {path}: chmod 600 {path}", file=sys.stderr)
        digests = []
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in ROLES or len(words[1]) < SHORTEST_TOKEN:
                shape = f"ROLE TOKEN, with a role of {', '.join(ROLES)} and at least {SHORTEST_TOKEN} characters"
                raise ParameterError(f"{path}, line {number}: write {shape}")
            digests.append((_digest(words[1].encode()), ROLES.index(words[0])))
        if not digests:
            raise ParameterError(f"{path} has no token: write one ROLE TOKEN per line")
        return cls(digests)

    def authorize(self, header: str, role: int) -> None:
        """Raise unless the Authorization header has a token of this role."""
        scheme, _, token = header.partition(" ")
        digest, granted = _digest(token.strip().encode("latin-1")), None
        for known, each in self._digests:
            if hmac.compare_digest(known, digest) and (granted is None or each > granted):
                granted = each
        if granted is None or scheme.lower() != "bearer":
            raise HTTPError(401, "send Authorization: Bearer TOKEN", [(b"www-authenticate", b"Bearer")])
        if granted < role:
            raise HTTPError(403, f"this needs a token with the role {ROLES[role]}")


def check_host(hosts: frozenset[str], sent: list[str]) -> None:
    """Raise for another Host than the allowed ones: a page elsewhere could point its own name at this server."""
    if not hosts:
        return
    host = sent[0] if sent else ""
    name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    name, port = (name, port) if name else (port, "")
    if name.lower() not in hosts or (port and not port.isdecimal()) or len(sent) != 1:
        raise HTTPError(403, f"Host {host[:100]!r} is not allowed; add it with --allow-host")


def check_origin(origin: str, sent: list[str]) -> None:
    """Raise for a request that a page of another site has sent."""
    if origin and [origin.split("://", 1)[-1]] != sent:
        raise HTTPError(403, "cross-origin requests are not allowed")


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
