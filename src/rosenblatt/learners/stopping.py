"""Stopping criterion, updated after each epoch.

Invariant: only this module decides when to stop, for arrays, files, products, sweeps and replays. It compares shares of
the rows, never losses, so the decision does not depend on the scale of the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, get_args

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.params import Params, check_count


@dataclass
class History:
    """One entry per epoch in each list: `mistakes`, `updates`, `seconds`, and `validation_score`.

    `validation_score` is empty without early stopping.

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

    def append(self, epoch: Epoch) -> None:
        """One more epoch."""
        for name, values in vars(self).items():
            if (value := getattr(epoch, name)) is not None:  # there may be no validation score
                values.append(value)

    def followed_by(self, later: History) -> History:
        return History(**{name: mine + vars(later)[name] for name, mine in vars(self).items()})

    @classmethod
    def total(cls, histories: list[History]) -> History:
        """Problems learned side by side, as one: sums per epoch, and the mean of the validation scores."""

        def epochs(name: str) -> list[list[Any]]:
            """The values of all problems that learned in each epoch."""
            columns = zip_longest(*(vars(history)[name] for history in histories))
            return [[value for value in each if value is not None] for each in columns]

        sums = {name: [sum(each) for each in epochs(name)] for name in ("mistakes", "updates", "seconds")}
        return cls(**sums, validation_score=[sum(each) / len(each) for each in epochs("validation_score")])


StopReason = Literal["converged", "no_change", "max_iter"]
PATIENCE = 100_000  # rows: a few milliseconds


class Epoch(NamedTuple):
    """What happened in one epoch."""

    mistakes: int
    updates: int
    mistake_weight: float  # the sample weights of the rows that were a mistake or, for a margin rule, an update
    weight: float  # of all rows
    rows: int
    finite: bool = True  # are the weights?
    seconds: float = 0.0
    validation_score: float | None = None  # higher is better


class Counters(NamedTuple):
    """The counters of all problems at one moment."""

    mistakes: int
    updates: int
    weight: float

    @classmethod
    def of(cls, *states: Any) -> Counters:
        found = [(state.counter("mistakes"), state.counter("updates"), state.mistake_weight) for state in states]
        return cls(*found[0]) if len(found) == 1 else cls(*map(sum, zip(*found, strict=True)))

    def since(self, before: Counters, weight: float, rows: int, **more: Any) -> Epoch:
        """The epoch between two moments, over rows of so much weight."""
        mistakes, updates = self.mistakes - before.mistakes, self.updates - before.updates
        return Epoch(mistakes, updates, self.weight - before.weight, weight, rows, **more)


@dataclass
class StoppingCriterion:
    """Stops when the rule has nothing left to do, when epochs get no better, or when there are no more epochs.

    Nothing left to do: an epoch without a mistake and without an update. Better: a lower share of rows that were a
    mistake or, for a rule that wants a margin, an update, each counted with its sample weight; or, if there is one, a
    higher validation score. Patience counts rows as well as epochs, so that tiny data get
    enough epochs.
    """

    max_iter: int
    tol: float | None
    n_iter_no_change: int
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
        return cls(int(params.max_iter), tol, int(params.n_iter_no_change), params.update_rule.shrinks)

    def update(self, epoch: Epoch, separates: Callable[[], bool]) -> StopReason | None:
        """Why to stop after this epoch, or None.

        `separates` says whether the weights at the end of the epoch get every row right, by one more pass; called
        only if weights shrink.
        """
        self.history.append(epoch)
        if not epoch.finite:
            raise DataError(f"the weights overflowed in epoch {len(self.history)}: scale the columns")
        score = -epoch.mistake_weight / epoch.weight if epoch.validation_score is None else epoch.validation_score
        better = self.tol is None or score - self.best > self.tol
        self.waited = 0 if better else self.waited + 1
        self.waited_rows = 0 if better else self.waited_rows + epoch.rows
        self.improved = score > self.best
        self.best = max(score, self.best)
        if epoch.mistakes == 0 and epoch.updates == 0 and (not self.shrinks or separates()):
            self.stop_reason = "converged"
        elif self._patience_is_over():
            self.stop_reason = "no_change"
        elif len(self.history) >= self.max_iter:
            self.stop_reason = "max_iter"
        return self.stop_reason

    def _patience_is_over(self) -> bool:
        enough = self.waited_rows >= PATIENCE or 2 * self.waited >= self.max_iter
        return enough and self.waited >= self.n_iter_no_change

    def set_epochs(self, most: int, *, within: bool) -> None:
        """Set the number of epochs still allowed; `within` is True in the middle of an epoch."""
        check_count("max_iter", most)
        done = len(self.history)
        if most < done or (most == done and within):
            learned = f"{done:,} epochs" + (" and a part" if within else "")
            raise ParameterError(f"max_iter={most}: the run has already learned {learned}")
        self.max_iter = most
        if self.stop_reason != "converged":  # more epochs mean more patience
            self.stop_reason = "no_change" if self._patience_is_over() else "max_iter" if most == done else None

    def to_json(self) -> dict[str, Any]:
        """The state of the criterion as JSON values."""
        known = {name: getattr(self, name) for name in ("waited", "waited_rows", "stop_reason")}
        return known | {"best": None if math.isinf(self.best) else self.best, "history": asdict(self.history)}

    def restore(self, known: dict[str, Any]) -> None:
        """Continue from the values of `to_json`; an invalid one is a ValueError, and changes nothing."""
        history, best, reason = History(**known["history"]), known["best"], known["stop_reason"]
        counts = [*history.mistakes, *history.updates, known["waited"], known["waited_rows"]]
        numbers = [*history.seconds, *history.validation_score, 0.0 if best is None else best]
        valid = all(isinstance(column, list) for column in asdict(history).values())
        valid = valid and all(type(count) is int and 0 <= count < 2**62 for count in counts)
        valid = valid and all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
        if not valid or len(history.updates) != len(history) or reason not in (None, *get_args(StopReason)):
            raise ValueError("its history cannot be read")
        self.best = -math.inf if best is None else float(best)
        self.waited, self.waited_rows = known["waited"], known["waited_rows"]
        self.stop_reason, self.history = reason, history
