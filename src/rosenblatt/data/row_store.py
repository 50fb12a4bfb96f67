"""Encoded rows, in memory or in a mapped temporary file.

Invariant: memory is bounded, whatever the number of rows: beyond a limit the arrays are maps of unlinked files, which
are gone when the process ends.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import RowBatch
from rosenblatt.data.table import Csr, Table
from rosenblatt.errors import DataError

MEMORY = 192 << 20  # bytes of rows that stay in memory
_BLOCK = 1 << 20  # values that are changed in place at once


class RowStore:
    """All rows of a data set, for any number of passes.

    Parameters
    ----------
    memory : int, optional
        Bytes of rows to hold in memory; more are written to a temporary file.
    """

    def __init__(self, memory: int | None = None) -> None:
        self._memory = MEMORY if memory is None else memory
        self._arrays: dict[str, _Array] = {
            "sizes": _Array(np.int64),
            "indices": _Array(np.int32),
            "values": _Array(np.float64),
            "y": _Array(None),
            "weights": _Array(np.float64),
        }
        self._rows = 0
        self._weighted = False
        self.starts: NDArray[Any] = np.zeros(1, np.int64)
        self.indices: NDArray[Any] = np.empty(0, np.int32)
        self.values: NDArray[np.float64] = np.empty(0)
        self.y: NDArray[Any] = np.empty(0, np.int32)  # codes of classes, or the targets of a regression
        self.weights: NDArray[np.float64] | None = None
        self.columns: NDArray[np.int64] = np.empty(0, np.int64)  # those with a value, in order

    def __len__(self) -> int:
        return self._rows

    def append(self, batch: RowBatch, y: NDArray[Any]) -> None:
        """Add rows with their codes or targets."""
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        self._weighted |= batch.weights is not None
        self._rows += len(batch)
        parts = {"sizes": np.diff(batch.starts), "indices": batch.indices, "values": batch.values, "y": y}
        for name, part in (parts | {"weights": weights}).items():
            self._arrays[name].append(part)
        if sum(array.bytes for array in self._arrays.values()) > self._memory:
            for array in self._arrays.values():
                array.spill()

    def finish(self, codes: NDArray[np.int32] | None = None) -> None:
        """Make the rows readable; `codes` are the final codes of those that were appended."""
        arrays = {name: array.finish() for name, array in self._arrays.items()}
        self.indices, self.values, self.y = arrays["indices"], arrays["values"], arrays["y"]
        self.weights = arrays["weights"] if self._weighted else None
        kind = np.int32 if len(self.values) < 2**31 else np.int64
        self.starts = np.zeros(self._rows + 1, kind)
        np.cumsum(arrays["sizes"], out=self.starts[1:])
        if kind is np.int64:  # the engine has one type of index
            self.indices = self.indices.astype(np.int64)
        if codes is not None and not np.array_equal(codes, np.arange(len(codes))):
            for part in _blocks(len(self.y)):
                self.y[part] = codes[self.y[part]]
        width = max((int(self.indices[part].max(initial=-1)) for part in _blocks(len(self.indices))), default=-1) + 1
        used = np.zeros(width, bool)
        for part in _blocks(len(self.indices)):
            used[self.indices[part]] = True
        self.columns = np.flatnonzero(used)

    def standardize(self, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> None:
        """Standardize the first columns in place: ``(x - mean) / scale``."""
        for part in _blocks(len(self.values)) if len(mean) else ():
            columns, values = self.indices[part], self.values[part]
            numbers = columns < len(mean)
            own = columns[numbers]
            values[numbers] = (values[numbers] - mean[own]) / scale[own]

    def divide(self, scale: NDArray[np.float64]) -> None:
        """Divide each of the columns in use by its scale, in place; columns beyond it by 1."""
        known = np.ones(len(self.columns))
        inside = self.columns < len(scale)
        known[inside] = scale[self.columns[inside]]
        places = self._places()
        for part in _blocks(len(self.values)):
            self.values[part] /= known[places[self.indices[part]]]

    def compact(self) -> None:
        """Renumber the columns, so that only those in use have weights: column k is `columns[k]`."""
        places = self._places()
        for part in _blocks(len(self.indices)):
            self.indices[part] = places[self.indices[part]]

    def _places(self) -> NDArray[np.int32]:
        places = np.zeros(int(self.columns[-1]) + 1 if len(self.columns) else 1, np.int32)
        places[self.columns] = np.arange(len(self.columns), dtype=np.int32)
        return places

    def csr(self, features: int) -> Csr:
        return Csr(self.values, self.indices, self.starts, (self._rows, features))

    def table(self, features: int) -> Table:
        """All rows for the engine, over so many features."""
        return self.csr(features).table()

    def batch(self, labels: Any = ()) -> RowBatch:
        """All rows as a batch; `y` are its codes."""
        return RowBatch(self.starts, self.indices, self.values, self.y, labels, self.weights)

    def sample(self, most_bytes: int) -> tuple[RowBatch, int]:
        """Every k-th row, and k: the smallest power of 2 for which they take at most so many bytes."""
        step = 1
        while True:
            rows = np.arange(0, self._rows, step)
            size = 12 * int((self.starts[rows + 1] - self.starts[rows]).sum()) + 16 * len(rows)
            if size <= most_bytes or len(rows) <= 1:
                return (self.batch() if step == 1 else self.batch().take(rows)), step
            step *= 2


class _Array:
    """A growing array: parts in memory, then the end of a file."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._parts: list[NDArray[Any]] = []
        self._file: Any = None
        self.bytes = 0  # in memory

    def append(self, part: NDArray[Any]) -> None:
        self._dtype = self._dtype or part.dtype
        part = np.asarray(part, self._dtype)
        if self._file is not None:
            self._write(part)
            return
        self._parts.append(part)
        self.bytes += part.nbytes

    def spill(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
            for part in self._parts:
                self._write(part)
            self._parts, self.bytes = [], 0

    def _write(self, part: NDArray[Any]) -> None:
        try:
            self._file.write(np.ascontiguousarray(part).data)
        except OSError as error:
            folder = tempfile.gettempdir()
            raise DataError(f"no space for the rows in {folder}: {error.strerror} (TMPDIR names another)") from None

    def finish(self) -> NDArray[Any]:
        dtype = np.dtype(self._dtype or np.int32)
        if self._file is None:
            parts, self._parts = self._parts, []
            if len(parts) == 1:
                return parts[0] if parts[0].flags.writeable else parts[0].copy()
            return np.concatenate(parts) if parts else np.empty(0, dtype)
        try:
            self._file.flush()
        except OSError as error:
            raise DataError(f"no space for the rows in {tempfile.gettempdir()}: {error.strerror}") from None
        size = os.fstat(self._file.fileno()).st_size // dtype.itemsize
        return np.asarray(np.memmap(self._file, dtype, "r+", shape=(size,))) if size else np.empty(0, dtype)


def _blocks(length: int) -> list[slice]:
    return [slice(at, min(at + _BLOCK, length)) for at in range(0, length, _BLOCK)]
