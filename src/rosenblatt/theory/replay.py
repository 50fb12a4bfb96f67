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
from rosenblatt.learners.epochs.judge import Epoch, Judge
from rosenblatt.learners.fitting import check_lengths
from rosenblatt.learners.spaces import seed_of, starting_weights
from rosenblatt.learners.targets import row_weights
from rosenblatt.recipe.family import PerceptronRecipe
from rosenblatt.recipe.recipe import LinearRecipe

MOST_VALUES = 50_000_000  # of the rows, held as Python's floats


@dataclass(frozen=True)
class Replay:
    """What a learner is told, and the data that it is about to learn."""

    recipe: LinearRecipe
    X: list[list[float]]
    labels: Labels

    @property
    def classes(self) -> int:
        return len(self.labels.classes)

    @property
    def rule(self) -> textbook.Rule:
        rule = self.recipe.used_rule
        return textbook.Rule(rule.name, eta0=rule.eta0, beta=rule.beta, C=rule.C, r=rule.r)

    def steps(self) -> Iterator[textbook.Step]:
        """Every step until the judge says stop."""
        recipe = self.recipe
        y = (self.labels.signs() if self.classes == 2 else self.labels.codes).tolist()
        weights = row_weights(None, recipe.class_weight, self.labels)
        given = [1.0] * len(self.X) if weights is None else weights.tolist()
        present = np.flatnonzero(given).astype(np.uint32)  # a row of weight 0 is as if absent
        generator = engine.seed_generator(seed_of(recipe.random_state), 0)
        shape = (1 if self.classes == 2 else self.classes, len(self.X[0]))
        start = starting_weights(recipe.init, shape, np.dtype(np.float64), generator, recipe.fit_intercept)
        W, variances = np.hstack([start[0], start[1][:, None]]).tolist(), None
        total, mistaken = float(np.sum(np.array(given)[present])), 0.0
        judge = Judge.of(recipe)
        while judge.stop_reason is None:
            order = present.copy()
            if recipe.shuffle:
                window = max(len(order), 1) if recipe.shuffle == "rows" else engine.WINDOW
                engine.draw_order(order, generator, present, window)
            mistakes, updates, before = 0, 0, mistaken
            for step in textbook.steps(
                self.X,
                y,
                rule=self.rule,
                orders=[order.tolist()],
                classes=self.classes,
                fit_intercept=bool(recipe.fit_intercept),
                tie=recipe.tie,
                weights=given,
                start=W,
                variances=variances,
            ):
                W, variances = step.after, step.variances_after
                mistakes += step.mistake
                mistaken += given[step.row] if step.mistake else 0.0
                updates += step.update
                yield replace(step, epoch=len(judge.history) + 1)
            judge.hear(Epoch(mistakes, updates, mistaken - before, total, len(present)), lambda: True)


def replay(X: Any, y: Any, learner: LinearRecipe | None) -> Replay:
    """Check that the learner's run is one run over all rows, and get ready to make it again."""
    recipe = PerceptronRecipe(shuffle=False, tol=None) if learner is None else learner
    if not isinstance(recipe, LinearRecipe):
        name = type(recipe).__name__
        raise ParameterError(f"{name} is not one of the linear learners, whose steps the textbook knows")
    if recipe.n_init != 1:
        raise ParameterError(f"n_init={recipe.n_init}: one run can be followed, not several")
    if recipe.used_rule.shrinks:
        raise ParameterError("penalty: the bounds hold for weights that only mistakes change; follow a run without one")
    if recipe.early_stopping or recipe.warm_start:
        raise ParameterError("early_stopping and warm_start: only a whole run over all rows can be followed")
    table, labels = as_table(X), encode_labels(y)
    check_lengths(table, labels)
    if len(labels.classes) < 2:
        raise LabelError("y has one class only; two or more are needed")
    if len(labels.classes) > 2 and recipe.multiclass == "ovr":
        raise ParameterError("multiclass='ovr' is one run a class: follow each by itself, with the labels y == class")
    if table.count * table.features > MOST_VALUES:
        raise DataError(
            f"{table.count:,} rows of {table.features:,} columns are too many to follow step by step: take fewer"
        )
    dense = table.values.toarray() if table.sparse else table.floats
    return Replay(recipe, dense.astype(np.float64).tolist(), labels)
