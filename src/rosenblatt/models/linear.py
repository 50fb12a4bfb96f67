"""One or more weight rows that score rows of features.

Invariant: scoring changes nothing, and a row's score does not depend on the rows beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table


@dataclass(frozen=True)
class Linear:
    """Weight rows and intercepts: ``scores = X Wᵀ + b``.

    Two classes have one weight row (a score ``>= 0`` means the larger class), more classes one row each.
    """

    weights: NDArray[Any]  # (K, features), float32 or float64
    intercept: NDArray[np.float64]  # (K,)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        dtype = np.result_type(self.weights.dtype, table.dtype)
        table = table.astype(dtype)
        weights = arranged(self.weights.astype(dtype, copy=False), table.sparse)
        scores: NDArray[np.float64] = engine.scores(table.rows, weights.ravel(order="K"), self.intercept, index)
        return scores

    def columns(self) -> NDArray[np.intp]:
        """The columns with a weight."""
        return np.flatnonzero((self.weights != 0).any(axis=0))


def feature_major(weights: NDArray[Any]) -> bool:
    """Do the weights of all classes for one feature lie side by side?"""
    return weights.flags.f_contiguous and not weights.flags.c_contiguous


def arranged(weights: NDArray[Any], sparse: bool) -> NDArray[Any]:
    """The same weights in the memory order that the engine reads: feature after feature for sparse rows."""
    return np.asfortranarray(weights) if sparse else np.ascontiguousarray(weights)


def predict_codes(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Places in the sorted classes: a score ``>= 0`` is the larger of two, the highest score wins among more."""
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.intp)
    codes: NDArray[np.intp] = np.argmax(scores, axis=1)
    return codes
