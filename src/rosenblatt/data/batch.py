"""Encoded rows with labels and weights: batches, and the store of all rows, in memory or in a mapped file.

Invariant: the columns of a row rise strictly and its values are finite, so that the engine needs no copy. The memory
of a store is bounded for any number of rows: beyond a limit its arrays are maps of unlinked files, which the system
deletes when the process ends.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Classes
from rosenblatt.data.table import Csr, ScratchMap, free_memory, release_maps
from rosenblatt.errors import DataError, LabelError

MOST_NUMBERS = 1 << 23  # of an array with some numbers for each row
MOST_COPIED = 1 << 26  # values of the rows of a chunk, one for each label
MEMORY = 128 << 20  # the most bytes of an array of a store that stay in memory, if there is enough
_BLOCK = 1 << 20  # values that are changed in place at once

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]  # row, column and value of each
Names = tuple[NDArray[np.int32], bytes]  # of some columns: a line of text for each
NamedMask = NDArray[np.uint8] | None  # of each hashed column: is its name known? Then it is not reported again


@dataclass(frozen=True, repr=False)
class RowBatch:
    """Rows in CSR arrays, their labels as codes into a list, and their weights.

    Code -1 is a row without a label. `weights` is None if every row weighs 1.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> from rosenblatt.io import open_dataset
    >>> batch = next(iter(open_dataset(path)))
    >>> len(batch), batch.labels, batch.codes.tolist()
    (2, [b'+1', b'-1'], [0, 1])
    """

    starts: NDArray[Any]  # int32 or int64
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    codes: NDArray[np.int32]
    labels: Sequence[bytes]
    weights: NDArray[np.float64] | None = None
    blank: tuple[int, ...] = ()  # for each line without a row, the number of rows of this batch before it
    passthrough: dict[str, list[Any]] | None = None  # cells of columns that are copied to the output
    width: int = 0  # of X, if other batches have the same columns
    line: Any = None  # the line of each row, from 0; None for rows of no chunk

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<{len(self)} rows of {max(self.width, self.features)} columns, {len(self.labels)} different labels>"

    @property
    def features(self) -> int:
        """One more than the largest column."""
        return int(self.indices.max()) + 1 if len(self.indices) else 0

    @property
    def X(self) -> Any:
        """The rows as a scipy CSR array."""
        return self.matrix(max(self.width, self.features))

    @property
    def y(self) -> NDArray[Any]:
        """The labels: whole numbers if all of them are, else strings."""
        classes = Classes.of(self.labels)
        codes = classes.codes(self)
        if (codes < 0).any():
            raise LabelError(f"row {int(np.flatnonzero(codes < 0)[0]) + 1} has no label")
        return classes.values[codes]

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        return self.weights

    @property
    def has_copies(self) -> bool:
        """True if some lines are several rows, one for each of their labels."""
        return self.line is not None and bool((np.diff(self.line) == 0).any())

    def matrix(self, features: int) -> Any:
        """The rows as a CSR array of so many columns."""
        return self.csr(features).matrix()

    def csr(self, features: int) -> Csr:
        """The rows over so many columns."""
        return Csr(self.values, self.indices, self.starts, (len(self), features))

    def take(self, rows: NDArray[Any]) -> RowBatch:
        """Some of the rows, in this order."""
        own = self.csr(0).select(rows)
        weights = None if self.weights is None else self.weights[rows]
        cells = {name: [each[row] for row in rows.tolist()] for name, each in (self.passthrough or {}).items()} or None
        line = None if self.line is None else self.line[rows]
        batch = RowBatch(own.indptr, own.indices, own.data, self.codes[rows], self.labels, weights)
        return replace(batch, passthrough=cells, line=line)

    def repeat(self, counts: NDArray[Any], codes: NDArray[np.int32], labels: Sequence[bytes]) -> RowBatch:
        """Each row once for each of its labels, which share its weight."""
        if np.diff(self.starts) @ np.maximum(counts - 1, 0) > MOST_COPIED:
            raise DataError(f"rows with several labels grow to more than {MOST_COPIED:,} values, a row for each label")
        rows = np.repeat(np.arange(len(self)), counts)
        weights = (1.0 if self.weights is None else self.weights[rows]) / counts[rows]
        return replace(self.take(rows), codes=codes, labels=labels, weights=weights)

    def split(self, width: int) -> Iterator[RowBatch]:
        """Slices short enough that an array with `width` numbers per row fits into memory.

        Lines with several labels stay together.
        """
        rows = max(1, MOST_NUMBERS // max(width, 1))
        if len(self) <= rows or self.has_copies:
            yield self
            return
        for begin in range(0, len(self), rows):
            end = min(begin + rows, len(self))
            blank = tuple(gap - begin for gap in self.blank if begin <= gap < end or gap == end == len(self))
            yield replace(self.take(np.arange(begin, end)), blank=blank)


@dataclass(frozen=True)
class EncodedChunk:
    """A chunk of a source as rows, and its bad lines."""

    batch: RowBatch
    lines: int
    bad: list[tuple[int, str]]
    invalid: dict[str, dict[str, int]] = field(default_factory=dict)  # cells that do not fit the kind of their column
    names: Sequence[Names] = ()  # of hashed columns that had none yet
    frequencies: NDArray[np.int64] | None = None  # texts per hashed column, while idf weights are fitted


def join_batches(batches: Sequence[RowBatch]) -> RowBatch:
    """Batches one after another, as one; their labels must be the same list, or become one."""
    if len(batches) == 1:
        return batches[0]
    store = RowStore()
    for batch in batches:
        store.append(batch)
    store.finish()
    return store.batch()


def csr_arrays(
    parts: Sequence[Entries], count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Starts, columns and values of so many rows, from parts; equal columns add up.

    >>> [array.tolist() for array in csr_arrays([([0, 1], [5, 2], [1.0, 2.0]), ([0, 0], [3, 5], [4.0, 8.0])], 2)]
    [[0, 2, 3], [3, 5, 2], [4.0, 9.0, 2.0]]
    """
    row, column, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    key = row.astype(np.int64) << 32 | column
    order = np.argsort(key, kind="stable")  # which merges parts that are in order
    key, value = key[order], value[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    starts = np.searchsorted(key[first], np.arange(count + 1, dtype=np.int64) << 32).astype(np.int32)
    values = np.add.reduceat(value, first) if len(first) < len(key) else value
    return starts, (key[first] & 0xFFFFFFFF).astype(np.int32), values


def as_counts(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights in proportion, their sum being the effective number of rows: ``(sum w)² / sum w²``.

    That many rows of equal weight are as informative (L. Kish, Survey Sampling, 1965); the unit of weights cancels.
    """
    shares = weights / weights.max()
    counts: NDArray[np.float64] = shares * (shares.sum() / np.square(shares).sum())
    return counts


def effective_rows(weights: NDArray[np.float64] | None, rows: int) -> float:
    """Effective sample size of weighted rows (Kish): the number of rows if they have no weights."""
    return float(rows) if weights is None or not rows else float(as_counts(weights).sum())


class RowStore:
    """All rows of a data set, for any number of passes.

    Parameters
    ----------
    memory : int, optional
        Bytes of an array to hold in memory; more are written to a temporary file. By default an eighth of what is
        free, and at most `MEMORY`.
    """

    def __init__(self, memory: int | None = None) -> None:
        if memory is None:
            memory = min(MEMORY, free_memory() // 8 or MEMORY)
        self._arrays = {name: _Array(memory) for name in ("starts", "indices", "values", "y", "weights")}
        self._rows = self._stored = 0
        self._used = np.zeros(1 << 16, bool)  # of each column, has it a value?
        self.starts: NDArray[np.int64] = np.zeros(1, np.int64)
        self.indices: NDArray[np.int32] = np.empty(0, np.int32)
        self.values: NDArray[np.float64] = np.empty(0)
        self.y: NDArray[Any] = np.empty(0, np.int32)  # codes of classes, or the targets of a regression
        self.labels = dict[bytes, int]()  # the code of each label, in the order of the rows
        self.weights: NDArray[np.float64] | None = None
        self.columns: NDArray[np.int64] = np.empty(0, np.int64)  # those with a value, in order

    def __len__(self) -> int:
        return self._rows

    def append(self, batch: RowBatch, targets: NDArray[np.float64] | None = None) -> dict[bytes, int]:
        """Add rows with targets, or with the codes of their labels; returns the first row of each new label."""
        arrays, weights, new = self._arrays, batch.weights, dict[bytes, int]()
        y: NDArray[Any] | None = targets
        if y is None:
            first = np.full(len(batch.labels) + 1, -1)  # row of each label; at the end that of rows without a label
            first[batch.codes[::-1]] = np.arange(len(batch))[::-1]
            codes = np.full(len(first), -1, np.int32)
            for code in np.flatnonzero(first[:-1] >= 0).tolist():
                label = batch.labels[code]
                if label not in self.labels:
                    new[label] = int(first[code])
                codes[code] = self.labels.setdefault(label, len(self.labels))
            y = codes[batch.codes]
        for name, part in (("indices", batch.indices), ("values", batch.values), ("y", y)):
            arrays[name].append(part)
        arrays["starts"].append(batch.starts[:-1] + np.int64(self._stored))
        if weights is not None and arrays["weights"].dtype is None:
            arrays["weights"].append(np.ones(self._rows))
        if arrays["weights"].dtype is not None:
            arrays["weights"].append(np.ones(len(batch)) if weights is None else weights)
        self._rows, self._stored = self._rows + len(batch), self._stored + len(batch.values)
        if batch.features > len(self._used):
            used, self._used = self._used, np.zeros(max(batch.features, 2 * len(self._used)), bool)
            self._used[: len(used)] = used
        self._used[batch.indices] = True
        return new

    def finish(self) -> None:
        """Make the rows readable."""
        if not self._rows:
            return
        self._arrays["starts"].append(np.array([self._stored]))
        arrays = {name: array.finish() for name, array in self._arrays.items() if array.dtype is not None}
        self.starts, self.indices, self.values, self.y = (arrays[name] for name in ("starts", "indices", "values", "y"))
        self.weights = arrays.get("weights")
        self.columns = np.flatnonzero(self._used)

    def recode(self, codes: NDArray[np.int32]) -> None:
        """Replace each code k by `codes[k]`, among other labels, in place."""
        self.labels = {}
        for part in self._blocks(self.y):
            self.y[part] = codes[self.y[part]]

    def standardize(self, mean: NDArray[np.float64], scale: NDArray[np.float64]) -> None:
        """Standardize the first columns in place: ``(x - mean) / scale``."""
        for part in self._blocks(self.values if len(mean) else self.values[:0]):
            columns, values = self.indices[part], self.values[part]
            numbers = columns < len(mean)
            own = columns[numbers]
            values[numbers] = (values[numbers] - mean[own]) / scale[own]

    def squares(self, first: int, count: int) -> NDArray[np.float64]:
        """The sum of squares of each of so many columns, from the `first` on."""
        sums = np.zeros(count)
        for part in self._blocks(self.values):
            later = self.indices[part] >= first
            sums += np.bincount(self.indices[part][later] - first, self.values[part][later] ** 2, count)
        return sums

    def multiply(self, weights: NDArray[np.float32], first: int) -> None:
        """Multiply the columns from the `first` on by their weights, in place."""
        for part in self._blocks(self.values):
            columns, values = self.indices[part], self.values[part]
            later = columns >= first
            values[later] *= weights[columns[later] - first]

    def compact(self, columns: NDArray[np.int64]) -> None:
        """Renumber the columns in place, so that only these have weights: column k is `columns[k]`."""
        places = np.zeros(int(columns[-1]) + 1 if len(columns) else 1, np.int32)
        places[columns] = np.arange(len(columns), dtype=np.int32)
        for part in self._blocks(self.indices):
            self.indices[part] = places[self.indices[part]]

    def release(self) -> None:
        """Leave the rows of mapped files to the system, which keeps them while it has room."""
        release_maps(self.values, self.indices, self.y)

    def _blocks(self, array: NDArray[Any]) -> Iterator[slice]:
        for at in range(0, len(array), _BLOCK):
            yield slice(at, min(at + _BLOCK, len(array)))
            self.release()

    def csr(self, features: int) -> Csr:
        """All rows over so many columns."""
        return Csr(self.values, self.indices, self.starts, (self._rows, features))

    def batch(self) -> RowBatch:
        """All rows as a batch; `y` are its codes."""
        return RowBatch(self.starts, self.indices, self.values, self.y, list(self.labels), self.weights)


class _Array:
    """A growing array: in memory, and beyond a size in an unlinked file."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self.dtype: Any = None  # of the first part
        self._file: Any = io.BytesIO()

    def append(self, part: NDArray[Any]) -> None:
        try:
            if isinstance(self._file, io.BytesIO) and self._file.tell() + part.nbytes > self._memory:
                content, self._file = self._file, tempfile.TemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
                self._file.write(content.getbuffer())
            self.dtype = self.dtype or part.dtype
            self._file.write(np.ascontiguousarray(part, self.dtype).data)
            self._file.flush()
        except OSError as error:
            folder = tempfile.gettempdir()
            raise DataError(f"no space for rows in {folder}: {error.strerror} (set TMPDIR to another)") from None

    def finish(self) -> NDArray[Any]:
        if isinstance(self._file, io.BytesIO):
            return np.frombuffer(self._file.getbuffer(), self.dtype)
        with self._file:  # the map needs no open file
            found = ScratchMap(self._file.fileno(), 0)
            return np.ndarray(len(found) // self.dtype.itemsize, self.dtype, found)
