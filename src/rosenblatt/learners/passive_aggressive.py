"""The passive-aggressive algorithms: the step that the loss asks for, and no longer.

Invariant: this file holds no learning. A class joins params to the linear learner, and says what it is for.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from rosenblatt.errors import ParameterError
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.params import LimitedParams, PassiveAggressiveParams

AnyParams = TypeVar("AnyParams", bound=LimitedParams)
Variant = Literal["PA-I", "PA-II"]


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressive(PassiveAggressiveParams, LinearLearner):
    """The smallest change of the weights that gives each row a margin of 1; with more classes, MIRA's update.

    Steps also on correct answers within the margin, and as far as needed, so one epoch often does what the perceptron
    needs several for. "PA" trusts every label; "PA-I" and "PA-II" limit the step by `C`, for data with noise.

    Update::

        l = max(0, 1 - y (w·x + b)),   q = ‖x‖² (+ 1 with an intercept)
        PA: tau = l/q     PA-I: tau = min(C, l/q)     PA-II: tau = l/(q + 1/(2C))
        w += tau y x,   b += tau y;   more classes: the right row gains, the highest wrong row loses, with 2q for q

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        How the step is limited.
    C : float, default=1.0
        The limit: smaller is more cautious. "PA" does not use it.
    keep : {"last", "average", "vote", "pocket"}, default="last"
        Which weights are the answer; "average" is a good choice for noisy data.
    penalty, alpha, l1_ratio
        As for `Perceptron`, with `alpha` for ``eta0 alpha``. It goes with ``keep="last"`` and ``"average"``.
    fit_intercept, max_iter, tol, shuffle, random_state, tie, init, n_init, multiclass, class_weight, early_stopping, \
validation_fraction, n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`. A sample weight s makes the limit ``s C``.

    Notes
    -----
    PA-I makes at most ``max(R², 1/C)(‖u‖² + 2C sum l*)`` mistakes, for any u with losses l*. Converged means that an
    epoch passed without an update.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006), Online passive-aggressive
    algorithms, figure 1.
    K. Crammer and Y. Singer (2003), Ultraconservative online algorithms for multiclass problems.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressive
    >>> learner = PassiveAggressive(variant="PA", fit_intercept=False)
    >>> learner.partial_fit([[2.0, 0.0]], ["yes"], classes=["no", "yes"]).coef_
    array([[0.5, 0. ]])
    """


@dataclass(kw_only=True, eq=False, repr=False)
class NamedByLoss:
    """What scikit-learn's two passive-aggressive estimators are both told, by its names."""

    C: float = 1.0
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    shuffle: bool = True
    verbose: int = 0
    random_state: Any = None
    warm_start: bool = False
    average: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(NamedByLoss, LinearLearner):
    """scikit-learn's PassiveAggressiveClassifier by its own parameters, which left scikit-learn with 1.10.

    ``loss="hinge"`` is PA-I, ``loss="squared_hinge"`` PA-II. New code is better written with `PassiveAggressive`.

    Parameters
    ----------
    C : float, default=1.0
        The limit of a step.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    average : bool, default=False
        Answer with the mean of the weights.
    multiclass : {"joint", "ovr"}, default="ovr"
        One binary problem for each class, as scikit-learn does it.
    fit_intercept, max_iter, tol, shuffle, random_state, class_weight, early_stopping, validation_fraction, \
n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`; `tol` is a share of the rows, not a difference of losses.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveClassifier
    >>> PassiveAggressiveClassifier(C=0.5, loss="squared_hinge").fit([[-1.0], [1.0]], [0, 1]).predict([[3.0]])
    array([1])
    """

    loss: Literal["hinge", "squared_hinge"] = "hinge"
    n_jobs: int | None = None
    class_weight: Any = None
    multiclass: Literal["joint", "ovr"] = "ovr"

    def params(self) -> PassiveAggressiveParams:
        """The same by the family's own names."""
        return params_by_loss(self, PassiveAggressiveParams, {"hinge": "PA-I", "squared_hinge": "PA-II"})


def params_by_loss(named: Any, kind: type[AnyParams], variants: dict[str, Variant]) -> AnyParams:
    """Params by scikit-learn's names: `loss` is a variant, `average` a keep, and what has the same name stays."""
    if named.loss not in variants:
        words = " or ".join(f"{loss!r} ({variant})" for loss, variant in variants.items())
        raise ParameterError(f"loss={named.loss!r}: must be {words}")
    if named.average not in (False, True):
        raise ParameterError(
            f"average={named.average!r}: averaging starts with the first example; write average=True or False"
        )
    shared = {each.name for each in fields(kind)} & {each.name for each in fields(named)}
    told: dict[str, Any] = {name: getattr(named, name) for name in sorted(shared)}
    return kind(variant=variants[named.loss], keep="average" if named.average else "last", **told)
