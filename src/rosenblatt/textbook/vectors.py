"""Vectors as lists of floats: the three operations that everything is made of."""

from __future__ import annotations

from collections.abc import Sequence

Vector = list[float]


def dot(w: Sequence[float], x: Sequence[float]) -> float:
    """The sum of the products, from left to right.

    >>> dot([1.0, 2.0], [3.0, 4.0])
    11.0
    """
    total = 0.0
    for w_j, x_j in zip(w, x, strict=True):
        total += w_j * x_j
    return total


def plus(w: Sequence[float], tau: float, x: Sequence[float]) -> Vector:
    """The vector ``w + tau * x``.

    >>> plus([1.0, 1.0], 2.0, [0.0, 1.0])
    [1.0, 3.0]
    """
    return [w_j + tau * x_j for w_j, x_j in zip(w, x, strict=True)]


def extended(x: Sequence[float]) -> Vector:
    """The row with a constant 1 behind it: an offset is then one more weight.

    >>> extended([3.0, 4.0])
    [3.0, 4.0, 1.0]
    """
    return [*x, 1.0]
