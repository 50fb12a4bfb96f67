"""The means and scales of number columns, in one pass over the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.columns import ColumnEncoder


@dataclass
class Moments:
    """The means and scales of number columns, piece after piece (Chan, Golub and LeVeque 1979)."""

    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, encoder: ColumnEncoder) -> Moments:
        return cls(*(np.zeros(len(encoder.numbers)) for _ in range(3)))

    def add(self, encoder: ColumnEncoder, table: Any) -> None:
        for j, column in enumerate(encoder.numbers):
            values = encoder.numbers_in(table, column)
            self._merge(j, values[~np.isnan(values)])

    def _merge(self, j: int, values: NDArray[np.float64]) -> None:
        if not len(values):
            return
        mean = values.mean()
        total, apart = self.count[j] + len(values), mean - self.mean[j]
        self.squares[j] += ((values - mean) ** 2).sum() + apart**2 * self.count[j] * len(values) / total
        self.mean[j] += apart * len(values) / total
        self.count[j] = total

    def joined(self, later: Moments) -> Moments:
        """Of both, as if they had been found in one pass."""
        total = self.count + later.count
        apart, share = later.mean - self.mean, later.count / np.maximum(total, 1.0)
        squares = self.squares + later.squares + apart**2 * self.count * share
        return Moments(total, self.mean + apart * share, squares)

    def put_into(self, encoder: ColumnEncoder) -> ColumnEncoder:
        """The encoder with these means and scales, to nine digits: more would only be the noise of summation."""
        numbers = iter(range(len(encoder.numbers)))
        columns = []
        for column in encoder.columns:
            if column.kind == "number":
                j = next(numbers)
                scale = np.sqrt(self.squares[j] / self.count[j]) if self.count[j] else 1.0
                scale = scale if scale > 1e-12 * abs(self.mean[j]) else 1.0
                column = replace(column, mean=float(f"{self.mean[j]:.9g}"), scale=float(f"{scale:.9g}") or 1.0)
            columns.append(column)
        return replace(encoder, columns=tuple(columns))
