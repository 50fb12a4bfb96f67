"""Sample weights and class weights, as one weight a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels, label_values
from rosenblatt.errors import DataError, ParameterError


def row_weights(
    sample_weight: Any, class_weight: Any, labels: Labels, *, more_to_come: bool = False
) -> NDArray[np.float64] | None:
    """The product of both, or None where every row weighs 1.

    A weight of 0 is a row that is not there. Negative or not finite is an error that names the row. With
    `more_to_come`, a class weight may name a class that has not come yet, and all rows may weigh 0.
    """
    weights = None if sample_weight is None else _checked(sample_weight, len(labels.codes))
    if class_weight is not None:
        by_class = class_weights(class_weight, labels, weights, more_to_come=more_to_come)[labels.codes]
        weights = by_class if weights is None else weights * by_class
    if weights is None or bool(np.all(weights == 1.0)):
        return None
    if not weights.any() and not more_to_come:
        raise DataError("every sample_weight is zero: there is nothing to learn from")
    return weights


def class_weights(
    class_weight: Any, labels: Labels, weights: NDArray[np.float64] | None, *, more_to_come: bool = False
) -> NDArray[np.float64]:
    """One weight per class, from a dict or 'balanced': ``n / (K n_k)``, rows counted with their sample weights."""
    classes = labels.classes
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(f"class_weight={class_weight!r}: must be 'balanced', a dict of label: weight, or None")
        counts = np.bincount(labels.codes, weights, minlength=len(classes))
        balanced = np.ones(len(classes))
        np.divide(counts.sum() / len(classes), counts, out=balanced, where=counts > 0)
        return balanced
    try:
        given = dict(class_weight)
    except (TypeError, ValueError):
        raise ParameterError(
            f"class_weight={class_weight!r}: must be 'balanced', a dict of label: weight, or None"
        ) from None
    result = np.array([float(given.pop(label, 1.0)) for label in label_values(classes)])
    if given and not more_to_come:
        raise ParameterError(f"class_weight: {next(iter(given))!r} is not among the classes {classes.tolist()}")
    if not (np.isfinite(result) & (result >= 0)).all():
        raise ParameterError("class_weight: a weight must be finite and at least 0")
    return result


def weight_of_class(class_weight: Any, label: Any) -> float:
    """The weight of one class, from a dict; 1 where it is not named."""
    if class_weight is None:
        return 1.0
    weight = float(dict(class_weight).get(label, 1.0))
    if not (np.isfinite(weight) and weight >= 0):
        raise ParameterError("class_weight: a weight must be finite and at least 0")
    return weight


def as_counts(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights in proportion, their sum being the effective number of rows: ``(sum w)² / sum w²``.

    So many rows of equal weight say as much as these (L. Kish, Survey Sampling, 1965); the unit of weights is gone.
    """
    shares = weights / weights.max()
    counts: NDArray[np.float64] = shares * (shares.sum() / np.square(shares).sum())
    return counts


def effective_rows(weights: NDArray[np.float64] | None, rows: int) -> float:
    """As how many rows of equal weight so many rows count: all of them where they have no weights."""
    return float(rows) if weights is None or not rows else float(as_counts(weights).sum())


def _checked(sample_weight: Any, rows: int) -> NDArray[np.float64]:
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must be numbers, one a row") from None
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, one weight a row; got shape {weights.shape}")
    if len(weights) != rows:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}: one weight a row")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(f"sample_weight has {weights[row]:g} in row {row}: must be finite and at least 0")
    return np.ascontiguousarray(weights)
