"""Solutions of xor.py."""

from itertools import product

from rosenblatt.theory import certify


def signed(X, y):
    """The row and a 1 behind it, times the label."""
    return [[y_i * x_j for x_j in [*x_i, 1]] for x_i, y_i in zip(X, y, strict=True)]


def is_proof(weights, X, y):
    """All zeros would prove anything, so one weight must be positive."""
    if min(weights) < 0 or max(weights) == 0:
        return False
    rows = signed(X, y)
    return all(sum(n * row[j] for n, row in zip(weights, rows, strict=True)) == 0 for j in range(len(rows[0])))


def separable_labellings():
    """Only XOR and its opposite are not. With one label for all points there is nothing to certify: count it."""
    points = list(product((0, 1), repeat=2))
    return sum(len(set(y)) == 1 or bool(certify(points, y)) for y in product((-1, +1), repeat=4))
