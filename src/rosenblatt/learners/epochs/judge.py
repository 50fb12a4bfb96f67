"""The judge of epochs: told of each one, it says whether to stop, and why.

Invariant: stopping is decided here and nowhere else, for arrays, files, products, sweeps and replays. Nothing is
compared with an absolute loss, only shares of the rows, so the answer never depends on the scale of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from rosenblatt.errors import DataError
from rosenblatt.learners.epochs.history import History
from rosenblatt.recipe.recipe import Recipe

StopReason = Literal["converged", "no_change", "max_iter"]


@dataclass(frozen=True)
class Epoch:
    """What happened in one epoch."""

    mistakes: int
    updates: int
    mistake_weight: float  # of the rows that were mistakes, each with its sample weight
    weight: float  # of all rows
    rows: int
    finite: bool = True  # are the weights?
    seconds: float = 0.0
    validation_score: float | None = None  # higher is better


@dataclass
class Judge:
    """Stops when the rule has nothing left to do, when epochs get no better, or when there are no more epochs.

    Better means a lower mistake rate, a share of the rows each counted with its sample weight; or, where there is one,
    a higher validation score.
    """

    max_iter: int
    tol: float | None
    n_iter_no_change: int
    history: History = field(default_factory=History)
    best: float = -math.inf
    waited: int = 0  # epochs since the last one that was better
    improved: bool = False  # was the latest epoch the best so far?
    stop_reason: StopReason | None = None

    @classmethod
    def of(cls, recipe: Recipe) -> Judge:
        """The judge that a recipe asks for."""
        tol = None if recipe.tol is None else float(recipe.tol)
        return cls(int(recipe.max_iter), tol, int(recipe.n_iter_no_change))

    def hear(self, epoch: Epoch, separates: Callable[[], bool]) -> StopReason | None:
        """Why to stop after this epoch, or None.

        `separates` says whether the weights at the end of the epoch get every row right, by one more pass; it is asked
        only where that decides.
        """
        self.history.append(epoch.mistakes, epoch.updates, epoch.seconds, epoch.validation_score)
        if not epoch.finite:
            raise DataError(f"the weights overflowed in epoch {len(self.history)}: scale the columns")
        score = epoch.validation_score
        if score is None:
            score = -epoch.mistake_weight / epoch.weight
        self.waited = 0 if self.tol is None or score - self.best > self.tol else self.waited + 1
        self.improved = score > self.best
        self.best = max(score, self.best)
        if epoch.mistakes == 0 and separates():
            self.stop_reason = "converged"
        elif self.waited >= self.n_iter_no_change:
            self.stop_reason = "no_change"
        elif len(self.history) >= self.max_iter:
            self.stop_reason = "max_iter"
        return self.stop_reason

    def to_json(self) -> dict[str, Any]:
        """What has to be known to go on judging."""
        best = None if math.isinf(self.best) else self.best
        return {"best": best, "waited": self.waited, "stop_reason": self.stop_reason}

    def restore(self, known: dict[str, Any], history: History) -> None:
        """Go on from what `to_json` said."""
        self.best = -math.inf if known["best"] is None else float(known["best"])
        self.waited, self.stop_reason, self.history = int(known["waited"]), known["stop_reason"], history
