"""The signed rows: one vector for every demand that the data make of the weights.

With two classes a row ``x`` of label ``y`` demands ``y (w·x + b) > 0``, that is ``v·z > 0`` for
``z = y (x, 1)`` and ``v = (w, b)``. With K classes it demands ``(w_y - w_k)·x > 0`` of every wrong class k:
Kesler's construction, where ``v`` is all K weight rows in one and ``z`` has ``+x`` in the right class's place and
``-x`` in the wrong one's. The data are separable just when one ``v`` meets all demands: when 0 lies outside
the convex hull of the ``z``. Everything in this package that speaks of separability speaks of these vectors.

Invariant: the rows are held as float64 without loss; a value that float64 cannot hold is refused.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.data.labels import encode_labels
from rosenblatt.errors import DataError, LabelError
from rosenblatt.theory import exact

if TYPE_CHECKING:
    from scipy import sparse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CHUNK = 1_000_000  # values held as Python integers at a time


@dataclass(frozen=True)
class SignedRows:
    """The vectors ``z``, never written out in full.

    Demands are numbered ``i (K - 1) + j``: row i against its j-th wrong class. With two classes that is i.
    """

    X: sparse.csr_array
    label: Integers
    classes: NDArray[Any]
    fit_intercept: bool

    @property
    def two(self) -> bool:
        return len(self.classes) == 2

    @property
    def count(self) -> int:
        """How many demands there are."""
        return int(self.X.shape[0]) * (len(self.classes) - 1)

    @property
    def width(self) -> int:
        """The length of one weight row, offset included."""
        return int(self.X.shape[1]) + self.fit_intercept

    @property
    def dimension(self) -> int:
        return self.width * (1 if self.two else len(self.classes))

    @cached_property
    def sign(self) -> Integers:
        return np.where(self.label == 1, 1, -1)

    def row(self, demands: Integers) -> Integers:
        """The row of each demand."""
        return demands // (len(self.classes) - 1)

    def wrong(self, demands: Integers) -> Integers:
        """The wrong class of each demand."""
        nth = demands % (len(self.classes) - 1)
        return np.asarray(nth + (nth >= self.label[self.row(demands)]))

    def demand(self, row: int, wrong: int) -> int:
        """The number of a demand; the inverse of :meth:`row` and :meth:`wrong`."""
        return row * (len(self.classes) - 1) + wrong - int(wrong > self.label[row])

    def margins(self, v: Floats) -> Floats:
        """``v·z`` for every demand, in floating point."""
        V = v.reshape(-1, self.width)
        scores = self.X @ V[:, : self.X.shape[1]].T
        if self.fit_intercept:
            scores += V[:, -1]
        return np.asarray(self._compare(scores), dtype=np.float64)

    def take(self, demands: Integers) -> sparse.csr_array:
        """Some of the vectors, sparse."""
        part = self.X[self.row(demands)].tocoo()
        row, column, data = part.row, part.col.astype(np.int64), part.data
        if self.fit_intercept:
            each = np.arange(len(demands))
            row, data = np.concatenate([row, each]), np.concatenate([data, np.ones(len(demands))])
            column = np.concatenate([column, np.full(len(demands), self.width - 1)])
        if self.two:
            data = data * self.sign[demands][row]
        else:
            right, wrong = self.label[self.row(demands)][row], self.wrong(demands)[row]
            column = np.concatenate([right * self.width + column, wrong * self.width + column])
            row, data = np.tile(row, 2), np.concatenate([data, -data])
        from scipy import sparse

        return sparse.csr_array((data, (row, column)), shape=(len(demands), self.dimension))

    @cached_property
    def shift(self) -> int:
        """All values times ``2**shift`` are integers."""
        return exact.shift_of(self.X.data)

    def exact_take(self, demands: Integers) -> tuple[Integers, NDArray[np.object_]]:
        """Some of the vectors times ``2**shift``, in integers: the columns that are not all 0, and their values."""
        part = self.take(demands).tocoo()
        columns, place = np.unique(part.col, return_inverse=True)
        values = np.zeros((len(demands), len(columns)), dtype=object)
        values[part.row, place] = exact.integers(part.data, self.shift)
        return columns, values

    def exact_margins(self, v: list[int]) -> NDArray[np.object_]:
        """``2**shift v·z`` for every demand, in integers."""
        V = np.array(v, dtype=object).reshape(-1, self.width)
        parts = []
        for start, stop in self._chunks():
            data, columns, starts = self._exact_values(start, stop)
            scores = np.empty((stop - start, len(V)), dtype=object)
            for k, weights in enumerate(V):
                scores[:, k] = _row_sums(data * weights[columns], starts)
                if self.fit_intercept:
                    scores[:, k] += weights[-1] << self.shift
            parts.append(self._compare(scores, slice(start, stop)))
        return np.concatenate(parts)

    def exact_squared_radius(self) -> int:
        """The largest ``‖x‖²`` (extended with an offset) times ``4**shift``, in integers."""
        largest = 0
        for start, stop in self._chunks():
            data, _, starts = self._exact_values(start, stop)
            largest = max(largest, _row_sums(data * data, starts).max())
        return largest + (1 << 2 * self.shift if self.fit_intercept else 0)

    def twins(self) -> tuple[int, int] | None:
        """Two equal rows with different labels, the first such pair found, or None."""
        seen: dict[bytes, int] = {}
        starts, indices, data = self.X.indptr, self.X.indices, self.X.data
        for i in range(self.X.shape[0]):
            part = slice(starts[i], starts[i + 1])
            first = seen.setdefault(indices[part].tobytes() + data[part].tobytes(), i)
            if self.label[first] != self.label[i]:
                return first, i
        return None

    def digest(self) -> str:
        """SHA-256 of the rows, their classes and the presence of an offset; the same for dense and sparse input."""
        sha = hashlib.sha256(repr((self.X.shape, len(self.classes), self.fit_intercept)).encode())
        for part in (self.X.indptr, self.X.indices, self.label):
            sha.update(np.asarray(part, dtype="<i8").tobytes())
        sha.update(np.asarray(self.X.data, dtype="<f8").tobytes())
        return sha.hexdigest()

    def _compare(self, scores: Any, rows: slice = slice(None)) -> Any:
        """From a score a weight row to a margin a demand."""
        if self.two:
            return scores[:, 0] * self.sign[rows]
        label = self.label[rows]
        right = np.take_along_axis(scores, label[:, None], axis=1)
        wrong = np.arange(len(self.classes)) != label[:, None]
        return (right - scores)[wrong]

    def _chunks(self) -> list[tuple[int, int]]:
        n = self.X.shape[0]
        rows = max(1, _CHUNK // max(1, self.X.nnz // n))
        return [(start, min(start + rows, n)) for start in range(0, n, rows)]

    def _exact_values(self, start: int, stop: int) -> tuple[NDArray[np.object_], Integers, Integers]:
        starts = self.X.indptr[start : stop + 1]
        part = slice(starts[0], starts[-1])
        return exact.integers(self.X.data[part], self.shift), self.X.indices[part], starts - starts[0]


def _row_sums(values: NDArray[np.object_], starts: Integers) -> NDArray[np.object_]:
    """The sum of each row's values, 0 for a row that has none."""
    sums = np.zeros(len(starts) - 1, dtype=object)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        sums[filled] = np.add.reduceat(values, starts[filled])
    return sums


def signed_rows(X: Any, y: ArrayLike, fit_intercept: bool) -> SignedRows:
    """Check rows and labels, and sign them. Labels that are all +1 or all -1 are taken as they stand."""
    rows, labels = lossless(X), encode_labels(y)
    classes, label = labels.classes, labels.codes
    if len(classes) == 1 and classes.dtype.kind in "if" and abs(classes[0]) == 1:
        classes, label = np.array([-1, 1]), label + int(classes[0] == 1)
    if len(label) != rows.shape[0]:
        raise DataError(f"X has {rows.shape[0]} rows and y has {len(label)} labels: one label per row is needed")
    if len(classes) < 2:
        raise LabelError("y has one class only; two or more are needed to speak of separating them")
    return SignedRows(rows, label.astype(np.int64), classes, bool(fit_intercept))


def lossless(X: Any) -> sparse.csr_array:
    """The rows as canonical float64 CSR, or an error that names the value which does not survive."""
    from scipy import sparse

    given = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if given.ndim != 2 or 0 in given.shape:
        raise DataError(f"X must be a table of at least one row and one column, not of shape {given.shape}")
    if given.dtype.kind in "OUS" and not sparse.issparse(given):
        given = _numbers(given)
    if given.dtype.kind not in "biuf":
        raise DataError(f"X must hold numbers, not {given.dtype}")
    table = sparse.csr_array(given, copy=True)
    table.sum_duplicates()
    values = table.data.astype(np.float64)
    with np.errstate(invalid="ignore"):
        bad = ~np.isfinite(values) | (values.astype(table.dtype) != table.data)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(table.indptr, at, side="right")) - 1
        why = "is not exact as a float64" if np.isfinite(values[at]) else "is not a finite number"
        raise DataError(f"X has {table.data[at]} in row {row}, column {table.indices[at]}, which {why}")
    # Without copying the index arrays twice; explicit zeros and -0.0 go, so that equal data have equal digests.
    clean = sparse.csr_array((values, table.indices, table.indptr), shape=table.shape)
    clean.eliminate_zeros()
    clean.sort_indices()
    return clean


def _numbers(values: NDArray[Any]) -> Floats:
    """Python's own numbers as floats, without loss; anything else is refused with its place."""
    floats = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        where = f"row {place[0]}, column {place[1]}"
        if not isinstance(value, Number | np.number | np.bool_) or isinstance(value, complex | np.complexfloating):
            shown = value.item() if isinstance(value, np.generic) else value
            raise DataError(f"X has {shown!r} in {where}, which is not a number")
        try:
            found = float(value)  # type: ignore[arg-type]
        except OverflowError:
            found = np.inf
        if found != value and value == value:  # NaN is refused with all values that are not finite
            raise DataError(f"X has {value} in {where}, which is not exact as a float64")
        floats[place] = found
    return floats
