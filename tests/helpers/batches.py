"""Rows of arrays as a file gives them."""

from typing import Any

import numpy as np

from rosenblatt.data.batch import RowBatch


def batch_of(X: Any, labels: Any, weights: Any = None) -> RowBatch:
    names = sorted({str(label) for label in labels})
    place = {name: code for code, name in enumerate(names)}
    rows, columns = X.shape
    return RowBatch(
        (np.arange(rows + 1) * columns).astype(np.int32),
        np.tile(np.arange(columns, dtype=np.int32), rows),
        np.ascontiguousarray(X, np.float64).ravel(),
        np.array([place[str(label)] for label in labels], np.int32),
        [name.encode() for name in names],
        weights,
    )
