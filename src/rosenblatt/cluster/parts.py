"""Parts of a source, as they lie with the workers: rows, and their labels or numbers.

Invariant: rows of weight 0 are gone, and all values were checked as `fit` checks them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import RowBatch, join_batches
from rosenblatt.data.labels import Numbers, encode_labels, numbers_of
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError
from rosenblatt.learners.targets import row_weights


@dataclass(frozen=True)
class Facts:
    """What has to be known of a part before shards can be cut."""

    rows: int
    features: int
    labels: Any  # the different ones: bytes as they stand in a file, or a sorted array
    counts: NDArray[np.float64]  # the weight of the rows of each
    dtype: np.dtype[Any]
    names: tuple[str, ...] | None = None
    sparse: bool = False
    stored: int = 0  # values
    bad: int = 0  # lines that were skipped
    first_bad: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """Rows as they came, and their labels as codes among the part's own, or their numbers."""

    X: Any  # an array in C order, or a CSR array; float32 or float64
    codes: NDArray[np.int32]
    labels: Any
    weights: NDArray[np.float64] | None = None
    names: tuple[str, ...] | None = None
    bad: int = 0
    first_bad: tuple[str, ...] = ()
    numbers: NDArray[np.float64] | None = None  # of each row, where they are learned; there are no labels then

    @classmethod
    def of_batches(cls, batches: Sequence[RowBatch], *, is_regression: bool = False) -> Part:
        """What a reader gives."""
        if not batches:
            return cls(_no_rows(), np.empty(0, np.int32), [], numbers=np.empty(0) if is_regression else None)
        batch = join_batches(batches)
        part = cls(batch.matrix(batch.features), batch.codes, list(batch.labels), batch.weights)
        if is_regression:
            part = replace(part, codes=np.zeros_like(batch.codes), labels=[], numbers=_numbers_in(batch))
        return part._kept()

    @classmethod
    def of_arrays(cls, X: Any, y: Any, sample_weight: Any = None, *, is_regression: bool = False) -> Part:
        """Rows that the caller has made: checked as `fit` checks them."""
        if X.shape[0] == 0:
            empty: Any = np.empty(0)
            return cls(_no_rows(), np.empty(0, np.int32), empty, numbers=empty if is_regression else None)
        table, labels = as_table(X), Numbers.of(y, 0.0) if is_regression else encode_labels(y)
        if table.count != len(labels.codes):
            raise DataError(f"a part of X has {table.count} rows, and that of y has {len(labels.codes)} labels")
        weights = row_weights(sample_weight, None, labels, more_to_come=True)
        part = cls(table.values, labels.codes, labels.classes, weights, table.names)
        if isinstance(labels, Numbers):
            part = replace(part, labels=np.empty(0), numbers=labels.numbers)
        return part._kept()

    def __len__(self) -> int:
        return len(self.codes)

    def __sizeof__(self) -> int:
        return bytes_of(self.X) + self.codes.nbytes + (0 if self.weights is None else self.weights.nbytes)

    def facts(self) -> Facts:
        counts: NDArray[Any] = np.empty(0)
        if self.numbers is None:
            counts = np.bincount(self.codes[self.codes >= 0], self.weights, minlength=len(self.labels))
        used = counts > 0
        labels = self.labels[used] if isinstance(self.labels, np.ndarray) else _some(self.labels, used)
        sparse, weights = not isinstance(self.X, np.ndarray), counts[used].astype(float)
        found = Facts(len(self), self.X.shape[1], labels, weights, self.X.dtype, self.names, sparse)
        return replace(found, stored=self.X.size if not sparse else self.X.nnz, bad=self.bad, first_bad=self.first_bad)

    def _kept(self) -> Part:
        """Without rows of weight 0, which are as if absent."""
        if self.weights is None or self.weights.all():
            return self
        kept = np.flatnonzero(self.weights)
        numbers = None if self.numbers is None else self.numbers[kept]
        return replace(self, X=self.X[kept], codes=self.codes[kept], weights=self.weights[kept], numbers=numbers)


def as_csr(data: Any, indices: Any, starts: Any, features: int) -> Any:
    """A CSR array over these arrays as they are."""
    import scipy.sparse as sp

    made = sp.csr_array((data, indices, starts), shape=(len(starts) - 1, features))
    made.indices, made.indptr = indices, starts  # scipy may choose a smaller type
    return made


def _no_rows() -> Any:
    return as_csr(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int32), 0)


def _numbers_in(batch: RowBatch) -> NDArray[np.float64]:
    """The number of each row; a reader gives no row without a label to a learner."""
    return numbers_of(batch.labels)[batch.codes]


def _some(labels: Sequence[bytes], used: NDArray[np.bool_]) -> list[bytes]:
    return [label for label, there in zip(labels, used, strict=True) if there]


def used_columns(part: Part) -> NDArray[np.int32]:
    """The columns in which a part has values."""
    used = np.zeros(part.X.shape[1], bool)
    used[part.X.indices] = True
    return np.flatnonzero(used).astype(np.int32)


def both_columns(left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.int32]:
    """Those of either."""
    return np.union1d(left, right)


def facts_of(part: Part) -> Facts:
    """What has to be known of a part."""
    return part.facts()


def bytes_of(X: Any) -> int:
    """What the arrays of a table hold."""
    return int(X.nbytes) if isinstance(X, np.ndarray) else int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
