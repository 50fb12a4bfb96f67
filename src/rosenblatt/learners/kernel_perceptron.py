"""The perceptron in the space of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ParameterError
from rosenblatt.learners.accuracy import Classifying
from rosenblatt.learners.streaming import OneByOne
from rosenblatt.learners.support import KERNEL
from rosenblatt.models.predictors import Dual
from rosenblatt.params import KernelPerceptronParams


@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(KernelPerceptronParams, Classifying, OneByOne):
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
    docs/kernels.md has the budgets' bounds and params for large data.

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

    space: ClassVar[Any] = KERNEL

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
        return self._fit(X, y, sample_weight, X_val, y_val)

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
        return super().partial_fit(X, y, classes, sample_weight)

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, named: bool = True) -> Self:
        if self.precomputed:
            raise ParameterError(
                "kernel='precomputed' has no meaning in partial_fit: the kernel of these rows with all others, past "
                "and to come, is not in X"
            )
        if isinstance(self.gamma, str) and self.gamma == "scale":
            raise ParameterError("gamma='scale' needs all rows at once: in partial_fit write gamma='auto' or a number")
        return super()._go_on(X, y, classes, sample_weight, named=named)

    def _widen(self, width: int) -> None:
        learned = self.learned
        with learned.lock:
            gamma = 1.0 / width if isinstance(self.gamma, str) and self.gamma == "auto" else None
            learned.states[:] = [state.copy().over(width, gamma) for state in learned.states]
            learned.changed()

    @property
    def support_vectors_(self) -> Any:
        """The rows that the answer is made of."""
        model = self._answer()
        if model.kernel.name == "precomputed":
            raise AttributeError("with a precomputed kernel there are no rows: see support_")
        return self._support()

    @property
    def support_(self) -> NDArray[np.int64]:
        """The places of the support rows among the training rows, with a precomputed kernel."""
        if self._answer().kernel.name != "precomputed":
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
        tags.input_tags.pairwise = self.precomputed
        tags.input_tags.sparse = not self.precomputed
        return tags

    def _dual(self) -> Dual:
        answer = self._answer()
        if not isinstance(answer, Dual):
            raise AttributeError("a vote has no single weight vector: use keep='average', whose weights come closest")
        return answer

    def _answer(self) -> Any:
        if not self.has_learned:
            raise AttributeError(f"{type(self).__name__} has no support rows yet: call fit first")
        return self.predictors()[0]

    def _support(self) -> Any:
        answer = self._answer()
        if answer.support is None:
            return np.empty(0, np.int64) if answer.kernel.name == "precomputed" else np.empty((0, self.n_features_in_))
        return answer.support
