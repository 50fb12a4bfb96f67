"""Chapter 3: a weight for each row instead of one for each feature."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from rosenblatt.textbook.vectors import dot

Kernel = Callable[[Sequence[float], Sequence[float]], float]


def polynomial(degree: int, coef0: float = 1.0, gamma: float = 1.0) -> Kernel:
    """The kernel ``(coef0 + gamma x·z)^degree``.

    >>> polynomial(2)([1.0, 0.0], [2.0, 5.0])
    9.0
    """
    return lambda x, z: (coef0 + gamma * dot(x, z)) ** degree


def rbf(gamma: float) -> Kernel:
    """The kernel ``exp(-gamma ‖x - z‖²)``.

    >>> rbf(1.0)([1.0], [1.0])
    1.0
    """
    return lambda x, z: math.exp(-gamma * sum((x_j - z_j) ** 2 for x_j, z_j in zip(x, z, strict=True)))


def kernel_perceptron(X: Sequence[Sequence[float]], y: Sequence[int], T: int, kernel: Kernel = dot) -> list[int]:
    """A weight a row: ``alpha_i`` counts the mistakes on row i, and ``w = sum_i alpha_i y_i x_i``.

    A mistake on the same row again is ``alpha_i += 1``, not a second copy of the row.

    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [-1, +1, +1, -1]
    >>> alpha = kernel_perceptron(X, y, T=100, kernel=polynomial(2))
    >>> [kernel_score(alpha, X, y, x, polynomial(2)) > 0 for x in X]
    [False, True, True, False]
    """
    alpha = [0] * len(X)
    for _ in range(T):
        for i, (x_i, y_i) in enumerate(zip(X, y, strict=True)):
            if y_i * kernel_score(alpha, X, y, x_i, kernel) <= 0:
                alpha[i] += 1
    return alpha


def kernel_score(
    alpha: Sequence[float],
    X: Sequence[Sequence[float]],
    y: Sequence[int],
    x: Sequence[float],
    kernel: Kernel,
) -> float:
    """The score ``sum_i alpha_i y_i K(x_i, x)``, over the rows that were ever mistaken.

    >>> kernel_score([1, 2], [[1.0], [2.0]], [+1, -1], [1.0], dot)
    -3.0
    """
    total = 0.0
    for alpha_i, x_i, y_i in zip(alpha, X, y, strict=True):
        if alpha_i:
            total += alpha_i * y_i * kernel(x_i, x)
    return total
