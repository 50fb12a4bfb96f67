"""Isotonic regression: the rising steps closest to what was seen.

Invariant: thresholds and levels have the bits of scikit-learn's `IsotonicRegression`, which takes longer to load than
all of training on small data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SAME = float(np.finfo(np.float64).resolution)  # scores that lie closer are one


def rising_steps(scores: Floats, seen: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """The scores where the steps of the weighted least-squares fit begin and end, and their levels, from 0 to 1.

    Pool adjacent violators: M. J. Best, N. Chakravarti (1990), Active set algorithms for isotonic regression.

    Examples
    --------
    >>> at, levels = rising_steps(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 1.0, 0.0, 1.0]))
    >>> at.tolist(), levels.tolist()
    ([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 0.5, 1.0])
    """
    weights = np.ones(len(scores)) if weights is None else weights
    there = np.flatnonzero(weights > 0)
    order = there[np.lexsort((seen[there], scores[there]))]
    at, means, totals = _distinct(scores[order].tolist(), seen[order].tolist(), weights[order].tolist())
    levels = np.clip(_pooled(means, totals), 0.0, 1.0)
    ends = np.ones(len(levels), bool)
    ends[1:-1] = (levels[1:-1] != levels[:-2]) | (levels[1:-1] != levels[2:])
    return np.array(at)[ends], levels[ends]


def _distinct(scores: list[float], seen: list[float], weights: list[float]) -> tuple[list[float], ...]:
    """Equal scores as one: the mean of what was seen there, and its weight."""
    at, sums, totals = [scores[0]], [0.0], [0.0]
    for score, value, weight in zip(scores, seen, weights, strict=True):
        if score - at[-1] >= SAME:
            at.append(score)
            sums.append(0.0)
            totals.append(0.0)
        sums[-1] += value * weight
        totals[-1] += weight
    return at, [total / weight for total, weight in zip(sums, totals, strict=True)], totals


def _pooled(means: list[float], weights: list[float]) -> Floats:
    """The means, those that fall pooled with their neighbors until all of them rise."""
    count, at = len(means), 0
    blocks: list[tuple[float, float, int]] = []  # each with its level, its weight, and where it ends
    while at < count:
        level, weight = means[at], weights[at]
        if blocks and blocks[-1][0] >= level:
            last, last_weight, _ = blocks.pop()
            total = last_weight * last + weight * level
            weight += last_weight
            level = total / weight
            while at < count - 1 and level >= means[at + 1]:
                at += 1
                total += weights[at] * means[at]
                weight += weights[at]
                level = total / weight
            while blocks and blocks[-1][0] >= level:
                last, last_weight, _ = blocks.pop()
                total += last_weight * last
                weight += last_weight
                level = total / weight
        at += 1
        blocks.append((level, weight, at))
    ends = np.array([0, *(end for _, _, end in blocks)])
    return np.repeat([level for level, _, _ in blocks], np.diff(ends))
