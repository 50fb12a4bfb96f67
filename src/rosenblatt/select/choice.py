"""Rows to compare learners on, a selected learner, its plan of learning, and its evaluation on held-out rows.

Invariant: arrays and files learn a choice by the same plan, and no row is scored by weights that were learned from it.
Nothing here needs scikit-learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import effective_rows
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table, as_table
from rosenblatt.evaluation import Evaluation, evaluate_scores
from rosenblatt.learners.fit import FitPlan, FitTask, plan_fit, run_threads
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.targets import Targets, row_weights, targets_of
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictors import Linear, Products, Quadratic, count_terms
from rosenblatt.params import LinearParams
from rosenblatt.select.calibration import Calibration, Method
from rosenblatt.select.folds import CrossValidation, Fold, Rows, make_folds, take_rows
from rosenblatt.select.scaling import Scaling
from rosenblatt.select.scoring import ACCURACY, Measure, Scorer

Floats = NDArray[np.float64]
MOST_EPOCHS = 100
MOST_VALUES = 1 << 24  # terms of all rows that are held at once, 64 MB; of more rows, a sample is compared


@dataclass(frozen=True)
class Sample:
    """Rows with labels and weights, how they are split into training rows and held-out rows, and what is compared."""

    table: Table
    labels: Labels
    weights: Floats | None = None  # of samples and classes: they count in every score
    sample_weights: Floats | None = None  # without those of classes, which do not move probabilities
    folds: list[Fold] = field(default_factory=list)  # none: there are too few rows to compare learners
    spare_folds: list[Fold] = field(default_factory=list)  # other held-out parts, for what `folds` cannot settle
    scaling: Scaling | None = None  # what was done to the columns
    products: Products | None = None
    max_iter: int = MOST_EPOCHS
    seed: int = 0
    n_jobs: int | None = -1
    scorer: Scorer = ACCURACY
    held_tables: dict[Any, Table] = field(default_factory=dict, init=False)  # of dense rows, by fold and precision

    def weighed(self, sample_weight: Any, class_weight: Any, *, more_to_come: bool = False) -> Sample:
        """The rows with the weights of samples and classes; with `more_to_come`, a class may still come."""
        weights = row_weights(sample_weight, class_weight, self.labels, more_to_come=more_to_come)
        return replace(self, weights=weights, sample_weights=row_weights(sample_weight, None, self.labels))

    @cached_property
    def held(self) -> Rows:
        """The held-out rows, fold after fold."""
        return np.concatenate([np.empty(0, np.uint32), *(held for _, held in self.folds)])

    @cached_property
    def parts(self) -> list[tuple[Labels, Floats | None]]:
        """The labels and weights of the held-out rows of each fold."""
        return [(self.labels.take(held), take_rows(self.weights, held)) for _, held in self.folds]

    @cached_property
    def shares(self) -> list[float]:
        """The weight of the held-out rows of each fold."""
        return [len(labels.codes) if weights is None else float(weights.sum()) for labels, weights in self.parts]

    @cached_property
    def effective(self) -> float:
        """The number of held-out rows; of rows of equal weight that would judge as well, if theirs differ."""
        return effective_rows(take_rows(self.weights, self.held), len(self.held))

    @cached_property
    def measures(self) -> list[Measure]:
        """For each fold, the score of the held-out rows from their scores."""
        return [self.scorer.measure(*part) for part in self.parts]

    def training_weights(self, fold: Fold) -> Floats:
        """The weights of all samples, 0 for held-out rows."""
        found, rows = np.zeros(self.table.count), fold[0]
        found[rows] = 1.0 if self.sample_weights is None else self.sample_weights[rows]
        return found

    @cached_property
    def targets(self) -> Targets:
        return targets_of(self.labels, self.weights)[0]

    def tasks(self, params: LinearParams, max_iter: int) -> list[FitTask]:
        """So many epochs of learning by these params, from the training rows of each fold."""
        rule, shape = params.update_rule, (1, self.targets.weight_rows)
        tasks = []
        for rows, _ in self.folds:
            (start,) = WeightState.new(params, self.table, shape, engine.seed_generator(self.seed))
            stopping = StoppingCriterion(max_iter, None, 1, rule.shrinks)
            tasks.append(FitTask(start, self.table, self.targets, rule, stopping, rows, params.shuffle))
        return tasks

    def state_scores(self, fold: int, state: Any) -> Floats:
        """The scores of the held-out rows of a fold by a state: after every epoch, so dense rows are copied once."""
        predictor: Linear = state.predictor()
        held = self.folds[fold][1]
        if self.table.sparse:
            return predictor.scores(self.table, held)
        key = fold, predictor.weights.dtype
        if key not in self.held_tables:
            self.held_tables[key] = as_table(self.table.take(held).astype(key[1], copy=False))
        return predictor.scores(self.held_tables[key])

    def scores(self, states: list[Any]) -> Floats:
        """The scores of the held-out rows by the state of each fold, fold after fold."""
        return np.vstack([self.state_scores(fold, state) for fold, state in enumerate(states)])

    def cross_validation(self, scores: list[Floats], calibrators: list[Any]) -> CrossValidation:
        """The score of each fold, whose held-out rows have these scores and this calibrator, if any.

        A fold of one class, of which a score of ranks is not defined, is left out.
        """
        found = []
        for fold, (labels, weights) in enumerate(self.parts):
            score = self.scorer(scores[fold], labels, weights, calibrators[fold])
            if not math.isnan(score) or len(np.unique(labels.codes)) > 1:
                found.append((score, self.shares[fold]))
        by_fold, shares = np.array(found or [(math.nan, 1.0)]).T
        return CrossValidation(by_fold, None if self.weights is None else shares, self.scorer.name)

    def held_out(self, rows: Any, scores: Floats) -> HeldOut:
        """These rows with their scores, by learners that have not seen them."""
        weights, own = take_rows(self.weights, rows), take_rows(self.sample_weights, rows)
        return HeldOut(self.labels.take(rows), scores, weights, own, self.scorer)

    def split(self, folds: int, *, groups: Any = None, time: Any = None) -> Sample:
        """The rows in so many folds."""
        return replace(self, folds=make_folds(self.labels, self.weights, folds, self.seed, groups=groups, time=time))

    def take(self, rows: NDArray[Any]) -> Sample:
        """Some of the rows, without folds."""
        index, table = rows.astype(np.uint32), self.table
        table = table.csr().select(index).table() if table.sparse else as_table(table.take(index))
        labels, given = self.labels.take(index), (self.weights, self.sample_weights)
        weights, own = (row_weights(take_rows(each, index), None, labels, more_to_come=True) for each in given)
        some = replace(self, table=table, labels=labels, folds=[], spare_folds=[])
        return replace(some, weights=weights, sample_weights=own)

    def scaled(self, scaling: Scaling | None) -> Sample:
        """The rows with scaled columns."""
        return self if scaling is None else replace(self, table=scaling.apply(self.table), scaling=scaling)


@dataclass(frozen=True)
class HoldoutResult:
    """An evaluation on held-out rows, and a description of these rows."""

    found: Evaluation
    calibrator: Calibrator  # probabilities by these rows
    scores: dict[str, float]  # other scores of the same rows, by their names
    rows: str  # a description of the rows
    how: str = ""  # and how they were predicted

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

    def result(self, rows: str, how: str) -> HoldoutResult:
        """The evaluation of the scores."""
        classes, codes = self.labels.classes, self.labels.codes
        found = evaluate_scores(classes, codes, self.scores, self.weights, self.calibrator)
        return HoldoutResult(found, self.calibrator, self.other_scores(), f"{len(codes):,} {rows}", how)


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
        held = self.held_out
        return None if held is None else held.result("held-out rows", ", by which the learner was chosen")

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

    def fold_scores(self, sample: Sample) -> list[Floats]:
        """The scores of each fold's held-out rows, by a learner of its training rows."""

        def score(fold: Fold, cancel: NDArray[np.uint8]) -> Floats:
            plan = self.plan(sample.table, sample.labels, sample.training_weights(fold))
            if cancel[0]:  # another fold has failed
                return np.empty((0, 1))
            found = self.predictors([task.state for task in plan.run()])
            return np.hstack([each.scores(sample.table, fold[1]) for each in found])

        return run_threads([partial(score, fold) for fold in sample.folds], sample.n_jobs)

    def hold_out(self, sample: Sample) -> HeldOut:
        """The scores of the rows of all folds, in the order of the rows."""
        scores, order = np.vstack(self.fold_scores(sample)), np.argsort(sample.held)
        return sample.held_out(sample.held[order], scores[order])
