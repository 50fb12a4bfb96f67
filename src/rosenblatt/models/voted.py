"""The vote of every weight vector that lived.

Invariant: the vectors themselves are never stored, only the updates that made them; a row's score under each is a
running sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table, is_sparse
from rosenblatt.errors import ModelError
from rosenblatt.models.container import Tensors
from rosenblatt.models.linear import Linear
from rosenblatt.models.sound import (
    check_finite,
    check_shapes,
    check_types,
    count_of,
    rows_from,
    rows_to,
    support_count,
)

UPDATES = ("which", "steps", "gains", "loses", "survived")


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
        arrays = [tensors[f"{prefix}{name}"] for name in UPDATES]
        check_types(arrays, ["<i8", "<f8", "<i4", "<i4", "<i8"])
        check_shapes(all(array.shape == (len(arrays[0]),) for array in arrays))
        which, steps, gains, loses, survived = arrays
        if len(which) and (
            min(which.min(), gains.min(), loses.min() + 1, survived.min()) < 0
            or which.max() >= support
            or max(gains.max(), loses.max()) >= K
        ):
            raise ModelError("its updates name a row or a class that is not there")
        check_finite(steps)
        return cls(which, steps, gains, loses, survived)


class Supported:
    """An answer that stores rows."""

    support: Any

    @property
    def support_rows(self) -> int:
        """How many rows are stored."""
        return support_count(self.support)


@dataclass(frozen=True)
class Voted(Supported):
    """Starting weights, stored rows and the updates made with them.

    Notes
    -----
    Scoring costs one dot product a stored row, and one addition an update.
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
