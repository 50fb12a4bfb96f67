"""The state of a linear learner: weights, counters and whatever the keep needs beside them, as plain arrays.

Invariant: a state is changed only by `learn`, row by row, so any cut of the rows into batches gives the same bits. A
rule and a keep declare the arrays they need; starting, copying, growing, saving and handing to the engine are each one
loop over the declaration. The raw weights stay beside whatever answer is kept of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import places_in
from rosenblatt.data.table import Table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.targets import Targets, weight_rows
from rosenblatt.models.predictors import Linear, Predictor, Updates, Voted, stack_rows, with_columns
from rosenblatt.params import NO_PENALTY, LinearParams, Params, Penalty, Rule

Order = NDArray[np.uint32] | None  # the rows to go over, in this order; None: all, as they lie
Flag = NDArray[np.uint8]  # one number: set, it ends a pass between two rows


@dataclass(frozen=True)
class PassOptions:
    """How one pass over rows goes that is an epoch among others."""

    ratchet: bool = False  # may a pocket be checked on all rows of the pass?
    places: NDArray[np.int64] | None = None  # where a vote has stored each row (-1: not yet), as the table comes again
    cancel: Flag | None = None


ALONE = PassOptions()


Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Array:
    """One array: its name, its shape and what a place begins with."""

    name: str
    # (K, features), (K,), (features,) or (1,), where K is the number of weight rows.
    shape: Literal["weights", "classes", "features", "one"]
    begin: float = 0.0  # also of features and classes that come later
    copy_of: str = ""  # it begins as a copy of that array instead
    as_rows: bool = False  # does it have the precision of the rows? Else it is float64
    inherits: bool = False  # a class that is made of another one has that one's values, unmixed

    def new(self, arrays: Arrays) -> NDArray[Any]:
        """This array for weights that are about to learn."""
        if self.copy_of:
            return arrays[self.copy_of].copy()
        K, features = arrays["weights"].shape
        sizes = {"weights": (K, features), "classes": (K,), "features": (features,), "one": (1,)}
        dtype = arrays["weights"].dtype if self.as_rows else np.float64
        return np.full(sizes[self.shape], self.begin, dtype)

    def with_features(self, values: NDArray[Any], features: int) -> NDArray[Any]:
        """The values for more features, or for fewer: the rest is cut off."""
        if self.shape not in ("weights", "features"):
            return values.copy()
        begin = 0.0 if self.copy_of else self.begin
        wider = np.full((*values.shape[:-1], features), begin, values.dtype, order="F")
        shared = min(features, values.shape[-1])
        wider[..., :shared] = values[..., :shared]
        return wider

    def with_classes(self, values: NDArray[Any], mix: NDArray[np.float64]) -> NDArray[Any]:
        """The values for other weight rows, ``mix @ values``."""
        if self.shape not in ("weights", "classes"):
            return values.copy()
        made = np.zeros((len(mix), *values.shape[1:]), values.dtype)
        if self.inherits:
            made += np.asarray(self.begin, values.dtype)
        places, sources = np.nonzero(mix != 0)  # ten times as fast as without the comparison
        if self.inherits:
            made[places] = values[sources]
        elif np.all(mix[places, sources] == 1.0) and np.all(np.diff(places) > 0):  # rows move, and are not mixed
            made[places] += values[sources]
        else:
            for new, old in zip(places, sources, strict=True):
                made[new] = made[new] + mix[new, old] * values[old]
        return made

    def with_classes_at(self, values: NDArray[Any], classes: int, places: NDArray[np.intp]) -> NDArray[Any]:
        """The values for so many weight rows, the old ones at these places."""
        if self.shape not in ("weights", "classes"):
            return values.copy()
        made = np.full((classes, *values.shape[1:]), self.begin if self.inherits else 0.0, values.dtype)
        if self.inherits:
            made[places] = values
        else:
            made[places] += values
        return made


EVERY: tuple[Array, ...] = (
    Array("weights", "weights", as_rows=True),
    Array("intercept", "classes"),
    Array("mistake_weight", "one"),  # the sample weights of all mistakes
)
OF_SECOND_ORDER = (
    Array("variances", "weights", begin=1.0, as_rows=True, inherits=True),
    Array("intercept_variances", "classes", begin=1.0, inherits=True),
)
OF_PENALTY = (Array("settled_at", "one"),)  # examples that had been seen when all weights were settled


def matrices(declared: Iterable[Array]) -> list[Array]:
    """Those with a value per feature and class."""
    return [array for array in declared if array.shape == "weights"]


COUNTERS: tuple[str, ...] = engine.COUNTERS
_PLACES = {name: place for place, name in enumerate(COUNTERS)}


def new_counters() -> NDArray[np.int64]:
    """The counters of a state that has seen nothing: its weights are in the pocket until the first update."""
    counters = np.zeros(len(COUNTERS), np.int64)
    counters[_PLACES["checked"]] = counters[_PLACES["pocket_is_current"]] = 1
    counters[_PLACES["pocket_run"]] = -1
    return counters


class Counted:
    """A state whose counters are among its arrays."""

    arrays: Arrays

    @property
    def counters(self) -> NDArray[np.int64]:
        return self.arrays["counters"]

    @property
    def generator(self) -> NDArray[np.uint64]:
        return self.arrays["generator"]

    @property
    def mistake_weight(self) -> float:
        """The sample weights of all mistakes."""
        return float(self.arrays["mistake_weight"][0])

    def counter(self, name: str) -> int:
        return int(self.arrays["counters"][_PLACES[name]])

    def set_counter(self, name: str, value: int) -> None:
        self.arrays["counters"][_PLACES[name]] = value

    def count_as_right(self, rows: int) -> None:
        """Rows were seen that had no other class to be mistaken for."""
        for name in ("seen", "survived"):
            self.set_counter(name, self.counter(name) + rows)


class Keep:
    """What a state remembers beside its raw weights."""

    name: ClassVar[str]
    arrays: ClassVar[tuple[Array, ...]] = ()
    arrays_of_penalty: ClassVar[tuple[Array, ...]] = ()  # those that it needs where weights shrink, too
    stores_rows: ClassVar[bool] = False

    def predictor(self, state: WeightState) -> Linear | Voted:
        """The answer of a state whose weights are up to date; what is learned later does not change it."""
        raise NotImplementedError

    def shares(self, before: NDArray[np.int64], seen: int) -> NDArray[np.float64] | float:
        """How much of each update is in the answer, by the examples before it, after `seen` examples."""
        return 1.0

    def begin_epochs(self, state: WeightState, mistakes: Callable[[], float]) -> None:
        """Epochs over rows are about to begin, of which the answer so far gets so many wrong."""

    def converged(self, state: WeightState) -> None:
        """The raw weights were found to make no mistake."""


class Last(Keep):
    """The raw weights."""

    name = "last"

    def predictor(self, state: WeightState) -> Linear:
        return Linear(state.weights.copy(order="K"), state.intercept.copy())


class Average(Keep):
    """The mean of the weights after each example.

    The engine keeps ``sum over updates of (examples before it) · change``, so that the mean is ``w - sums/N``; with a
    penalty, which changes weights between updates, the sums are those of the weights themselves, each up to
    ``summed_at`` examples.
    """

    name = "average"
    arrays = (Array("sums", "weights"), Array("intercept_sums", "classes"))
    arrays_of_penalty = (Array("summed_at", "weights"),)

    def predictor(self, state: WeightState) -> Linear:
        seen = state.counter("seen")
        share = state.arrays["sums"] / max(seen, 1)
        mean = share if state.penalty != NO_PENALTY and seen else state.weights.astype(np.float64) - share
        return Linear(mean, state.intercept - state.arrays["intercept_sums"] / max(seen, 1))

    def shares(self, before: NDArray[np.int64], seen: int) -> NDArray[np.float64]:
        return (seen - before) / max(seen, 1)


class Tail(Keep):
    """The mean over the latest examples: half of them to three quarters, the first weights left out.

    With N examples seen and 2^k the last power of two up to N, it is the mean of the weights after each of the examples
    from 2^(k-1) + 1 on. The engine keeps its sums from there, and those from 2^k on, which come next.
    """

    name = "tail"
    arrays = (
        Array("recent_sums", "weights"),
        Array("intercept_recent_sums", "classes"),
        Array("later_sums", "weights"),
        Array("intercept_later_sums", "classes"),
    )

    def predictor(self, state: WeightState) -> Linear:
        examples = max(state.counter("seen") - self._first(state.counter("seen")), 1)
        mean = state.weights.astype(np.float64) - state.arrays["recent_sums"] / examples
        return Linear(mean, state.intercept - state.arrays["intercept_recent_sums"] / examples)

    def shares(self, before: NDArray[np.int64], seen: int) -> NDArray[np.float64]:
        first = self._first(seen)
        return (seen - np.maximum(before, first)) / max(seen - first, 1)

    @staticmethod
    def _first(seen: int) -> int:
        """How many examples at the beginning are left out."""
        return (1 << (seen.bit_length() - 1)) // 2 if seen else 0


class Vote(Keep):
    """Every weight vector that lived, as the starting weights and the list of updates."""

    name = "vote"
    stores_rows = True
    arrays = (
        Array("start", "weights", copy_of="weights", as_rows=True),
        Array("start_intercept", "classes", copy_of="intercept"),
    )

    def predictor(self, state: WeightState) -> Voted:
        start = Linear(state.arrays["start"], state.arrays["start_intercept"])
        remembered = state.remembered
        return Voted(start, remembered.rows, remembered.updates, state.counter("survived"), state.fit_intercept)


class Pocket(Keep):
    """The weights with the fewest mistakes on all rows so far."""

    name = "pocket"
    arrays = (
        Array("pocket", "weights", copy_of="weights", as_rows=True),
        Array("pocket_intercept", "classes", copy_of="intercept"),
        Array("pocket_mistakes", "one", begin=np.inf),  # the sample weights of the rows that it gets wrong
    )

    def predictor(self, state: WeightState) -> Linear:
        return Linear(state.arrays["pocket"].copy(order="K"), state.arrays["pocket_intercept"].copy())

    def begin_epochs(self, state: WeightState, mistakes: Callable[[], float]) -> None:
        settle_pocket(state, state.arrays["pocket_mistakes"], mistakes())

    def converged(self, state: WeightState) -> None:
        state.arrays["pocket"] = state.weights.copy(order="K")
        state.arrays["pocket_intercept"] = state.intercept.copy()
        state.arrays["pocket_mistakes"] = np.zeros(1)
        state.set_counter("pocket_is_current", 1)
        state.set_counter("pocket_run", max(state.counter("pocket_run"), state.counter("run")))


def settle_pocket(state: Any, known: NDArray[np.float64], found: float) -> None:
    """The pocket gets so many rows wrong. Where these are other rows than before, its run on those counts no more."""
    if state.counter("seen") and found != known[0]:
        for name in ("pocket_run", "run", "checked"):
            state.set_counter(name, 0)
    known[0] = found


KEEP_BY_NAME: dict[str, Keep] = {keep.name: keep for keep in (Last(), Average(), Tail(), Vote(), Pocket())}


@dataclass(frozen=True)
class UpdateLog:
    """Updates in order, each naming one of the stored rows. What is here is never changed, only followed by more."""

    rows: Any = None  # an array or CSR array; None before the first update
    updates: Updates = Updates.none()

    def followed_by(self, table: Table, updates: Updates, places: NDArray[np.int64]) -> UpdateLog:
        """With updates that name rows of a table; `places` says where each is stored already (-1: not yet)."""
        if not len(updates):
            return self
        rows, new = self.rows, np.unique(updates.which[places[updates.which] < 0])
        if len(new):
            places[new] = (0 if rows is None else rows.shape[0]) + np.arange(len(new))
            rows = stack_rows(rows, table.take(new))
        return UpdateLog(rows, self.updates.followed_by(updates.naming(places)))

    def with_features(self, features: int) -> UpdateLog:
        """The same over more features, or fewer."""
        return self if self.rows is None else UpdateLog(with_columns(self.rows, features), self.updates)

    def with_classes(self, mix: NDArray[np.float64]) -> UpdateLog:
        """The same with other classes."""
        return UpdateLog(self.rows, self.updates.mixed(mix))


NOTHING = UpdateLog()


@dataclass
class WeightState(Counted):
    """The state of one problem: one weight row with two classes, one per class with more, learned jointly.

    With a `penalty` the weights are those that would have led to the current ones by shrinking alone, from the moment
    when all were settled (engine/penalty.hpp); `settled` gives the current ones.
    """

    keep: Keep
    declared: tuple[Array, ...]
    fit_intercept: bool
    arrays: Arrays  # as declared, `counters` and `generator`
    remembered: UpdateLog = NOTHING
    penalty: Penalty = NO_PENALTY

    @classmethod
    def begin(
        cls,
        weights: NDArray[Any],
        intercept: NDArray[np.float64],
        *,
        keep: str,
        fit_intercept: bool,
        generator: NDArray[np.uint64],
        second_order: bool = False,
    ) -> WeightState:
        """A state that has seen nothing yet, from the given weights."""
        arrays: Arrays = {"weights": weights, "intercept": intercept}
        declared = declare(keep, second_order)
        for array in declared:
            if array.name not in arrays:
                arrays[array.name] = array.new(arrays)
        arrays |= {"counters": new_counters(), "generator": generator}
        return cls(KEEP_BY_NAME[keep], declared, fit_intercept, arrays)

    @classmethod
    def of(
        cls, params: Params, weights: NDArray[Any], intercept: NDArray[np.float64], generator: NDArray[np.uint64]
    ) -> WeightState:
        """A state as params ask for it that has seen nothing yet."""
        return cls.begin(
            weights,
            intercept,
            keep=params.keep,
            fit_intercept=bool(params.fit_intercept),
            generator=generator,
            second_order=params.update_rule.traits.second_order,
        )

    def fresh(self) -> WeightState:
        """A state like this one, with one weight row of zeros, that has seen nothing yet."""
        return WeightState.begin(
            np.zeros((1, self.features), self.dtype),
            np.zeros(1),
            keep=self.keep.name,
            fit_intercept=self.fit_intercept,
            generator=engine.seed_generator(0),
            second_order="variances" in self.arrays,
        )

    @property
    def weights(self) -> NDArray[Any]:
        """The raw weights, of shape (K, features)."""
        return self.arrays["weights"]

    @property
    def intercept(self) -> NDArray[np.float64]:
        return self.arrays["intercept"]

    @property
    def stores_rows(self) -> bool:
        """Are rows kept, so that one that comes again should be known?"""
        return self.keep.stores_rows

    @property
    def features(self) -> int:
        return int(self.weights.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.weights.dtype

    def learn(self, table: Table, targets: Targets, rule: Rule, order: Order = None, how: PassOptions = ALONE) -> None:
        """Fold rows into the state, in the given order."""
        self.passes(table, targets, rule, how)(order)

    def passes(self, table: Table, targets: Targets, rule: Rule, how: PassOptions) -> Callable[[Order], None]:
        """What `learn` does with these rows, to be called with one order after another."""
        one = self.begin_pass(table, targets, rule, ratchet=how.ratchet)

        def run(order: Order) -> None:
            one.set_order(order)
            try:
                engine.run_passes([one], how.cancel)
            finally:  # an interrupted pass has learned whole rows, and all of them count
                self.end_pass(one, table, how.places)

        return run

    def begin_pass(
        self, table: Table, targets: Targets, rule: Rule, order: Order = None, *, ratchet: bool = False
    ) -> engine.Pass:
        """A pass, ready for the engine; several over one order may run side by side."""
        self.take_penalty(rule.penalty)
        dtype = np.result_type(table.dtype, self.dtype)
        for array in matrices(self.declared):
            values = self.arrays[array.name]
            if array.as_rows:
                values = values.astype(dtype, copy=False)
            self.arrays[array.name] = table.arranged(values)
        table = table.astype(dtype)
        return engine.Pass(
            table.rows, targets.view, self.view(table.sparse), engine_rule(rule), order=order, ratchet=ratchet
        )

    def view(self, feature_major: bool) -> engine.State:
        """The arrays as the engine sees them, which lie in this order already."""
        flat = {name: values.ravel(order="K") for name, values in self.arrays.items()}
        return engine.State(self.keep.name, flat, fit_intercept=self.fit_intercept, feature_major=feature_major)

    def end_pass(self, one: engine.Pass, table: Table, places: NDArray[np.int64] | None = None) -> None:
        """Take over what a finished pass hands back: the updates of a vote."""
        if self.stores_rows and len(updates := Updates(*one.updates())):
            where = np.full(table.count, -1) if places is None else places
            self.remembered = self.remembered.followed_by(table.astype(self.dtype), updates, where)

    def count_mistakes(self, table: Table, targets: Targets, order: Order = None) -> float:
        """How many of the rows the raw weights get wrong, each counted with its sample weight."""
        table = table.astype(np.result_type(table.dtype, self.dtype))
        weights = table.arranged(self.settled().weights.astype(table.dtype, copy=False))
        raw = WeightState.begin(
            weights, self.intercept, keep="last", fit_intercept=True, generator=self.arrays["generator"]
        )
        found: float = engine.count_mistakes(table.rows, targets.view, raw.view(table.sparse), order=order)
        return found

    def begin_epochs(self, table: Table, targets: Targets, order: Order = None) -> None:
        """Before the first epoch over these rows."""
        asked = targets if order is None else targets.take(order)
        self.keep.begin_epochs(self, lambda: asked.weigh(asked.wrong(self.predictor().scores(table, order))))

    def predictor(self) -> Linear | Voted:
        """The weights that the keep says are the answer."""
        return self.keep.predictor(self.settled())

    def converged(self) -> None:
        """The raw weights were found to make no mistake."""
        self.keep.converged(self)

    def is_finite(self) -> bool:
        finite = np.logical_and.reduce(np.isfinite(self.weights), axis=None)
        return bool(finite) and all(map(math.isfinite, self.intercept.tolist()))

    def copy(self) -> WeightState:
        """A state that goes its own way."""
        return replace(self, arrays={name: values.copy(order="K") for name, values in self.arrays.items()})

    def with_features(self, features: int) -> WeightState:
        """The same state over more features, which begin as declared; or over fewer, the rest cut off."""
        state = self.copy()
        for array in self.declared:
            state.arrays[array.name] = array.with_features(self.arrays[array.name], features)
        state.remembered = self.remembered.with_features(features)
        return state

    def with_classes(self, mix: NDArray[np.float64]) -> WeightState:
        """The same state with other weight rows, ``mix @ rows``: one row of `mix` per new weight row."""
        settled = self.settled()
        state = settled.copy()
        for array in self.declared:
            state.arrays[array.name] = array.with_classes(settled.arrays[array.name], mix)
        state.remembered = self.remembered.with_classes(mix)
        state.mark_settled()
        return state

    def with_classes_at(self, classes: int, places: NDArray[np.intp]) -> WeightState:
        """The same state over so many classes, the old ones at these places: nothing is mixed."""
        if self.stores_rows:
            mix = np.zeros((classes, len(places)))
            mix[places, np.arange(len(places))] = 1.0
            return self.with_classes(mix)
        settled = self.settled()
        state = settled.copy()
        for array in self.declared:
            state.arrays[array.name] = array.with_classes_at(settled.arrays[array.name], classes, places)
        return state

    def settled(self) -> WeightState:
        """This state with all weights brought up to date: a copy if there is a penalty, else itself."""
        if self.penalty == NO_PENALTY:
            return self
        state = self.copy()
        for array in matrices(self.declared):  # weight by weight beside its sum
            state.arrays[array.name] = np.asfortranarray(state.arrays[array.name])
        engine.settle(state.view(True), engine_rule(Rule(penalty=self.penalty)))
        return state

    def take_penalty(self, penalty: Penalty) -> None:
        """From now on this penalty; what the one before still has to do is done."""
        if penalty == self.penalty:
            return
        settled, seen = self.settled(), self.counter("seen")
        self.arrays = settled.arrays
        if "sums" in self.arrays and NO_PENALTY in (penalty, self.penalty):  # the sums change their meaning
            self.arrays["sums"] = seen * self.weights.astype(np.float64) - self.arrays["sums"]
        self.penalty = penalty
        self.declared = declare(self.keep.name, "variances" in self.arrays, penalty != NO_PENALTY)
        for array in (*OF_PENALTY, *self.keep.arrays_of_penalty):
            self.arrays.pop(array.name, None)
            if array in self.declared:
                self.arrays[array.name] = array.new(self.arrays)
        self.mark_settled()

    def mark_settled(self) -> None:
        """The weights, and sums, are up to date."""
        for array in (*OF_PENALTY, *self.keep.arrays_of_penalty):
            if array in self.declared:
                self.arrays[array.name] = np.full_like(self.arrays[array.name], self.counter("seen"))


def declare(keep: str, second_order: bool, shrinks: bool = False) -> tuple[Array, ...]:
    """The arrays of a state with this keep, of a second-order rule or not, with weights that shrink or not."""
    of_penalty = (*OF_PENALTY, *KEEP_BY_NAME[keep].arrays_of_penalty) if shrinks else ()
    return (*EVERY, *KEEP_BY_NAME[keep].arrays, *(OF_SECOND_ORDER if second_order else ()), *of_penalty)


def engine_rule(rule: Rule) -> engine.Rule:
    """A rule as the engine sees it."""
    return engine.Rule(
        rule.name,
        eta0=rule.eta0,
        beta=rule.beta,
        C=rule.C,
        r=rule.r,
        shrink=rule.penalty.shrink,
        cut=rule.penalty.cut,
    )


def states_over(states: list[Any], old: NDArray[Any], new: NDArray[Any], params: Params) -> list[Any]:
    """The states over more classes: themselves if there is no new one."""
    if len(new) == len(old) or weight_rows(len(new)) == 1:
        return list(states)
    places = places_in(new, old)
    if params.is_ovr(len(new)):
        return _ovr(states, len(old), len(new), places)
    return [_joint(states[0], len(old), len(new), places, params.update_rule.traits.joint_share)]


def _joint(state: Any, old: int, new: int, places: NDArray[np.intp], share: float) -> Any:
    """Two classes share one weight row ``w``: with a third, the larger class gets ``share·w`` and the smaller
    ``-share·w``, what the joint rule would have given them.
    """
    if old > 2 and isinstance(state, WeightState):  # as quick as copying, however many classes there are
        return state.with_classes_at(new, places)
    mix = np.zeros((new, weight_rows(old)))
    if old == 2:
        mix[places[1], 0], mix[places[0], 0] = share, -share
    elif old > 2:
        mix[places, np.arange(old)] = 1.0
    return state.with_classes(mix)


def _ovr(states: list[Any], old: int, new: int, places: NDArray[np.intp]) -> list[Any]:
    """One binary problem each, new ones from 0."""
    known: dict[int, Any] = {}
    if old == 2:
        known = {int(places[0]): states[0].with_classes(np.array([[-1.0]])), int(places[1]): states[0]}
    elif old > 2:
        known = dict(zip(places.tolist(), states, strict=True))
    return [known[place] if place in known else states[0].fresh() for place in range(new)]


LARGEST = {4: 1e15, 8: 1e100}  # values that a table may hold, by the bytes of each


SAFE = {4: 1e30, 8: 1e290}  # steps that leave room for very many of them


Tasks = list[tuple[Any, Targets]]  # states, and what the rows ask of each


class LinearSpace:
    """The features as they are: a weight each."""

    def check(self, params: LinearParams, table: Table) -> None:
        """Any table will do."""

    def new_states(
        self,
        params: LinearParams,
        table: Table | None,
        classes: NDArray[Any],
        generator: NDArray[np.uint64],
        init: Any = None,
        *,
        apart: bool = False,
    ) -> list[WeightState]:
        """From the params' start, or from `init`; without a table, over no features yet."""
        ovr = apart or params.is_ovr(len(classes))
        features, dtype = (0, np.dtype(np.float64)) if table is None else (table.features, table.dtype)
        shape = (len(classes) if ovr else weight_rows(len(classes)), features)
        start = params.init if init is None else init
        weights, intercept = starting_weights(start, shape, dtype, generator, params.fit_intercept)
        if not ovr:
            return [WeightState.of(params, weights, intercept, generator)]
        rows = [slice(k, k + 1) for k in range(len(classes))]
        return [WeightState.of(params, weights[k].copy(), intercept[k].copy(), generator.copy()) for k in rows]

    def may_fail(self, params: LinearParams, table: Table, weights: NDArray[np.float64] | None) -> bool:
        """Only weights that overflow, which takes steps far from what is usual."""
        rule = params.update_rule
        largest = LARGEST[table.dtype.itemsize] * (1.0 if weights is None else float(weights.max()))
        return largest * max(rule.eta0, rule.C) > SAFE[table.dtype.itemsize]

    def look_at(self, table: Table, states: list[WeightState]) -> None:
        """Weights are all that is needed."""

    def recognize(self, table: Table, states: list[WeightState]) -> None:
        """Weights know no rows."""

    def learn(self, tasks: Tasks, table: Table, rule: Rule, order: Order, cancel: Flag) -> bool:
        """Side by side, so that all of them have learned the same rows wherever they are stopped."""
        table = table.astype(np.result_type(table.dtype, *(state.dtype for state, _ in tasks)))
        passes = [state.begin_pass(table, targets, rule, order) for state, targets in tasks]
        try:
            engine.run_passes(passes, cancel)
        finally:
            for (state, _), one in zip(tasks, passes, strict=True):
                state.end_pass(one, table)
        return True

    def leave(self, states: list[WeightState]) -> None:
        """Weights are all that is left."""

    def make_predictors(self, states: list[WeightState]) -> tuple[Predictor, ...]:
        """One answer; or, for a one-vs-rest vote, one per class."""
        predictors = [state.predictor() for state in states]
        linear = [answer for answer in predictors if isinstance(answer, Linear)]
        if len(linear) == len(predictors) > 1:
            stacked = np.vstack([answer.weights for answer in linear])
            return (Linear(stacked, np.concatenate([answer.intercept for answer in linear])),)
        return tuple(predictors)


LINEAR = LinearSpace()


def seed_of(random_state: Any) -> int:
    """A seed from an int, None (another one each time) or a NumPy generator (drawn from it)."""
    is_integer = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if is_integer and 0 <= random_state < 2**64:  # first: NumPy's generators take a while to load
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    raise ParameterError(
        f"random_state={random_state!r}: must be an integer from 0 to 2**64 - 1, a NumPy generator or None"
    )


def starting_weights(
    init: Any, shape: tuple[int, int], dtype: np.dtype[Any], generator: NDArray[np.uint64], fit_intercept: bool
) -> tuple[NDArray[Any], NDArray[np.float64]]:
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


def _shaped(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"init: the {name} must be an array of numbers of shape {shape}") from None
    if array.size != int(np.prod(shape)) or array.ndim > len(shape):
        raise ParameterError(f"init: the {name} must have shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise ParameterError(f"init: the {name} must be finite")
    return array.reshape(shape)
