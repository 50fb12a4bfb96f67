"""The vote of every weight vector that lived.

Invariant: the vectors themselves are never stored, only the updates that made them; a row's score under each is a
running sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table, is_sparse
from rosenblatt.models.linear import Linear, arranged


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
        return cls(
            np.concatenate([log.which for log in logs]),
            np.concatenate([log.steps for log in logs]),
            np.concatenate([log.gains for log in logs]),
            np.concatenate([log.loses for log in logs]),
            np.concatenate([log.survived for log in logs]),
        )

    def first(self, count: int) -> Updates:
        return Updates(
            self.which[:count], self.steps[:count], self.gains[:count], self.loses[:count], self.survived[:count]
        )

    def followed_by(self, later: Updates) -> Updates:
        return Updates.concatenated([self, later])

    def __len__(self) -> int:
        return len(self.steps)


@dataclass(frozen=True)
class Voted:
    """Starting weights, stored rows and the updates made with them.

    Notes
    -----
    Scoring costs one dot product a stored row, and one addition an update.
    """

    start: Linear
    support: Any  # NDArray or CSR array, a row each; None before the first update
    updates: Updates
    survived_last: int
    fit_intercept: bool

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """The share of the votes, of shape (rows, K): with two classes those for +1 less those for -1."""
        if index is not None:
            table = as_table(table.take(index))
        support = as_table(self.support if self.support is not None else np.zeros((1, table.features)))
        dtype = np.result_type(self.start.weights.dtype, support.dtype, table.dtype)
        table, support = table.astype(dtype), support.astype(dtype)
        votes: NDArray[np.float64] = engine.votes(
            table.rows,
            support.rows,
            which=self.updates.which,
            steps=self.updates.steps,
            gains=self.updates.gains,
            loses=self.updates.loses,
            survived=self.updates.survived,
            survived_last=self.survived_last,
            start=arranged(self.start.weights.astype(dtype, copy=False), table.sparse).ravel(order="K"),
            start_intercept=self.start.intercept,
            fit_intercept=self.fit_intercept,
        )
        total = int(self.updates.survived.sum()) + self.survived_last
        return votes / max(total, 1)


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
