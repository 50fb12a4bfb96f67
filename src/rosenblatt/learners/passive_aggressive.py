"""The passive-aggressive algorithms: the step that the loss asks for, and no longer.

Invariant: this file holds no learning. A class says its parameters, its rule and its keep.
"""

from __future__ import annotations

from typing import Any, Literal

from rosenblatt.errors import ParameterError
from rosenblatt.learners.penalty import PenaltyName, penalty_of
from rosenblatt.learners.rules import Rule, RuleName
from rosenblatt.learners.state import KeepName
from rosenblatt.learners.weights import LinearLearner


class PassiveAggressive(LinearLearner):
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
    epoch passed without a mistake and its last weights separate the rows.

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

    def __init__(
        self,
        *,
        variant: Literal["PA", "PA-I", "PA-II"] = "PA-I",
        C: float = 1.0,
        penalty: PenaltyName | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 0.0,
        shuffle: bool = True,
        random_state: Any = 0,
        keep: KeepName = "last",
        tie: Literal["mistake", "positive"] = "mistake",
        init: Any = "zeros",
        n_init: int = 1,
        multiclass: Literal["joint", "ovr"] = "joint",
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.variant = variant
        self.C = C
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.keep = keep
        self.tie = tie
        self.init = init
        self.n_init = n_init
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _rule(self) -> Rule:
        if self.variant not in ("PA", "PA-I", "PA-II"):
            raise ParameterError(f"variant={self.variant!r}: must be 'PA', 'PA-I' or 'PA-II'")
        return Rule(self.variant, C=self.C, penalty=penalty_of(self.penalty, self.alpha, self.l1_ratio))


class PassiveAggressiveClassifier(LinearLearner):
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
        One binary problem a class, as scikit-learn does it.
    fit_intercept, max_iter, tol, shuffle, random_state, class_weight, early_stopping, validation_fraction, \
n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`; `tol` is a share of the rows, not a difference of losses.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveClassifier
    >>> PassiveAggressiveClassifier(C=0.5, loss="squared_hinge").fit([[-1.0], [1.0]], [0, 1]).predict([[3.0]])
    array([1])
    """

    init: str = "zeros"
    n_init: int = 1
    tie: Literal["mistake", "positive"] = "mistake"

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool = False,
        multiclass: Literal["joint", "ovr"] = "ovr",
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average
        self.multiclass = multiclass

    def _rule(self) -> Rule:
        names: dict[str, RuleName] = {"hinge": "PA-I", "squared_hinge": "PA-II"}
        if self.loss not in names:
            raise ParameterError(f"loss={self.loss!r}: must be 'hinge' (PA-I) or 'squared_hinge' (PA-II)")
        return Rule(names[self.loss], C=self.C)

    def _kept(self) -> KeepName:
        if self.average not in (False, True):
            raise ParameterError(
                f"average={self.average!r}: averaging starts with the first example; write average=True or False"
            )
        return "average" if self.average else "last"
