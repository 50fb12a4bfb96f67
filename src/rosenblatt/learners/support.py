"""The states of kernel learners: support rows, and the list of updates made with them or a budget of coefficients.

Invariant: the list of updates says everything. The last weights are the sum of its steps, the average weighs each by
the examples that came after it, the vote follows it, the pocket is its beginning; a row's score is always the sum in
the list's order, so any cut of the rows into batches gives the same bits. A budget limits the support rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.targets import Targets, weight_rows
from rosenblatt.learners.weights import (
    ALONE,
    KEEP_BY_NAME,
    LINEAR,
    Arrays,
    Counted,
    Flag,
    Order,
    PassOptions,
    Tasks,
    engine_rule,
    new_counters,
    settle_pocket,
)
from rosenblatt.models.predictors import (
    Dual,
    Kernel,
    Predictor,
    Updates,
    VotedDual,
    stack_rows,
    walk,
    with_columns,
)
from rosenblatt.params import KernelPerceptronParams, Params, Rule, check_count, check_number

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def make_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any, table: Table) -> Kernel:
    """A `Kernel` for this table, whose numbers are in range."""
    if callable(kernel):
        return Kernel("function", function=kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ParameterError(
            f"kernel={kernel!r}: must be 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed' or a function of two tables"
        )
    number = check_number("coef0", coef0, least=-np.inf)
    if kernel == "precomputed" and table.sparse:
        raise DataError("X is sparse: a precomputed kernel matrix must be dense")
    return Kernel(kernel, _gamma(gamma, table), number, check_count("degree", degree))  # type: ignore[arg-type]


def check_square(table: Table) -> None:
    """A precomputed matrix holds the kernel of every training row with every other."""
    if table.count != table.features:
        raise DataError(
            f"X must be a square matrix with kernel='precomputed', a row and a column for each training row; "
            f"its shape is ({table.count}, {table.features})"
        )


def _gamma(gamma: Any, table: Table) -> float:
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / table.features
        if gamma == "scale":
            variance = _variance(table)
            return 1.0 / (table.features * variance) if variance > 0 else 1.0
        raise ParameterError(f"gamma={gamma!r}: must be 'auto', 'scale' or a number above 0")
    return check_number("gamma", gamma, above=0.0)


def _variance(table: Table) -> float:
    if not table.sparse:
        return float(np.var(table.values, dtype=np.float64))
    values, size = table.values.data.astype(np.float64), table.count * table.features
    mean = float(values.sum()) / size  # the zeros that are not stored count too
    return (float(((values - mean) ** 2).sum()) + (size - len(values)) * mean**2) / size


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
class SupportState(Tallied):
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
    ) -> SupportState:
        """A state that has seen nothing yet."""
        arrays = new_tally(generator, pocket=keep == "pocket")
        return cls(keep, kernel, fit_intercept, K, support, cache_bytes, arrays)

    def fresh(self) -> SupportState:
        """A state like this one that has seen nothing yet."""
        return SupportState.begin(
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
        steps = steps * KEEP_BY_NAME[self.keep].shares(np.cumsum(log.survived), self.counter("seen"))
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

    def copy(self) -> SupportState:
        """A state that goes its own way."""
        return replace(self, support=self.support.copy(), arrays=self.copied_arrays(), start=None, run=None)

    def over(self, features: int, gamma: float | None = None) -> SupportState:
        """The same state over more columns, which are 0; with another `gamma` of the kernel, if given."""
        kernel = self.kernel if gamma is None else replace(self.kernel, gamma=gamma)
        return replace(self, kernel=kernel, support=self.support.over(features))

    def with_classes(self, mix: NDArray[np.float64]) -> SupportState:
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
    def look_at(table: Table, states: list[SupportState]) -> None:
        """Before learning from a table: the scores of its rows by what each state has learned."""
        for state, start in zip(states, SupportState.starting_scores(table, states), strict=True):
            state.table, state.start, state.run = table, start, None

    @staticmethod
    def starting_scores(table: Table, states: list[SupportState]) -> list[NDArray[np.float64]]:
        """The scores of the rows by what each state has learned, kernel values shared."""
        first, logs = states[0], tuple(state.log for state in states)
        starts = [np.zeros((table.count, first.K)) for _ in states]
        if any(map(len, logs)):
            survived = tuple(state.counter("survived") for state in states)
            walked = walk(first.kernel, table, first.support.rows, logs, survived, first.K, first.fit_intercept)
            starts = [last for last, _, _ in walked]
        return starts

    @staticmethod
    def recognize(table: Table, states: list[SupportState]) -> None:
        """Rows are known by their content anyway."""
        SupportState.look_at(table, states)

    @staticmethod
    def leave(states: list[SupportState]) -> None:
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
    def answer_of(states: list[SupportState]) -> Dual | VotedDual:
        """One answer of all problems, whose scores stand side by side."""
        if states[0].table is not None:
            support = states[0].support.copy()
            states = [replace(state.copy(), support=support) for state in states]
            SupportState.leave(states)
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


class KernelSpace:
    """The space of a kernel: a coefficient per row that a step was ever taken along."""

    def check(self, params: KernelPerceptronParams, table: Table) -> None:
        """A precomputed kernel is a square matrix."""
        if params.precomputed:
            check_square(table)

    def new_states(
        self,
        params: KernelPerceptronParams,
        table: Table,
        classes: NDArray[Any],
        generator: NDArray[np.uint64],
        init: Any = None,
        *,
        apart: bool = False,
    ) -> list[SupportState] | list[BudgetState]:
        """All of them share their support rows, unless there is a budget."""
        kernel = make_kernel(params.kernel, params.gamma, params.degree, params.coef0, table)
        ovr = apart or params.is_ovr(len(classes))
        problems, K = (len(classes), 1) if ovr else (1, weight_rows(len(classes)))
        common: dict[str, Any] = {"kernel": kernel, "fit_intercept": bool(params.fit_intercept)}
        if params.budget is not None:
            common |= {"budget": int(params.budget), "policy": params.policy}
            return [BudgetState.begin(K, generator=generator.copy(), **common) for _ in range(problems)]
        support = Support(precomputed=kernel.name == "precomputed")
        cache_bytes = int(float(params.cache_size) * 2**20 / problems)
        common |= {"keep": params.keep, "support": support, "cache_bytes": cache_bytes}
        return [SupportState.begin(K, generator=generator.copy(), **common) for _ in range(problems)]

    def may_fail(self, params: KernelPerceptronParams, table: Table, weights: NDArray[np.float64] | None) -> bool:
        """A kernel may be a function of the user, and kernel values grow quickly."""
        return True

    def look_at(self, table: Table, states: list[Any]) -> None:
        """The scores of the rows by what each state has learned."""
        type(states[0]).look_at(table, states)

    def recognize(self, table: Table, states: list[Any]) -> None:
        """The same, where these are the rows that were learned before: a support row among them is known again."""
        type(states[0]).recognize(table, states)

    def learn(self, tasks: Tasks, table: Table, rule: Rule, order: Order, cancel: Flag) -> bool:
        """One after another, since they share their rows."""
        for state, targets in tasks:
            state.learn(table, targets, rule, order, PassOptions(cancel=cancel))
        return len(tasks) == 1 or not cancel[0]

    def leave(self, states: list[Any]) -> None:
        """From now on only support rows are held."""
        type(states[0]).leave(states)

    def make_predictors(self, states: list[Any]) -> tuple[Predictor, ...]:
        """One answer of all problems."""
        return (type(states[0]).answer_of(states),)


KERNEL = KernelSpace()


def space_of(params: Params) -> Any:
    """Where the params' learner learns."""
    return KERNEL if isinstance(params, KernelPerceptronParams) else LINEAR
