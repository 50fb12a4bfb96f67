"""What learners are compared by: accuracy, R², or a score of the user's choice; and how reliable probabilities are.

Invariant: higher is better, whatever the score. Every comparison of a call uses the same one.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Indicators, Labels, Numbers
from rosenblatt.errors import ParameterError
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictions import predict_codes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scorer:
    """A score by its name, computed from the scores of rows and their labels.

    Parameters
    ----------
    name : str
        As the user wrote it.
    function : function
        Takes scores of shape (rows, K), the labels of these rows, their weights, and a calibrator if there is one.
    """

    name: str
    function: Callable[[Floats, Labels, Floats | None, Calibrator | None], float]

    @property
    def is_accuracy(self) -> bool:
        return self.name == "accuracy"

    def __call__(
        self, scores: Floats, labels: Labels, weights: Floats | None = None, calibrator: Calibrator | None = None
    ) -> float:
        """The score of some rows."""
        return self.function(scores, labels, weights, calibrator)

    def share(self, score: float) -> float:
        """The score on a scale up to 1, in the same order: a mean log loss becomes a likelihood, NaN the worst."""
        if math.isnan(score):
            return -math.inf
        return math.exp(score) if self.name == "neg_log_loss" else score


def score_of_share(name: str | None, share: float) -> float:
    """The inverse of `Scorer.share`."""
    return math.log(share) if name == "neg_log_loss" else share


def percent(share: float) -> str:
    """A share as text."""
    return f"{100 * share:.2f} %"


def index_of_best(scores: Sequence[float] | Floats) -> int:
    """The first of the highest scores; NaN is lower than any number."""
    return int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))


def make_scorer(scoring: Any, *, regression: bool = False) -> Scorer:
    """The scorer for None (accuracy or R²), a name of scikit-learn's scorers, or a function.

    A function takes true and predicted labels, or, as scikit-learn's scorers do, an estimator, rows and labels.
    """
    if scoring is None:
        return Scorer("r2", _r2) if regression else Scorer("accuracy", _accuracy)
    if isinstance(scoring, str):
        if scoring == "accuracy" and not regression:
            return Scorer("accuracy", _accuracy)
        from sklearn.metrics import get_scorer

        try:
            return Scorer(scoring, _by_scorer(get_scorer(scoring), scoring))
        except ValueError:
            raise ParameterError(
                f"scoring={scoring!r} is not a score of scikit-learn, such as 'accuracy', 'balanced_accuracy', 'f1', "
                "'roc_auc' or 'neg_log_loss'"
            ) from None
    if not callable(scoring):
        raise ParameterError(f"scoring={scoring!r}: must be None, the name of a score, or a function")
    name = getattr(scoring, "__name__", type(scoring).__name__)
    by_estimator = hasattr(scoring, "_score_func") or _takes_estimator(scoring)
    return Scorer(name, _by_scorer(scoring, name) if by_estimator else _by_metric(scoring))


def _takes_estimator(function: Callable[..., Any]) -> bool:
    """Does it take an estimator, rows and labels, and not two lists of labels?"""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [each.name for each in parameters if each.default is each.empty and each.kind in positional]
    return len(needed) >= 3 or (bool(needed) and needed[0] in ("estimator", "est", "model", "clf"))


def _accuracy(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
    """The share of the rows that are right; with several labels per row, all of them must be right."""
    right = _predicted(scores, labels) == _true(labels)
    return float(np.average(right.all(axis=1) if right.ndim == 2 else right, weights=weights))


def _r2(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(_true(labels), scores[:, 0], sample_weight=weights))


def _by_metric(metric: Callable[..., float]) -> Callable[..., float]:
    def score(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
        return float(metric(_true(labels), _predicted(scores, labels), **_weighted(weights)))

    return score


def _by_scorer(scorer: Any, name: str) -> Callable[..., float]:
    def score(scores: Floats, labels: Labels, weights: Floats | None, calibrator: Calibrator | None) -> float:
        y = _true(labels)
        classes = None if isinstance(labels, Numbers) else labels.classes

        def measure(function: Any, columns: NDArray[Any] | None = None) -> float:
            known = _as_estimator(scores, labels, calibrator, columns)
            try:
                return float(function(known, np.arange(len(y))[:, None], y, **_weighted(weights)))
            except AttributeError as error:
                if "predict_proba" in str(error) and calibrator is None:
                    raise ParameterError(
                        f"scoring={name!r} needs probabilities, which the learners do not have: wrap them in "
                        "Calibrated, or choose a score of labels or of scores"
                    ) from None
                raise

        present = None if y.ndim > 1 or classes is None else np.unique(labels.codes)
        by_labels = getattr(scorer, "_response_method", "predict") == "predict"
        if classes is None or present is None or by_labels or len(present) == len(classes):
            return measure(scorer)
        # Scores of probabilities have to know the classes that these rows lack.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = measure(_with_labels(scorer, classes))
        return measure(scorer, present) if math.isnan(found) else found

    return score


def _with_labels(scorer: Any, classes: NDArray[Any]) -> Any:
    """A scikit-learn scorer that is told all classes, if its metric takes them."""
    from sklearn.metrics import make_scorer

    if "labels" not in inspect.signature(scorer._score_func).parameters:
        return scorer
    options = {**scorer._kwargs, "labels": classes}
    method, sign = scorer._response_method, scorer._sign
    return make_scorer(scorer._score_func, response_method=method, greater_is_better=sign > 0, **options)


def _weighted(weights: Floats | None) -> dict[str, Any]:
    return {} if weights is None else {"sample_weight": weights}


def _true(labels: Labels) -> NDArray[Any]:
    if isinstance(labels, Indicators):
        return labels.held.astype(np.int64)
    return labels.numbers if isinstance(labels, Numbers) else labels.classes[labels.codes]


def _predicted(scores: Floats, labels: Labels) -> NDArray[Any]:
    if isinstance(labels, Numbers):
        return scores[:, 0]
    return (scores >= 0).astype(np.int64) if isinstance(labels, Indicators) else labels.classes[predict_codes(scores)]


def _as_estimator(
    scores: Floats, labels: Labels, calibrator: Calibrator | None, columns: NDArray[Any] | None = None
) -> Any:
    """The known scores as a fitted estimator of scikit-learn, of some of the classes only if `columns` says so."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    def decision_function(self: Any, rows: Any) -> Floats:
        found = scores if columns is None else scores[:, columns]
        return found[:, 0] if found.shape[1] == 1 else found

    def predict_proba(self: Any, rows: Any) -> Floats:
        assert calibrator is not None
        found = calibrator.probabilities(scores)
        if columns is not None:
            found = found[:, columns] / np.maximum(found[:, columns].sum(axis=1, keepdims=True), 1e-300)
        return found

    def predict(self: Any, rows: Any) -> NDArray[Any]:
        return _predicted(scores, labels)

    methods: dict[str, Any] = {"__sklearn_is_fitted__": lambda self: True, "predict": predict}
    kind: Any = RegressorMixin
    if not isinstance(labels, Numbers):
        kind, methods["decision_function"] = ClassifierMixin, decision_function
        methods["classes_"] = labels.classes if columns is None else labels.classes[columns]
        if calibrator is not None:
            methods["predict_proba"] = predict_proba
    return type("KnownScores", (kind, BaseEstimator), methods)()


def brier_score(P: Floats, codes: NDArray[np.int32]) -> float:
    """The mean squared distance of the probabilities from what happened: of the larger class if there are two.

    >>> import numpy as np
    >>> brier_score(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 1]))
    0.125
    """
    if P.shape[1] == 2:
        return float(np.mean((P[:, 1] - codes) ** 2))
    return float(np.mean(np.sum((P - np.eye(P.shape[1])[codes]) ** 2, axis=1)))


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: for each bin of confidence, the mean confidence and the share of right predictions.

    >>> import numpy as np
    >>> found = reliability(np.array([[0.9, 0.1], [0.7, 0.3]]), np.array([0, 1]))
    >>> int(found.count.sum()), round(found.ece, 6)
    (2, 0.4)
    """

    count: NDArray[np.int64]
    confidence: Floats
    accuracy: Floats

    @property
    def ece(self) -> float:
        """The expected calibration error: ``sum n_b/n |accuracy_b - confidence_b|``."""
        return float(np.sum(self.count * np.abs(self.accuracy - self.confidence)) / self.count.sum())


def reliability(P: Floats, codes: NDArray[np.int32], bins: int = 10) -> Reliability:
    """Bins of equal width of the highest probability, without empty ones.

    >>> P = np.array([[0.2, 0.8], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8], [0.9, 0.1]])
    >>> round(reliability(P, np.array([1, 1, 1, 0, 0])).ece, 12)
    0.06
    """
    confidence, right = P.max(axis=1), np.argmax(P, axis=1) == codes
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    count = np.bincount(place, minlength=bins)
    used = count > 0
    sums = (np.bincount(place, each, bins)[used] / count[used] for each in (confidence, right))
    return Reliability(count[used], *sums)
