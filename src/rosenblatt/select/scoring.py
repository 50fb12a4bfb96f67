"""What learners are compared by: accuracy, or a score of the user's choice.

Invariant: higher is better, whatever the score. Every comparison of a call uses one and the same.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Indicators, Labels, Numbers
from rosenblatt.errors import ParameterError
from rosenblatt.models.linear import predict_codes
from rosenblatt.models.probability import Calibrator

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A score by its name, and how it is computed from the scores of rows and their labels.

    Parameters
    ----------
    name : str
    of : function
        Takes scores of shape (rows, K), the labels of these rows, their weights, and what makes probabilities of the
        scores, if there is something.
    """

    name: str
    of: Callable[[Floats, Labels, Floats | None, Calibrator | None], float]

    @property
    def is_accuracy(self) -> bool:
        return self.name == "accuracy"

    def share(self, score: float) -> float:
        """The score on a scale up to 1, in the same order: a mean log loss becomes a likelihood."""
        return math.exp(score) if self.name == "neg_log_loss" else score


def asked_score(name: str | None, share: float) -> float:
    """The score of this name that `Measure.share` made a share of."""
    return math.log(share) if name == "neg_log_loss" else share


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.2f} %"


def make_measure(scoring: Any, *, regression: bool = False) -> Measure:
    """The measure that a user asks for: None, a name of scikit-learn's scorers, or a function.

    A function takes true and predicted labels, or, as scikit-learn's scorers do, an estimator, rows and labels.
    """
    if scoring is None:
        return Measure("r2", _r2) if regression else Measure("accuracy", _accuracy)
    if isinstance(scoring, str):
        if scoring == "accuracy" and not regression:
            return Measure("accuracy", _accuracy)
        from sklearn.metrics import get_scorer

        try:
            scorer = get_scorer(scoring)
        except ValueError:
            raise ParameterError(
                f"scoring={scoring!r}: is not a score of scikit-learn, such as 'accuracy', 'balanced_accuracy', 'f1', "
                "'roc_auc' or 'neg_log_loss'"
            ) from None
        return Measure(scoring, _by_scorer(scorer, scoring))
    if not callable(scoring):
        raise ParameterError(f"scoring={scoring!r}: must be None, the name of a score, or a function")
    name = getattr(scoring, "__name__", type(scoring).__name__)
    if hasattr(scoring, "_score_func") or _asks_for_an_estimator(scoring):
        return Measure(name, _by_scorer(scoring, name))
    return Measure(name, _by_metric(scoring))


def _asks_for_an_estimator(function: Callable[..., Any]) -> bool:
    """Does it take an estimator, rows and labels, and not two lists of labels?"""
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    needed = [
        each
        for each in given
        if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    return len(needed) >= 3 or (bool(needed) and needed[0].name in ("estimator", "est", "model", "clf"))


def _accuracy(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
    """The share of the rows that are right; one with several labels is right if all of them are."""
    asked = _Answered(scores, labels, calibrator)
    right = asked.predict(asked.rows()) == asked.true()
    return float(np.average(right.all(axis=1) if right.ndim == 2 else right, weights=weights))


def _r2(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
    from sklearn.metrics import r2_score

    assert isinstance(labels, Numbers)
    return float(r2_score(labels.numbers, scores[:, 0], sample_weight=weights))


def _by_metric(metric: Callable[..., float]) -> Callable[..., float]:
    def score(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
        asked = _Answered(scores, labels, calibrator)
        more = {} if weights is None else {"sample_weight": weights}
        return float(metric(asked.true(), asked.predict(asked.rows()), **more))

    return score


def _by_scorer(scorer: Any, name: str) -> Callable[..., float]:
    def score(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
        asked = _answered(scores, labels, calibrator)
        more = {} if weights is None else {"sample_weight": weights}
        try:
            return float(scorer(asked, asked.rows(), asked.true(), **more))
        except AttributeError as error:
            if "predict_proba" in str(error) and calibrator is None:
                raise ParameterError(
                    f"scoring={name!r} needs probabilities, which the learners have not: put Calibrated around them, "
                    "or choose a score of labels or of scores"
                ) from None
            raise

    return score


class _Answered:
    """Answers that are known already, as an estimator gives them: row k is asked for by the number k."""

    def __init__(self, scores: Floats, labels: Labels, calibrator: Calibrator | None) -> None:
        self.scores, self.labels, self.calibrator = scores, labels, calibrator
        if not isinstance(labels, Numbers):
            self.classes_ = labels.classes

    def rows(self) -> NDArray[np.intp]:
        return np.arange(len(self.scores))[:, None]

    def true(self) -> NDArray[Any]:
        if isinstance(self.labels, Indicators):
            return self.labels.held.astype(np.int64)
        return self.labels.numbers if isinstance(self.labels, Numbers) else self.labels.classes[self.labels.codes]

    def predict(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        if isinstance(self.labels, Numbers):
            return self.scores[:, 0]
        if isinstance(self.labels, Indicators):
            return (self.scores >= 0).astype(np.int64)
        return self.labels.classes[predict_codes(self.scores)]


def _answered(scores: Floats, labels: Labels, calibrator: Calibrator | None) -> Any:
    """The same with scikit-learn's tags, and with `predict_proba` where there are probabilities."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    def decision_function(self: Any, rows: Any) -> Floats:
        found: Floats = self.scores[:, 0] if self.scores.shape[1] == 1 else self.scores
        return found

    def predict_proba(self: Any, rows: Any) -> Floats:
        found: Floats = self.calibrator.probabilities(self.scores)
        return found

    methods: dict[str, Any] = {"__sklearn_is_fitted__": lambda self: True}
    kind: Any = RegressorMixin
    if not isinstance(labels, Numbers):
        kind, methods["decision_function"] = ClassifierMixin, decision_function
        if calibrator is not None:
            methods["predict_proba"] = predict_proba
    return type("Answered", (_Answered, kind, BaseEstimator), methods)(scores, labels, calibrator)
