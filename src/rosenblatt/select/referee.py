"""How learners of a sweep compare: by the classes that they answer with, on rows counted by weight.

Invariant: all learners are judged by one measure. One-vs-rest learners answer with one class too, so what counts is
whether that class is right, not how many of their problems are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels, Numbers
from rosenblatt.data.table import Table
from rosenblatt.learners.epochs.run import Orders
from rosenblatt.learners.fitting import Fitting
from rosenblatt.learners.learned import Reading
from rosenblatt.learners.targets import row_weights, targets_of
from rosenblatt.models.linear import Linear
from rosenblatt.select.scoring import Measure, make_measure
from rosenblatt.select.together import Course

BLOCK = 64  # the first epoch of one-vs-rest is looked at in blocks of a 64th of the rows so far


@dataclass(frozen=True)
class Referee:
    """The rows that learners are judged by, and what each weighs."""

    table: Table
    labels: Labels
    weights: NDArray[np.float64] | None
    shared: bool  # do these weights have the class weights, which all learners share?
    measure: Measure = field(default_factory=lambda: make_measure(None))

    @classmethod
    def of(
        cls, table: Table, labels: Labels, sample_weight: Any, class_weights: Sequence[Any], scoring: Any = None
    ) -> Referee:
        """Class weights count if they are the same for all: otherwise no two learners would be judged alike."""
        shared = all(each == class_weights[0] for each in class_weights)
        weights = row_weights(sample_weight, class_weights[0] if shared else None, labels)
        return cls(table, labels, weights, shared, make_measure(scoring, regression=isinstance(labels, Numbers)))

    def held_out(self, reading: Reading, fitting: Fitting) -> float:
        """The score of an answer on the rows that were not learned from."""
        free = np.ones(self.table.count, bool) if self.weights is None else self.weights > 0
        free[fitting.problems[0].rows] = False
        rows = np.flatnonzero(free).astype(np.uint32)
        weights = None if self.weights is None else self.weights[rows]
        return self.measure.of(reading.scores(self.table, rows), self.labels.take(rows), weights, None)

    def first_states(self, fitting: Fitting) -> list[list[Any]]:
        """Copies of the states before the first epoch, where its mistakes will not be known from counters."""
        if self.shared and len(fitting.problems) == 1 and self.measure.is_accuracy and not self.labels.is_multilabel:
            return []
        return [[state.copy() for state in states] for states in fitting.restarts]

    def on_arrival(self, fitting: Fitting, restart: int, courses: list[Course], states: list[list[Any]]) -> float:
        """The share of the rows that were right on arrival in the first epoch of a restart."""
        if states:
            return self._replayed(fitting, states[restart])
        problem = fitting.problems[0]
        return 1.0 - courses[restart].first_mistakes / problem.targets.total(problem.rows)

    def _replayed(self, fitting: Fitting, states: list[Any]) -> float:
        """The same, by answers of all problems together: each block of rows is answered before it is learned.

        A row is answered by the weights of at most a 64th of the epoch so far before its arrival.
        """
        problem = fitting.problems[0]
        order = problem.rows
        if problem.shuffle:
            order = Orders().draw(problem.rows, problem.count, states[0].generator.copy(), problem.shuffle)
        if order is None:
            order = np.arange(problem.count, dtype=np.uint32)
        asked = targets_of(self.labels, sample_weight=self.weights)[0]
        wrong, done, met = 0.0, 0, []
        while done < len(order):
            block = order[done : done + max(1, done // BLOCK)]
            scores = _scores_of(states, self.table, block)
            wrong += (
                0.0
                if asked.measured or self.labels.is_multilabel
                else asked.take(block).weigh(asked.take(block).wrong(scores))
            )
            met.append(scores)
            for state, each in zip(states, fitting.problems, strict=True):
                state.learn(self.table, each.targets, each.rule, order=block)
            done += len(block)
        if not self.measure.is_accuracy or self.labels.is_multilabel:
            weights = None if self.weights is None else self.weights[order]
            return self.measure.of(np.vstack(met), self.labels.take(order), weights, None)
        return 1.0 - wrong / asked.total(order)


def _scores_of(states: list[Any], table: Table, block: NDArray[np.uint32]) -> NDArray[np.float64]:
    raw = [Linear(settled.weights, settled.intercept) for settled in (state.settled() for state in states)]
    return np.hstack([each.scores(table, block) for each in raw])
