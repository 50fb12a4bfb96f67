"""Probabilities for learners that only have scores, kept up to date while they learn on.

Invariant: a row is scored before it is learned from, so that the probabilities are fitted out of sample.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.labels import labels_of
from rosenblatt.data.table import as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.seen import remember_columns
from rosenblatt.learners.state.start import seed_of
from rosenblatt.learners.weighting import row_weights
from rosenblatt.select.folds import assign_folds, check_linear, fit_folds, out_of_fold_scores
from rosenblatt.select.probability import Map, MapName, fit_maps, probabilities

Kind = Literal["auto", "sigmoid", "isotonic"]
ENOUGH = 400  # rows for "auto" to trust the shape of an isotonic map
PLENTY = 2_000  # rows from which on more of them hardly change that shape
WINDOW = 10_000  # the latest rows that the map is fitted on: enough for it, and it follows a drift


class Calibration:
    """The map from scores to probabilities, fitted on the latest rows that were scored before they were learned."""

    def __init__(self, kind: Kind, scores: NDArray[np.float64], codes: NDArray[np.int32], classes: int) -> None:
        self.kind = kind
        self.classes = classes
        self.scores, self.codes = scores[-WINDOW:], codes[-WINDOW:]

    @cached_property
    def maps(self) -> list[Map]:
        """One map, or one a class; fitted when probabilities are first asked for."""
        kind: MapName = "sigmoid"
        if self.kind != "auto":
            kind = self.kind
        elif len(self.codes) >= ENOUGH:
            kind = "blend"
        return fit_maps(self.scores, self.codes, self.classes, kind)

    def followed_by(self, scores: NDArray[np.float64], codes: NDArray[np.int32]) -> Calibration:
        """With more rows; the oldest leave."""
        return Calibration(
            self.kind, np.vstack([self.scores, scores]), np.concatenate([self.codes, codes]), self.classes
        )

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """One column a class."""
        return probabilities(scores, self.maps)


class Calibrated(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear learner with probabilities, fitted on scores of rows that it had not learned from.

    `fit` learns once from all rows, for the answer, and once a fold, for out-of-sample scores. `partial_fit` scores
    new rows before it learns from them and fits the map again on the latest 10,000 scores, so the probabilities follow
    a stream.

    Parameters
    ----------
    learner : linear learner
        Any of the family. "vote" needs one with ``keep="vote"``.
    calibrate : {"sigmoid", "isotonic", "vote"}, default="sigmoid"
        "sigmoid" (Platt) has two numbers a class and needs few rows; "isotonic" takes any rising shape and needs
        thousands; "vote" is the share of the votes, with nothing to fit, and not calibrated by itself.
    folds : int, default=5
        How many parts the out-of-sample scores come from.
    n_jobs : int, default=-1
        Threads over the folds.

    Attributes
    ----------
    learner_ : learner
        Fitted on all rows.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, Calibrated
    >>> rows, labels = [[0.0], [1.0], [5.0], [6.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> calibrated = Calibrated(AveragedPerceptron()).fit(rows, labels)
    >>> calibrated.classes_.tolist(), calibrated.predict_proba([[9.0]]).argmax(axis=1).tolist()
    (['high', 'low'], [0])
    """

    def __init__(
        self,
        learner: Any,
        *,
        calibrate: Literal["sigmoid", "isotonic", "vote"] = "sigmoid",
        folds: int = 5,
        n_jobs: int | None = -1,
    ) -> None:
        self.learner = learner
        self.calibrate = calibrate
        self.folds = folds
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn, and fit the map from scores to probabilities."""
        check_linear(self.learner)
        if self.calibrate not in ("sigmoid", "isotonic", "vote"):
            raise ParameterError(f"calibrate={self.calibrate!r}: must be 'sigmoid', 'isotonic' or 'vote'")
        if self.calibrate == "vote" and self.learner.recipe().used_keep != "vote":
            raise ParameterError("calibrate='vote' needs a learner with keep='vote'")
        learner = clone(self.learner).fit(X, y, sample_weight=sample_weight)
        self._calibration: Calibration | None = None
        if self.calibrate != "vote":
            table, labels = as_table(X), labels_of(y)
            weights = row_weights(sample_weight, None, labels)
            rows = np.arange(table.count, dtype=np.uint32)
            seed = seed_of(learner.random_state)
            fold_of = assign_folds(labels, rows if weights is None else rows[weights > 0], self.folds, seed)
            fitted = fit_folds(learner, table, labels, weights, fold_of, self.n_jobs)
            rows, scores = out_of_fold_scores(fitted, table, fold_of)
            self._calibration = Calibration(self.calibrate, scores, labels.codes[rows], len(labels.classes))
        self.learner_, self.classes_ = learner, learner.classes_
        remember_columns(self, X)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Score the rows, learn from them once, and fit the map on the latest scores; the first call is `fit`."""
        if not hasattr(self, "learner_"):
            return self.fit(X, y, sample_weight)
        before = self.learner_.scores(X)
        self.learner_.partial_fit(X, y, classes, sample_weight)
        known = self.learner_.classes_
        if self._calibration is not None:
            codes = labels_of(y).among(known)
            if len(known) == len(self.classes_):
                self._calibration = self._calibration.followed_by(before, codes)
            else:  # the scores have other columns now: the window starts again, from what was just learned
                scores = self.learner_.scores(X)
                self._calibration = Calibration(self._calibration.kind, scores, codes, len(known))
        self.classes_ = known
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, of shape (n_rows, n_classes)."""
        check_is_fitted(self, "learner_")
        scores = self.learner_.scores(X)
        if self._calibration is not None:
            return self._calibration.probabilities(scores)
        if scores.shape[1] == 1:
            return np.column_stack([(1.0 - scores[:, 0]) / 2.0, (1.0 + scores[:, 0]) / 2.0])
        total = scores.sum(axis=1, keepdims=True)
        shares: NDArray[np.float64] = np.where(total > 0, scores / np.where(total > 0, total, 1.0), 1 / scores.shape[1])
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, by the learner: the sign or the highest score."""
        check_is_fitted(self, "learner_")
        labels: NDArray[Any] = self.learner_.predict(X)
        return labels

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The scores of the learner."""
        check_is_fitted(self, "learner_")
        scores: NDArray[np.float64] = self.learner_.decision_function(X)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
