"""The perceptron in the space of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learners.base import ClassifierMixin, Learner, learner
from rosenblatt.models.predictors import Dual
from rosenblatt.params import KernelPerceptronParams


@learner
class KernelPerceptron(KernelPerceptronParams, ClassifierMixin, Learner):
    """The perceptron with a kernel: one coefficient per mistaken row instead of one weight per feature.

    It separates data that no hyperplane separates, and stores the rows it was mistaken on. On tens of thousands of rows
    it is nearly as accurate as a support vector machine and faster to train (docs/kernels.md); for many more, put
    scikit-learn's ``Nystroem`` or ``RBFSampler`` before a linear learner, and for endless streams set a `budget`.

    Update::

        score(x) = sum_i alpha_i y_i (K(x_i, x) + 1)
        on a mistake, y score(x) <= 0:   alpha_i += tau   (perceptron: tau = 1)

    Notes
    -----
    Guarantee: that of the perceptron with K(x, x) in the place of ‖x‖²: if a unit vector of the kernel's space
    separates the rows with margin gamma, and ``K(x, x) <= R²``, at most ``(R/gamma)²`` mistakes are made.
    Cost: the scores of all rows stay in memory, so an epoch computes each kernel value with a mistaken row once, for
    32 rows at a time. Kernel values are sums over the features from left to right in float64, the same bits for
    dense and sparse rows. `fit` without shuffling and one `partial_fit` per epoch make the same updates; their scores
    may differ by rounding, since the support rows stand in another order.
    docs/kernels.md has the bounds of the budgets.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from all rows, epoch after epoch, until the stopping criterion holds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Or, with a precomputed kernel, of shape (n_rows, n_rows).
        y : array-like of shape (n_rows,)
            Two or more labels of any kind that can be sorted.
        sample_weight : array-like of shape (n_rows,), optional
            Scales each row's step; a row of weight 0 is ignored.
        X_val, y_val : optional
            Your own validation rows for early stopping, instead of a part of X.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, X_val=X_val, y_val=y_val)

    def _widened(self, state: Any, features: int) -> Any:
        gamma = 1.0 / features if isinstance(self.gamma, str) and self.gamma == "auto" else None
        return state.copy().with_features(features, gamma)

    @property
    def support_vectors_(self) -> Any:
        """The support rows, each once, for all classes."""
        if self.precomputed:
            raise AttributeError("with a precomputed kernel there are no rows: see support_")
        support = self.predictors()[0].support  # type: ignore[union-attr]
        return np.empty((0, self.n_features_in_)) if support is None else support

    @property
    def support_(self) -> NDArray[np.int64]:
        """With a precomputed kernel, the indices of the support rows among the training rows instead."""
        if not self.precomputed:
            raise AttributeError("support_ is for a precomputed kernel: see support_vectors_")
        support = self.predictors()[0].support  # type: ignore[union-attr]
        return np.empty(0, np.int64) if support is None else support

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients of the support rows: one row with two classes, ``alpha_i y_i``, else one per class.

        A vote has none.
        """
        return self._predictor(Dual).coefficients.T

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The sum of the coefficients of each row of `dual_coef_`, since an intercept adds 1 to every kernel value."""
        return self._predictor(Dual).intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.precomputed
        tags.input_tags.sparse = not self.precomputed
        return tags
