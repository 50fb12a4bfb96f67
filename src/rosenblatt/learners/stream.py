"""One example at a time: dicts of feature names and numbers, with features and labels that come as they come.

Invariant: an example that raises leaves the learner as it was. `learn_one` on dicts and `partial_fit` on the same
rows do the same arithmetic on the same states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, merge_classes, sorted_classes
from rosenblatt.data.table import as_table
from rosenblatt.learners.history import History
from rosenblatt.learners.start import seed_of
from rosenblatt.models.linear import predict_codes

if TYPE_CHECKING:
    from rosenblatt.learners.rules import Rule
    from rosenblatt.learners.state import KeepName, State

FIRST_CAPACITY = 64


class OneByOne:
    """`learn_one` and `predict_one` for a learner whose states they change in place."""

    _one: Any = None  # the engine's side of the stream, while there is one

    if TYPE_CHECKING:
        classes_: NDArray[Any]
        history_: History
        tie: Literal["mistake", "positive"]
        fit_intercept: bool
        init: Any
        random_state: Any
        _states: list[State]

        def _rule(self) -> Rule: ...
        def _kept(self) -> KeepName: ...
        def _check_parameters(self) -> None: ...
        def _check_tie(self, classes: int) -> None: ...
        def _is_ovr(self, classes: int) -> bool: ...
        def _states_over(self, classes: NDArray[Any], rule: Rule) -> list[State]: ...
        def _weights_from(
            self,
            init: Any,
            features: int,
            dtype: np.dtype[Any],
            classes: NDArray[Any],
            keep: KeepName,
            generator: NDArray[np.uint64],
        ) -> list[State]: ...
        def _answer(self) -> Any: ...

    def learn_one(self, features: dict[Any, float], label: Any) -> Self:
        """Learn from one example.

        Parameters
        ----------
        features : dict
            Names and numbers; a feature that is not there is 0, one that was never seen gets a weight of its own.
            After a fit on an array without column names, the names are the column numbers.
        label
            Any label; a new one is taken as it comes.

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
        one = self._one
        if one is None or not one.learn(features, label):
            self._learn_otherwise(features, label)
        return self

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example; features that were never seen count for nothing."""
        one = self._one
        if one is None:
            if not hasattr(self, "classes_"):
                from sklearn.exceptions import NotFittedError

                raise NotFittedError(f"this {type(self).__name__} has learned nothing yet: call learn_one or fit first")
            engine.OneRow.check(features)
            self._bind(self.classes_, self._states_over(self.classes_, self._rule()))
            one = self._one
        if one is None:
            scores = np.hstack([model.scores(self._row_table(features)) for model in self._answer()])
            return self._labels_in_order[0 if len(self.classes_) == 1 else int(predict_codes(scores)[0])]
        return one.predict(features)

    @property
    def n_features_in_(self) -> int:
        """How many features the learner has seen."""
        if "_vocabulary" in vars(self):
            return len(self._vocabulary)
        if "_n_features" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no features yet: call fit first")
        return self._n_features

    @n_features_in_.setter
    def n_features_in_(self, value: int) -> None:
        self._n_features = value

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features, if they all have one."""
        if "_vocabulary" in vars(self):
            names = list(self._vocabulary)
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
        if "_feature_names" not in vars(self):
            raise AttributeError("feature_names_in_")
        del self._feature_names

    def _learn_otherwise(self, features: dict[Any, float], label: Any) -> None:
        """Learn an example that the engine cannot take as things are."""
        if self._one is None or label not in self._codes:
            self._open_stream(features, label)
        if self._one is None:
            self._learn_slowly(features, self._codes[label])
        elif not self._one.learn(features, label):
            self._rebind(2 * (len(self._vocabulary) + len(features)))
            self._one.learn(features, label)

    def _open_stream(self, features: dict[Any, float], label: Any) -> None:
        """Bind the states for streaming, with this label among the classes."""
        engine.OneRow.check(features)
        self._check_parameters()
        rule, new = self._rule(), sorted_classes([label])
        if hasattr(self, "classes_"):
            classes = merge_classes(self.classes_, new)
            self._check_tie(len(classes))
            states = self._states_over(classes, rule)
        else:
            classes = new
            generator = engine.seed_generator(seed_of(self.random_state))
            states = self._weights_from(self.init, 0, np.dtype(np.float64), classes, self._kept(), generator)
            self.history_ = History()
            self._vocabulary: dict[Any, int] = {}
        self._bind(classes, states)

    def _bind(self, classes: NDArray[Any], states: list[State]) -> None:
        if "_vocabulary" not in vars(self):
            names = getattr(self, "feature_names_in_", None)
            keys = range(self.n_features_in_) if names is None else names
            self._vocabulary = {name: column for column, name in enumerate(keys)}
        self._close_segment()
        self.classes_ = classes
        self._states = states
        self._codes = {label: code for code, label in enumerate(classes.tolist())}
        self._labels_in_order = classes.tolist()
        self._segment = self._counted()
        self._answers: list[Any] = []
        self._rebind(max(FIRST_CAPACITY, len(self._vocabulary)))
        self.n_iter_, self.converged_, self.stop_reason_ = 1, False, "learn_one"

    def _rebind(self, capacity: int) -> None:
        """Give the states room for `capacity` features, and the engine their arrays."""
        rule, keep = self._rule(), self._kept()
        self._one = None
        if keep == "vote" or len(self.classes_) == 1 or rule.penalty is not None:
            return  # learned slowly: a vote stores the row, a single class has nothing to be mistaken for
        self._states = [_as_float64(state).with_features(capacity) for state in self._states]
        one = engine.OneRow(
            self._vocabulary,
            self._codes,
            capacity,
            self._is_ovr(len(self.classes_)),
            bool(self.fit_intercept),
            rule.name,
            rule.eta0,
            rule.beta,
            rule.C,
            rule.r,
            self.tie == "positive",
        )
        for state in self._states:
            one.add(
                weights=state.weights.ravel(order="K"),
                intercept=state.intercept,
                sums=None if state.sums is None else state.sums.ravel(order="K"),
                intercept_sums=state.intercept_sums,
                pocket=None if state.pocket is None else state.pocket.ravel(order="K"),
                pocket_intercept=state.pocket_intercept,
                pocket_mistakes=state.pocket_mistakes,
                variances=None if state.variances is None else state.variances.ravel(order="K"),
                intercept_variances=state.intercept_variances,
                counters=state.counters,
                mistake_weight=state.mistake_weight,
            )
        self._one = one

    def _learn_slowly(self, features: dict[Any, float], code: int) -> None:
        engine.OneRow.check(features)
        for name in features:
            self._vocabulary.setdefault(name, len(self._vocabulary))
        self._states = self._trimmed()
        if len(self.classes_) == 1:
            for state in self._states:
                state.set_counter("seen", state.counter("seen") + 1)
                state.set_counter("survived", state.counter("survived") + 1)
            return
        labels = Labels(self.classes_, np.array([code], np.int32))
        ovr, table = self._is_ovr(len(self.classes_)), self._row_table(features)
        for k, state in enumerate(self._states):
            y = labels.signs(k) if ovr else labels.signs() if len(self.classes_) == 2 else labels.codes
            state.learn(table, y, self._rule(), tie_positive=self.tie == "positive")

    def _row_table(self, features: dict[Any, float]) -> Any:
        known = {self._vocabulary[name]: value for name, value in features.items() if name in self._vocabulary}
        shape = (1, len(self._vocabulary))
        return as_table(sp.csr_array((list(known.values()), ([0] * len(known), list(known))), shape, dtype=np.float64))

    def _counted(self) -> tuple[int, int]:
        return (
            sum(state.counter("mistakes") for state in self._states),
            sum(state.counter("updates") for state in self._states),
        )

    def _since_segment(self) -> tuple[int, int]:
        """Mistakes and updates of the stream that are not in the history yet."""
        if "_segment" not in vars(self):
            return 0, 0
        mistakes, updates = self._counted()
        return mistakes - self._segment[0], updates - self._segment[1]

    def _close_segment(self) -> None:
        mistakes, updates = self._since_segment()
        if mistakes or updates:
            self.history_ = self.history_.followed_by(History([mistakes], [updates], [0.0]))
        self.__dict__.pop("_segment", None)

    def _trimmed(self) -> list[State]:
        """The states without the room kept for new features."""
        features = self.n_features_in_
        return [s if s.features == features else s.with_features(features) for s in self._states]

    def _forget_stream(self) -> None:
        """Before learning from a table: what the stream holds goes back into states and names."""
        self._close_segment()
        self._answers = []
        if "_vocabulary" in vars(self):
            names = getattr(self, "feature_names_in_", None)
            self._n_features = len(self._vocabulary)
            if names is not None:
                self._feature_names = names
            for attribute in ("_vocabulary", "_codes", "_labels_in_order", "_one"):
                self.__dict__.pop(attribute, None)


def _as_float64(state: State) -> State:
    if state.dtype == np.float64:
        return state
    state.weights = state.weights.astype(np.float64)
    if state.pocket is not None:
        state.pocket = state.pocket.astype(np.float64)
    if state.variances is not None:
        state.variances = state.variances.astype(np.float64)
    return state
