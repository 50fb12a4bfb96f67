"""Support rows that score other rows through a kernel.

Invariant: scoring changes nothing. With the kernels of the engine a row's score does not depend on the rows beside it;
with a function of the user it depends on what that function does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table, is_sparse
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.container import Tensors
from rosenblatt.models.sound import (
    check_finite,
    check_shapes,
    check_types,
    count_of,
    places_from,
    rows_from,
    rows_to,
)
from rosenblatt.models.voted import Supported, Updates

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
        """The support rows of a file, or their places, and their number."""
        read = places_from if self.name == "precomputed" else rows_from
        return read(header, prefix, tensors, features)

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
        coefficients, intercept = tensors[f"{prefix}coefficients"], tensors[f"{prefix}intercept"]
        check_types([coefficients, intercept], ["<f8", "<f8"])
        check_shapes(intercept.ndim == 1 and len(intercept) > 0 and coefficients.shape == (count, len(intercept)))
        check_finite(coefficients, intercept)
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
