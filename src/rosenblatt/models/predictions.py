"""From scores to predictions: labels, ranks, probabilities and contributions, for every task.

Invariant: estimators, models, the service, the command and the cluster decide here, so that equal scores give equal
predictions everywhere. Two classes have one score per row, and a score ``>= 0`` is the larger class; more classes have
one score each, and the first of the highest wins; several labels per row have one score each, and every label with a
score ``>= 0`` is predicted; a regression has one score, which is the prediction; one class is always predicted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import label_values
from rosenblatt.errors import ModelError
from rosenblatt.models.predictors import Linear

Floats = NDArray[np.float64]


class Contribution(NamedTuple):
    """The contribution of a feature to the score of a class: weight times value."""

    feature: Any
    value: float
    share: float


@dataclass(frozen=True)
class Predictions:
    """Labels, ranks and probabilities of some rows, from their scores.

    Parameters
    ----------
    classes : array
        Sorted; empty for a regression.
    scores : array of shape (n_rows, n_scores)
    is_multilabel : bool
        True if a row can have several labels.
    calibrator : Calibrator, Calibration or None
        From scores to probabilities.

    Examples
    --------
    >>> found = Predictions(np.array(["no", "yes"]), np.array([[-1.5], [0.0]]))
    >>> found.labels.tolist(), found.class_scores.tolist()
    (['no', 'yes'], [[1.5, -1.5], [-0.0, 0.0]])
    >>> found.top(1)[0].tolist()
    [[0], [0]]
    """

    classes: NDArray[Any]
    scores: Floats
    is_multilabel: bool = False
    calibrator: Any = None  # its curves may be fitted when probabilities are first needed

    @property
    def is_regression(self) -> bool:
        return len(self.classes) == 0

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The index of each row's class."""
        return np.minimum(predict_codes(self.scores), len(self.classes) - 1)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The result of `predict`: labels, numbers, or a column of 0 and 1 per label."""
        if self.is_regression:
            return self.scores[:, 0]
        return (self.scores >= 0).astype(np.int64) if self.is_multilabel else self.classes[self.codes]

    def values(self) -> list[Any]:
        """The labels in Python's types; with several labels per row, the list of its labels."""
        if self.is_regression:
            return self.scores[:, 0].tolist()
        known = label_values(self.classes)
        if self.is_multilabel:
            return [[known[k] for k in np.flatnonzero(row)] for row in self.labels]
        return [known[code] for code in self.codes.tolist()]

    @property
    def one(self) -> Any:
        """The result of `predict_one`: the label of the first row, in Python's types."""
        return self.labels[0].tolist() if self.is_multilabel else self.values()[0]

    @cached_property
    def class_scores(self) -> Floats:
        """One score per class, also for two classes."""
        if len(self.classes) == 2 and not self.is_multilabel:
            return np.column_stack([-self.scores[:, 0], self.scores[:, 0]])
        return self.scores

    @cached_property
    def probabilities(self) -> Floats:
        """One probability per class."""
        if self.calibrator is None:
            raise ModelError("the model has scores but no probabilities: train it with --folds 5, or fit a Calibrated")
        if len(self.classes) == 1:
            return np.ones((len(self.scores), 1))
        return self.calibrator.probabilities(self.scores)

    def top(self, k: int, *, by_probability: bool = False) -> tuple[NDArray[np.intp], Floats]:
        """The indices of the k most likely classes of each row, and their scores or probabilities."""
        measure = self.probabilities if by_probability else self.class_scores
        order = np.argsort(-measure, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(measure, order, axis=1)


class PredictionMethods:
    """Mixin: prediction methods, from `_predict` for many rows and `_predict_row` for one."""

    def decision_function(self: Any, X: Any) -> Floats:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        scores: Floats = self._predict(X).scores
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self: Any, X: Any) -> NDArray[Any]:
        """The label of each row, by the sign or the highest score; for a regression, its number."""
        return self._predict(X).labels

    def predict_proba(self: Any, X: Any) -> Floats:
        """The probability of every class, of shape (n_rows, n_classes).

        `predict` follows the score, not the highest probability: near a score of 0 the two may differ.
        """
        return self._predict(X).probabilities

    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithm of the probability of every class."""
        with np.errstate(divide="ignore"):  # a probability can be 0
            return np.log(self.predict_proba(X))

    def predict_one(self: Any, row: Any) -> Any:
        """The label of one row: a dict from names to numbers, or, as in training, from columns to cells, or a text.

        Unknown names are ignored. After training on rows without names, the names are the numbers of the
        columns.
        """
        return self._predict_row(row).one

    def predict_proba_one(self: Any, row: Any) -> dict[Any, float]:
        """The probability of each class for one row."""
        found = self._predict_row(row)
        return dict(zip(label_values(found.classes), found.probabilities[0].tolist(), strict=True))


def predict_codes(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Indices into the sorted classes: a score ``>= 0`` is the larger of two; of more, the highest score wins."""
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.intp)
    return np.argmax(scores, axis=1)


def labels_to_json(classes: NDArray[Any]) -> list[Any]:
    """The labels as JSON holds them: dates in ISO 8601.

    >>> labels_to_json(np.array(["2024-02-01"], "M8[D]"))
    ['2024-02-01']
    """
    if classes.dtype.kind == "M":
        return np.datetime_as_string(classes).tolist()
    return [str(span) for span in classes] if classes.dtype.kind == "m" else label_values(classes)


def contributions(
    predictors: Iterable[Any], features: Iterable[tuple[int, Any, float]], code: int, *, is_regression: bool = False
) -> list[Contribution]:
    """The contributions of (column, name, value) to the score of the class with this index, the largest first.

    The number of a regression has no side to explain, so its contributions are sorted by absolute value.
    """
    only, *others = predictors
    if others or not isinstance(only, Linear):
        raise ModelError("only a model with one weight per feature and class has contributions of features")
    binary, listed = only.width == 1, list(features)
    sign = -1.0 if binary and code == 0 and not is_regression else 1.0
    weights = only.at([at for at, _, _ in listed])[0 if binary else code].tolist()
    found = [Contribution(name, x, sign * weight * x) for (_, name, x), weight in zip(listed, weights, strict=True)]
    return sorted(
        (each for each in found if each.share), key=lambda each: -abs(each.share) if is_regression else -each.share
    )
