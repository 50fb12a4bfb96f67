"""Predictions that are remembered, so that the right label can be told later.

Invariant: as many are kept as the limit says, and none for longer than the retention. They are stored a second later:
after a crash the newest may be unknown, after a proper end none.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import msgspec

from rosenblatt.service.clock import Clock
from rosenblatt.service.limits import Limits

ENCODER = msgspec.json.Encoder()


class Remembered:
    """The rows of predictions by their ids."""

    def __init__(self, limits: Limits, clock: Clock, stored: Iterable[tuple[str, float, bytes]] = ()) -> None:
        self.limits, self.clock = limits, clock
        self._rows: OrderedDict[str, tuple[float, bytes]] = OrderedDict((key, (at, row)) for key, at, row in stored)
        self.unsaved: list[tuple[str, float, bytes]] = []
        self._size = sum(len(row) for _, row in self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: Any) -> str:
        """The id of a prediction for this row, as the log would hold it."""
        now, key, packed = self.clock(), secrets.token_hex(12), ENCODER.encode(row)
        self._rows[key] = (now, packed)
        self._size += len(packed)
        self.unsaved.append((key, now, packed))
        oldest = now - self.limits.retention
        while self._rows:
            at, first = next(iter(self._rows.values()))
            if len(self._rows) <= self.limits.predictions and self._size <= self.limits.bodies and at >= oldest:
                break
            self._rows.popitem(last=False)
            self._size -= len(first)
        if len(self.unsaved) > self.limits.predictions:
            self.unsaved = self.unsaved[-self.limits.predictions :]
        return key

    def get(self, key: str) -> Any:
        """The row of a prediction; None if it is not, or no longer, known."""
        found = self._rows.get(key)
        if found is None or found[0] < self.clock() - self.limits.retention:
            return None
        return msgspec.json.decode(found[1])

    def take_unsaved(self) -> tuple[list[tuple[str, float, bytes]], float]:
        """What is to be stored, and the time before which everything is to be forgotten."""
        new, self.unsaved = self.unsaved, []
        return new, self.clock() - self.limits.retention
