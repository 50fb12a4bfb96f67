"""Sparse rows in three arrays, as scipy's CSR arrays hold them.

Invariant: the columns of a row rise strictly. scipy.sparse takes longer to load than small data to learn, so it is
loaded only where rows are picked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table


@dataclass
class Csr:
    """Values and columns, row after row, and where each row begins."""

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    shape: tuple[int, int]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def nnz(self) -> int:
        return len(self.data)

    def table(self) -> Table:
        """The rows for the engine, without another check."""
        return Table(self, engine.sparse_rows(self.data, self.indices, self.indptr, self.shape[1]))

    def divided(self, scale: NDArray[np.float64]) -> Csr:
        """The rows with each column divided by its scale."""
        return replace(self, data=(self.data / scale[self.indices]).astype(self.dtype))

    def dense(self) -> NDArray[Any]:
        """The rows as an array."""
        count, width = self.shape
        cells = np.repeat(np.arange(count) * width, np.diff(self.indptr)) + self.indices
        rows: NDArray[Any] = np.bincount(cells, self.data, count * width).reshape(self.shape)
        return rows

    def matrix(self) -> Any:
        """The rows as a scipy CSR array."""
        import scipy.sparse as sp

        return sp.csr_array((self.data, self.indices, self.indptr), shape=self.shape)

    def __getitem__(self, index: Any) -> Any:
        return self.matrix()[index]

    def astype(self, dtype: Any) -> Any:
        return self.matrix().astype(dtype)
