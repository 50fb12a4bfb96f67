"""One or more weight rows that score rows of features.

Invariant: scoring changes nothing, and a row's score does not depend on the rows beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.errors import ModelError
from rosenblatt.models.container import Tensors
from rosenblatt.models.sound import check_columns, check_finite, check_shapes, check_types


@dataclass(frozen=True)
class Linear:
    """Weight rows and intercepts: ``scores = X Wᵀ + b``.

    Two classes have one weight row (a score ``>= 0`` means the larger class), more classes one row each.
    """

    kind: ClassVar[str] = "linear"
    support_rows: ClassVar[None] = None

    weights: NDArray[Any]  # (K, features), float32 or float64
    intercept: NDArray[np.float64]  # (K,)

    @property
    def width(self) -> int:
        """How many scores a row gets."""
        return len(self.intercept)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        dtype = np.result_type(self.weights.dtype, table.dtype)
        table = table.astype(dtype)
        weights = table.arranged(self.weights.astype(dtype, copy=False))
        scores: NDArray[np.float64] = engine.scores(table.rows, weights.ravel(order="K"), self.intercept, index)
        return scores

    def columns(self) -> NDArray[np.intp]:
        """The columns with a weight."""
        return np.flatnonzero((self.weights != 0).any(axis=0))

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """Only what is not 0: the columns with a weight, and of these the rows."""
        columns = self.columns()
        by_column = self.weights[:, columns].T
        places, rows = np.nonzero(by_column)
        tensors[f"{prefix}columns"] = columns.astype(np.int64)
        tensors[f"{prefix}counts"] = np.bincount(places, minlength=len(columns)).astype(np.int32)
        tensors[f"{prefix}rows"] = rows.astype(np.int32)
        tensors[f"{prefix}weights"] = by_column[places, rows]
        tensors[f"{prefix}intercept"] = self.intercept
        return {"kind": self.kind}

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The weights of so many features, checked."""
        columns, counts, rows = (tensors[f"{prefix}{name}"] for name in ("columns", "counts", "rows"))
        stored, intercept = tensors[f"{prefix}weights"], tensors[f"{prefix}intercept"]
        check_types([columns, counts, rows, intercept], ["<i8", "<i4", "<i4", "<f8"])
        if stored.dtype not in (np.float32, np.float64):
            raise ModelError("its tensors have other types than those of a model")
        check_shapes(all(tensor.ndim == 1 for tensor in (columns, counts, rows, stored, intercept)))
        check_shapes(len(columns) == len(counts) <= features and len(rows) == len(stored) == counts.sum())
        check_columns(columns, features)
        if len(counts) and counts.min() < 0:
            raise ModelError("its columns are out of order")
        if len(rows) and (rows.min() < 0 or rows.max() >= len(intercept)):
            raise ModelError("it has a weight for a class that is not there")
        check_finite(stored, intercept)
        # Feature after feature, where a reader's rows look them up; pages of columns without a weight stay untouched.
        weights: NDArray[Any] = np.zeros((len(intercept), features), stored.dtype, order="F")
        weights[rows, np.repeat(columns, counts)] = stored
        return cls(weights, intercept)


def feature_major(weights: NDArray[Any]) -> bool:
    """Do the weights of all classes for one feature lie side by side?"""
    return weights.flags.f_contiguous and not weights.flags.c_contiguous


def predict_codes(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Places in the sorted classes: a score ``>= 0`` is the larger of two, the highest score wins among more."""
    if scores.shape[1] == 1:
        return (scores[:, 0] >= 0).astype(np.intp)
    codes: NDArray[np.intp] = np.argmax(scores, axis=1)
    return codes
