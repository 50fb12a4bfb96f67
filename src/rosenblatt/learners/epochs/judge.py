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
PATIENCE = 100_000  # rows: a few milliseconds


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

    Nothing left to do: an epoch without a mistake and without an update. Better: a lower mistake rate, a share of the
    rows each counted with its sample weight; for a rule that moves without a mistake a lower share of updates; or,
    where there is one, a higher validation score. Patience counts rows as well as epochs, so that tiny data, whose
    epochs are short, get their chance.
    """

    max_iter: int
    tol: float | None
    n_iter_no_change: int
    by_updates: bool = False  # is it the updates that count, not the mistakes?
    shrinks: bool = False  # do weights change after every row, so that an epoch without an update proves nothing?
    history: History = field(default_factory=History)
    best: float = -math.inf
    waited: int = 0  # epochs since the last one that was better
    waited_rows: int = 0  # and their rows
    improved: bool = False  # was the latest epoch the best so far?
    stop_reason: StopReason | None = None

    @classmethod
    def of(cls, recipe: Recipe) -> Judge:
        """The judge that a recipe asks for."""
        tol = None if recipe.tol is None else float(recipe.tol)
        rule = recipe.used_rule
        return cls(int(recipe.max_iter), tol, int(recipe.n_iter_no_change), rule.moves_without_mistake, rule.shrinks)

    def hear(self, epoch: Epoch, separates: Callable[[], bool]) -> StopReason | None:
        """Why to stop after this epoch, or None.

        `separates` says whether the weights at the end of the epoch get every row right, by one more pass; it is asked
        only where weights shrink.
        """
        self.history.append(epoch.mistakes, epoch.updates, epoch.seconds, epoch.validation_score)
        if not epoch.finite:
            raise DataError(f"the weights overflowed in epoch {len(self.history)}: scale the columns")
        score = epoch.validation_score
        if score is None and self.by_updates:
            score = -epoch.updates / epoch.rows
        elif score is None:
            score = -epoch.mistake_weight / epoch.weight
        better = self.tol is None or score - self.best > self.tol
        self.waited = 0 if better else self.waited + 1
        self.waited_rows = 0 if better else self.waited_rows + epoch.rows
        self.improved = score > self.best
        self.best = max(score, self.best)
        if epoch.mistakes == 0 and epoch.updates == 0 and (not self.shrinks or separates()):
            self.stop_reason = "converged"
        elif self.waited >= self.n_iter_no_change and self._has_waited_long():
            self.stop_reason = "no_change"
        elif len(self.history) >= self.max_iter:
            self.stop_reason = "max_iter"
        return self.stop_reason

    def _has_waited_long(self) -> bool:
        return self.waited_rows >= PATIENCE or 2 * self.waited >= self.max_iter

    def to_json(self) -> dict[str, Any]:
        """What has to be known to go on judging."""
        best = None if math.isinf(self.best) else self.best
        return {
            "best": best,
            "waited": self.waited,
            "waited_rows": self.waited_rows,
            "stop_reason": self.stop_reason,
        }

    def restore(self, known: dict[str, Any], history: History) -> None:
        """Go on from what `to_json` said."""
        self.best = -math.inf if known["best"] is None else float(known["best"])
        self.waited, self.waited_rows = int(known["waited"]), int(known.get("waited_rows", 0))
        self.stop_reason, self.history = known["stop_reason"], history
