"""Examples as dicts of names and numbers: learn_one, learn_many, predict_one, predict_many.

Invariant: this file holds no learning. `Stream` owns names, labels and weights; learners without streams learn an
example as a row of a table. Names outlive a stream: they go back into the learner when it is closed.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import label_values, merge_classes, places_in, sorted_classes
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.base import Learner
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.learned import Learned, Lock
from rosenblatt.learners.stopping import History
from rosenblatt.learners.stream import Columns, Stream, row_table
from rosenblatt.learners.targets import check_online, check_weight, weight_of_class
from rosenblatt.learners.weights import LINEAR, SAFE, seed_of, states_over
from rosenblatt.models.predictions import Predictions
from rosenblatt.params import Params

_BEGINNING = Lock()  # for the first example of a learner, which has no lock yet


class DictLearner(Learner):
    """A learner of weights whose features may come by name, and new ones at any time."""

    class_weight: Any = None  # unless the params have it

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Learn from one example.

        Parameters
        ----------
        features : dict
            Names and numbers; a feature that is not there is 0, one that was never seen gets a weight of its own.
            After a fit on an array without column names, the names are the column numbers.
        label
            Any label; a new one is taken as it comes.
        weight : float, default=1.0
            Scales the step, as a sample weight does.

        With a penalty, or with ``keep="vote"``, an example costs as much as a call of `partial_fit`.

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
        if weight != 1.0 or self.class_weight is not None:
            weight = self._weight_of(features, label, weight)
            if weight == 0:
                return self
        learned = self._learned
        if learned is not None and (stream := learned.lock.stream) is not None:
            one = stream.engine
            if one is not None and one.learn(features, label, weight):
                return self
        self._learn_slowly(features, label, weight)
        return self

    def learn_many(self, examples: Any, labels: Any, weights: Any = None) -> Self:
        """Learn from examples one after another: what `learn_one` does with each of them, in one call.

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
        examples, labels = list(examples), _listed(labels)
        given = None if weights is None else _listed(weights)
        self._check_many(examples, labels, given)
        if given is not None or self.class_weight is not None:
            raw = [1.0] * len(examples) if given is None else given
            given = [self._weight_of(*each) for each in zip(examples, labels, raw, strict=True)]
        at = 0
        while at < len(examples):
            stream = None if self._learned is None else self._learned.stream
            if stream is not None and stream.engine is not None:
                at = stream.engine.learn_many(examples, labels, at, given)
            if at < len(examples):
                weight = 1.0 if given is None else given[at]
                if weight > 0:
                    self._learn_slowly(examples[at], labels[at], weight)
                at += 1
        return self

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example; features that were never seen count for nothing.

        After a fit with several labels per row, a list of 0 and 1, as a row of `predict`.
        """
        learned = self._learned or self.learned  # once: a new class that comes meanwhile has its own
        if (one := self._predicting(learned)) is not None:
            return one.predict(features)
        scores = self._scores_of(learned, features)[None]
        return Predictions(learned.classes, scores, learned.is_multilabel).one

    def predict_many(self, examples: Any) -> list[Any]:
        """The labels of examples, each a dict of names and numbers, as `predict_one` gives them."""
        one = self._predicting(self.learned)
        return (
            [self.predict_one(features) for features in examples] if one is None else one.predict_many(list(examples))
        )

    def scores_one(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example: one with two classes, else one per class."""
        return self._scores_of(self.learned, features)

    @property
    def n_features_in_(self) -> int:
        """How many features the learner has seen."""
        if (stream := self._stream()) is not None:
            return stream.width
        if "_n_features" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no features yet: call fit first")
        return self._n_features

    @n_features_in_.setter
    def n_features_in_(self, value: int) -> None:
        self._n_features = value

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, if they all have one."""
        if (stream := self._stream()) is not None:
            names = list(stream.names)
            if not names or not all(isinstance(name, str) for name in names):
                raise AttributeError("the features of this stream have no names")
            return np.array(names, dtype=object)
        if "_feature_names" not in vars(self):
            raise AttributeError(f"{type(self).__name__} was not fitted with feature names")
        return self._feature_names

    @feature_names_in_.setter
    def feature_names_in_(self, value: NDArray[Any]) -> None:
        self._feature_names = value

    @feature_names_in_.deleter
    def feature_names_in_(self) -> None:
        if "_feature_names" not in vars(self) and self._stream() is None:
            raise AttributeError("feature_names_in_")
        self.__dict__.pop("_feature_names", None)  # those of a stream go with it

    def feature_columns(self) -> Columns:
        """The column of each feature, by its name, or the bits of its hash."""
        bits = self.learned.told.get("hash_bits")
        return bits if bits and self.n_features_in_ == 1 << bits else self.columns_by_name()

    def columns_by_name(self) -> dict[Any, int]:
        """The column of each feature, by its name, or by its number if there are no names."""
        if (stream := self._stream()) is not None:
            return stream.names
        bits = getattr(self.params(), "hash_bits", None)
        return {} if bits and self.n_features_in_ == 1 << bits else columns_of(self)

    def close_stream(self) -> None:
        """The stream's weights and names go back into the learner."""
        if self._stream() is not None:
            with Hearing():
                self._close_now(self.learned)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in _param_names(cast(Any, type(self))) and (learned := self._learned) is not None:
            with learned.lock:  # what is learned next is learned by the new parameter
                self.close_stream()

    def _close_now(self, learned: Learned) -> None:
        stream = learned.stream
        assert stream is not None
        stream.close()
        names, mistakes_updates = getattr(self, "feature_names_in_", None), stream.unrecorded()
        learned.states = stream.states()
        self._n_features = stream.width
        self.__dict__.pop("_feature_names", None)
        self.__dict__.pop("_stream_names", None)
        if names is not None:
            self._feature_names = names
        elif found := stream.names:  # numbers of columns among names: no names for scikit-learn, and names for dicts
            self._stream_names = found
        learned.stream = None
        if any(mistakes_updates):
            self.history_.append(*mistakes_updates)

    def _unrecorded(self) -> tuple[int, int]:
        stream = self._stream()
        return (0, 0) if stream is None else stream.unrecorded()

    def _stream(self) -> Stream | None:
        return None if self._learned is None else self._learned.stream

    def _predicting(self, learned: Learned) -> engine.Stream | None:
        if (stream := learned.stream) is not None:
            return stream.engine
        return None if learned.is_multilabel else learned.reading().stream_of(self.feature_columns)

    def _scores_of(self, learned: Learned, features: dict[Any, float]) -> NDArray[np.float64]:
        if (stream := learned.stream) is not None:
            if stream.engine is not None:
                return stream.scores(features)
            with learned.lock:
                return stream.scores(features)
        return learned.reading().score_one(features, self.feature_columns)

    def _weight_of(self, features: dict[Any, float], label: Any, weight: float) -> float:
        """The weight of an example, its class's included."""
        engine.Stream.check(features)
        params: Params = self.params()
        check_online(params)
        weight = check_weight(weight) * weight_of_class(params.class_weight, label)
        largest = max((abs(float(number)) for number in features.values()), default=0.0)
        if weight * largest * max(params.update_rule.eta0, params.update_rule.C) > SAFE[8]:
            raise DataError(f"weight={weight!r}: the weights would overflow; scale the features or the weight")
        return weight

    def _learn_slowly(self, features: dict[Any, float], label: Any, weight: float) -> None:
        """Learn an example that begins a stream, brings a new label, or is learned as a table."""
        engine.Stream.check(features)
        params: Params = self.params()
        params.check()
        check_online(params)
        while True:
            learned = self._learned
            with _BEGINNING if learned is None else learned.lock, Hearing():
                if self._learned is not learned:
                    continue  # another thread has begun one
                if learned is not None:
                    learned.lock.pause(False)  # it is this thread that learns
                if learned is not None and learned.stream is not None and learned.stream.learn(features, label, weight):
                    learned.changed()
                else:
                    self._begin_stream(params, features, label, weight)
                return

    def _begin_stream(self, params: Params, features: dict[Any, float], label: Any, weight: float) -> None:
        """On copies, so that a reader beside it sees what was learned before or after it."""
        classes, names, history = self._classes_of(label), {}, History()
        if self.has_learned:
            learned = self.learned
            if learned.is_multilabel:
                raise LabelError("learn_one has one label, and the rows before had several: use partial_fit")
            learned.check_told(params.shape())
            classes = merge_classes(learned.classes, classes)
            params.check_classes(len(classes))
            self._check_hashed(params)
            if self._add_class(learned, label, classes):
                assert learned.stream is not None
                learned.stream.learn(features, label, weight)
                return
            names, history = dict(self.columns_by_name()), self.history_
            states = [s.copy() for s in states_over(learned.states, learned.classes, classes, params)]
            if (stream := learned.stream) is not None:  # it goes on predicting for those who hold it
                stream.close()
                history = history.followed_by(History())
                if any(counts := stream.unrecorded()):
                    history.append(*counts)
        else:
            states = LINEAR.new_states(params, None, classes, engine.seed_generator(seed_of(params.random_state)))  # type: ignore[arg-type]
        begun = Learned(classes, states, LINEAR.make_predictors, params.shape())
        target = label if params.is_regression else self._known(classes, label)
        begun.begin_stream(names, params).learn(features, target, weight)
        self.history_ = history
        self.learned = begun
        self.n_iter_, self.converged_, self.stop_reason_ = 1, False, "learn_one"

    def _add_class(self, learned: Learned, label: Any, classes: NDArray[Any]) -> bool:
        """Add a class to the stream that is under way; False, and nothing done, if it needs other states."""
        stream = learned.stream
        if stream is None or len(classes) == len(learned.classes):
            return False
        counts = stream.unrecorded()
        if not stream.add_class(classes, int(places_in(classes, self._classes_of(label))[0])):
            return False
        learned.set_classes(classes)
        learned.changed()
        self.classes_ = classes
        stream.recorded(*counts)  # what came before the new class is an entry of the history
        if any(counts):
            self.history_.append(*counts)
        return True

    def _known(self, classes: NDArray[Any], label: Any) -> Any:
        """The label as the classes have it."""
        return label_values(classes)[int(places_in(classes, self._classes_of(label))[0])]

    def _check_hashed(self, params: Params) -> None:
        """Raise if hashed features cannot go on from the columns that were learned."""
        bits = getattr(params, "hash_bits", None)
        if bits and self.n_features_in_ != 1 << bits:
            raise DataError(
                f"hash_bits={bits} makes {1 << bits:,} columns of an example, but {self.n_features_in_} were learned: "
                "learn from dicts alone, or from rows of as many columns"
            )

    def _classes_of(self, label: Any) -> NDArray[Any]:
        """The classes of one label."""
        return sorted_classes([label])

    def _check_many(self, examples: list[Any], labels: list[Any], weights: list[Any] | None) -> None:
        """Raise if one of the examples could not be learned, before any is."""
        params: Params = self.params()
        params.check()
        check_online(params)
        if len(examples) != len(labels) or (weights is not None and len(weights) != len(examples)):
            raise DataError(
                f"there are {len(examples)} examples, but {len(labels)} labels or another number of weights"
            )
        engine.Stream.check_many(examples)
        if params.is_regression and labels:
            self.labels_of(labels)
        elif labels:
            classes = self.learned.classes if self.has_learned else self._classes_of(labels[0])
            known = set(label_values(classes))
            for label in labels:
                if not isinstance(label, Hashable) or label not in known:
                    classes = merge_classes(classes, self._classes_of(label))
                    known.add(label)
            params.check_classes(len(classes))


class OneByOne(Learner):
    """A learner of tables that takes dicts; features that come later get a column of their own.

    `learn_one` does what `partial_fit` does with the same row, and costs as much.
    """

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Learn from one example, as `partial_fit` does from its row.

        Parameters
        ----------
        features : dict
            Names and numbers; a feature that is not there is 0, one that was never seen gets a column of its own.
            After a fit on an array without column names, the names are the column numbers.
        label
            Any label; a new one is taken as it comes.
        weight : float, default=1.0
            Scales the step, as a sample weight does.

        Returns
        -------
        self
        """
        engine.Stream.check(features)
        self.labels_of([label])
        if check_weight(weight) == 0:
            return self
        before, states = dict(vars(self)), list(self.learned.states) if self.has_learned else []
        names = dict(self.columns_by_name()) if self.has_learned else {}
        for name in features:
            names.setdefault(name, len(names))
        try:
            self._take_columns(names)
            weights = None if weight == 1.0 else [weight]
            self._go_on(row_table(features, names).values, [label], None, weights, named=False)
        except KeyboardInterrupt:
            raise
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            if states:
                self.learned.states[:] = states
                self.learned.changed()
            raise
        return self

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example; features that were never seen count for nothing.

        After a fit with several labels per row, a list of 0 and 1, as a row of `predict`.
        """
        reading = self.learned.reading()
        return reading.predictions(reading.score_one(features, self.columns_by_name)[None]).one

    def scores_one(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example: one with two classes, else one per class."""
        return self.learned.reading().score_one(features, self.columns_by_name)

    def columns_by_name(self) -> dict[Any, int]:
        """The column of each feature, by its name, or by its number if there are no names."""
        return columns_of(self)

    def feature_columns(self) -> Columns:
        """Where a feature of an example is: here always by its name."""
        return self.columns_by_name()

    def _take_columns(self, names: dict[Any, int]) -> None:
        """From now on these are the columns; the first of them are those that were known."""
        width = max(len(names), 1)
        known = getattr(self, "n_features_in_", None)
        self._stream_names = names
        if known == width:
            return
        if known is not None and self.has_learned:
            self._widen(width)
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)

    def _widen(self, width: int) -> None:
        """Give the support rows more columns, which are 0."""
        raise NotImplementedError


@cache
def _param_names(learner: Any) -> frozenset[str]:
    return frozenset(learner._get_param_names())


def _listed(values: Any) -> list[Any]:
    """Labels or weights in Python's types, as a list."""
    found = values.tolist() if hasattr(values, "tolist") else values
    return list(found)


def columns_of(learner: Any) -> dict[Any, int]:
    """The column of each feature that a learner has seen, by its name, or by its number if there are no names."""
    own = vars(learner).get("_stream_names")
    if own is not None and len(own) == learner.n_features_in_:
        found: dict[Any, int] = own
        return found
    names = getattr(learner, "feature_names_in_", None)
    return {name: at for at, name in enumerate(range(learner.n_features_in_) if names is None else names)}


def known_row(learner: Any, features: dict[Any, float]) -> NDArray[np.float64]:
    """One example as a dense row over the columns that were fitted; a feature beyond them raises."""
    engine.Stream.check(features)
    names = columns_of(learner)
    row = np.zeros((1, learner.n_features_in_))
    for name, value in features.items():
        if name not in names:
            raise DataError(f"feature {name!r} is not among the columns that {type(learner).__name__} was fitted on")
        row[0, names[name]] = value
    return row
