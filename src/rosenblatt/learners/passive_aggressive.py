"""The passive-aggressive algorithms: the shortest step that removes the loss of a row.

Invariant: this file does not learn. A class joins params to the linear learner, and documents them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from rosenblatt.learners.base import ClassifierMixin, LinearLearner, learner
from rosenblatt.params import LimitedParams, PassiveAggressiveParams, check_fields, choice, like, switch

AnyParams = TypeVar("AnyParams", bound=LimitedParams)


@learner
class PassiveAggressive(PassiveAggressiveParams, ClassifierMixin, LinearLearner):
    """The smallest change of the weights that gives each row a margin of 1; with more classes, MIRA's update.

    It also steps on correct predictions within the margin, as far as needed, so one epoch is often as good as several
    of the perceptron. "PA" trusts every label; "PA-I" and "PA-II" limit the step by `C`, for data with noise.

    Update::

        l = max(0, 1 - y (w·x + b)),   q = ‖x‖² (+ 1 with an intercept)
        PA: tau = l/q     PA-I: tau = min(C, l/q)     PA-II: tau = l/(q + 1/(2C))
        w += tau y x,   b += tau y;   more classes: the right row gains, the highest wrong row loses, with 2q for q

    Notes
    -----
    In one epoch PA-I makes at most ``max(R², 1/C)(‖u‖² + 2C sum l*)`` mistakes, for any u with losses l* and rows no
    longer than R. Converged means that an epoch passed without an update.

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
class SklearnParams:
    """The parameters that scikit-learn's two passive-aggressive estimators share, by its names."""

    loss: str
    C: float = like(PassiveAggressiveParams, "C", 1.0)
    fit_intercept: bool = like(PassiveAggressiveParams, "fit_intercept", True)
    max_iter: int = like(PassiveAggressiveParams, "max_iter", 1000)
    tol: float | None = like(PassiveAggressiveParams, "tol", 1e-3)
    early_stopping: bool = like(PassiveAggressiveParams, "early_stopping", False)
    validation_fraction: float = like(PassiveAggressiveParams, "validation_fraction", 0.1)
    n_iter_no_change: int = like(PassiveAggressiveParams, "n_iter_no_change", 5)
    shuffle: bool = like(PassiveAggressiveParams, "shuffle", True)
    verbose: int = like(PassiveAggressiveParams, "verbose", 0)
    random_state: Any = like(PassiveAggressiveParams, "random_state", None)
    warm_start: bool = like(PassiveAggressiveParams, "warm_start", False)
    average: bool = switch(False, "Predict with the mean of the weights after each example, from the first one on.")

    def _family(self, kind: type[AnyParams], **more: Any) -> AnyParams:
        """The params of the family: `loss` is a variant, `average` a keep, and the others have the same names."""
        check_fields(self)
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("loss", "average")}
        variant: Literal["PA-I", "PA-II"] = "PA-II" if self.loss.startswith("squared") else "PA-I"
        return kind(variant=variant, keep="average" if self.average else "last", **given, **more)


@learner
class PassiveAggressiveClassifier(SklearnParams, ClassifierMixin, LinearLearner):
    """scikit-learn's PassiveAggressiveClassifier, with its parameters; scikit-learn 1.10 removes it.

    ``loss="hinge"`` is PA-I, ``loss="squared_hinge"`` PA-II, and one binary problem per class is the default. Use
    `PassiveAggressive` in new code.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveClassifier
    >>> PassiveAggressiveClassifier(C=0.5, loss="squared_hinge").fit([[-1.0], [1.0]], [0, 1]).predict([[3.0]])
    array([1])
    """

    loss: Literal["hinge", "squared_hinge"] = choice("hinge", ("hinge", "squared_hinge"), "PA-I or PA-II.")
    n_jobs: int | None = like(PassiveAggressiveParams, "n_jobs", None)
    class_weight: Any = like(PassiveAggressiveParams, "class_weight", None)
    multiclass: Literal["joint", "ovr"] = like(PassiveAggressiveParams, "multiclass", "ovr")

    def params(self) -> PassiveAggressiveParams:
        """The same params by the names of the family."""
        return self._family(PassiveAggressiveParams)
