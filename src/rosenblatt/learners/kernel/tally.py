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
    """A state of a kernel: the engine counts in its arrays while the rows lie elsewhere."""

    stores_rows = False

    def tally(self) -> engine.Tally:
        """The arrays as the engine sees them."""
        return engine.Tally(self.arrays)

    def copied_arrays(self) -> Arrays:
        return {name: values.copy() for name, values in self.arrays.items()}
