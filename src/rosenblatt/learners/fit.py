"""A fit: everything is checked, then learned in epochs on states of its own, then taken over by the learner.

Invariant: a fit that raises leaves the learner as it was. Sweeps, folds and searches take the same steps as `fit`.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers, label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.hearing import Hearing
from rosenblatt.learners.learned import turn_of
from rosenblatt.learners.progress import EpochBar
from rosenblatt.learners.stopping import Epoch, History, StoppingCriterion, StopReason
from rosenblatt.learners.targets import Targets, hold_out, row_weights, target_units, targets_of
from rosenblatt.learners.weights import PassOptions, seed_of
from rosenblatt.params import Params, PassiveAggressiveRegressionParams, Rule

if TYPE_CHECKING:
    from rosenblatt.learners.base import Learner


Result = TypeVar("Result")
Other = TypeVar("Other")


def run_threads(tasks: Sequence[Callable[[NDArray[np.uint8]], Result]], n_jobs: int | None) -> list[Result]:
    """The results of all tasks, in their order, whatever the number of threads.

    Each task is given a flag that is set when another one failed or the user pressed Ctrl-C.
    """
    cancel = np.zeros(1, np.uint8)
    threads = min(count_threads(n_jobs), len(tasks))
    if threads == 1:
        return [task(cancel) for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        futures: list[Future[Result]] = []
        try:  # Ctrl-C may come before the last one is begun
            for task in tasks:
                futures.append(pool.submit(task, cancel))
            return [future.result() for future in futures]
        except BaseException:
            cancel[0] = 1
            for future in futures:
                future.cancel()
            raise


def run_both(first: Callable[[], Result], second: Callable[[], Other]) -> tuple[Result, Other]:
    """What both return; the second runs in a thread of its own."""
    answer: Future[Other] = Future()

    def work() -> None:
        try:
            answer.set_result(second())
        except BaseException as error:  # raised where it is asked for
            answer.set_exception(error)

    thread = Thread(target=work)
    thread.start()
    try:
        result = first()
    finally:
        thread.join()
    return result, answer.result()


def count_threads(n_jobs: int | None) -> int:
    """None is 1; negative numbers count back from the number of CPUs, as in scikit-learn."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}: must be a number of threads, -1 for all CPUs, or None")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


Shuffle = bool | Literal["rows"]  # "rows": every row by itself, not strips of them


@dataclass
class Orders:
    """Orders of rows to go in, drawn once for all learners that ask with the same generator.

    Learners that share an order can share a reading of the rows; each generator goes on as if it had been alone.
    """

    _used: NDArray[np.uint32] | None = None
    _drawn: dict[tuple[int, int, Shuffle, bytes], tuple[NDArray[np.uint32], NDArray[np.uint64]]] = field(
        default_factory=dict
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(
        self,
        rows: NDArray[np.uint32] | None,
        count: int,
        generator: NDArray[np.uint64],
        shuffle: Shuffle = True,
    ) -> NDArray[np.uint32]:
        """A shuffled order of the rows (None: all `count` of them); the generator moves on."""
        key = (id(rows), count, shuffle, generator.tobytes())
        with self._lock:
            if key not in self._drawn:
                order = self._take(count)
                moved = generator.copy()
                engine.draw_order(order, moved, rows, max(count, 1) if shuffle == "rows" else engine.WINDOW)
                self._drawn[key] = order, moved
            order, moved = self._drawn[key]
        generator[:] = moved
        return order

    def forget(self) -> None:
        """Let go of the orders of past epochs."""
        self._drawn.clear()

    def reuse(self, order: NDArray[np.uint32]) -> None:
        """The next draw may overwrite this order: everyone has gone over it, and fresh pages cost time."""
        self._used = order

    def _take(self, count: int) -> NDArray[np.uint32]:
        used, self._used = self._used, None
        return used if used is not None and len(used) == count else np.empty(count, np.uint32)


@dataclass(frozen=True)
class Problem:
    """Rows, what they ask for, and how to learn from them."""

    table: Table
    targets: Targets
    rule: Rule
    rows: NDArray[np.uint32] | None = None  # those to learn from; None: all
    shuffle: Shuffle = True
    validation: Callable[[Any], float] | None = None  # the score of a state; higher is better

    @property
    def count(self) -> int:
        return self.table.count if self.rows is None else len(self.rows)

    def count_mistakes(self, state: Any) -> float:
        return float(state.count_mistakes(self.table, self.targets, self.rows))


@dataclass(frozen=True)
class Outcome:
    """The state that learning ended with, what happened, and why it ended."""

    state: Any
    history: History
    stop_reason: StopReason


def run_epochs(
    state: Any,
    problem: Problem,
    stopping: StoppingCriterion,
    *,
    cancel: NDArray[np.uint8],
    on_epoch: Callable[[History], None],
    check_first: bool = False,
) -> Outcome:
    """Learn until the stopping criterion says stop; `check_first`: at once, if there is nothing left to learn.

    On exit `state` has learned everything in the history; with a validation score the outcome holds the state of
    the best epoch instead.
    """
    if check_first and _is_converged(state, problem, cancel):
        return Outcome(state, stopping.history, "converged")
    orders = Orders()
    epochs = iter_epochs(state, problem, stopping, orders, on_epoch)
    places = np.full(problem.table.count, -1) if state.stores_rows else None
    how = PassOptions(ratchet=True, places=places, cancel=cancel)
    try:
        order = next(epochs)
        learn = state.passes(problem.table, problem.targets, problem.rule, how)
        while True:
            orders.forget()
            learn(order)
            if cancel[0]:
                return Outcome(state, stopping.history, "max_iter")
            if problem.shuffle and order is not None:
                orders.reuse(order)
            order = next(epochs)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def _is_converged(state: Any, problem: Problem, cancel: NDArray[np.uint8]) -> bool:
    """Would an epoch over the rows pass without a mistake and without an update?"""
    if problem.rule.shrinks:
        return False
    trial, before = state.copy(), Counters.of(state)
    trial.learn(problem.table, problem.targets, problem.rule, problem.rows, PassOptions(cancel=cancel))
    return Counters.of(trial)[:2] == before[:2] and not cancel[0]


def iter_epochs(
    state: Any,
    problem: Problem,
    stopping: StoppingCriterion,
    orders: Orders,
    on_epoch: Callable[[History], None],
) -> Generator[NDArray[np.uint32] | None, None, Outcome]:
    """The orders of the rows, epoch by epoch; the caller lets the state learn in each before it asks for the next."""
    best, weight = state, problem.targets.total(problem.rows)
    state.begin_epochs(problem.table, problem.targets, problem.rows)
    before = Counters.of(state)
    while stopping.stop_reason is None:
        started = time.perf_counter()
        order = problem.rows
        if problem.shuffle:
            order = orders.draw(problem.rows, problem.count, state.generator, problem.shuffle)
        yield order
        seconds = time.perf_counter() - started
        finite = state.is_finite()
        score = problem.validation(state) if finite and problem.validation is not None else None
        after = Counters.of(state)
        epoch = after.since(before, weight, problem.count, finite=finite, seconds=seconds, validation_score=score)
        before = after
        reason = stopping.update(epoch, lambda: problem.count_mistakes(state) == 0)
        on_epoch(stopping.history)
        if reason == "converged":
            state.converged()
        if stopping.improved and problem.validation is not None:
            best = state.copy()
    return Outcome(state if problem.validation is None else best, stopping.history, stopping.stop_reason)


class Counters(NamedTuple):
    """The counters of a state at one moment."""

    mistakes: int
    updates: int
    weight: float

    @classmethod
    def of(cls, state: Any) -> Counters:
        return cls(state.counter("mistakes"), state.counter("updates"), state.mistake_weight)

    def since(self, before: Counters, weight: float, rows: int, **more: Any) -> Epoch:
        """The epoch between two moments, over rows of so much weight."""
        mistakes, updates = self.mistakes - before.mistakes, self.updates - before.updates
        return Epoch(mistakes, updates, self.weight - before.weight, weight, rows, **more)


def best_restart(outcomes: list[Outcome], problems: list[Problem]) -> list[Outcome]:
    """The outcomes of the best restart, the first of equals; `outcomes` holds all problems of each restart in turn."""
    groups = [outcomes[at : at + len(problems)] for at in range(0, len(outcomes), len(problems))]
    if len(groups) == 1:
        return groups[0]
    scores = [sum(_score_of(o, p) for o, p in zip(group, problems, strict=True)) for group in groups]
    return groups[int(np.argmax(scores))]


def _score_of(outcome: Outcome, problem: Problem) -> float:
    """How good an outcome is, to compare restarts: the validation score, or fewer mistakes of the answer."""
    if problem.validation is not None:
        return problem.validation(outcome.state)
    scores = outcome.state.predictor().scores(problem.table, problem.rows)
    targets = problem.targets if problem.rows is None else problem.targets.take(problem.rows)
    return -targets.weigh(replace(targets, tie_positive=False).wrong(scores))


def validation_score(state: Any, *, table: Table, targets: Targets, rows: NDArray[np.uint32] | None) -> float:
    """How good the answer so far is on the rows: the share that it gets right, each counted with its weight."""
    asked = targets if rows is None else targets.take(rows)
    return asked.quality(state.predictor().scores(table, rows))


@dataclass(frozen=True)
class Fitting:
    """What a fit is about to learn: its problems, and the states of every restart."""

    params: Params
    space: Any
    classes: NDArray[Any]
    problems: list[Problem]
    restarts: list[list[Any]]
    going_on: bool
    is_multilabel: bool = False  # may a row have several labels?
    check_first: bool = False  # may there be nothing left to learn?
    unit: float = 1.0  # of a regression's targets

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
    if not going_on and isinstance(learner, Params):
        params = learner  # not in the units of the targets before
    states = partial(_continued, learner, table, labels) if going_on else None
    fitting = prepare_params(
        params, learner.space, table, labels, sample_weight, init=init, X_val=X_val, y_val=y_val, states=states
    )
    return replace(fitting, check_first=going_on and (learner.converged_ or len(fitting.problems) > 1))


def prepare_params(
    params: Params,
    space: Any,
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
    if isinstance(params, PassiveAggressiveRegressionParams) and isinstance(labels, Numbers):
        unit = 1.0
        if params.scale_target and states is None:
            center, unit = target_units(labels.numbers)
            if init is None and isinstance(params.init, str) and params.init == "zeros" and params.fit_intercept:
                init = (None, [center])
            params = params.scaled(unit)
        labels = replace(labels, epsilon=float(params.epsilon))
        fitting = _prepare(params, space, table, labels, sample_weight, init, X_val, y_val, states)
        return replace(fitting, unit=unit)
    return _prepare(params, space, table, labels, sample_weight, init, X_val, y_val, states)


def _prepare(
    params: Params,
    space: Any,
    table: Table,
    labels: Labels,
    sample_weight: Any,
    init: Any,
    X_val: Any,
    y_val: Any,
    states: Callable[[], list[Any]] | None,
) -> Fitting:
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
    with turn_of(learner), Hearing():
        if not fitting.going_on:
            learner.__dict__.pop("_stream_names", None)  # `fit` forgets a stream
        remember_columns(learner, X)
        take_over(learner, fitting.classes, outcomes, going_on=fitting.going_on)
        if fitting.unit != 1.0 or ("target_scale_" in vars(learner) and not fitting.going_on):
            learner.target_scale_ = fitting.unit
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
