"""Floats as the rationals they are: integers over a common power of two, and square roots rounded on purpose.

Invariant: nothing in this module rounds unless its name says in which direction.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Number = int | float | Fraction


def shift_of(values: NDArray[np.float64]) -> int:
    """The smallest ``s >= 0`` for which every value times ``2**s`` is an integer.

    >>> shift_of(np.array([0.5, 3.0, -0.125]))
    3
    """
    nonzero = values[values != 0]
    if nonzero.size == 0:
        return 0
    mantissa, exponent = _parts(nonzero)
    lowest = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    return max(0, int(-(exponent + lowest).min()))


def integers(values: NDArray[np.float64], shift: int) -> NDArray[np.object_]:
    """Every value times ``2**shift``, as Python integers; `shift` is at least :func:`shift_of` the values.

    >>> integers(np.array([0.5, 3.0]), 1).tolist()
    [1, 6]
    """
    if values.size == 0:
        return np.empty(values.shape, dtype=object)
    with np.errstate(over="ignore"):
        scaled = np.ldexp(values, shift)
    if np.abs(scaled).max() < 2.0**62:
        return scaled.astype(np.int64).astype(object)
    mantissa, exponent = _parts(values)
    # A value of 0 has the exponent of 1 here, so that no shift is negative without need.
    up = np.where(values == 0, 0, exponent + shift)
    left, right = np.maximum(up, 0), np.maximum(-up, 0)
    return np.asarray((mantissa.astype(object) << left.astype(object)) >> right.astype(object))


def fractions(values: Any) -> list[Fraction]:
    """Floats, integers or fractions as fractions."""
    return [v if isinstance(v, Fraction) else Fraction(v) for v in np.asarray(values, dtype=object).ravel().tolist()]


def whole(values: list[Fraction]) -> list[int]:
    """The same direction in coprime integers (all zeros stay zeros).

    >>> whole([Fraction(1, 2), Fraction(-3, 4)])
    [2, -3]
    """
    denominator = math.lcm(*(v.denominator for v in values))
    numerators = [v.numerator * (denominator // v.denominator) for v in values]
    divisor = math.gcd(*numerators) or 1
    return [n // divisor for n in numerators]


def sqrt_down(square: Fraction) -> float:
    """The largest float whose square is at most `square`.

    >>> sqrt_down(Fraction(2)) ** 2 < 2 < math.nextafter(sqrt_down(Fraction(2)), 2) ** 2
    True
    """
    root = _near_root(square)
    while Fraction(root) ** 2 > square:
        root = math.nextafter(root, 0.0)
    while (above := math.nextafter(root, math.inf)) < math.inf and Fraction(above) ** 2 <= square:
        root = above
    return root


def sqrt_up(square: Fraction) -> float:
    """The smallest float whose square is at least `square`; ``inf`` if none is.

    >>> sqrt_up(Fraction(9, 4))
    1.5
    """
    root = sqrt_down(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)


def _near_root(square: Fraction) -> float:
    # Scaled by an even power of two so that neither huge nor tiny squares leave the range of floats.
    half = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    scaled = square / (1 << 2 * half) if half >= 0 else square * (1 << -2 * half)
    try:
        return math.ldexp(math.sqrt(scaled), half)
    except OverflowError:
        return sys.float_info.max


def _parts(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``values = mantissa * 2**exponent`` with integer mantissas of at most 53 bits."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64) - 53
