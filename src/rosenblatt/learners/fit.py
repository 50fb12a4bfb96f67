"""Fits: check everything, then learn in epochs on separate states.

Invariant: a fit that raises leaves the learner as it was. Sweeps, folds and searches take the same steps as `fit`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers, label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.stopping import Counters, History, StoppingCriterion
from rosenblatt.learners.streaming import Fitted, Names
from rosenblatt.learners.support import state_class_of
from rosenblatt.learners.targets import (
    Order,
    Shuffle,
    Targets,
    draw_order,
    hold_out,
    problem_shape,
    row_weights,
    rows_with_weight,
    target_units,
    targets_of,
)
from rosenblatt.learners.weights import Flag, Passes, seed_of
from rosenblatt.models.predictors import Products
from rosenblatt.params import Params, PassiveAggressiveRegressionParams, Rule

Result = TypeVar("Result")


def run_threads(tasks: Sequence[Callable[[NDArray[np.uint8]], Result]], n_jobs: int | None) -> list[Result]:
    """The results of all tasks, in their order, whatever the number of threads.

    Each task takes a flag that is set when another one fails or the user presses Ctrl-C.
    """
    cancel = np.zeros(1, np.uint8)
    threads = min(count_threads(n_jobs), len(tasks))
    if threads == 1:
        return [task(cancel) for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(lambda task: task(cancel), tasks))
        except BaseException:  # Ctrl-C may come before the last one is submitted
            cancel[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def count_threads(n_jobs: int | None) -> int:
    """None is 1; negative numbers count back from the threads that the process may use, -1 being all of them."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}: must be a number of threads, -1 for all CPUs, or None")
    return int(n_jobs) if n_jobs > 0 else max(1, engine.thread_limit() + 1 + int(n_jobs))


@dataclass
class FitTask:
    """One problem to learn in epochs; after them it holds the result: state, history and stop reason.

    With a validation score the result is the state of the best epoch.
    """

    state: Any
    table: Table
    targets: Targets
    rule: Rule
    stopping: StoppingCriterion
    rows: Order = None  # the rows to learn from; None: all
    shuffle: Shuffle = True
    validation: tuple[Table, Targets, Order] | None = None  # held-out rows of a table
    products: Products | None = None  # of columns, to learn from instead of the rows
    order: Order = field(default=None, init=False)  # of the latest epoch

    @property
    def count(self) -> int:
        return self.table.count if self.rows is None else len(self.rows)

    def begin(self) -> None:
        """Prepare for the first epoch, or for the next one of a run that is resumed."""
        if not len(self.stopping.history):
            self.state.begin_epochs(self.table, self.targets, self.rows)
        self._best, self._before = self.state, Counters.of(self.state)
        self._weight = self.targets.total(self.rows)

    def draw_order(self) -> Order:
        """The order of the rows for the next epoch; it overwrites the last one, and the generator moves on."""
        known, self.order = self.order, self.rows
        if self.shuffle:
            rows = self.table.count if self.rows is None else self.rows
            self.order = draw_order(rows, self.state.generator, self.shuffle, known)
        return self.order

    def end_epoch(self, seconds: float) -> None:
        """Record an epoch that the state has learned, and decide whether it was the last."""
        state, stopping = self.state, self.stopping
        finite, after = state.is_finite(), Counters.of(state)
        score = self.validation_score() if finite else None
        epoch = after.since(
            self._before, self._weight, self.count, finite=finite, seconds=seconds, validation_score=score
        )
        self._before = after
        reason = stopping.update(epoch, lambda: state.count_mistakes(self.table, self.targets, self.rows) == 0)
        if reason == "converged":
            state.converged()
        if self.validation is not None:
            self._best = state.copy() if stopping.improved else self._best
            self.state = self._best if reason is not None else state

    def validation_score(self) -> float | None:
        """The score of the state on the held-out rows, each with its weight; higher is better."""
        if self.validation is None:
            return None
        table, targets, rows = self.validation
        return targets.take(rows).quality(self.state.predictor().scores(table, rows))

    def passes(self) -> Passes:
        """A function that learns the rows in a given order."""
        if self.products is not None:
            return self._learn_products
        of_rows: Passes = self.state.passes([self.state], [self.targets], self.table, self.rule, ratchet=True)
        return of_rows

    def _learn_products(self, order: Order, cancel: Flag) -> None:
        """Part by part: the products of all rows are too many to hold."""
        for terms, part in self.products.iter_terms(self.table, order):  # type: ignore[union-attr]
            self.state.learn(terms, self.targets.take(part), self.rule, cancel=cancel)

    def score(self) -> float:
        """The key that compares restarts: the validation score, else fewer mistakes."""
        if (score := self.validation_score()) is not None:
            return score
        scores = self.state.predictor().scores(self.table, self.rows)
        return -replace(self.targets.take(self.rows), tie_positive=False).mistakes(scores)


def fit_epochs(
    task: FitTask,
    cancel: Flag = None,
    *,
    callback: Callable[[History], None] = lambda history: None,
    check_first: bool = False,
) -> FitTask:
    """Learn until the stopping criterion stops; with `check_first`, stop at once if all rows are right."""
    state, cancel = task.state, np.zeros(1, np.uint8) if cancel is None else cancel
    if check_first and not task.rule.shrinks:
        trial, before = state.copy(), Counters.of(state)
        trial.learn(task.table, task.targets, task.rule, task.rows, cancel=cancel)
        if Counters.of(trial)[:2] == before[:2] and not cancel[0]:
            task.stopping.stop_reason = "converged"
            return task
    learn = task.passes()
    task.begin()
    while task.stopping.stop_reason is None:
        started = time.perf_counter()
        learn(task.draw_order(), cancel)
        if cancel[0]:
            task.stopping.stop_reason = "max_iter"
            break
        task.end_epoch(time.perf_counter() - started)
        callback(task.stopping.history)
    return task


@dataclass(frozen=True)
class FitPlan:
    """The tasks of a fit, checked: one per problem, for each restart."""

    params: Params  # in the unit of the targets
    labels: Labels
    restarts: list[list[FitTask]]
    continues: bool  # does it continue from the states of another fit?
    check_first: bool = False  # may there be nothing left to learn?

    @property
    def tasks(self) -> list[FitTask]:
        """All of them."""
        return [task for tasks in self.restarts for task in tasks]

    def run(self) -> list[FitTask]:
        """Learn, in threads, and return the tasks of the best restart."""
        tasks = self.tasks
        epochs = len(tasks) * int(self.params.max_iter)
        with epoch_bar(self.params, epochs, shown=bool(self.params.verbose)) as advance:
            how: dict[str, Any] = {"callback": advance, "check_first": self.check_first}
            run_threads([partial(fit_epochs, task, **how) for task in tasks], self.params.n_jobs)
        best = self.best_restart()
        best[0].state.unbind([task.state for task in best])
        return best

    def fitted(self, tasks: list[FitTask], features: int, names: Names = None) -> Fitted:
        """What these tasks have learned, over so many columns."""
        (history, reason), params = ending_of(tasks), self.params
        states, classes, ending = [task.state for task in tasks], self.labels.classes, (history, len(history), reason)
        return Fitted(states, classes, params.shape(), features, names, *ending, self.labels.is_multilabel, params.unit)

    def best_restart(self) -> list[FitTask]:
        """The tasks of the best restart, the first of equals."""
        if len(self.restarts) == 1:
            return self.restarts[0]
        return self.restarts[int(np.argmax([sum(task.score() for task in tasks) for tasks in self.restarts]))]


@contextmanager
def epoch_bar(params: Params, epochs: int, *, shown: bool) -> Iterator[Callable[[History], None]]:
    """A bar on the terminal with the epochs and mistakes of a fit or a run, if it is shown."""
    if not shown:
        yield lambda history: None
        return
    from rich import progress
    from rich.console import Console

    columns = ("{task.description}", progress.BarColumn(), progress.MofNCompleteColumn(), "epochs")
    columns += ("{task.fields[mistakes]}", progress.TimeElapsedColumn())  # type: ignore[assignment]
    with progress.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(params.learner, total=epochs, mistakes="")

        def advance(history: History) -> None:
            text = f"{history.mistakes[-1]:,} mistakes"
            if history.validation_score:
                text += f", validation {history.validation_score[-1]:.4f}"
            bar.update(task, advance=1, mistakes=text)

        yield advance


def ending_of(tasks: list[FitTask]) -> tuple[History, str]:
    """The history of all problems together, and why the last of them stopped."""
    reasons = {task.stopping.stop_reason for task in tasks}
    reason = next(reason for reason in ("max_iter", "no_change", "converged") if reason in reasons)
    return History.total([task.stopping.history for task in tasks]), reason


def plan_fit(
    params: Params,
    table: Table,
    labels: Labels,
    sample_weight: Any = None,
    *,
    init: Any = None,
    X_val: Any = None,
    y_val: Any = None,
    states: list[Any] | None = None,
    products: Products | None = None,
    check_first: bool = False,
) -> FitPlan:
    """Everything that a fit by these params needs, checked; `states` are the states to continue from.

    With `products` the states are of the products of columns, which are not all held at once.
    """
    params.check()
    if isinstance(params, PassiveAggressiveRegressionParams) and isinstance(labels, Numbers):
        if params.scale_target and states is None:
            present = rows_with_weight(row_weights(sample_weight, None, labels))
            center, unit = target_units(labels.numbers if present is None else labels.numbers[present])
            if init is None and isinstance(params.init, str) and params.init == "zeros" and params.fit_intercept:
                init = (None, [center])
            params = params.scaled(unit)
        labels = replace(labels, epsilon=float(params.epsilon))
    if getattr(params, "precomputed", False) and table.count != table.features:
        raise DataError(
            f"X must be a square matrix with kernel='precomputed', a row and a column for each training row; "
            f"its shape is ({table.count}, {table.features})"
        )
    check_lengths(table, labels)
    classes = len(labels.classes)
    if classes < 2:
        raise LabelError(
            f"y has one class only, {label_values(labels.classes)[0]!r}: a classifier needs at least 2 classes"
        )
    check_labels(params, labels, classes)
    weights, seed = row_weights(sample_weight, params.class_weight, labels), seed_of(params.random_state)
    rows, targets = rows_with_weight(weights), targets_of(labels, weights, params)
    validations: list[Any] = [None] * len(targets)
    if X_val is not None or y_val is not None:
        held_table, held_labels = _validation_rows(table, labels, X_val, y_val)
        held = targets_of(held_labels, row_weights(None, params.class_weight, held_labels), params)
        validations = [(held_table, each, None) for each in held]
    elif params.early_stopping:
        rows, held_rows = hold_out(labels, rows, params.validation_fraction, engine.seed_generator(seed, 2**63))
        validations = [(table, each, held_rows) for each in targets]
    starts: list[Any] = [states]
    if states is None:
        new, shape = state_class_of(params).new, problem_shape(params, classes, labels.is_multilabel)
        by_rows = rows_with_weight(weights) if getattr(params, "gamma", None) == "scale" else None
        known = table if by_rows is None else as_table(table.take(by_rows))
        if products is not None:
            known = products.apply(table, np.empty(0, np.uint32))
        starts = [new(params, known, shape, engine.seed_generator(seed, k), init) for k in range(int(params.n_init))]

    def task(state: Any, each: Targets, validation: Any) -> FitTask:
        stopping = StoppingCriterion.of(params)
        return FitTask(state, table, each, params.update_rule, stopping, rows, params.shuffle, validation, products)

    restarts = [list(map(task, start, targets, validations)) for start in starts]
    return FitPlan(params, labels, restarts, states is not None, check_first)


def _validation_rows(table: Table, labels: Labels, X_val: Any, y_val: Any) -> tuple[Table, Labels]:
    if X_val is None or y_val is None:
        raise ParameterError("X_val and y_val go together: one of them is missing")
    val_table = as_table(X_val, name="X_val")
    if val_table.features != table.features:
        raise DataError(f"X_val has {val_table.features} features, but X has {table.features}")
    val_labels = labels.like(y_val, name="y_val")
    check_lengths(val_table, val_labels, "X_val", "y_val")
    return val_table, val_labels


def check_labels(params: Params, labels: Labels, classes: int) -> None:
    """Raise for parameters that do not work with this number of classes, or with several labels per row."""
    if not labels.is_multilabel:
        params.check_classes(classes)
    elif params.class_weight is not None:
        raise ParameterError(f"class_weight={params.class_weight!r}: a row of several labels has no class to weigh")


def check_lengths(table: Table, labels: Labels, X: str = "X", y: str = "y") -> None:
    """Raise unless there is one label per row."""
    if table.count != len(labels.codes):
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: {X} has {table.count} rows, "
            f"{y} has {len(labels.codes)} labels"
        )


def warn_if_unfinished(learner: Any, stacklevel: int) -> None:
    """Warn if the last epoch allowed was not enough."""
    if learner.stop_reason_ == "max_iter":
        from sklearn.exceptions import ConvergenceWarning

        params, history = learner.params(), learner.history_
        last = f"{history.mistakes[-1]} mistakes" if history.mistakes[-1] else f"{history.updates[-1]} updates"
        helps = ["early_stopping=True"] * (not params.early_stopping) + ["averaging"] * (params.keep == "last")
        helps += ["a smaller C"] if params.is_regression else ["AutoPerceptron"]
        tests = "" if params.is_regression else "; theory.certify tells whether the classes are separable"
        warnings.warn(
            f"{type(learner).__name__} stopped at max_iter={learner.n_iter_} with {last} in the last epoch. That "
            "proves nothing about the data. If they are noisy or overlap, more epochs do not help: use "
            f"{' or '.join(helps)}{tests}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
