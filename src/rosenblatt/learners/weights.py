"""What all linear learners share: weights, a row of them for a score.

Invariant: this file holds no learning and no checking of data; `Learner` does both for every space.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from rosenblatt.data.table import Table
from rosenblatt.learners.base import Fitting, Learner
from rosenblatt.learners.classes import weight_rows
from rosenblatt.learners.epochs import Outcome
from rosenblatt.learners.penalty import check_penalised
from rosenblatt.learners.start import starting_weights
from rosenblatt.learners.state import KeepName, State
from rosenblatt.learners.stream import OneByOne
from rosenblatt.models.linear import Linear
from rosenblatt.models.voted import Voted


def _has_weights(learner: Any) -> bool:
    """A vote has no single weight vector."""
    return bool(getattr(learner, "keep", learner._keep) != "vote")


class LinearLearner(OneByOne, Learner):
    """A rule, a keep and the linear space, as a scikit-learn classifier."""

    _states: list[State]

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
            float32 or float64 in C order, and CSR, are read where they lie; anything else is converted.
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
        init = self.init if coef_init is None and intercept_init is None else (coef_init, intercept_init)
        return self._fit(X, y, sample_weight, X_val, y_val, init)

    @property
    def coef_(self) -> Any:
        """The weights: of shape (1, n_features) with two classes, else (n_classes, n_features)."""
        weights = self._linear().weights
        return sp.csr_matrix(weights) if self.__dict__.get("_sparse_coef") else weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts: one with two classes, else one a class."""
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

    def _take_over(self, fitting: Fitting, outcomes: list[Outcome]) -> None:
        super()._take_over(fitting, outcomes)
        self.__dict__.pop("_sparse_coef", None)

    def _check_parameters(self) -> None:
        Learner._check_parameters(self)
        if self._rule().penalty is not None:
            check_penalised(self._kept())

    def _new_states(
        self, init: Any, table: Table, classes: NDArray[Any], keep: KeepName, generator: NDArray[np.uint64]
    ) -> list[State]:
        return self._weights_from(init, table.features, table.dtype, classes, keep, generator)

    def _weights_from(
        self,
        init: Any,
        features: int,
        dtype: np.dtype[Any],
        classes: NDArray[Any],
        keep: KeepName,
        generator: NDArray[np.uint64],
    ) -> list[State]:
        ovr = self._is_ovr(len(classes))
        shape = (len(classes) if ovr else weight_rows(len(classes)), features)
        weights, intercept = starting_weights(init, shape, dtype, generator, self.fit_intercept)
        begin = partial(
            State.begin,
            keep=keep,
            fit_intercept=bool(self.fit_intercept),
            second_order=self._rule().second_order,
        )
        if not ovr:
            return [begin(weights, intercept, generator=generator)]
        return [
            begin(weights[k : k + 1].copy(), intercept[k : k + 1].copy(), generator=generator.copy())
            for k in range(len(classes))
        ]

    def _make_answers(self) -> list[Any]:
        models = [state.answer() for state in self._trimmed()]
        linear = [model for model in models if isinstance(model, Linear)]
        if len(linear) == len(models) > 1:
            stacked = np.vstack([model.weights for model in linear])
            return [Linear(stacked, np.concatenate([model.intercept for model in linear]))]
        return models

    def _answer(self) -> list[Any]:
        if "_vocabulary" in vars(self):  # a stream may go on at any time
            return self._make_answers()
        return Learner._answer(self)

    def _linear(self) -> Linear:
        if not hasattr(self, "classes_"):
            raise AttributeError(f"{type(self).__name__} has no weights yet: call fit first")
        model: Linear | Voted = self._answer()[0]
        if isinstance(model, Voted):
            raise AttributeError("a vote has no single weight vector: use keep='average', whose weights come closest")
        return model
