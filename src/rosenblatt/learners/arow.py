"""AROW: adaptive regularization of weights, the second-order learner of the family.

Invariant: this file holds no learning. The class joins params to the linear learner, and says what it is for.
"""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.learners.linear import LinearLearner
from rosenblatt.params import AROWParams


@dataclass(kw_only=True, eq=False, repr=False)
class AROW(AROWParams, LinearLearner):
    """Weights that know how sure they are: every feature has a variance, and rare features move further.

    Frequent features settle while rare ones still learn, so one pass over text or counts often does what first-order
    learners need many for. It also stands columns of very different scales better. It costs twice the memory; on rows
    of few, equally frequent features `PassiveAggressive` does as well.

    Update::

        on y (w·x + b) < 1:   v = sum Σ_j x_j² (+ Σ_b with an intercept),   β = 1/(v + r),   α = (1 - y (w·x + b)) β
        w_j += α y Σ_j x_j,   Σ_j -= β (Σ_j x_j)²;   from w = 0, Σ = 1
        more classes: the right row gains, the highest wrong row loses, v over both

    Parameters
    ----------
    r : float, default=1.0
        How much noise to expect: larger is more cautious.
    keep : {"last", "average"}, default="last"
        Which weights are the answer. The variances calm the last weights already; the average calms them further over
        many epochs.
    fit_intercept, max_iter, tol, shuffle, random_state, tie, init, n_init, multiclass, class_weight, early_stopping, \
validation_fraction, n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`. A sample weight s makes it ``r/s``.

    Notes
    -----
    The covariance is diagonal: a step costs three times a perceptron's. Converged means that an epoch passed without a
    mistake and its last weights separate the rows.

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
