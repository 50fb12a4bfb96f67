"""How many mistakes a learner can make: the theorems as functions, each with its assumption.

Invariant: no run exceeds a bound if the bound's assumption holds; if it does not hold, the bound is ``inf``. All bounds
hold for any order of the rows and count mistakes from zero weights; `epochs` is the number of passes, for the bounds
that depend on it. With an offset, rows and weights are extended by it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.errors import LabelError, ParameterError
from rosenblatt.theory import exact
from rosenblatt.theory.certificate import Separable, measure
from rosenblatt.theory.certify import certify
from rosenblatt.theory.exact import Floats
from rosenblatt.theory.margin import Constraints, as_vector, make_constraints, radius

_ROUNDING = 1 + 1e-12  # bounds made of square roots are rounded up by this much


def mistake_bound(X: Any, y: ArrayLike, *, fit_intercept: bool = True, budget: float = 60.0) -> float:
    """The perceptron's bound with the best margin there is: ``floor(R²/gamma²)``.

    With more than two classes ``floor(2R²/gamma²)``. Assumption: the data are separable. It is ``inf`` if they
    are not, or if :func:`certify` cannot tell.

    >>> mistake_bound([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    51
    """
    verdict = certify(X, y, fit_intercept=fit_intercept, budget=budget)
    return verdict.mistake_bound if isinstance(verdict, Separable) else math.inf


def perceptron_bound(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None = None, *, beta: float = 0.0) -> float:
    """The perceptron's bound from given weights: ``floor((R² + 2 beta)/gamma²)``, gamma their margin.

    Assumption: the weights separate the data. With ``beta > 0`` it bounds the updates, and so the mistakes, of the
    margin perceptron, which updates if ``m <= beta``, with steps of 1 (``‖w‖²`` grows by at most ``R² + 2 beta``).

    References
    ----------
    A. B. J. Novikoff, On convergence proofs on perceptrons (1962).

    Examples
    --------
    >>> perceptron_bound([[2.0, 1.0], [-1.0, -1.0]], [+1, -1], w=[1.0, 1.0])
    2
    """
    constraints, vector = _binary(X, y, w, b)
    return _of_separating(constraints, vector, beta)


def joint_bound(X: Any, y: ArrayLike, W: ArrayLike, b: ArrayLike | None = None) -> float:
    """The joint multi-class perceptron's bound from given weight rows: ``floor(2R²/gamma²)``.

    Assumption: every row's own class scores highest by at least ``gamma`` when ``sum ‖w_k‖² = 1``. A mistake moves two
    weight rows by ``x``, hence the 2. One-vs-rest has no such bound.

    >>> joint_bound([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], ["a", "b", "c"], [[1, 0], [0, 1], [-1, -1]])
    16
    """
    constraints = make_constraints(X, y, fit_intercept=b is not None)
    if constraints.is_binary:
        raise LabelError("y has two classes; call perceptron_bound")
    return _of_separating(constraints, as_vector(constraints, W, b), 0.0)


def deviation_bound(
    X: Any, y: ArrayLike, w: ArrayLike, b: float | None = None, *, gamma: float, epochs: int = 1
) -> float:
    """The perceptron's bound on any data, separable or not: ``((R + D)/gamma)²``.

    ``D² = epochs · sum max(0, gamma - y u·x)²`` is how far the rows fall short of the margin `gamma` under the unit
    vector ``u = w/‖w‖``. Assumption: none; any ``w`` and any ``gamma > 0`` give a bound, good ones a good bound.

    References
    ----------
    Y. Freund and R. E. Schapire, Large margin classification using the perceptron algorithm (1999), theorem 2.

    Examples
    --------
    >>> round(deviation_bound([[1.0], [-1.0], [0.5]], [+1, -1, -1], w=[1.0], gamma=1.0), 6)
    6.25
    """
    if gamma <= 0:
        raise ParameterError(f"gamma must be above 0, not {gamma!r}")
    constraints, vector = _binary(X, y, w, b)
    length = float(np.linalg.norm(vector))
    if length == 0:
        raise ParameterError("w must not be 0")
    short = np.maximum(0.0, gamma - constraints.margins(vector) / length)
    deviation = math.sqrt(epochs * float(short @ short))
    return ((radius(X, fit_intercept=b is not None) + deviation) / gamma) ** 2 * _ROUNDING


def passive_aggressive_bound(
    X: Any, y: ArrayLike, w: ArrayLike, b: float | None = None, *, variant: str = "PA", C: float = 1.0, epochs: int = 1
) -> float:
    """The mistakes of PA, PA-I and PA-II against any weights ``w``, with ``l_i = max(0, 1 - y_i w·x_i)``.

    Bound::

        PA     R² ‖w‖²                                            assumption: every l_i is 0
        PA-I   max(R², 1/C) (‖w‖² + 2C epochs sum l_i)            assumption: none
        PA-II  (R² + 1/(2C)) (‖w‖² + 2C epochs sum l_i²)          assumption: none

    The length of ``w`` matters: weights of margin ``gamma`` scaled to ``‖w‖ = 1/gamma`` have no loss, and PA's bound
    is then the perceptron's ``R²/gamma²``.

    References
    ----------
    K. Crammer et al., Online passive-aggressive algorithms (2006), theorems 2, 4 and 5.

    Examples
    --------
    >>> round(passive_aggressive_bound([[2.0], [-1.0]], [+1, -1], w=[1.0]), 6)
    4.0
    """
    if C <= 0:
        raise ParameterError(f"C must be above 0, not {C!r}")
    constraints, vector = _binary(X, y, w, b)
    # A margin of 1 less a rounding error is a margin of 1.
    loss = np.maximum(0.0, 1.0 - constraints.margins(vector) * (1 + 4 * np.finfo(float).eps))
    size, R2 = float(vector @ vector), radius(X, fit_intercept=b is not None) ** 2
    if variant == "PA":
        bound = R2 * size if not loss.any() else math.inf
    elif variant == "PA-I":
        bound = max(R2, 1 / C) * (size + 2 * C * epochs * float(loss.sum()))
    elif variant == "PA-II":
        bound = (R2 + 1 / (2 * C)) * (size + 2 * C * epochs * float(loss @ loss))
    else:
        raise ParameterError(f'variant must be "PA", "PA-I" or "PA-II", not {variant!r}')
    return bound * _ROUNDING


def _binary(X: Any, y: ArrayLike, w: ArrayLike, b: ArrayLike | None) -> tuple[Constraints, Floats]:
    constraints = make_constraints(X, y, fit_intercept=b is not None)
    if not constraints.is_binary:
        raise LabelError("y has more than two classes; call joint_bound")
    return constraints, as_vector(constraints, w, b)


def _of_separating(constraints: Constraints, vector: Floats, beta: float) -> float:
    lowest, *_, bound = measure(constraints, exact.fractions(vector), beta)
    return bound if lowest > 0 else math.inf
