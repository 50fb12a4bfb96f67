"""The rows that a vote has stored, each once, and the updates made with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import Table
from rosenblatt.models.predictors import Updates, stack_rows, with_columns


@dataclass(frozen=True)
class Remembered:
    """Updates in order, each naming one of the stored rows. What is here is never changed, only followed by more."""

    rows: Any = None  # an array or CSR array; None before the first update
    updates: Updates = Updates.none()

    def followed_by(self, table: Table, updates: Updates, places: NDArray[np.int64]) -> Remembered:
        """With updates that name rows of a table; `places` says where each is stored already (-1: not yet)."""
        if not len(updates):
            return self
        rows, new = self.rows, np.unique(updates.which[places[updates.which] < 0])
        if len(new):
            places[new] = (0 if rows is None else rows.shape[0]) + np.arange(len(new))
            rows = stack_rows(rows, table.take(new))
        return Remembered(rows, self.updates.followed_by(updates.naming(places)))

    def with_features(self, features: int) -> Remembered:
        """The same over more features, or fewer."""
        return self if self.rows is None else Remembered(with_columns(self.rows, features), self.updates)

    def with_classes(self, mix: NDArray[np.float64]) -> Remembered:
        """The same with other classes."""
        return Remembered(self.rows, self.updates.mixed(mix))


NOTHING = Remembered()
