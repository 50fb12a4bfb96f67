"""From scores to predictions: labels, ranks, probabilities and contributions, for every task.

Invariant: estimators, models, the service, the command and the cluster decide here, so that equal scores give equal
predictions everywhere. Two classes have one score per row, and a score ``>= 0`` is the larger class; more classes have
one score each, and the first of the highest wins; several labels per row have one score each, and every label with a
score ``>= 0`` holds; a regression has one score, which is the prediction; one class is always predicted.
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
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictors import Linear

Floats = NDArray[np.float64]


class Contribution(NamedTuple):
    """How much a feature adds to the score of a class: weight times value."""

    feature: Any
    value: float
    share: float


@dataclass(frozen=True)
class Predictions:
    """What the scores of some rows mean.

    Parameters
    ----------
    classes : array
        Sorted; empty for a regression.
    scores : array of shape (n_rows, n_scores)
    is_multilabel : bool
        Can a row have several labels?
    calibrator : Calibrator or None
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
    calibrator: Calibrator | None = None

    @property
    def is_regression(self) -> bool:
        return len(self.classes) == 0

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The place of each row's class in the classes."""
        return np.minimum(predict_codes(self.scores), len(self.classes) - 1)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """What `predict` returns: labels, numbers, or a column of 0 and 1 per label."""
        if self.is_regression:
            return self.scores[:, 0]
        return (self.scores >= 0).astype(np.int64) if self.is_multilabel else self.classes[self.codes]

    def values(self) -> list[Any]:
        """The labels in Python's types; with several labels per row, the list of those that hold."""
        if self.is_regression:
            numbers: list[Any] = self.scores[:, 0].tolist()
            return numbers
        known = label_values(self.classes)
        if self.is_multilabel:
            return [[known[k] for k in np.flatnonzero(row)] for row in self.labels]
        return [known[code] for code in self.codes.tolist()]

    @property
    def one(self) -> Any:
        """What `predict_one` returns: the label of the first row, in Python's types."""
        first: Any = self.labels[0].tolist() if self.is_multilabel else self.values()[0]
        return first

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
            raise ModelError("the model has scores but no probabilities: save a Calibrated or an AutoPerceptron")
        if len(self.classes) == 1:
            return np.ones((len(self.scores), 1))
        return self.calibrator.probabilities(self.scores)

    def top(self, k: int, *, by_probability: bool = False) -> tuple[NDArray[np.intp], Floats]:
        """The places of the k likeliest classes of each row, and their scores or probabilities."""
        measure = self.probabilities if by_probability else self.class_scores
        order = np.argsort(-measure, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(measure, order, axis=1)


def predict_codes(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Places in the sorted classes: a score ``>= 0`` is the larger of two, the highest score wins among more."""
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.intp)
    codes: NDArray[np.intp] = np.argmax(scores, axis=1)
    return codes


def labels_to_json(classes: NDArray[Any]) -> list[Any]:
    """The labels as JSON holds them: dates in ISO 8601.

    >>> labels_to_json(np.array(["2024-02-01"], "M8[D]"))
    ['2024-02-01']
    """
    if classes.dtype.kind == "M":
        dates: list[Any] = np.datetime_as_string(classes).tolist()
        return dates
    return [str(span) for span in classes] if classes.dtype.kind == "m" else label_values(classes)


def contributions(
    predictors: Iterable[Any], features: Iterable[tuple[int, Any, float]], code: int, *, is_regression: bool = False
) -> list[Contribution]:
    """What (column, name, value) of a row add to the score of the class at this place, the largest first."""
    only, *others = predictors
    if others or not isinstance(only, Linear):
        raise ModelError("only a model with one weight per feature and class has contributions of features")
    binary = len(only.weights) == 1
    weights, sign = only.weights[0 if binary else code], -1.0 if binary and code == 0 and not is_regression else 1.0
    found = [Contribution(name, value, sign * float(weights[at]) * value) for at, name, value in features]
    return sorted((each for each in found if each.share), key=lambda each: -each.share)
