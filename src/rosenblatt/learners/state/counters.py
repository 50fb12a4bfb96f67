"""The counters of a state, which the engine counts in place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine

COUNTERS: tuple[str, ...] = engine.COUNTERS


def new_counters() -> NDArray[np.int64]:
    """The counters of a state that has seen nothing: its weights are in the pocket until the first update."""
    counters = np.zeros(len(COUNTERS), np.int64)
    counters[COUNTERS.index("checked")] = counters[COUNTERS.index("pocket_is_current")] = 1
    counters[COUNTERS.index("pocket_run")] = -1
    return counters


class Counted:
    """A state with an array of counters, by name."""

    @property
    def counters(self) -> NDArray[np.int64]:
        raise NotImplementedError

    def counter(self, name: str) -> int:
        return int(self.counters[COUNTERS.index(name)])

    def set_counter(self, name: str, value: int) -> None:
        self.counters[COUNTERS.index(name)] = value

    def count_as_right(self, rows: int) -> None:
        """Rows were seen that had no other class to be mistaken for."""
        for name in ("seen", "survived"):
            self.set_counter(name, self.counter(name) + rows)
