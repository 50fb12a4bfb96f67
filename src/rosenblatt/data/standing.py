"""Columns that lie apart in memory: those of an Arrow table, a Polars frame, a pandas frame of several blocks.

Invariant: the arrays are looked into, never written to, and never copied as a whole. What they hold is what the columns
beside one another in one array would hold: `dtype` is the type that NumPy would give to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Piece = list[NDArray[Any]]  # one array per column, all of as many rows

# Types of numbers that can be read where they lie.
LYING = [np.dtype(kind) for kind in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")]
SHORTEST = 1024  # rows of a piece on average, below which pieces cost more than a copy


@dataclass(frozen=True)
class ColumnSet:
    """Columns of as many rows each, in pieces of some rows, as far as a table needs an array."""

    pieces: list[Piece]
    dtype: np.dtype[Any]
    shape: tuple[int, int]
    ndim: int = 2

    @classmethod
    def of(cls, columns: Sequence[Sequence[NDArray[Any]]]) -> ColumnSet | None:
        """Of the chunks of each column; None where they must be copied to be read."""
        chunks = [[chunk for chunk in column if len(chunk)] for column in columns]
        if not all(_is_readable(chunk) for column in chunks for chunk in column) or not all(chunks):
            return None
        ends = [np.cumsum([len(chunk) for chunk in column]) for column in chunks]
        cuts = np.unique(np.concatenate(ends))
        count = int(cuts[-1])
        if any(int(each[-1]) != count for each in ends) or len(cuts) > 1 + count // SHORTEST:
            return None
        dtype = np.result_type(*(chunk.dtype for column in chunks for chunk in column))
        pieces: list[Piece] = [[] for _ in cuts]
        for column, each in zip(chunks, ends, strict=True):
            begin = 0
            for piece, cut in zip(pieces, cuts.tolist(), strict=True):
                at = int(np.searchsorted(each, cut))
                first = int(each[at]) - len(column[at])
                piece.append(column[at][begin - first : cut - first])
                begin = cut
        return cls(pieces, dtype, (count, len(chunks)))

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def has_mixed_flags(self) -> bool:
        """Are some columns booleans, and others numbers?"""
        return len({values.dtype == np.bool_ for values in self.pieces[0]}) > 1

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Any) -> Any:
        """A row, or the value in a row and a column."""
        row, column = place if isinstance(place, tuple) else (place, slice(None))
        for piece in self.pieces:
            if row < len(piece[0]):
                return np.array([values[row] for values in piece], self.dtype)[column]
            row -= len(piece[0])
        raise IndexError(f"there is no row {row}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("columns that lie apart are no array without a copy")
        values = np.vstack([np.column_stack(piece) for piece in self.pieces])
        return values if dtype is None else values.astype(dtype)


def columns_of(X: Any, copied: float) -> ColumnSet | None:
    """The columns of a frame where they lie.

    None if it is no frame, has columns that must be converted, or would be copied in so many bytes.
    """
    for library, find in _FRAMES.items():
        if library in sys.modules and type(X).__module__.split(".")[0] == library:
            if not (isinstance(getattr(X, "shape", None), tuple) and len(X.shape) == 2):
                return None
            if 8 * X.shape[0] * X.shape[1] <= copied:
                return None
            columns = find(X)
            found = None if not columns else ColumnSet.of(columns)
            if library == "pandas" and found is not None and found.has_mixed_flags:
                return replace(found, dtype=np.dtype(np.float64))  # where pandas has objects, and as_table floats
            return found
    return None


def _is_readable(values: NDArray[Any]) -> bool:
    return values.dtype in LYING and values.flags.aligned and values.strides[0] % values.itemsize == 0


def _of_arrow(X: Any) -> list[list[NDArray[Any]]] | None:
    import pyarrow as pa

    from rosenblatt.data.vectors import flags_of, values_of

    if not isinstance(X, pa.Table | pa.RecordBatch):
        return None
    columns = []
    for column in X.columns:
        kind = column.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if column.null_count or not (plain or pa.types.is_boolean(kind)):
            return None
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        # Booleans are bits there: one byte each is the smallest that can be read.
        columns.append([values_of(chunk, kind.to_pandas_dtype()) if plain else flags_of(chunk) for chunk in chunks])
    return columns


def _of_polars(X: Any) -> list[list[NDArray[Any]]] | None:
    import polars

    if not isinstance(X, polars.DataFrame):
        return None
    columns = []
    for column in X.get_columns():
        plain = column.dtype.is_integer() or column.dtype.is_float()
        if column.null_count() or not (plain or column.dtype == polars.Boolean):
            return None
        try:
            columns.append([chunk.to_numpy(allow_copy=not plain) for chunk in column.get_chunks()])
        except (RuntimeError, TypeError):  # 128 bits, or an older Polars without the argument
            return None
    return columns


def _of_pandas(X: Any) -> list[list[NDArray[Any]]] | None:
    import pandas

    if not isinstance(X, pandas.DataFrame) or not all(isinstance(dtype, np.dtype) for dtype in X.dtypes):
        return None
    columns = [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
    if len({(column.dtype, column.strides) for column in columns}) == 1:
        starts = np.array([column.__array_interface__["data"][0] for column in columns], np.int64)
        if len(set(np.diff(starts).tolist())) <= 1:  # one block: the frame gives an array of it, without a copy
            return None
    return [[column] for column in columns]


_FRAMES: dict[str, Callable[[Any], list[list[NDArray[Any]]] | None]] = {
    "pyarrow": _of_arrow,
    "polars": _of_polars,
    "pandas": _of_pandas,
}
