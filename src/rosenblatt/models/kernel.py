"""Support rows that score other rows through a kernel.

Invariant: scoring changes nothing. With the kernels of the engine a row's score does not depend on the rows beside it;
with a function of the user it depends on what that function does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table, is_sparse
from rosenblatt.errors import DataError
from rosenblatt.models.voted import Updates

KernelName = Literal["linear", "poly", "rbf", "sigmoid", "precomputed", "function"]

ROWS_A_CALL = 1024  # of a user's function, so that its matrix stays small


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
            return engine.column_source(table.count, lambda i: self._column(table, i), cache_bytes)
        return engine.row_source(table.rows, None, self.name, cache_bytes=cache_bytes, **self._numbers())

    def between(self, table: Table, support: Any) -> Iterator[engine.KernelSource]:
        """Kernel values of rows with the support, part after part of the rows."""
        if self.name == "precomputed":
            if table.sparse:
                raise DataError("X is sparse: a precomputed kernel matrix must be dense")
            yield engine.matrix_source(np.ascontiguousarray(table.values[:, support], dtype=np.float64))
        elif self.name == "function":
            for begin in range(0, table.count, ROWS_A_CALL):
                yield engine.matrix_source(self._matrix(table.values[begin : begin + ROWS_A_CALL], support))
        else:
            yield engine.row_source(table.rows, as_table(support).rows, self.name, **self._numbers())

    def matrix(self, table: Table, support: Any) -> NDArray[np.float64]:
        """All the values at once."""
        return np.vstack([engine.kernel_matrix(part) for part in self.between(table, support)])

    def _numbers(self) -> dict[str, Any]:
        return {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}

    def _column(self, table: Table, row: int) -> NDArray[np.float64]:
        return self._matrix(table.values, table.values[row : row + 1])[:, 0].copy()

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
class Dual:
    """A coefficient for each support row and class: ``scores = K(X, support) coefficients + intercept``."""

    kernel: Kernel
    support: Any  # rows; with a precomputed kernel, their places among the training rows. None: none at all
    coefficients: NDArray[np.float64]  # (support rows, K)
    intercept: NDArray[np.float64]  # (K,)

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, K); of the rows named by `index` only, if it is given."""
        if index is not None:
            table = as_table(table.take(index))
        if not len(self.coefficients):
            return np.tile(self.intercept, (table.count, 1))
        parts = self.kernel.between(table, self.support)
        return np.vstack([engine.kernel_scores(part, self.coefficients, self.intercept) for part in parts])


@dataclass(frozen=True)
class VotedDual:
    """Support rows and, for each problem, the updates made with them; every weight vector that lived votes."""

    kernel: Kernel
    support: Any
    logs: tuple[Updates, ...]
    survived_last: tuple[int, ...]
    K: int
    fit_intercept: bool

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
            K=K,
            bias=1.0 if fit_intercept else 0.0,
            starts=starts.astype(np.int64),
            which=all_updates.which,
            steps=all_updates.steps,
            gains=all_updates.gains,
            loses=all_updates.loses,
            survived=all_updates.survived,
            survived_last=np.array(survived_last, np.int64),
            with_sums=with_sums,
            with_votes=with_votes,
        )
        for part in kernel.between(table, support)
    ]
    return [
        tuple(None if pieces[0] is None else np.vstack(pieces) for pieces in zip(*problem, strict=True))  # type: ignore[misc]
        for problem in zip(*parts, strict=True)
    ]
