"""Examples as dicts of names and numbers, one at a time or many, for learners of weights.

Invariant: this file holds no learning. `Stream` reads dicts, and states learn.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import label_values, merge_classes, places_in, sorted_classes
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.epochs.stopping import History
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.named import NamedLearner
from rosenblatt.learners.spaces import LINEAR, SAFE, seed_of
from rosenblatt.learners.state.classes import states_over
from rosenblatt.learners.targets import check_online, check_weight, weight_of_class
from rosenblatt.params import Params

_BEGINNING = engine.Lock()  # for the first example of a learner, which has no lock yet


class DictLearner(NamedLearner):
    """A learner whose features may come by name, and new ones at any time."""

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
        if learned is not None:
            stream = learned.stream
            if stream is not None and (one := stream.engine) is not None and one.learn(features, label, weight):
                return self
            if learned.learn_one(features, label, weight):
                return self
        self._begin_stream(features, label, weight)
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
        All examples and labels are looked at first: if one is bad, nothing is learned from the others either.

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
        raw = [1.0] * len(examples) if given is None else given
        if given is not None or self.class_weight is not None:
            given = [self._weight_of(*each) for each in zip(examples, labels, raw, strict=True)]
        at = 0
        while at < len(examples):
            end = self._learned.learn_many(examples, labels, given, at) if self._learned is not None else at
            if end < len(examples):
                self.learn_one(examples[end], labels[end], raw[end])
            at = end + 1
        return self

    def scores_one(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example: one with two classes, else one per class."""
        return self._scores_of(self.learned, features)

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

    def _scores_of(self, learned: Learned, features: dict[Any, float]) -> NDArray[np.float64]:
        if (stream := learned.stream) is not None:
            if stream.engine is not None:
                return stream.scores(features)
            with learned.lock:
                return stream.scores(features)
        return learned.reading().score_one(features, self.feature_columns)

    def _begin_stream(self, features: dict[Any, float], label: Any, weight: float) -> None:
        """Learn an example, and go on as a stream from what was learned, with its label among the classes."""
        engine.Stream.check(features)
        params: Params = self.params()
        params.check()
        check_online(params)
        learned = self._learned
        with _BEGINNING if learned is None else learned.lock, Hearing():
            was_first = self._learned is learned
            if was_first and (learned is None or not learned.learn_one(features, label, weight)):
                self._begin_now(params, features, label, weight)
        if not was_first:  # another thread has begun one
            self.learn_one(features, label, weight)

    def _begin_now(self, params: Params, features: dict[Any, float], label: Any, weight: float) -> None:
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
            if self._learn_new(learned, features, label, classes, weight):
                return
            names = dict(self.columns_by_name())
            self.close_stream()
            history = self.history_
            states = [s.copy() for s in states_over(learned.states, learned.classes, classes, params)]
        else:
            states = LINEAR.new_states(params, None, classes, engine.seed_generator(seed_of(params.random_state)))  # type: ignore[arg-type]
        begun = Learned(classes, states, LINEAR.make_predictors, params.shape())
        stream = begun.begin_stream(names, params)
        stream.learn(features, stream.known(label), weight)
        self.history_ = history
        self.learned = begun
        self.n_iter_, self.converged_, self.stop_reason_ = 1, False, "learn_one"

    def _learn_new(
        self, learned: Learned, features: dict[Any, float], label: Any, classes: NDArray[Any], weight: float
    ) -> bool:
        """Learn an example of a new class in the stream that is under way; False, and nothing done, if it cannot."""
        stream = learned.stream
        if stream is None or len(classes) == len(learned.classes):
            return False
        place, counts = int(places_in(classes, self._classes_of(label))[0]), stream.unrecorded()
        try:
            return learned.learn_new(features, classes, place, weight)
        finally:
            if learned.classes is classes:  # what came before the new class is an entry of the history
                self.classes_ = classes
                stream.recorded(*counts)
                if any(counts):
                    self.history_.append(*counts)

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
            params.check_classes(len(self._classes_with(labels)))

    def _classes_with(self, labels: list[Any]) -> NDArray[Any]:
        """The classes once these labels have come, one after another, each of which must be one."""
        classes = self.learned.classes if self.has_learned else self._classes_of(labels[0])
        known = set(label_values(classes))
        for label in labels:
            if not isinstance(label, Hashable) or label not in known:
                classes = merge_classes(classes, self._classes_of(label))
                known.add(label)
        return classes


def _listed(values: Any) -> list[Any]:
    """Labels or weights in Python's types, as a list."""
    found = values.tolist() if hasattr(values, "tolist") else values
    return list(found)
