"""How sure a share of rows is, and as how many rows weighted ones count."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def interval_of(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many rows, drawn independently.

    >>> [round(end, 4) for end in interval_of(0.9, 100)]
    [0.8256, 0.9448]
    """
    p, n, z = share, rows, 1.959963984540054
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def as_counts(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights in proportion, their sum being the effective number of rows: ``(sum w)² / sum w²``.

    So many rows of equal weight say as much as these (L. Kish, Survey Sampling, 1965); the unit of weights is gone.
    """
    shares = weights / weights.max()
    counts: NDArray[np.float64] = shares * (shares.sum() / np.square(shares).sum())
    return counts


def effective_rows(weights: NDArray[np.float64] | None, rows: int) -> float:
    """As how many rows of equal weight so many rows count: all of them where they have no weights."""
    return float(rows) if weights is None or not rows else float(as_counts(weights).sum())
