"""Predictions that are remembered, so that the right label can be told later.

Invariant: in memory and on disk as many are kept as the limit says, and none for longer than the retention. They are
stored a second later: after a crash the newest may be unknown, after a proper end none.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Any

import msgspec

from rosenblatt.service.clock import Clock
from rosenblatt.service.limits import Limits

ENCODER = msgspec.json.Encoder()


class Remembered:
    """The rows of predictions by their ids.

    The loop's thread adds and asks. The writer's thread takes what is to be stored and forgotten, over two queues.
    """

    def __init__(self, limits: Limits, clock: Clock, stored: Iterable[tuple[str, float, bytes]] = ()) -> None:
        self.limits, self.clock = limits, clock
        self._rows: OrderedDict[str, tuple[float, bytes]] = OrderedDict((key, (at, row)) for key, at, row in stored)
        self._size = sum(len(row) for _, row in self._rows.values())
        self._new: deque[tuple[str, float, bytes]] = deque(maxlen=limits.predictions)
        self._gone: deque[str] = deque()
        self._forget()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def has_news(self) -> bool:
        """Is there anything to be stored or forgotten on disk?"""
        return bool(self._new or self._gone)

    def add(self, row: Any) -> str:
        """The id of a prediction for this row, as the log would hold it."""
        now, key, packed = self.clock(), secrets.token_hex(12), ENCODER.encode(row)
        self._rows[key] = (now, packed)
        self._size += len(packed)
        self._new.append((key, now, packed))
        self._forget()
        return key

    def get(self, key: str) -> Any:
        """The row of a prediction; None if it is not, or no longer, known."""
        self._forget()
        found = self._rows.get(key)
        return None if found is None else msgspec.json.decode(found[1])

    def _forget(self) -> None:
        """The oldest go, if they are too old, too many or too large."""
        oldest, limits = self.clock() - self.limits.retention, self.limits
        while self._rows:
            key, (at, row) = next(iter(self._rows.items()))
            if len(self._rows) <= limits.predictions and self._size <= limits.bodies and at >= oldest:
                break
            del self._rows[key]
            self._size -= len(row)
            self._gone.append(key)

    def take_news(self) -> tuple[list[tuple[str, float, bytes]], list[str]]:
        """What is to be stored, and the ids of what is to be forgotten; for the writer's thread."""
        new = [self._new.popleft() for _ in range(len(self._new))]
        return new, [self._gone.popleft() for _ in range(len(self._gone))]

    def put_back(self, new: list[tuple[str, float, bytes]], gone: list[str]) -> None:
        """It could not be stored: later, then."""
        self._new.extendleft(reversed(new))
        self._gone.extendleft(reversed(gone))
