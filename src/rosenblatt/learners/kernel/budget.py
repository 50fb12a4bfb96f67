"""The state of a kernel learner that keeps at most so many support rows.

Invariant: there are never more than `budget` rows, and the score of a row is the sum over the slots in their order, so
any cut of the rows into batches gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.kernel.dual import Support, fingerprint
from rosenblatt.learners.kernel.tally import Tallied, new_tally
from rosenblatt.learners.state.arrays import Arrays
from rosenblatt.learners.state.learning import ALONE, Order, PassOptions
from rosenblatt.learners.state.state import engine_rule
from rosenblatt.learners.targets import Targets
from rosenblatt.models.predictors import Dual, Kernel, stack_rows, with_columns
from rosenblatt.params import Rule

ROWS_A_BATCH = 1024  # that are looked at together; the answer does not depend on it


@dataclass
class BudgetState(Tallied):
    """The state of one problem: a slot for each support row, with its coefficients.

    Beside its counters `arrays` holds, slot by slot: ``members``, the row of the table, or -1 if it came from another
    one; ``coefficients``, (budget, K); ``matrix``, of the kernel among the slots (forgetron) or its inverse
    (projectron). Then ``ring``: how many slots are taken, and the oldest; ``numbers``: steps, what forgetting has cost,
    the largest K(x, x), the worst projection.
    """

    kernel: Kernel
    fit_intercept: bool
    K: int
    policy: str
    arrays: Arrays
    rows: Any = None  # in the order of the slots
    table: Table | None = None

    @classmethod
    def begin(
        cls, K: int, *, kernel: Kernel, fit_intercept: bool, budget: int, policy: str, generator: NDArray[np.uint64]
    ) -> BudgetState:
        """A state that has seen nothing yet."""
        side = 0 if policy == "forget-oldest" else budget
        arrays = new_tally(generator) | {
            "members": np.full(budget, -1),
            "coefficients": np.zeros((budget, K)),
            "matrix": np.zeros((side, side)),
            "ring": np.zeros(2, np.int64),
            "numbers": np.zeros(4),
        }
        return cls(kernel, fit_intercept, K, policy, arrays)

    def fresh(self) -> BudgetState:
        """A state like this one that has seen nothing yet."""
        return BudgetState.begin(
            self.K,
            kernel=self.kernel,
            fit_intercept=self.fit_intercept,
            budget=len(self.arrays["members"]),
            policy=self.policy,
            generator=engine.seed_generator(0),
        )

    def learn(self, table: Table, targets: Targets, rule: Rule, order: Order = None, how: PassOptions = ALONE) -> None:
        """Fold rows into the state, in the given order."""
        if self.table is not table:
            self.look_at(table, [self])
        everything = np.arange(table.count, dtype=np.uint32) if order is None else order
        for begin in range(0, len(everything), ROWS_A_BATCH):
            index = everything[begin : begin + ROWS_A_BATCH]
            self._learn_batch(as_table(table.take(index)), index, targets.take(index), rule, how.cancel)

    def count_mistakes(self, table: Table, targets: Targets, order: Order = None) -> float:
        """How many of the rows the weights get wrong, each counted with its sample weight."""
        asked = targets if order is None else targets.take(order)
        return asked.weigh(asked.wrong(self.predictor().scores(table, order)))

    def begin_epochs(self, table: Table, targets: Targets, order: Order = None) -> None:
        """Nothing depends on the rows before the first of them."""

    def converged(self) -> None:
        """The last weights are the answer anyway."""

    def predictor(self) -> Dual:
        """The weights as they are."""
        return self.answer_of([self])

    def is_finite(self) -> bool:
        return all(np.isfinite(self.arrays[name]).all() for name in ("coefficients", "matrix", "numbers"))

    def copy(self) -> BudgetState:
        """A state that goes its own way."""
        return replace(self, arrays=self.copied_arrays())

    def over(self, features: int, gamma: float | None = None) -> BudgetState:
        """The same state over more columns, which are 0; its matrix of kernel values keeps the `gamma` it has."""
        return replace(self, rows=None if self.rows is None else with_columns(self.rows, features))

    def with_classes(self, mix: NDArray[np.float64]) -> BudgetState:
        """The same state with other classes: row k of `mix` says how class k is made of the old ones."""
        arrays = self.copied_arrays()
        arrays["coefficients"] = np.ascontiguousarray(arrays["coefficients"] @ mix.T)
        return replace(self, K=len(mix), arrays=arrays)

    @staticmethod
    def look_at(table: Table, states: list[BudgetState]) -> None:
        """Before learning from a table: no support row is known to be one of its rows."""
        BudgetState.leave(states)
        for state in states:
            state.table = table

    @staticmethod
    def recognize(table: Table, states: list[BudgetState]) -> None:
        """Before more epochs over the same rows: a support row is one of them, as in one long run of epochs."""
        BudgetState.look_at(table, states)
        places: dict[bytes, list[int]] = {}
        for row in range(table.count - 1, -1, -1):
            places.setdefault(fingerprint(table, row), []).append(row)
        for state in states:
            if state.rows is None:
                continue
            support, free = as_table(state.rows), {key: list(rows) for key, rows in places.items()}
            for slot in range(support.count):
                rows = free.get(fingerprint(support, slot))
                if rows:
                    state.arrays["members"][slot] = rows.pop()

    @staticmethod
    def leave(states: list[BudgetState]) -> None:
        """Forget which rows of the table the support rows are."""
        for state in states:
            state.arrays["members"][:] = -1
            state.table = None

    @staticmethod
    def answer_of(states: list[BudgetState]) -> Dual:
        """One answer of all problems, whose scores stand side by side; a row that several keep is stored once."""
        first, support = states[0], Support(precomputed=False)
        places = [
            np.empty(0, np.int64) if s.rows is None else support.add(as_table(s.rows), np.arange(s.rows.shape[0]))
            for s in states
        ]
        coefficients = np.zeros((len(support), len(states) * first.K))
        for at, (state, where) in enumerate(zip(states, places, strict=True)):
            own = state.arrays["coefficients"][: len(where)]
            np.add.at(coefficients[:, at * first.K : (at + 1) * first.K], where, own)
        bias = 1.0 if first.fit_intercept else 0.0
        return Dual(first.kernel, support.rows, coefficients, bias * coefficients.sum(axis=0))

    def _learn_batch(
        self,
        batch: Table,
        index: NDArray[np.uint32],
        targets: Targets,
        rule: Rule,
        cancel: NDArray[np.uint8] | None,
    ) -> None:
        at = {row: place for place, row in enumerate(index.tolist())}
        known = self.arrays["members"]
        pool = {name: self.arrays[name].ravel() for name in ("coefficients", "matrix", "ring", "numbers")}
        pool["members"] = members = np.array([at.get(row, -1) for row in known.tolist()])
        try:
            engine.learn_on_budget(
                self._source(batch, batch.values),
                None if self.rows is None else self._source(batch, self.rows),
                targets.view,
                self.tally(),
                engine_rule(rule),
                order=None,
                bias=1.0 if self.fit_intercept else 0.0,
                policy=self.policy,
                pool=pool,
                cancel=cancel,
            )
        finally:  # an interrupted pass has learned whole rows, and all of them count
            size = int(self.arrays["ring"][0])
            came = np.flatnonzero(members[:size] >= 0)
            if len(came):
                stacked = stack_rows(self.rows, batch.values)
                slots = np.arange(size)
                slots[came] = stacked.shape[0] - batch.count + members[came]
                self.rows = stacked[slots]
                known[came] = index[members[came]]

    def _source(self, batch: Table, others: Any) -> engine.KernelSource:
        if self.kernel.name == "function":
            return engine.matrix_source(self.kernel.matrix(batch, others))
        return next(self.kernel.between(batch, others))
