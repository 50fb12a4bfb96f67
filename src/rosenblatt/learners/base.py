"""The base of all learners as scikit-learn estimators: fitting, continuing, predicting.

Invariant: a parameter is described once, by its field, and a fitted attribute once, by its property; signatures and
docstrings are made of them. A call that raises leaves the learner as it was. The learned state is replaced as a whole,
under one lock; predictions use the latest snapshot and never wait.
"""

from __future__ import annotations

import os
import re
import textwrap
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self, TypeVar, dataclass_transform

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import base as sklearn_base
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from rosenblatt import engine
from rosenblatt.data.labels import Labels, as_label_array, encode_labels, labels_of, merge_classes
from rosenblatt.data.table import Table, as_table, collected
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.fit import FitPlan, FitTask, check_labels, check_lengths, plan_fit, warn_if_unfinished
from rosenblatt.learners.stopping import Counters, History
from rosenblatt.learners.streaming import Fitted, ModelSnapshot, Names, StreamingMixin, columns_of, deferred_interrupt
from rosenblatt.learners.support import state_class_of
from rosenblatt.learners.targets import are_absent, problem_shape, row_weights, rows_with_weight, targets_of
from rosenblatt.learners.weights import Flag, seed_of, states_over
from rosenblatt.models.predictors import Dual, Linear, Predictor
from rosenblatt.params import Params

AnyPredictor = TypeVar("AnyPredictor", Linear, Dual)
Class = TypeVar("Class", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False)
def learner(cls: Class) -> Class:
    """A dataclass whose docstring describes all parameters and attributes, those of the most special class first."""
    dataclass(kw_only=True, eq=False, repr=False)(cls)
    known, parameters, attributes = {each.name: each for each in fields(cls)}, dict[str, str](), dict[str, str]()
    for base in cls.__mro__:
        for name in vars(base).get("__annotations__", {}):
            if name in known:
                parameters[name] = f"{name} : {known[name].metadata['about'].written_type(known[name].default)}"
        for name, found in vars(base).items():
            if isinstance(found, property) and name[0] != "_" and name[-1] == "_":
                attributes.setdefault(name, found.__doc__ or "")
    text, *more = re.split(r"^(?=    \w+\n    -+\n)", (cls.__doc__ or "").rstrip() + "\n", flags=re.M)
    sections = {
        "Parameters": {heading: known[name].metadata["about"].text for name, heading in parameters.items()},
        "Attributes": attributes,
    }
    cls.__doc__ = f"{text.rstrip()}\n\n{''.join(map(_section, sections, sections.values()))}{''.join(more)}    "
    return cls


def _section(title: str, entries: Mapping[str, str]) -> str:
    lines = [f"    {title}", f"    {'-' * len(title)}"]
    for heading, text in entries.items():
        lines += [f"    {heading}", textwrap.fill(text, 116, initial_indent=" " * 8, subsequent_indent=" " * 8)]
    return "\n".join([*lines, "\n"])


class Estimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that takes sparse rows, and that threads may share."""

    @property
    def lock(self) -> threading.RLock:
        """The lock that learning calls hold; a forked child gets a new one."""
        lock: threading.RLock = self.__dict__.setdefault(f"_lock{os.getpid()}", threading.RLock())
        return lock

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Learner(StreamingMixin, Estimator):
    """Params, states that learn by them, and a snapshot that predicts."""

    def params(self) -> Params:
        """The params of the family: the learner itself, unless it has other parameter names."""
        raise NotImplementedError

    def labels_of(self, y: Any) -> Labels:
        """The labels of `y`, checked."""
        return labels_of(y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order, continuing from the current state.

        One call with all rows is one epoch of `fit` without shuffling. Any cut of the rows into calls gives the same
        bits, once all labels are known: passed as `classes`, or seen before.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            Labels that may come. Not needed: new labels may appear at any time. But with two labels here,
            learning starts before the second label appears.

        Returns
        -------
        self
        """
        table, params = as_table(X), self.params()
        params.check_online()
        labels = self.labels_of(y).weighed(sample_weight)
        with self.lock:
            if self.has_learned:
                check_columns(self, X)
            names = self.column_names if self.has_learned else columns_of_table(X)[1]
            self._learn_rows(params, table, labels, sample_weight, classes, names)
        return self

    def begin(self, classes: Any, features: int) -> None:
        """Begin a new learner over these classes and columns, with nothing learned."""
        params, known = self.params(), encode_labels(list(classes), name="classes").classes
        params.check_classes(len(known))
        fitted, width = self._over(params, known), 1 << params.hash_bits if params.hash_bits else features
        self._fitted = replace(fitted, states=[state.with_features(width) for state in fitted.states], features=width)

    def _fit(self, X: Any, y: Any, sample_weight: Any, **more: Any) -> Self:
        labels = self.labels_of(y).weighed(sample_weight)
        self.fit_labels(X, as_table(X), labels, sample_weight, **more)
        warn_if_unfinished(self, stacklevel=4)
        return self

    def fit_labels(self, X: Any, table: Table, labels: Labels, sample_weight: Any = None, **more: Any) -> Self:
        """`fit` for rows and labels that are already a table and codes; X names the columns."""
        plan = self.plan_fit(table, labels, sample_weight, **more)
        self.finish_fit(X, plan, plan.run())
        return self

    def plan_fit(self, table: Table, labels: Labels, sample_weight: Any = None, **more: Any) -> FitPlan:
        """Everything that a fit needs, checked; nothing is learned yet."""
        with self.lock:
            params, states = self.params(), None
            if params.warm_start and self.has_learned:
                states = self._states_for(params, table, labels)
            elif isinstance(self, Params):
                params = self  # without the unit of the targets before
            check_first = states is not None and (self.converged_ or len(states) > 1)
            return plan_fit(params, table, labels, sample_weight, states=states, check_first=check_first, **more)

    def finish_fit(self, X: Any, plan: FitPlan, tasks: list[FitTask]) -> None:
        """Replace the state by the result of a fit, all at once; X names the columns."""
        with self.lock:
            self.close_stream()
            fitted, before = plan.fitted(tasks, *columns_of_table(X)), self._fitted
            if plan.continues:
                names, history = fitted.names or before.names, before.history.followed_by(fitted.history)
                fitted = replace(fitted, names=names, history=history, unit=before.unit)
            self._fitted = fitted

    def scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n_rows, K): one column with two classes, else one per class."""
        return self.snapshot().scores(self._table(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row; after a fit on several labels per row, a column of 0 and 1 for each."""
        snapshot = self.snapshot()
        return snapshot.predictions(snapshot.scores(self._table(X))).labels

    def snapshot(self) -> ModelSnapshot:
        """The current immutable snapshot that predicts; cached until the next learning call."""
        if not self.has_learned:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit, partial_fit or learn_one first"
            )
        while (found := self._fitted.latest) is None:
            if self.lock.acquire(timeout=0.01):  # else the call that holds it makes a snapshot before a long pass
                try:
                    return self._fitted.snapshot(is_regression=self.params().is_regression)
                finally:
                    self.lock.release()
        return found

    def predictors(self) -> tuple[Predictor, ...]:
        """The predictors, ready to be saved; more than one only for a one-vs-rest vote."""
        return self.snapshot().predictors

    def saved_state(self) -> dict[str, Any] | None:
        """The learning state for a file; None if learning cannot continue from it."""
        from rosenblatt import learners
        from rosenblatt.learners.serialization import fitted_to_tree

        fitted, name = self.__getstate__()["_fitted"], type(self).__name__
        if name not in learners.LEARNERS or fitted.shape != self.params().shape():
            return None
        return fitted_to_tree(name, self.get_params(deep=False), fitted)

    @property
    def states(self) -> list[Any]:
        """The learned states, one per problem; copies while a stream of dicts is open."""
        return self._fitted.without_stream().states

    @property
    def is_multilabel(self) -> bool:
        """True if a row can have several labels."""
        return self._fitted.is_multilabel

    @property
    def has_learned(self) -> bool:
        return bool(self._fitted.states)

    @property
    def classes_(self) -> NDArray[Any]:
        """The sorted labels. Of two, the larger is +1. A regression has none."""
        if self.params().is_regression:
            raise AttributeError(f"{type(self).__name__} has no classes: it predicts numbers")
        return self._learned.classes

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self._learned.width

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, if all are strings."""
        if (names := self._fitted.feature_names) is None:
            raise AttributeError(f"{type(self).__name__} has no names of columns")
        return names

    @property
    def history_(self) -> History:
        """Mistakes, updates and seconds per epoch."""
        return self._learned.whole_history

    @property
    def n_iter_(self) -> int:
        """The number of epochs of the last fit."""
        return self._learned.n_iter

    @property
    def stop_reason_(self) -> str:
        """Why training stopped: "converged", "no_change", "max_iter", "partial_fit" or "learn_one"."""
        return self._learned.stop_reason

    @property
    def converged_(self) -> bool:
        """True if the last epoch made no mistake and no update."""
        return self.stop_reason_ == "converged"

    @property
    def mistakes_(self) -> int:
        """All mistakes of training, each before the update; of a regression, the targets missed by `epsilon`."""
        return sum(self.history_.mistakes)

    @property
    def updates_(self) -> int:
        """All updates: as many as mistakes, or more for a rule with a margin."""
        return sum(self.history_.updates)

    @property
    def _learned(self) -> Fitted:
        if not self.has_learned:
            raise AttributeError(f"{type(self).__name__} has learned nothing yet: call fit first")
        return self._fitted

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self._fitted.stream is not None and name in self._get_param_names():
            self.close_stream()  # later calls learn by the new parameter

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            state = super().__getstate__()
            known = {name: value for name, value in state.items() if not name.startswith(("_lock", "_learn"))}
            if self.has_learned:
                fitted = self._fitted.without_stream()
                states, history = [state.copy() for state in fitted.states], fitted.history.followed_by(History())
                known["_fitted"] = replace(fitted, states=states, history=history)
            return known

    def __sklearn_is_fitted__(self) -> bool:
        return self.has_learned

    def _over(
        self, params: Params, classes: NDArray[Any], table: Table | None = None, *, is_multilabel: bool = False
    ) -> Fitted:
        """The fitted state over these classes, without a stream; new states if nothing was learned."""
        if self.has_learned:
            self._check_shape(params)
            self.close_stream()
            fitted = self._fitted
            return replace(fitted, states=states_over(fitted.states, fitted.classes, classes, params), classes=classes)
        shape = problem_shape(params, len(classes), is_multilabel)
        generator = engine.seed_generator(seed_of(params.random_state))
        states, features = state_class_of(params).new(params, table, shape, generator), table.features if table else 0
        return Fitted(states, classes, params.shape(), features, is_multilabel=is_multilabel, unit=params.unit)

    def _learn_rows(
        self, params: Params, table: Table, labels: Labels, sample_weight: Any, classes: Any = None, names: Names = None
    ) -> None:
        """One pass over the rows, counted as an epoch; `names` are those of the columns.

        Ctrl-C stops at a row boundary, and the rows before it count; or none, if the classes of a kernel would have
        learned different ones.
        """
        check_lengths(table, labels)
        known = self._merged(labels.classes)
        if classes is not None:
            known = merge_classes(known, encode_labels(classes, name="classes").classes)
        check_labels(params, labels, len(known))
        if self.has_learned and self.is_multilabel != labels.is_multilabel:
            raise LabelError("y: cannot mix rows of one label and rows of several labels; call fit")
        labels = labels.over(known)
        if are_absent(sample_weight, labels):
            return
        weights = row_weights(sample_weight, params.class_weight, labels, more_to_come=True)
        fitted = self._over(params, known, table, is_multilabel=labels.is_multilabel)
        states = fitted.states
        if self.has_learned and table.stored > sum(each.size for each in self._fitted.states):
            self.snapshot()  # so that readers need not wait for a long pass
        if table.features != fitted.features:
            states = [self._widened(state, table.features) for state in states]
        copied = states[0].needs_rollback(params, table, weights)
        if copied:
            states = [state.copy() for state in states]
        counts, before = Counters.of(*states), [state.counter("seen") for state in states]
        with deferred_interrupt() as cancel:
            interrupt = None
            try:
                _learn_once(params, states, table, labels, weights, cancel)
            except KeyboardInterrupt as error:  # by another signal than Ctrl-C
                interrupt = error
            rows = {state.counter("seen") - seen for state, seen in zip(states, before, strict=True)}
            if (interrupt is None and not cancel[0]) or (len(rows) == 1 and rows != {0}):
                if copied and not all(state.is_finite() for state in states):
                    raise DataError("the weights overflowed: scale the columns of X")
                states[0].unbind(states)
                made = replace(fitted, states=states, features=table.features, names=names)
                self._fitted = replace(made, n_iter=1, stop_reason="partial_fit")
                fitted.history.append(Counters.of(*states).since(counts, 0.0, table.count))
            if interrupt is not None:
                raise interrupt

    def _merged(self, classes: NDArray[Any]) -> NDArray[Any]:
        return merge_classes(self._fitted.classes, classes) if self.has_learned else classes

    def _widened(self, state: Any, features: int) -> Any:
        return state.with_features(features)

    def _check_shape(self, params: Params) -> None:
        """Raise if a parameter has changed that learning cannot follow."""
        now = params.shape()
        for name, before in self._fitted.shape.items():
            if (value := now[name]) != before:
                raise ParameterError(f"{name} cannot change from {before!r} to {value!r} after fitting; call fit")

    def _states_for(self, params: Params, table: Table, labels: Labels) -> list[Any]:
        """Copies of the states so far, for a warm start on the same kind of data."""
        if table.features != self.n_features_in_:
            raise DataError(
                f"X has {table.features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input: a warm start continues with the same features"
            )
        known = self._fitted.classes
        if not np.array_equal(labels.classes, known) or labels.is_multilabel != self.is_multilabel:
            raise LabelError(f"y has the classes {labels.classes.tolist()}: a warm start needs {known.tolist()}")
        self._check_shape(params)
        states = [state.copy() for state in self.states]
        states[0].bind(table, states, match_rows=True)
        return states

    def _predictor(self, kind: type[AnyPredictor]) -> AnyPredictor:
        """The only predictor, which has weights or coefficients."""
        predictor = self._learned and self.predictors()[0]
        if not isinstance(predictor, kind):
            raise AttributeError("a vote has no single weight vector: use keep='average', whose weights come closest")
        return predictor

    def _table(self, X: Any) -> Table:
        table = as_table(X)
        check_columns(self, X)
        return table


def _learn_once(params: Params, states: list[Any], table: Table, labels: Labels, weights: Any, cancel: Flag) -> None:
    """Learn the rows once."""
    rows = rows_with_weight(weights)
    if len(labels.classes) == 1:
        for state in states:
            state.skip_rows(table.count if rows is None else len(rows))
    elif rows is None or len(rows):
        targets = targets_of(labels, weights, params)
        states[0].bind(table, states)
        states[0].passes(states, targets, table, params.update_rule)(rows, cancel)


class ClassifierMixin(sklearn_base.ClassifierMixin):  # type: ignore[misc]
    """A classifier with a score for labels of any kind."""

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy; rows count with their sample weights."""
        several = getattr(y, "ndim", 1) != 1 or np.ndim(y) != 1
        labels = y if several else as_label_array(y)
        if several or labels.dtype.kind in "biufU":  # which scikit-learn counts
            return float(super().score(X, labels, sample_weight))
        predicted = self.predict(X)
        if len(predicted) != len(labels):
            raise DataError(f"X has {len(predicted)} rows, but y has {len(labels)} labels")
        right = predicted == labels if predicted.dtype.kind == labels.dtype.kind else np.zeros(len(labels))
        return float(np.average(right, weights=sample_weight))

    @property
    def predict_proba(self) -> Any:
        """None: a learner has scores. `Calibrated` and `AutoPerceptron` have probabilities."""
        name = type(self).__name__
        raise AttributeError(f"{name} has scores, not probabilities: use Calibrated({name}()) or AutoPerceptron()")

    def decision_function(self: Any, X: Any) -> NDArray[np.float64]:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes).

        They are not probabilities: for `predict_proba`, wrap the learner in `Calibrated`.
        """
        scores: NDArray[np.float64] = self.scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores


def _has_weights(learner: Any) -> bool:
    """A vote has no single weight vector."""
    return bool(learner.params().keep != "vote")


class LinearLearner(Learner):
    """A learner with a weight per feature."""

    _sparse_coef = False

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
        """Learn from all rows, epoch after epoch, until the stopping criterion holds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Arrays of floats in C order and CSR of floats are read in place; anything else is converted.
        y : array-like of shape (n_rows,)
            Two or more labels of any kind that can be sorted.
        coef_init, intercept_init : array-like, optional
            Weights to start from, as in scikit-learn; the same as ``init=(coef_init, intercept_init)``.
        sample_weight : array-like of shape (n_rows,), optional
            Scales each row's step; a row of weight 0 is ignored.
        X_val, y_val : optional
            Your own validation rows for early stopping, instead of a part of X.

        Returns
        -------
        self
        """
        init = None if coef_init is None and intercept_init is None else (coef_init, intercept_init)
        self._fit(X, y, sample_weight, init=init, X_val=X_val, y_val=y_val)
        self._sparse_coef = False
        return self

    @property
    def coef_(self) -> Any:
        """The weights that predict: one row with two classes, else one per class. A vote has none."""
        weights = self._predictor(Linear).weights
        return sp.csr_matrix(weights) if self._sparse_coef else weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts: one with two classes, else one per class. A vote has none."""
        return self._predictor(Linear).intercept

    @available_if(_has_weights)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """Make `coef_` a CSR matrix, which is smaller if a penalty has made most weights 0.

        Scores stay the same, and learning can continue. `fit` makes `coef_` an array again.
        """
        self._predictor(Linear)
        self._sparse_coef = True
        return self

    @available_if(_has_weights)  # type: ignore[untyped-decorator]
    def densify(self) -> Self:
        """Make `coef_` a dense array again."""
        self._predictor(Linear)
        self._sparse_coef = False
        return self


def remember_columns(estimator: Any, X: Any) -> None:
    """Set scikit-learn's attributes of the columns: `n_features_in_` and, if there are names, `feature_names_in_`."""
    vars(estimator).pop("feature_names_in_", None)
    if type(X) is np.ndarray:  # an array has no names, and looking for them takes its time
        estimator.n_features_in_ = X.shape[1]
    else:
        validate_data(estimator, collected(X), skip_check_array=True, reset=True)


def columns_of_table(X: Any) -> tuple[int, Names]:
    """The number of the columns of X, and the column of each name if there are names."""
    seen = BaseEstimator()
    remember_columns(seen, X)
    return seen.n_features_in_, columns_of(seen)


def check_columns(estimator: Any, X: Any) -> None:
    """Raise or warn, in scikit-learn's words, if these are other columns."""
    nameless = type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_")
    if not nameless or X.shape[1] != estimator.n_features_in_:
        validate_data(estimator, collected(X), skip_check_array=True, reset=False)
