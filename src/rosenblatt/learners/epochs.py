"""Epochs of one problem until it converges, stops improving, or runs out of them.

Invariant: nothing is compared with an absolute loss, only shares of the rows, so the answer never depends on the scale
of the data or of `eta0`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError
from rosenblatt.learners.history import History
from rosenblatt.learners.rules import Rule
from rosenblatt.learners.state import State

StopReason = Literal["converged", "no_change", "max_iter"]


@dataclass(frozen=True)
class Problem:
    """Rows, and what they should be: signs with two classes, codes with more."""

    table: Table
    y: NDArray[Any]
    rule: Rule
    tie_positive: bool
    sample_weight: NDArray[np.float64] | None
    rows: NDArray[np.uint32] | None  # those to learn from; None: all

    @property
    def count(self) -> int:
        return self.table.count if self.rows is None else len(self.rows)

    @cached_property
    def total_weight(self) -> float:
        return float(self.count) if self.sample_weight is None else float(self.present(self.sample_weight).sum())

    def present(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.rows is None else values[self.rows]

    def count_mistakes(self, state: State) -> float:
        return state.count_mistakes(
            self.table, self.y, tie_positive=self.tie_positive, sample_weight=self.sample_weight, order=self.rows
        )


@dataclass(frozen=True)
class Stopping:
    """When to stop, and in what order to go until then.

    The mistake rate is a share of the rows, each counted with its sample weight.
    """

    max_iter: int
    tol: float | None
    n_iter_no_change: int
    shuffle: bool
    validation: Callable[[State], float] | None = None  # a score; higher is better
    keep_best: bool = True  # is the outcome the state of the best validation score, or the last one?


@dataclass(frozen=True)
class Outcome:
    state: State
    history: History
    stop_reason: StopReason


@dataclass
class Orders:
    """Orders of rows to go in, drawn once for all learners that ask with the same generator.

    Learners that share an order can share a reading of the rows; each generator goes on as if it had been alone.
    """

    _spare: NDArray[np.uint32] | None = None
    _drawn: dict[tuple[int, int, bytes], tuple[NDArray[np.uint32], NDArray[np.uint64]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def draw(self, problem: Problem, generator: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """A shuffled order of the problem's rows; the generator moves on."""
        key = (id(problem.rows), problem.count, generator.tobytes())
        with self._lock:
            if key not in self._drawn:
                order = self._take(problem.count)
                if problem.rows is not None:
                    order[:] = problem.rows
                moved = generator.copy()
                engine.shuffle(order, moved, number=problem.rows is None)
                self._drawn[key] = order, moved
            order, moved = self._drawn[key]
        generator[:] = moved
        return order

    def forget(self) -> None:
        """Let go of the orders of past epochs."""
        self._drawn.clear()

    def reuse(self, order: NDArray[np.uint32]) -> None:
        """The next draw may overwrite this order: everyone has gone over it."""
        self._spare = order

    def _take(self, count: int) -> NDArray[np.uint32]:
        spare, self._spare = self._spare, None
        return spare if spare is not None and len(spare) == count else np.empty(count, np.uint32)


def run_epochs(
    state: State,
    problem: Problem,
    stopping: Stopping,
    *,
    cancel: NDArray[np.uint8],
    on_epoch: Callable[[History], None],
) -> Outcome:
    """Learn until a stopping rule holds.

    On exit `state` has learned everything in the history; with a validation score the outcome holds the state of
    the best epoch instead.
    """
    orders = Orders()
    epochs = iter_epochs(state, problem, stopping, orders, on_epoch)
    places = np.full(problem.table.count, -1) if state.keep == "vote" else None
    try:
        while True:
            order = next(epochs)
            orders.forget()
            state.learn(
                problem.table,
                problem.y,
                problem.rule,
                tie_positive=problem.tie_positive,
                sample_weight=problem.sample_weight,
                order=order,
                ratchet=True,
                places=places,
                cancel=cancel,
            )
            if cancel[0]:
                return Outcome(state, History(), "max_iter")
            if stopping.shuffle and order is not None:
                orders.reuse(order)  # fresh pages cost a third of the shuffling
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome


def iter_epochs(
    state: State,
    problem: Problem,
    stopping: Stopping,
    orders: Orders,
    on_epoch: Callable[[History], None],
) -> Generator[NDArray[np.uint32] | None, None, Outcome]:
    """The orders of the rows, epoch by epoch; the caller lets the state learn in each before it asks for the next."""
    history = History()
    best, best_state, waited = -np.inf, state, 0
    if state.pocket_mistakes is not None and state.counter("seen") == 0:
        state.pocket_mistakes[0] = problem.count_mistakes(state)
    stop_reason: StopReason = "max_iter"
    for _ in range(stopping.max_iter):
        started = time.perf_counter()
        weight_before = float(state.mistake_weight[0])
        before = state.counter("mistakes"), state.counter("updates")
        yield orders.draw(problem, state.generator) if stopping.shuffle else problem.rows
        mistakes, updates = state.counter("mistakes") - before[0], state.counter("updates") - before[1]
        history.mistakes.append(mistakes)
        history.updates.append(updates)
        history.seconds.append(time.perf_counter() - started)
        if not state.is_finite():
            raise DataError(f"the weights overflowed in epoch {len(history)}: scale the columns of X")
        if stopping.validation is not None:
            history.validation_score.append(stopping.validation(state))
        on_epoch(history)
        moved = updates > 0 or problem.rule.penalty is not None
        if mistakes == 0 and (not moved or problem.count_mistakes(state) == 0):
            stop_reason = "converged"
            if state.keep == "pocket":
                state.take_into_pocket(0.0)
            best_state = state
            break
        if stopping.validation is not None:
            score = history.validation_score[-1]
        else:
            score = (weight_before - float(state.mistake_weight[0])) / problem.total_weight
        waited = 0 if stopping.tol is None or score - best > stopping.tol else waited + 1
        if score > best:
            best = score
            best_state = state.copy() if stopping.validation is not None and stopping.keep_best else state
        if waited >= stopping.n_iter_no_change:
            stop_reason = "no_change"
            break
    return Outcome(best_state, history, stop_reason)


def best_restart(outcomes: list[Outcome], problems: list[Problem], stoppings: list[Stopping]) -> list[Outcome]:
    """The outcomes of the best restart, the first of equals; `outcomes` holds all problems of each restart in turn."""
    groups = [outcomes[at : at + len(problems)] for at in range(0, len(outcomes), len(problems))]
    if len(groups) == 1:
        return groups[0]
    scores = [sum(_score_of(o, p, s) for o, p, s in zip(group, problems, stoppings, strict=True)) for group in groups]
    return groups[int(np.argmax(scores))]


def _score_of(outcome: Outcome, problem: Problem, stopping: Stopping) -> float:
    """How good an outcome is, to compare restarts: the validation score, or fewer mistakes of the answer."""
    if stopping.validation is not None:
        return stopping.validation(outcome.state)
    return -_mistakes_of_answer(outcome.state, problem)


def _mistakes_of_answer(state: State, problem: Problem) -> float:
    """How many of the rows the kept weights get wrong; a score of 0 is wrong, a tie too."""
    scores = state.answer().scores(problem.table, problem.rows)
    y = problem.present(problem.y)
    if scores.shape[1] == 1:
        return float(np.count_nonzero(y * scores[:, 0] <= 0))
    right = scores[np.arange(len(y)), y]
    scores[np.arange(len(y)), y] = -np.inf
    return float(np.count_nonzero(right <= scores.max(axis=1)))
