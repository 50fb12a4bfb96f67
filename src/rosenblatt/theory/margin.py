"""What given weights do to given rows: errors, margins, losses, and how long a row can stay wrong.

Invariant: a score of exactly 0 is an error. Labels are any two classes, the larger in sorted order is +1; with K > 2
classes the weights are a row a class and the right class must score highest, alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.errors import ParameterError
from rosenblatt.theory.rows import Floats, SignedRows, lossless, signed_rows


def training_error(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> float:
    """The share of rows that the weights get wrong: ``1/n sum [[y_i (w·x_i + b) <= 0]]``.

    Parameters
    ----------
    X, y : rows and labels
    w : weights, d of them; a row a class with more than two classes
    b : the offset (one a class); None through the origin

    Examples
    --------
    >>> training_error([[1.0], [2.0], [-1.0]], [+1, -1, -1], w=[1.0])
    0.3333333333333333
    >>> training_error([[1.0], [2.0], [-1.0]], [+1, -1, -1], w=[-1.0], b=1.0)  # a score of 0 is an error
    0.6666666666666666
    """
    rows, margins = _margins(X, y, w, b)
    return float((margins.reshape(rows.X.shape[0], -1).min(axis=1) <= 0).mean())


def margin(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> float:
    """The geometric margin: how far the closest row is from the boundary; ``-inf`` if the weights do not separate.

    ``min_i y_i (w·x_i + b) / ‖w‖``; with K > 2 classes ``min (w_y - w_k)·x / ‖w_y - w_k‖``.

    Notes
    -----
    With an offset the mistake bound speaks of a slightly smaller margin, that of the rows extended by 1:
    it divides by ``‖(w, b)‖``. :func:`certify` encloses the best of those.

    Examples
    --------
    >>> margin([[3.0, 4.0], [-6.0, -8.0]], [+1, -1], w=[0.6, 0.8])
    5.0
    >>> margin([[3.0, 4.0], [6.0, 8.0]], [+1, -1], w=[0.6, 0.8])
    -inf
    """
    rows, margins = _margins(X, y, w, b)
    if margins.min() <= 0:
        return -math.inf
    W = np.array(w, dtype=np.float64, ndmin=2)
    if rows.two:
        lengths: Any = np.linalg.norm(W)
    else:
        demands = np.arange(rows.count)
        lengths = np.linalg.norm(W[rows.label[rows.row(demands)]] - W[rows.wrong(demands)], axis=1)
    # Only an offset can separate with a length of 0: then there is no boundary to come close to.
    with np.errstate(divide="ignore"):
        return float((margins / lengths).min())


def radius(X: Any, *, fit_intercept: bool = False) -> float:
    """The length of the longest row, ``R = max ‖x_i‖``; with `fit_intercept` of the rows extended by 1.

    >>> radius([[3.0, 4.0], [1.0, 0.0]])
    5.0
    """
    table = lossless(X)
    return float(np.sqrt(table.power(2).sum(axis=1).max() + bool(fit_intercept)))


def perceptron_loss(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None) -> float:
    """The loss that the perceptron descends: ``sum_i max(0, -y_i (w·x_i + b))``.

    Its gradient on a mistaken row is ``-y x``, so one step of size 1 against it is the perceptron's update. A
    row with a score of 0 costs nothing and is a mistake all the same: a loss of 0 does not prove separation.

    >>> perceptron_loss([[1.0], [2.0], [-1.0]], [+1, -1, -1], w=[3.0])
    6.0
    """
    rows, margins = _margins(X, y, w, b)
    return float(np.maximum(0.0, -margins.reshape(rows.X.shape[0], -1).min(axis=1)).sum())


def repeat_bound(w: ArrayLike, x: ArrayLike, y: float, b: float | None = None) -> float:
    """How many times in a row the perceptron can be mistaken on the same row, met again and again.

    Each update raises the margin ``m = y (w·x + b)`` by ``q = ‖x‖²`` (plus 1 with an offset), so the row is wrong
    ``floor(-m/q) + 1`` times if ``m <= 0``, and not at all otherwise. Computed exactly from the floats given.

    Parameters
    ----------
    w, x : weights and row
    y : +1 or -1
    b : the offset; None through the origin

    Returns
    -------
    float
        A whole number, or ``inf`` for a row of zeros without an offset: no update changes its score.

    Examples
    --------
    >>> repeat_bound([-5.0, 0.0], [1.0, 1.0], +1)  # m = -5, q = 2: wrong at -5, -3, -1
    3
    """
    if y not in (1, -1):
        raise ParameterError(f"y must be +1 or -1, not {y!r}")
    weights, row = np.asarray(w, dtype=np.float64), np.asarray(x, dtype=np.float64)
    if weights.shape != row.shape or row.ndim != 1:
        raise ParameterError(f"w has the shape {weights.shape} and x {row.shape}: one weight a feature is needed")
    exact_row = [Fraction(v) for v in row.tolist()]
    score = sum((Fraction(v) * r for v, r in zip(weights.tolist(), exact_row, strict=True)), Fraction(b or 0))
    q = sum((r * r for r in exact_row), Fraction(b is not None))
    m = int(y) * score
    if m > 0:
        return 0
    return math.floor(-m / q) + 1 if q else math.inf


def vector_of(rows: SignedRows, w: ArrayLike, b: ArrayLike | None) -> Floats:
    """Weights and offsets as the one vector that the signed rows are measured with."""
    W = np.array(w, dtype=np.float64, ndmin=2)
    shape = (1 if rows.two else len(rows.classes), rows.X.shape[1])
    if W.shape != shape:
        raise ParameterError(f"w has the shape {np.shape(w)}; {shape[0]} row(s) of {shape[1]} weights are needed")
    if b is None:
        return W.ravel()
    offset = np.array(b, dtype=np.float64, ndmin=1)
    if offset.shape != shape[:1]:
        raise ParameterError(f"b has the shape {np.shape(b)}; {shape[0]} offset(s) are needed")
    return np.hstack([W, offset[:, None]]).ravel()


def _margins(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None) -> tuple[SignedRows, Floats]:
    rows = signed_rows(X, y, fit_intercept=b is not None)
    return rows, rows.margins(vector_of(rows, w, b))
