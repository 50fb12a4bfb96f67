"""Columns on a common scale, if they need it.

Invariant: scaling can be folded into the weights: a model learned on scaled rows answers the user's rows directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import ModelError
from rosenblatt.models.container import Part, Spec
from rosenblatt.models.predictors import Linear

MOST_UNEVEN = 10.0  # the largest column beside the median one; beyond it a few columns drown the others
FARTHEST = 3.0  # a mean this many deviations from 0 makes the intercept chase the column
MOST_LOPSIDED = 1e3  # the intercept's 1 beside the square of a row, or that of a value beside it: one would not learn
SIMILAR = 2.0  # a column this many times larger or smaller than the median one is scaled, if columns are scaled
ROWS_MEASURED = 1000


@dataclass(frozen=True)
class Scaling(Part):
    """``(x - center) / scale``, column by column; sparse rows are never centered."""

    specs: ClassVar = {"center": Spec("<f8", ("features",)), "scale": Spec("<f8", ("features",))}

    kind: Literal["standard", "mean-abs"]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]

    def apply(self, table: Table) -> Table:
        """A copy of the rows, scaled."""
        if table.sparse:
            return table.csr().divided(self.scale).table()
        return as_table(((table.values - self.center) / self.scale).astype(table.dtype))

    def spread(self, columns: NDArray[np.intp], features: int) -> Scaling:
        """The scaling of so many columns, of which the others stay as they are."""
        center, scale = np.zeros(features), np.ones(features)
        center[columns], scale[columns] = self.center, self.scale
        return Scaling(self.kind, center, scale)

    def folded(self, model: Linear) -> Linear:
        """The model of unscaled rows that equals `model` on scaled ones.

        The engine sums in one order on every CPU, which BLAS does not.
        """
        moved = Linear(np.ascontiguousarray(model.weights / self.scale), model.intercept)
        return Linear(moved.weights, moved.scores(as_table(-self.center[None]))[0])

    def check(self, features: int) -> None:
        """Raise unless it is of so many columns."""
        self.check_arrays(features=features)
        if self.kind not in ("standard", "mean-abs") or not (self.scale > 0).all():
            raise ModelError("its columns cannot be scaled")


def find_scaling(table: Table) -> Scaling | None:
    """The scaling that these rows need, or None.

    Dense rows: columns to mean 0 and deviation 1 if one column is more than ten times larger than the median one or
    far from 0, or if rows are much shorter or values much larger than 1; columns of 0 and 1 stay as they are. Sparse
    rows: columns divided by their mean absolute value, zeros apart, if one is more than ten times larger than the
    median column; columns within a factor of two of the median one stay as they are.
    """
    length, values = typical_squared_norm(table), table.stored / table.count
    lopsided = 0 < length < 1 / MOST_LOPSIDED or length > MOST_LOPSIDED * values
    if table.sparse:
        if not lopsided and not _uneven(engine.describe_columns(table.rows)[2]):
            return None
        sizes = _mean_sizes(table)
        if not lopsided and not _uneven(sizes):
            return None
        middle = 1.0 if lopsided else _median(sizes[sizes > 0])
        needed = (sizes > 0) & ((sizes > SIMILAR * middle) | (sizes * SIMILAR < middle))
        return Scaling("mean-abs", np.zeros(table.features), np.where(needed, sizes / middle, 1.0))
    mean, deviation, largest = engine.describe_columns(table.rows)
    varies = _varies(mean, deviation)
    standard = np.all(~varies | ((np.abs(mean) < 0.5) & (deviation > 0.5) & (deviation < 2.0)))
    far = np.any(varies & (np.abs(mean) > FARTHEST * deviation))
    if standard or not (far or lopsided or _uneven(largest)):
        return None
    # Values between -1 and 1 whose squares have their own mean are all 0 or 1.
    flags = (largest == 1.0) & (np.abs(deviation**2 + mean**2 - mean) < 1e-9)
    return Scaling("standard", np.where(flags, 0.0, mean), np.where(varies & ~flags, deviation, 1.0))


def standardize(table: Table) -> Scaling:
    """Every column to mean 0 and deviation 1; constant columns to 0."""
    mean, deviation, _ = engine.describe_columns(table.rows)
    return Scaling("standard", mean, np.where(_varies(mean, deviation), deviation, 1.0))


def typical_squared_norm(table: Table) -> float:
    """The median of ‖x‖² over rows from all over the table: a few giants do not change it."""
    rows = np.arange(0, table.count, max(1, table.count // ROWS_MEASURED))
    if table.sparse:
        some = table.csr().select(rows)
        of_row = np.repeat(np.arange(len(rows)), np.diff(some.indptr))
        norms = np.bincount(of_row, some.data.astype(np.float64) ** 2, len(rows))
    else:
        norms = (table.values[rows].astype(np.float64) ** 2).sum(axis=1)
    return float(np.median(norms))


def describe_scaling(scaling: Scaling | None) -> str:
    """What was done to the columns, in words."""
    return "columns not scaled further" if scaling is None else f"columns scaled ({scaling.kind})"


def _varies(mean: NDArray[np.float64], deviation: NDArray[np.float64]) -> NDArray[np.bool_]:
    varies: NDArray[np.bool_] = deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return varies


def _mean_sizes(table: Table) -> NDArray[np.float64]:
    """The mean absolute value of each column, zeros apart."""
    values = table.values
    sums = np.bincount(values.indices, np.abs(values.data), table.features)
    return sums / np.maximum(np.bincount(values.indices, values.data != 0, table.features), 1)


def _uneven(sizes: NDArray[np.float64]) -> bool:
    present = sizes[sizes > 0]
    return bool(len(present) and present.max() > MOST_UNEVEN * _median(present))


def _median(sizes: NDArray[np.float64]) -> float:
    """The lower one of the two in the middle."""
    return float(np.sort(sizes)[(len(sizes) - 1) // 2])
