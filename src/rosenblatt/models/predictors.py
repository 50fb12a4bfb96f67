"""Predictors: weights, products of columns, votes and support rows that score rows.

Invariant: scoring changes nothing, and a row's score does not depend on the rows beside it (with a kernel function of
the user it depends on that function). A predictor from a file is checked, so that the engine never leaves its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table, is_sparse
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.container import (
    Tensors,
    check_columns,
    check_shapes,
    count_of,
    rows_from,
    rows_to,
    take,
)

FARTHEST_VALUE = 5.0  # deviations from the mean; what lies farther counts as that far, since squares of it explode
TERMS_AT_ONCE = 1 << 20
MOST_COLUMNS = 1000  # to multiply: half a million terms
UPDATES = ("which", "steps", "gains", "loses", "survived")
KernelName = Literal["linear", "poly", "rbf", "sigmoid", "precomputed", "function"]

ROWS_A_CALL = 1024  # of a user's function, so that its matrix stays small


class Predictor(Protocol):
    """Weights, votes or support rows; scoring changes nothing."""

    kind: ClassVar[str]  # its name in a file

    @property
    def width(self) -> int:
        """How many scores a row gets."""

    @property
    def support_rows(self) -> int | None:
        """Rows of the training data that it holds; None for one that is only weights."""

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, width); of the rows named by `index` only, if it is given."""

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """A header of plain values; its arrays go among the tensors."""

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The answer of a header and tensors, checked, so that the engine is never led outside of its arrays."""


@dataclass(frozen=True)
class Linear:
    """Weight rows and intercepts: ``scores = X Wᵀ + b``.

    Two classes have one weight row (a score ``>= 0`` means the larger class), more classes one row each.
    """

    kind: ClassVar[str] = "linear"
    support_rows: ClassVar[None] = None

    weights: NDArray[Any]  # (K, features), float32 or float64
    intercept: NDArray[np.float64]  # (K,)

    @property
    def width(self) -> int:
        """How many scores a row gets."""
        return len(self.intercept)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        if not self.weights.shape[1]:  # of a stream without features yet
            return np.tile(self.intercept, (table.count if index is None else len(index), 1))
        dtype = np.result_type(self.weights.dtype, table.dtype)
        table = table.astype(dtype)
        weights = table.arranged(self.weights.astype(dtype, copy=False))
        scores: NDArray[np.float64] = engine.scores(table.rows, weights.ravel(order="K"), self.intercept, index)
        return scores

    def columns(self) -> NDArray[np.intp]:
        """The columns with a weight."""
        return np.flatnonzero((self.weights != 0).any(axis=0))

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """Only what is not 0: the columns with a weight, and of these the rows."""
        columns = self.columns()
        by_column = self.weights[:, columns].T
        places, rows = np.nonzero(by_column)
        tensors[f"{prefix}columns"] = columns.astype(np.int64)
        tensors[f"{prefix}counts"] = np.bincount(places, minlength=len(columns)).astype(np.int32)
        tensors[f"{prefix}rows"] = rows.astype(np.int32)
        tensors[f"{prefix}weights"] = by_column[places, rows]
        tensors[f"{prefix}intercept"] = self.intercept
        return {"kind": self.kind}

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The weights of so many features, checked."""
        columns, counts, rows, stored, intercept = take(
            tensors, prefix, columns="i8", counts="i4", rows="i4", weights="f", intercept="f8"
        )
        check_shapes(len(columns) == len(counts) <= features and len(rows) == len(stored) == counts.sum())
        check_columns(columns, features)
        if len(counts) and counts.min() < 0:
            raise ModelError("its columns are out of order")
        if len(rows) and (rows.min() < 0 or rows.max() >= len(intercept)):
            raise ModelError("it has a weight for a class that is not there")
        # Feature after feature, where a reader's rows look them up; pages of columns without a weight stay untouched.
        weights: NDArray[Any] = np.zeros((len(intercept), features), stored.dtype, order="F")
        weights[rows, np.repeat(columns, counts)] = stored
        return cls(weights, intercept)


@dataclass(frozen=True)
class Products:
    """Some columns, standardized, and the product of any two of them.

    With d columns the products are divided by √d, so that together they weigh about as much as the columns, and the
    squares have 1 taken from them, their mean.
    """

    columns: NDArray[np.int64]  # in their order
    center: NDArray[np.float64]
    scale: NDArray[np.float64]

    def apply(self, table: Table, index: NDArray[np.uint32] | None = None) -> Table:
        """The terms of the rows, in float32: the columns, then the products, row by row of the upper triangle."""
        count, d = table.count if index is None else len(index), len(self.columns)
        terms = np.empty((count, count_terms(d)), np.float32)
        how = (self.columns, self.center, self.scale, FARTHEST_VALUE, self.share)
        engine.multiply_columns(table.rows, index, *how, terms)
        return Table(terms, engine.dense_rows(terms))

    @property
    def share(self) -> float:
        """What the products are multiplied by."""
        return float(1 / np.sqrt(len(self.columns)))

    def iter_terms(
        self, table: Table, order: NDArray[np.uint32] | None = None
    ) -> Iterator[tuple[Table, NDArray[np.uint32]]]:
        """The terms of the rows in this order, or as they stand, part by part, and which rows each part has."""
        rows = np.arange(table.count, dtype=np.uint32) if order is None else order
        step = max(1, TERMS_AT_ONCE // count_terms(len(self.columns)))
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            yield self.apply(table, part), part

    def to_tensors(self, prefix: str, tensors: Tensors) -> None:
        """The columns, and how they are standardized."""
        tensors[f"{prefix}columns"] = self.columns
        tensors[f"{prefix}center"], tensors[f"{prefix}scale"] = self.center, self.scale

    @classmethod
    def from_tensors(cls, prefix: str, tensors: Tensors, features: int) -> Products:
        """The products of some of so many columns, checked."""
        columns, center, scale = take(tensors, prefix, columns="i8", center="f8", scale="f8")
        check_shapes(0 < len(columns) <= MOST_COLUMNS and columns.shape == center.shape == scale.shape)
        check_columns(columns, features)
        if not (scale > 0).all():
            raise ModelError("its columns cannot be standardized")
        return cls(columns, center, scale)

    @staticmethod
    def names(columns: Sequence[str]) -> list[str]:
        """What the terms of these columns are called, in their order."""
        pairs = zip(*(each.tolist() for each in np.triu_indices(len(columns))), strict=True)
        return [*columns, *(f"{columns[j]}·{columns[k]}" if j < k else f"{columns[j]}²" for j, k in pairs)]


@dataclass(frozen=True)
class Quadratic:
    """``scores = products(X) Wᵀ + b``: weights for the terms that `Products` makes of a row."""

    kind: ClassVar[str] = "products"
    support_rows: ClassVar[None] = None

    products: Products
    linear: Linear

    @property
    def intercept(self) -> NDArray[np.float64]:
        return self.linear.intercept

    @property
    def width(self) -> int:
        """How many scores a row gets."""
        return self.linear.width

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        return np.vstack([self.linear.scores(terms) for terms, _ in self.products.iter_terms(table, index)])

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """The weights, and the products that they weigh."""
        self.linear.to_tensors(prefix, tensors)
        self.products.to_tensors(f"{prefix}products.", tensors)
        return {"kind": self.kind}

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The weights of a header and tensors, checked."""
        products = Products.from_tensors(f"{prefix}products.", tensors, features)
        terms = count_terms(len(products.columns))
        return cls(products, Linear.from_tensors(header, prefix, tensors, terms))


def count_terms(columns: int) -> int:
    """How many columns and products there are."""
    return columns * (columns + 3) // 2


@dataclass(frozen=True)
class Updates:
    """Updates in order: the stored row, how far, to which class, and how long the weights before it lived."""

    which: NDArray[np.int64]
    steps: NDArray[np.float64]
    gains: NDArray[np.int32]
    loses: NDArray[np.int32]  # -1 with two classes
    survived: NDArray[np.int64]

    @classmethod
    def none(cls) -> Updates:
        return cls(
            np.empty(0, np.int64), np.empty(0), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int64)
        )

    @classmethod
    def concatenated(cls, logs: Sequence[Updates]) -> Updates:
        return cls(*map(np.concatenate, zip(*(log.arrays for log in logs), strict=True)))

    @property
    def arrays(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """All five, in their order."""
        return self.which, self.steps, self.gains, self.loses, self.survived

    def first(self, count: int) -> Updates:
        which, steps, gains, loses, survived = self.arrays
        return Updates(which[:count], steps[:count], gains[:count], loses[:count], survived[:count])

    def followed_by(self, later: Updates) -> Updates:
        return Updates.concatenated([self, later])

    def naming(self, places: NDArray[np.int64]) -> Updates:
        """The same updates, each naming the place of its row."""
        return replace(self, which=places[self.which])

    def mixed(self, mix: NDArray[np.float64]) -> Updates:
        """Updates of the old weight rows as updates of the new ones, ``mix @ rows``.

        An old row may become at most one gaining (positive) and one losing (negative) new row.
        """
        if not len(self):
            return self
        if mix.shape[0] == 1:
            return replace(self, steps=self.steps * mix[0, 0])
        gain_of = np.argmax(mix > 0, axis=0).astype(np.int32)
        lose_of = np.where((mix < 0).any(axis=0), np.argmax(mix < 0, axis=0), -1).astype(np.int32)
        share = np.abs(mix).max(axis=0)
        loses = np.where(self.loses >= 0, gain_of[self.loses], lose_of[self.gains]).astype(np.int32)
        return Updates(self.which, self.steps * share[self.gains], gain_of[self.gains], loses, self.survived)

    def __len__(self) -> int:
        return len(self.steps)

    def to_tensors(self, prefix: str, tensors: Tensors) -> None:
        """All five arrays, by name."""
        for name in UPDATES:
            tensors[f"{prefix}{name}"] = getattr(self, name)

    @classmethod
    def from_tensors(cls, prefix: str, tensors: Tensors, support: int, K: int) -> Updates:
        """Updates of K weight rows with so many stored rows, checked."""
        arrays = take(tensors, prefix, which="i8", steps="f8", gains="i4", loses="i4", survived="i8")
        check_shapes(all(array.shape == (len(arrays[0]),) for array in arrays))
        which, _, gains, loses, survived = arrays
        if len(which) and (
            min(which.min(), gains.min(), loses.min() + 1, survived.min()) < 0
            or which.max() >= support
            or max(gains.max(), loses.max()) >= K
        ):
            raise ModelError("its updates name a row or a class that is not there")
        return cls(*arrays)


class Supported:
    """An answer that stores rows."""

    support: Any

    @property
    def support_rows(self) -> int:
        """How many rows are stored."""
        return 0 if self.support is None else int(self.support.shape[0])


@dataclass(frozen=True)
class Voted(Supported):
    """Starting weights, stored rows and the updates made with them.

    Notes
    -----
    Scoring costs one dot product per stored row, and one addition per update.
    """

    kind: ClassVar[str] = "voted"

    start: Linear
    support: Any  # NDArray or CSR array, a row each; None before the first update
    updates: Updates
    survived_last: int
    fit_intercept: bool

    @property
    def width(self) -> int:
        """How many scores a row gets."""
        return self.start.width

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """The share of the votes, of shape (rows, K): with two classes those for +1 less those for -1."""
        if index is not None:
            table = as_table(table.take(index))
        rows, weights = self.support, self.start.weights
        if rows is None:
            rows = np.zeros((1, table.features))
        elif weights.shape[1] == 0:  # of a stream whose examples had no features yet
            rows, weights = with_columns(rows, table.features), with_columns(weights, table.features)
        support = as_table(rows)
        dtype = np.result_type(weights.dtype, support.dtype, table.dtype)
        table, support = table.astype(dtype), support.astype(dtype)
        weights = table.arranged(weights.astype(dtype, copy=False))
        votes: NDArray[np.float64] = engine.votes(
            table.rows,
            support.rows,
            self.updates.arrays,
            survived_last=self.survived_last,
            start=(weights.ravel(order="K"), self.start.intercept),
            fit_intercept=self.fit_intercept,
        )
        total = int(self.updates.survived.sum()) + self.survived_last
        return votes / max(total, 1)

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """The starting weights, the stored rows and the updates."""
        self.start.to_tensors(prefix, tensors)
        self.updates.to_tensors(prefix, tensors)
        return {
            "kind": self.kind,
            "support": rows_to(self.support, prefix, tensors),
            "survived_last": int(self.survived_last),
            "fit_intercept": bool(self.fit_intercept),
        }

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The vote of a header and tensors, checked."""
        start = Linear.from_tensors(header, prefix, tensors, features)
        support, count = rows_from(header["support"], prefix, tensors, features)
        updates = Updates.from_tensors(prefix, tensors, count, start.width)
        return cls(start, support, updates, count_of(header["survived_last"]), bool(header["fit_intercept"]))


def stack_rows(above: Any, below: Any) -> Any:
    """One support after another; sparse if either is."""
    if above is None:
        return below
    if is_sparse(above) or is_sparse(below):
        import scipy.sparse as sp

        return sp.vstack([sp.csr_array(above), sp.csr_array(below)], format="csr")
    return np.vstack([above, below])


def with_columns(rows: Any, columns: int) -> Any:
    """The same rows over more columns, which are 0, or over fewer."""
    if is_sparse(rows):
        resized = rows.copy()
        resized.resize((rows.shape[0], columns))
        return resized
    wider = np.zeros((rows.shape[0], columns), rows.dtype)
    shared = min(columns, rows.shape[1])
    wider[:, :shared] = rows[:, :shared]
    return wider


@dataclass(frozen=True)
class Kernel:
    """A kernel by name and numbers, or a function of two tables.

    ``linear`` x·z, ``poly`` (coef0 + gamma x·z)^degree, ``rbf`` exp(-gamma ‖x - z‖²), ``sigmoid``
    tanh(coef0 + gamma x·z).
    """

    name: KernelName = "linear"
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    function: Callable[[Any, Any], Any] | None = field(default=None, compare=False)

    def among(self, table: Table, cache_bytes: int) -> engine.KernelSource:
        """Kernel values of the rows of a table with one another, for learning."""
        if self.name == "precomputed":
            return engine.matrix_source(np.ascontiguousarray(table.values, dtype=np.float64))
        if self.name == "function":
            values = table.values
            return engine.column_source(table.count, lambda i: self._column(values, i), cache_bytes)
        return engine.row_source(table.rows, None, self.name, cache_bytes=cache_bytes, **self._numbers())

    def between(self, table: Table, support: Any) -> Iterator[engine.KernelSource]:
        """Kernel values of rows with the support, part after part of the rows."""
        if self.name == "precomputed":
            if table.sparse:
                raise DataError("X is sparse: a precomputed kernel matrix must be dense")
            yield engine.matrix_source(np.ascontiguousarray(np.asarray(table.values)[:, support], dtype=np.float64))
        elif self.name == "function":
            for begin in range(0, table.count, ROWS_A_CALL):
                yield engine.matrix_source(self._matrix(table.take(slice(begin, begin + ROWS_A_CALL)), support))
        else:
            yield engine.row_source(table.rows, as_table(support).rows, self.name, **self._numbers())

    def matrix(self, table: Table, support: Any) -> NDArray[np.float64]:
        """All the values at once."""
        return np.vstack([engine.kernel_matrix(part) for part in self.between(table, support)])

    def to_json(self) -> dict[str, Any]:
        """The name and the numbers, for a file."""
        if self.name == "function":
            raise ModelError(
                "a kernel that is a function of yours cannot be saved, since loading runs no code: use one of the "
                "kernels with a name, or kernel='precomputed'"
            )
        return {"name": self.name, "gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> Kernel:
        """The kernel of a file, checked."""
        name, gamma, coef0, degree = (header[key] for key in ("name", "gamma", "coef0", "degree"))
        if name not in get_args(KernelName) or name == "function":
            raise ModelError(f"it has the unknown kernel {name!r}")
        if not (isinstance(gamma, float) and isinstance(coef0, float) and isinstance(degree, int)):
            raise ModelError("the numbers of its kernel are not numbers")
        if not (gamma > 0 and np.isfinite(gamma) and np.isfinite(coef0) and 1 <= degree < 1 << 31):
            raise ModelError("the numbers of its kernel are out of range")
        return cls(name, gamma, coef0, degree)

    def support_from(self, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> tuple[Any, int]:
        """The support rows of a file, or their places among the columns of a precomputed kernel, and their number."""
        if self.name != "precomputed" or header["storage"] == "none":
            return rows_from(header, prefix, tensors, features)
        (places,) = take(tensors, prefix, support="i8")
        check_shapes(len(places) == count_of(header["rows"]))
        if len(places) and (places.min() < 0 or places.max() >= features):
            raise ModelError("its support names a column that is not there")
        return places, len(places)

    def _numbers(self) -> dict[str, Any]:
        return {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}

    def _column(self, values: Any, row: int) -> NDArray[np.float64]:
        return self._matrix(values, values[row : row + 1])[:, 0].copy()

    def _matrix(self, rows: Any, others: Any) -> NDArray[np.float64]:
        assert self.function is not None
        values = self.function(rows, others)
        values = values.toarray() if is_sparse(values) else np.asarray(values)
        shape = (rows.shape[0], others.shape[0])
        if values.shape != shape:
            raise DataError(
                f"kernel: the function gave an array of shape {values.shape} for {shape[0]} and {shape[1]} rows"
            )
        result = np.ascontiguousarray(values, dtype=np.float64)
        if not np.isfinite(result).all():
            raise DataError("kernel: the function gave a value that is not finite")
        return result


@dataclass(frozen=True)
class Dual(Supported):
    """A coefficient for each support row and class: ``scores = K(X, support) coefficients + intercept``."""

    kind: ClassVar[str] = "kernel"

    kernel: Kernel
    support: Any  # rows; with a precomputed kernel, their places among the training rows. None: none at all
    coefficients: NDArray[np.float64]  # (support rows, K)
    intercept: NDArray[np.float64]  # (K,)

    @property
    def width(self) -> int:
        """How many scores a row gets."""
        return len(self.intercept)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        if index is not None:
            table = as_table(table.take(index))
        if not len(self.coefficients):
            return np.tile(self.intercept, (table.count, 1))
        parts = self.kernel.between(table, self.support)
        return np.vstack([engine.kernel_scores(part, self.coefficients, self.intercept) for part in parts])

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """The kernel, the stored rows and their coefficients."""
        header = {"kind": self.kind, "kernel": self.kernel.to_json()}
        tensors[f"{prefix}coefficients"], tensors[f"{prefix}intercept"] = self.coefficients, self.intercept
        return header | {"support": rows_to(self.support, prefix, tensors)}

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The coefficients of a header and tensors, checked."""
        kernel = Kernel.from_json(header["kernel"])
        support, count = kernel.support_from(header["support"], prefix, tensors, features)
        coefficients, intercept = take(tensors, prefix, coefficients="f8:2", intercept="f8")
        check_shapes(len(intercept) > 0 and coefficients.shape == (count, len(intercept)))
        return cls(kernel, support, coefficients, intercept)


@dataclass(frozen=True)
class VotedDual(Supported):
    """Support rows and, for each problem, the updates made with them; every weight vector that lived votes."""

    kind: ClassVar[str] = "voted kernel"

    kernel: Kernel
    support: Any
    logs: tuple[Updates, ...]
    survived_last: tuple[int, ...]
    K: int
    fit_intercept: bool

    @property
    def width(self) -> int:
        """How many scores a row gets."""
        return self.K * len(self.logs)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """The share of the votes, of shape (rows, problems x K): with two classes those for +1 less those for -1."""
        if index is not None:
            table = as_table(table.take(index))
        totals = [int(log.survived.sum()) + last for log, last in zip(self.logs, self.survived_last, strict=True)]
        if self.support is None:  # only the zero vector lived, and votes for the first of equals or for +1
            votes = np.zeros((table.count, len(self.logs) * self.K))
            votes[:, 0 :: self.K] = 1.0
            return votes
        walked = walk(
            self.kernel, table, self.support, self.logs, self.survived_last, self.K, self.fit_intercept, with_votes=True
        )
        return np.hstack([votes / max(total, 1) for (_, _, votes), total in zip(walked, totals, strict=True)])

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """The kernel, the stored rows and the updates of each problem."""
        header = {"kind": self.kind, "kernel": self.kernel.to_json()}
        for at, log in enumerate(self.logs):
            log.to_tensors(f"{prefix}{at}.", tensors)
        return header | {
            "support": rows_to(self.support, prefix, tensors),
            "survived_last": [int(last) for last in self.survived_last],
            "K": self.K,
            "fit_intercept": bool(self.fit_intercept),
        }

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The vote of a header and tensors, checked."""
        kernel = Kernel.from_json(header["kernel"])
        support, count = kernel.support_from(header["support"], prefix, tensors, features)
        K, survived = count_of(header["K"]), tuple(count_of(last) for last in header["survived_last"])
        check_shapes(K > 0 and len(survived) > 0)
        logs = tuple(Updates.from_tensors(f"{prefix}{at}.", tensors, count, K) for at in range(len(survived)))
        return cls(kernel, support, logs, survived, K, bool(header["fit_intercept"]))


def walk(
    kernel: Kernel,
    table: Table,
    support: Any,
    logs: tuple[Updates, ...],
    survived_last: tuple[int, ...],
    K: int,
    fit_intercept: bool,
    *,
    with_sums: bool = False,
    with_votes: bool = False,
) -> list[tuple[Any, Any, Any]]:
    """For each log: the last scores, the sums of the scores of all vectors that lived, and their votes, each (rows, K).

    Everything comes from one running sum a row; what is not asked for is None.
    """
    starts = np.cumsum([0, *map(len, logs)])
    all_updates = logs[0] if len(logs) == 1 else Updates.concatenated(logs)
    parts = [
        engine.kernel_walk(
            part,
            all_updates.arrays,
            starts.astype(np.int64),
            np.array(survived_last, np.int64),
            K=K,
            bias=1.0 if fit_intercept else 0.0,
            with_sums=with_sums,
            with_votes=with_votes,
        )
        for part in kernel.between(table, support)
    ]
    return [
        tuple(None if pieces[0] is None else np.vstack(pieces) for pieces in zip(*problem, strict=True))  # type: ignore[misc]
        for problem in zip(*parts, strict=True)
    ]
