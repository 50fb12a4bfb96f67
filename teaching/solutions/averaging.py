"""Solutions of averaging.py."""


def mean(weights):
    """Column by column."""
    return [sum(column) / len(weights) for column in zip(*weights, strict=True)]


def votes(lived, x):
    """Signs are added, not scores: a long weight vector has no more say than a short one."""
    return sum(c if sum(w_j * x_j for w_j, x_j in zip(w, x, strict=True)) >= 0 else -c for w, c in lived)


def cached_average(X, y, T):
    """A step at example c is part of the weights after c, c + 1, …, N: N - c + 1 of N, which is w - (c - 1)/N."""
    w, u, c = [0.0] * len(X[0]), [0.0] * len(X[0]), 0
    for _ in range(T):
        for x_i, y_i in zip(X, y, strict=True):
            c += 1
            if y_i * sum(w_j * x_j for w_j, x_j in zip(w, x_i, strict=True)) <= 0:
                w = [w_j + y_i * x_j for w_j, x_j in zip(w, x_i, strict=True)]
                u = [u_j + (c - 1) * y_i * x_j for u_j, x_j in zip(u, x_i, strict=True)]
    return [w_j - u_j / c for w_j, u_j in zip(w, u, strict=True)]
