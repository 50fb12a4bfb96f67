"""Errors, margins and losses of given weights on given rows, and the constraints behind them.

With two classes a row ``x`` of label ``y`` demands ``y (w·x + b) > 0``, that is ``v·z > 0`` for ``z = y (x, 1)`` and
``v = (w, b)``. With K classes it demands ``(w_y - w_k)·x > 0`` for every wrong class k: Kesler's construction, where
``v`` holds all K weight rows and ``z`` has ``+x`` in the place of the right class and ``-x`` in that of the wrong one.
The data are separable if and only if one ``v`` satisfies all constraints: if 0 lies outside the hull of the ``z``.

Invariant: a score of exactly 0 is an error. Rows are float64 without loss; a value that float64 cannot hold raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.data.labels import encode_labels
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.theory import exact
from rosenblatt.theory.exact import Floats, Whole

if TYPE_CHECKING:
    from scipy import sparse

Integers = NDArray[np.int64]

_CHUNK = 1_000_000  # values converted to Python integers at a time
_INEXACT = "exact arithmetic needs finite numbers that float64 holds"


def training_error(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> float:
    """The share of rows that the weights get wrong: ``1/n sum [[y_i (w·x_i + b) <= 0]]``.

    Parameters
    ----------
    X, y : rows and labels
    w : d weights; with more than two classes, one row per class
    b : the offset (one per class); None for a plane through the origin

    Examples
    --------
    >>> training_error([[1.0], [2.0], [-1.0]], [+1, -1, -1], w=[1.0])
    0.3333333333333333
    >>> training_error([[1.0], [2.0], [-1.0]], [+1, -1, -1], w=[-1.0], b=1.0)  # a score of 0 is an error
    0.6666666666666666
    """
    _, margins = _margins(X, y, w, b)
    return float((margins.min(axis=1) <= 0).mean())


def margin(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> float:
    """The geometric margin: how far the closest row is from the boundary; ``-inf`` if the weights do not separate.

    ``min_i y_i (w·x_i + b) / ‖w‖``; with K > 2 classes ``min (w_y - w_k)·x / ‖w_y - w_k‖``.

    Notes
    -----
    With an offset the mistake bound speaks of a slightly smaller margin, that of the rows extended by 1:
    it divides by ``‖(w, b)‖``. :func:`certify` encloses the best of those.

    Examples
    --------
    >>> margin([[3.0, 4.0], [-6.0, -8.0]], [+1, -1], w=[0.6, 0.8])
    5.0
    >>> margin([[3.0, 4.0], [6.0, 8.0]], [+1, -1], w=[0.6, 0.8])
    -inf
    """
    constraints, margins = _margins(X, y, w, b)
    if margins.min() <= 0:
        return -math.inf
    W = np.array(w, dtype=np.float64, ndmin=2)
    _, terms = constraints.terms(np.arange(constraints.count))
    lengths = np.linalg.norm(sum(sign[:, None] * W[k] for k, sign in terms), axis=1)
    # Only an offset can separate with a length of 0: then there is no boundary to come close to.
    with np.errstate(divide="ignore"):
        return float((margins.ravel() / lengths).min())


def radius(X: Any, *, fit_intercept: bool = False) -> float:
    """The length of the longest row, ``R = max ‖x_i‖``; with `fit_intercept` of the rows extended by 1.

    >>> radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    return float(np.sqrt(exact_table(X).power(2).sum(axis=1).max() + bool(fit_intercept)))


def perceptron_loss(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> float:
    """The loss that the perceptron descends: ``sum_i max(0, -y_i (w·x_i + b))``.

    Its gradient on a mistaken row is ``-y x``, so one step of size 1 against it is the perceptron's update. A
    row with a score of 0 costs nothing and is a mistake all the same: a loss of 0 does not prove separation.

    >>> perceptron_loss([[1.0], [2.0], [-1.0]], [+1, -1, -1], w=[3.0])
    6.0
    """
    _, margins = _margins(X, y, w, b)
    return float(np.maximum(0.0, -margins.min(axis=1)).sum())


def repeat_bound(w: ArrayLike, x: ArrayLike, y: float, b: float | None = None) -> float:
    """How many times in a row the perceptron can be mistaken on the same row, met again and again.

    Each update raises the margin ``m = y (w·x + b)`` by ``q = ‖x‖²`` (plus 1 with an offset), so the row is wrong
    ``floor(-m/q) + 1`` times if ``m <= 0``, and not at all otherwise. Computed exactly from the floats given.

    Parameters
    ----------
    w, x : weights and row
    y : +1 or -1
    b : the offset; None through the origin

    Returns
    -------
    float
        A whole number, or ``inf`` for a row of zeros without an offset: no update changes its score.

    Examples
    --------
    >>> repeat_bound([-5.0, 0.0], [1.0, 1.0], +1)  # m = -5, q = 2: wrong at -5, -3, -1
    3
    """
    if y not in (1, -1):
        raise ParameterError(f"y must be +1 or -1, not {y!r}")
    if np.shape(w) != np.shape(x) or np.ndim(x) != 1:
        raise ParameterError(f"w has the shape {np.shape(w)} and x {np.shape(x)}: one weight per feature is needed")
    weights, row = exact.fractions(w), exact.fractions(x)
    m = int(y) * sum(map(mul, weights, row), Fraction(b or 0))
    q = sum(map(mul, row, row), Fraction(b is not None))
    if m > 0:
        return 0
    return math.floor(-m / q) + 1 if q else math.inf


@dataclass(frozen=True)
class Constraints:
    """The vectors ``z`` of all constraints, never written out in full.

    Constraint ``i (K - 1) + j`` is row i against its j-th wrong class; with two classes, that is i. The rows X already
    have the constant 1 as their last column if there is an offset.
    """

    X: sparse.csr_array
    label: Integers
    classes: NDArray[Any]
    fit_intercept: bool

    @property
    def is_binary(self) -> bool:
        return len(self.classes) == 2

    @property
    def count(self) -> int:
        return int(self.X.shape[0]) * (len(self.classes) - 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Weight rows and their width, offset included."""
        return 1 if self.is_binary else len(self.classes), int(self.X.shape[1])

    @property
    def dimension(self) -> int:
        return math.prod(self.shape)

    def terms(self, constraints: Integers) -> tuple[Integers, list[tuple[Integers, Integers]]]:
        """The row of each constraint, and the weight rows that it multiplies, with their signs."""
        row, nth = np.divmod(constraints, len(self.classes) - 1)
        label, one = self.label[row], np.ones(len(row), np.int64)
        if self.is_binary:
            return row, [(0 * one, np.where(label == 1, 1, -1))]
        return row, [(label, one), (nth + (nth >= label), -one)]

    def constraint(self, row: int, wrong: int) -> int:
        """The number of the constraint of a row against a wrong class."""
        return row * (len(self.classes) - 1) + (0 if self.is_binary else wrong - int(wrong > self.label[row]))

    def margins(self, v: Floats) -> Floats:
        """``v·z`` for every constraint, in floating point."""
        scores = self.X @ v.reshape(self.shape).T
        row, terms = self.terms(np.arange(self.count))
        return np.asarray(sum(sign * scores[row, k] for k, sign in terms), dtype=np.float64)

    def take(self, constraints: Integers) -> sparse.csr_array:
        """The vectors of some constraints, sparse."""
        from scipy import sparse

        row, terms = self.terms(constraints)
        part = self.X[row].tocoo()
        columns = np.concatenate([k[part.row] * self.shape[1] + part.col for k, _ in terms])
        data = np.concatenate([sign[part.row] * part.data for _, sign in terms])
        return sparse.csr_array(
            (data, (np.tile(part.row, len(terms)), columns)), shape=(len(constraints), self.dimension)
        )

    @cached_property
    def shift(self) -> int:
        """All values times ``2**shift`` are integers."""
        return exact.shift_of(self.X.data)

    def exact_take(self, constraints: Integers) -> tuple[Integers, Whole]:
        """The vectors of some constraints times ``2**shift``, in integers: the non-zero columns, and their values."""
        part = self.take(constraints).tocoo()
        columns, place = np.unique(part.col, return_inverse=True)
        values = np.zeros((len(constraints), len(columns)), dtype=object)
        values[part.row, place] = exact.integers(part.data, self.shift)
        return columns, values

    def exact_margins(self, v: list[int]) -> Whole:
        """``2**shift v·z`` for every constraint, in integers."""
        V = np.array(v, dtype=object).reshape(self.shape)
        scores = np.hstack([self._exact_row_sums(lambda data, columns: data * w[columns]) for w in V])  # noqa: B023
        row, terms = self.terms(np.arange(self.count))
        return np.asarray(sum(sign * scores[row, k] for k, sign in terms), dtype=object)

    def exact_squared_radius(self) -> int:
        """The largest ``‖x‖²`` (extended with an offset) times ``4**shift``, in integers."""
        return int(self._exact_row_sums(lambda data, _: data * data).max())

    def _exact_row_sums(self, terms: Callable[[Whole, Integers], Whole]) -> Whole:
        """Per row, the sum of `terms` of its integer values and their columns, as one column."""
        starts, sums = self.X.indptr, np.zeros((self.X.shape[0], 1), dtype=object)
        step = max(1, _CHUNK * len(sums) // max(1, self.X.nnz))
        for start in range(0, len(sums), step):
            bounds = starts[start : start + step + 1]
            part = slice(bounds[0], bounds[-1])
            filled = np.flatnonzero(np.diff(bounds))
            if len(filled):
                values = terms(exact.integers(self.X.data[part], self.shift), self.X.indices[part])
                sums[start + filled, 0] = np.add.reduceat(values, bounds[filled] - bounds[0])
        return sums

    def contradictory_rows(self) -> tuple[int, int] | None:
        """The first two equal rows with different labels, or None."""
        seen: dict[bytes, int] = {}
        starts, indices, data = self.X.indptr, self.X.indices, self.X.data
        for i in range(self.X.shape[0]):
            part = slice(starts[i], starts[i + 1])
            first = seen.setdefault(indices[part].tobytes() + data[part].tobytes(), i)
            if self.label[first] != self.label[i]:
                return first, i
        return None


def make_constraints(X: Any, y: ArrayLike, fit_intercept: bool) -> Constraints:
    """Check rows and labels. If all labels are +1 or all are -1, they keep their sign."""
    from scipy import sparse

    rows, labels = exact_table(X), encode_labels(y)
    classes, label = labels.classes, labels.codes.astype(np.int64)
    if len(classes) == 1 and classes.dtype.kind in "if" and abs(classes[0]) == 1:
        classes, label = np.array([-1, 1]), label + int(classes[0] == 1)
    if len(label) != rows.shape[0]:
        raise DataError(f"X has {rows.shape[0]} rows and y has {len(label)} labels: one label per row is needed")
    if len(classes) < 2:
        raise LabelError("y has one class only; separability needs two or more")
    if fit_intercept:
        rows = sparse.hstack([rows, np.ones((rows.shape[0], 1))], format="csr")
    return Constraints(rows, label, classes, bool(fit_intercept))


def exact_table(X: Any) -> sparse.csr_array:
    """The rows as canonical float64 CSR; raises and names a value that float64 cannot hold."""
    from scipy import sparse

    given = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if given.ndim != 2 or 0 in given.shape:
        raise DataError(f"X must be a table of at least one row and one column, not of shape {given.shape}")
    if given.dtype.kind in "OUS" and not sparse.issparse(given):
        given = given.astype(object)
        floats = np.array([[_as_float(value) for value in row] for row in given.tolist()])
        if len(inexact := np.argwhere(floats != given)):
            row, column = inexact[0].tolist()
            raise DataError(f"X has {given[row, column]!r} in row {row}, column {column}: {_INEXACT}")
        given = floats
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
        raise DataError(f"X has {table.data[at]} in row {row}, column {table.indices[at]}: {_INEXACT}")
    clean = sparse.csr_array((values, table.indices, table.indptr), shape=table.shape)
    clean.eliminate_zeros()  # -0.0 too, so that equal rows have equal bytes
    clean.sort_indices()
    return clean


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def as_vector(constraints: Constraints, w: ArrayLike, b: ArrayLike | None) -> Floats:
    """Weights and offsets as the one vector ``v`` of the constraints."""
    W = np.array(w, dtype=np.float64, ndmin=2)
    rows, width = constraints.shape
    shape = (rows, width - constraints.fit_intercept)
    if W.shape != shape:
        raise ParameterError(f"w has the shape {np.shape(w)}; {shape[0]} row(s) of {shape[1]} weights are needed")
    if b is None:
        return W.ravel()
    offset = np.array(b, dtype=np.float64, ndmin=1)
    if offset.shape != shape[:1]:
        raise ParameterError(f"b has the shape {np.shape(b)}; {shape[0]} offset(s) are needed")
    return np.hstack([W, offset[:, None]]).ravel()


def _margins(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None) -> tuple[Constraints, Floats]:
    """One row of margins per row of X, one column per wrong class."""
    constraints = make_constraints(X, y, fit_intercept=b is not None)
    margins = constraints.margins(as_vector(constraints, w, b))
    return constraints, margins.reshape(constraints.X.shape[0], -1)
