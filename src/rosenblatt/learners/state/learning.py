"""What every state can do: one of linear weights, of a kernel's support rows, or of few of these on a budget.

Invariant: epochs, folds, sweeps and files speak to states by these names only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import Table
from rosenblatt.learners.targets import Targets
from rosenblatt.models.predictors import Predictor
from rosenblatt.params import Rule

Order = NDArray[np.uint32] | None  # the rows to go over, in this order; None: all, as they lie
Flag = NDArray[np.uint8]  # one number: set, it ends a pass between two rows


@dataclass(frozen=True)
class PassOptions:
    """How one pass over rows goes that is an epoch among others."""

    ratchet: bool = False  # may a pocket be checked on all rows of the pass?
    places: NDArray[np.int64] | None = None  # where a vote has stored each row (-1: not yet), as the table comes again
    cancel: Flag | None = None


ALONE = PassOptions()


class LearningState(Protocol):
    """What can learn: folds rows into itself and knows what it has learned."""

    def passes(self, table: Table, targets: Targets, rule: Rule, how: PassOptions) -> Callable[[Order], None]:
        """What `learn` does with these rows, to be called with one order after another."""
        ...

    def learn(self, table: Table, targets: Targets, rule: Rule, order: Order = None, how: PassOptions = ALONE) -> None:
        """Fold rows into the state, in the given order."""

    def begin_epochs(self, table: Table, targets: Targets, order: Order = None) -> None:
        """Before the first epoch over these rows."""

    def converged(self) -> None:
        """The raw weights were found to make no mistake."""

    def count_mistakes(self, table: Table, targets: Targets, order: Order = None) -> float:
        """How many of the rows the raw weights get wrong, each counted with its sample weight."""
        ...

    def predictor(self) -> Predictor:
        """What scores rows: the weights that the keep says."""
        ...

    def counter(self, name: str) -> int: ...

    @property
    def mistake_weight(self) -> float: ...

    @property
    def generator(self) -> NDArray[np.uint64]: ...

    @property
    def stores_rows(self) -> bool: ...

    def is_finite(self) -> bool: ...

    def copy(self) -> Self: ...

    def fresh(self) -> Self: ...

    def with_classes(self, mix: NDArray[np.float64]) -> Self: ...
