"""How sure a share of rows is."""

from __future__ import annotations

import math


def interval_of(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many rows, drawn independently.

    >>> [round(end, 4) for end in interval_of(0.9, 100)]
    [0.8256, 0.9448]
    """
    p, n, z = share, rows, 1.959963984540054
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)
