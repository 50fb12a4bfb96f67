"""Rows of a dataset in memory, up to a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import Csr, Table, as_table

if TYPE_CHECKING:
    from rosenblatt.data.batch import RowBatch
    from rosenblatt.io.dataset import Dataset

MOST_BYTES = 2 << 30
DENSE = 1 << 20  # values of rows that are held as an array for a kernel


def read_rows(reader: Dataset) -> RowBatch:
    """All rows as one batch, or a sentence where they are too many."""
    from rosenblatt.data.batch import join_batches
    from rosenblatt.errors import DataError

    batches, size = [], 0
    for batch in reader:
        batches.append(batch)
        size += _bytes(batch)
        if size > MOST_BYTES:
            raise DataError(
                f"the data has more than {MOST_BYTES >> 30} GB of rows, the most that may be held in memory for what "
                "needs all of them at once: take fewer rows, or train a linear learner without such options"
            )
    if not batches:
        raise DataError("the data has no rows")
    return join_batches(batches)


@dataclass(frozen=True)
class Compact:
    """Rows over the columns that they use, in their order; a score over all columns is the same."""

    X: Any  # an array, where that takes less memory, or a `Csr`
    columns: NDArray[np.intp]
    features: int  # of all columns

    @classmethod
    def of(cls, batch: RowBatch, features: int | None = None, *, dense: bool = True) -> Compact:
        features = max(features or 0, batch.features, 1)
        used = np.zeros(features, bool)
        used[batch.indices] = True
        columns = np.flatnonzero(used)
        place = (np.cumsum(used, dtype=np.int64) - 1).astype(np.int32)
        shape = (len(batch), max(len(columns), 1))
        rows = Csr(batch.values, place[batch.indices], batch.starts, shape)
        if dense and 8 * shape[0] * shape[1] <= rows.data.nbytes + rows.indices.nbytes:
            return cls(rows.dense(), columns, features)
        return cls(rows, columns, features)

    @property
    def matrix(self) -> Any:
        """The rows as an array or a scipy CSR array."""
        return self.X.matrix() if isinstance(self.X, Csr) else self.X

    @property
    def table(self) -> Table:
        """The rows for the engine."""
        return self.X.table() if isinstance(self.X, Csr) else as_table(self.X)


def _bytes(batch: RowBatch) -> int:
    """Of the values and indices, and 16 a row: the same however the rows are cut into batches."""
    return 12 * len(batch.values) + 16 * len(batch)
