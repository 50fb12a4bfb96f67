"""Streams of bytes around others: joined, held open together, bounded."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from rosenblatt.data.limits import Limits, shown
from rosenblatt.errors import DataError


class Held(io.RawIOBase):
    """A decompressing stream and the file that it reads: both are closed together."""

    def __init__(self, stream: Any, raw: Any) -> None:
        self._stream, self._held = stream, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._held.close()
        super().close()


class Bounded(io.RawIOBase):
    """A decompressed stream that may grow only so far."""

    def __init__(self, stream: Any, name: str, size: int, limits: Limits, free: int) -> None:
        self._stream, self._name, self._size, self._limits, self._total = stream, name, size, limits, 0
        self._most = max(free, limits.expansion * size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._total += count
        if self._total > self._most:
            raise DataError(
                f"{self._name} has {shown(self._size)} and grows to more than {self._limits.expansion:,} times as "
                "much: --limit expansion=N"
            )
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class Joined(io.RawIOBase):
    """Pieces of bytes as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = piece
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count
