"""The search for a certificate.

Invariant: a verdict leaves this module only after its own ``check`` has proved it; otherwise the answer is Unknown.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.errors import DataError
from rosenblatt.theory import exact
from rosenblatt.theory.certificate import Certificate, NotSeparable, Separable, Unknown, sealed
from rosenblatt.theory.nearest import Nearest, approach, mean_of, settle
from rosenblatt.theory.proof import Facts, squared_length
from rosenblatt.theory.rows import SignedRows, signed_rows
from rosenblatt.theory.separate import separate
from rosenblatt.theory.written import Interval

_LAST_UPDATES = 100_000  # of the last attempt to find any separating plane
_WIDE = 2_000  # numbers in the weights of all classes, above which pairs of classes are looked at first
_OF_PAIRS = 0.75  # of the budget


def certify(X: Any, y: ArrayLike, *, fit_intercept: bool = True, budget: float = 60.0) -> Certificate:
    """Decide whether the data are linearly separable, with a proof that can be checked again.

    The data are separable just when 0 lies outside the convex hull of the signed rows ``y_i (x_i, 1)``, and the
    best margin is the hull's distance from 0. Failing to converge proves nothing; this does. More than
    two classes are decided together, by Kesler's construction (one weight row a class, the highest score wins).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Taken as the rational numbers that its floats are.
    y : n labels of any two or more classes
        Of two, the larger in sorted order is +1.
    fit_intercept : bool
        With an offset (the default) or through the origin.
    budget : float
        Seconds after which the answer may be `Unknown`. One step of the search may run over it.

    Returns
    -------
    Separable | NotSeparable | Unknown
        True, False, and an error as a truth value.

    Notes
    -----
    Equal rows under two labels are looked for first. Of many wide classes, pairs are looked at next: what separates
    all classes separates any two of them, so two that no plane separates decide for all. Otherwise non-negative least
    squares on a working set of rows approaches the nearest point of the hull in floating point, and Wolfe's method in
    exact rational arithmetic settles what floats cannot (where python-flint is installed, sooner). If the budget ends
    both, a plane from :func:`separate` may still prove that the data are separable, with a wide interval.

    References
    ----------
    P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).
    C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23.
    P. Gordan, Über die Auflösung linearer Gleichungen mit reellen Coefficienten, Math. Annalen 6 (1873).

    Examples
    --------
    >>> from rosenblatt.theory import certify
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> AND = certify(X, [0, 0, 0, 1])
    >>> AND.mistake_bound, AND.check(X, [0, 0, 0, 1]), AND.check(X, [0, 0, 1, 1])
    (51, True, False)
    >>> print(certify(X, [0, 1, 1, 0]))
    not separable: these 4 signed rows, so weighted, sum to exactly 0
      1 x row 1
      1 x row 2
      1 x row 3
      1 x row 4
    """
    deadline = time.monotonic() + budget
    rows = signed_rows(X, y, fit_intercept)
    twins = rows.twins()
    if twins is not None:
        demands = _opposed(rows, *twins)
        return _not_separable(rows, demands, [Fraction(1)] * len(demands))
    if not rows.two and rows.dimension > _WIDE:
        pair = _not_separable_pair(rows, deadline - (1 - _OF_PAIRS) * budget)
        if pair is not None:
            return pair
    found = approach(rows, deadline)
    if found.lower > 0:
        verdict = _separable(rows, exact.fractions(found.vector), found.demands.tolist(), found.weights.tolist())
        if verdict is not None:
            return verdict
    nearest = settle(rows, found.demands, found.weights, deadline)
    if nearest is None:
        # The nearest point is too far off, but some separating plane may be near; it gives a wide interval.
        plane = _any_plane(rows)
        verdict = _separable(rows, plane, found.demands.tolist(), found.weights.tolist()) if plane else None
        if verdict is not None:
            return verdict
        upper = squared_length(rows, found.demands.tolist(), exact.fractions(found.weights))
        return Unknown(Interval(0.0, exact.sqrt_up(upper)), f"{budget:g} seconds were not enough", rows.fit_intercept)
    if any(nearest.point):
        return _exactly_separable(rows, nearest)
    return _not_separable(rows, nearest.demands, nearest.weights)


def _not_separable_pair(rows: SignedRows, deadline: float) -> NotSeparable | None:
    """A proof from two classes that no plane separates, those first that their means confuse most; None: none found.

    Signed rows of the two that combine to 0 also do so for all classes: each is a demand of its row against the other
    class, with the rows of the pair in the one's place and their opposites in the other's.
    """
    for one, other in _confused_pairs(rows):
        index = np.flatnonzero((rows.label == one) | (rows.label == other))
        label = (rows.label[index] == other).astype(np.int64)
        pair = SignedRows(rows.X[index], label, rows.classes[[one, other]], rows.fit_intercept)
        found = approach(pair, deadline)
        if found.lower > 0:
            continue
        nearest = settle(pair, found.demands, found.weights, deadline)
        if nearest is not None and not any(nearest.point):
            demands = [rows.demand(int(index[i]), one if label[i] else other) for i in nearest.demands]
            return _not_separable(rows, demands, nearest.weights)
        if time.monotonic() > deadline:
            return None
    return None


def _confused_pairs(rows: SignedRows) -> list[tuple[int, int]]:
    K = len(rows.classes)
    demands = np.flatnonzero(rows.margins(mean_of(rows)) <= 0)
    confused = np.zeros((K, K), np.int64)
    np.add.at(confused, (rows.label[rows.row(demands)], rows.wrong(demands)), 1)
    both = np.triu(confused + confused.T)
    order = np.argsort(-both, axis=None, kind="stable")[: np.count_nonzero(both)]
    return [(int(place) // K, int(place) % K) for place in order]


def _any_plane(rows: SignedRows) -> list[Fraction] | None:
    if not rows.two:
        return None
    try:
        plane = separate(rows.X, rows.label, fit_intercept=rows.fit_intercept, max_updates=_LAST_UPDATES)
    except DataError:  # values too large for the engine
        return None
    vector = [*plane.w.tolist(), plane.b][: rows.width]
    return exact.fractions(vector) if plane.converged else None


def _opposed(rows: SignedRows, first: int, second: int) -> list[int]:
    """The demands of two equal rows that contradict each other; a row of zeros without an offset contradicts itself."""
    if not rows.fit_intercept and rows.X.indptr[first] == rows.X.indptr[first + 1]:
        return [first * (len(rows.classes) - 1)]
    if rows.two:
        return [first, second]
    one, other = int(rows.label[first]), int(rows.label[second])
    return [rows.demand(first, other), rows.demand(second, one)]


def _not_separable(rows: SignedRows, demands: list[int], weights: list[Fraction]) -> NotSeparable:
    if squared_length(rows, demands, weights) != 0:
        raise AssertionError("a combination that is not 0 was taken for one")
    order = sorted(range(len(demands)), key=demands.__getitem__)
    whole = exact.whole(weights)
    chosen, wrong = _named(rows, [demands[i] for i in order])
    return sealed(NotSeparable(chosen, wrong, tuple(whole[i] for i in order), rows.fit_intercept), rows)


def _separable(
    rows: SignedRows, vector: list[Fraction], demands: list[int], weights: list[exact.Number]
) -> Separable | None:
    """The certificate for a vector that separates the rows, proved here; None if it does not."""
    facts = Facts.of(rows, exact.whole(vector))
    if facts.lowest <= 0:
        return None
    V = np.array(_floats(vector) or vector).reshape(-1, rows.width)
    w, b = (V[:, :-1], V[:, -1]) if rows.fit_intercept else (V, np.zeros(len(V)))
    upper = squared_length(rows, demands, exact.fractions(weights))
    chosen, wrong = _named(rows, demands)
    certificate = Separable(
        w=w[0] if rows.two else w,
        b=b[0] if rows.two else b,
        gamma=Interval(exact.sqrt_down(facts.squared_margin), exact.sqrt_up(upper)),
        radius=exact.sqrt_up(facts.squared_radius),
        mistake_bound=facts.mistake_bound,
        rows=chosen,
        wrong=wrong,
        weights=tuple(weights),
        fit_intercept=rows.fit_intercept,
    )
    return sealed(certificate, rows)


def _exactly_separable(rows: SignedRows, nearest: Nearest) -> Separable:
    """From the nearest point itself: in floats if they still separate the rows, else in fractions."""
    largest = max(map(abs, nearest.point))
    rounded = [Fraction(float(p / largest)) for p in nearest.point]
    weights: list[exact.Number] = [float(s) for s in nearest.weights]
    if min(weights) > 0:
        verdict = _separable(rows, rounded, nearest.demands, weights)
        if verdict is not None and verdict.gamma.width < 1e-6:
            return verdict
    verdict = _separable(rows, nearest.point, nearest.demands, list(nearest.weights))
    if verdict is None:
        raise AssertionError("the nearest point is not 0, and yet it separates nothing")
    return verdict


def _floats(vector: list[Fraction]) -> list[float] | None:
    """The same numbers as floats, if they are floats."""
    try:
        floats = [float(v) for v in vector]
    except OverflowError:
        return None
    return floats if all(Fraction(f) == v for f, v in zip(floats, vector, strict=True)) else None


def _named(rows: SignedRows, demands: list[int]) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    numbers = np.array(demands, dtype=np.int64)
    chosen = tuple(rows.row(numbers).tolist())
    return chosen, None if rows.two else tuple(rows.wrong(numbers).tolist())
