"""The state of a linear learner: weights, counters and the arrays of its keep.

Invariant: only `learn` changes a state, row by row, so any cut of the rows into batches gives the same bits. A rule and
a keep declare their arrays; creating, copying, growing, saving and passing to the engine are each one loop over the
declaration. The raw weights stay beside the weights that predict.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import places_in
from rosenblatt.data.table import LARGEST, Table
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.learners.targets import Floats, GeneratorState, Order, Targets, weight_rows
from rosenblatt.models.container import Spec, check_rows, check_shapes, count_of, from_tree, places_from, to_tree
from rosenblatt.models.predictors import Kernel, Linear, Predictor, Updates, Voted, stack_rows, with_columns
from rosenblatt.params import NO_PENALTY, KeepName, Params, Penalty, Rule

Flag = NDArray[np.uint8] | None  # one number; if it is set, a pass ends at the next row boundary
Passes = Callable[[Order, Flag], None]  # learns in a given order, until the flag is set
Arrays = dict[str, NDArray[Any]]
SAFE = {4: 1e30, 8: 1e290}  # steps up to this size cannot overflow, however many there are


class Mix(NamedTuple):
    """Weight rows made of old ones: row ``to[i]`` of `rows` is ``factor[i]`` times the old row ``source[i]``.

    Each new row comes from at most one old row; a row that is not in `to` starts as declared.
    """

    rows: int
    to: NDArray[np.intp]
    source: NDArray[np.intp]
    factor: Floats


COUNTERS: tuple[str, ...] = engine.COUNTERS
_PLACES = {name: place for place, name in enumerate(COUNTERS)}
# The weights of a new state are in the pocket until the first update.
NO_ROWS = [{"checked": 1, "pocket_is_current": 1, "pocket_run": -1}.get(name, 0) for name in COUNTERS]


@dataclass(frozen=True)
class Array:
    """One array of a state: its name, its shape and its starting value."""

    name: str
    shape: tuple[int | str, ...]  # a size by its name: "K" weight rows, "features", the "slots" of a budget
    begin: Any = 0.0  # also of features and classes that come later
    least: float = -sys.float_info.max  # of its values in a file
    most: float = sys.float_info.max
    dtype: str = "<f8"  # "rows": the precision of the rows
    copy_of: str = ""  # it begins as a copy of that array instead
    inherits: bool = False  # a class that is made of another one has that one's values, unmixed

    @property
    def is_matrix(self) -> bool:
        """True if it has a value per feature and class."""
        return "features" in self.shape

    def new(self, sizes: Mapping[str, int], dtype: Any) -> NDArray[Any]:
        """The array of a new state, of rows in this precision."""
        return np.full(self._shape(sizes), self.begin, dtype if self.dtype == "rows" else self.dtype)

    def to_tree(self, values: NDArray[Any]) -> Any:
        """The content of a file: of a matrix only the values that are not to the bit what a new feature starts with.

        They are stored in the order of a predictor's, so that a model file stores equal ones once.
        """
        if not self.is_matrix:
            return values
        bits, by_column = f"i{values.itemsize}", np.ascontiguousarray(values.T)
        changed = by_column.view(bits) != np.array(self.begin, values.dtype).view(bits)
        counts = np.count_nonzero(changed, axis=1)
        used = np.flatnonzero(counts)
        places = {"columns": used.astype(np.int64), "counts": counts[used].astype(np.int32)}
        return places | {"rows": np.nonzero(changed)[1].astype(np.int32), "values": by_column[changed]}

    def read(self, found: Any, sizes: Mapping[str, int], dtype: Any) -> NDArray[Any]:
        """The array that `to_tree` wrote, checked."""
        kind = np.dtype(dtype if self.dtype == "rows" else self.dtype).str
        spec = Spec(kind, self._shape(sizes), self.least, self.most)
        if not self.is_matrix:
            spec.check(self.name, found)
            return np.array(found)
        row, column = places_from(found, sizes["K"], sizes["features"])
        spec._replace(shape=row.shape).check(self.name, found["values"])
        matrix = np.full(self._shape(sizes), self.begin, spec.dtype, order="F")
        matrix[row, column] = found["values"]
        return matrix

    def _shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(sizes[size] if isinstance(size, str) else size for size in self.shape)

    def with_features(self, values: NDArray[Any], features: int) -> NDArray[Any]:
        """The values for more features, or for fewer: the rest is cut off."""
        if not self.is_matrix:
            return values.copy()
        wider = np.full((len(values), features), self.begin, values.dtype, order="F")
        shared = min(features, values.shape[1])
        wider[:, :shared] = values[:, :shared]
        return wider

    def with_classes(self, values: NDArray[Any], mix: Mix) -> NDArray[Any]:
        """The values for other weight rows."""
        if "K" not in self.shape:
            return values.copy()
        made = np.full((mix.rows, *values.shape[1:]), self.begin, values.dtype)
        if self.inherits:
            made[mix.to] = values[mix.source]
        else:
            made[mix.to] += (mix.factor * values[mix.source].T).T
        return made


MATRIX, ROWS, ONE = ("K", "features"), ("K",), (1,)
EVERY: tuple[Array, ...] = (
    Array("weights", MATRIX, dtype="rows"),
    Array("intercept", ROWS),
    Array("mistake_weight", ONE, least=0.0),  # the sample weights of all rows that were a mistake or an update
    Array("counters", (len(COUNTERS),), NO_ROWS, least=-1, most=2**62, dtype="<i8"),
    Array("generator", engine.seed_generator(0).shape, least=0, dtype="<u8"),
)
OF_SECOND_ORDER = (
    Array("variances", MATRIX, begin=1.0, least=0.0, dtype="rows", inherits=True),
    Array("intercept_variances", ROWS, begin=1.0, least=0.0, inherits=True),
)
# The average: the engine keeps ``sum over updates of (examples before it) · change``, so that the mean is
# ``w - sums/N``; with a penalty, which changes weights between updates, the sums are those of the weights themselves,
# each up to ``summed_at`` examples. The tail: with N examples seen and 2^k the last power of two up to N, the mean of
# the weights after each of the examples from 2^(k-1) + 1 on; the engine keeps the sums from there, and those from 2^k
# on, which come next.
OF_KEEP: dict[KeepName, tuple[Array, ...]] = {
    "last": (),
    "average": (Array("sums", MATRIX), Array("intercept_sums", ROWS)),
    "tail": (
        Array("recent_sums", MATRIX),
        Array("intercept_recent_sums", ROWS),
        Array("later_sums", MATRIX),
        Array("intercept_later_sums", ROWS),
    ),
    "vote": (
        Array("start", MATRIX, copy_of="weights", dtype="rows"),
        Array("start_intercept", ROWS, copy_of="intercept"),
    ),
    "pocket": (
        Array("pocket", MATRIX, copy_of="weights", dtype="rows"),
        Array("pocket_intercept", ROWS, copy_of="intercept"),
        # The sample weights of the rows that it gets wrong; infinity before the first check.
        Array("pocket_mistakes", ONE, begin=np.inf, least=0.0, most=np.inf),
    ),
}
SETTLED_AT = Array("settled_at", ONE, least=0.0)  # examples that had been seen when all weights were settled
OF_PENALTY = {"last": (SETTLED_AT,), "average": (SETTLED_AT, Array("summed_at", MATRIX, least=0.0))}


def declare(keep: KeepName, second_order: bool, shrinks: bool = False) -> tuple[Array, ...]:
    """The arrays of a state with this keep, of a second-order rule or not, with weights that shrink or not."""
    return (*EVERY, *OF_KEEP[keep], *(OF_SECOND_ORDER if second_order else ()), *(OF_PENALTY[keep] if shrinks else ()))


def new_arrays(declared: Iterable[Array], given: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The declared arrays of a new state; some are given."""
    arrays = dict(given)
    for array in declared:
        if array.copy_of:
            arrays[array.name] = arrays[array.copy_of].copy(order="K")
        elif array.name not in arrays:
            arrays[array.name] = array.new(sizes, arrays["weights"].dtype if "weights" in arrays else None)
    return arrays


def read_arrays(declared: Iterable[Array], found: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The declared arrays of a file, which may be read-only, as arrays that can be learned with; checked."""
    dtype = found["weights"]["values"].dtype if "weights" in found else None
    check_shapes(dtype in (None, np.float32, np.float64))
    arrays = {array.name: array.read(found[array.name], sizes, dtype) for array in declared}
    if not arrays["generator"].any():
        raise ModelError("its generator is all 0")
    return arrays


class State:
    """The state of one problem. Class methods serve all problems of one learner, which learn the same rows."""

    keep: KeepName  # which weights are the answer
    arrays: Arrays
    learn: Callable[..., None]  # folds rows into the state, in the given order
    predictors_of: Callable[..., tuple[Predictor, ...]]  # of all problems; their scores stand side by side
    fill_pocket: Callable[[], None]  # puts the last weights into the pocket

    @property
    def generator(self) -> GeneratorState:
        return self.arrays["generator"]

    @property
    def mistake_weight(self) -> float:
        """The sample weights of all rows that were a mistake or an update."""
        return float(self.arrays["mistake_weight"][0])

    def counter(self, name: str) -> int:
        return int(self.arrays["counters"][_PLACES[name]])

    def set_counter(self, name: str, value: int) -> None:
        self.arrays["counters"][_PLACES[name]] = value

    def skip_rows(self, rows: int) -> None:
        """Count rows that come before a second class."""
        for name in ("seen", "survived"):
            self.set_counter(name, self.counter(name) + rows)

    def copy(self) -> Self:
        """A copy that learns separately."""
        arrays = {name: values.copy(order="K") for name, values in self.arrays.items()}
        return replace(self, arrays=arrays)  # type: ignore[type-var]

    @classmethod
    def passes(
        cls, states: list[Any], targets: list[Targets], table: Table, rule: Rule, *, ratchet: bool = False
    ) -> Passes:
        """A function that folds rows into the states of all problems; `ratchet`: check a pocket on all of them."""

        def run(order: Order, cancel: Flag) -> None:
            for state, each in zip(states, targets, strict=True):
                state.learn(table, each, rule, order, ratchet=ratchet, cancel=cancel)

        return run

    @classmethod
    def bind(cls, table: Table, states: list[Any], *, match_rows: bool = False) -> None:
        """Prepare to learn from a table; `match_rows`: the table has the rows of earlier learning."""

    @classmethod
    def unbind(cls, states: list[Any]) -> None:
        """Release the table."""

    def predictor(self) -> Any:
        """The predictor with the weights that the keep chooses."""
        return self.predictors_of([self])[0]

    def begin_epochs(self, table: Table, targets: Targets, order: Order = None) -> None:
        """Prepare for epochs over these rows: on new rows, the run of a pocket starts again."""
        if self.keep == "pocket":
            mistakes = targets.take(order).mistakes(self.predictor().scores(table, order))
            if self.counter("seen") and mistakes != self.arrays["pocket_mistakes"][0]:
                for name in ("pocket_run", "run", "checked"):
                    self.set_counter(name, 0)
            self.arrays["pocket_mistakes"][0] = mistakes

    def converged(self) -> None:
        """Put the last weights, which make no mistake, into the pocket."""
        if self.keep == "pocket":
            self.fill_pocket()
            self.arrays["pocket_mistakes"] = np.zeros(1)
            self.set_counter("pocket_is_current", 1)
            self.set_counter("pocket_run", max(self.counter("pocket_run"), self.counter("run")))


def tail_start(seen: int) -> int:
    """The number of examples before the tail."""
    return (1 << (seen.bit_length() - 1)) // 2 if seen else 0


@dataclass(frozen=True)
class UpdateLog:
    """Updates in order, each with the index of a stored row. Entries never change; new ones are appended."""

    rows: Any = None  # an array or CSR array; None before the first update
    updates: Updates = Updates.none()
    table: Table | None = None  # that the latest updates came from
    places: NDArray[np.int64] | None = None  # where each of its rows is stored; -1: not yet

    def followed_by(self, table: Table, dtype: np.dtype[Any], updates: Updates) -> UpdateLog:
        """The log followed by updates on rows of a table, stored in this precision."""
        if not len(updates):
            return self
        known = self.places if self.table is table else None
        rows, places = self.rows, np.full(table.count, -1) if known is None else known.copy()
        new = np.unique(updates.which[places[updates.which] < 0])
        if len(new):
            places[new] = (0 if rows is None else rows.shape[0]) + np.arange(len(new))
            rows = stack_rows(rows, table.take(new).astype(dtype, copy=False))
        return UpdateLog(rows, Updates.concatenated([self.updates, updates.naming(places)]), table, places)

    def with_features(self, features: int) -> UpdateLog:
        """The same over more features, or fewer."""
        return self if self.rows is None else UpdateLog(with_columns(self.rows, features), self.updates)


@dataclass
class WeightState(State):
    """The state of one problem: one weight row with two classes, one per class with more, learned jointly.

    With a `penalty` we store weights that lead to the current ones by shrinking alone, since all
    were last settled (engine/penalty.hpp); `settled` gives the current ones.
    """

    keep: KeepName
    fit_intercept: bool
    arrays: Arrays  # as declared
    log: UpdateLog = UpdateLog()  # of a vote
    penalty: Penalty = NO_PENALTY

    @classmethod
    def of(cls, params: Params, weights: NDArray[Any], intercept: Floats, generator: GeneratorState) -> WeightState:
        """A new state for these params that starts from the given weights."""
        declared, sizes = declare(params.keep, params.update_rule.second_order), zip(MATRIX, weights.shape, strict=True)
        given: Arrays = {"weights": weights, "intercept": intercept, "generator": generator}
        return cls(params.keep, bool(params.fit_intercept), new_arrays(declared, given, dict(sizes)))

    @classmethod
    def new(
        cls, params: Any, table: Table | None, shape: tuple[int, int], generator: GeneratorState, init: Any = None
    ) -> list[WeightState]:
        """States for so many problems and weight rows; without a table, over no features yet."""
        problems, K = shape
        features, dtype = (0, np.dtype(np.float64)) if table is None else (table.features, table.dtype)
        start = params.init if init is None else init
        weights, intercept = starting_weights(start, (problems * K, features), dtype, generator, params.fit_intercept)
        begun = zip(np.split(weights, problems), np.split(intercept, problems), strict=True)
        return [cls.of(params, rows, each.copy(), generator.copy()) for rows, each in begun]

    def fresh(self, generator: GeneratorState) -> WeightState:
        """A new state like this one, with one weight row of zeros."""
        given: Arrays = {"weights": np.zeros((1, self.features), self.dtype), "generator": generator}
        declared = declare(self.keep, "variances" in self.arrays)
        arrays = new_arrays(declared, given, {"K": 1, "features": self.features})
        return WeightState(self.keep, self.fit_intercept, arrays)

    def to_tree(self) -> dict[str, Any]:
        """The content of a file."""
        arrays = {array.name: array.to_tree(self.arrays[array.name]) for array in self.declared}
        penalty = None if self.penalty == NO_PENALTY else self.penalty._asdict()
        tree = {"arrays": arrays, "features": self.features, "penalty": penalty}
        if self.keep == "vote":
            tree |= {"log": to_tree(self.log.updates), "support": to_tree(self.log.rows)}
        return tree

    @classmethod
    def from_tree(cls, tree: dict[str, Any], features: int, K: int, params: Params) -> WeightState:
        """The state of a file, by these params and over so many features and weight rows, every value checked."""
        check_shapes(tree["features"] == features)
        keep, penalty = params.keep, NO_PENALTY
        if tree["penalty"] is not None:
            penalty = Penalty(**tree["penalty"])
            if not (0.0 <= penalty.shrink <= 1.0 and 0.0 <= penalty.cut < np.inf):
                raise ModelError("its penalty is out of range")
        declared = declare(keep, params.update_rule.second_order, penalty != NO_PENALTY)
        arrays = read_arrays(declared, tree["arrays"], {"K": K, "features": features})
        seen = count_of(int(arrays["counters"][_PLACES["seen"]]))
        if penalty != NO_PENALTY and any(arrays[array.name].max(initial=0.0) > seen for array in OF_PENALTY[keep]):
            raise ModelError("its weights were settled after more examples than it has seen")
        log = UpdateLog()
        if keep == "vote":
            rows = from_tree(tree["support"])
            log = UpdateLog(rows, Updates.read(tree["log"], check_rows(rows, features), K))
        return WeightState(keep, bool(params.fit_intercept), arrays, log, penalty)

    @property
    def declared(self) -> tuple[Array, ...]:
        """Its arrays."""
        return declare(self.keep, "variances" in self.arrays, self.penalty != NO_PENALTY)

    @property
    def matrices(self) -> list[Array]:
        """The arrays with a value per feature and class."""
        return [array for array in self.declared if array.is_matrix]

    @property
    def weights(self) -> NDArray[Any]:
        """The raw weights, of shape (K, features)."""
        return self.arrays["weights"]

    @property
    def intercept(self) -> Floats:
        return self.arrays["intercept"]

    @property
    def features(self) -> int:
        return int(self.weights.shape[1])

    @property
    def size(self) -> int:
        """The number of weights."""
        return self.weights.size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.weights.dtype

    def learn(self, table: Table, targets: Targets, rule: Rule, order: Order = None, *, cancel: Flag = None) -> None:
        """Fold rows into the state, in the given order."""
        self.passes([self], [targets], table, rule)(order, cancel)

    @classmethod
    def passes(
        cls, states: list[Self], targets: list[Targets], table: Table, rule: Rule, *, ratchet: bool = False
    ) -> Passes:
        """They learn side by side, so that an interrupt leaves all states after the same row."""
        rows = table.astype(np.result_type(table.dtype, *(state.dtype for state in states)))
        begun = [
            state.begin_pass(rows, each, rule, ratchet=ratchet) for state, each in zip(states, targets, strict=True)
        ]

        def run(order: Order, cancel: Flag) -> None:
            # A pocket is checked on all rows of the order.
            for part in [order] if states[0].keep == "pocket" else table.windows(order):
                for one in begun:
                    one.set_order(part)
                try:
                    engine.run_passes(begun, cancel)
                finally:  # an interrupted pass has learned whole rows, and all of them count
                    for state, one in zip(states, begun, strict=True):
                        state.end_pass(one, table)
                if cancel is not None and cancel[0]:
                    break

        return run

    def begin_pass(self, table: Table, targets: Targets, rule: Rule, *, ratchet: bool = False) -> engine.Pass:
        """A pass, ready for the engine; several over one order may run side by side."""
        self.take_penalty(rule.penalty)
        dtype = np.result_type(table.dtype, self.dtype)
        for array in self.matrices:
            values = self.arrays[array.name]
            values = values.astype(dtype, copy=False) if array.dtype == "rows" else values
            self.arrays[array.name] = table.arranged(values)  # in the order in which the engine reads them
        return engine.Pass(table.astype(dtype).rows, targets.view, self.view, engine_rule(rule), ratchet=ratchet)

    @property
    def view(self) -> engine.State:
        """The arrays as the engine sees them, in the order in which they lie."""
        flat = {name: values.ravel(order="K") for name, values in self.arrays.items()}
        return engine.State(self.keep, flat, fit_intercept=self.fit_intercept)

    def end_pass(self, one: engine.Pass, table: Table) -> None:
        """Append the updates of a finished pass to the log of a vote."""
        if self.keep == "vote":
            self.log = self.log.followed_by(table, self.dtype, Updates(*one.updates()))

    @classmethod
    def unbind(cls, states: list[WeightState]) -> None:
        for state in states:
            state.log = UpdateLog(state.log.rows, state.log.updates)

    def count_mistakes(self, table: Table, targets: Targets, order: Order = None) -> float:
        """The weight of the rows that the raw weights get wrong."""
        settled = self.settled()
        return targets.take(order).mistakes(Linear(settled.weights, settled.intercept).scores(table, order))

    def predictor(self) -> Linear | Voted:
        """The predictor with the weights that the keep chooses; later learning does not change it."""
        state, seen = self.settled(), self.counter("seen")
        arrays, weights, intercept = state.arrays, state.weights, state.intercept
        match self.keep:
            case "last":
                return Linear(weights.copy(order="K"), intercept.copy())
            case "average":
                examples = float(max(seen, 1))
                share = arrays["sums"] / examples
                mean = share if state is not self and seen else weights - share  # sums of weights, or of changes
                return Linear(mean, intercept - arrays["intercept_sums"] / examples)
            case "tail":
                examples = max(seen - tail_start(seen), 1)
                mean = weights.astype(np.float64) - arrays["recent_sums"] / examples
                return Linear(mean, intercept - arrays["intercept_recent_sums"] / examples)
            case "vote":
                start = Linear(arrays["start"], arrays["start_intercept"])
                log, survived = self.log, (self.counter("survived"),)
                return Voted(Kernel(), log.rows, (log.updates,), survived, start.width, self.fit_intercept, start)
            case "pocket":
                return Linear(arrays["pocket"].copy(order="K"), arrays["pocket_intercept"].copy())

    @classmethod
    def predictors_of(cls, states: list[WeightState]) -> tuple[Predictor, ...]:
        """One predictor for all problems; for a one-vs-rest vote, one per class."""
        found: list[Any] = [state.predictor() for state in states]
        if len(found) > 1 and states[0].keep != "vote":
            stacked = np.vstack([each.weights for each in found])
            return (Linear(stacked, np.concatenate([each.intercept for each in found])),)
        return tuple(found)

    def fill_pocket(self) -> None:
        self.arrays["pocket"] = self.weights.copy(order="K")
        self.arrays["pocket_intercept"] = self.intercept.copy()

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.weights).all() and np.isfinite(self.intercept).all())

    @staticmethod
    def needs_rollback(params: Params, table: Table, weights: Floats | None) -> bool:
        """True if the weights can overflow, which takes very long steps."""
        rule, size = params.update_rule, table.dtype.itemsize
        return LARGEST[size] * (1.0 if weights is None else float(weights.max())) * max(rule.eta0, rule.C) > SAFE[size]

    def with_features(self, features: int) -> WeightState:
        """The same state over more features, which start as declared; or over fewer, the rest cut off."""
        arrays = {array.name: array.with_features(self.arrays[array.name], features) for array in self.declared}
        return replace(self, arrays=arrays, log=self.log.with_features(features))

    def with_classes(self, mix: Mix) -> WeightState:
        """The same state with other weight rows."""
        old = self.settled().arrays
        arrays = {array.name: array.with_classes(old[array.name], mix) for array in self.declared}
        state = replace(self, arrays=arrays, log=UpdateLog(self.log.rows, self.log.updates.mixed(*mix)))
        state.mark_settled()
        return state

    def settled(self) -> WeightState:
        """This state with all weights brought up to date: a copy if there is a penalty, else itself."""
        if self.penalty == NO_PENALTY:
            return self
        state = self.copy()
        for array in self.matrices:  # weight by weight beside its sum
            state.arrays[array.name] = np.asfortranarray(state.arrays[array.name])
        engine.settle(state.view, engine_rule(Rule(penalty=self.penalty)))
        return state

    def take_penalty(self, penalty: Penalty) -> None:
        """Change the penalty, after settling the weights by the one before."""
        if penalty == self.penalty:
            return
        arrays, seen = self.settled().arrays, self.counter("seen")
        if "sums" in arrays and NO_PENALTY in (penalty, self.penalty):  # the sums change their meaning
            arrays["sums"] = seen * arrays["weights"].astype(np.float64) - arrays["sums"]
        old = {array.name for array in OF_PENALTY["average"]}
        arrays = {name: values for name, values in arrays.items() if name not in old}
        self.penalty = penalty
        self.arrays = new_arrays(self.declared, arrays, dict(zip(MATRIX, arrays["weights"].shape, strict=True)))
        self.mark_settled()

    def mark_settled(self) -> None:
        """The weights, and sums, are up to date."""
        for array in OF_PENALTY[self.keep] if self.penalty != NO_PENALTY else ():
            self.arrays[array.name] = np.full_like(self.arrays[array.name], self.counter("seen"))


@lru_cache(maxsize=64)
def engine_rule(rule: Rule) -> engine.Rule:
    """A rule as the engine sees it."""
    steps = {"eta0": rule.eta0, "beta": rule.beta, "C": rule.C, "r": rule.r}
    return engine.Rule(rule.name, **steps, **rule.penalty._asdict())


def states_over(states: list[Any], old: NDArray[Any], new: NDArray[Any], params: Params) -> list[Any]:
    """The states over more classes: themselves if there is no new one."""
    if len(new) == len(old) or weight_rows(len(new)) == 1:
        return list(states)
    places = places_in(new, old)
    if params.is_ovr(len(new)):  # one binary problem per class, new ones from 0
        if len(old) == 2:
            opposite = Mix(1, np.zeros(1, np.intp), np.zeros(1, np.intp), -np.ones(1))
            states = [states[0].with_classes(opposite), states[0]]
        known = dict(zip(places.tolist(), states, strict=True)) if len(old) > 1 else {}
        return [known.get(place) or states[0].fresh(engine.seed_generator(0)) for place in range(len(new))]
    source, factor = np.arange(len(old)), np.ones(len(old))
    if len(old) == 2:  # share·w for the larger class and -share·w for the smaller, as the joint rule would have it
        share = params.update_rule.joint_share
        source, factor = np.zeros(2, np.intp), np.array([-share, share])
    elif len(old) == 1:  # it has learned nothing
        places, source, factor = places[:0], source[:0], factor[:0]
    return [states[0].with_classes(Mix(len(new), places, source, factor))]


def seed_of(random_state: Any) -> int:
    """A seed from an int, None (a random one) or a NumPy generator (drawn from it)."""
    is_integer = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if is_integer and 0 <= random_state < 2**64:  # first: NumPy's generators take a while to load
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**63))
    raise ParameterError(
        f"random_state={random_state!r}: must be an integer from 0 to 2**64 - 1, a NumPy generator or None"
    )


def starting_weights(
    init: Any, shape: tuple[int, int], dtype: np.dtype[Any], generator: GeneratorState, fit_intercept: bool
) -> tuple[NDArray[Any], Floats]:
    """Weight rows and intercepts: zeros, uniform in [-1, 1), or the user's own arrays."""
    rows, features = shape
    if isinstance(init, str):
        if init == "zeros":
            return np.zeros(shape, dtype), np.zeros(rows)
        if init == "random":
            drawn = engine.symmetric_uniform(rows * (features + 1), generator).reshape(rows, features + 1)
            intercept = drawn[:, -1].copy() if fit_intercept else np.zeros(rows)
            return np.ascontiguousarray(drawn[:, :-1], dtype), intercept
        raise ParameterError(f"init={init!r}: must be 'zeros', 'random', weights, or (weights, intercept)")
    given: tuple[Any, Any] = init if isinstance(init, tuple) and len(init) == 2 else (init, None)
    weights = np.zeros(shape) if given[0] is None else _shaped("weights", given[0], shape)
    intercept = np.zeros(rows) if given[1] is None else _shaped("intercept", given[1], (rows,))
    return weights.astype(dtype), intercept


def _shaped(name: str, values: Any, shape: tuple[int, ...]) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"init: the {name} must be an array of numbers of shape {shape}") from None
    if array.size != int(np.prod(shape)) or array.ndim > len(shape):
        raise ParameterError(f"init: the {name} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ParameterError(f"init: the {name} must be finite")
    return array.reshape(shape)
