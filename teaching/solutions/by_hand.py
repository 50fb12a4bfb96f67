"""Solutions of by_hand.py."""


def step_once(theta, x, y, alpha):
    """In the first case the score is 0.5 + 0.6 = 1.1, so the answer 1 is right and nothing moves."""
    score = sum(t * x_j for t, x_j in zip(theta, x, strict=True))
    error = y - (1 if score >= 0 else 0)
    return [t + alpha * error * x_j for t, x_j in zip(theta, x, strict=True)]


def margin_gain(x):
    """y·(y·x)·x + y·y = ‖x‖² + 1: the label is squared, and the offset sees a constant 1."""
    return sum(x_j * x_j for x_j in x) + 1


def train(X, y):
    """An epoch without a mistake changes nothing, so all later epochs would be the same."""
    w, b = [0.0] * len(X[0]), 0.0
    mistakes = None
    while mistakes != 0:
        mistakes = 0
        for x_i, y_i in zip(X, y, strict=True):
            if y_i * (sum(w_j * x_j for w_j, x_j in zip(w, x_i, strict=True)) + b) <= 0:
                w = [w_j + y_i * x_j for w_j, x_j in zip(w, x_i, strict=True)]
                b += y_i
                mistakes += 1
    return w, b
