"""The state of a kernel learner: support rows and the list of updates made with them.

Invariant: the list of updates says everything. The last weights are the sum of its steps, the average weighs each by
the examples that came after it, the vote walks along it, the pocket is its beginning; and a row's score is always the
sum in the list's order, so any cut of the rows into batches gives the same bits.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.kernel.tally import Tallied, new_tally
from rosenblatt.learners.state.arrays import KEEPS, Arrays, settle_pocket
from rosenblatt.learners.state.learning import ALONE, Order, PassOptions
from rosenblatt.learners.state.state import engine_rule
from rosenblatt.learners.targets import Targets
from rosenblatt.models.predictors import Dual, Kernel, Updates, VotedDual, stack_rows, walk, with_columns
from rosenblatt.params import Rule


class Support:
    """Rows that a step was ever taken along, each stored once and shared by all classes.

    A row that comes again, in another epoch or another batch, is known by its content.
    """

    def __init__(self, *, precomputed: bool) -> None:
        self.precomputed = precomputed
        self.rows: Any = None  # an array or CSR array; places among the training rows with a precomputed kernel
        self._places: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def copy(self) -> Support:
        other = Support(precomputed=self.precomputed)
        other.rows, other._places = self.rows, dict(self._places)
        return other

    def over(self, features: int) -> Support:
        """The same rows over more columns, which are 0; sparse, so that a row is known by what is not 0."""
        import scipy.sparse as sp

        wide = Support(precomputed=self.precomputed)
        if self.rows is not None:
            rows = with_columns(sp.csr_array(self.rows), features)
            wide.add(as_table(rows), np.arange(len(self)))
        return wide

    def add(self, table: Table, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Store these rows of the table, unless they are there; returns where they are."""
        if self.precomputed:
            keys: list[Any] = rows.tolist()
        else:
            keys = [fingerprint(table, row) for row in rows.tolist()]
        known = len(self._places)
        places = np.array([self._places.setdefault(key, len(self._places)) for key in keys], dtype=np.int64)
        first = np.unique(places, return_index=True)[1]
        new = rows[first[places[first] >= known]]
        if len(new):
            fresh = new if self.precomputed else table.take(new)
            if self.precomputed:
                self.rows = fresh if self.rows is None else np.concatenate([self.rows, fresh])
            else:
                self.rows = stack_rows(self.rows, fresh)
        return places


@dataclass
class DualState(Tallied):
    """The state of one problem: one score with two classes, one per class with more, learned jointly."""

    keep: str
    kernel: Kernel
    fit_intercept: bool
    K: int
    support: Support
    cache_bytes: int
    arrays: Arrays
    log: Updates = Updates.none()  # `which` names a support row
    recent: Updates = Updates.none()  # since the rows were last moved to the support; `which` names a row of the table
    pocket: int = 0  # how many updates made the weights in the pocket
    table: Table | None = None
    start: NDArray[np.float64] | None = None  # scores of the table's rows by the log
    run: engine.DualRun | None = None

    @classmethod
    def begin(
        cls,
        K: int,
        *,
        keep: str,
        kernel: Kernel,
        fit_intercept: bool,
        support: Support,
        cache_bytes: int,
        generator: NDArray[np.uint64],
    ) -> DualState:
        """A state that has seen nothing yet."""
        arrays = new_tally(generator, pocket=keep == "pocket")
        return cls(keep, kernel, fit_intercept, K, support, cache_bytes, arrays)

    def fresh(self) -> DualState:
        """A state like this one that has seen nothing yet."""
        return DualState.begin(
            self.K,
            keep=self.keep,
            kernel=self.kernel,
            fit_intercept=self.fit_intercept,
            support=self.support,
            cache_bytes=self.cache_bytes,
            generator=engine.seed_generator(0),
        )

    def learn(self, table: Table, targets: Targets, rule: Rule, order: Order = None, how: PassOptions = ALONE) -> None:
        """Fold rows into the state, in the given order.

        On exit the updates name rows of the table; `leave` moves these rows into the support.
        """
        run = self._run_on(table, targets)
        try:
            run.learn(self.tally(), engine_rule(rule), order=order, ratchet=how.ratchet, cancel=how.cancel)
        finally:  # an interrupted pass has learned whole rows, and all of them count
            self.recent = self.recent.followed_by(Updates(*run.updates(len(self.recent))))
            if run.pocket >= 0:
                self.pocket = len(self.log) + run.pocket

    def count_mistakes(self, table: Table, targets: Targets, order: Order = None) -> float:
        """How many of the rows the last weights get wrong, each counted with its sample weight."""
        found: float = self._run_on(table, targets).count_mistakes(order)
        return found

    def begin_epochs(self, table: Table, targets: Targets, order: Order = None) -> None:
        """Before the first epoch over these rows."""
        if self.keep == "pocket":
            asked = targets if order is None else targets.take(order)
            found = asked.weigh(asked.wrong(self.predictor().scores(table, order)))
            settle_pocket(self, self.arrays["pocket_mistakes"], found)

    def predictor(self) -> Dual | VotedDual:
        """The weights that the keep says are the answer."""
        return self.answer_of([self])

    def coefficients(self) -> NDArray[np.float64]:
        """A coefficient for each support row and class, of shape (support rows, K); of a settled state."""
        log, steps = self.log, self.log.steps
        if self.keep == "pocket":
            log, steps = log.first(self.pocket), steps[: self.pocket]
        steps = steps * KEEPS[self.keep].shares(np.cumsum(log.survived), self.counter("seen"))
        size = len(self.support) * self.K
        total = np.bincount(log.which * self.K + log.gains, steps, minlength=size).astype(np.float64)
        loses = log.loses >= 0
        total -= np.bincount((log.which * self.K + log.loses)[loses], steps[loses], minlength=size)
        return total.reshape(-1, self.K)

    def converged(self) -> None:
        """The last weights were found to make no mistake."""
        if self.keep == "pocket":
            self.pocket = len(self.log) + len(self.recent)
            self.arrays["pocket_mistakes"] = np.zeros(1)
            self.set_counter("pocket_is_current", 1)
            self.set_counter("pocket_run", max(self.counter("pocket_run"), self.counter("run")))

    def is_finite(self) -> bool:
        return self.run is None or self.run.is_finite()

    def copy(self) -> DualState:
        """A state that goes its own way."""
        return replace(self, support=self.support.copy(), arrays=self.copied_arrays(), start=None, run=None)

    def over(self, features: int, gamma: float | None = None) -> DualState:
        """The same state over more columns, which are 0; with another `gamma` of the kernel, if given."""
        kernel = self.kernel if gamma is None else replace(self.kernel, gamma=gamma)
        return replace(self, kernel=kernel, support=self.support.over(features))

    def with_classes(self, mix: NDArray[np.float64]) -> DualState:
        """The same state with other classes: row k of `mix` says how class k is made of the old ones."""
        return replace(self, K=len(mix), log=self.log.mixed(mix), arrays=self.copied_arrays())

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "start": None, "run": None}

    def _run_on(self, table: Table, targets: Targets) -> engine.DualRun:
        if self.run is None or self.table is not table:
            known = self.start if self.table is table else None
            start = self.starting_scores(table, [self])[0] if known is None else known
            source = self.kernel.among(table, self.cache_bytes)
            bias = 1.0 if self.fit_intercept else 0.0
            self.table, self.start = table, None
            self.run = engine.DualRun(source, targets.view, bias=bias, start=start)
        return self.run

    @staticmethod
    def look_at(table: Table, states: list[DualState]) -> None:
        """Before learning from a table: the scores of its rows by what each state has learned."""
        for state, start in zip(states, DualState.starting_scores(table, states), strict=True):
            state.table, state.start, state.run = table, start, None

    @staticmethod
    def starting_scores(table: Table, states: list[DualState]) -> list[NDArray[np.float64]]:
        """The scores of the rows by what each state has learned, kernel values shared."""
        first, logs = states[0], tuple(state.log for state in states)
        starts = [np.zeros((table.count, first.K)) for _ in states]
        if any(map(len, logs)):
            survived = tuple(state.counter("survived") for state in states)
            walked = walk(first.kernel, table, first.support.rows, logs, survived, first.K, first.fit_intercept)
            starts = [last for last, _, _ in walked]
        return starts

    @staticmethod
    def recognize(table: Table, states: list[DualState]) -> None:
        """Rows are known by their content anyway."""
        DualState.look_at(table, states)

    @staticmethod
    def leave(states: list[DualState]) -> None:
        """Leave the table: the rows that the latest updates name move into the support that the states share."""
        table, support = states[0].table, states[0].support
        if table is not None:
            rows = np.unique(np.concatenate([state.recent.which for state in states]))
            places = np.full(table.count, -1)
            places[rows] = support.add(table, rows)
            for state in states:
                state.log, state.recent = state.log.followed_by(state.recent.naming(places)), Updates.none()
        for state in states:
            state.support, state.table, state.start, state.run = support, None, None, None

    @staticmethod
    def answer_of(states: list[DualState]) -> Dual | VotedDual:
        """One answer of all problems, whose scores stand side by side."""
        if states[0].table is not None:
            support = states[0].support.copy()
            states = [replace(state.copy(), support=support) for state in states]
            DualState.leave(states)
        first, rows = states[0], states[0].support.rows
        if first.keep == "vote":
            logs, survived = tuple(s.log for s in states), tuple(s.counter("survived") for s in states)
            return VotedDual(first.kernel, rows, logs, survived, first.K, first.fit_intercept)
        coefficients = np.hstack([state.coefficients() for state in states])
        bias = 1.0 if first.fit_intercept else 0.0
        used = np.flatnonzero(coefficients.any(axis=1))
        support_rows = None if rows is None or not len(used) else rows[used]
        return Dual(
            first.kernel, support_rows, np.ascontiguousarray(coefficients[used]), bias * coefficients.sum(axis=0)
        )


def fingerprint(table: Table, row: int) -> bytes:
    """16 bytes instead of the row itself, by what is not 0 in it: the same for dense and sparse rows."""
    if table.sparse:
        span = slice(table.values.indptr[row], table.values.indptr[row + 1])
        columns, values = table.values.indices[span], table.values.data[span]
        columns, values = columns[values != 0], values[values != 0]
    else:
        columns = np.flatnonzero(table.values[row])
        values = table.values[row, columns]
    digest = hashlib.blake2b(columns.astype(np.int64).tobytes(), digest_size=16)
    digest.update(values.astype(np.float64).tobytes())
    return digest.digest()
