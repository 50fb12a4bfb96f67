"""Solutions of convergence.py."""

import math


def bound(R, gamma):
    """R²/gamma², rounded down: a whole number of mistakes that is not above it."""
    return math.floor(R**2 / gamma**2)


def times_mistaken(w, x, y):
    """Each step raises the margin m by q = ‖x‖². After n steps it is m + n·q, which is right once it is above 0."""
    m = y * sum(w_j * x_j for w_j, x_j in zip(w, x, strict=True))
    q = sum(x_j * x_j for x_j in x)
    return 0 if m > 0 else math.floor(-m / q) + 1


def least_cosine(k, gamma):
    """cos = w·u / ‖w‖ >= k·gamma / √k. It may not exceed 1, so k <= 1/gamma²."""
    return math.sqrt(k) * gamma
