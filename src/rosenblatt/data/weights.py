"""As how many rows weighted rows count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
