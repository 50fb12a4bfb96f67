"""A learner's run, step by step, as the textbook makes it.

Invariant: the steps are those of ``learner.fit(X, y)``: the same rule, order, start and stopping. They are made by
``rosenblatt.textbook``, so they differ from the engine's only where a margin is within rounding of 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt import engine, textbook
from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.epochs.stopping import Epoch, StoppingCriterion
from rosenblatt.learners.fitting import check_lengths
from rosenblatt.learners.spaces import seed_of, starting_weights
from rosenblatt.learners.targets import row_weights
from rosenblatt.params.base import LinearParams
from rosenblatt.params.family import PerceptronParams

MOST_VALUES = 50_000_000  # of the rows, held as Python's floats


@dataclass(frozen=True)
class Replay:
    """What a learner is told, and the data that it is about to learn."""

    params: LinearParams
    X: list[list[float]]
    labels: Labels

    @property
    def classes(self) -> int:
        return len(self.labels.classes)

    @property
    def rule(self) -> textbook.Rule:
        rule = self.params.update_rule
        return textbook.Rule(rule.name, eta0=rule.eta0, beta=rule.beta, C=rule.C, r=rule.r)

    def steps(self) -> Iterator[textbook.Step]:
        """Every step until the stopping criterion says stop."""
        params = self.params
        y = (self.labels.signs() if self.classes == 2 else self.labels.codes).tolist()
        weights = row_weights(None, params.class_weight, self.labels)
        given = [1.0] * len(self.X) if weights is None else weights.tolist()
        present = np.flatnonzero(given).astype(np.uint32)  # a row of weight 0 is as if absent
        generator = engine.seed_generator(seed_of(params.random_state), 0)
        shape = (1 if self.classes == 2 else self.classes, len(self.X[0]))
        start = starting_weights(params.init, shape, np.dtype(np.float64), generator, params.fit_intercept)
        W, variances = np.hstack([start[0], start[1][:, None]]).tolist(), None
        total, mistaken = float(np.sum(np.array(given)[present])), 0.0
        stopping = StoppingCriterion.of(params)
        while stopping.stop_reason is None:
            order = present.copy()
            if params.shuffle:
                window = max(len(order), 1) if params.shuffle == "rows" else engine.WINDOW
                engine.draw_order(order, generator, present, window)
            mistakes, updates, before = 0, 0, mistaken
            for step in textbook.steps(
                self.X,
                y,
                rule=self.rule,
                orders=[order.tolist()],
                classes=self.classes,
                fit_intercept=bool(params.fit_intercept),
                tie=params.tie,
                weights=given,
                start=W,
                variances=variances,
            ):
                W, variances = step.after, step.variances_after
                mistakes += step.mistake
                mistaken += given[step.row] if step.mistake else 0.0
                updates += step.update
                yield replace(step, epoch=len(stopping.history) + 1)
            stopping.update(Epoch(mistakes, updates, mistaken - before, total, len(present)), lambda: True)


def replay(X: Any, y: Any, learner: LinearParams | None) -> Replay:
    """Check that the learner's run is one run over all rows, and get ready to make it again."""
    params = PerceptronParams(shuffle=False, tol=None) if learner is None else learner
    if not isinstance(params, LinearParams):
        name = type(params).__name__
        raise ParameterError(f"{name} is not one of the linear learners, whose steps the textbook knows")
    if params.n_init != 1:
        raise ParameterError(f"n_init={params.n_init}: one run can be followed, not several")
    if params.update_rule.shrinks:
        raise ParameterError("penalty: the bounds hold for weights that only mistakes change; follow a run without one")
    if params.early_stopping or params.warm_start:
        raise ParameterError("early_stopping and warm_start: only a whole run over all rows can be followed")
    table, labels = as_table(X), encode_labels(y)
    check_lengths(table, labels)
    if len(labels.classes) < 2:
        raise LabelError("y has one class only; two or more are needed")
    if len(labels.classes) > 2 and params.multiclass == "ovr":
        raise ParameterError("multiclass='ovr' is one run a class: follow each by itself, with the labels y == class")
    if table.count * table.features > MOST_VALUES:
        raise DataError(
            f"{table.count:,} rows of {table.features:,} columns are too many to follow step by step: take fewer"
        )
    dense = table.values.toarray() if table.sparse else table.floats
    return Replay(params, dense.astype(np.float64).tolist(), labels)
