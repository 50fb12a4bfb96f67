"""What the engine counts while a kernel learns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.learners.state.arrays import Arrays, Counted, new_counters


def new_tally(generator: NDArray[np.uint64], *, pocket: bool = False) -> Arrays:
    """The arrays of a state that has seen nothing."""
    arrays: Arrays = {"counters": new_counters(), "generator": generator, "mistake_weight": np.zeros(1)}
    if pocket:
        arrays["pocket_mistakes"] = np.array([np.inf])  # the sample weights of the rows that it gets wrong
    return arrays


class Tallied(Counted):
    """A state whose counters are among its arrays."""

    arrays: Arrays
    stores_rows = False

    @property
    def counters(self) -> NDArray[np.int64]:
        return self.arrays["counters"]

    @property
    def generator(self) -> NDArray[np.uint64]:
        return self.arrays["generator"]

    @property
    def mistake_weight(self) -> float:
        """The sample weights of all mistakes."""
        return float(self.arrays["mistake_weight"][0])

    def tally(self) -> engine.Tally:
        """The arrays as the engine sees them."""
        return engine.Tally(self.arrays)

    def copied_arrays(self) -> Arrays:
        return {name: values.copy() for name, values in self.arrays.items()}
