"""The perceptron in the space of a kernel."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.base import Learner
from rosenblatt.learners.budget import POLICIES, BudgetState, Policy, budget_answer_of
from rosenblatt.learners.classes import weight_rows
from rosenblatt.learners.dual import DualState, Support, answer_of, look_at, settle
from rosenblatt.learners.epochs import Outcome, Problem, Stopping
from rosenblatt.learners.kernels import check_square, make_kernel
from rosenblatt.learners.rules import Rule, RuleName, check_number
from rosenblatt.learners.start import check_count
from rosenblatt.learners.state import KeepName
from rosenblatt.models.kernel import Dual


class KernelPerceptron(Learner):
    """The perceptron with a kernel: a weight a mistaken row instead of a weight a feature.

    It separates what no hyperplane can, at the price of keeping the rows it was ever mistaken on. On some ten thousand
    rows it comes close to a support vector machine in a fraction of the time; for many more, put scikit-learn's
    ``Nystroem`` or ``RBFSampler`` before a linear learner, and for endless streams set a `budget`.

    Update::

        score(x) = sum_i alpha_i y_i (K(x_i, x) + 1)
        on a mistake, y score(x) <= 0:   alpha_i += tau   (perceptron: tau = 1)

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or function, default="rbf"
        "poly" is ``(coef0 + gamma x·z)^degree``, "rbf" ``exp(-gamma ‖x - z‖²)``, "sigmoid" ``tanh(coef0 + gamma x·z)``.
        With "precomputed" X holds kernel values: all training rows with one another in `fit`, rows with all training
        rows in `predict`. A function takes two tables and gives the matrix of their kernel values.
    gamma : {"auto", "scale"} or float, default="auto"
        "auto" is 1 / n_features; "scale", for `fit` only, also divides by the variance of X. Larger makes "rbf" more
        local.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=0.0
        Of "poly" and "sigmoid". With 0, "poly" sees products of exactly `degree` features; with 1, of up to so many.
    rule : {"perceptron", "PA", "PA-I", "PA-II"}, default="perceptron"
        How far to step; see `PassiveAggressive`.
    C : float, default=1.0
        The aggressiveness of PA-I and PA-II.
    keep : {"last", "average", "vote", "pocket"}, default="last"
        Which weights are the answer. "average" and "vote" cost nothing more to learn and are nearly always better.
    fit_intercept : bool, default=True
        Add 1 to the kernel.
    budget : int or None, default=None
        The most support rows; with ``multiclass="ovr"``, of each class. None keeps all of them.
    policy : {"forget-oldest", "forgetron", "projectron"}, default="projectron"
        What to do when the budget is used up: drop the oldest row, drop it after shrinking all coefficients (two
        classes or one-vs-rest), or spread the step over the rows that are there.
    cache_size : float, default=200
        Megabytes for kernel values that may be needed again. The answer does not depend on it.
    max_iter, tol, shuffle, random_state, tie, multiclass, class_weight, early_stopping, validation_fraction, \
n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`.

    Attributes
    ----------
    support_vectors_ : array or CSR array
        The rows that the answer is made of, each once, for all classes.
    support_ : array
        With a precomputed kernel, their places among the training rows instead.
    dual_coef_ : array of shape (1 or n_classes, n_support)
        Their coefficients, ``alpha_i y_i`` with two classes. Not with ``keep="vote"``.
    intercept_ : array
    classes_, n_features_in_, n_iter_, converged_, stop_reason_, mistakes_, updates_, history_
        As for `Perceptron`.

    Notes
    -----
    Guarantee: that of the perceptron with K(x, x) in the place of ‖x‖²: if a unit vector of the kernel's space
    separates the rows with margin gamma, and ``K(x, x) <= R²``, at most ``(R/gamma)²`` mistakes are made.
    Cost: the scores of all rows are kept, so every kernel value of a row with a mistaken row is computed once an epoch,
    for 32 rows at a time. Kernel values are sums over the features from left to right in float64, the same bits for
    dense and sparse rows.
    docs/kernels.md has the budgets' bounds and a recipe for large data.

    References
    ----------
    M. A. Aizerman, E. M. Braverman, L. I. Rozonoer (1964), Theoretical foundations of the potential function method.
    Y. Freund and R. E. Schapire (1999), Large margin classification using the perceptron algorithm.
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006), Online passive-aggressive algorithms.

    Examples
    --------
    >>> from rosenblatt import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> learner = KernelPerceptron(kernel="rbf", gamma=1.0).fit(X, y)
    >>> learner.converged_, learner.predict(X).tolist()
    (True, ['same', 'other', 'other', 'same'])
    """

    init: str = "zeros"
    n_init: int = 1

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "auto",
        degree: int = 3,
        coef0: float = 0.0,
        rule: RuleName = "perceptron",
        C: float = 1.0,
        keep: KeepName = "last",
        fit_intercept: bool = True,
        budget: int | None = None,
        policy: Policy = "projectron",
        cache_size: float = 200,
        max_iter: int = 1000,
        tol: float | None = 0.0,
        shuffle: bool = True,
        random_state: Any = 0,
        tie: Literal["mistake", "positive"] = "mistake",
        multiclass: Literal["joint", "ovr"] = "joint",
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rule = rule
        self.C = C
        self.keep = keep
        self.fit_intercept = fit_intercept
        self.budget = budget
        self.policy = policy
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.tie = tie
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from all rows, epoch after epoch, until a stopping rule holds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Or, with a precomputed kernel, of shape (n_rows, n_rows).
        y : array-like of shape (n_rows,)
            Two or more labels of any kind that can be sorted.
        sample_weight : array-like of shape (n_rows,), optional
            Scales each row's step; a row of weight 0 is as if absent.
        X_val, y_val : optional
            Your own validation rows for early stopping, instead of a part of X.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, X_val, y_val, self.init)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order, going on from what was learned before.

        One call with all rows is one epoch of `fit` without shuffling; any cut of the rows into calls gives the same
        bits.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array-like, optional
            Labels that may come. Not needed: new labels are taken as they come. But if two labels are known beforehand,
            the rows before the second one appears can be learned from.

        Returns
        -------
        self
        """
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ParameterError(
                "kernel='precomputed' has no meaning in partial_fit: the kernel of these rows with all others, past "
                "and to come, is not in X"
            )
        if isinstance(self.gamma, str) and self.gamma == "scale":
            raise ParameterError("gamma='scale' needs all rows at once: in partial_fit write gamma='auto' or a number")
        return super().partial_fit(X, y, classes, sample_weight)

    @property
    def support_vectors_(self) -> Any:
        """The rows that the answer is made of."""
        model = self._model()
        if model.kernel.name == "precomputed":
            raise AttributeError("with a precomputed kernel there are no rows: see support_")
        return self._support()

    @property
    def support_(self) -> NDArray[np.int64]:
        """The places of the support rows among the training rows, with a precomputed kernel."""
        if self._model().kernel.name != "precomputed":
            raise AttributeError("support_ is for a precomputed kernel: see support_vectors_")
        places: NDArray[np.int64] = self._support()
        return places

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients of the support rows: one row with two classes, else one a class."""
        return self._dual().coefficients.T

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts: one with two classes, else one a class."""
        return self._dual().intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    # -- checking

    def _rule(self) -> Rule:
        return Rule(self.rule, C=self.C)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("cache_size", self.cache_size, least=0.0)
        if self.budget is None:
            return
        check_count("budget", self.budget)
        if self.policy not in POLICIES:
            raise ParameterError(f"policy={self.policy!r}: must be 'forget-oldest', 'forgetron' or 'projectron'")
        if self.keep != "last":
            raise ParameterError(
                f"keep={self.keep!r} with budget={self.budget}: it would need the rows that the budget drops; "
                "write keep='last'"
            )
        if self.policy != "forget-oldest" and self.rule != "perceptron":
            raise ParameterError(
                f"policy={self.policy!r} is made for rule='perceptron': with rule={self.rule!r} write "
                "policy='forget-oldest'"
            )
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ParameterError("budget is for rows that come and go: a precomputed matrix already holds all of them")

    def _check_tie(self, classes: int) -> None:
        super()._check_tie(classes)
        if self.budget is not None and self.policy == "forgetron" and classes > 2 and self.multiclass == "joint":
            raise ParameterError(
                f"policy='forgetron' has a meaning for two classes only, and there are {classes}: write "
                "multiclass='ovr', or another policy"
            )

    # -- learning

    def _problems(self, table: Table, labels: Labels, rule: Rule, *rest: Any) -> tuple[list[Problem], list[Stopping]]:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            check_square(table)
        return super()._problems(table, labels, rule, *rest)

    def _new_states(
        self, init: Any, table: Table, classes: NDArray[Any], keep: KeepName, generator: NDArray[np.uint64]
    ) -> list[Any]:
        kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, table)
        ovr = self._is_ovr(len(classes))
        problems, K = (len(classes), 1) if ovr else (1, weight_rows(len(classes)))
        if self.budget is not None:
            return [
                BudgetState.begin(
                    K,
                    kernel=kernel,
                    fit_intercept=bool(self.fit_intercept),
                    budget=int(self.budget),
                    policy=self.policy,
                    generator=generator.copy(),
                )
                for _ in range(problems)
            ]
        support = Support(precomputed=kernel.name == "precomputed")
        return [
            DualState.begin(
                K,
                keep=keep,
                kernel=kernel,
                fit_intercept=bool(self.fit_intercept),
                support=support,
                cache_bytes=int(float(self.cache_size) * 2**20 / problems),
                generator=generator.copy(),
            )
            for _ in range(problems)
        ]

    def _run(self, restarts: list[list[Any]], problems: list[Problem], stoppings: list[Stopping]) -> list[Outcome]:
        outcomes = super()._run(restarts, problems, stoppings)
        _settle([outcome.state for outcome in outcomes])
        return outcomes

    def _continued(self, table: Table, labels: Labels) -> list[Any]:
        states = super()._continued(table, labels)
        _look_at(table, states)
        return states

    def _learn_batch(self, table: Table, *rest: Any) -> None:
        _look_at(table, self._states)
        super()._learn_batch(table, *rest)
        _settle(self._states)

    # -- answers

    def _make_answers(self) -> list[Any]:
        on_budget = isinstance(self._states[0], BudgetState)
        return [budget_answer_of(self._states) if on_budget else answer_of(self._states)]

    def _model(self) -> Any:
        if not hasattr(self, "classes_"):
            raise AttributeError(f"{type(self).__name__} has no support rows yet: call fit first")
        return self._answer()[0]

    def _dual(self) -> Dual:
        model = self._model()
        if not isinstance(model, Dual):
            raise AttributeError("a vote has no single weight vector: use keep='average', whose weights come closest")
        return model

    def _support(self) -> Any:
        model = self._model()
        if model.support is None:
            return np.empty(0, np.int64) if model.kernel.name == "precomputed" else np.empty((0, self.n_features_in_))
        return model.support


def _look_at(table: Table, states: list[Any]) -> None:
    if isinstance(states[0], DualState):
        look_at(table, states)


def _settle(states: list[Any]) -> None:
    """Leave the table: from now on only support rows are held."""
    if isinstance(states[0], DualState):
        settle(states)
    else:
        for state in states:
            state.leave()
