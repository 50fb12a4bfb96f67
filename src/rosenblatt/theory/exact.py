"""Exact arithmetic: floats as the rationals they are, and linear systems in integers.

Invariant: nothing in this module rounds unless its name says in which direction.

References
----------
E. H. Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination, Math. Comp. 22 (1968).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Number = int | float | Fraction
Floats = NDArray[np.float64]
Whole = NDArray[np.object_]  # of Python integers


def shift_of(values: Floats) -> int:
    """The smallest ``s >= 0`` for which every value times ``2**s`` is an integer.

    >>> shift_of(np.array([0.5, 3.0, -0.125]))
    3
    """
    mantissa, exponent = _parts(values[values != 0])
    lowest = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
    return int(-(exponent + lowest).min(initial=0))


def integers(values: Floats, shift: int) -> Whole:
    """Every value times ``2**shift``, as Python integers; `shift` is at least :func:`shift_of` the values.

    >>> integers(np.array([0.5, 3.0]), 1).tolist()
    [1, 6]
    """
    with np.errstate(over="ignore"):
        scaled = np.ldexp(values, shift)
    if np.abs(scaled).max(initial=0) < 2.0**62:
        return scaled.astype(np.int64).astype(object)
    mantissa, exponent = _parts(values)
    up = np.where(values == 0, 0, exponent + shift)
    left, right = np.maximum(up, 0), np.maximum(-up, 0)
    return np.asarray((mantissa.astype(object) << left.astype(object)) >> right.astype(object))


def fractions(values: Any) -> list[Fraction]:
    """Floats, integers or fractions as fractions."""
    return [Fraction(value) for value in np.asarray(values, dtype=object).ravel().tolist()]


def whole(values: Sequence[Fraction]) -> list[int]:
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
    n, d = square.numerator, square.denominator
    shift = max(0, 64 - (n.bit_length() - d.bit_length()) // 2)
    root = Fraction(math.isqrt((n << 2 * shift) // d), 1 << shift)  # rounded down, to more bits than floats have
    try:
        nearest = float(root)
    except OverflowError:
        return sys.float_info.max
    return nearest if Fraction(nearest) ** 2 <= square else math.nextafter(nearest, 0.0)


def sqrt_up(square: Fraction) -> float:
    """The smallest float whose square is at least `square`; ``inf`` if none is.

    >>> sqrt_up(Fraction(9, 4))
    1.5
    """
    root = sqrt_down(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)


def combine(shares: Sequence[Fraction], Z: Whole) -> list[Fraction]:
    """The sum of the rows of Z, each times its share."""
    common = math.lcm(*(s.denominator for s in shares))
    numerators = np.array([s.numerator * (common // s.denominator) for s in shares], dtype=object)
    return [Fraction(value, common) for value in (numerators @ Z).tolist()]


def load_flint() -> Any | None:
    """python-flint, or None if it is not installed."""
    try:
        import flint
    except ImportError:
        return None
    return flint


def solve_seconds(Z: Whole) -> float:
    """About how long :func:`solve_ones` of Z takes."""
    n, m = map(int, Z.shape)
    bits = 2 * int(max(Z.max(initial=0), -Z.min(initial=0))).bit_length() + m.bit_length()
    if load_flint() is not None:
        return 7e-10 * bits * n**3 + 2e-9 * n**2 * m
    return (1e-7 + 4e-10 * bits * n) * n**3 / 3 + 1e-7 * n**2 * m


def solve_ones(Z: Whole) -> tuple[list[Fraction] | None, list[Fraction]]:
    """The x with ``A x = 1``, and []; if A is singular, None, and a ``v != 0`` with ``A v = 0``.

    A holds the products of all rows of Z with one another. By python-flint if it is installed, else by Bareiss's
    elimination, in which every division is exact.

    >>> solve_ones(np.array([[1, 0, 1], [0, 1, 1]], dtype=object))
    ([Fraction(1, 3), Fraction(1, 3)], [])
    """
    flint = load_flint()
    if flint is None:
        return _eliminate(np.asarray(Z @ Z.T))
    M = flint.fmpz_mat(Z.tolist())
    A = M * M.transpose()
    try:
        x = A.solve(flint.fmpz_mat([[1]] * len(Z)))
    except ZeroDivisionError:
        basis, _ = A.nullspace()
        return None, [Fraction(int(basis[i, 0])) for i in range(len(Z))]
    return [Fraction(int(x[i, 0].p), int(x[i, 0].q)) for i in range(len(Z))], []


def _eliminate(A: Whole) -> tuple[list[Fraction] | None, list[Fraction]]:
    n = len(A)
    M = np.hstack([A, np.full((n, 1), 1, dtype=object)])
    previous = 1
    for k in range(n):
        pivots = np.flatnonzero(M[k:, k])
        if len(pivots) == 0:  # column k depends on the columns before it
            return None, [*_substitute(M[:k, :k], M[:k, k]), Fraction(-1), *[Fraction(0)] * (n - k - 1)]
        at = k + int(pivots[0])
        M[[k, at]] = M[[at, k]]
        M[k + 1 :, k + 1 :] = (M[k, k] * M[k + 1 :, k + 1 :] - np.outer(M[k + 1 :, k], M[k, k + 1 :])) // previous
        previous = M[k, k]
    return _substitute(M[:, :n], M[:, n]), []


def _substitute(U: Whole, b: Whole) -> list[Fraction]:
    """The solution of ``U x = b`` for the triangle of Bareiss's elimination, whose last pivot is the determinant."""
    determinant = U[-1, -1] if len(U) else 1
    x = np.zeros(len(U), dtype=object)
    for i in reversed(range(len(U))):
        x[i] = (determinant * b[i] - (U[i, i + 1 :] @ x[i + 1 :] if i + 1 < len(U) else 0)) // U[i, i]
    return [Fraction(value, determinant) for value in x.tolist()]


def _parts(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``values = mantissa * 2**exponent`` with integer mantissas of at most 53 bits."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(fraction, 53).astype(np.int64), exponent.astype(np.int64) - 53
