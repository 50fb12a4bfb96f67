"""Epochs of one problem, from the first to the one after which the stopping criterion says stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.learners.epochs.stopping import Epoch, History, StoppingCriterion, StopReason
from rosenblatt.learners.state.learning import LearningState, PassOptions
from rosenblatt.learners.targets import Targets
from rosenblatt.params import Rule

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
    validation: Callable[[LearningState], float] | None = None  # the score of a state; higher is better

    @property
    def count(self) -> int:
        return self.table.count if self.rows is None else len(self.rows)

    def count_mistakes(self, state: LearningState) -> float:
        return state.count_mistakes(self.table, self.targets, self.rows)


@dataclass(frozen=True)
class Outcome:
    """The state that learning ended with, what happened, and why it ended."""

    state: Any
    history: History
    stop_reason: StopReason


def run_epochs(
    state: LearningState,
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


def _is_converged(state: LearningState, problem: Problem, cancel: NDArray[np.uint8]) -> bool:
    """Would an epoch over the rows pass without a mistake and without an update?"""
    if problem.rule.shrinks:
        return False
    trial, before = state.copy(), Counters.of(state)
    trial.learn(problem.table, problem.targets, problem.rule, problem.rows, PassOptions(cancel=cancel))
    return Counters.of(trial)[:2] == before[:2] and not cancel[0]


def iter_epochs(
    state: LearningState,
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
    def of(cls, state: LearningState) -> Counters:
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


def validation_score(state: LearningState, *, table: Table, targets: Targets, rows: NDArray[np.uint32] | None) -> float:
    """How good the answer so far is on the rows: the share that it gets right, each counted with its weight."""
    asked = targets if rows is None else targets.take(rows)
    return asked.quality(state.predictor().scores(table, rows))
