"""Chapter 2: steps whose length depends on the loss, weights that shrink, and a variance for every weight."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rosenblatt.textbook.vectors import Vector, dot, plus


def passive_aggressive_step(loss: float, q: float, variant: str = "PA", C: float = 1.0) -> float:
    """The step length ``tau`` for a loss and ``q = ‖x‖²``: ``l/q``, ``min(C, l/q)`` or ``l/(q + 1/(2C))``.

    >>> [passive_aggressive_step(1.0, 2.0, variant, C=0.25) for variant in ("PA", "PA-I", "PA-II")]
    [0.5, 0.25, 0.25]
    """
    if variant not in ("PA", "PA-I", "PA-II"):
        raise ValueError(f"unknown rule {variant!r}")
    return {"PA": loss / q, "PA-I": min(C, loss / q), "PA-II": loss / (q + 1 / (2 * C))}[variant]


def passive_aggressive(
    X: Sequence[Sequence[float]], y: Sequence[int], T: int, variant: str = "PA", C: float = 1.0
) -> Vector:
    """PA: the smallest change of ``w`` that gives the row a margin of 1; C limits it.

    The loss is the hinge loss ``l = max(0, 1 - y w·x)``, the step that of :func:`passive_aggressive_step`.

    >>> passive_aggressive([[2.0, 0.0]], [+1], T=1)
    [0.5, 0.0]
    """
    w = [0.0] * len(X[0])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            loss, q = max(0.0, 1.0 - y_i * dot(w, x_i)), dot(x_i, x_i)
            if loss > 0 and q > 0:
                w = plus(w, passive_aggressive_step(loss, q, variant, C) * y_i, x_i)
    return w


def passive_aggressive_regression(
    X: Sequence[Sequence[float]],
    y: Sequence[float],
    T: int,
    variant: str = "PA",
    C: float = 1.0,
    epsilon: float = 0.1,
) -> Vector:
    """PA for numbers: the smallest change of ``w`` that brings the prediction within epsilon of the target.

    With the loss ``l = max(0, |y - w·x| - epsilon)`` the steps are those of `passive_aggressive`, towards ``y``.

    >>> passive_aggressive_regression([[2.0, 0.0]], [1.1], T=1, epsilon=0.1)
    [0.5, 0.0]
    """
    w = [0.0] * len(X[0])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            away, q = y_i - dot(w, x_i), dot(x_i, x_i)
            loss = max(0.0, abs(away) - epsilon)
            if loss > 0 and q > 0:
                w = plus(w, math.copysign(passive_aggressive_step(loss, q, variant, C), away), x_i)
    return w


def shrunk(w: Sequence[float], shrink: float, cut: float) -> Vector:
    """Every weight towards 0: ``|w_j|`` becomes ``shrink |w_j| - cut``, or 0 where that is not above 0.

    >>> shrunk([1.0, -2.0, 0.25], shrink=0.5, cut=0.25)
    [0.25, -0.75, 0.0]
    """
    sizes = [shrink * abs(w_j) - cut for w_j in w]
    return [math.copysign(size, w_j) if size > 0 else 0.0 for size, w_j in zip(sizes, w, strict=True)]


def penalized_perceptron(
    X: Sequence[Sequence[float]], y: Sequence[int], T: int, penalty: str, alpha: float, l1_ratio: float = 0.15
) -> tuple[Vector, float]:
    """The perceptron with a penalty: after each row every weight shrinks, and the offset does not.

    "l2" takes the share ``alpha`` of every weight, "l1" takes ``alpha`` itself and stops at 0, so that a weight nobody
    needs is truly zero; "elasticnet" takes ``l1_ratio`` of the one and the rest of the other.

    >>> penalized_perceptron([[1.0, 0.25], [-1.0, 0.25]], [+1, -1], T=1, penalty="l1", alpha=0.5)
    ([1.0, 0.0], 0.0)
    """
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}[penalty]
    w, b = [0.0] * len(X[0]), 0.0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (dot(w, x_i) + b) <= 0:
                w = plus(w, y_i, x_i)
                b += y_i
            w = shrunk(w, 1 - (1 - ratio) * alpha, ratio * alpha)
    return w, b


def arow(X: Sequence[Sequence[float]], y: Sequence[int], T: int, r: float = 1.0) -> tuple[Vector, Vector]:
    """AROW with a diagonal covariance: every weight has a variance, 1 at first, that falls as it is used.

    On a margin below 1, with ``v = sum Σ_j x_j²`` and ``β = 1/(v + r)``: ``w_j += (1 - m) β y Σ_j x_j`` and
    ``Σ_j -= β (Σ_j x_j)²``. Returns the weights and their variances.

    >>> arow([[1.0, 0.0], [1.0, 1.0]], [+1, +1], T=1)
    ([0.6, 0.2], [0.4, 0.6])
    """
    w, variances = [0.0] * len(X[0]), [1.0] * len(X[0])
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            (w,), (variances,), _ = arow_step([w], [variances], [(0, y_i)], x_i, y_i * dot(w, x_i), r)
    return w, variances


def arow_step(
    W: list[Vector], V: list[Vector], moved: Sequence[tuple[int, int]], x: Sequence[float], margin: float, r: float
) -> tuple[list[Vector], list[Vector], float]:
    """Weights and variances after one example, and ``α = (1 - m) β``: 0 if nothing moved.

    `moved` are the weight rows that may move, each with its sign: with more classes the right row gains, the highest
    wrong row loses, and ``v`` is the sum over both.

    >>> arow_step([[0.0]], [[1.0]], [(0, +1)], [1.0], margin=0.0, r=1.0)
    ([[0.5]], [[0.5]], 0.5)
    """
    v = sum(V[k][j] * x[j] ** 2 for k, _ in moved for j in range(len(x)))
    if margin >= 1 or v == 0:
        return W, V, 0.0
    beta = 1.0 / (v + r)
    W, V = list(W), list(V)
    for k, sign in moved:
        W[k] = [W[k][j] + (1.0 - margin) * beta * sign * V[k][j] * x[j] for j in range(len(x))]
        V[k] = [V[k][j] - beta * (V[k][j] * x[j]) ** 2 for j in range(len(x))]
    return W, V, (1.0 - margin) * beta
