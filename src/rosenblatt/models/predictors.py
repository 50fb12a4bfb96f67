"""Predictors: weights, products of columns, votes and support rows that score rows.

Invariant: scoring changes nothing, and a row's score does not depend on the rows beside it (with a kernel function of
the user it depends on that function). A predictor from a file is checked, so that the engine never leaves its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Csr, Table, aligned_copy, as_table, is_sparse
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.container import (
    Part,
    Spec,
    check_columns,
    check_part,
    check_rows,
    check_shapes,
    count_of,
    places_from,
)

FARTHEST_VALUE = 5.0  # deviations from the mean; values beyond it are clipped, since their squares explode
TERMS_AT_ONCE = 1 << 20
MOST_COLUMNS = 1000  # to multiply: half a million terms
KernelName = Literal["linear", "poly", "rbf", "sigmoid", "precomputed", "function"]

FEW_WEIGHTS = 1 << 22  # up to which all columns are stored
ROWS_A_CALL = 1024  # of a user's function, so that its matrix stays small


@dataclass(frozen=True)
class Linear(Part):
    """Weight rows and intercepts: ``scores = X Wᵀ + b``.

    Two classes have one weight row (a score ``>= 0`` means the larger class), more classes one row each.
    """

    weights: NDArray[Any]  # (K, features), float32 or float64; (K, columns + 1) if only some columns are stored
    intercept: NDArray[np.float64]  # (K,)
    stored: NDArray[np.intp] | None = None  # these columns, in order; the last weights, which are 0, are of all others
    among: int = 0  # features, if only some columns are stored

    @property
    def width(self) -> int:
        """The number of scores per row."""
        return len(self.intercept)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        if not self.weights.shape[1]:  # of a stream without features yet
            return np.tile(self.intercept, (table.count if index is None else len(index), 1))
        if self.stored is not None and table.sparse:  # columns without a weight keep their place in the sums
            rows, width = table.values, self.weights.shape[1]
            table = Csr(rows.data, self._places[rows.indices], rows.indptr, (table.count, width)).table()
            return Linear(self.weights, self.intercept).scores(table, index)
        if self.stored is not None:
            return Linear(self.at(np.arange(self.among)), self.intercept).scores(table, index)
        if self.weights.dtype != table.dtype:
            dtype = np.result_type(self.weights.dtype, table.dtype)
            if index is not None and len(index) and table.dtype != dtype:  # of these rows only
                table, index = as_table(table.take(index)), None
            wider = Linear(self.weights.astype(dtype, copy=False), self.intercept)
            return wider.scores(table.astype(dtype), index)
        return engine.scores(table.rows, self._by_feature if table.sparse else self._by_class, self.intercept, index)

    @cached_property
    def _by_feature(self) -> NDArray[Any]:
        """The weights feature after feature, as sparse rows look them up."""
        return np.asfortranarray(self.weights).ravel(order="K")

    @cached_property
    def _by_class(self) -> NDArray[Any]:
        """The weights class after class, as dense rows read them."""
        return aligned_copy(np.ascontiguousarray(self.weights)).ravel()

    @property
    def features(self) -> int:
        """The number of columns of a row."""
        return int(self.weights.shape[1]) if self.stored is None else self.among

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """The index of the stored weights of each column."""
        assert self.stored is not None
        places = np.full(self.among, len(self.stored), np.int32)
        places[self.stored] = np.arange(len(self.stored), dtype=np.int32)
        return places

    def at(self, columns: Any) -> NDArray[Any]:
        """The weights of these columns, of shape (K, columns)."""
        return self.weights[:, columns if self.stored is None else self._places[columns]]

    def columns(self) -> NDArray[np.intp]:
        """The columns with a weight."""
        used = np.flatnonzero((self.weights != 0).any(axis=0))
        return used if self.stored is None else self.stored[used]

    def spread(self, columns: NDArray[np.intp], features: int) -> Linear:
        """The weights of `columns` as those of so many features."""
        weights = np.zeros((self.width, len(columns) + 1), self.weights.dtype, order="F")
        weights[:, :-1] = self.weights[:, : len(columns)]
        return Linear(weights, self.intercept, columns, features)

    def divided(self, scale: NDArray[np.float64]) -> Linear:
        """The weights of columns that are not divided by their scale any more."""
        scale = scale if self.stored is None else np.append(scale[self.stored], 1.0)
        return replace(self, weights=self.weights / scale)

    def to_tree(self) -> dict[str, Any]:
        """The non-zero weights: the columns with a weight, and their rows."""
        columns = self.columns()
        by_column = self.at(columns).T
        places, rows = np.nonzero(by_column)
        return {
            "part": "Linear",
            "features": self.features,
            "columns": columns.astype(np.int64),
            "counts": np.bincount(places, minlength=len(columns)).astype(np.int32),
            "rows": rows.astype(np.int32),
            "weights": by_column[places, rows],
            "intercept": self.intercept,
        }

    @classmethod
    def from_tree(cls, values: dict[str, Any]) -> Self:
        """Weights of all columns, or of those in the file if they are few of many."""
        features, weights, intercept = count_of(values["features"]), values["weights"], values["intercept"]
        Spec("<f8", ("K",)).check("intercept", intercept)
        row, column = places_from(values, len(intercept), features)
        Spec("float", row.shape).check("weights", weights)
        columns, place = np.unique(column, return_inverse=True)
        is_dense = len(intercept) * features <= FEW_WEIGHTS or 2 * len(columns) >= features
        shape = len(intercept), features if is_dense else len(columns) + 1
        # Feature after feature, where a reader's rows look them up.
        found: NDArray[Any] = np.zeros(shape, weights.dtype, order="F")
        found[row, column if is_dense else place] = weights
        return cls(found, intercept) if is_dense else cls(found, intercept, columns, features)

    def check(self, features: int) -> int:
        """Raise unless the weights are for `features` columns; returns the number of scores per row."""
        check_shapes(self.features == features and self.width > 0)
        return self.width


@dataclass(frozen=True)
class Products(Part):
    """Some columns, standardized, and the product of any two of them.

    With d columns the products are divided by √d, so that together they weigh about as much as the columns, and the
    squares have 1 taken from them, their mean.
    """

    specs: ClassVar = {
        "columns": Spec("<i8", ("columns",)),
        "center": Spec("<f8", ("columns",)),
        "scale": Spec("<f8", ("columns",), least=5e-324),
    }

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
        """The factor of the products."""
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

    def check(self, features: int) -> None:
        """Raise unless it multiplies some of so many columns."""
        check_shapes(0 < self.check_arrays()["columns"] <= MOST_COLUMNS)
        check_columns(self.columns, features)

    @staticmethod
    def names(columns: Sequence[str]) -> list[str]:
        """The names of the terms of these columns, in their order."""
        pairs = zip(*(each.tolist() for each in np.triu_indices(len(columns))), strict=True)
        return [*columns, *(f"{columns[j]}·{columns[k]}" if j < k else f"{columns[j]}²" for j, k in pairs)]


@dataclass(frozen=True)
class Quadratic(Part):
    """``scores = products(X) Wᵀ + b``: weights for the terms that `Products` makes of a row."""

    products: Products
    linear: Linear

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        return np.vstack([self.linear.scores(terms) for terms, _ in self.products.iter_terms(table, index)])

    def check(self, features: int) -> int:
        """Raise unless it weighs the products of some of so many columns; returns the number of scores per row."""
        check_part(self.products, Products, features)
        return check_part(self.linear, Linear, count_terms(len(self.products.columns))).width


def count_terms(columns: int) -> int:
    """The number of columns and products."""
    return columns * (columns + 3) // 2


@dataclass(frozen=True)
class Updates(Part):
    """Updates in order: stored row, step, class, and the number of rows that the weights before it survived."""

    specs: ClassVar = {
        "which": Spec("<i8", ("updates",), least=0, below="support"),
        "steps": Spec("<f8", ("updates",)),
        "gains": Spec("<i4", ("updates",), least=0, below="K"),
        "loses": Spec("<i4", ("updates",), least=-1, below="K"),
        "survived": Spec("<i8", ("updates",), least=0),
    }

    which: NDArray[np.int64]
    steps: NDArray[np.float64]
    gains: NDArray[np.int32]
    loses: NDArray[np.int32]  # -1 with two classes
    survived: NDArray[np.int64]

    @classmethod
    def none(cls) -> Updates:
        return cls(*(np.empty(0, kind) for kind in ("i8", "f8", "i4", "i4", "i8")))

    @classmethod
    def concatenated(cls, logs: Sequence[Updates]) -> Updates:
        return cls(*map(np.concatenate, zip(*(log.arrays for log in logs), strict=True)))

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any, Any]:
        """All five, in their order."""
        return self.which, self.steps, self.gains, self.loses, self.survived

    def first(self, count: int) -> Updates:
        return Updates(*(array[:count] for array in self.arrays))

    def naming(self, places: NDArray[np.int64]) -> Updates:
        """The same updates, each naming the place of its row."""
        return replace(self, which=places[self.which])

    def mixed(self, rows: int, to: NDArray[np.intp], source: NDArray[np.intp], factor: NDArray[np.float64]) -> Updates:
        """Updates of the old weight rows as updates of `rows` new ones: row ``to`` is `factor` times row ``source``.

        An old row may become at most one gaining (positive) and one losing (negative) new row.
        """
        if not len(self):
            return self
        if rows == 1:
            return replace(self, steps=self.steps * factor[0])
        gain_of, lose_of, share = np.zeros(rows, np.int32), np.full(rows, -1, np.int32), np.zeros(rows)
        gain_of[source[factor > 0]] = to[factor > 0]
        lose_of[source[factor < 0]] = to[factor < 0]
        share[source] = np.abs(factor)
        loses = np.where(self.loses >= 0, gain_of[self.loses], lose_of[self.gains]).astype(np.int32)
        return Updates(self.which, self.steps * share[self.gains], gain_of[self.gains], loses, self.survived)

    def __len__(self) -> int:
        return len(self.steps)

    def check(self, support: int, K: int) -> None:
        """Raise unless they are of K weight rows, with so many stored rows."""
        self.check_arrays(support=support, K=K)


def stack_rows(above: Any, below: Any) -> Any:
    """One support after another; sparse if either is."""
    if above is None:
        return below
    if is_sparse(above) or is_sparse(below):
        import scipy.sparse as sp

        return sp.vstack([sp.csr_array(above), sp.csr_array(below)], format="csr")
    return np.concatenate([above, below])


def spread_rows(rows: Any, columns: NDArray[Any], features: int) -> Any:
    """Sparse rows of `columns`, over so many features."""
    import scipy.sparse as sp

    return sp.csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], features))


def with_columns(rows: Any, columns: int) -> Any:
    """The same rows over more columns, which are 0, or over fewer."""
    if is_sparse(rows):
        resized = rows.copy()
        resized.resize((rows.shape[0], columns))
        return resized
    return np.pad(rows[:, :columns], ((0, 0), (0, max(0, columns - rows.shape[1]))))


@dataclass(frozen=True)
class Kernel(Part):
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
        return engine.row_source(table.rows, table.rows, self.name, **self._numbers())

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

    def to_tree(self) -> dict[str, Any]:
        """The name and the numbers."""
        if self.name == "function":
            raise ModelError(
                "a kernel function cannot be saved, because loading a model runs no code: use a named kernel or "
                "kernel='precomputed'"
            )
        return {"part": "Kernel", "name": self.name, **self._numbers()}

    def check(self) -> None:
        """Raise unless it has a name, and numbers in their range."""
        if self.name not in get_args(KernelName) or self.name == "function" or self.function is not None:
            raise ModelError(f"it has the unknown kernel {self.name!r}")
        if not (isinstance(self.gamma, float) and isinstance(self.coef0, float) and isinstance(self.degree, int)):
            raise ModelError("the numbers of its kernel are not numbers")
        if not (0 < self.gamma < np.inf and np.isfinite(self.coef0) and 1 <= self.degree < 1 << 31):
            raise ModelError("the numbers of its kernel are out of range")

    def check_support(self, support: Any, features: int) -> int:
        """How many support rows a file has, or places among the columns of a precomputed kernel."""
        if self.name != "precomputed" or support is None:
            return check_rows(support, features)
        Spec("<i8", ("support",), least=0, most=features - 1).check("support", support)
        return len(support)

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
class Dual(Part):
    """A coefficient for each support row and class: ``scores = K(X, support) coefficients + intercept``."""

    specs: ClassVar = {"coefficients": Spec("<f8", ("support", "K")), "intercept": Spec("<f8", ("K",))}

    kernel: Kernel
    support: Any  # rows; with a precomputed kernel, their places among the training rows. None: none at all
    coefficients: NDArray[np.float64]  # (support rows, K)
    intercept: NDArray[np.float64]  # (K,)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        which, gains = np.array(np.nonzero(self.coefficients))  # each in one piece, for the engine
        none, survived = np.full(len(which), -1, np.int32), np.zeros(len(which), np.int64)
        log = Updates(which, self.coefficients[which, gains], gains.astype(np.int32), none, survived)
        run = Voted(self.kernel, self.support, (log,), (0,), len(self.intercept), fit_intercept=False)
        return run.replay(table, index, votes=False)[0] + self.intercept

    def check(self, features: int) -> int:
        """Raise unless it is for rows of so many columns; returns the number of scores per row."""
        check_part(self.kernel, Kernel)
        sizes = self.check_arrays(support=self.kernel.check_support(self.support, features))
        check_shapes(sizes["K"] > 0)
        return sizes["K"]


@dataclass(frozen=True)
class Voted(Part):
    """A vote of all weight vectors of a run: support rows and, for each problem, the updates made with them.

    Notes
    -----
    Scoring costs one kernel value per support row, and one addition per update.
    """

    kernel: Kernel
    support: Any  # as in `Dual`
    logs: tuple[Updates, ...]
    survived_last: tuple[int, ...]
    K: int
    fit_intercept: bool
    start: Linear | None = None  # the first weight vector of the only problem; None: zeros

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """The share of the votes, of shape (rows, problems x K): with two classes those for +1 less those for -1."""
        totals = [int(log.survived.sum()) + last for log, last in zip(self.logs, self.survived_last, strict=True)]
        found = self.replay(table, index, votes=True)
        return np.hstack([votes / max(total, 1) for votes, total in zip(found, totals, strict=True)])

    def replay(
        self, table: Table, index: NDArray[np.uint32] | None = None, *, votes: bool
    ) -> list[NDArray[np.float64]]:
        """For each log: the votes of all weight vectors, or the scores of the last one, each (rows, K)."""
        table = table if index is None else as_table(table.take(index))
        kernel, support = self.kernel, self.support
        start = None if self.start is None else self.start.scores(table)
        if support is None:
            kernel, support = Kernel(), np.zeros((1, table.features))
        elif start is not None:  # a stream may have seen new features since
            support = with_columns(support, table.features)
        updates = self.logs[0] if len(self.logs) == 1 else Updates.concatenated(self.logs)
        starts, last = np.cumsum([0, *map(len, self.logs)], dtype=np.int64), np.array(self.survived_last, np.int64)
        how: dict[str, Any] = {"K": self.K, "bias": float(self.fit_intercept), "votes": votes, "start": start}
        walks = [
            engine.kernel_walk(part, updates.arrays, starts, last, **how) for part in kernel.between(table, support)
        ]
        return [np.vstack(each) for each in zip(*walks, strict=True)]

    def spread(self, columns: NDArray[np.intp], features: int) -> Voted:
        """The vote of `columns`, over so many features."""
        support = None if self.support is None else spread_rows(self.support, columns, features)
        start = None if self.start is None else self.start.spread(columns, features)
        return replace(self, start=start, support=support)

    def check(self, features: int) -> int:
        """Raise unless it is for rows of so many columns; returns the number of scores per row."""
        check_part(self.kernel, Kernel)
        count = self.kernel.check_support(self.support, features)
        check_shapes(count_of(self.K) > 0 and len(self.logs) == len([*map(count_of, self.survived_last)]) > 0)
        for log in self.logs:
            check_part(log, Updates, count, self.K)
        if self.start is not None:
            check_part(self.start, Linear, features)
            check_shapes(self.kernel.name == "linear" and self.start.width == self.K and len(self.logs) == 1)
        return self.K * len(self.logs)


Predictor = Linear | Quadratic | Dual | Voted


def score_rows(parts: Sequence[Predictor], table: Table) -> NDArray[np.float64]:
    """The scores of all parts of a model, side by side."""
    found = [part.scores(table) for part in parts]
    return found[0] if len(found) == 1 else np.hstack(found)
