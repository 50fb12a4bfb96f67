"""The orders in which epochs go over the rows."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine


@dataclass
class Orders:
    """Orders of rows to go in, drawn once for all learners that ask with the same generator.

    Learners that share an order can share a reading of the rows; each generator goes on as if it had been alone.
    """

    _used: NDArray[np.uint32] | None = None
    _drawn: dict[tuple[int, int, bytes], tuple[NDArray[np.uint32], NDArray[np.uint64]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(self, rows: NDArray[np.uint32] | None, count: int, generator: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """A shuffled order of the rows (None: all `count` of them); the generator moves on."""
        key = (id(rows), count, generator.tobytes())
        with self._lock:
            if key not in self._drawn:
                order = self._take(count)
                if rows is not None:
                    order[:] = rows
                moved = generator.copy()
                engine.shuffle(order, moved, number=rows is None)
                self._drawn[key] = order, moved
            order, moved = self._drawn[key]
        generator[:] = moved
        return order

    def forget(self) -> None:
        """Let go of the orders of past epochs."""
        self._drawn.clear()

    def reuse(self, order: NDArray[np.uint32]) -> None:
        """The next draw may overwrite this order: everyone has gone over it, and fresh pages cost time."""
        self._used = order

    def _take(self, count: int) -> NDArray[np.uint32]:
        used, self._used = self._used, None
        return used if used is not None and len(used) == count else np.empty(count, np.uint32)
