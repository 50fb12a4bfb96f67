"""A stream: examples one by one, as dicts of feature names and numbers.

Invariant: an example that raises changes nothing. `learn` on dicts and `partial_fit` on the same rows do the same
arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers, label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.targets import targets_of
from rosenblatt.learners.weights import COUNTERS, WeightState, engine_rule, matrices
from rosenblatt.models.predictors import Linear
from rosenblatt.params import Params, PassiveAggressiveRegressionParams, Rule

Columns = dict[Any, int] | int  # the column of each name, or the bits of its hash


@dataclass(frozen=True)
class StreamOptions:
    """What a stream needs of params."""

    rule: Rule
    ovr: bool = False
    tie_positive: bool = False
    epsilon: float | None = None  # of a regression
    hash_bits: int = 0  # 0: every name has a column of its own

    @classmethod
    def of(cls, params: Params, classes: int) -> StreamOptions:
        """Those of params, for so many classes."""
        return cls(
            params.update_rule,
            params.is_ovr(classes),
            bool(params.tie_positive),
            float(params.epsilon) if isinstance(params, PassiveAggressiveRegressionParams) else None,
            int(getattr(params, "hash_bits", None) or 0),
        )


class Stream:
    """The engine's stream, which owns names, labels and weights, and the states that it was made of.

    Votes store rows and penalized weights shrink with every row: they learn an example as a table of one row (`engine`
    is None).
    """

    def __init__(
        self,
        states: list[WeightState],
        classes: NDArray[Any],
        names: dict[Any, int],
        how: StreamOptions,
        before: tuple[int, int] | None = None,
    ) -> None:
        self.classes, self.how = classes, how
        features = 1 << how.hash_bits if how.hash_bits else max(len(names), states[0].features)
        self._states = [s if s.features == features else s.with_features(features) for s in states]
        self._names = dict(names)
        self._snapshot = 0, len(classes)  # of the states: examples learned, classes
        self.engine: engine.Stream | None = None
        if not (states[0].stores_rows or how.rule.shrinks):
            self.engine = _engine_stream(self._states, classes, self._names, how)
        self._before = self._counted() if before is None else before

    def learn(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> bool:
        """Learn from one example; False, and nothing was learned, if its label is new."""
        if self.engine is not None:
            done: bool = self.engine.learn(features, label, weight)
            return done
        values = label_values(self.classes)
        if self.how.epsilon is None and label not in values:
            return False
        engine.Stream.check(features)
        if weight > 0:
            if self.how.epsilon is None:
                labels = Labels(self.classes, np.array([values.index(label)], np.int32))
            else:
                labels = Numbers.of([label], self.how.epsilon)
            self._learn_table(features, labels, weight)
        return True

    def add_class(self, classes: NDArray[Any], place: int) -> bool:
        """One more class at this place; False, and nothing done, unless one-vs-rest only adds a state."""
        if self.engine is None or not self.how.ovr or len(self.classes) < 3:
            return False
        self.engine.add_class(label_values(classes), place)
        self._states.insert(place, self._states[0].fresh())  # its arrays come with the next snapshot
        self.classes, self._snapshot = classes, (-1, 0)
        return True

    def scores(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example; features that were never seen count for nothing."""
        if self.engine is not None:
            found: NDArray[np.float64] = self.engine.scores(features)
            return found
        engine.Stream.check(features)
        table = row_table(features, self.columns)
        states = [state if state.features else state.with_features(1) for state in self._states]
        return np.hstack([state.predictor().scores(table)[0] for state in states])

    def states(self) -> list[WeightState]:
        """What was learned so far: copies of the engine's arrays, made again after the next example."""
        if self.engine is not None and self._snapshot != (now := (self.engine.learned, len(self.classes))):
            arrays = self.engine.snapshot()
            self._states = [_with_arrays(s, each) for s, each in zip(self._states, arrays, strict=True)]
            self._snapshot = now
        return self._states

    @property
    def learned(self) -> int:
        """A number that changes with every example that the engine learns."""
        return 0 if self.engine is None else self.engine.learned

    @property
    def names(self) -> dict[Any, int]:
        """The column of each feature."""
        return self._names if self.engine is None else self.engine.names

    @property
    def width(self) -> int:
        """How many features there are."""
        return self._states[0].features if self.engine is None else self.engine.features

    @property
    def columns(self) -> Columns:
        """Where each feature is."""
        return self.how.hash_bits or self.names

    def unrecorded(self) -> tuple[int, int]:
        """Mistakes and updates since the stream began."""
        mistakes, updates = self._counted()
        return mistakes - self._before[0], updates - self._before[1]

    def recorded(self, mistakes: int, updates: int) -> None:
        """So many more mistakes and updates count as those before the stream began."""
        self._before = self._before[0] + mistakes, self._before[1] + updates

    def recorded_but(self, mistakes: int, updates: int) -> None:
        """Of what was counted so far, all but so many mistakes and updates was counted before the stream began."""
        counted = self._counted()
        self._before = counted[0] - mistakes, counted[1] - updates

    def close(self) -> None:
        """From now on nothing is learned here, though a thread may still hold the stream."""
        if self.engine is not None:
            self.engine.close()

    def copy(self) -> Stream:
        """A stream that goes its own way."""
        states = [state.copy() for state in self.states()]
        return Stream(states, self.classes, self.names, self.how, self._before)

    def __reduce__(self) -> tuple[Any, ...]:
        return Stream, (self.states(), self.classes, self.names, self.how, self._before)

    def _learn_table(self, features: dict[Any, float], labels: Labels, weight: float) -> None:
        names = dict(self._names)
        for name in () if self.how.hash_bits else features:
            names.setdefault(name, len(names))
        width = 1 << self.how.hash_bits if self.how.hash_bits else max(len(names), self._states[0].features, 1)
        states = [s if s.features == width else s.with_features(width) for s in self._states]
        weights = None if weight == 1.0 else np.array([weight])
        targets = targets_of(labels, ovr=self.how.ovr, sample_weight=weights, tie_positive=self.how.tie_positive)
        table = row_table(features, self.how.hash_bits or names, width)
        self._names, self._states = names, states
        if len(self.classes) == 1:
            states[0].count_as_right(1)
            return
        for state, asked in zip(states, targets, strict=True):
            state.learn(table, asked, self.how.rule)

    def _counted(self) -> tuple[int, int]:
        if self.engine is not None:
            found: tuple[int, int] = self.engine.counts
            return found
        totals = np.sum([state.counters for state in self._states], axis=0)
        return int(totals[COUNTERS.index("mistakes")]), int(totals[COUNTERS.index("updates")])


def _engine_stream(
    states: list[WeightState], classes: NDArray[Any], names: dict[Any, int], how: StreamOptions
) -> engine.Stream:
    of_weights = {array.name for array in matrices(states[0].declared)}

    def flat(state: WeightState) -> dict[str, NDArray[Any]]:
        return {
            name: np.asarray(values, np.float64).ravel(order="F") if name in of_weights else values
            for name, values in state.arrays.items()
        }

    return engine.Stream(
        [flat(state) for state in states],
        names,
        label_values(classes),
        engine_rule(how.rule),
        keep=states[0].keep.name,
        fit_intercept=states[0].fit_intercept,
        one_vs_rest=how.ovr,
        tie_positive=how.tie_positive,
        epsilon=how.epsilon,
        hash_bits=how.hash_bits,
    )


def _with_arrays(state: WeightState, arrays: dict[str, NDArray[Any]]) -> WeightState:
    """The same state with arrays of the engine, whose weights lie feature after feature."""
    rows = len(state.intercept)
    shaped = {array.name: arrays[array.name].reshape(-1, rows).T for array in matrices(state.declared)}
    return replace(state, arrays={**state.arrays, **arrays, **shaped})


def predicting_stream(predictor: Linear, classes: NDArray[Any], columns: Columns) -> engine.Stream:
    """The engine's side of weights that only predict."""
    state = WeightState.begin(
        np.asfortranarray(predictor.weights, np.float64),
        predictor.intercept,
        keep="last",
        fit_intercept=True,
        generator=engine.seed_generator(0),
    )
    if isinstance(columns, int):
        return _engine_stream([state], classes, {}, StreamOptions(Rule(), hash_bits=columns))
    names = {name: column for name, column in columns.items() if column < state.features}
    return _engine_stream([state], classes, names, StreamOptions(Rule()))


def row_table(features: dict[Any, float], columns: Columns, width: int = 1) -> Table:
    """One example as a table of at least so many columns; features without a column are left out."""
    import scipy.sparse as sp

    places: NDArray[Any]
    if isinstance(columns, dict):
        known = {columns[name]: value for name, value in features.items() if name in columns}
        places, width = np.array(sorted(known), np.int64), max(len(columns), width)
        values = np.array([known[j] for j in places.tolist()], np.float64)
    else:
        places, values = engine.Stream.hashed(features, columns)
        width = 1 << columns
    return as_table(sp.csr_array((values, places, [0, len(places)]), shape=(1, width)))
