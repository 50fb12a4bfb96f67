"""How far a regression is from its targets, over rows that come batch after batch.

Invariant: a row counts with its weight in every figure; memory does not grow with the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.data.batch import RowBatch, measures_of
from rosenblatt.errors import DataError
from rosenblatt.models.model import Model


@dataclass(frozen=True)
class Distances:
    """Predictions beside targets; ``e`` is the prediction less the target.

    Parameters
    ----------
    count : rows, those of weight 0 not among them
    weight : what they weigh
    absolute : the mean of ``|e|``
    squared : the root of the mean of ``e²``
    bias : the mean of ``e``: above 0 if predictions are too large
    spread : the root mean square distance of the targets from their mean, the `squared` of always naming the mean
    """

    count: int
    weight: float
    absolute: float
    squared: float
    bias: float
    spread: float

    @property
    def r2(self) -> float | None:
        """The share of the targets' variance that is explained; None if they are all alike."""
        return 1.0 - (self.squared / self.spread) ** 2 if self.spread else None

    def verdict(self) -> str:
        """One sentence."""
        weight = "" if self.weight == self.count else f" of weight {self.weight:,.6g}"
        beside = "the targets are all alike" if self.r2 is None else f"R² {self.r2:.4f}"
        return (
            f"{self.absolute:.6g} off on average over {self.count:,} rows{weight}, root mean square "
            f"{self.squared:.6g}; always naming their mean is {self.spread:.6g} off, root mean square ({beside})."
        )

    def render_text(self) -> str:
        """The sentence, and the figures by their names."""
        names = {"mean absolute error": self.absolute, "root mean squared error": self.squared, "bias": self.bias}
        names |= {} if self.r2 is None else {"R²": self.r2}
        return "\n".join([self.verdict(), "", *(f"{name:<24}{value:.6g}" for name, value in names.items())])

    def to_json(self) -> dict[str, Any]:
        found = {
            "rows": self.count,
            "weight": None if self.weight == self.count else self.weight,
            "mean_absolute_error": self.absolute,
            "root_mean_squared_error": self.squared,
            "bias": self.bias,
            "spread": self.spread,
            "r2": self.r2,
            "verdict": self.verdict(),
        }
        return {name: value for name, value in found.items() if value is not None}


def measure_batches(model: Model, batches: Iterable[RowBatch]) -> Distances:
    """Predict every row of the batches, and measure how far off the predictions are."""
    count, sums, origin = 0, np.zeros(6), None
    for batch in batches:
        targets = np.append(measures_of(batch.labels), np.nan)[batch.codes]
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        off = model.batch_scores(batch)[:, 0] - targets
        if origin is None:
            origin = float(targets[0])  # near the targets, so that their squares lose no digits
        count += int((weights > 0).sum())
        around = targets - origin
        for k, values in enumerate((np.ones(len(off)), np.abs(off), off**2, off, around, around**2)):
            sums[k] += math.fsum(weights * values)
    if not count:
        raise DataError("the data has no rows")
    weight, absolute, squares, bias, first, second = sums.tolist()
    spread = math.sqrt(max(0.0, second / weight - (first / weight) ** 2))
    return Distances(count, weight, absolute / weight, math.sqrt(squares / weight), bias / weight, spread)
