"""What all learners share as scikit-learn classifiers: fitting, going on, predicting.

Invariant: a call that raises leaves the learner as it was. Everything is checked before the first row is learned.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from rosenblatt import engine
from rosenblatt.data.labels import Labels, labels_of, merge_classes, sorted_classes
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.fit import (
    check_lengths,
    check_several,
    conclude,
    prepare,
    remember_columns,
    warn_if_unfinished,
)
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.learned import Learned, turn_of
from rosenblatt.learners.stopping import History
from rosenblatt.learners.targets import are_absent, check_online, row_weights, targets_of
from rosenblatt.learners.weights import Flag, seed_of, states_over
from rosenblatt.models.container import SavedState
from rosenblatt.models.predictors import Predictor
from rosenblatt.params import Params


class Learner(BaseEstimator):  # type: ignore[misc]
    """Params and a space, as a scikit-learn estimator."""

    space: ClassVar[Any]

    classes_: NDArray[Any]
    history_: History
    n_iter_: int
    converged_: bool
    stop_reason_: str
    _learned: Learned | None = None

    def params(self) -> Params:
        """Everything that this learner is told, as plain values; a learner that is one answers with itself."""
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order, going on from what was learned before.

        One call with all rows is one epoch of `fit` without shuffling. Any cut of the rows into calls gives the same
        bits, once all labels are known: by `classes`, or since each has come.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            Labels that may come. Not needed: new labels are taken as they come. But if two labels are known
            beforehand, the rows before the second one appears can be learned from.

        Returns
        -------
        self
        """
        return self._go_on(X, y, classes, sample_weight)

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, named: bool = True) -> Self:
        """Learn from rows once; if they are `named`, they say which columns these are."""
        with turn_of(self):
            return self._go_on_now(X, y, classes, sample_weight, named)

    def _go_on_now(self, X: Any, y: Any, classes: Any, sample_weight: Any, named: bool) -> Self:
        params = self.params()
        params.check()
        check_online(params)
        table, labels = as_table(X), self.labels_of(y).weighed(sample_weight)
        check_lengths(table, labels)
        known = labels.classes if not self.has_learned else merge_classes(self.learned.classes, labels.classes)
        if classes is not None:
            known = merge_classes(known, sorted_classes(classes))
        if labels.is_multilabel:
            check_several(params)
        else:
            params.check_classes(len(known))
        if self.has_learned and self.learned.is_multilabel != labels.is_multilabel:
            raise LabelError("y: rows with one label and rows with several cannot be learned by turns; call fit")
        labels = labels.over(known)
        weights = row_weights(sample_weight, params.class_weight, labels, more_to_come=True)
        if weights is not None and not weights.any():  # rows of weight 0 are as if absent, but not their classes
            if self.has_learned and not are_absent(sample_weight, labels):
                self.add_classes(known)
            return self
        if self.has_learned:
            if named:
                check_columns(self, X)
            self.learned.check_told(params.shape())
            self.close_stream()
            self._learn_or_leave(params, table, labels, weights)
            return self
        before = dict(vars(self))
        try:
            generator = engine.seed_generator(seed_of(params.random_state))
            states = self.space.new_states(params, table, known, generator, apart=labels.is_multilabel)
            if named:
                remember_columns(self, X)
            self.history_ = History()
            self.install(known, states)
            self.learned.is_multilabel = labels.is_multilabel
            self._learn_or_leave(params, table, labels, weights)
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt) or not vars(self).get("history_"):
                self.__dict__.clear()
                self.__dict__.update(before)
            raise
        return self

    def labels_of(self, y: Any) -> Labels:
        """What `y` asks for, checked."""
        return labels_of(y)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn does; what is learned next is learned by them."""
        with turn_of(self):
            super().set_params(**params)
            if self.has_learned:
                self.close_stream()
        return self

    def add_classes(self, classes: NDArray[Any]) -> None:
        """From now on the learner knows these sorted classes, among which are all that it knew."""
        learned = self.learned
        with learned.lock:
            states = states_over(learned.states, learned.classes, classes, self.params())
            self.close_stream()
            learned.states[:] = states
            learned.set_classes(classes)
            self.classes_ = classes
            learned.changed()

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n_rows, K): one column with two classes, else one per class."""
        return self.learned.reading().scores(self._table(X))

    def predictors(self) -> tuple[Predictor, ...]:
        """What scores rows, ready to be saved; more than one only for a one-vs-rest vote."""
        return self.learned.reading().predictors

    def saved_state(self) -> SavedState | None:
        """What a file needs so that learning can go on from it; None if it cannot."""
        from rosenblatt.learners.serialization import learner_to_tensors

        return learner_to_tensors(self)

    @property
    def mistakes_(self) -> int:
        """Mistakes on arrival, over all epochs."""
        return sum(self._history().mistakes) + self._unrecorded()[0]

    @property
    def updates_(self) -> int:
        """Changes of the weights, over all epochs."""
        return sum(self._history().updates) + self._unrecorded()[1]

    @property
    def has_learned(self) -> bool:
        return self._learned is not None

    @property
    def learned(self) -> Learned:
        """What was learned: states, and the answer that is read off them."""
        if (found := self._learned) is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learned nothing; call fit first"
            )
        return found

    @learned.setter
    def learned(self, learned: Learned) -> None:
        self._learned = learned
        self.classes_ = learned.classes

    def __getstate__(self) -> dict[str, Any]:
        with turn_of(self):
            known = dict(super().__getstate__())
            if self._learned is not None:
                known |= {"_learned": self._learned.copy(), "history_": self.history_.followed_by(History())}
            return known

    def __sklearn_is_fitted__(self) -> bool:
        return self.has_learned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, init: Any = None) -> Self:
        table, labels = as_table(X), self.labels_of(y).weighed(sample_weight)
        fitting = prepare(self, table, labels, sample_weight, init=init, X_val=X_val, y_val=y_val)
        conclude(self, X, fitting, fitting.run())
        warn_if_unfinished(self, stacklevel=4)
        return self

    def install(self, classes: NDArray[Any], states: list[Any]) -> None:
        """From now on these states are what was learned."""
        self.learned = Learned(classes, states, self.space.make_predictors, self.params().shape())

    def _learn_or_leave(
        self, params: Params, table: Table, labels: Labels, weights: NDArray[np.float64] | None
    ) -> None:
        """One pass over the rows, counted as an epoch; if it fails, everything is as it was.

        Ctrl-C stops at a row boundary, and the rows before it count; or none, where a kernel's classes would have
        learned different ones. If the handler of the signal returns, learning goes on where it was.
        """
        learned, history = self.learned, len(self.history_)
        classes, states = learned.classes, list(learned.states)
        copied = self.space.may_fail(params, table, weights)
        rows = None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.uint32)
        count, done = table.count if rows is None else len(rows), 0
        try:
            while done < count:
                if copied and not done:
                    learned.states[:] = [state.copy() for state in states]
                if not done:
                    self.add_classes(labels.classes)
                    before = [learned.counted(name) for name in ("mistakes", "updates", "seen")]
                self.space.look_at(table, learned.states)
                if done:
                    rows = (np.arange(count, dtype=np.uint32) if rows is None else rows)[done - count :]
                with Hearing() as hearing:  # a handler that raises does so at its end
                    whole = False
                    try:
                        whole = self._learn(params, table, labels, weights, rows, hearing.cancel)
                    except KeyboardInterrupt:  # by another signal than Ctrl-C
                        whole = not copied or len(states) == 1
                        raise
                    finally:
                        if whole:
                            if copied and not all(state.is_finite() for state in learned.states):
                                raise DataError("the weights overflowed: scale the columns of X")
                            self.space.leave(learned.states)
                            done = (learned.counted("seen") - before[2]) // len(learned.states)
                            self._record(history, before)
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt) or not done:
                learned.states[:] = states
                learned.set_classes(classes)
                self.classes_ = classes
                self.history_.cut(history)
            raise
        finally:
            learned.changed()

    def _learn(
        self,
        params: Params,
        table: Table,
        labels: Labels,
        weights: NDArray[np.float64] | None,
        rows: NDArray[np.uint32] | None,
        cancel: Flag,
    ) -> bool:
        """Learn until the flag is set; False if not all states have learned the same rows."""
        learned = self.learned
        if len(labels.classes) == 1:
            for state in learned.states:
                state.count_as_right(table.count if rows is None else len(rows))
            return True
        ovr = params.is_ovr(len(labels.classes))
        asked = targets_of(labels, ovr=ovr, sample_weight=weights, tie_positive=params.tie_positive)
        tasks = list(zip(learned.states, asked, strict=True))
        return bool(self.space.learn(tasks, table, params.update_rule, rows, cancel))

    def _record(self, entries: int, before: list[int]) -> None:
        """What was learned since these counts is one entry of the history, after the first `entries`."""
        learned = self.learned
        self.history_.cut(entries)
        self.history_.append(learned.counted("mistakes") - before[0], learned.counted("updates") - before[1])
        self.n_iter_, self.converged_, self.stop_reason_ = 1, False, "partial_fit"

    def close_stream(self) -> None:
        """Before learning from a table; a space without streams has nothing to close."""

    def _unrecorded(self) -> tuple[int, int]:
        """Mistakes and updates that are not in the history yet."""
        return 0, 0

    def _table(self, X: Any) -> Table:
        table = as_table(X)
        check_columns(self, X)
        return table

    def _history(self) -> History:
        if "history_" in vars(self):
            return self.history_
        raise AttributeError(f"{type(self).__name__} has learned nothing yet: call fit first")


def check_columns(estimator: Any, X: Any) -> None:
    """Raise or warn, in scikit-learn's words, if these are other columns."""
    nameless = type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_")
    if not nameless or X.shape[1] != estimator.n_features_in_:
        validate_data(estimator, X, skip_check_array=True, reset=False)
