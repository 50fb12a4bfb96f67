"""Solutions of margins.py."""

import math


def error(w, X, y):
    """A margin of exactly 0 is wrong too."""
    wrong = [y_i * sum(w_j * x_j for w_j, x_j in zip(w, x_i, strict=True)) <= 0 for x_i, y_i in zip(X, y, strict=True)]
    return sum(wrong) / len(wrong)


def geometric_margin(w, X, y):
    """The closest row decides; dividing by the length of w makes it a distance."""
    lowest = min(y_i * sum(w_j * x_j for w_j, x_j in zip(w, x_i, strict=True)) for x_i, y_i in zip(X, y, strict=True))
    return lowest / math.hypot(*w) if lowest > 0 else -math.inf


def margin_for(k):
    """k = R²/gamma² with R = 1, solved for gamma."""
    return 1 / math.sqrt(k)
