"""The search for a certificate, and for any separating hyperplane.

The distance of the hull of the signed rows ``z`` from 0 is the best margin: every unit vector ``u`` and every convex
combination ``p`` of them satisfy ``min u·z <= u·p <= ‖p‖``, and at the point nearest to 0 both sides meet with
``u = p/‖p‖``. So any combination bounds the best margin from above, any vector from below, and if the nearest point is
0 itself, no vector separates.

Invariant: the search is never trusted. A verdict leaves this module after its exact proof, or it is Unknown.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt import engine
from rosenblatt.data.labels import encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.targets import Targets
from rosenblatt.learners.weights import WeightState
from rosenblatt.params import Rule, VotedPerceptronParams
from rosenblatt.theory import exact
from rosenblatt.theory.certificate import Certificate, Interval, NotSeparable, Separable, Unknown, squared_length
from rosenblatt.theory.exact import Floats
from rosenblatt.theory.margin import Constraints, make_constraints

if TYPE_CHECKING:
    from scipy import sparse

_LAST_UPDATES = 100_000  # of the last attempt to find any separating plane
_MANY_WEIGHTS = 2_000  # weights of all classes, above which pairs of classes are examined first
_SHARE_OF_PAIRS = 0.75  # of the budget
_STEP = 200  # constraints added to the working set at a time
_CLOSE = 1e-9  # relative gap between the two sides of the margin at which the search ends
_NNLS_RATE = 4e8  # products per second of one NNLS iteration, a low estimate
_GRAM_SIZE = 4_000_000  # values above which a wide working set is solved by its Gram matrix
_EXACT_VALUES = 20_000_000  # values held as Python integers at most


def certify(X: Any, y: ArrayLike, *, fit_intercept: bool = True, budget: float = 60.0) -> Certificate:
    """Decide whether the data are linearly separable, with a proof that can be checked again.

    The data are separable if and only if 0 lies outside the convex hull of the signed rows ``y_i (x_i, 1)``, and the
    best margin is the hull's distance from 0. Failing to converge proves nothing; a certificate does. More than
    two classes are decided together, by Kesler's construction (one weight row per class, the highest score wins).

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        Its floats count as the rational numbers that they are.
    y : n labels of any two or more classes
        Of two, the larger in sorted order is +1.
    fit_intercept : bool
        With an offset (the default) or through the origin.
    budget : float
        Seconds after which the answer may be `Unknown`, or `Separable` with a wide interval for the margin. One step
        of the search may exceed it.

    Returns
    -------
    Separable | NotSeparable | Unknown
        As booleans: True, False, and an error.

    Notes
    -----
    The search looks for equal rows under two labels first. With many weights in many classes, it examines pairs of
    classes next: weights that separate all classes separate any two, so one pair that no plane separates decides for
    all. Otherwise non-negative least squares on a working set of rows approaches the nearest point of the hull in
    floating point, and Wolfe's method in exact rational arithmetic finishes whatever floats leave open, until the
    interval is closed or the budget is spent. As a last resort, a plane from :func:`separate` may still prove that the
    data are separable, with a wide interval.

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
    not separable: this weighted sum of 4 signed rows y (x, 1) is exactly 0
      1 x row 1
      1 x row 2
      1 x row 3
      1 x row 4
    """
    deadline = time.monotonic() + budget
    constraints = make_constraints(X, y, fit_intercept)
    pair = constraints.contradictory_rows()
    if pair is not None:
        return _contradiction(constraints, *pair)
    if not constraints.is_binary and constraints.dimension > _MANY_WEIGHTS:
        verdict = _inseparable_pair(constraints, deadline - (1 - _SHARE_OF_PAIRS) * budget)
        if verdict is not None:
            return verdict
    found = _approach(constraints, deadline)
    wide = _separable(constraints, found.vector, found.chosen, found.weights) if found.lower > 0 else None
    if wide is not None and wide.gamma.width <= _CLOSE:
        return wide
    nearest = _nearest_point(constraints, found, deadline)
    if nearest is not None:
        return _exact_verdict(constraints, nearest)
    if wide is None and (plane := _any_plane(constraints)) is not None:
        wide = _separable(constraints, plane, found.chosen, found.weights)
    if wide is not None:
        return wide
    upper = exact.sqrt_up(squared_length(constraints, found.chosen, found.weights))
    return Unknown(Interval(0.0, upper), f"{budget:g} seconds were not enough", constraints.fit_intercept)


def _contradiction(constraints: Constraints, first: int, second: int) -> NotSeparable:
    """Two equal rows with different labels; one row of zeros without an offset contradicts itself."""
    if constraints.X.indptr[first] == constraints.X.indptr[first + 1]:
        return NotSeparable.prove(constraints, [first * (len(constraints.classes) - 1)], [Fraction(1)])
    one, other = int(constraints.label[first]), int(constraints.label[second])
    chosen = [constraints.constraint(first, other), constraints.constraint(second, one)]
    return NotSeparable.prove(constraints, chosen, [Fraction(1)] * 2)


def _inseparable_pair(constraints: Constraints, deadline: float) -> NotSeparable | None:
    """A proof from two classes that no plane separates; pairs that the class means confuse most come first.

    Signed rows of two classes that combine to 0 do so among all classes too: each is the constraint of its row against
    the other class, with the rows of the pair in one place and their opposites in the other.
    """
    K, label = len(constraints.classes), constraints.label
    confused = np.zeros((K, K), np.int64)
    row, terms = constraints.terms(np.flatnonzero(constraints.margins(_mean(constraints)) <= 0))
    np.add.at(confused, (label[row], terms[1][0]), 1)
    both = np.triu(confused + confused.T)
    for place in np.argsort(-both, axis=None, kind="stable")[: np.count_nonzero(both)].tolist():
        one, other = divmod(place, K)
        index = np.flatnonzero((label == one) | (label == other))
        positive = label[index] == other
        classes = constraints.classes[[one, other]]
        pair = Constraints(constraints.X[index], positive.astype(np.int64), classes, constraints.fit_intercept)
        found = _approach(pair, deadline)
        nearest = None if found.lower > 0 else _nearest_point(pair, found, deadline)
        if nearest is not None and not any(nearest.point):
            chosen = [constraints.constraint(int(index[i]), one if positive[i] else other) for i in nearest.chosen]
            return NotSeparable.prove(constraints, chosen, nearest.weights)
        if time.monotonic() > deadline:
            break
    return None


def _any_plane(constraints: Constraints) -> Floats | None:
    if not constraints.is_binary:
        return None
    try:
        plane = separate(constraints.X, constraints.label, fit_intercept=False, max_updates=_LAST_UPDATES)
    except DataError:  # values too large for the engine
        return None
    return plane.w if plane.converged else None


def _separable(constraints: Constraints, vector: Floats, chosen: list[int], weights: list[float]) -> Separable | None:
    """The certificate of a vector of floats; None if it does not separate the rows."""
    try:
        return Separable.prove(constraints, vector.tolist(), chosen, weights)
    except DataError:
        return None


def _exact_verdict(constraints: Constraints, nearest: _NearestPoint) -> Separable | NotSeparable:
    """From the nearest point itself: in floats if they lose nothing that matters, else in fractions."""
    if not any(nearest.point):
        return NotSeparable.prove(constraints, nearest.chosen, nearest.weights)
    largest = max(map(abs, nearest.point))
    rounded = np.array([float(p / largest) for p in nearest.point])
    verdict = _separable(constraints, rounded, nearest.chosen, [float(s) for s in nearest.weights])
    if verdict is not None and verdict.gamma.width <= _CLOSE:
        return verdict
    return Separable.prove(constraints, nearest.point, nearest.chosen, nearest.weights)


@dataclass(frozen=True)
class _Approach:
    """Both sides of the best margin in floating point.

    The convex combination of the constraints `chosen` with `weights` has the length `upper`; `vector` satisfies every
    constraint with a margin of `lower` times its length (negative while it does not separate).
    """

    chosen: list[int]
    weights: list[float]
    upper: float
    vector: Floats
    lower: float


def _approach(constraints: Constraints, deadline: float) -> _Approach:
    """The nearest point by non-negative least squares on a growing working set.

    Minimizing ``‖sum μ_i z_i‖² + (1 - sum μ_i)²`` over ``μ >= 0`` gives the nearest point's weights times a factor,
    and Lawson and Hanson's active set leaves at most ``dimension + 1`` of them non-zero. The working set holds only the
    constraints that the last points violated most, so the cost grows with the number that matter, not with all.
    """
    from scipy import sparse

    if float(np.abs(constraints.X.data).max(initial=0.0)) > 1e150:  # squares overflow: leave it to exact arithmetic
        return _Approach([0], [1.0], np.inf, np.zeros(constraints.dimension), -np.inf)
    scale = float(np.sqrt(constraints.X.power(2).sum(axis=1).max())) or 1.0
    vector = _mean(constraints) / scale
    margins = constraints.margins(vector)
    working = np.argsort(margins, kind="stable")[:_STEP]
    Z = constraints.take(working) / scale
    lengths = np.sqrt(Z.power(2).sum(axis=1))
    shortest = int(np.argmin(lengths))
    upper = float(lengths[shortest])
    found = _Approach([int(working[shortest])], [1.0], upper * scale, vector, _relative(margins, vector))
    while (mu := _nearest_weights(Z, deadline)) is not None:
        positive = np.flatnonzero(mu > 0)
        weights = mu[positive] / mu[positive].sum()
        vector = Z[positive].T @ weights
        upper = float(np.linalg.norm(vector))
        margins = constraints.margins(vector)
        lower = _relative(margins, vector)
        best = (vector, lower) if lower >= found.lower else (found.vector, found.lower)
        found = _Approach(working[positive].tolist(), weights.tolist(), upper * scale, *best)
        worst = np.argsort(margins, kind="stable")[:_STEP]
        fresh = np.setdiff1d(worst[margins[worst] < upper**2 * scale * (1 - _CLOSE / 2)], working)
        if lower >= found.upper * (1 - _CLOSE) or upper < 1e-12 or len(fresh) == 0:
            break
        working = np.concatenate([working, fresh])
        Z = sparse.vstack([Z, constraints.take(fresh) / scale], format="csr")
    return found


def _nearest_weights(Z: sparse.csr_array, deadline: float) -> Floats | None:
    """The weights of the nearest point of the hull of the rows of Z, times a factor; None if out of reach."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls

    n, m = Z.shape
    if m <= 2 * n or n * m < _GRAM_SIZE:
        A, b = np.vstack([Z.T.toarray(), np.ones(n)]), np.append(np.zeros(m), 1.0)
    else:
        # Far more columns than rows: the same problem through its n x n Gram matrix, at the price of half the digits.
        gram = (Z @ Z.T).toarray() + 1.0
        gram[np.diag_indices(n)] += 1e-14 * np.trace(gram)
        try:
            lower = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:  # the rows are too nearly dependent for half the digits
            return None
        A, b = lower.T, solve_triangular(lower, np.ones(n), lower=True)
    most = int((deadline - time.monotonic()) * _NNLS_RATE / A.size)
    if most < 1:
        return None
    try:
        mu: Floats = nnls(A, b, maxiter=min(most, 30 * n))[0]
    except RuntimeError:  # out of iterations
        return None
    return mu if mu.any() else None


def _relative(margins: Floats, vector: Floats) -> float:
    length = float(np.linalg.norm(vector))
    return float(margins.min()) / length if length > 0 else -np.inf


def _mean(constraints: Constraints) -> Floats:
    """The mean of all signed rows, a good first direction."""
    K, label = len(constraints.classes), constraints.label[:, None]
    share = 2.0 * label - 1 if constraints.is_binary else np.where(np.arange(K) == label, K - 1.0, -1.0)
    return np.asarray((constraints.X.T @ share).T.ravel() / constraints.count)


@dataclass(frozen=True)
class _NearestPoint:
    """The nearest point itself, in rational numbers; ``point`` is in units of ``2**-shift``."""

    chosen: list[int]
    weights: list[Fraction]
    point: list[Fraction]


def _nearest_point(constraints: Constraints, start: _Approach, deadline: float) -> _NearestPoint | None:
    """The nearest point by Wolfe's method in exact arithmetic, from a combination near it; None if out of time.

    Wolfe keeps affinely independent constraints (a *corral*) whose affine nearest point has positive weights. While the
    point violates some constraint, that one joins; while a weight is not positive, the point moves to the border and
    that constraint leaves. No corral comes twice, so the search ends; from a good start, at once.
    """
    corral = start.chosen
    share = _shares(exact.fractions(start.weights))
    while True:
        columns, Z = constraints.exact_take(np.array(corral, dtype=np.int64))
        if Z.size > _EXACT_VALUES or time.monotonic() + exact.solve_seconds(Z) > deadline:
            return None
        raw, step = exact.solve_ones(np.append(Z, [[1]] * len(Z), axis=1))  # products plus 1
        target = None if raw is None else _shares(raw)
        if target is None or min(target) <= 0:
            if target is not None:
                step = [t - s for t, s in zip(target, share, strict=True)]
            length = min(s / -d for s, d in zip(share, step, strict=True) if d < 0)
            share = [s + length * d for s, d in zip(share, step, strict=True)]
            corral = [c for c, s in zip(corral, share, strict=True) if s > 0]
            share = [s for s in share if s > 0]
            continue
        share = target
        point = [Fraction(0)] * constraints.dimension
        for column, value in zip(columns.tolist(), exact.combine(share, Z), strict=True):
            point[column] = value
        direction = exact.whole(point)
        margins = constraints.exact_margins(direction)
        lowest = int(np.argmin(margins))
        # direction = c point with c > 0, so compare c (point·z) with c (point·point).
        if not any(point) or margins[lowest] >= sum(d * p for d, p in zip(direction, point, strict=True)):
            return _NearestPoint(corral, share, point)
        corral, share = [*corral, lowest], [*share, Fraction(0)]


def _shares(weights: list[Fraction]) -> list[Fraction]:
    """The weights divided by their sum."""
    total = sum(weights)
    return [weight / total for weight in weights]


@dataclass(frozen=True, eq=False)
class Separation:
    """The result of :func:`separate`.

    Attributes
    ----------
    w, b : weights and offset; they separate the rows if `converged`.
    converged : whether the last pass over all rows found every margin above 0.
    updates : steps taken, each on a mistake: at most ``R²/gamma²`` if the rows are separable.
    passes : over all rows, the last one to verify.
    visits : rows scored, in all.
    support : rows that were ever mistaken.

    Examples
    --------
    >>> found = separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> found.converged, found.w.shape
    (True, (2,))
    """

    w: NDArray[Any]
    b: float
    converged: bool
    updates: int
    passes: int
    visits: int
    support: int


def separate(X: Any, y: Any, *, fit_intercept: bool = True, max_updates: int = 10_000_000) -> Separation:
    """Find a hyperplane that separates two classes, if there is one, as soon as possible.

    The perceptron in a special order: it cycles over the rows that were ever mistaken until all of them are right, and
    scores all rows only to verify. The mistake bound holds for any order, so it holds here. Use it if any separating
    plane will do, and :func:`certify` for a proof or the best margin.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), float32 or float64 without a copy
    y : n labels of two classes
    fit_intercept : with an offset, or through the origin
    max_updates : give up after this many steps. Giving up proves nothing.

    Returns
    -------
    Separation

    Notes
    -----
    Margins are those of the engine, in the precision of X: a plane found for float32 rows is verified in float32.
    Cost: O(nnz) per pass over all rows; a cycle costs only the rows ever mistaken, which are contiguous in memory.

    Examples
    --------
    >>> from rosenblatt.theory import separate
    >>> plane = separate([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
    >>> plane.converged, plane.w.tolist(), plane.b
    (True, [3.0, 2.0], -4.0)
    """
    table, labels = as_table(X), encode_labels(y)
    if len(labels.codes) != table.count:
        raise DataError(f"X has {table.count} rows and y has {len(labels.codes)} labels")
    if len(labels.classes) != 2:
        raise LabelError(f"y has {len(labels.classes)} classes; a hyperplane separates two (certify decides more)")
    params = VotedPerceptronParams(fit_intercept=bool(fit_intercept))  # whose updates name the mistaken rows
    weights, generator = np.zeros((1, table.features), table.dtype), engine.seed_generator(0)
    state = WeightState.of(params, weights, np.zeros(1), generator)
    targets = Targets(labels.signs(), 1)
    every = state.begin_pass(table, targets, Rule())
    some = replace(state, keep="last").begin_pass(table, targets, Rule())  # on the same weights, and faster

    def learn(one: engine.Pass, order: NDArray[np.uint32] | None) -> bool:
        before = state.counter("updates")
        one.set_order(order)
        engine.run_passes([one])
        return state.counter("updates") > before

    support, is_known, passes, visits, converged = np.empty(0, np.uint32), np.zeros(table.count, bool), 0, 0, False
    while not converged and state.counter("updates") < max_updates:
        converged = not learn(every, None)
        passes, visits = passes + 1, visits + table.count
        if state.counter("mistakes") > state.counter("updates"):
            converged = False
            break  # a row of zeros without an offset stays at a score of 0
        mistaken = every.updates()[0]
        fresh = mistaken[~is_known[mistaken]]
        is_known[fresh] = True
        support = np.append(support, fresh.astype(np.uint32))
        moved = not converged
        while moved and state.counter("updates") < max_updates:
            moved, visits = learn(some, support), visits + len(support)
    updates = state.counter("updates")
    return Separation(state.weights[0], float(state.intercept[0]), converged, updates, passes, visits, len(support))
