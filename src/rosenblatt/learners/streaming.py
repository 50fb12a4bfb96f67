"""Examples as dicts of names and numbers: learn_one, learn_many, predict_one, predict_many.

Invariant: an example that raises changes nothing, and `learn_one` does the arithmetic of `partial_fit` on the same row.
While examples come as dicts, `engine.Stream` owns names, labels and weights, and `states` copies them when somebody
asks. Learners that the engine has no stream for (kernels, votes, penalties) learn an example as a table of one row.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # without the enums of `signal`, which cost 10 us per call
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, label_values, places_in
from rosenblatt.data.table import Table, example_table
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.stopping import Counters, History
from rosenblatt.learners.weights import SAFE, WeightState, engine_rule, states_over
from rosenblatt.models.predictions import Predictions
from rosenblatt.models.predictors import Linear, Predictor
from rosenblatt.params import LinearParams, Params, PassiveAggressiveRegressionParams, PerceptronParams, weight_of_class

Names = dict[Any, int] | None  # the column of each name; None: columns have numbers
Columns = Names | int  # or the bits of the hash of each name


@dataclass(frozen=True)
class ModelSnapshot:
    """Predictors and their classes; immutable, later learning does not change it."""

    classes: NDArray[Any]  # none for a regression
    predictors: tuple[Predictor, ...]  # their scores stand side by side
    features: int  # the number of columns
    columns: Columns = None
    is_multilabel: bool = False
    calibration: Any = None  # from scores to probabilities

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # nothing that is cached

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K)."""
        return np.hstack([each.scores(table, index) for each in self.predictors])

    def predictions(self, scores: NDArray[np.float64]) -> Predictions:
        """The predictions for scores of shape (rows, K)."""
        return Predictions(self.classes, scores, self.is_multilabel, self.calibration)

    def stream(self, examples: int = 1) -> engine.Stream | None:
        """Predicts so many examples as dicts; None unless one weight vector per class does.

        Making it takes as long as the scores of an example for each hundred columns or so: None until so many came.
        """
        if "_stream" not in vars(self):
            asked = vars(self)["_asked"] = vars(self).get("_asked", 0) + examples
            if self._linear is None or 100 * asked < self.features:
                return None
        return self._stream

    def scores_one(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example."""
        if (stream := self.stream()) is not None:
            return stream.scores(features)
        if (linear := self._linear) is None:
            return self.scores(example_table([features], self.names, self.features, self._bits))[0]
        if self._bits:
            at, values = engine.Stream.hashed(features, self._bits)
        else:
            engine.Stream.check(features)
            known = {self.names[name]: value for name, value in dict.items(features) if name in self.names}
            at, values = np.array([*known], np.int64), np.array([*known.values()], np.float64)
        # Added one after another, as a stream does: the same bits.
        terms = np.column_stack([np.zeros(linear.width), linear.weights[:, at].astype(np.float64) * values])
        total: NDArray[np.float64] = np.add.accumulate(terms, axis=1)[:, -1] + linear.intercept
        return total

    @cached_property
    def names(self) -> dict[Any, int]:
        """The column of each name, or of each number if there are no names; empty for hashed names."""
        return columns_by_name(self.columns, self.features)

    @property
    def _bits(self) -> int:
        return self.columns if isinstance(self.columns, int) else 0

    @property
    def _linear(self) -> Linear | None:
        """The weights, if there is one vector of them per class."""
        first = self.predictors[0]
        usable = isinstance(first, Linear) and len(self.classes) != 1 and not self.is_multilabel
        return first if usable else None  # type: ignore[return-value]

    @cached_property
    def _stream(self) -> engine.Stream:
        linear: Any = self._linear
        weights, generator = np.asfortranarray(linear.weights, np.float64), engine.seed_generator(0)
        kind = PerceptronParams if len(self.classes) else PassiveAggressiveRegressionParams
        params = kind(hash_bits=self._bits or None)
        state = WeightState.of(params, weights, linear.intercept, generator)
        return engine_stream([state], self.classes, self.names, params)


def columns_by_name(columns: Columns, features: int) -> dict[Any, int]:
    """The column of each name, or of each number if there are no names; empty for hashed names."""
    if columns is None:
        return {column: column for column in range(features)}
    return columns if isinstance(columns, dict) else {}


def engine_stream(
    states: list[WeightState], classes: NDArray[Any], names: dict[Any, int], params: Params
) -> engine.Stream:
    """A stream that owns copies of the states; its weights lie feature after feature."""
    arrays = []
    for state in states:
        wide = {array.name: np.asarray(state.arrays[array.name], np.float64) for array in state.matrices}
        arrays.append(state.arrays | {name: values.ravel(order="F") for name, values in wide.items()})
    return engine.Stream(
        arrays,
        names,
        label_values(classes),
        engine_rule(params.update_rule),
        keep=params.keep,
        fit_intercept=bool(params.fit_intercept),
        tie_positive=params.tie == "positive",
        epsilon=float(params.epsilon) if params.is_regression else None,  # type: ignore[attr-defined]
        hash_bits=int(params.hash_bits or 0),
    )


@contextmanager
def deferred_interrupt() -> Iterator[NDArray[np.uint8]]:
    """Ctrl-C calls its handler at once; an exception of the handler is raised at the end of the block.

    Yields a flag that is set then, by which the engine stops at the next row. Signals reach the main thread only.
    """
    cancel, raised = np.zeros(1, np.uint8), list[BaseException]()
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield cancel
        return

    def handle(*received: Any) -> None:
        try:
            handler(*received)
        except BaseException as error:
            raised.append(error)
            cancel[0] = 1

    signal.signal(signal.SIGINT, handle)
    try:
        yield cancel
    finally:
        signal.signal(signal.SIGINT, handler)
        if raised:
            raise raised[0]


@dataclass
class Fitted:
    """The fitted state of a learner, replaced as a whole, so that readers never see half of a change."""

    states: list[Any]  # one per problem; while there is a stream, as they began
    classes: NDArray[Any]
    shape: dict[str, Any]  # parameters that cannot change while the states learn on
    features: int = 0
    names: Names = None
    history: History = field(default_factory=History)
    n_iter: int = 1
    stop_reason: str = "learn_one"
    is_multilabel: bool = False  # can a row have several labels, a state for each?
    unit: float = 1.0  # of a regression's targets
    stream: engine.Stream | None = None  # owns the state while examples come as dicts
    cached: tuple[int, ModelSnapshot | None] = field(default=(0, None), init=False)  # the latest, and its version
    named: tuple[int, NDArray[Any] | None] = field(default=(-1, None), init=False)  # names of so many columns

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.features if self.stream is None else self.stream.features

    @property
    def column_names(self) -> Names:
        """The column of each name; None if columns have numbers."""
        return self.names if self.stream is None else self.stream.names or None

    @property
    def columns(self) -> Columns:
        """The column of each name, or the bits of its hash."""
        bits = self.shape.get("hash_bits")
        return bits if bits and self.width == 1 << bits else self.column_names

    @property
    def feature_names(self) -> NDArray[Any] | None:
        """The names of the columns, if all are texts; made once per new column, since scikit-learn asks often."""
        if self.named[0] != (width := self.width):
            names = list(self.column_names or ())[:width]
            are_texts = bool(names) and all(isinstance(name, str) for name in names)
            self.named = width, np.array(names, dtype=object) if are_texts else None
        return self.named[1]

    @property
    def whole_history(self) -> History:
        """The history, with the counts of the stream in its last entry."""
        if self.stream is None:
            return self.history
        before, (mistakes, updates) = Counters.of(*self.states), self.stream.counts
        history = self.history.followed_by(History())
        history.mistakes[-1] += mistakes - before.mistakes
        history.updates[-1] += updates - before.updates
        return history

    @property
    def version(self) -> int:
        """Rises when the stream learns."""
        return -1 if self.stream is None else int(self.stream.seen)

    @property
    def latest(self) -> ModelSnapshot | None:
        """The snapshot that is cached, if it is up to date."""
        version, snapshot = self.cached
        return snapshot if version == self.version else None

    def snapshot(self, *, is_regression: bool) -> ModelSnapshot:
        """A new snapshot, cached until the stream learns."""
        version, now = self.version, self.without_stream()
        classes, predictors = np.empty(0) if is_regression else now.classes, now.states[0].predictors_of(now.states)
        found = ModelSnapshot(classes, predictors, now.features, now.columns, now.is_multilabel)
        self.cached = version, found
        return found

    def without_stream(self) -> Fitted:
        """The same with the state and the counts of the stream merged in, and without the stream."""
        if self.stream is None:
            return self
        states = stream_states(self.states, self.stream)
        features, names = states[0].features, self.stream.names  # a copy
        if len(names) > features:  # learned meanwhile
            names = {name: column for name, column in names.items() if column < features}
        history = self.whole_history
        return replace(self, states=states, features=features, names=names or None, history=history, stream=None)


class StreamingMixin:
    """Learns and predicts examples as dicts; features and labels may be new at any time."""

    class_weight: Any = None  # unless the params have it
    _fitted: Fitted = Fitted([], np.empty(0), {})

    @staticmethod
    def _learn(features: dict[Any, float], label: Any) -> bool:
        """Learn an example whose weight is 1, if its label is known: that of the stream, once there is one."""
        return False

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Learn from one example.

        Parameters
        ----------
        features : dict
            Names and numbers. A missing feature is 0; a new feature gets a new weight.
            A number is a name too: after a fit on an array, its columns are named 0, 1, 2, ...
        label
            Any label, known or new.
        weight : float, default=1.0
            Scales the step, as a sample weight does.

        With a kernel, a penalty or ``keep="vote"``, an example costs as much as a call of `partial_fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> learner = Perceptron()
        >>> for words, label in [({"free": 1, "win": 1}, "spam"), ({"lunch": 1}, "ham"), ({"win": 1}, "spam")]:
        ...     _ = learner.learn_one(words, label)
        >>> learner.predict_one({"win": 1, "tomorrow": 1})
        'spam'
        """
        try:
            learned = weight == 1.0 and self._learn(features, label)
        except TypeError:  # of a label that is a list, say, which `_learn_slowly` names
            learned = False
        if not learned:
            self._learn_slowly(features, label, weight)
        return self

    def learn_many(self, examples: Any, labels: Any, weights: Any = None) -> Self:
        """Learn from examples one after another, as `learn_one` does, in one call.

        Parameters
        ----------
        examples : sequence of dict
            Names and numbers, as for `learn_one`.
        labels : sequence
            The label of each.
        weights : sequence of float, default=None
            Scales the steps, as sample weights do.

        Returns
        -------
        self

        Notes
        -----
        All examples and labels are checked first: if one is bad, nothing is learned from the others either.

        Examples
        --------
        >>> from rosenblatt import Perceptron
        >>> words = [{"free": 1, "win": 2}, {"lunch": 1, "at": 1}, {"free": 1, "win": 1}]
        >>> learner = Perceptron().learn_many(words, ["spam", "ham", "spam"])
        >>> learner.predict_many([{"win": 1}, {"lunch": 1}])
        ['spam', 'ham']
        """
        if hasattr(examples, "shape"):
            raise DataError("learn_many needs a list of dicts: pass a frame or an array to partial_fit")
        examples, labels = list(examples), _listed(labels)
        given = [1.0] * len(examples) if weights is None else _listed(weights)
        self._check_many(examples, labels, given)
        sizes = None
        if weights is not None or self.class_weight is not None:
            sizes = [self._weight_of(*each) for each in zip(examples, labels, given, strict=True)]
        at = 0
        while at < len(examples):
            if (stream := self._fitted.stream) is not None:
                at = stream.learn_many(examples, labels, at, sizes)
            if at < len(examples):
                self._learn_slowly(examples[at], labels[at], given[at])
                at += 1
        return self

    def predict_one(self: Any, features: dict[Any, float]) -> Any:
        """The label of one example; unknown features are ignored.

        After a fit with several labels per row, a list of 0 and 1, as a row of `predict`.
        """
        stream = self._fitted.stream or self.snapshot().stream()
        if stream is not None:
            return stream.predict(features)
        snapshot = self.snapshot()
        return snapshot.predictions(snapshot.scores_one(features)[None]).one

    def predict_many(self: Any, examples: Any) -> list[Any]:
        """The label of each example, as by `predict_one`."""
        examples = list(examples)
        stream = self._fitted.stream or self.snapshot().stream(len(examples))
        if stream is None or self.params().is_regression:
            return [self.predict_one(features) for features in examples]
        found: list[Any] = stream.predict_many(examples)
        return found

    def scores_one(self: Any, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example: one with two classes, else one per class."""
        stream = self._fitted.stream
        found: NDArray[np.float64] = self.snapshot().scores_one(features) if stream is None else stream.scores(features)
        return found

    def columns_by_name(self: Any) -> dict[Any, int]:
        """The column of each name, or of each number if there are no names; empty for hashed names."""
        return columns_by_name(self._fitted.columns, self._fitted.width)

    @property
    def column_names(self) -> Names:
        """The column of each name; None if the columns have no names."""
        return self._fitted.column_names

    def close_stream(self: Any) -> None:
        """Copy the state of the engine's stream into the learner, as an entry of the history."""
        with self.lock:
            if self._fitted.stream is not None:
                self._fitted.stream.close()
                self._fitted = self._fitted.without_stream()
                vars(self).pop("_learn", None)

    def _learn_slowly(self: Any, features: dict[Any, float], label: Any, weight: float) -> None:
        """Learn an example with a weight, or one that opens a stream, brings a new label, or is learned as a table."""
        with self.lock:
            check_one_label(label)
            size = self._weight_of(features, label, weight)
            features = {name: float(number) for name, number in dict.items(features)}  # may run code of the caller
            stream = self._fitted.stream
            if weight == 0 or (stream is not None and stream.learn(features, label, size)):
                return
            params, labels = self.params(), self.labels_of([label])
            if self.is_multilabel:
                raise LabelError("learn_one takes one label, but earlier rows had several: use partial_fit")
            self._check_shape(params)
            bits = params.hash_bits
            if bits and self.has_learned and self.n_features_in_ != 1 << bits:
                raise DataError(
                    f"hash_bits={bits} makes {1 << bits:,} columns of an example, but {self.n_features_in_} were "
                    "learned: learn from dicts alone, or from rows of as many columns"
                )
            classes = self._merged(labels.classes)
            params.check_classes(len(classes))
            # The engine has no stream for votes, which store rows, nor for weights with a penalty.
            if not isinstance(params, LinearParams) or params.keep == "vote" or params.update_rule.shrinks:
                self._learn_row(params, labels, features, weight)
                return
            place = int(places_in(classes, labels.classes)[0])
            if not params.is_regression:
                label = label_values(classes[place : place + 1])[0]  # in the type of the classes
            with deferred_interrupt():  # readers see the state before or after
                if self._learn_in_stream(params, classes, place, features, label, size):
                    return
                fitted = self._with_stream(params, classes)
                fitted.stream.learn(features, label, size)
                self._fitted = fitted
                if self.class_weight is None:
                    self._learn = fitted.stream.learn

    def _with_stream(self: Any, params: Params, classes: NDArray[Any]) -> Fitted:
        """The fitted state over these classes, with a stream that continues from it."""
        fitted: Fitted = self._over(params, classes)
        names, bits, history = self.columns_by_name(), int(params.hash_bits or 0), fitted.history
        width = 1 << bits if bits else max(len(names), fitted.states[0].features)
        states = [state if state.features == width else state.with_features(width) for state in fitted.states]
        stream = engine_stream(states, classes, names, params)
        if fitted.stop_reason != "learn_one" or not len(history):  # else it is the same stream, continued
            history = history.followed_by(History([0], [0], [0.0]))
        return replace(fitted, states=states, stream=stream, history=history, n_iter=1, stop_reason="learn_one")

    def _learn_in_stream(
        self, params: Params, classes: NDArray[Any], place: int, features: dict[Any, float], label: Any, weight: float
    ) -> bool:
        """Learn an example in the open stream, which may gain its label; False if that needs a new stream."""
        fitted, known = self._fitted, self._fitted.classes
        kept_as_they_are = classes.dtype.kind == known.dtype.kind and classes.dtype.kind not in "mM"
        if fitted.stream is None or not 2 < len(known) < len(classes) or not kept_as_they_are:
            return False
        one_vs_rest = params.is_ovr(len(classes))
        states = states_over(fitted.states, known, classes, params) if one_vs_rest else fitted.states
        learned: bool = fitted.stream.learn_new(features, label, weight, place)
        if learned:
            self._fitted = replace(fitted, states=states, classes=classes)
        return learned

    def _learn_row(self: Any, params: Params, labels: Labels, features: dict[Any, float], weight: float) -> None:
        """Learn an example as a table of one row; names that are new get the next columns."""
        bits, names = params.hash_bits or 0, self.columns_by_name()
        if new := [] if bits else [name for name in features if name not in names]:
            names = names | {name: len(names) + at for at, name in enumerate(new)}
        table = example_table([features], names, 1 << bits if bits else max(len(names), 1), bits)
        self._learn_rows(params, table, labels, np.array([weight]), names=None if bits else names)

    def _weight_of(self: Any, features: dict[Any, float], label: Any, weight: float) -> float:
        """The weight of an example, its class's included."""
        engine.Stream.check(features)
        params: Params = self.params()
        params.check_online()
        try:
            is_usable = bool(np.isfinite(weight) and weight >= 0)
        except (TypeError, ValueError):
            is_usable = False
        if not is_usable:
            raise DataError(f"weight={weight!r}: must be finite and at least 0")
        weight = float(weight) * weight_of_class(params.class_weight, label)
        largest = max((abs(float(number)) for number in dict.values(features)), default=0.0)
        if weight * largest * max(params.update_rule.eta0, params.update_rule.C) > SAFE[8]:
            raise DataError(f"weight={weight!r}: the weights would overflow; scale the features or the weight")
        return weight

    def _check_many(self: Any, examples: list[Any], labels: list[Any], weights: list[Any]) -> None:
        """Raise if one of the examples could not be learned, before any is."""
        params: Params = self.params()
        params.check_online()
        if not len(examples) == len(labels) == len(weights):
            raise DataError(f"there are {len(examples)} examples, {len(labels)} labels and {len(weights)} weights")
        for example in examples:
            engine.Stream.check(example)
        for label in labels:
            check_one_label(label)
        if labels:
            different = labels if params.is_regression else list(dict.fromkeys(labels))
            params.check_classes(len(self._merged(self.labels_of(different).classes)))


def stream_states(states: list[WeightState], stream: engine.Stream) -> list[WeightState]:
    """The states of the start of a stream, with copies of its current arrays."""
    found = []
    for state, arrays in zip(states, stream.snapshot(), strict=True):
        rows = len(arrays["intercept"])  # weights of a stream lie feature after feature
        wide = {array.name: arrays[array.name].reshape(-1, rows).T for array in state.matrices}
        found.append(replace(state, arrays={**state.arrays, **arrays, **wide}))
    return found


def check_one_label(label: Any) -> None:
    """Raise for several labels, as one row may have in `partial_fit`."""
    if isinstance(label, list | tuple | set | dict | np.ndarray):
        raise LabelError(f"learn_one takes one label, not {label!r}: use partial_fit for several per row")


def known_row(learner: Any, features: dict[Any, float]) -> NDArray[np.float64]:
    """One example as a dense row over the columns that were fitted; a feature beyond them raises."""
    engine.Stream.check(features)
    count = learner.n_features_in_
    names, row = columns_by_name(columns_of(learner), count), np.zeros((1, count))
    for name, value in dict.items(features):
        if name not in names:
            raise DataError(f"feature {name!r} is not among the columns that {type(learner).__name__} was fitted on")
        row[0, names[name]] = value
    return row


def columns_of(estimator: Any) -> Names:
    """The column of each feature of a fitted estimator by its name, if there are names."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else {name: at for at, name in enumerate(names)}


def _listed(values: Any) -> list[Any]:
    """Labels or weights in Python's types, as a list."""
    return list(values.tolist() if hasattr(values, "tolist") else values)
