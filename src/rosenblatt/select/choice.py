"""A selected learner, its plan of learning, and its evaluation on held-out rows.

Invariant: arrays and files learn a choice by the same plan, and no row is scored by weights that were learned from it.
Nothing here needs scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.evaluation import Evaluation, evaluate_scores
from rosenblatt.learners.fit import FitPlan, plan_fit, run_threads
from rosenblatt.learners.targets import row_weights
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictors import Products, Quadratic, count_terms
from rosenblatt.select.calibration import Calibration, Method
from rosenblatt.select.folds import CrossValidation, Fold
from rosenblatt.select.scaling import Scaling
from rosenblatt.select.scoring import ACCURACY, Scorer

Floats = NDArray[np.float64]
MOST_VALUES = 1 << 24  # terms of all rows that are held at once, 64 MB; of more rows, a sample is compared


@dataclass(frozen=True)
class HoldoutResult:
    """An evaluation on held-out rows, and a description of these rows."""

    found: Evaluation
    rows: str  # a description of the rows
    how: str = ""  # and how they were predicted
    scores: dict[str, float] = field(default_factory=dict)  # other scores of the same rows, by their names

    def sentence(self) -> str:
        low, high = self.found.interval()
        baseline = f"baseline {self.found.baseline:.2%}, the most frequent class"
        others = "".join(f"; {name} {score:.4f}" for name, score in self.scores.items())
        weighted = " by weight" if self.found.weighted else ""
        return (
            f"{self.found.accuracy:.2%} of {self.rows} right{weighted}{self.how} "
            f"(95% interval {low:.2%} to {high:.2%}; {baseline}){others}"
        )

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        plain = {
            "accuracy": self.found.accuracy,
            "interval": list(self.found.interval()),
            "baseline": self.found.baseline,
            "rows": f"{self.rows}{self.how}",
            "figures": self.found.to_json(),
        }
        return plain | ({"scores": self.scores} if self.scores else {})


@dataclass(frozen=True)
class HeldOut:
    """The scores of held-out rows."""

    labels: Labels
    scores: Floats
    weights: Floats | None = None  # of samples and classes: they count in every score
    sample_weights: Floats | None = None  # without those of classes, which do not move probabilities
    scorer: Scorer = ACCURACY  # what learners are compared by

    def calibration(self, method: Method = "auto") -> Calibration:
        """Curves from scores to probabilities."""
        return Calibration.of(method, self.scores, self.labels.codes, self.sample_weights)

    @cached_property
    def calibrator(self) -> Calibrator:
        """The probability curves that `train` saves."""
        return self.calibration().calibrator

    def other_scores(self) -> dict[str, float]:
        """The score by its name, unless it is the accuracy."""
        scorer = self.scorer
        if scorer.is_accuracy:
            return {}
        return {scorer.name: scorer(self.scores, self.labels, self.weights, self.calibrator)}

    def result(self, rows: str, how: str = "") -> HoldoutResult:
        """The evaluation of the scores."""
        labels = self.labels
        found = evaluate_scores(labels.classes, labels.codes, self.scores, self.weights, self.calibrator)
        return HoldoutResult(found, rows, how, self.other_scores())


@dataclass(frozen=True)
class Choice:
    """The selection: params, scaling or products of the columns, and the reason."""

    params: Any
    why: str = ""  # nothing was selected
    scaling: Scaling | None = None
    products: Products | None = None  # the terms to learn from, instead of the columns
    scores: dict[str, float] = field(default_factory=dict)  # of all that was compared, by their names
    held_out: HeldOut | None = None  # the rows that it was chosen by; None: there were too few to hold some out
    calibration: Calibration | None = None  # probabilities by these rows

    @property
    def held(self) -> HoldoutResult | None:
        """The evaluation on the held-out rows."""
        if self.held_out is None:
            return None
        rows = f"{len(self.held_out.labels.codes):,} held-out rows"
        return self.held_out.result(rows, ", by which the learner was chosen")

    def plan(self, table: Table, labels: Labels, sample_weight: Any = None, states: list[Any] | None = None) -> FitPlan:
        """The fit of these rows, which are scaled already; products of many rows are not held all at once."""
        params, products = self.params, self.products
        if products is not None and count_terms(len(products.columns)) * table.count <= MOST_VALUES:
            table, products = products.apply(table), None
        return plan_fit(params, table, labels, sample_weight, states=states, products=products)

    def predictors(self, states: list[Any]) -> tuple[Any, ...]:
        """The predictors for the rows of the plan."""
        found: tuple[Any, ...] = states[0].predictors_of(states)
        return found if self.products is None else (Quadratic(self.products, found[0]),)

    def fold_scores(
        self, table: Table, labels: Labels, weights: Floats | None, folds: list[Fold], n_jobs: int | None
    ) -> list[Floats]:
        """The scores of each fold's held-out rows, by a learner of its training rows."""

        def score(fold: Fold, cancel: NDArray[np.uint8]) -> Floats:
            plan = self.plan(table, labels, training_weights(weights, fold, len(labels.codes)))
            if cancel[0]:  # another fold has failed
                return np.empty((0, 1))
            found = self.predictors([task.state for task in plan.run()])
            return np.hstack([each.scores(table, fold[1]) for each in found])

        return run_threads([partial(score, fold) for fold in folds], n_jobs)

    def hold_out(
        self,
        table: Table,
        labels: Labels,
        sample_weights: Floats | None,
        folds: list[Fold],
        *,
        n_jobs: int | None = -1,
        scorer: Scorer = ACCURACY,
    ) -> HeldOut:
        """The scores of the rows of all folds, in the order of the rows."""
        scores = np.vstack(self.fold_scores(table, labels, sample_weights, folds, n_jobs))
        rows = np.concatenate([held for _, held in folds])
        scores, rows = scores[np.argsort(rows)], np.sort(rows)
        weights = row_weights(sample_weights, self.params.class_weight, labels, more_to_come=True)
        weights, sample_weights = (None if each is None else each[rows] for each in (weights, sample_weights))
        return HeldOut(labels.take(rows), scores, weights, sample_weights, scorer)


def score_folds(
    scorer: Scorer, labels: Labels, weights: Floats | None, folds: list[Fold], found: Iterable[tuple[Floats, Any]]
) -> CrossValidation:
    """The score of each fold, whose held-out rows have these scores and this calibrator, if any.

    A fold of one class, of which a score of ranks is not defined, is left out.
    """
    scores, shares = [], []
    for (_, held), (each, calibrator) in zip(folds, found, strict=True):
        counted = None if weights is None else weights[held]
        score = scorer(each, labels.take(held), counted, calibrator)
        if math.isnan(score) and len(np.unique(labels.codes[held])) == 1:
            continue
        scores.append(score)
        shares.append(len(held) if counted is None else counted.sum())
    scores, shares = scores or [math.nan], shares or [1.0]
    return CrossValidation(np.array(scores), None if weights is None else np.array(shares), scorer.name)


def training_weights(weights: Floats | None, fold: Fold, rows: int) -> Floats:
    """The weights of all rows, 0 for held-out rows."""
    found = np.zeros(rows)
    found[fold[0]] = 1.0 if weights is None else weights[fold[0]]
    return found
