"""What all linear learners share: weights, a row of them per score.

Invariant: this file holds no learning. States learn.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from rosenblatt.learners.accuracy import Classifying
from rosenblatt.learners.streaming import DictLearner
from rosenblatt.learners.weights import LINEAR
from rosenblatt.models.predictors import Linear
from rosenblatt.params import KEEPS


def _has_weights(learner: Any) -> bool:
    """A vote has no single weight vector."""
    keep = learner.params().keep
    return not (keep in KEEPS and KEEPS[keep].votes)


class WeightLearner(DictLearner):
    """A rule, a keep and the linear space, as a scikit-learn estimator."""

    space: ClassVar[Any] = LINEAR

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Learn from all rows, epoch after epoch, until a stopping rule holds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Numbers in C order, of any type, and CSR of floats are read where they lie; anything else is converted.
        y : array-like of shape (n_rows,)
            Two or more labels of any kind that can be sorted.
        coef_init, intercept_init : array-like, optional
            Weights to start from, as in scikit-learn; the same as ``init=(coef_init, intercept_init)``.
        sample_weight : array-like of shape (n_rows,), optional
            Scales each row's step; a row of weight 0 is as if absent.
        X_val, y_val : optional
            Your own validation rows for early stopping, instead of a part of X.

        Returns
        -------
        self
        """
        init = None if coef_init is None and intercept_init is None else (coef_init, intercept_init)
        self._fit(X, y, sample_weight, X_val, y_val, init)
        self.__dict__.pop("_sparse_coef", None)
        return self

    @property
    def coef_(self) -> Any:
        """The weights: of shape (1, n_features) with two classes, else (n_classes, n_features)."""
        weights = self._linear().weights
        return sp.csr_matrix(weights) if vars(self).get("_sparse_coef") else weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts: one with two classes, else one per class."""
        return self._linear().intercept

    @available_if(_has_weights)  # type: ignore[untyped-decorator]
    def sparsify(self) -> Self:
        """From now on `coef_` is a CSR matrix, which is smaller where a penalty has made most weights 0.

        What was learned stays: scores are the same, and learning can go on. `fit` makes `coef_` an array again.
        """
        self._linear()
        self._sparse_coef = True
        return self

    @available_if(_has_weights)  # type: ignore[untyped-decorator]
    def densify(self) -> Self:
        """From now on `coef_` is an array again."""
        self._linear()
        self._sparse_coef = False
        return self

    def _linear(self) -> Linear:
        if not self.has_learned:
            raise AttributeError(f"{type(self).__name__} has no weights yet: call fit first")
        answer = self.predictors()[0]
        if not isinstance(answer, Linear):
            raise AttributeError("a vote has no single weight vector: use keep='average', whose weights come closest")
        return answer


class LinearLearner(Classifying, WeightLearner):
    """A rule, a keep and the linear space, as a scikit-learn classifier."""
