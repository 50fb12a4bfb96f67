"""Base classes of the estimators that wrap a learner: `AutoPerceptron`, `Calibrated`, `Sweep`.

Invariant: a prediction comes from one immutable predictor. A thread that reads beside one that learns never gets a mix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.labels import label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.accuracy import Accurate
from rosenblatt.learners.base import check_columns
from rosenblatt.learners.learned import Reading
from rosenblatt.learners.stopping import History
from rosenblatt.learners.stream import Columns
from rosenblatt.learners.streaming import columns_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictions import Predictions
from rosenblatt.models.predictors import Predictor
from rosenblatt.select.calibration import Calibration, HeldOutScores

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CalibratedPredictor:
    """Classes and scores, and probabilities of these scores."""

    reading: Reading
    calibration: Calibration | Calibrator | None  # None: there are no probabilities

    @property
    def calibrator(self) -> Calibrator | None:
        """From scores to probabilities."""
        return self.calibration.calibrator if isinstance(self.calibration, Calibration) else self.calibration

    def probabilities(self, scores: Floats) -> Floats:
        """One probability per class."""
        return Predictions(self.reading.classes, scores, calibrator=self.calibrator).probabilities

    def followed_by(self, reading: Reading, table: Table, judged: HeldOutScores, rows: NDArray[Any]) -> Self:
        """After the rows of a table were learned, some of which count; `judged` holds their scores before it."""
        calibration, classes = self.calibration, len(reading.classes)
        if isinstance(calibration, Calibration) and classes == len(self.reading.classes):
            calibration = calibration.append(judged.take(rows))
        elif isinstance(calibration, Calibration):
            # The scores have other columns now: the window starts again, from what was just learned.
            again = replace(judged, scores=reading.scores(table)).take(rows)
            calibration = Calibration(calibration.method, again, classes)
        return replace(self, reading=reading, calibration=calibration)

    def interrupted(self, reading: Reading) -> Self:
        """After a call that learned some rows and could not finish: scores are known of the classes before only."""
        calibration, classes = self.calibration, len(reading.classes)
        if classes != len(self.reading.classes) and isinstance(calibration, Calibration):
            calibration = Calibration(calibration.method, HeldOutScores.empty(classes), classes)
        return replace(self, reading=reading, calibration=calibration)


class Wrapper(Accurate, BaseEstimator):  # type: ignore[misc]
    """An estimator around a fitted learner, which says how it was trained."""

    def _inside(self) -> Any:
        """The fitted learner; an AttributeError before the first fit."""
        raise NotImplementedError

    @property
    def history_(self) -> History:
        """Mistakes and updates of the learner, epoch by epoch."""
        history: History = self._inside().history_
        return history

    @property
    def stop_reason_(self) -> str:
        """Why the learner stopped."""
        reason: str = self._inside().stop_reason_
        return reason

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ProbabilisticClassifier(Wrapper):
    """A classifier with scores and probabilities."""

    classes_: NDArray[Any]
    _predictor: CalibratedPredictor

    def predict_proba(self, X: Any) -> Floats:
        """The probability of every class, of shape (n_rows, n_classes)."""
        predictor, scores = self._scored(X)
        return predictor.probabilities(scores)

    def decision_function(self, X: Any) -> Floats:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        _, scores = self._scored(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, by the sign or the highest score."""
        predictor, scores = self._scored(X)
        return predictor.reading.predicted(scores)

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example, a dict from names to numbers; features that were never seen count for nothing."""
        predictor, scores = self._scored_one(features)
        return predictor.reading.predictions(scores).one

    def predict_proba_one(self, features: dict[Any, float]) -> dict[Any, float]:
        """The probability of each class for one example."""
        predictor, scores = self._scored_one(features)
        found = predictor.probabilities(scores)[0].tolist()
        return dict(zip(label_values(predictor.reading.classes), found, strict=True))

    def answers_for(self, table: Table, rows: NDArray[np.uint32]) -> Floats:
        """Scores of shape (n_rows, K) of some rows of a table."""
        return self._predictor.reading.scores(table, rows)

    def predictors(self) -> tuple[Predictor, ...]:
        """What scores rows, ready to be saved; more than one only for a one-vs-rest vote."""
        check_is_fitted(self, "_predictor")
        return self._predictor.reading.predictors

    def calibrator(self) -> Calibrator | None:
        """From scores to probabilities, ready to be saved; None for one that was trained on files without them."""
        check_is_fitted(self, "_predictor")
        return self._predictor.calibrator

    def _scored_one(self, features: dict[Any, float]) -> tuple[CalibratedPredictor, Floats]:
        check_is_fitted(self, "_predictor")
        predictor = self._predictor
        return predictor, predictor.reading.score_one(features, self._columns)[None]

    def _columns(self) -> Columns:
        """The column of each feature."""
        return columns_of(self)

    def _scored(self, X: Any) -> tuple[CalibratedPredictor, Floats]:
        check_is_fitted(self, "_predictor")
        table = as_table(X)
        check_columns(self, X)
        predictor = self._predictor
        return predictor, predictor.reading.scores(table)
