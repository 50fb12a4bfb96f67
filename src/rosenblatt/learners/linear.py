"""What all linear learners share: weights, a row of them per score, and streams of dicts.

Invariant: this file holds no learning. States learn; `Stream` reads dicts.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from rosenblatt import engine
from rosenblatt.data.labels import merge_classes, sorted_classes
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.base import Classifying, Learner
from rosenblatt.learners.epochs.judge import History
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.spaces import LINEAR, SAFE, Space, seed_of
from rosenblatt.learners.state.classes import states_over
from rosenblatt.learners.stream import Columns, Stream
from rosenblatt.learners.targets import check_online, check_weight, weight_of_class
from rosenblatt.models.linear import Linear, predict_codes
from rosenblatt.recipe.recipe import Recipe
from rosenblatt.recipe.rules import KEEPS


def _has_weights(learner: Any) -> bool:
    """A vote has no single weight vector."""
    keep = learner.recipe().used_keep
    return not (keep in KEEPS and KEEPS[keep].votes)


class WeightLearner(Learner):
    """A rule, a keep and the linear space, as a scikit-learn estimator."""

    space: ClassVar[Space] = LINEAR

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Learn from all rows, epoch after epoch, until a stopping rule holds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            float32 or float64 in C order, and CSR, are read where they lie; anything else is converted.
        y : array-like of shape (n_rows,)
            Two or more labels of any kind that can be sorted.
        coef_init, intercept_init : array-like, optional
            Weights to start from, as in scikit-learn; the same as ``init=(coef_init, intercept_init)``.
        sample_weight : array-like of shape (n_rows,), optional
            Scales each row's step; a row of weight 0 is as if absent.
        X_val, y_val : optional
            Your own validation rows for early stopping, instead of a part of X.

        Returns
        -------
        self
        """
        init = None if coef_init is None and intercept_init is None else (coef_init, intercept_init)
        self._fit(X, y, sample_weight, X_val, y_val, init)
        self.__dict__.pop("_sparse_coef", None)
        return self

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
        if weight != 1.0 or getattr(self, "class_weight", None) is not None:
            weight = self._weight_of(features, label, weight)
            if weight == 0:
                return self
        learned: Learned | None = vars(self).get("_learned")
        if learned is None or not learned.learn_one(features, label, weight):
            self._begin_stream(features, label, weight)
        return self

    def scores_one(self, features: dict[Any, float]) -> NDArray[np.float64]:
        """The scores of one example: one with two classes, else one per class."""
        return self._scores_of(self.learned, features)

    @property
    def coef_(self) -> Any:
        """The weights: of shape (1, n_features) with two classes, else (n_classes, n_features)."""
        weights = self._linear().weights
        return sp.csr_matrix(weights) if vars(self).get("_sparse_coef") else weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts: one with two classes, else one per class."""
        return self._linear().intercept

    @available_if(_has_weights)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """From now on `coef_` is a CSR matrix, which is smaller where a penalty has made most weights 0.

        What was learned stays: scores are the same, and learning can go on. `fit` makes `coef_` an array again.
        """
        self._linear()
        self._sparse_coef = True
        return self

    @available_if(_has_weights)  # type: ignore[untyped-decorator]
    def densify(self) -> Self:
        """From now on `coef_` is an array again."""
        self._linear()
        self._sparse_coef = False
        return self

    @property
    def n_features_in_(self) -> int:
        """How many features the learner has seen."""
        stream = self._stream()
        if stream is not None:
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
        stream = self._stream()
        if stream is not None:
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

    def _linear(self) -> Linear:
        if not self.has_learned:
            raise AttributeError(f"{type(self).__name__} has no weights yet: call fit first")
        answer = self.answers()[0]
        if not isinstance(answer, Linear):
            raise AttributeError("a vote has no single weight vector: use keep='average', whose weights come closest")
        return answer

    # -- streams

    def _scores_of(self, learned: Learned, features: dict[Any, float]) -> NDArray[np.float64]:
        if (stream := learned.stream) is not None:
            return stream.scores(features)
        return learned.reading().score_one(features, self.feature_columns)

    def _weight_of(self, features: dict[Any, float], label: Any, weight: float) -> float:
        """The weight of an example, its class's included."""
        engine.Stream.check(features)
        recipe: Recipe = self.recipe()
        check_online(recipe)
        weight = check_weight(weight) * weight_of_class(recipe.class_weight, label)
        largest = max(map(abs, features.values()), default=0.0)
        if weight * largest * max(recipe.used_rule.eta0, recipe.used_rule.C) > SAFE[8]:
            raise DataError(f"weight={weight!r}: the weights would overflow; scale the features or the weight")
        return weight

    def _stream(self) -> Stream | None:
        learned = vars(self).get("_learned")
        return None if learned is None else learned.stream

    def _begin_stream(self, features: dict[Any, float], label: Any, weight: float) -> None:
        """Learn an example, and go on as a stream from what was learned, with its label among the classes.

        All this happens on copies, so that a reader beside it sees what was learned before or after it.
        """
        engine.Stream.check(features)
        recipe: Recipe = self.recipe()
        recipe.check()
        check_online(recipe)
        classes, names, history = self._classes_of(label), {}, History()
        if self.has_learned:
            learned = self.learned
            if learned.several:
                raise LabelError("learn_one has one label, and the rows before had several: use partial_fit")
            learned.check_told(recipe.shape())
            classes = merge_classes(learned.classes, classes)
            recipe.check_classes(len(classes))
            with learned.lock:
                self._check_hashed(recipe)
                names = self.columns_by_name()
                self.close_stream()
                history = self.history_
                states = [s.copy() for s in states_over(learned.states, learned.classes, classes, recipe)]
        else:
            states = LINEAR.new_states(recipe, None, classes, engine.seed_generator(seed_of(recipe.random_state)))  # type: ignore[arg-type]
        begun = Learned(classes, states, LINEAR.make_answers, recipe.shape())
        begun.stream = Stream(states, classes, names, recipe)
        begun.stream.learn(features, begun.stream.known(label), weight)
        self.history_ = history
        self.learned = begun
        self.n_iter_, self.converged_, self.stop_reason_ = 1, False, "learn_one"

    def _check_hashed(self, recipe: Recipe) -> None:
        """Raise if hashed features cannot go on from the columns that were learned."""
        bits = getattr(recipe, "hash_bits", None)
        if bits and self.n_features_in_ != 1 << bits:
            raise DataError(
                f"hash_bits={bits} makes {1 << bits:,} columns of an example, but {self.n_features_in_} were learned: "
                "learn from dicts alone, or from rows of as many columns"
            )

    def _classes_of(self, label: Any) -> NDArray[Any]:
        """The classes of one label."""
        return sorted_classes([label])

    def feature_columns(self) -> Columns:
        """The column of each feature, by its name, or the bits of its hash."""
        bits = self.learned.told.get("hash_bits")
        return bits if bits and self.n_features_in_ == 1 << bits else self.columns_by_name()

    def columns_by_name(self) -> dict[Any, int]:
        """The column of each feature, by its name, or by its number where there are no names."""
        stream = self._stream()
        if stream is not None:
            return stream.names
        bits = getattr(self.recipe(), "hash_bits", None)
        if bits and self.n_features_in_ == 1 << bits:
            return {}
        names = getattr(self, "feature_names_in_", None)
        return {name: at for at, name in enumerate(range(self.n_features_in_) if names is None else names)}

    def close_stream(self) -> None:
        """What the stream holds goes back into states and names."""
        learned, stream = self.learned, self._stream()
        if stream is None:
            return
        names, mistakes_updates = getattr(self, "feature_names_in_", None), stream.unrecorded()
        learned.states[:] = stream.trimmed()
        self._n_features = stream.width
        self.__dict__.pop("_feature_names", None)
        if names is not None:
            self._feature_names = names
        learned.stream = None
        if any(mistakes_updates):
            self.history_.append(*mistakes_updates)

    def _unrecorded(self) -> tuple[int, int]:
        stream = self._stream()
        return (0, 0) if stream is None else stream.unrecorded()


class LinearLearner(Classifying, WeightLearner):
    """A rule, a keep and the linear space, as a scikit-learn classifier."""

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example; features that were never seen count for nothing."""
        learned = self.learned  # once: a new class that comes meanwhile has its own
        scores = self._scores_of(learned, features)
        return learned.labels_in_order[0 if len(learned.classes) == 1 else int(predict_codes(scores[None])[0])]
