"""`cross_validate`: how good a learner is on rows that it did not learn from, with a standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rosenblatt.data.labels import Numbers, one_label_of
from rosenblatt.data.table import as_table
from rosenblatt.learners.fit import check_lengths
from rosenblatt.learners.targets import row_weights
from rosenblatt.learners.weights import seed_of
from rosenblatt.select.folds import FoldScores, check_learner, fit_folds, make_folds, training_weights
from rosenblatt.select.scoring import make_scorer
from rosenblatt.select.wrapper import ProbabilisticClassifier


@dataclass(frozen=True)
class CrossValidation(FoldScores):
    """The score on each fold, of the learner fitted on the other folds.

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
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int = -1,
) -> CrossValidation:
    """Fit the learner once per fold, on the other folds, and score it on the fold.

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
    groups : array-like, optional
        One value per row, such as a patient or a user; rows of one group are never in two folds. Pass it if a model
        will meet new groups: rows of a known group are easier than those of a new one.
    time : array-like, optional
        One value per row that can be sorted. Each fold is then judged by what was learned from the rows before it.
        Pass it if a model will meet later rows.
    sample_weight : array-like, optional
        Weighs the learning and, as the class weights of the learner do, the score; rows of weight 0 are in no fold.
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
    wrapped = isinstance(learner, ProbabilisticClassifier)
    if not wrapped:
        check_learner(learner)
    table = as_table(X)
    labels = one_label_of(y, type(learner).__name__) if wrapped else learner.labels_of(y)
    scorer = make_scorer(scoring, regression=isinstance(labels, Numbers))
    check_lengths(table, labels)
    samples = row_weights(sample_weight, None, labels)
    weights = row_weights(sample_weight, _class_weight(learner), labels)
    parts = make_folds(labels, weights, folds, seed_of(random_state), groups=groups, time=time)
    if wrapped:  # it has threads of its own
        fitted = [
            clone(learner).fit(
                table.values,
                labels.classes[labels.codes],
                sample_weight=training_weights(samples, part, table.count),
                **{name: values for name, values in (("groups", groups), ("time", time)) if values is not None},
            )
            for part in parts
        ]
    else:
        fitted = fit_folds(learner, table, labels, samples, parts, n_jobs)
    scores, shares = [], []
    for (_, held), each in zip(parts, fitted, strict=True):
        counted = None if weights is None else weights[held]
        calibrator: Any = each.calibrator() if wrapped else None
        found = each.answers_for(table, held) if wrapped else each.learned.reading().scores(table, held)
        if wrapped and len(each.classes_) < len(labels.classes):
            calibrator = _SomeClasses(calibrator, np.searchsorted(labels.classes, each.classes_), len(labels.classes))
            found = calibrator.spread(found)
        scores.append(scorer(found, labels.take(held), counted, calibrator))
        shares.append(len(held) if weights is None else weights[held].sum())
    return CrossValidation(np.array(scores), list(fitted), None if weights is None else np.array(shares), scorer.name)


def _class_weight(learner: Any) -> Any:
    """The class weights of a learner, or of the one that it wraps."""
    inner = getattr(learner, "learner", learner)
    return inner.class_weight if isinstance(learner, ProbabilisticClassifier) else learner.params().class_weight


@dataclass(frozen=True)
class _SomeClasses:
    """Scores and probabilities of a learner whose training rows lacked some classes: these get probability 0."""

    calibrator: Any
    places: NDArray[np.intp]  # of the classes that it knows
    classes: int

    def spread(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """A column per class, those of unknown classes below all others."""
        columns = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
        found = np.full((len(scores), self.classes), columns.min(initial=0.0) - 1.0)
        found[:, self.places] = columns
        return found

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """A column per class."""
        known = scores[:, self.places[1:] if len(self.places) == 2 else self.places]
        found = np.zeros_like(scores)
        found[:, self.places] = self.calibrator.probabilities(known)
        return found
