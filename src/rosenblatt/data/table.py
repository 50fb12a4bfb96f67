"""Table: rows of features for the engine.

Invariant: a `Table` holds only finite values in float32 or float64, dense in C order or as CSR with sorted columns.
Arrays that are so already are not copied; everything else is, once.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import DataError

SMALLEST_FLOAT32 = 1e-12  # a table of float32 values that are all smaller is learned in float64
_LINE = 64


def aligned_copy(values: NDArray[Any]) -> NDArray[Any]:
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


# Control groups of version 2 and 1: folder, limit, use, and the file cache in that use, which can be dropped.
_CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def free_memory() -> int:
    """Bytes that the process can still allocate without swapping, within its control group; 0 if unknown."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _text_of("/proc/meminfo"), re.MULTILINE)
    free = 1024 * int(found[1]) if found else 0
    for group, limit, used, inactive in _CGROUPS:
        most, now = _text_of(group, limit).strip(), _text_of(group, used).strip()
        if most.isdecimal() and now.isdecimal():  # a limit of "max" is none
            cache = re.search(rf"^{inactive} (\d+)", _text_of(group, "memory.stat"), re.MULTILINE)
            free = min(free, max(0, int(most) - int(now) + (int(cache[1]) if cache else 0)))
    return free


def _text_of(*path: str) -> str:
    try:
        return Path(*path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


@dataclass(frozen=True)
class Table:
    """Rows of features as the engine sees them, with the arrays behind them."""

    values: Any  # NDArray or CSR array of float32/float64
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
        """The precision in which they are learned from."""
        return np.dtype(np.float32 if self.rows.float32 else np.float64)

    def astype(self, dtype: np.dtype[Any]) -> Table:
        """This table in another precision; itself if it has it already."""
        if dtype == self.dtype:
            return self
        if self.sparse:
            return _from_sparse(self.values.astype(dtype))
        values = self.values.astype(dtype)
        return Table(values, engine.dense_rows(values), self.names)

    def with_squared_norms(self) -> Table:
        """This table with the squared norm of every row at hand, for many learners that ask for it."""
        return replace(self, rows=engine.with_squared_norms(self.rows))

    def arranged(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Weights in the order that the engine reads beside these rows: feature after feature for sparse ones."""
        return np.asfortranarray(weights) if self.sparse else aligned_copy(np.ascontiguousarray(weights))

    def take(self, index: NDArray[Any] | slice) -> Any:
        """Some rows, as an array of floats or a CSR array."""
        return self.values[index]


def as_table(X: Any, *, name: str = "X") -> Table:
    """Make a table of an array, a nested list, a scipy sparse matrix or a pandas, Polars or pyarrow frame.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        float32 and float64 are learned from as they are. What float32 holds exactly (booleans, int8, uint8, float16,
        bfloat16) is learned from in float32, other numbers in float64. Arrays of another type or order, frames, and
        sparse matrices in other formats than CSR are converted.
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
        table = Table(values, engine.dense_rows(values), names)
    largest = engine.largest_size(table.rows)
    if table.dtype == np.float32 and 0 < largest < SMALLEST_FLOAT32:
        return table.astype(np.dtype(np.float64))  # products of such values would be 0
    if not largest <= 1.0:
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


def precision_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The precision in which values of this type are learned from: float32 where it holds all of them."""
    in_float32 = dtype in (np.float32, np.float16, np.int8, np.uint8, np.bool_) or _is_bfloat16(dtype)
    return np.dtype(np.float32 if in_float32 else np.float64)


def _is_in_rows(values: NDArray[Any]) -> bool:
    return values.strides[1] == values.itemsize or values.shape[1] == 1


def _is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Is it the type of the package ml_dtypes, which NumPy itself does not have?"""
    return dtype.kind == "V" and dtype.name == "bfloat16"


def _from_sparse(matrix: Any, name: str = "X") -> Table:
    indices, starts = matrix.indices, matrix.indptr
    if not {indices.dtype, starts.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}:
        indices, starts = indices.astype(np.int64), starts.astype(np.int64)
    if matrix.shape[1] >= 2**31:
        raise DataError(f"{name} has {matrix.shape[1]} columns: at most 2147483647 can be learned from; hash them")
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
    """An array of float32 or float64 in C order: itself if it is one."""
    values = np.asarray(X) if isinstance(X, np.ndarray) else _from_frame(X, name)
    _check_kind(values.dtype, name)
    if values.ndim != 2:
        shape = "a single number" if values.ndim == 0 else f"an array with dim {values.ndim}"
        raise DataError(
            f"{name} must have two dimensions, rows and features, but it is {shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row"
        )
    _check_not_empty(values.shape, name)
    dtype = values.dtype if values.dtype in (np.float32, np.float64) else precision_of(values.dtype)
    readable = values.flags.aligned and all(stride % values.itemsize == 0 for stride in values.strides)
    try:
        return values if values.dtype == dtype and readable and _is_in_rows(values) else values.astype(dtype, order="C")
    except (ValueError, TypeError):
        raise _not_a_number(values, names, name) from None


def _from_frame(X: Any, name: str) -> Any:
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
