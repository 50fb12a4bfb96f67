"""RowBatch: encoded rows with labels and weights.

Invariant: the columns of a row rise strictly and its values are finite, so that the engine can take the arrays as
they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Classes
from rosenblatt.data.table import Csr, Table
from rosenblatt.errors import LabelError

MOST_NUMBERS = 1 << 23  # of an array with some numbers for each row


@dataclass(frozen=True)
class RowBatch:
    """Rows in CSR arrays, their labels as codes into a list, and their weights.

    Code -1 is a row without a label. `weights` is None where every row weighs 1.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.svm")
    >>> _ = path.write_text("+1 1:0.5 3:1\\n-1 2:1\\n")
    >>> from rosenblatt.io import open_dataset
    >>> batch = next(iter(open_dataset(path)))
    >>> len(batch), batch.labels, batch.codes.tolist()
    (2, [b'+1', b'-1'], [0, 1])
    """

    starts: NDArray[np.int32]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    codes: NDArray[np.int32]
    labels: Sequence[bytes]
    weights: NDArray[np.float64] | None = None
    blank: tuple[int, ...] = ()  # for each line without a row, the number of rows of this batch before it
    passthrough: dict[str, list[Any]] | None = None  # cells of columns that are copied to the output
    width: int = 0  # of X, if other batches have the same columns
    line: NDArray[np.int64] | None = None  # the line of each row, if lines have several labels

    def __len__(self) -> int:
        return len(self.codes)

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

    def matrix(self, features: int) -> Any:
        """The rows as a CSR array of so many columns."""
        return self.csr(features).matrix()

    def csr(self, features: int) -> Csr:
        """The rows over so many columns."""
        return Csr(self.values, self.indices, self.starts, (len(self), features))

    def table(self, features: int) -> Table:
        """The rows for the engine, over so many features, without another check."""
        return self.csr(features).table()

    def take(self, rows: NDArray[Any]) -> RowBatch:
        """Some of the rows, in this order."""
        sizes = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(self.starts.dtype)
        places = np.repeat(self.starts[rows] - starts[:-1], sizes) + np.arange(starts[-1])
        weights = None if self.weights is None else self.weights[rows]
        return RowBatch(starts, self.indices[places], self.values[places], self.codes[rows], self.labels, weights)

    def slice(self, begin: int, end: int) -> RowBatch:
        """The rows from `begin` to `end`; the values are not copied."""
        low, high = int(self.starts[begin]), int(self.starts[end])
        return RowBatch(
            self.starts[begin : end + 1] - np.int32(low),
            self.indices[low:high],
            self.values[low:high],
            self.codes[begin:end],
            self.labels,
            None if self.weights is None else self.weights[begin:end],
        )

    def split(self, width: int) -> Iterator[RowBatch]:
        """Parts so short that an array with so many numbers for each row does not fill the memory.

        Lines with several labels stay together.
        """
        rows = max(1, MOST_NUMBERS // max(width, 1))
        if len(self) <= rows or self.line is not None:
            yield self
            return
        for begin in range(0, len(self), rows):
            end = min(begin + rows, len(self))
            last = end == len(self)
            blank = tuple(gap - begin for gap in self.blank if begin <= gap < end or (last and gap == end))
            cells = None if self.passthrough is None else {k: v[begin:end] for k, v in self.passthrough.items()}
            yield replace(self.slice(begin, end), blank=blank, passthrough=cells)


def join_batches(batches: Sequence[RowBatch]) -> RowBatch:
    """Batches one after another, as one; their labels must be the same list, or become one."""
    if len(batches) == 1:
        return batches[0]
    labels = tuple(batches[0].labels) if batches else ()
    if any(tuple(batch.labels) != labels for batch in batches):
        labels = tuple(dict.fromkeys(label for batch in batches for label in batch.labels))
        place = {label: code for code, label in enumerate(labels)}
        batches = [_recoded(batch, place, labels) for batch in batches]
    sizes = np.cumsum([0] + [len(batch.values) for batch in batches])
    weighted = any(batch.weights is not None for batch in batches)
    weights = [np.ones(len(batch)) if batch.weights is None else batch.weights for batch in batches] if weighted else []
    kind = np.int32 if sizes[-1] < 2**31 else np.int64
    starts = [batch.starts[:-1] + kind(size) for batch, size in zip(batches, sizes[:-1], strict=True)]
    indices = _joined([batch.indices for batch in batches], np.int32)
    return RowBatch(
        np.concatenate([*starts, np.array([sizes[-1]], kind)]),
        indices if kind is np.int32 else indices.astype(kind),
        _joined([batch.values for batch in batches], np.float64),
        _joined([batch.codes for batch in batches], np.int32),
        labels,
        np.concatenate(weights) if weighted else None,
    )


def _joined(arrays: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0, dtype)


def _recoded(batch: RowBatch, place: dict[bytes, int], labels: tuple[bytes, ...]) -> RowBatch:
    codes = np.array([*(place[label] for label in batch.labels), -1], np.int32)[batch.codes]
    return RowBatch(batch.starts, batch.indices, batch.values, codes, labels, batch.weights)


def as_counts(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights in proportion, their sum being the effective number of rows: ``(sum w)² / sum w²``.

    So many rows of equal weight say as much as these (L. Kish, Survey Sampling, 1965); the unit of weights is gone.
    """
    shares = weights / weights.max()
    counts: NDArray[np.float64] = shares * (shares.sum() / np.square(shares).sum())
    return counts


def effective_rows(weights: NDArray[np.float64] | None, rows: int) -> float:
    """As how many rows of equal weight so many rows count: all of them where they have no weights."""
    return float(rows) if weights is None or not rows else float(as_counts(weights).sum())
