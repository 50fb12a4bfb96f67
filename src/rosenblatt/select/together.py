"""Many learners over the same rows, each row read once for all of them.

Invariant: a learner among others does exactly what it would do alone, bit for bit; the number of threads changes
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.learners.epochs.run import Orders, Outcome, Problem, iter_epochs
from rosenblatt.learners.epochs.stopping import StoppingCriterion
from rosenblatt.learners.epochs.threads import count_threads, run_threads
from rosenblatt.learners.state.state import State

VALUES_A_THREAD = 1_000_000  # below this, starting a thread costs more than it saves


class Course:
    """One problem's learning under way: it can be taken an epoch further, beside others, until it is over."""

    def __init__(self, state: State, problem: Problem, stopping: StoppingCriterion, orders: Orders) -> None:
        self.state = state
        self.problem = problem
        self.outcome: Outcome | None = None
        self.order: NDArray[np.uint32] | None = None
        self.one: Any = None  # the pass, made for the first epoch
        self.ready = False  # for the next epoch
        self.epochs = 0  # that are over
        self.first_mistakes = 0.0  # what the rows weigh that were mistakes in the first of them
        self._weight_before = state.mistake_weight
        self._places = np.full(problem.table.count, -1) if state.stores_rows else None
        self._epochs = iter_epochs(state, problem, stopping, orders, lambda history: None)

    @property
    def over(self) -> bool:
        return self.outcome is not None

    def prepare(self) -> None:
        """Have the next pass ready, unless it is already, or learning is over."""
        if not self.ready and not self.over:
            self._advance()

    def finish_pass(self) -> None:
        """After the pass was run: count, validate, and see whether learning is over."""
        self.state.end_pass(self.one, self.problem.table, self._places)
        if self.epochs == 0:
            self.first_mistakes = self.state.mistake_weight - self._weight_before
        self.epochs += 1
        self._advance()

    def _advance(self) -> None:
        self.ready, self.order = False, None
        try:
            self.order = next(self._epochs)
        except StopIteration as end:
            self.outcome = end.value
            return
        problem = self.problem
        if self.one is None:
            self.one = self.state.begin_pass(problem.table, problem.targets, problem.rule, ratchet=True)
        self.one.set_order(self.order)
        self.ready = True


def run_together(
    courses: Sequence[Course], orders: Orders, *, epochs: int | None = None, n_jobs: int | None = None
) -> None:
    """Take every course so many epochs further, or to its end."""
    done = 0
    for course in courses:
        course.prepare()
    while epochs is None or done < epochs:
        active = [course for course in courses if not course.over]
        if not active:
            return
        groups: dict[int, list[Course]] = {}
        for course in active:
            groups.setdefault(id(course.order), []).append(course)
        orders.forget()
        for group in groups.values():
            _run_epoch(group, n_jobs)
        done += 1


def _run_epoch(group: list[Course], n_jobs: int | None) -> None:
    table = group[0].problem.table
    threads = max(1, min(count_threads(n_jobs), len(group), len(group) * table.stored // VALUES_A_THREAD))
    parts = [group[at::threads] for at in range(threads)]
    run_threads([partial(_run_part, part) for part in parts], threads)


def _run_part(part: list[Course], cancel: NDArray[np.uint8]) -> None:
    engine.run_passes([course.one for course in part], cancel)
    if not cancel[0]:
        for course in part:
            course.finish_pass()
