"""What examples ask for: the seam between a task and the loops that learn.

Invariant: loops know targets only; which task they belong to, and how its classes are told apart, is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels


@dataclass(frozen=True)
class Targets:
    """What each row should be: a sign (two classes) or a code (more), and how much the row weighs."""

    y: NDArray[Any]  # int8 signs or int32 codes
    weight_rows: int  # that one problem has
    sample_weight: NDArray[np.float64] | None = None
    tie_positive: bool = False

    @cached_property
    def view(self) -> engine.Targets:
        """The targets as the engine sees them."""
        return engine.Targets(
            self.y, rows=self.weight_rows, sample_weight=self.sample_weight, tie_positive=self.tie_positive
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: found for name, found in vars(self).items() if name != "view"}

    def take(self, index: NDArray[Any]) -> Targets:
        """Those of some rows."""
        weights = None if self.sample_weight is None else self.sample_weight[index]
        return replace(self, y=self.y[index], sample_weight=weights)

    def total(self, rows: NDArray[np.uint32] | None) -> float:
        """What the rows weigh together."""
        if self.sample_weight is None:
            return float(len(self.y) if rows is None else len(rows))
        return float((self.sample_weight if rows is None else self.sample_weight[rows]).sum())

    def wrong(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which rows are mistakes at these scores, of shape (rows, K); a score of 0 is one, a tie too."""
        if self.weight_rows == 1:
            if self.tie_positive:
                return np.not_equal(scores[:, 0] >= 0, self.y > 0)
            return np.less_equal(self.y * scores[:, 0], 0)
        every = np.arange(len(self.y))
        others = scores.copy()
        others[every, self.y] = -np.inf
        wrong: NDArray[np.bool_] = scores[every, self.y] <= others.max(axis=1)
        return wrong

    def right(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which rows are predicted right at these scores."""
        if self.weight_rows == 1:
            return np.equal(scores[:, 0] >= 0, self.y > 0)
        right: NDArray[np.bool_] = np.argmax(scores, axis=1) == self.y
        return right

    def weigh(self, chosen: NDArray[np.bool_]) -> float:
        """What some of the rows weigh together."""
        if self.sample_weight is None:
            return float(np.count_nonzero(chosen))
        return float(self.sample_weight[chosen].sum())


def targets_of(
    labels: Labels,
    *,
    ovr: bool = False,
    sample_weight: NDArray[np.float64] | None = None,
    tie_positive: bool = False,
) -> list[Targets]:
    """The problems that labels pose: one, or one per class against the rest."""
    classes = len(labels.classes)

    def problem(y: NDArray[Any], rows: int) -> Targets:
        return Targets(y, rows, sample_weight, tie_positive)

    if ovr and classes > 2:
        return [problem(labels.signs(k), 1) for k in range(classes)]
    return [problem(labels.signs(), 1) if classes <= 2 else problem(labels.codes, classes)]


def weight_rows(classes: int) -> int:
    """How many weight rows a joint problem has: one for two classes, else one each."""
    return 1 if classes <= 2 else classes
