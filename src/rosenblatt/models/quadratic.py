"""Weights over products of columns: a plane over the columns and their products is a curved boundary over the columns.

Invariant: a row's score depends on that row alone, and has the same bits on every CPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table
from rosenblatt.errors import ModelError
from rosenblatt.models.container import Tensors
from rosenblatt.models.linear import Linear
from rosenblatt.models.sound import check_columns, check_shapes, check_types

FARTHEST_VALUE = 5.0  # deviations from the mean; what lies farther counts as that far, since squares of it explode
TERMS_AT_ONCE = 1 << 20
MOST_COLUMNS = 1000  # to multiply: half a million terms


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
        columns, center, scale = (tensors[f"{prefix}{name}"] for name in ("columns", "center", "scale"))
        check_types([columns, center, scale], ["<i8", "<f8", "<f8"])
        check_shapes(columns.ndim == 1 and 0 < len(columns) <= MOST_COLUMNS)
        check_shapes(columns.shape == center.shape == scale.shape)
        check_columns(columns, features)
        if not (np.isfinite(center).all() and np.isfinite(scale).all() and (scale > 0).all()):
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
