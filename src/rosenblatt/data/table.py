"""Table: rows of features for the engine.

Invariant: a `Table` holds only finite values in float32 or float64, dense in C order or as CSR with sorted columns.
Arrays in this form are used without a copy; all others are copied once.
"""

from __future__ import annotations

import mmap
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import DataError

LARGEST = {4: 1e15, 8: 1e100}  # the largest value to learn from, by the bytes of its type
SMALLEST_FLOAT32 = 1e-12  # a table of float32 values that are all smaller is learned in float64
OTHERS = "AutoPerceptron and rosenblatt.train take text, dates and missing values"
_FLOATS = (np.dtype(np.float64).str, np.dtype(np.float32).str)
_LINE = 64
_FEW_BYTES = 4096
_WINDOW = 8192  # rows that a shuffled epoch takes from all over a table at a time


def aligned_copy(values: NDArray[Any]) -> NDArray[Any]:
    """A copy whose rows start at a cache line: elsewhere half of all wide loads would touch two lines.

    An epoch of MNIST's ten classes in float64 takes 10 % less time; a few values stay where they are.
    """
    if values.nbytes < _FEW_BYTES or _address(values) % _LINE == 0:
        return values
    room = np.empty(values.nbytes + _LINE, np.uint8)
    moved: NDArray[Any] = np.ndarray(values.shape, values.dtype, room, -_address(room) % _LINE)
    moved[...] = values
    return moved


def _address(values: NDArray[Any]) -> int:
    return int(values.__array_interface__["data"][0])


def _map_of(array: Any) -> mmap.mmap | None:
    """The map of the file that an array lies in."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


class ScratchMap(mmap.mmap):
    """The shared map of a temporary file; unlike a user's private map it loses no changes if its pages are released."""


def release_maps(*arrays: NDArray[Any]) -> None:
    """Take the pages of scratch maps out of the memory of the process; the system keeps them while it has room."""
    for array in arrays:
        if isinstance(found := _map_of(array), ScratchMap):
            found.madvise(mmap.MADV_DONTNEED)


# Control groups by version, "" being 2: folder, limit, use, and the file cache in that use, which can be dropped.
_CGROUPS = {
    "": ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def free_memory() -> int:
    """Bytes that the process can still allocate without swapping, within its limits; 0 if unknown.

    Limits are those of its control group, and of its address space (`ulimit -v`).
    """
    free = 1024 * (_number_in(r"^MemAvailable:\s+(\d+) kB", "/proc/meminfo") or 0)
    most_space = _number_in(r"^Max address space +(\d+)", "/proc/self/limits")
    if most_space is not None:
        free = min(free, max(0, most_space - 1024 * (_number_in(r"^VmSize:\s+(\d+) kB", "/proc/self/status") or 0)))
    for line in _text_of("/proc/self/cgroup").splitlines():
        _, kind, own = line.split(":", 2)
        if kind not in _CGROUPS:
            continue
        folder, limit, used, inactive = _CGROUPS[kind]
        for group in (PurePosixPath(own), *PurePosixPath(own).parents):  # a parent limits its children
            files = f"{folder}{group}"
            most, now = _number_in(r"^(\d+)$", files, limit), _number_in(r"^(\d+)$", files, used)
            if most is not None and now is not None:  # "max" means unlimited
                cache = _number_in(rf"^{inactive} (\d+)", files, "memory.stat") or 0
                free = min(free, max(0, most - now + cache))
    return free


def _number_in(pattern: str, *path: str) -> int | None:
    """The number that a line of a file of the system holds."""
    found = re.search(pattern, _text_of(*path), re.MULTILINE)
    return int(found[1]) if found else None


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
        """The number of stored values: all of dense rows, the non-zero ones of sparse rows."""
        return int(self.values.nnz) if self.sparse else self.count * self.features

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the values."""
        return np.dtype(np.float32 if self.rows.float32 else np.float64)

    def astype(self, dtype: np.dtype[Any]) -> Table:
        """This table in another precision; itself if the precision is the same."""
        if dtype == self.dtype:
            return self
        values = self.values.astype(dtype)
        return _from_sparse(values) if self.sparse else Table(values, engine.dense_rows(values), self.names)

    def arranged(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Weights in the memory order that suits these rows: feature after feature for sparse rows."""
        return np.asfortranarray(weights) if self.sparse else aligned_copy(np.ascontiguousarray(weights))

    @cached_property
    def _maps(self) -> list[tuple[mmap.mmap, NDArray[Any]]]:
        """The arrays that lie in mapped files, with their maps."""
        arrays = (self.values.data, self.values.indices) if self.sparse else (self.values,)
        return [(found, array) for array in arrays if (found := _map_of(array)) is not None]

    def windows(self, order: NDArray[np.uint32] | None) -> Iterator[NDArray[np.uint32] | None]:
        """The order in parts, if the rows are in a mapped file that needs care.

        In a shuffled order the system cannot foresee which pages come next. If the file does not fit the memory, it
        would read many in vain; so the rows of the next part are read while this one is learned.
        """
        maps = self._maps
        if order is None and any(isinstance(found, ScratchMap) for found, _ in maps):
            for at in range(0, self.count, 8 * _WINDOW):
                yield np.arange(at, min(at + 8 * _WINDOW, self.count), dtype=np.uint32)
                release_maps(*(array for _, array in maps))
        elif order is None or not maps or sum(array.nbytes for _, array in maps) < free_memory() // 2:
            yield order
        else:
            parts = [order[at : at + _WINDOW] for at in range(0, len(order), _WINDOW)]
            try:
                for found, _ in maps:
                    found.madvise(mmap.MADV_RANDOM)
                self._read_ahead(maps, parts[0])
                for k, part in enumerate(parts, start=1):
                    if k < len(parts):
                        self._read_ahead(maps, parts[k])
                    yield part
            finally:
                for found, _ in maps:
                    found.madvise(mmap.MADV_NORMAL)

    def _read_ahead(self, maps: list[tuple[mmap.mmap, NDArray[Any]]], rows: NDArray[np.uint32]) -> None:
        rows = np.sort(rows).astype(np.int64)
        gaps = np.flatnonzero(np.diff(rows) != 1) + 1
        first, end = rows[np.append(0, gaps)], rows[np.append(gaps, len(rows)) - 1] + 1
        for found, array in maps:
            offset = _address(array) - _address(np.frombuffer(found, np.uint8))
            size = array.strides[0]
            starts, ends = (self.values.indptr[k] if self.sparse else k for k in (first, end))
            froms = (offset + starts * size) // mmap.PAGESIZE * mmap.PAGESIZE
            for start, length in zip(froms.tolist(), (offset + ends * size - froms).tolist(), strict=True):
                found.madvise(mmap.MADV_WILLNEED, start, length)

    def csr(self) -> Csr:
        """The arrays of sparse rows."""
        values = self.values
        return values if isinstance(values, Csr) else Csr(values.data, values.indices, values.indptr, values.shape)

    def take(self, index: NDArray[Any] | slice) -> Any:
        """Some rows, as an array of floats or a CSR array."""
        return self.values[index]


def as_table(X: Any, *, name: str = "X") -> Table:
    """A table from an array, a nested list, a scipy sparse matrix or a pandas, Polars or pyarrow frame.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        float32 and float64 are learned from as they are. What float32 holds exactly (booleans, int8, uint8, float16,
        bfloat16) is learned from in float32, other numbers in float64. Arrays of another type or order, frames, and
        sparse matrices in other formats than CSR are converted.
    name : str
        Its name in error messages.

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
    rosenblatt.errors.DataError: X contains NaN in row 0, column 1: fill in missing values, or pass a frame to
        AutoPerceptron
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.str in _FLOATS and X.flags.c_contiguous:
        X = X if X.flags.aligned else X.copy()
        table = Table(X, engine.dense_rows(X))  # as below; one row is predicted in half the time
    elif is_sparse(X := collected(X)):
        table = _from_sparse(_to_csr(X, name), name)
    else:
        names = column_names(X)
        values = _to_array(X, names, name)
        table = Table(values, engine.dense_rows(values), names)
    largest = engine.largest_size(table.rows)
    if table.dtype == np.float32 and 0 < largest < SMALLEST_FLOAT32:
        return table.astype(np.dtype(np.float64))  # products of such values would be 0
    if not largest <= LARGEST[table.dtype.itemsize]:
        _raise_unusable(table, name)
    return table


def collected(X: Any) -> Any:
    """A lazy frame of Polars as a frame; everything else as it is."""
    return X.collect() if type(X).__module__.startswith("polars") and hasattr(X, "collect") else X


def is_sparse(X: Any) -> bool:
    """True for a sparse matrix or array of scipy; does not load scipy.sparse, which is slow."""
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)  # absent while another thread loads it
    return issparse is not None and bool(issparse(X))


def column_names(X: Any) -> tuple[str, ...] | None:
    """The column names of a frame, if all of them are strings; None for anything else."""
    if hasattr(X, "collect_schema"):  # Polars, also lazy
        columns = X.collect_schema().names()
    else:
        columns = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow, pandas
    if columns is None or callable(columns):
        return None
    names = tuple(columns)
    return names if all(isinstance(column, str) for column in names) else None


def precision_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The precision for values of this type: float32 if it holds all of them, else float64."""
    is_bfloat16 = dtype.kind == "V" and dtype.name == "bfloat16"  # of the package ml_dtypes
    in_float32 = dtype in (np.float32, np.float16, np.int8, np.uint8, np.bool_) or is_bfloat16
    return np.dtype(np.float32 if in_float32 else np.float64)


def _from_sparse(matrix: Any, name: str = "X") -> Table:
    if matrix.shape[1] >= 2**31:
        raise DataError(f"{name} has {matrix.shape[1]} columns: at most 2147483647 can be learned from; hash them")
    broken = DataError(f"{name} is a broken CSR matrix: its indices or indptr point outside of it")
    if len(matrix.indptr) != matrix.shape[0] + 1 or len(matrix.indices) != len(matrix.data):
        raise broken
    try:
        rows = csr_rows(matrix.data, matrix.indices, matrix.indptr, matrix.shape[1])
    except ValueError:
        raise broken from None
    if rows.sorted:
        return Table(matrix, rows)
    sorted_copy = matrix.copy()
    sorted_copy.sum_duplicates()  # which sorts the columns of each row first
    return _from_sparse(sorted_copy, name)


def csr_rows(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], features: int) -> engine.Rows:
    """CSR arrays for the engine, which has int32 columns; raises if an index is out of range."""
    if indices.dtype != np.int32:  # what does not fit points outside of any table
        indices = np.clip(indices.astype(np.int64, copy=False), -1, 2**31 - 1).astype(np.int32)
    starts = np.ascontiguousarray(indptr, np.int64)
    return engine.sparse_rows(np.ascontiguousarray(data), np.ascontiguousarray(indices), starts, features)


def _to_csr(X: Any, name: str) -> Any:
    _check_kind(X.dtype, name)
    if X.ndim != 2:
        raise DataError(f"{name} must have two dimensions, rows and features; it has {X.ndim}")
    _check_not_empty(X.shape, name)
    return X.tocsr().astype(precision_of(X.dtype), copy=False)


def _to_array(X: Any, names: tuple[str, ...] | None, name: str) -> Any:
    """An array of float32 or float64 in C order: itself if it is one."""
    if np.ma.is_masked(X):
        raise DataError(
            f"{name} is masked in row {np.argwhere(np.ma.getmaskarray(X))[0][0]}: fill in the masked values"
        )
    values = _as_array(X, name)
    _check_kind(values.dtype, name)
    if values.ndim == 1 and values.size and isinstance(values[0], dict):
        raise DataError(f"{name} is a list of dicts: use learn_many and predict_many, or a DictVectorizer")
    if values.ndim == 1 and values.size and isinstance(values[0], str):
        raise DataError(f"{name} is text, not rows of numbers: {OTHERS}; for other learners use a vectorizer")
    if values.ndim != 2:
        shape = "a single number" if values.ndim == 0 else f"an array with dim {values.ndim}"
        raise DataError(
            f"{name} must have two dimensions, rows and features, but it is {shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row"
        )
    _check_not_empty(values.shape, name)
    dtype = precision_of(values.dtype)
    is_usable = values.flags.aligned and all(stride % values.itemsize == 0 for stride in values.strides)
    is_in_rows = values.strides[1] == values.itemsize or values.shape[1] == 1
    try:
        return values if values.dtype == dtype and is_usable and is_in_rows else values.astype(dtype, order="C")
    except (ValueError, TypeError):
        raise _not_a_number(values, names, name) from None


def _as_array(X: Any, name: str) -> Any:
    for column, kind in X.schema.items() if type(X).__module__.startswith("polars.") and hasattr(X, "schema") else ():
        if kind.is_temporal():  # beside numbers, Polars would count microseconds
            raise DataError(f"{name} has the column {column!r} of type {kind}: {OTHERS}")
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
                sentence = f"{name} contains {shown!r} in {_place(i, j, names)}, which is not a number: {OTHERS}"
                # scikit-learn's contract: a value of the wrong type is a TypeError, a string a ValueError.
                return DataError(sentence) if isinstance(error, ValueError) else TypeError(f"{sentence} ({error})")
    return DataError(f"{name} cannot be read as numbers")


def _check_kind(dtype: np.dtype[Any], name: str) -> None:
    if dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} has dtype {dtype}")
    if dtype.kind in "mM":
        raise DataError(f"{name} has dtype {dtype}: {OTHERS}")


def _check_not_empty(shape: tuple[int, ...], name: str) -> None:
    if shape[0] == 0:
        raise DataError(f"{name} is empty: found 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    if shape[1] == 0:
        raise DataError(f"{name} has no columns: found 0 feature(s) (shape={shape}) while a minimum of 1 is required.")


def _raise_unusable(table: Table, name: str) -> NoReturn:
    stored = table.values.data if table.sparse else table.values.ravel()
    at = int(np.argmin(np.abs(stored) <= LARGEST[table.dtype.itemsize]))
    row, column = divmod(at, table.features)
    if table.sparse:
        row, column = int(np.searchsorted(table.values.indptr, at, "right")) - 1, table.values.indices[at]
    place, value = _place(row, column, table.names), float(stored[at])
    if np.isfinite(value):
        raise DataError(
            f"{name} contains {value:g} in {place}: so large a {table.dtype} value overflows; scale the column"
        )
    if np.isnan(value):
        advice = OTHERS if table.names else "fill in missing values, or pass a frame to AutoPerceptron"
        raise DataError(f"{name} contains NaN in {place}: {advice}")
    raise DataError(f"{name} contains infinity in {place}")


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
        return Table(self, csr_rows(self.data, self.indices, self.indptr, self.shape[1]))

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

        starts = self.indptr.astype(np.int32) if self.nnz < 2**31 else self.indptr  # scikit-learn takes 32 bits only
        return sp.csr_array((self.data, self.indices, starts), shape=self.shape)

    def compact(self) -> tuple[Csr, NDArray[np.intp]]:
        """The rows over the columns that they use, and these columns; scores do not change."""
        used = np.zeros(max(self.shape[1], 1), bool)
        used[self.indices] = True
        used[0] |= not used.any()
        columns = np.flatnonzero(used)
        places = (np.cumsum(used, dtype=np.int64) - 1).astype(np.int32)
        return replace(self, indices=places[self.indices], shape=(self.shape[0], len(columns))), columns

    def select(self, rows: NDArray[Any]) -> Csr:
        """Some rows, in this order, without scipy."""
        sizes = self.indptr[rows + 1] - self.indptr[rows]
        starts = np.append(0, np.cumsum(sizes)).astype(self.indptr.dtype)
        places = np.repeat(self.indptr[rows] - starts[:-1], sizes) + np.arange(starts[-1])
        return Csr(self.data[places], self.indices[places], starts, (len(rows), self.shape[1]))

    def __getitem__(self, index: Any) -> Any:
        return self.matrix()[index]

    def astype(self, dtype: Any) -> Any:
        return self.matrix().astype(dtype)


def example_table(
    examples: Sequence[dict[Any, float]], columns: Mapping[Any, int], count: int, hash_bits: int | None = None
) -> Table:
    """Examples of a stream as a table of `count` columns; features without a column among them are left out.

    If every example has every column, the table is dense, so that its scores are added in the order of `predict`.
    """
    import scipy.sparse as sp

    starts, places, values = [0], list[int](), list[float]()
    for features in examples:
        engine.Stream.check(features)
        if hash_bits:
            hashed, found = engine.Stream.hashed(features, hash_bits)
            places += hashed.tolist()
            values += found.tolist()
        else:
            known = {columns[name]: value for name, value in dict.items(features) if columns.get(name, count) < count}
            places += sorted(known)
            values += [known[at] for at in sorted(known)]
        starts.append(len(places))
    shape = len(examples), max(count, 1)  # a stream without features yet has one column of zeros
    if not hash_bits and len(values) == shape[0] * shape[1]:
        return as_table(np.array(values, np.float64).reshape(shape))
    return as_table(sp.csr_array((np.array(values, np.float64), places, starts), shape=shape))
