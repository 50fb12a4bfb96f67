"""Who may do what: tokens from a file, each with a role.

Invariant: a token is compared in constant time with every one that is known, and never written anywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import sys

from rosenblatt.errors import ParameterError

ROLES = ("predict", "learn", "admin")  # each may do what those before it may
LEAST = 16


class Tokens:
    """The tokens of a file, as digests."""

    def __init__(self, known: list[tuple[bytes, int]]) -> None:
        self._known = known

    @classmethod
    def read(cls, path: str) -> Tokens:
        """One ``role token`` per line; empty lines and those that begin with # are passed over."""
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
            mode = os.stat(path).st_mode
        except (OSError, UnicodeDecodeError) as error:
            raise ParameterError(f"--token-file {path}: {getattr(error, 'strerror', None) or 'is no text'}") from None
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            print(f"rosenblatt: {path} can be read by others: chmod 600 {path}", file=sys.stderr)
        known = []
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in ROLES:
                raise ParameterError(f"{path}, line {number}: write a role ({', '.join(ROLES)}) and a token")
            if len(words[1]) < LEAST:
                raise ParameterError(f"{path}, line {number}: a token has at least {LEAST} characters")
            known.append((_digest(words[1].encode()), ROLES.index(words[0])))
        if not known:
            raise ParameterError(f"{path} holds no token: write a role ({', '.join(ROLES)}) and a token on a line")
        return cls(known)

    def role_of(self, token: bytes) -> int | None:
        """How much the bearer may do: the place among the roles; None if nobody has this token."""
        digest, found = _digest(token), None
        for known, role in self._known:
            if hmac.compare_digest(known, digest) and (found is None or role > found):
                found = role
        return found


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
