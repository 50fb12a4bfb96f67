"""Solutions of kernels.py."""

import math

from rosenblatt.textbook import dot


def score(alpha, X, y, x, kernel):
    """Rows that were never mistaken have a count of 0 and say nothing."""
    return sum(a * y_i * kernel(x_i, x) for a, x_i, y_i in zip(alpha, X, y, strict=True))


def phi(x):
    """(1 + x·z)² = 1 + 2·x·z + (x·z)²: the factors 2 are split between both rows, as roots."""
    a, b = x
    root = math.sqrt(2)
    return [1.0, root * a, root * b, a * a, b * b, root * a * b]


def product_of_phis(x, z):
    """Six products instead of two, for the same number."""
    return dot(phi(x), phi(z))


def train(X, y, T, kernel):
    """The perceptron, with the score by kernel and a count in the place of the step."""
    alpha = [0] * len(X)
    for _ in range(T):
        for i, (x_i, y_i) in enumerate(zip(X, y, strict=True)):
            if y_i * score(alpha, X, y, x_i, kernel) <= 0:
                alpha[i] += 1
    return alpha
