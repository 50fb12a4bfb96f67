"""Linear systems in whole numbers, solved exactly.

A solution is found digit by digit in base p (Dixon): with the inverse of A modulo a prime p, each step gives one more
digit of every unknown, and enough digits give the fractions. All sums of a step fit in the 53 bits of a float, so
NumPy makes them. Where python-flint is installed, it solves the systems instead, in a third of the time.

Invariant: what is returned was multiplied out in whole numbers; a prime that misleads is noticed, and another taken.

References
----------
J. D. Dixon, Exact solution of linear equations using p-adic expansions, Numerische Mathematik 40 (1982).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.theory import exact

Whole = NDArray[np.object_]  # of Python integers
Floats = NDArray[np.float64]

_LARGEST_PRIME = 2**20 - 3  # its square times 8,192 is below 2**53
_FIRST_TRY = 8  # digits before the first attempt to read fractions


def load_flint() -> Any | None:
    """python-flint, or None where it is not installed."""
    try:
        import flint
    except ImportError:
        return None
    return flint


def seconds(n: int, bits: int) -> float:
    """How long a system of n unknowns with numbers of so many bits takes, roughly."""
    if load_flint() is not None:
        return 7e-10 * bits * n**3
    return (2e-9 * n + 6e-9 * bits) * bits * n**2


def gram(Z: Whole) -> Whole:
    """The products of all rows of Z with one another."""
    width = _width(Z.shape[1])
    return _product(_pieces(Z, width), _pieces(Z.T, width), width)


def combine(share: list[Fraction], Z: Whole) -> list[Fraction]:
    """The sum of the rows of Z, each times its share."""
    common = math.lcm(*(s.denominator for s in share))
    whole = np.array([s.numerator * (common // s.denominator) for s in share], dtype=object)
    return [Fraction(value, common) for value in (whole @ Z).tolist()]


def solve_ones(A: Whole) -> tuple[list[Fraction] | None, list[Fraction]]:
    """For a Gram matrix A: the x with ``A x = 1``, and []; if A is singular, None, and a ``v != 0`` with ``A v = 0``.

    >>> solve_ones(np.array([[2, 1], [1, 3]], dtype=object))
    ([Fraction(2, 5), Fraction(1, 5)], [])
    >>> solve_ones(np.array([[1, 2], [2, 4]], dtype=object))
    (None, [Fraction(2, 1), Fraction(-1, 1)])
    """
    flint = load_flint()
    if flint is not None:
        try:
            found = flint.fmpz_mat(A.tolist()).solve(flint.fmpz_mat([[1]] * len(A)))
        except ZeroDivisionError:
            pass  # singular: the digits below say how
        else:
            return [Fraction(int(found[i, 0].p), int(found[i, 0].q)) for i in range(len(A))], []
    for p in _primes():
        inverse, independent = _inverse(A, p)
        if inverse is not None:
            return _lift(A, np.full(len(A), 1, dtype=object), inverse, p), []
        # Modulo p, column number `independent` is a sum of those before it. If it truly is, here is how.
        head = A[:independent, :independent]
        inverse, _ = _inverse(head, p)
        if independent == 0 or inverse is None:
            continue
        x = _lift(head, A[:independent, independent], inverse, p)
        v = [*x, Fraction(-1), *[Fraction(0)] * (len(A) - independent - 1)]
        if not (A @ np.array(exact.whole(v), dtype=object)).any():
            return None, v
    raise AssertionError("no prime is left")


def _lift(A: Whole, b: Whole, inverse: Floats, p: int) -> list[Fraction]:
    """The solution of ``A x = b``, from the inverse of A modulo p."""
    width = _width(len(A))
    pieces = _pieces(A, width)
    digits: list[NDArray[np.int64]] = []
    rest, wanted = b, _FIRST_TRY
    while True:
        while len(digits) < wanted:
            x = inverse @ (rest % p).astype(np.float64) % p
            digits.append(x.astype(np.int64))
            rest = (rest - _product(pieces, [x], width)) // p
        found = _fractions(digits, p)
        if found is not None:
            values, denominator = found
            if (A @ values == denominator * b).all():
                return [Fraction(value, denominator) for value in values.tolist()]
        wanted *= 2


def _fractions(digits: list[NDArray[np.int64]], p: int) -> tuple[Whole, int] | None:
    """Numerators and their common denominator, if the digits are those of fractions of at most half as many digits."""
    parts, modulus = [digit.astype(object) for digit in digits], p
    while len(parts) > 1:  # their number is a power of two
        parts = [low + modulus * high for low, high in zip(parts[::2], parts[1::2], strict=True)]
        modulus *= modulus
    values = parts[0]
    limit = math.isqrt(modulus // 2)
    denominator = 1
    for value in values.tolist():
        _, extra = _fraction(value * denominator % modulus, modulus, limit)
        denominator *= extra
        if denominator > limit:
            return None
    numerators = values * denominator % modulus
    return np.where(numerators > modulus // 2, numerators - modulus, numerators), denominator


def _fraction(value: int, modulus: int, limit: int) -> tuple[int, int]:
    """The numerator, at most `limit`, and the positive denominator of the fraction that is `value` modulo `modulus`."""
    if modulus - value <= limit:
        return value - modulus, 1
    above, below = modulus, value
    s_above, s_below = 0, 1
    while below > limit:
        quotient = above // below
        above, below = below, above - quotient * below
        s_above, s_below = s_below, s_above - quotient * s_below
    return (below, s_below) if s_below > 0 else (-below, -s_below)


def _inverse(A: Whole, p: int) -> tuple[Floats | None, int]:
    """The inverse modulo p, and how many of the first columns are independent modulo p."""
    n = len(A)
    M = np.hstack([(A % p).astype(np.int64), np.eye(n, dtype=np.int64)])
    for k in range(n):
        pivots = np.flatnonzero(M[k:, k])
        if len(pivots) == 0:
            return None, k
        at = k + int(pivots[0])
        M[[k, at]] = M[[at, k]]
        # Columns before k are done, and columns beyond n + k of the right half are still those of the identity.
        M[k, k:] = M[k, k:] * pow(int(M[k, k]), -1, p) % p
        factor = M[:, k].copy()
        factor[k] = 0
        M[:, k:] = (M[:, k:] - factor[:, None] * M[k, k:]) % p
    return M[:, n:].astype(np.float64), n


def _width(terms: int) -> int:
    """Bits of pieces such that a sum of so many products of them, and of digits in base p, is exact in a float."""
    return min(20, (52 - max(terms, 1).bit_length()) // 2)


def _pieces(values: Whole, width: int) -> list[Floats]:
    """``values = sum pieces[i] 2**(i width)``, every piece below ``2**width`` in size."""
    pieces: list[Floats] = []
    while True:
        if values.size == 0 or max(abs(values.min()), abs(values.max())) < 1 << width:
            return [*pieces, values.astype(np.float64)]
        pieces.append((values & ((1 << width) - 1)).astype(np.float64))
        values = values >> width


def _product(left: list[Floats], right: list[Floats], width: int) -> Whole:
    """The matrix product of what the pieces stand for."""
    total: Any = 0
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            total = total + ((a @ b).astype(np.int64).astype(object) << (width * (i + j)))
    return np.asarray(total, dtype=object)


def _primes() -> Iterator[int]:
    """Primes of 20 bits, the largest first."""
    for p in range(_LARGEST_PRIME, 2, -2):
        if all(p % d for d in range(3, math.isqrt(p) + 1, 2)):
            yield p
