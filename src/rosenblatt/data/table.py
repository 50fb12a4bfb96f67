"""Table: rows of features for the engine.

Invariant: a `Table` holds only finite values, dense or as CSR with sorted columns, and is learned from in float32 or
float64.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import DataError

_LINE = 64


def lined_up(values: NDArray[Any]) -> NDArray[Any]:
    """The values, in rows, from the start of a line: elsewhere half of all wide reads would reach into two lines.

    An epoch of MNIST's ten classes in float64 takes a tenth less time.
    """
    if _address(values) % _LINE == 0:
        return values
    room = np.empty(values.nbytes + _LINE, np.uint8)
    moved: NDArray[Any] = np.ndarray(values.shape, values.dtype, room, -_address(room) % _LINE)
    moved[...] = values
    return moved


def _address(values: NDArray[Any]) -> int:
    return int(values.__array_interface__["data"][0])


def free_memory() -> int:
    """Bytes that can be had without swapping; 0 where the system does not say."""
    try:
        told = Path("/proc/meminfo").read_text(encoding="ascii", errors="replace")
        found = re.search(r"^MemAvailable:\s+(\d+) kB", told, re.MULTILINE)
        if found:
            return 1024 * int(found[1])
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


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

    from rosenblatt.encode.arrow_numpy import flags_of, values_of

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


# How many values of another type are copied to floats, and how many bytes are copied into C order where they lie
# otherwise: then epochs need not widen or gather them again. Of arrays, and of more columns than these, a copy pays so
# much that a share of the free memory is given for it too. Whatever is larger is never copied.
COPIED = 1 << 16
REORDERED = 1 << 26
FEW_COLUMNS = 64
SHARE = 1 / 8


@dataclass(frozen=True)
class Table:
    """Rows of features as the engine sees them, with the arrays behind them."""

    values: Any  # NDArray, ColumnSet, or a CSR array of float32/float64
    rows: engine.Rows
    names: tuple[str, ...] | None = None

    @property
    def count(self) -> int:
        return self.rows.count

    @property
    def features(self) -> int:
        return self.rows.features

    @property
    def sparse(self) -> bool:
        return self.rows.sparse

    @property
    def stored(self) -> int:
        """How many values are held: all of dense rows, those other than 0 of sparse ones."""
        return int(self.values.nnz) if self.sparse else self.count * self.features

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision in which they are learned from, which dense values themselves need not have."""
        return np.dtype(np.float32 if self.rows.float32 else np.float64)

    @property
    def floats(self) -> Any:
        """The values in the precision in which they are learned from, in C order: a copy where they lie otherwise."""
        if not self.sparse and not self.in_rows:
            return engine.gathered_rows(self.rows)
        return self.values if self.values.dtype == self.dtype else self.values.astype(self.dtype)

    @property
    def in_rows(self) -> bool:
        """Do the values of a dense row lie side by side?"""
        return isinstance(self.values, np.ndarray) and _lies_in_rows(self.values)

    def astype(self, dtype: np.dtype[Any]) -> Table:
        """This table in another precision; itself if it has it already."""
        if dtype == self.dtype:
            return self
        if self.sparse:
            return _from_sparse(self.values.astype(dtype))
        return Table(self.values, _dense_rows(self.values, dtype), self.names)

    def with_squared_norms(self) -> Table:
        """This table with the squared norm of every row at hand, for many learners that ask for it."""
        return replace(self, rows=engine.with_squared_norms(self.rows))

    def arranged(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Weights in the order that the engine reads beside these rows: feature after feature for sparse ones."""
        return np.asfortranarray(weights) if self.sparse else lined_up(np.ascontiguousarray(weights))

    def take(self, index: NDArray[Any] | slice) -> Any:
        """Some rows, as an array of floats or a CSR array."""
        if self.sparse:
            return self.values[index]
        if self.in_rows:
            return self.values[index].astype(self.dtype, copy=False)
        return engine.gathered_rows(self.rows, np.arange(self.count, dtype=np.uint32)[index])


def as_table(X: Any, *, name: str = "X") -> Table:
    """Make a table of an array, a nested list, a scipy sparse matrix or a pandas, Polars or pyarrow frame.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        float32 and float64 are learned from as they are. What float32 holds exactly (booleans, int8, uint8, float16,
        bfloat16) is learned from in float32, other numbers in float64. Dense rows are read where they lie, whatever the
        order of the array, and so are the columns of frames; small ones are copied. Sparse matrices in other formats
        than CSR, and of other types, are converted, with 64-bit indices where they are needed.
    name : str
        What the errors call it.

    Raises
    ------
    DataError
        Not two-dimensional, empty, not numeric, or with NaN, infinity or a value too large to learn from: the
        sentence names the row and the column.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4]]).features
    2
    >>> as_table([[1.0, float("nan")]])
    Traceback (most recent call last):
        ...
    rosenblatt.errors.DataError: X contains NaN in row 0, column 1
    """
    if is_sparse(X):
        table = _from_sparse(_to_csr(X, name), name)
    else:
        names = column_names(X)
        values = _to_array(X, names, name)
        table = Table(values, _dense_rows(values), names)
    if table.sparse or table.values.dtype.kind not in "biu":
        _check_finite(table, name)
    return table


def is_sparse(X: Any) -> bool:
    """Is it a sparse matrix or array of scipy? Nothing is, before scipy.sparse is loaded, which takes its time."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(X))


def column_names(X: Any) -> tuple[str, ...] | None:
    """The column names of a frame, if it is one and all of them are strings."""
    columns = getattr(X, "column_names", None)  # pyarrow
    if columns is None:
        columns = getattr(X, "columns", None)  # pandas, Polars
    if columns is None or callable(columns):
        return None
    names = tuple(columns)
    return names if all(isinstance(column, str) for column in names) else None


def _dense_rows(values: Any, dtype: np.dtype[Any] | None = None) -> engine.Rows:
    """Rows to be learned from in this precision, else in that of their own type."""
    dtype = precision_of(values.dtype) if dtype is None else dtype
    if isinstance(values, ColumnSet):
        return engine.column_rows(values.pieces, float32=dtype == np.float32)
    if values.dtype == dtype and _lies_in_rows(values):
        return engine.dense_rows(values)
    if _is_bfloat16(values.dtype):
        return engine.stored_rows(values.view(np.uint16), float32=dtype == np.float32, bfloat16=True)
    return engine.stored_rows(values, float32=dtype == np.float32)


def precision_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The precision in which values of this type are learned from: float32 where it holds all of them."""
    in_float32 = dtype in (np.float32, np.float16, np.int8, np.uint8, np.bool_) or _is_bfloat16(dtype)
    return np.dtype(np.float32 if in_float32 else np.float64)


def _lies_in_rows(values: NDArray[Any]) -> bool:
    return values.strides[1] == values.itemsize or values.shape[1] == 1


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Is it the type of the package ml_dtypes, which NumPy itself does not have?"""
    return dtype.kind == "V" and dtype.name == "bfloat16"


def _from_sparse(matrix: Any, name: str = "X") -> Table:
    indices, starts = matrix.indices, matrix.indptr
    if indices.dtype != starts.dtype or indices.dtype not in (np.int32, np.int64):
        indices, starts = indices.astype(np.int64), starts.astype(np.int64)
    broken = DataError(f"{name} is a broken CSR matrix: its indices or indptr point outside of it")
    if len(starts) != matrix.shape[0] + 1 or len(indices) != len(matrix.data):
        raise broken
    rows = engine.sparse_rows(
        np.ascontiguousarray(matrix.data), np.ascontiguousarray(indices), np.ascontiguousarray(starts), matrix.shape[1]
    )
    structure = engine.structure(rows)
    if structure == "broken":
        raise broken
    if structure == "unsorted":
        data, columns = engine.sorted_columns(rows)
        begins = starts - starts[0]  # a copy: duplicates are summed in place below
        sorted_copy = type(matrix)((data, columns, begins), shape=matrix.shape)
        rows = engine.sparse_rows(data, columns, begins, matrix.shape[1])
        if engine.structure(rows) == "sound":
            return Table(sorted_copy, rows)
        sorted_copy.sum_duplicates()
        return _from_sparse(sorted_copy, name)
    return Table(matrix, rows)


def _to_csr(X: Any, name: str) -> Any:
    _check_kind(X.dtype, name)
    if X.ndim != 2:
        raise DataError(f"{name} must have two dimensions, rows and features; it has {X.ndim}")
    matrix = X.tocsr()
    _check_not_empty(matrix.shape, name)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(precision_of(matrix.dtype))
    return matrix


def _to_array(X: Any, names: tuple[str, ...] | None, name: str) -> Any:
    """An array or a set of columns that can be read where it lies."""
    values = X if isinstance(X, ColumnSet) else np.asarray(X) if isinstance(X, np.ndarray) else _from_frame(X, name)
    _check_kind(values.dtype, name)
    if values.ndim != 2:
        shape = "a single number" if values.ndim == 0 else f"an array with dim {values.ndim}"
        raise DataError(
            f"{name} must have two dimensions, rows and features, but it is {shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row"
        )
    _check_not_empty(values.shape, name)
    if isinstance(values, ColumnSet):
        return values
    lies_well = values.dtype in LYING or _is_bfloat16(values.dtype)
    if values.dtype not in (np.float32, np.float64) and not (lies_well and values.size > COPIED):
        try:
            values = values.astype(precision_of(values.dtype), order="C")
        except (ValueError, TypeError):
            raise _not_a_number(values, names, name) from None
    readable = values.flags.aligned and all(stride % values.itemsize == 0 for stride in values.strides)
    if readable and (_lies_in_rows(values) or values.nbytes > max(REORDERED, SHARE * free_memory())):
        return values
    return np.ascontiguousarray(values)


def _from_frame(X: Any, name: str) -> Any:
    few = len(getattr(X, "columns", ())) <= FEW_COLUMNS
    columns = columns_of(X, REORDERED if few else max(REORDERED, SHARE * free_memory()))
    if columns is not None:
        return columns
    if hasattr(X, "column_names") and hasattr(X, "column"):  # pyarrow has no two-dimensional conversion
        return (
            np.column_stack([np.asarray(X.column(j)) for j in range(X.num_columns)]) if X.num_columns else np.asarray(X)
        )
    try:
        return np.asarray(X)
    except ValueError as error:
        raise DataError(f"{name} cannot be read as a table: {error}") from None


def _not_a_number(values: NDArray[Any], names: tuple[str, ...] | None, name: str) -> DataError | TypeError:
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            try:
                float(value)
            except (ValueError, TypeError) as error:
                shown = value.item() if isinstance(value, np.generic) else value
                sentence = f"{name} contains {shown!r} in {_place(i, j, names)}, which is not a number"
                # scikit-learn's contract: a value of the wrong type is a TypeError, a string a ValueError.
                return DataError(sentence) if isinstance(error, ValueError) else TypeError(f"{sentence}: {error}")
    return DataError(f"{name} cannot be read as numbers")


def _check_kind(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} has dtype {dtype}")
    if dtype.kind in "mM":
        raise DataError(f"{name} has dtype {dtype}: turn dates into numbers first")


def _check_not_empty(shape: tuple[int, ...], name: str) -> None:
    if shape[0] == 0:
        raise DataError(f"{name} is empty: found 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[1] == 0:
        raise DataError(f"{name} has no columns: found 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _check_finite(table: Table, name: str) -> None:
    row, column = engine.find_unusable(table.rows)
    if row < 0:
        return
    value = float(table.values[row, column])
    place = _place(row, column, table.names)
    if np.isfinite(value):
        raise DataError(
            f"{name} contains {value:g} in {place}: so large a {table.dtype} value overflows; scale the column"
        )
    raise DataError(f"{name} contains {'NaN' if np.isnan(value) else 'infinity'} in {place}")


def _place(row: int, column: int, names: tuple[str, ...] | None) -> str:
    return f"row {row}, column {column}" + (f" ({names[column]!r})" if names else "")


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
