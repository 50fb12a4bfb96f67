"""A fit, in three steps: everything is checked, then learned on states of its own, then taken over.

Invariant: a fit that raises leaves the learner as it was. Sweeps, folds and choices take the same steps as `fit`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.epochs.bar import EpochBar
from rosenblatt.learners.epochs.run import Outcome, Problem, best_restart, run_epochs, validation_score
from rosenblatt.learners.epochs.stopping import History, StoppingCriterion
from rosenblatt.learners.epochs.threads import run_threads
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.spaces import Space, seed_of
from rosenblatt.learners.targets import hold_out, row_weights, targets_of
from rosenblatt.params import Params

if TYPE_CHECKING:
    from rosenblatt.learners.base import Learner


@dataclass(frozen=True)
class Fitting:
    """What a fit is about to learn: its problems, and the states of every restart."""

    params: Params
    space: Space
    classes: NDArray[Any]
    problems: list[Problem]
    restarts: list[list[Any]]
    going_on: bool
    is_multilabel: bool = False  # may a row have several labels?
    check_first: bool = False  # may there be nothing left to learn?

    def tasks(self) -> list[tuple[Any, Problem, StoppingCriterion]]:
        """Independent tasks: a state, its problem and a stopping criterion, problem after problem of each restart."""
        return [
            (state, problem, StoppingCriterion.of(self.params))
            for states in self.restarts
            for state, problem in zip(states, self.problems, strict=True)
        ]

    def run(self) -> list[Outcome]:
        """Learn, in threads, and keep the best restart: the first of equals."""
        tasks = self.tasks()
        epochs = len(tasks) * int(self.params.max_iter)
        with EpochBar(self.params.learner, epochs, visible=bool(self.params.verbose)) as bar:
            outcomes = run_threads(
                [partial(_run_task, *task, self.check_first, bar) for task in tasks], self.params.n_jobs
            )
        best = best_restart(outcomes, self.problems)
        self.space.leave([outcome.state for outcome in best])
        return best


def prepare(
    learner: Learner,
    table: Table,
    labels: Labels,
    sample_weight: Any = None,
    *,
    init: Any = None,
    X_val: Any = None,
    y_val: Any = None,
) -> Fitting:
    """Everything that a fit of this learner needs, checked; nothing is learned yet."""
    params = learner.params()
    going_on = bool(params.warm_start) and learner.has_learned
    states = partial(_continued, learner, table, labels) if going_on else None
    fitting = prepare_params(
        params, learner.space, table, labels, sample_weight, init=init, X_val=X_val, y_val=y_val, states=states
    )
    return replace(fitting, check_first=going_on and (learner.converged_ or len(fitting.problems) > 1))


def prepare_params(
    params: Params,
    space: Space,
    table: Table,
    labels: Labels,
    sample_weight: Any = None,
    *,
    init: Any = None,
    X_val: Any = None,
    y_val: Any = None,
    states: Callable[[], list[Any]] | None = None,
) -> Fitting:
    """The same by params alone, without scikit-learn; `states` gives those to go on from."""
    params.check()
    space.check(params, table)
    check_lengths(table, labels)
    if len(labels.classes) < 2:
        raise LabelError(
            f"y has one class only, {label_values(labels.classes)[0]!r}: a classifier needs at least 2 classes"
        )
    if labels.is_multilabel:
        check_several(params)
    else:
        params.check_classes(len(labels.classes))
    weights = row_weights(sample_weight, params.class_weight, labels)
    rows = None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.uint32)
    seed = seed_of(params.random_state)
    problems = _problems(params, table, labels, weights, rows, seed, X_val, y_val)
    if states is not None:
        restarts = [states()]
    else:
        restarts = [
            space.new_states(
                params, table, labels.classes, engine.seed_generator(seed, restart), init, apart=labels.is_multilabel
            )
            for restart in range(params.restarts)
        ]
    going_on = states is not None
    return Fitting(params, space, labels.classes, problems, restarts, going_on, labels.is_multilabel)


def check_several(params: Params) -> None:
    """Raise for what has no meaning where a row has several labels."""
    if params.class_weight is not None:
        raise ParameterError(f"class_weight={params.class_weight!r}: rows of several labels have no class that weighs")


def _continued(learner: Learner, table: Table, labels: Labels) -> list[Any]:
    """Copies of the states so far, for a warm start on the same kind of data."""
    if table.features != learner.n_features_in_:
        raise DataError(
            f"X has {table.features} features, but {type(learner).__name__} is expecting {learner.n_features_in_} "
            "features as input: a warm start goes on with the same ones"
        )
    known = learner.learned.classes
    if not np.array_equal(labels.classes, known) or labels.is_multilabel != learner.learned.is_multilabel:
        raise LabelError(f"y has the classes {labels.classes.tolist()}: a warm start needs {known.tolist()}")
    learner.learned.check_told(learner.params().shape())
    states = [state.copy() for state in learner.learned.states]
    learner.space.recognize(table, states)
    return states


def _problems(
    params: Params,
    table: Table,
    labels: Labels,
    weights: NDArray[np.float64] | None,
    rows: NDArray[np.uint32] | None,
    seed: int,
    X_val: Any,
    y_val: Any,
) -> list[Problem]:
    """The problem, or one per class for one-vs-rest."""
    ovr, tie_positive = params.is_ovr(len(labels.classes)), params.tie_positive
    held: tuple[Table, Labels, NDArray[np.uint32] | None] | None = None
    if X_val is not None or y_val is not None:
        held = (*_validation_rows(table, labels, X_val, y_val), None)
    elif params.early_stopping:
        generator = engine.seed_generator(seed, 2**63)
        rows, held_rows = hold_out(labels, rows, params.validation_fraction, generator)
        held = table, labels, held_rows
    problems = [
        Problem(table, targets, params.update_rule, rows, params.shuffle)
        for targets in targets_of(labels, ovr=ovr, sample_weight=weights, tie_positive=tie_positive)
    ]
    if held is None:
        return problems
    held_table, held_labels, judged_by = held
    held_weights = weights if held_table is table else row_weights(None, params.class_weight, held_labels)
    return [
        replace(problem, validation=partial(validation_score, table=held_table, targets=targets, rows=judged_by))
        for problem, targets in zip(problems, targets_of(held_labels, ovr=ovr, sample_weight=held_weights), strict=True)
    ]


def _validation_rows(table: Table, labels: Labels, X_val: Any, y_val: Any) -> tuple[Table, Labels]:
    if X_val is None or y_val is None:
        raise ParameterError("X_val and y_val go together: one of them is missing")
    val_table = as_table(X_val, name="X_val")
    if val_table.features != table.features:
        raise DataError(f"X_val has {val_table.features} features, but X has {table.features}")
    val_labels = labels.like(y_val, name="y_val")
    check_lengths(val_table, val_labels, "X_val", "y_val")
    return val_table, val_labels


def conclude(learner: Learner, X: Any, fitting: Fitting, outcomes: list[Outcome]) -> None:
    """Let the learner take over what was learned from the columns of X."""
    with Hearing():
        if not fitting.going_on:
            learner.__dict__.pop("_stream_names", None)  # `fit` forgets a stream
        remember_columns(learner, X)
        take_over(learner, fitting.classes, outcomes, going_on=fitting.going_on)
        learner.learned.is_multilabel = fitting.is_multilabel


def take_over(learner: Learner, classes: NDArray[Any], outcomes: list[Outcome], *, going_on: bool = False) -> None:
    """Let the learner take over what was learned, and say how it ended."""
    history, reason = ending_of(outcomes)
    before = History()
    if going_on:
        learner.close_stream()
        before = learner.history_
    learner.install(classes, [outcome.state for outcome in outcomes])
    learner.n_iter_ = len(history)
    learner.history_ = before.followed_by(history)
    learner.stop_reason_, learner.converged_ = reason, reason == "converged"


def ending_of(outcomes: list[Outcome]) -> tuple[History, str]:
    """The history of all problems together, and why the last of them stopped."""
    reasons = {outcome.stop_reason for outcome in outcomes}
    reason = next(reason for reason in ("max_iter", "no_change", "converged") if reason in reasons)
    return History.total([outcome.history for outcome in outcomes]), reason


def check_lengths(table: Table, labels: Labels, X: str = "X", y: str = "y") -> None:
    """Raise unless there is one label per row."""
    if table.count != len(labels.codes):
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: {X} has {table.count} rows, "
            f"{y} has {len(labels.codes)} labels"
        )


def _run_task(
    state: Any,
    problem: Problem,
    stopping: StoppingCriterion,
    check_first: bool,
    bar: EpochBar,
    cancel: NDArray[np.uint8],
) -> Outcome:
    return run_epochs(state, problem, stopping, cancel=cancel, on_epoch=bar.advance, check_first=check_first)


def remember_columns(estimator: Any, X: Any) -> None:
    """These are the columns from now on, remembered as scikit-learn does: `n_features_in_`, `feature_names_in_`."""
    if type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_"):
        estimator.n_features_in_ = X.shape[1]  # an array has no names, and looking for them takes its time
    else:
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True, reset=True)


def warn_if_unfinished(learner: Learner, stacklevel: int) -> None:
    """Warn if the last epoch allowed was not enough."""
    if learner.stop_reason_ == "max_iter":
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"{type(learner).__name__} stopped at max_iter={learner.n_iter_} with {learner.history_.mistakes[-1]} "
            "mistakes in the last epoch. That proves nothing about the data: give it more epochs, or ask whether they "
            "can be separated at all",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
