"""The share of rows that a classifier gets right, for labels of any kind.

Invariant: labels that scikit-learn can count are counted by scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from rosenblatt.data.labels import as_label_array
from rosenblatt.errors import DataError

COUNTED = "biufU"  # kinds of NumPy that scikit-learn's accuracy takes


class Accurate(ClassifierMixin):  # type: ignore[misc]
    """A classifier with a score."""

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label is predicted, each counted with its sample weight."""
        if getattr(y, "ndim", 1) != 1 or np.ndim(y) != 1:
            return float(super().score(X, y, sample_weight))
        labels = as_label_array(y)
        if labels.dtype.kind in COUNTED:
            return float(super().score(X, labels, sample_weight))
        predicted = self.predict(X)
        if len(predicted) != len(labels):
            raise DataError(f"X has {len(predicted)} rows, but y has {len(labels)} labels")
        right = predicted == labels if predicted.dtype.kind == labels.dtype.kind else np.zeros(len(labels))
        return float(np.average(right, weights=sample_weight))
