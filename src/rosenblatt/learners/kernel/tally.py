"""What the engine counts while a kernel learns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.learners.state.arrays import Arrays, Counted, new_counters
from rosenblatt.learners.state.learning import ALONE, Order, PassOptions
from rosenblatt.learners.targets import Targets
from rosenblatt.params import Rule


def new_tally(generator: NDArray[np.uint64], *, pocket: bool = False) -> Arrays:
    """The arrays of a state that has seen nothing."""
    arrays: Arrays = {"counters": new_counters(), "generator": generator, "mistake_weight": np.zeros(1)}
    if pocket:
        arrays["pocket_mistakes"] = np.array([np.inf])  # the sample weights of the rows that it gets wrong
    return arrays


class Tallied(Counted):
    """A state of a kernel: the engine counts in its arrays while the rows lie elsewhere."""

    stores_rows = False

    def learn(self, table: Table, targets: Targets, rule: Rule, order: Order = None, how: PassOptions = ALONE) -> None:
        """Fold rows into the state, in the given order."""
        raise NotImplementedError

    def passes(self, table: Table, targets: Targets, rule: Rule, how: PassOptions) -> Callable[[Order], None]:
        """What `learn` does with these rows, to be called with one order after another."""
        return lambda order: self.learn(table, targets, rule, order, how)

    def tally(self) -> engine.Tally:
        """The arrays as the engine sees them."""
        return engine.Tally(self.arrays)

    def copied_arrays(self) -> Arrays:
        return {name: values.copy() for name, values in self.arrays.items()}
