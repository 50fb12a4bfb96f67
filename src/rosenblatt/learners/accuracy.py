"""What classifiers answer, and the share of rows that they get right, for labels of any kind.

Invariant: labels that scikit-learn can count are counted by scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
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


class Classifying(Accurate):
    """A learner whose scores tell classes apart."""

    def predict(self: Any, X: Any) -> NDArray[Any]:
        """The label of each row; after a fit on several labels per row, a column of 0 and 1 for each."""
        reading = self.learned.reading()
        labels: NDArray[Any] = reading.predicted(reading.scores(self._table(X)))
        return labels

    def decision_function(self: Any, X: Any) -> NDArray[np.float64]:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        scores: NDArray[np.float64] = self.scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores
