"""AROW: adaptive regularization of weights, the second-order learner of the family.

Invariant: this file does not learn. The class joins params to the linear learner, and documents them.
"""

from __future__ import annotations

from rosenblatt.learners.base import ClassifierMixin, LinearLearner, learner
from rosenblatt.params import AROWParams


@learner
class AROW(AROWParams, ClassifierMixin, LinearLearner):
    """Adaptive regularization of weights: every weight has a variance, and weights of rare features move further.

    Frequent features settle while rare ones still learn, so one pass over text or counts is often enough. It also
    tolerates columns of very different scales. It needs twice the memory; on rows of few, equally frequent features
    `PassiveAggressive` is as accurate.

    Update::

        if y (w·x + b) < 1:
            v = sum Σ_j x_j² (+ Σ_b with an intercept)
            β = 1/(v + r),   α = (1 - y (w·x + b)) β
            w_j += α y Σ_j x_j,   Σ_j -= β (Σ_j x_j)²
        starting from w = 0, Σ = 1
        more classes: the right row gains, the highest wrong row loses, v over both

    Notes
    -----
    The covariance is diagonal: a step costs three times a perceptron's. Converged means an epoch without a mistake and
    without an update: every margin is at least 1. Since steps get smaller, most fits stop by `tol` before that.

    References
    ----------
    K. Crammer, A. Kulesza, M. Dredze (2009), Adaptive regularization of weight vectors, figure 1.
    K. Crammer, M. Dredze, A. Kulesza (2009), Multi-class confidence weighted algorithms.

    Examples
    --------
    >>> from rosenblatt import AROW
    >>> learner = AROW(fit_intercept=False).partial_fit([[1.0, 0.0]], ["yes"], classes=["no", "yes"])
    >>> learner.coef_
    array([[0.5, 0. ]])
    """
