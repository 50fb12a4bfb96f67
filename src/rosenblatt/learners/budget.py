"""The state of a kernel learner that keeps at most so many support rows.

Invariant: there are never more than `budget` rows, and the score of a row is the sum over the slots in their order, so
any cut of the rows into batches gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.counters import Counted, new_counters
from rosenblatt.learners.dual import Support
from rosenblatt.learners.rules import Rule
from rosenblatt.learners.state import KeepName
from rosenblatt.models.kernel import Dual, Kernel
from rosenblatt.models.voted import stack_rows

Policy = Literal["forget-oldest", "forgetron", "projectron"]
POLICIES: tuple[Policy, ...] = ("forget-oldest", "forgetron", "projectron")

ROWS_A_BATCH = 1024  # that are looked at together; the answer does not depend on it


@dataclass
class BudgetState(Counted):
    """The state of one problem: a slot for each support row, with its coefficients."""

    kernel: Kernel
    fit_intercept: bool
    K: int
    policy: Policy
    counters: NDArray[np.int64]
    generator: NDArray[np.uint64]
    mistake_weight: NDArray[np.float64]  # one number: the sample weights of all mistakes
    members: NDArray[np.int64]  # the row of the table in each slot; -1 if it came from another table
    coefficients: NDArray[np.float64]  # (budget, K)
    matrix: NDArray[np.float64]  # of the kernel among the slots (forgetron), or its inverse (projectron)
    ring: NDArray[np.int64]  # how many slots are taken; the oldest
    numbers: NDArray[np.float64]  # steps, what forgetting has cost, the largest K(x, x), the worst projection
    rows: Any = None  # in the order of the slots
    table: Table | None = None
    keep: KeepName = "last"
    pocket_mistakes: None = None

    @classmethod
    def begin(
        cls, K: int, *, kernel: Kernel, fit_intercept: bool, budget: int, policy: Policy, generator: NDArray[np.uint64]
    ) -> BudgetState:
        """A state that has seen nothing yet."""
        side = 0 if policy == "forget-oldest" else budget
        return cls(
            kernel,
            fit_intercept,
            K,
            policy,
            new_counters(),
            generator,
            np.zeros(1),
            np.full(budget, -1),
            np.zeros((budget, K)),
            np.zeros((side, side)),
            np.zeros(2, np.int64),
            np.zeros(4),
        )

    def fresh(self) -> BudgetState:
        """A state like this one that has seen nothing yet."""
        return BudgetState.begin(
            self.K,
            kernel=self.kernel,
            fit_intercept=self.fit_intercept,
            budget=len(self.members),
            policy=self.policy,
            generator=engine.seed_generator(0),
        )

    def learn(
        self,
        table: Table,
        y: NDArray[Any],
        rule: Rule,
        *,
        tie_positive: bool = False,
        sample_weight: NDArray[np.float64] | None = None,
        order: NDArray[np.uint32] | None = None,
        ratchet: bool = False,
        places: NDArray[np.int64] | None = None,
        cancel: NDArray[np.uint8] | None = None,
    ) -> None:
        """Fold rows into the state, in the given order; `y` holds signs (two classes) or codes (more)."""
        if self.table is not table:
            self.leave()
            self.table = table
        everything = np.arange(table.count, dtype=np.uint32) if order is None else order
        for begin in range(0, len(everything), ROWS_A_BATCH):
            index = everything[begin : begin + ROWS_A_BATCH]
            weights = None if sample_weight is None else sample_weight[index]
            self._learn_batch(as_table(table.take(index)), index, y[index], rule, tie_positive, weights, cancel)

    def count_mistakes(
        self,
        table: Table,
        y: NDArray[Any],
        *,
        tie_positive: bool,
        sample_weight: NDArray[np.float64] | None = None,
        order: NDArray[np.uint32] | None = None,
    ) -> float:
        """How many of the rows the weights get wrong, each counted with its sample weight."""
        scores = self.answer().scores(table, order)
        y = y if order is None else y[order]
        if self.K == 1:
            wrong = (scores[:, 0] >= 0) != (y > 0) if tie_positive else y * scores[:, 0] <= 0
        else:
            right = scores[np.arange(len(y)), y]
            scores[np.arange(len(y)), y] = -np.inf
            wrong = right <= scores.max(axis=1)
        if sample_weight is None:
            return float(np.count_nonzero(wrong))
        return float((sample_weight if order is None else sample_weight[order])[wrong].sum())

    def answer(self) -> Dual:
        """The weights as they are."""
        return budget_answer_of([self])

    def leave(self) -> None:
        """Forget which rows of the table the support rows are."""
        self.members[:] = -1
        self.table = None

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.coefficients).all())

    def copy(self) -> BudgetState:
        """A state that goes its own way."""
        arrays = ("counters", "generator", "mistake_weight", "members", "coefficients", "matrix", "ring", "numbers")
        return replace(self, **{name: getattr(self, name).copy() for name in arrays})

    def with_classes(self, mix: NDArray[np.float64]) -> BudgetState:
        """The same state with other classes: row k of `mix` says how class k is made of the old ones."""
        return replace(
            self,
            K=len(mix),
            coefficients=np.ascontiguousarray(self.coefficients @ mix.T),
            counters=self.counters.copy(),
        )

    def _learn_batch(
        self,
        batch: Table,
        index: NDArray[np.uint32],
        y: NDArray[Any],
        rule: Rule,
        tie_positive: bool,
        sample_weight: NDArray[np.float64] | None,
        cancel: NDArray[np.uint8] | None,
    ) -> None:
        at = {row: place for place, row in enumerate(index.tolist())}
        members = np.array([at.get(row, -1) for row in self.members.tolist()])
        before = None if self.rows is None else self._source(batch, self.rows)
        engine.learn_on_budget(
            self._source(batch, batch.values),
            before,
            y,
            sample_weight=sample_weight,
            order=None,
            K=self.K,
            bias=1.0 if self.fit_intercept else 0.0,
            rule=rule.name,
            C=rule.C,
            tie_positive=tie_positive,
            policy=self.policy,
            members=members,
            coefficients=self.coefficients.ravel(),
            matrix=self.matrix.ravel(),
            ring=self.ring,
            numbers=self.numbers,
            counters=self.counters,
            mistake_weight=self.mistake_weight,
            cancel=cancel,
        )
        size = int(self.ring[0])
        came = np.flatnonzero(members[:size] >= 0)
        if len(came):
            stacked = stack_rows(self.rows, batch.values)
            slots = np.arange(size)
            slots[came] = stacked.shape[0] - batch.count + members[came]
            self.rows = stacked[slots]
            self.members[came] = index[members[came]]

    def _source(self, batch: Table, others: Any) -> engine.KernelSource:
        if self.kernel.name == "function":
            return engine.matrix_source(self.kernel.matrix(batch, others))
        return next(self.kernel.between(batch, others))


def budget_answer_of(states: list[BudgetState]) -> Dual:
    """One model of all problems, whose scores stand side by side; a row that several of them keep is stored once."""
    first, support = states[0], Support(precomputed=False)
    places = [
        np.empty(0, np.int64) if s.rows is None else support.add(as_table(s.rows), np.arange(s.rows.shape[0]))
        for s in states
    ]
    coefficients = np.zeros((len(support), len(states) * first.K))
    for at, (state, where) in enumerate(zip(states, places, strict=True)):
        np.add.at(coefficients[:, at * first.K : (at + 1) * first.K], where, state.coefficients[: len(where)])
    bias = 1.0 if first.fit_intercept else 0.0
    return Dual(first.kernel, support.rows, coefficients, bias * coefficients.sum(axis=0))
