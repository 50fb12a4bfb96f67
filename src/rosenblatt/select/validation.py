"""`cross_validate`: how good a learner is on rows that it did not learn from, with a standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rosenblatt.data.labels import Labels, Numbers, one_label_of
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.fitting import check_lengths
from rosenblatt.learners.spaces import seed_of
from rosenblatt.learners.targets import row_weights
from rosenblatt.select.folds import FoldScores, assign_folds, check_learner, fit_folds, scores_of
from rosenblatt.select.probable import Probable
from rosenblatt.select.scoring import make_measure


@dataclass(frozen=True)
class CrossValidation(FoldScores):
    """The accuracy on each fold, or another score, by the learner fitted on the others.

    >>> from rosenblatt import Perceptron
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> found = cross_validate(rows, labels, Perceptron())
    >>> found.mean, len(found.learners)
    (1.0, 5)
    """

    scores: NDArray[np.float64]
    learners: list[Any]
    weights: NDArray[np.float64] | None = None  # what the rows of each fold weigh; None: folds count alike
    scoring: str = "accuracy"

    def __str__(self) -> str:
        if self.scoring != "accuracy":
            return f"{self.scoring} {self.mean:.4f} ± {self.standard_error:.4f} ({len(self.scores)} folds)"
        return self.percent()


def cross_validate(
    X: Any,
    y: Any,
    learner: Any,
    *,
    folds: int = 5,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int = -1,
) -> CrossValidation:
    """Fit the learner once per fold, on the other folds, and count what it gets right on the fold.

    No row is copied: the folds are index ranges into the same memory, learned from in parallel. Each fold's learner is
    what ``fit`` with a sample weight of 0 on the fold gives, bit for bit.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`.
    learner : linear or kernel learner, Calibrated or AutoPerceptron
        Cloned once per fold; a regression too. One with probabilities takes scores of probabilities.
    folds : int, default=5
        How many parts; every class is spread evenly over them.
    sample_weight : array-like, optional
        Weighs the learning and, as the class weights of the learner do, the counting; rows of weight 0 are in no
        fold.
    scoring : str, function or None, default=None
        As for `Sweep`: accuracy, R² for a regression, or a score of your choice.
    random_state : int, default=0
        The seed of the folds.
    n_jobs : int, default=-1
        Threads over the folds; all CPUs by default.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rosenblatt import AveragedPerceptron
    >>> from rosenblatt.select import cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = cross_validate(X, y, AveragedPerceptron(max_iter=20, tol=0.01), folds=4)
    >>> result.scores.shape
    (4,)
    """
    around = isinstance(learner, Probable)
    if not around:
        check_learner(learner)
    table = as_table(X)
    labels = one_label_of(y, type(learner).__name__) if around else learner.labels_of(y)
    measure = make_measure(scoring, regression=isinstance(labels, Numbers))
    check_lengths(table, labels)
    samples = row_weights(sample_weight, None, labels)
    weights = row_weights(sample_weight, _class_weight(learner), labels)
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    fold_of = assign_folds(labels, rows if weights is None else rows[weights > 0], folds, seed_of(random_state))
    fitted = (_fit_around if around else fit_folds)(learner, table, labels, samples, fold_of, n_jobs)
    scores, shares = [], []
    for fold, each in enumerate(fitted):
        held = np.flatnonzero(fold_of == fold).astype(np.uint32)
        counted = None if weights is None else weights[held]
        found = each.answers_for(table, held) if around else scores_of(each, table, held)
        scores.append(measure.of(found, labels.take(held), counted, each.calibrator() if around else None))
        shares.append(len(held) if weights is None else weights[held].sum())
    shown = None if weights is None else np.array(shares)
    return CrossValidation(np.array(scores), list(fitted), shown, measure.name)


def _class_weight(learner: Any) -> Any:
    """The class weights of a learner, or of the one inside."""
    inside = getattr(learner, "learner", learner)
    return inside.class_weight if isinstance(learner, Probable) else learner.params().class_weight


def _fit_around(
    learner: Any, table: Table, labels: Labels, samples: Any, fold_of: NDArray[np.int64], n_jobs: int | None
) -> list[Any]:
    """One with probabilities fitted once per fold, whose rows have a weight of 0; it has threads of its own."""
    y = labels.classes[labels.codes]
    present = np.ones(len(y)) if samples is None else samples
    folds = range(int(fold_of.max()) + 1)
    return [
        clone(learner).fit(table.values, y, sample_weight=np.where(fold_of == fold, 0.0, present)) for fold in folds
    ]
