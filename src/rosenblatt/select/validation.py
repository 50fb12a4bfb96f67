"""`cross_validate`: how good a learner is on rows that it did not learn from, with a standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.numbers import Numbers
from rosenblatt.data.table import as_table
from rosenblatt.learners.fitting import check_lengths
from rosenblatt.learners.spaces import seed_of
from rosenblatt.learners.targets import row_weights
from rosenblatt.select.folds import FoldScores, assign_folds, check_learner, fit_folds, scores_of
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
    learner : linear or kernel learner
        Cloned once per fold; a regression too.
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
    check_learner(learner)
    table, labels = as_table(X), learner.labels_of(y)
    measure = make_measure(scoring, regression=isinstance(labels, Numbers))
    check_lengths(table, labels)
    samples = row_weights(sample_weight, None, labels)
    weights = row_weights(sample_weight, learner.recipe().class_weight, labels)
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    fold_of = assign_folds(labels, rows if weights is None else rows[weights > 0], folds, seed_of(random_state))
    fitted = fit_folds(learner, table, labels, samples, fold_of, n_jobs)
    scores, shares = [], []
    for fold, each in enumerate(fitted):
        held = np.flatnonzero(fold_of == fold).astype(np.uint32)
        counted = None if weights is None else weights[held]
        scores.append(measure.of(scores_of(each, table, held), labels.take(held), counted, None))
        shares.append(len(held) if weights is None else weights[held].sum())
    shown = None if weights is None else np.array(shares)
    return CrossValidation(np.array(scores), list(fitted), shown, measure.name)
