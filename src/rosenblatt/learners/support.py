"""The states of kernel learners: support rows, and the list of updates made with them or a budget of coefficients.

Invariant: the list of updates determines the state. The last weights are the sum of its steps, the average weighs each
by the examples after it, the vote follows it, the pocket is its beginning. A row's score is always the sum in the
list's order, so any cut of the rows into batches gives the same bits. A budget limits the support rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.learners.targets import Floats, GeneratorState, Order, Targets
from rosenblatt.learners.weights import (
    EVERY,
    OF_KEEP,
    Array,
    Arrays,
    Flag,
    Mix,
    State,
    WeightState,
    engine_rule,
    new_arrays,
    read_arrays,
    tail_start,
)
from rosenblatt.models.container import check_rows, check_shapes, count_of, from_tree, to_tree
from rosenblatt.models.predictors import Dual, Kernel, Updates, Voted, stack_rows, with_columns
from rosenblatt.params import KeepName, KernelPerceptronParams, Params, Rule, check_number

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")
MOST_BUDGET = 1 << 15  # a matrix of 8 GB
ROWS_A_BATCH = 1024  # rows that a budget takes at once; the result does not depend on it


def make_kernel(params: KernelPerceptronParams, table: Table) -> Kernel:
    """A `Kernel` for this table, with its numbers in range."""
    kernel = params.kernel
    if callable(kernel):
        return Kernel("function", function=kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ParameterError(
            f"kernel={kernel!r}: must be 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed' or a function of two tables"
        )
    if kernel == "precomputed" and table.sparse:
        raise DataError("X is sparse: a precomputed kernel matrix must be dense")
    gamma = params.gamma
    if not isinstance(gamma, str):
        gamma = check_number("gamma", gamma, above=0.0)
    elif gamma == "auto":
        gamma = 1.0 / table.features
    elif gamma == "scale":
        variance = _variance(table)
        gamma = 1.0 / (table.features * variance) if variance > 0 else 1.0
    else:
        raise ParameterError(f"gamma={gamma!r}: must be 'auto', 'scale' or a number above 0")
    return Kernel(kernel, gamma, float(params.coef0), int(params.degree))  # type: ignore[arg-type]


def _variance(table: Table) -> float:
    if not table.sparse:
        return float(np.var(table.values, dtype=np.float64))
    values, size = table.values.data.astype(np.float64), table.count * table.features
    mean = float(values.sum()) / size  # the zeros that are not stored count too
    return (float(((values - mean) ** 2).sum()) + (size - len(values)) * mean**2) / size


class Support:
    """The rows of all steps, each stored once and shared by all classes.

    A row that comes again, in another epoch or another batch, is known by its content. Copies share the index, of which
    a copy sees as many entries as it has rows: a copy costs nothing, and a failed call leaves no trace.
    """

    def __init__(self, rows: Any = None, index: dict[Any, int] | None = None) -> None:
        """`rows`: an array or CSR array, or places among the training rows with a precomputed kernel."""
        self.rows, self._index = rows, {} if index is None else index

    def __len__(self) -> int:
        return 0 if self.rows is None else int(self.rows.shape[0])

    @classmethod
    def read(cls, tree: Any, kernel: Kernel, features: int) -> Support:
        """The rows of a file, checked."""
        rows, support, precomputed = from_tree(tree), cls(), kernel.name == "precomputed"
        every = np.arange(kernel.check_support(rows, features))
        if rows is not None:
            table = as_table(np.empty((1, 1)) if precomputed else rows)
            if not np.array_equal(support.add(table, rows if precomputed else every, precomputed=precomputed), every):
                raise ModelError("one of its support rows is stored twice")
        return support

    def copy(self) -> Support:
        return Support(self.rows, self._index)

    def with_features(self, features: int) -> Support:
        """The same rows over more columns, which are 0."""
        return Support(None if self.rows is None else with_columns(self.rows, features), self._index)

    def add(self, table: Table, rows: NDArray[np.int64], *, precomputed: bool = False) -> NDArray[np.int64]:
        """Store these rows of the table, unless they are there; returns where they are."""
        known = len(self)
        if len(self._index) > known:  # another copy has gone on with it
            self._index = {key: place for key, place in self._index.items() if place < known}
        keys, index = rows.tolist() if precomputed else [fingerprint(table, row) for row in rows.tolist()], self._index
        places = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int64)
        first = np.unique(places, return_index=True)[1]
        new = rows[first[places[first] >= known]]
        if len(new):
            self.rows = stack_rows(self.rows, new if precomputed else table.take(new))
        return places


def fingerprint(table: Table, row: int) -> bytes:
    """A hash of 16 bytes over the non-zero values of a row: the same for dense and sparse rows."""
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


@dataclass
class KernelState(State):
    """The state of one problem: one score with two classes, one per class with more, learned jointly."""

    kernel: Kernel
    fit_intercept: bool
    K: int
    arrays: Arrays

    @classmethod
    def new(
        cls, params: Any, table: Table, shape: tuple[int, int], generator: GeneratorState, init: Any = None
    ) -> list[Any]:
        """States for so many problems and weight rows; they share their support rows, unless there is a budget."""
        begun = cls._begin(params, make_kernel(params, table), shape)
        return [begun.fresh(generator.copy()) for _ in range(shape[0])]

    @classmethod
    def from_tree(
        cls, tree: dict[str, Any], params: KernelPerceptronParams, shape: tuple[int, int], features: int
    ) -> list[Any]:
        """The states of a file, by these params and for so many problems and weight rows, every value checked."""
        begun: Any = cls._begin(params, Kernel.read(tree["kernel"]), shape)
        if params.budget is None:
            begun.support = Support.read(tree["support"], begun.kernel, features)
        return [begun.read(each, features) for each in tree["each"]]

    @staticmethod
    def _begin(params: KernelPerceptronParams, kernel: Kernel, shape: tuple[int, int]) -> SupportState | BudgetState:
        """A state without arrays."""
        problems, K = shape
        if params.budget is not None:
            return BudgetState(kernel, bool(params.fit_intercept), K, {}, params.policy, int(params.budget))
        cache = int(min(float(params.cache_size) * 2**20, 2.0**62) / problems)  # bytes for each of the problems
        return SupportState(kernel, bool(params.fit_intercept), K, {}, params.keep, Support(), cache)

    @property
    def declared(self) -> list[Array]:
        """Its arrays: those of a linear state that have no weights."""
        return [array for array in (*EVERY, *OF_KEEP[self.keep]) if "K" not in array.shape]

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of its arrays by name."""
        return {"K": self.K}

    def fresh(self, generator: GeneratorState) -> Self:
        """A new state like this one, before its first row: all that has a default begins with it."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.default is MISSING}
        arrays = new_arrays(self.declared, {"generator": generator}, self.sizes)
        return type(self)(**given | {"arrays": arrays})

    @property
    def bias(self) -> float:
        """The constant that is added to every kernel value."""
        return 1.0 if self.fit_intercept else 0.0

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return self.K * int(self.counter("updates"))

    @staticmethod
    def needs_rollback(params: Params, table: Table, weights: Floats | None) -> bool:
        """A kernel may be a function of the user, and kernel values grow quickly."""
        return True


@dataclass
class SupportState(KernelState):
    """Support rows that are never dropped, and the updates made with them."""

    keep: KeepName
    support: Support
    cache_bytes: int
    log: Updates = Updates.none()  # `which` names a support row
    recent: Updates = Updates.none()  # since the table was bound; `which` names a row of the table
    pocket: int = 0  # how many updates made the weights in the pocket
    table: Table | None = None
    start: Floats | None = None  # scores of the table's rows by the log
    run: engine.DualRun | None = None

    def to_tree(self) -> dict[str, Any]:
        """The content of a file, without the support, which all problems share."""
        return {"arrays": dict(self.arrays), "log": to_tree(self.log), "pocket": int(self.pocket)}

    def read(self, tree: dict[str, Any], features: int) -> SupportState:
        """A state like this one with the content of a file, checked."""
        arrays, pocket = read_arrays(self.declared, tree["arrays"], self.sizes), count_of(tree["pocket"])
        log = Updates.read(tree["log"], len(self.support), self.K)
        if pocket > len(log) or int(log.survived.sum()) > arrays["counters"].max(initial=0):
            raise ModelError("its counters are out of range")
        return replace(self, arrays=arrays, log=log, pocket=pocket)

    def copy(self) -> SupportState:
        return replace(super().copy(), support=self.support.copy(), start=None, run=None)

    def learn(
        self, table: Table, targets: Targets, rule: Rule, order: Order, *, ratchet: bool = False, cancel: Flag = None
    ) -> None:
        """Fold rows into the state, in the given order; `ratchet`: check a pocket on all of them."""
        if self.table is not table:
            self.bind(table, [self])
        if self.run is None:
            start = self.starting_scores(table, [self])[0] if self.start is None else self.start
            source = self.kernel.among(table, self.cache_bytes)
            self.run, self.start = engine.DualRun(source, targets.view, bias=self.bias, start=start), None
        run = self.run
        try:
            run.learn(self.arrays, engine_rule(rule), order=order, ratchet=ratchet, cancel=cancel)
        finally:  # an interrupted pass has learned whole rows, and all of them count
            self.recent = Updates(*run.updates())
            if run.pocket >= 0:
                self.pocket = len(self.log) + run.pocket

    def fill_pocket(self) -> None:
        self.pocket = len(self.log) + len(self.recent)

    def is_finite(self) -> bool:
        return self.run is None or self.run.is_finite()

    def with_features(self, features: int, gamma: float | None = None) -> SupportState:
        """The same state over more columns, which are 0; with another `gamma` of the kernel, if given."""
        kernel = self.kernel if gamma is None else replace(self.kernel, gamma=gamma)
        return replace(self, kernel=kernel, support=self.support.with_features(features))

    def with_classes(self, mix: Mix) -> SupportState:
        """The same state with other weight rows."""
        return replace(self.copy(), K=mix.rows, log=self.log.mixed(*mix))

    def coefficients(self) -> Floats:
        """A coefficient for each support row and class, of shape (support rows, K), while no table is bound."""
        log, seen = self.log.first(self.pocket) if self.keep == "pocket" else self.log, self.counter("seen")
        steps = log.steps
        if self.keep in ("average", "tail"):  # the share of the examples that came after each update
            before, first = np.cumsum(log.survived), tail_start(seen) if self.keep == "tail" else 0
            steps = steps * ((seen - np.maximum(before, first)) / max(seen - first, 1))
        size = len(self.support) * self.K
        total = np.bincount(log.which * self.K + log.gains, steps, minlength=size).astype(np.float64)
        loses = log.loses >= 0
        total -= np.bincount((log.which * self.K + log.loses)[loses], steps[loses], minlength=size)
        return total.reshape(-1, self.K)

    @classmethod
    def bind(cls, table: Table, states: list[SupportState], *, match_rows: bool = False) -> None:
        """Compute the scores of the rows by the log of each state; rows are known by their content anyway."""
        for state, start in zip(states, cls.starting_scores(table, states), strict=True):
            state.table, state.start, state.run = table, start, None

    @classmethod
    def starting_scores(cls, table: Table, states: list[SupportState]) -> list[Floats]:
        """The scores of the rows by the log of each state, kernel values shared."""
        first, logs = states[0], tuple(state.log for state in states)
        if not any(map(len, logs)):
            return [np.zeros((table.count, first.K)) for _ in states]
        survived = tuple(state.counter("survived") for state in states)
        run = Voted(first.kernel, first.support.rows, logs, survived, first.K, first.fit_intercept)
        return run.replay(table, votes=False)

    @classmethod
    def unbind(cls, states: list[SupportState]) -> None:
        """Release the table: move the rows of the latest updates into the support that the states share."""
        table, support = states[0].table, states[0].support
        if table is not None:
            rows = np.unique(np.concatenate([state.recent.which for state in states]))
            places = np.full(table.count, -1)
            places[rows] = support.add(table, rows, precomputed=states[0].kernel.name == "precomputed")
            for state in states:
                if len(state.recent):
                    state.log = Updates.concatenated([state.log, state.recent.naming(places)])
                    state.recent = Updates.none()
        for state in states:
            state.support, state.table, state.start, state.run = support, None, None, None

    @classmethod
    def predictors_of(cls, states: list[SupportState]) -> tuple[Dual | Voted]:
        """One predictor for all problems, with their scores side by side."""
        if states[0].table is not None:
            support = states[0].support.copy()
            states = [replace(state.copy(), support=support) for state in states]
            cls.unbind(states)
        first, rows = states[0], states[0].support.rows
        if first.keep == "vote":
            logs, survived = tuple(s.log for s in states), tuple(s.counter("survived") for s in states)
            return (Voted(first.kernel, rows, logs, survived, first.K, first.fit_intercept),)
        coefficients = np.hstack([state.coefficients() for state in states])
        used = np.flatnonzero(coefficients.any(axis=1))
        if len(used) < len(coefficients):
            rows, coefficients = rows[used] if len(used) else None, coefficients[used]
        return (Dual(first.kernel, rows, np.ascontiguousarray(coefficients), first.bias * coefficients.sum(axis=0)),)


OF_BUDGET = (
    Array("members", ("slots",), -1, least=-1, most=-1, dtype="<i8"),  # rows of the table; -1: of another table
    Array("coefficients", ("slots", "K")),
    Array("matrix", ("side", "side")),  # the kernel among the slots (forgetron) or its inverse (projectron)
    Array("ring", (2,), 0, least=0, most=MOST_BUDGET, dtype="<i8"),  # how many slots are used, and the oldest
    Array("numbers", (4,)),  # steps, the cost of forgetting, the largest K(x, x), the worst projection
)


@dataclass
class BudgetState(KernelState):
    """A limited number of slots, each with a support row and its coefficients."""

    policy: str
    budget: int
    rows: Any = None  # in the order of the slots
    table: Table | None = None
    keep: ClassVar[KeepName] = "last"  # type: ignore[misc]

    @property
    def declared(self) -> list[Array]:
        return [*super().declared, *OF_BUDGET]

    @property
    def sizes(self) -> dict[str, int]:
        side = 0 if self.policy == "forget-oldest" else self.budget
        return {"K": self.K, "slots": self.budget, "side": side}

    def to_tree(self) -> dict[str, Any]:
        """The content of a file."""
        return {"arrays": dict(self.arrays), "rows": to_tree(self.rows)}

    def read(self, tree: dict[str, Any], features: int) -> BudgetState:
        """A state like this one with the content of a file, checked."""
        check_shapes(0 < self.budget <= MOST_BUDGET)
        arrays, rows = read_arrays(self.declared, tree["arrays"], self.sizes), from_tree(tree["rows"])
        if not (arrays["ring"][0] == check_rows(rows, features) and arrays["ring"][1] < self.budget):
            raise ModelError("its support rows do not fit its budget")
        return replace(self, arrays=arrays, rows=rows)

    def learn(
        self, table: Table, targets: Targets, rule: Rule, order: Order, *, cancel: Flag = None, **_: bool
    ) -> None:
        """Fold rows into the state, in the given order."""
        if self.table is not table:
            self.bind(table, [self])
        everything = np.arange(table.count, dtype=np.uint32) if order is None else order
        for begin in range(0, len(everything), ROWS_A_BATCH):
            index = everything[begin : begin + ROWS_A_BATCH]
            self._learn_batch(table.take(index), index, targets, rule, cancel)

    def _learn_batch(self, batch: Any, index: NDArray[np.uint32], targets: Targets, rule: Rule, cancel: Flag) -> None:
        """Learn rows of the table. For the engine, the support rows and these are one table."""
        rows, before = stack_rows(self.rows, batch), 0 if self.rows is None else self.rows.shape[0]
        at = {row: before + place for place, row in enumerate(index.tolist())}
        known, table = self.arrays["members"], as_table(rows)
        members = np.array([at.get(row, slot) for slot, row in enumerate(known.tolist())])
        order = np.arange(before, table.count, dtype=np.uint32)
        try:
            engine.learn_on_budget(
                self.kernel.among(table, 1 << 40),
                targets.take(np.concatenate([np.zeros(before, np.uint32), index])).view,
                self.arrays | {"members": members},
                engine_rule(rule),
                order=order,
                bias=self.bias,
                policy=self.policy,
                cancel=cancel,
            )
        finally:  # an interrupted pass has learned whole rows, and all of them count
            used = members[: int(self.arrays["ring"][0])]
            came = np.flatnonzero(used >= before)
            if len(came):
                self.rows = rows[used]
                known[came] = index[used[came] - before]

    def is_finite(self) -> bool:
        return all(np.isfinite(self.arrays[name]).all() for name in ("coefficients", "matrix", "numbers"))

    def with_features(self, features: int, gamma: float | None = None) -> BudgetState:
        """The same state over more columns, which are 0; its matrix of kernel values keeps the `gamma` it has."""
        return replace(self, rows=None if self.rows is None else with_columns(self.rows, features))

    def with_classes(self, mix: Mix) -> BudgetState:
        """The same state with other weight rows."""
        coefficients = np.zeros((self.budget, mix.rows))
        coefficients[:, mix.to] += mix.factor * self.arrays["coefficients"][:, mix.source]
        state = replace(self.copy(), K=mix.rows)
        state.arrays["coefficients"] = coefficients
        return state

    @classmethod
    def bind(cls, table: Table, states: list[BudgetState], *, match_rows: bool = False) -> None:
        """Support rows are new to the table, or with `match_rows` the rows of it that have their content."""
        cls.unbind(states)
        places: dict[bytes, list[int]] = {}
        for row in range(table.count - 1, -1, -1) if match_rows else ():
            places.setdefault(fingerprint(table, row), []).append(row)
        for state in states:
            state.table = table
            if match_rows and state.rows is not None:
                support, free = as_table(state.rows), {key: list(rows) for key, rows in places.items()}
                for slot in range(support.count):
                    if rows := free.get(fingerprint(support, slot)):
                        state.arrays["members"][slot] = rows.pop()

    @classmethod
    def unbind(cls, states: list[BudgetState]) -> None:
        """Forget which rows of the table the support rows are."""
        for state in states:
            state.arrays["members"][:] = -1
            state.table = None

    @classmethod
    def predictors_of(cls, states: list[BudgetState]) -> tuple[Dual]:
        """One predictor for all problems; a row that several of them hold is stored once."""
        first, support = states[0], Support()
        places = [
            np.empty(0, np.int64) if s.rows is None else support.add(as_table(s.rows), np.arange(s.rows.shape[0]))
            for s in states
        ]
        coefficients = np.zeros((len(support), len(states) * first.K))
        for at, (state, where) in enumerate(zip(states, places, strict=True)):
            own = state.arrays["coefficients"][: len(where)]
            np.add.at(coefficients[:, at * first.K : (at + 1) * first.K], where, own)
        return (Dual(first.kernel, support.rows, coefficients, first.bias * coefficients.sum(axis=0)),)


def state_class_of(params: Params) -> Any:
    """The class of the states of params."""
    return KernelState if isinstance(params, KernelPerceptronParams) else WeightState
