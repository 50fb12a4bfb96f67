"""The point of the hull of the signed rows that is nearest to 0.

Its distance from 0 is the best margin: every unit vector ``u`` and every convex combination ``p`` of the
signed rows ``z`` satisfy ``min u·z <= u·p <= ‖p‖``, and at the nearest point both sides meet with ``u = p/‖p‖``. So
any combination bounds the best margin from above, any vector from below, and where the nearest point is 0
itself no vector separates.

:func:`approach` finds the point in floating point and :func:`settle` in rational numbers.
Invariant: neither is trusted. What they return is proved, or refused, by the certificate made from it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt.theory import exact, systems
from rosenblatt.theory.rows import Floats, Integers, SignedRows

if TYPE_CHECKING:
    from scipy import sparse

_STEP = 200  # demands added to the working set at a time
_CLOSE = 1e-9  # relative gap between the two sides of the margin at which the search ends
_NNLS_RATE = 4e8  # products a second of one NNLS iteration, on the slow side
_WIDE = 4_000_000  # values up to which a wide working set is solved as it is
_EXACT_VALUES = 20_000_000  # values held as Python integers at most


@dataclass(frozen=True)
class Approach:
    """Both sides of the best margin, as far as floating point got them.

    The convex combination of `demands` with `weights` has the length `upper`; `vector` meets every demand with
    a margin of `lower` times its length (which is negative while it separates nothing).
    """

    demands: Integers
    weights: Floats
    upper: float
    vector: Floats
    lower: float


def approach(rows: SignedRows, deadline: float) -> Approach:
    """The nearest point by non-negative least squares on a growing working set.

    Minimizing ``‖sum μ_i z_i‖² + (1 - sum μ_i)²`` over ``μ >= 0`` gives the nearest point's weights times a factor,
    and Lawson and Hanson's active set leaves at most ``dimension + 1`` of them non-zero. Only demands that the
    last point met worst are in the set, so the cost grows with the number that matter, not with all.
    """
    largest = float(np.abs(rows.X.data).max(initial=0.0))
    if largest > 1e150:  # its square is no float: leave everything to exact arithmetic
        return Approach(np.zeros(1, dtype=np.int64), np.ones(1), np.inf, np.zeros(rows.dimension), -np.inf)
    scale = float(np.sqrt(rows.X.power(2).sum(axis=1).max() + rows.fit_intercept)) or 1.0
    vector = mean_of(rows) / scale
    margins = rows.margins(vector)
    working = np.argsort(margins, kind="stable")[:_STEP]
    Z = rows.take(working) / scale
    lengths = np.sqrt(Z.power(2).sum(axis=1))
    shortest = int(np.argmin(lengths))
    upper = float(lengths[shortest])
    found = Approach(working[[shortest]], np.ones(1), upper * scale, vector, _relative(margins, vector))
    while True:
        mu = _solve(Z, deadline)
        if mu is None:
            return found
        kept = np.flatnonzero(mu > 0)
        weights = mu[kept] / mu[kept].sum()
        vector = Z[kept].T @ weights
        upper = float(np.linalg.norm(vector))
        margins = rows.margins(vector)
        lower = _relative(margins, vector)
        if lower < found.lower:
            found = replace(found, demands=working[kept], weights=weights, upper=upper * scale)
        else:
            found = Approach(working[kept], weights, upper * scale, vector, lower)
        if lower >= found.upper * (1 - _CLOSE) or upper < 1e-12:
            return found
        worst = np.argsort(margins, kind="stable")[:_STEP]
        fresh = np.setdiff1d(worst[margins[worst] < upper**2 * scale * (1 - _CLOSE / 2)], working)
        if len(fresh) == 0:
            return found
        working = np.concatenate([working, fresh])
        from scipy import sparse

        Z = sparse.vstack([Z, rows.take(fresh) / scale], format="csr")


def _solve(Z: sparse.csr_array, deadline: float) -> Floats | None:
    """The weights of the nearest point of the hull of the rows of Z, times a factor; None if it is out of reach."""
    n, m = Z.shape
    if m <= 2 * n or n * m < _WIDE:
        A, b = np.vstack([Z.T.toarray(), np.ones(n)]), np.append(np.zeros(m), 1.0)
    else:
        # Far more columns than rows: the same problem through its n x n Gram matrix, at the price of half the digits.
        gram = (Z @ Z.T).toarray() + 1.0
        gram[np.diag_indices(n)] += 1e-14 * np.trace(gram)
        try:
            lower = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:  # the rows are too nearly dependent for half the digits
            return None
        from scipy.linalg import solve_triangular

        A, b = lower.T, solve_triangular(lower, np.ones(n), lower=True)
    most = int((deadline - time.monotonic()) * _NNLS_RATE / A.size)
    if most < 1:
        return None
    from scipy.optimize import nnls

    try:
        mu: Floats = nnls(A, b, maxiter=min(most, 30 * n))[0]
    except RuntimeError:  # out of iterations
        return None
    return mu if mu.any() else None


def _relative(margins: Floats, vector: Floats) -> float:
    length = float(np.linalg.norm(vector))
    return float(margins.min()) / length if length > 0 else -np.inf


def mean_of(rows: SignedRows) -> Floats:
    """The mean of all signed rows, a fair first direction."""
    K = len(rows.classes)
    if rows.two:
        share = rows.sign[:, None].astype(np.float64)
    else:
        share = np.where(np.arange(K) == rows.label[:, None], K - 1.0, -1.0)
    sums = np.asarray((rows.X.T @ share).T)
    if rows.fit_intercept:
        sums = np.hstack([sums, share.sum(axis=0)[:, None]])
    return np.asarray(sums.ravel() / rows.count)


@dataclass(frozen=True)
class Nearest:
    """The nearest point itself, in rational numbers; ``point`` is in the units of ``2**-shift``."""

    demands: list[int]
    weights: list[Fraction]
    point: list[Fraction]


def settle(rows: SignedRows, demands: Integers, weights: Floats, deadline: float) -> Nearest | None:
    """The nearest point by Wolfe's method in exact arithmetic, from a combination near it; None if out of time.

    Wolfe keeps affinely independent demands (a *corral*) whose affine nearest point has positive weights. While
    some demand is met worse than the point itself, it joins; while a weight is not positive, the point walks to the
    border and that demand leaves. Each corral is used once, so the walk ends; from a good start, at once.
    """
    corral = [int(i) for i in demands]
    share = exact.fractions(weights)
    share = [s / sum(share) for s in share]
    while True:
        columns, Z = rows.exact_take(np.array(corral, dtype=np.int64))
        if Z.size > _EXACT_VALUES:
            return None
        gram = systems.gram(Z)
        bits = max(value.bit_length() for value in gram.diagonal().tolist())
        if time.monotonic() + systems.seconds(len(corral), bits) > deadline:
            return None
        raw, dependence = systems.solve_ones(gram + 1)
        if raw is None:
            share = _walk(share, dependence)
            corral, share = _drop(corral, share)
            continue
        total = sum(raw)
        target = [r / total for r in raw]
        if min(target) <= 0:
            share = _walk(share, [t - s for t, s in zip(target, share, strict=True)])
            corral, share = _drop(corral, share)
            continue
        share = target
        point = [Fraction(0)] * rows.dimension
        for column, value in zip(columns.tolist(), systems.combine(share, Z), strict=True):
            point[column] = value
        if not any(point):
            return Nearest(corral, share, point)
        direction = exact.whole(point)
        margins = rows.exact_margins(direction)
        lowest = int(np.argmin(margins))
        # direction = c point with c > 0, so compare c (point·z) with c (point·point).
        own = sum(d * p for d, p in zip(direction, point, strict=True))
        if margins[lowest] >= own:
            return Nearest(corral, share, point)
        corral.append(lowest)
        share.append(Fraction(0))


def _walk(share: list[Fraction], step: list[Fraction]) -> list[Fraction]:
    """Go from `share` along `step` until the first weight is 0 (a step that lowers some weight)."""
    length = min(s / -d for s, d in zip(share, step, strict=True) if d < 0)
    return [s + length * d for s, d in zip(share, step, strict=True)]


def _drop(corral: list[int], share: list[Fraction]) -> tuple[list[int], list[Fraction]]:
    kept = [(c, s) for c, s in zip(corral, share, strict=True) if s > 0]
    return [c for c, _ in kept], [s for _, s in kept]
