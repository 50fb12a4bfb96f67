"""A stream: examples one by one, as dicts of feature names and numbers, with features that come as they come.

Invariant: an example that raises changes nothing. `learn` on dicts and `partial_fit` on the same rows do the same
arithmetic on the same states.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers, label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.state.arrays import COUNTERS, matrices
from rosenblatt.learners.state.state import State, engine_rule
from rosenblatt.learners.targets import targets_of
from rosenblatt.models.predictors import Linear
from rosenblatt.params import Params, PassiveAggressiveRegressionParams, Rule

FIRST_CAPACITY = 64
Columns = dict[Any, int] | int  # the column of each name, or the bits of its hash


class Stream:
    """The names of the features so far, and the engine's side of the states.

    Parameters
    ----------
    states : list of State
        Changed in place; the stream gives them room for features to come.
    classes : array
        The labels that are known.
    names : dict
        The column of each feature; new ones are added.
    params : Params
        How to learn.
    lock : engine.Lock
        Taken by the engine for every example that it learns.
    """

    def __init__(
        self, states: list[State], classes: NDArray[Any], names: dict[Any, int], params: Params, lock: engine.Lock
    ) -> None:
        self._lock = lock
        self.states, self.classes, self.names = states, classes, names
        self.rule, self.tie_positive = params.update_rule, params.tie_positive
        self.ovr = params.is_ovr(len(classes))
        self.epsilon: float | None = None  # of numbers
        if isinstance(params, PassiveAggressiveRegressionParams):
            self.epsilon = float(params.epsilon)
        self.hash_bits = int(getattr(params, "hash_bits", None) or 0)  # 0: every name has a column of its own
        self.codes = {label: code for code, label in enumerate(label_values(classes))}
        self._before = self._counted()
        self.engine: engine.Stream | None = None  # what learns and answers; None: a row has to be stored
        self._earlier = 0  # examples that engines of before have learned
        self._bind(max(FIRST_CAPACITY, len(names)))

    def learn(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> None:
        """Learn from one example, whose label is one of the classes, or a number."""
        if self.engine is None:
            with Hearing():  # an example that was learned is named, counted and stored
                self._learn_as_table(features, self._labels(label), weight)
        elif not self.engine.learn(features, label, weight):
            self._bind(2 * (len(self.names) + len(features)))
            self.engine.learn(features, label, weight)

    def learn_new(self, features: dict[Any, float], classes: NDArray[Any], place: int, weight: float) -> bool:
        """Learn from one example of a new class, which stands at this place among the classes.

        False, and nothing was learned, where that takes other states: beyond two classes, one-vs-rest only adds one.
        """
        if self.engine is None or not self.ovr or len(self.states) < 3:
            return False
        values = label_values(classes)
        codes = {label: code for code, label in enumerate(values)}
        if not self._add(features, classes, codes, place, weight):
            self._bind(2 * (len(self.names) + len(features)))
            self._add(features, classes, codes, place, weight)
        return True

    def learn_many(self, examples: list[Any], labels: list[Any], weights: list[float] | None) -> None:
        """Learn from examples one after another; all labels are among the classes, or numbers."""
        at = 0
        while at < len(examples):
            if self.engine is not None:
                at = self.engine.learn_many(examples, labels, at, weights)
            if at < len(examples):
                weight = 1.0 if weights is None else weights[at]
                if weight > 0:
                    self.learn(examples[at], labels[at], weight)
                at += 1

    def knows(self, label: Any) -> bool:
        """Can it be learned from as it is?"""
        return self.epsilon is not None or label in self.codes

    def known(self, label: Any) -> Any:
        """The label among those that the stream tells apart; a number is itself."""
        return label if self.epsilon is not None else label_values(self.classes)[self.codes[label]]

    def scores(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example; features that were never seen count for nothing."""
        if self.engine is not None:
            found: NDArray[np.float64] = self.engine.scores(features)
            return found
        engine.Stream.check(features)
        table = row_table(features, self.columns)
        return np.hstack([state.predictor().scores(table)[0] for state in self.trimmed(least=1)])

    @property
    def learned(self) -> int:
        """How many examples the engine has learned."""
        return self._earlier + (0 if self.engine is None else self.engine.learned)

    @property
    def width(self) -> int:
        """How many features there are."""
        return 1 << self.hash_bits if self.hash_bits else len(self.names)

    @property
    def columns(self) -> Columns:
        """Where each feature is."""
        return self.hash_bits or self.names

    def trimmed(self, least: int = 0) -> list[State]:
        """The states without the room kept for new features, over at least so many."""
        features = max(least, self.width)
        return [state if state.features == features else state.with_features(features) for state in self.states]

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
        """From now on nothing is learned here, though a thread may still be waiting for its turn."""
        if self.engine is not None:
            self.engine.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "engine": None, "_lock": None}

    def over(self, states: list[State], lock: engine.Lock) -> Stream:
        """This stream with copies of its states, which goes its own way."""
        made = copy(self)
        made.states, made.names, made.codes = states, dict(self.names), dict(self.codes)
        made.take_lock(lock)
        return made

    def take_lock(self, lock: engine.Lock) -> None:
        """A stream that was copied or unpickled learns by this lock."""
        self._lock = lock
        self._bind(max(FIRST_CAPACITY, len(self.names)))

    def _bind(self, capacity: int) -> None:
        """Give the states room for `capacity` features, and the engine their arrays.

        Until all is ready, the engine of before answers those who predict meanwhile.
        """
        if self.hash_bits:
            capacity = self.width
        if self.states[0].stores_rows or len(self.classes) == 1 or self.rule.shrinks:
            return  # a vote stores the row, a single class has nothing to be mistaken for
        states = [_roomy(state, capacity) for state in self.states]
        bound = engine.Stream(
            self.names,
            self.codes,
            [state.view(True) for state in states],
            engine_rule(self.rule),
            capacity=capacity,
            one_vs_rest=self.ovr,
            tie_positive=self.tie_positive,
            epsilon=self.epsilon,
            hash_bits=self.hash_bits,
            lock=self._lock,
        )
        self.close()
        self._earlier = self.learned
        self.states[:], self.engine = states, bound

    def _add(
        self, features: dict[Any, float], classes: NDArray[Any], codes: dict[Any, int], place: int, weight: float
    ) -> bool:
        """Learn from one example of a new class; False, and nothing done, if its features do not fit."""
        assert self.engine is not None
        state = _roomy(self.states[0].fresh(), self.states[0].features)
        try:
            return bool(self.engine.learn_new(codes, state.view(True), features, place, weight))
        finally:  # an interruption comes before or after the engine's call, and then the row counts
            if self.engine.count > len(self.states):
                self.states.insert(place, state)
                self.classes, self.codes = classes, codes

    def _labels(self, label: Any) -> Labels:
        if self.epsilon is not None:
            return Numbers.of([label], self.epsilon)
        return Labels(self.classes, np.array([self.codes[label]], np.int32))

    def _learn_as_table(self, features: dict[Any, float], labels: Labels, weight: float) -> None:
        engine.Stream.check(features)
        for name in () if self.hash_bits else features:
            self.names.setdefault(name, len(self.names))
        self.states[:] = self.trimmed(least=1)
        if len(self.classes) == 1:
            for state in self.states:
                state.count_as_right(1)
            return
        weights = None if weight == 1.0 else np.array([weight])
        targets = targets_of(labels, ovr=self.ovr, sample_weight=weights, tie_positive=self.tie_positive)
        table = row_table(features, self.columns)
        for state, asked in zip(self.states, targets, strict=True):
            state.learn(table, asked, self.rule)

    def _counted(self) -> tuple[int, int]:
        totals = np.sum([state.counters for state in self.states], axis=0)
        return int(totals[COUNTERS.index("mistakes")]), int(totals[COUNTERS.index("updates")])


def _roomy(state: State, features: int) -> State:
    """A copy of a state with room for so many features, as a stream reads them."""
    wider = state.with_features(features)
    for array in matrices(wider.declared):
        wider.arrays[array.name] = np.asfortranarray(wider.arrays[array.name], np.float64)
    return wider


def reading_stream(answer: Linear, classes: NDArray[Any], columns: Columns) -> engine.Stream:
    """The engine's side of weights that only answer."""
    state = State.begin(
        np.asfortranarray(answer.weights, np.float64),
        answer.intercept,
        keep="last",
        fit_intercept=True,
        generator=engine.seed_generator(0),
    )
    codes = {label: code for code, label in enumerate(label_values(classes))}
    return engine.Stream(
        columns if isinstance(columns, dict) else {},
        codes,
        [state.view(True)],
        engine_rule(Rule()),
        capacity=state.features,
        one_vs_rest=False,
        tie_positive=False,
        hash_bits=0 if isinstance(columns, dict) else columns,
    )


def row_table(features: dict[Any, float], columns: Columns) -> Table:
    """One example as a table; features without a column are left out."""
    import scipy.sparse as sp

    if isinstance(columns, dict):
        known = {columns[name]: value for name, value in features.items() if name in columns}
        places, width = np.array(sorted(known), np.int64), max(len(columns), 1)
        values = np.array([known[j] for j in places.tolist()], np.float64)
    else:
        places, values = engine.Stream.hashed(features, columns)
        width = 1 << columns
    return as_table(sp.csr_array((values, places, [0, len(places)]), shape=(1, width)))
