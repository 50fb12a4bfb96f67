"""Stopping criterion, updated after each epoch.

Invariant: stopping is decided here and nowhere else, for arrays, files, products, sweeps and replays. Nothing is
compared with an absolute loss, only shares of the rows, so the answer never depends on the scale of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.params import Params, check_count


@dataclass
class History:
    """One entry per epoch: mistakes, updates, seconds, and the validation score if there was one.

    >>> from rosenblatt import Perceptron
    >>> Perceptron(shuffle=False).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]).history_.mistakes
    [2, 3, 3, 2, 2, 3, 2, 1, 0]
    """

    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    validation_score: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.mistakes)

    def append(self, mistakes: int, updates: int, seconds: float = 0.0, validation_score: float | None = None) -> None:
        """One more epoch."""
        self.mistakes.append(mistakes)
        self.updates.append(updates)
        self.seconds.append(seconds)
        if validation_score is not None:
            self.validation_score.append(validation_score)

    def cut(self, entries: int) -> None:
        """Keep only so many entries."""
        for values in (self.mistakes, self.updates, self.seconds):
            del values[entries:]

    def followed_by(self, later: History) -> History:
        return History(
            self.mistakes + later.mistakes,
            self.updates + later.updates,
            self.seconds + later.seconds,
            self.validation_score + later.validation_score,
        )

    @classmethod
    def total(cls, histories: list[History]) -> History:
        """Problems learned side by side, as one: sums per epoch, and the mean of the validation scores."""
        if len(histories) == 1:
            return histories[0]
        scores = zip_longest(*(h.validation_score for h in histories))
        return cls(
            [sum(each) for each in zip_longest(*(h.mistakes for h in histories), fillvalue=0)],
            [sum(each) for each in zip_longest(*(h.updates for h in histories), fillvalue=0)],
            [sum(each) for each in zip_longest(*(h.seconds for h in histories), fillvalue=0.0)],
            [sum(known) / len(known) for each in scores if (known := [s for s in each if s is not None])],
        )


StopReason = Literal["converged", "no_change", "max_iter"]
PATIENCE = 100_000  # rows: a few milliseconds


class Epoch(NamedTuple):
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
class StoppingCriterion:
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
    def of(cls, params: Params) -> StoppingCriterion:
        """The stopping criterion of these params."""
        tol = None if params.tol is None else float(params.tol)
        rule = params.update_rule
        return cls(int(params.max_iter), tol, int(params.n_iter_no_change), rule.moves_without_mistake, rule.shrinks)

    def update(self, epoch: Epoch, separates: Callable[[], bool]) -> StopReason | None:
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

    def set_epochs(self, most: int, *, within: bool) -> None:
        """Allow so many epochs from now on; `within`: is an epoch half learned?"""
        check_count("max_iter", most)
        done = len(self.history)
        if most < done or (most == done and within):
            begun = f"{done:,} epochs" + (" and a part" if within else "")
            raise ParameterError(f"max_iter={most}: {begun} have been learned already")
        self.max_iter = most
        if self.stop_reason in ("max_iter", None):
            self.stop_reason = "max_iter" if most == done else None

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
