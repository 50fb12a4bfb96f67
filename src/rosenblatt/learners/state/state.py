"""Everything that a linear learner needs to go on exactly: plain arrays and integers.

Invariant: a state is changed only by `learn`, row by row, so any cut of the rows into batches gives the same bits. The
raw weights stay beside whatever answer is kept of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.learners.state.arrays import (
    EVERY,
    KEEPS,
    OF_PENALTY,
    OF_SECOND_ORDER,
    Array,
    Arrays,
    Counted,
    Keep,
    matrices,
    new_counters,
)
from rosenblatt.learners.state.learning import ALONE, Order, PassOptions
from rosenblatt.learners.state.remembered import NOTHING, Remembered
from rosenblatt.learners.targets import Targets
from rosenblatt.models.predictors import Linear, Updates, Voted
from rosenblatt.params import NO_PENALTY, Params, Penalty, Rule


@dataclass
class State(Counted):
    """The state of one problem: one weight row with two classes, one per class with more, learned jointly.

    With a `penalty` the weights are those that would have led to the current ones by shrinking alone, from the moment
    when all were settled (engine/penalty.hpp); `settled` gives the current ones.
    """

    keep: Keep
    declared: tuple[Array, ...]
    fit_intercept: bool
    arrays: Arrays  # as declared, `counters` and `generator`
    remembered: Remembered = NOTHING
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
    ) -> State:
        """A state that has seen nothing yet, from the given weights."""
        arrays: Arrays = {"weights": weights, "intercept": intercept}
        declared = declare(keep, second_order)
        for array in declared:
            if array.name not in arrays:
                arrays[array.name] = array.new(arrays)
        arrays |= {"counters": new_counters(), "generator": generator}
        return cls(KEEPS[keep], declared, fit_intercept, arrays)

    @classmethod
    def of(
        cls, params: Params, weights: NDArray[Any], intercept: NDArray[np.float64], generator: NDArray[np.uint64]
    ) -> State:
        """A state as params ask for it that has seen nothing yet."""
        return cls.begin(
            weights,
            intercept,
            keep=params.keep,
            fit_intercept=bool(params.fit_intercept),
            generator=generator,
            second_order=params.update_rule.traits.second_order,
        )

    def fresh(self) -> State:
        """A state like this one, with one weight row of zeros, that has seen nothing yet."""
        return State.begin(
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
        raw = State.begin(weights, self.intercept, keep="last", fit_intercept=True, generator=self.arrays["generator"])
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

    def copy(self) -> State:
        """A state that goes its own way."""
        return replace(self, arrays={name: values.copy(order="K") for name, values in self.arrays.items()})

    def with_features(self, features: int) -> State:
        """The same state over more features, which begin as declared; or over fewer, the rest cut off."""
        state = self.copy()
        for array in self.declared:
            state.arrays[array.name] = array.with_features(self.arrays[array.name], features)
        state.remembered = self.remembered.with_features(features)
        return state

    def with_classes(self, mix: NDArray[np.float64]) -> State:
        """The same state with other weight rows, ``mix @ rows``: one row of `mix` per new weight row."""
        settled = self.settled()
        state = settled.copy()
        for array in self.declared:
            state.arrays[array.name] = array.with_classes(settled.arrays[array.name], mix)
        state.remembered = self.remembered.with_classes(mix)
        state.mark_settled()
        return state

    def with_classes_at(self, classes: int, places: NDArray[np.intp]) -> State:
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

    def settled(self) -> State:
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
    of_penalty = (*OF_PENALTY, *KEEPS[keep].arrays_of_penalty) if shrinks else ()
    return (*EVERY, *KEEPS[keep].arrays, *(OF_SECOND_ORDER if second_order else ()), *of_penalty)


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
