"""The scores that compare learners: accuracy, R², or a score of the user's choice.

Invariant: higher is better, whatever the score. Every comparison of a call uses the same scorer.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Indicators, Labels, Numbers
from rosenblatt.errors import ParameterError, first_line
from rosenblatt.learners.targets import targets_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictions import Predictions
from rosenblatt.select.calibration import fit_calibrator

Floats = NDArray[np.float64]
Measure = Callable[[Floats], float]  # a score, from the scores of rows


@dataclass(frozen=True)
class Scorer:
    """A metric, computed from the scores of rows and their labels.

    Parameters
    ----------
    name : str
        As the user wrote it.
    metric : function
        Takes true labels, the response, and `sample_weight` if rows have weights. None: accuracy, or R² of numbers.
    response : str
        The input of the metric beside the true labels: predicted labels, scores or probabilities.
    """

    name: str
    metric: Callable[..., float] | None = None
    response: Literal["predict", "predict_proba", "decision_function"] = "predict"
    takes_labels: bool = False  # does the metric accept classes that the rows lack?
    takes_positive: bool = False  # may the metric be given the positive class?

    @property
    def is_accuracy(self) -> bool:
        return self.name == "accuracy"

    def __call__(
        self, scores: Floats, labels: Labels, weights: Floats | None = None, calibrator: Calibrator | None = None
    ) -> float:
        """The score of some rows, from scores of shape (rows, K); `calibrator` makes them probabilities."""
        if self.metric is None and not isinstance(labels, Indicators):
            return targets_of(labels, weights)[0].quality(scores)
        classes = labels.classes[:0] if isinstance(labels, Numbers) else labels.classes
        found = Predictions(classes, scores, isinstance(labels, Indicators), calibrator)
        if self.metric is None:  # all labels of a row must be right
            return float(np.average(np.all(found.labels == _true(labels), axis=1), weights=weights))
        if self.response == "predict_proba" and calibrator is None:
            raise ParameterError(
                f"scoring={self.name!r} needs probabilities, which the learners do not have: wrap them in "
                "Calibrated, or choose a score of labels or of scores"
            )
        is_of_labels = self.response == "predict" or isinstance(labels, Numbers)
        response = found.labels if is_of_labels else scores if calibrator is None else found.probabilities
        return self.of_response(response, labels, weights)

    def calibrator_for(self, scores: Floats, labels: Labels, weights: Floats | None) -> Calibrator | None:
        """A sigmoid of these scores, if the metric needs probabilities and the learners have none."""
        if self.response != "predict_proba":
            return None
        return fit_calibrator(scores, labels.codes, "sigmoid", weights)

    def measure(self, labels: Labels, weights: Floats | None) -> Measure:
        """The score of these rows, on a scale up to 1; if it needs probabilities, those of a sigmoid fitted on them."""
        if self.is_accuracy:
            return targets_of(labels, weights)[0].quality
        known = labels, weights
        return lambda scores: self.to_share(self(scores, *known, self.calibrator_for(scores, *known)))

    def of_response(self, response: NDArray[Any], labels: Labels, weights: Floats | None) -> float:
        """The score of predicted labels, or of scores or probabilities with one column, or one per class."""
        known, true, present = labels.classes.tolist(), _true(labels), np.unique(labels.codes)
        is_plain = type(labels) is Labels
        if self.takes_positive and self.response == "predict" and is_plain and len(known) > 2:
            raise ParameterError(
                f"scoring={self.name!r} needs two classes, and there are {len(known)}: "
                "use a mean over classes, such as 'f1_macro'"
            )

        def measure(response: NDArray[Any], positive: Any = None, **options: Any) -> float:
            options |= {} if weights is None else {"sample_weight": weights}
            options |= {"pos_label": positive} if self.takes_positive and positive is not None else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return float(self.metric(true, response, **options))  # type: ignore[misc]

        try:
            if is_plain and len(known) == 2:  # the larger class is positive
                return measure(response[:, -1] if response.ndim == 2 else response, None if 1 in known else known[1])
            if response.ndim == 1 or not is_plain or not 2 <= len(present) < len(known):
                return measure(response)
            with suppress(ValueError):
                value = measure(response, **({"labels": labels.classes} if self.takes_labels else {}))
                if not math.isnan(value):
                    return value
            # A metric of classes that the rows lack is not defined: it gets the columns of the others.
            response = response[:, present]
            if self.response == "predict_proba":
                response = response / np.maximum(response.sum(axis=1, keepdims=True), 1e-300)
            return measure(response) if len(present) > 2 else measure(response[:, 1], known[present[1]])
        except ValueError as error:
            raise ParameterError(f"scoring={self.name!r}: {first_line(error)}") from None

    def to_share(self, score: float) -> float:
        """The score on a scale up to 1, in the same order: a mean log loss becomes a likelihood, NaN the worst."""
        if math.isnan(score):
            return -math.inf
        return math.exp(score) if self.name == "neg_log_loss" else score

    def from_share(self, share: float) -> float:
        """The inverse of `to_share`."""
        return math.log(share) if self.name == "neg_log_loss" else share

    def show_share(self, share: float) -> str:
        """A share as text, in the unit of the score."""
        return f"{share:.2%}" if self.is_accuracy else f"{self.from_share(share):.4f}"


ACCURACY, R2 = Scorer("accuracy"), Scorer("r2")


def nan_last(score: float) -> float:
    """A key that sorts the best score first, and NaN last."""
    return math.inf if math.isnan(score) else -score


def check_defined(scorer: Scorer, best: float) -> None:
    """Raise if even the best score is NaN."""
    if math.isnan(best):
        raise ParameterError(f"scoring={scorer.name!r} is NaN on the held-out rows of every learner")


def make_scorer(scoring: Any, *, regression: bool = False) -> Scorer:
    """The scorer for None (accuracy or R²), a score of scikit-learn or its name, or a function of two label lists."""
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy" and not regression):
        return R2 if regression else ACCURACY
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", type(scoring).__name__)
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer

        try:
            scoring = get_scorer(scoring)
        except ValueError:
            raise ParameterError(
                f"scoring={scoring!r} is not a score of scikit-learn, such as 'accuracy', 'balanced_accuracy', 'f1', "
                "'roc_auc' or 'neg_log_loss'"
            ) from None
    if not callable(scoring):
        raise ParameterError(f"scoring={scoring!r}: must be None, the name of a score, or a function")
    if not hasattr(scoring, "_score_func"):
        return Scorer(name, scoring)
    metric, sign, options = scoring._score_func, scoring._sign, scoring._kwargs
    response: Any = getattr(scoring, "_response_method", "predict")
    return Scorer(
        name,
        lambda true, found, **more: sign * metric(true, found, **{**options, **more}),
        response[0] if isinstance(response, tuple) else response,
        "labels" in inspect.signature(metric).parameters,
        "pos_label" in inspect.signature(metric).parameters and options.get("average", "binary") == "binary",
    )


def _true(labels: Labels) -> NDArray[Any]:
    """The labels as metrics take them."""
    if isinstance(labels, Indicators):
        return labels.held.astype(np.int64)
    return labels.numbers if isinstance(labels, Numbers) else labels.classes[labels.codes]
