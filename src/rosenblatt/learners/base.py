"""What all learners share: checking, fitting, streaming, predicting.

Invariant: a call that raises leaves the learner as it was. Everything is checked before the first row is learned, and
`fit` works on states of its own until it is done.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.utils.validation import check_is_fitted

from rosenblatt import engine
from rosenblatt.data.labels import Labels, as_label_array, encode_labels, merge_classes, sorted_classes
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.classes import joint_with_classes, ovr_with_classes
from rosenblatt.learners.epochs import Outcome, Problem, Stopping, best_restart, run_epochs
from rosenblatt.learners.history import History
from rosenblatt.learners.progress import EpochBar, run_threads
from rosenblatt.learners.rules import Rule, check_number
from rosenblatt.learners.seen import check_columns, remember_columns
from rosenblatt.learners.start import check_count, seed_of
from rosenblatt.learners.state import KEEPS, KeepName
from rosenblatt.learners.validation import hold_out, validation_score
from rosenblatt.learners.weighting import row_weights
from rosenblatt.models.linear import predict_codes


@dataclass(frozen=True)
class Fitting:
    """What a fit is about to learn: the problems, each with its stopping, and the states of every restart."""

    classes: NDArray[Any]
    problems: list[Problem]
    stoppings: list[Stopping]
    restarts: list[list[Any]]
    going_on: bool


class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A rule and a keep, as a scikit-learn classifier; a space adds its states and its answer.

    A named algorithm sets `_keep` or takes it as a parameter, and says its `_rule`.
    """

    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: Any
    init: Any
    n_init: int
    tie: Literal["mistake", "positive"]
    multiclass: Literal["joint", "ovr"]
    class_weight: Any
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    warm_start: bool
    n_jobs: int | None
    verbose: int

    classes_: NDArray[Any]
    history_: History
    n_iter_: int
    converged_: bool
    stop_reason_: str

    _keep: ClassVar[KeepName] = "last"
    _answers: list[Any]
    _states: list[Any]  # of the space, one a problem

    def _rule(self) -> Rule:
        raise NotImplementedError

    def _new_states(
        self, init: Any, table: Table, classes: NDArray[Any], keep: KeepName, generator: NDArray[np.uint64]
    ) -> list[Any]:
        """States that have seen nothing yet: one, or one a class for one-vs-rest."""
        raise NotImplementedError

    def _make_answers(self) -> list[Any]:
        """Models of what the states have learned, whose scores stand side by side."""
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any, X_val: Any, y_val: Any, init: Any) -> Self:
        fitting = self._prepare(as_table(X), self._labels(y), init, sample_weight, X_val, y_val)
        best = self._run(fitting.restarts, fitting.problems, fitting.stoppings)
        self._conclude(X, fitting, best)
        self._warn_if_unfinished()
        return self

    def _prepare(
        self, table: Table, labels: Labels, init: Any, sample_weight: Any = None, X_val: Any = None, y_val: Any = None
    ) -> Fitting:
        """Everything that a fit needs, checked; nothing is learned yet."""
        rule, keep = self._rule(), self._kept()
        self._check_parameters()
        check_lengths(table, labels)
        if len(labels.classes) < 2:
            raise LabelError(
                f"y has one class only, {labels.classes.tolist()[0]!r}: a classifier needs at least 2 classes"
            )
        self._check_tie(len(labels.classes))
        weights = row_weights(sample_weight, self.class_weight, labels)
        rows = None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.uint32)
        seed = seed_of(self.random_state)
        problems, stoppings = self._problems(table, labels, rule, weights, rows, seed, X_val, y_val)
        going_on = bool(self.warm_start) and hasattr(self, "classes_")
        if going_on:
            restarts = [self._continued(table, labels)]
        else:
            restarts = [
                self._new_states(init, table, labels.classes, keep, engine.seed_generator(seed, restart))
                for restart in range(self.n_init)
            ]
        return Fitting(labels.classes, problems, stoppings, restarts, going_on)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order, going on from what was learned before.

        One call with all rows is one epoch of `fit` without shuffling; any cut of the rows into calls gives the
        same bits.

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
        rule, keep = self._rule(), self._kept()
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ParameterError(
                "class_weight='balanced' needs all labels at once and has no meaning in partial_fit: "
                "write class_weight={label: weight, ...}"
            )
        table, labels = as_table(X), self._labels(y)
        check_lengths(table, labels)
        first = not hasattr(self, "classes_")
        known = labels.classes if first else merge_classes(self.classes_, labels.classes)
        if classes is not None:
            known = merge_classes(known, sorted_classes(classes))
        self._check_tie(len(known))
        labels = Labels(known, labels.among(known))
        weights = row_weights(sample_weight, self.class_weight, labels)
        order = None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.uint32)
        if first:
            remember_columns(self, X)
            generator = engine.seed_generator(seed_of(self.random_state))
            self._states = self._new_states(self.init, table, known, keep, generator)
            self.history_ = History()
        else:
            check_columns(self, X)
            self._states = self._states_over(known, rule)
        self.classes_ = known
        self._learn_batch(table, labels, rule, weights, order)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        scores = self._scores(X)
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        return self.classes_[predict_codes(scores)]

    @property
    def mistakes_(self) -> int:
        """Mistakes on arrival, over all epochs."""
        return sum(self._fitted_history().mistakes) + self._since_segment()[0]

    @property
    def updates_(self) -> int:
        """Changes of the weights, over all epochs."""
        return sum(self._fitted_history().updates) + self._since_segment()[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in super().__getstate__().items() if name != "_one"}
        return {**kept, "_answers": []} if "_answers" in kept else kept

    # -- checking

    def _kept(self) -> KeepName:
        keep = getattr(self, "keep", self._keep)
        if keep not in KEEPS:
            raise ParameterError(f"keep={keep!r}: must be 'last', 'average', 'vote' or 'pocket'")
        return keep

    def _check_parameters(self) -> None:
        check_count("max_iter", self.max_iter)
        check_count("n_iter_no_change", self.n_iter_no_change)
        check_count("n_init", self.n_init)
        if self.tol is not None:
            check_number("tol", self.tol, least=-np.inf)
        fraction = check_number("validation_fraction", self.validation_fraction, above=0.0)
        if fraction >= 1:
            raise ParameterError(f"validation_fraction={self.validation_fraction!r}: must be below 1")
        if self.tie not in ("mistake", "positive"):
            raise ParameterError(f"tie={self.tie!r}: must be 'mistake' or 'positive'")
        if self.multiclass not in ("joint", "ovr"):
            raise ParameterError(f"multiclass={self.multiclass!r}: must be 'joint' or 'ovr'")
        if self.n_init > 1 and not self.shuffle and not (isinstance(self.init, str) and self.init == "random"):
            raise ParameterError(
                f"n_init={self.n_init} with shuffle=False and the same start would repeat one run: "
                "write shuffle=True or init='random'"
            )

    def _check_tie(self, classes: int) -> None:
        if self.tie == "positive" and classes > 2 and self.multiclass == "joint":
            raise ParameterError(
                f"tie='positive' has a meaning for two classes only, and there are {classes}: "
                "write tie='mistake', or multiclass='ovr'"
            )

    def _labels(self, y: Any) -> Labels:
        shape = getattr(y, "shape", None)
        if shape is not None and len(shape) == 2 and shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected: use y.ravel()",
                DataConversionWarning,
                stacklevel=4,
            )
            y = np.asarray(y).ravel()
        return encode_labels(as_label_array(y))

    def _table(self, X: Any) -> Table:
        table = as_table(X)
        check_columns(self, X)
        return table

    # -- fitting

    def _is_ovr(self, classes: int) -> bool:
        return self.multiclass == "ovr" and classes > 2

    def _problems(
        self,
        table: Table,
        labels: Labels,
        rule: Rule,
        weights: NDArray[np.float64] | None,
        rows: NDArray[np.uint32] | None,
        seed: int,
        X_val: Any,
        y_val: Any,
    ) -> tuple[list[Problem], list[Stopping]]:
        """The problem, or one a class for one-vs-rest, each with its stopping."""
        val_table, val_codes, val_rows = None, None, None
        if X_val is not None or y_val is not None:
            if X_val is None or y_val is None:
                raise ParameterError("X_val and y_val go together: one of them is missing")
            val_table = as_table(X_val, name="X_val")
            if val_table.features != table.features:
                raise DataError(f"X_val has {val_table.features} features, but X has {table.features}")
            val_labels = encode_labels(y_val, name="y_val")
            check_lengths(val_table, val_labels, "X_val", "y_val")
            val_codes = val_labels.among(labels.classes, name="y_val")
        elif self.early_stopping:
            rows, val_rows = hold_out(labels, rows, self.validation_fraction, engine.seed_generator(seed, 2**63))
            val_table, val_codes = table, labels.codes

        def problem_of(y: NDArray[Any]) -> Problem:
            return Problem(table, y, rule, self.tie == "positive", weights, rows)

        def stopping_of(y: NDArray[Any] | None) -> Stopping:
            score = None
            if val_table is not None and y is not None:
                score = partial(validation_score, table=val_table, y=y, rows=val_rows)
            tol = None if self.tol is None else float(self.tol)
            return Stopping(int(self.max_iter), tol, int(self.n_iter_no_change), bool(self.shuffle), score)

        if self._is_ovr(len(labels.classes)):
            val = None if val_codes is None else Labels(labels.classes, val_codes)
            return (
                [problem_of(labels.signs(k)) for k in range(len(labels.classes))],
                [stopping_of(None if val is None else val.signs(k)) for k in range(len(labels.classes))],
            )
        if len(labels.classes) == 2:
            val_y = None if val_codes is None else Labels(labels.classes, val_codes).signs()
            return [problem_of(labels.signs())], [stopping_of(val_y)]
        return [problem_of(labels.codes)], [stopping_of(val_codes)]

    def _continued(self, table: Table, labels: Labels) -> list[Any]:
        """Copies of the states so far, for a warm start on the same kind of data."""
        if table.features != self.n_features_in_:
            raise DataError(
                f"X has {table.features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input: a warm start goes on with the same ones"
            )
        if not np.array_equal(labels.classes, self.classes_):
            raise LabelError(
                f"y has the classes {labels.classes.tolist()}: a warm start needs {self.classes_.tolist()}"
            )
        return [state.copy() for state in self._trimmed()]

    def _run(self, restarts: list[list[Any]], problems: list[Problem], stoppings: list[Stopping]) -> list[Outcome]:
        """Run everything that is independent, in threads, and keep the best restart: the first of equals."""
        epochs = len(restarts) * len(problems) * int(self.max_iter)
        with EpochBar(type(self).__name__, epochs, visible=bool(self.verbose)) as bar:
            tasks = [
                partial(_run_task, state, problem, stopping, bar)
                for states in restarts
                for state, problem, stopping in zip(states, problems, stoppings, strict=True)
            ]
            outcomes = run_threads(tasks, self.n_jobs)
        return best_restart(outcomes, problems, stoppings)

    def _conclude(self, X: Any, fitting: Fitting, outcomes: list[Outcome]) -> None:
        """Take the outcome over, and say how it ended."""
        remember_columns(self, X)
        self._take_over(fitting, outcomes)

    def _take_over(self, fitting: Fitting, outcomes: list[Outcome]) -> None:
        history = History.total([outcome.history for outcome in outcomes])
        reasons = {outcome.stop_reason for outcome in outcomes}
        self._forget_stream()
        self.classes_ = fitting.classes
        self._states = [outcome.state for outcome in outcomes]
        self.n_iter_ = len(history)
        self.history_ = self.history_.followed_by(history) if fitting.going_on else history
        self.stop_reason_ = next(reason for reason in ("max_iter", "no_change", "converged") if reason in reasons)
        self.converged_ = self.stop_reason_ == "converged"

    def _warn_if_unfinished(self, stacklevel: int = 4) -> None:
        if self.stop_reason_ == "max_iter":
            mistakes = self.history_.mistakes[-1]
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={self.max_iter} with {mistakes} mistakes in the last "
                "epoch. That proves nothing about the data: give it more epochs, or ask whether they can be separated "
                "at all",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    # -- streaming

    def _forget_stream(self) -> None:
        """Before learning from a table."""
        self._answers = []

    def _trimmed(self) -> list[Any]:
        """The states as they are between two calls."""
        return self._states

    def _since_segment(self) -> tuple[int, int]:
        """Mistakes and updates that are not in the history yet."""
        return 0, 0

    def _states_over(self, classes: NDArray[Any], rule: Rule) -> list[Any]:
        """The states over these classes: themselves if there is no new one."""
        states = self._trimmed()
        if len(classes) == len(self.classes_):
            return states
        if self._is_ovr(len(classes)):
            return ovr_with_classes(states, self.classes_, classes)
        return [joint_with_classes(states[0], self.classes_, classes, rule.joint_share)]

    def _learn_batch(
        self,
        table: Table,
        labels: Labels,
        rule: Rule,
        weights: NDArray[np.float64] | None,
        order: NDArray[np.uint32] | None,
    ) -> None:
        before = [(s.counter("mistakes"), s.counter("updates")) for s in self._states]
        self._forget_stream()
        count = table.count if order is None else len(order)
        if len(labels.classes) == 1:  # no other class to be mistaken for
            for state in self._states:
                state.set_counter("seen", state.counter("seen") + count)
                state.set_counter("survived", state.counter("survived") + count)
        else:
            ovr = self._is_ovr(len(labels.classes))
            for k, state in enumerate(self._states):
                y = labels.signs(k) if ovr else labels.signs() if len(labels.classes) == 2 else labels.codes
                state.learn(table, y, rule, tie_positive=self.tie == "positive", sample_weight=weights, order=order)
        after = [(s.counter("mistakes"), s.counter("updates")) for s in self._states]
        self.history_ = self.history_.followed_by(
            History(
                [sum(a[0] - b[0] for a, b in zip(after, before, strict=True))],
                [sum(a[1] - b[1] for a, b in zip(after, before, strict=True))],
                [0.0],
            )
        )
        self.n_iter_, self.converged_, self.stop_reason_ = 1, False, "partial_fit"

    # -- answers

    def _answer(self) -> list[Any]:
        """What scores rows, kept until more is learned."""
        if not self._answers:  # filled in place: predicting sets no attribute
            self._answers.extend(self._make_answers())
        return self._answers

    def _fitted_history(self) -> History:
        if "history_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has learned nothing yet: call fit first")
        return self.history_

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        table = self._table(X)
        return np.hstack([model.scores(table) for model in self._answer()])


def _run_task(state: Any, problem: Problem, stopping: Stopping, bar: EpochBar, cancel: NDArray[np.uint8]) -> Outcome:
    return run_epochs(state, problem, stopping, cancel=cancel, on_epoch=bar.advance)


def check_lengths(table: Table, labels: Labels, X: str = "X", y: str = "y") -> None:
    if table.count != len(labels.codes):
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: {X} has {table.count} rows, "
            f"{y} has {len(labels.codes)} labels"
        )
