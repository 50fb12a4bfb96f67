"""Passive-aggressive regression: numbers instead of classes, by the same steps.

Invariant: this file holds no learning. Targets are numbers (`Numbers`), and one weight row comes close to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from rosenblatt.data.labels import PAIR, Labels, Numbers
from rosenblatt.learners.linear import WeightLearner
from rosenblatt.learners.passive_aggressive import NamedByLoss, Variant, params_by_loss
from rosenblatt.params import PassiveAggressiveRegressionParams


class Measuring(RegressorMixin, WeightLearner):  # type: ignore[misc]
    """A rule, a keep and the linear space, as a scikit-learn regressor."""

    def params(self) -> PassiveAggressiveRegressionParams:
        """Everything that this learner is told, as plain values."""
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from these rows once, in their order, going on from what was learned before.

        One call with all rows is one epoch of `fit` without shuffling; any cut of the rows into calls gives the
        same bits.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        self
        """
        with self._units_of(y):
            return super().partial_fit(X, y, None, sample_weight)

    def learn_one(self, features: dict[Any, float], target: float, weight: float = 1.0) -> Self:
        """Learn from one example: a dict of names and numbers, and the number to come close to."""
        self.labels_of([target])
        if self._learned is not None:
            return super().learn_one(features, target, weight)
        with self._units_of([target]):
            return super().learn_one(features, target, weight)

    def learn_many(self, examples: Any, labels: Any, weights: Any = None) -> Self:
        """Learn from examples one after another, as `learn_one` does."""
        listed = list(labels)
        with self._units_of(listed):
            return super().learn_many(examples, listed, weights)

    @contextmanager
    def _units_of(self, y: Any) -> Iterator[None]:
        """Of rows that come as a stream the first target's size is the unit, however they are cut into calls."""
        if self._learned is not None or not getattr(self, "scale_target", False):
            yield
            return
        self.__dict__.pop("target_scale_", None)
        numbers = self.labels_of(y)
        first = abs(float(numbers.numbers[0])) if len(numbers.codes) else 0.0  # type: ignore[attr-defined]
        self.target_scale_ = first or 1.0
        try:
            yield
        finally:
            if self._learned is None:
                self.__dict__.pop("target_scale_", None)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number of each row."""
        return self.scores(X)[:, 0]

    def predict_one(self, features: dict[Any, float]) -> float:
        """The number of one example; features that were never seen count for nothing."""
        return float(self.scores_one(features)[0])

    @property
    def coef_(self) -> Any:
        """The weights, of shape (n_features,)."""
        weights = super().coef_
        return weights if vars(self).get("_sparse_coef") else weights[0]

    def labels_of(self, y: Any) -> Labels:
        """The numbers of `y`, checked."""
        return Numbers.of(y, self.params().epsilon)

    def install(self, classes: NDArray[Any], states: list[Any]) -> None:
        """From now on these states are what was learned."""
        super().install(PAIR, states)

    @property
    def classes_(self) -> NDArray[Any]:
        """There are none."""
        raise AttributeError(f"{type(self).__name__} predicts numbers: it has no classes")

    @classes_.setter
    def classes_(self, classes: NDArray[Any]) -> None:
        """One score is all that is told apart."""

    def _classes_of(self, label: Any) -> NDArray[Any]:
        return PAIR

    def _known(self, classes: NDArray[Any], label: Any) -> Any:
        return label


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegression(PassiveAggressiveRegressionParams, Measuring):
    """The smallest change of the weights that brings each prediction within epsilon of its target.

    A regression that reads each row once, needs no learning rate and follows streams. "PA" trusts every target; "PA-I"
    and "PA-II" limit the step by `C`, for data with noise. Choose least squares instead where all rows fit into memory
    and outliers are few.

    Update::

        l = max(0, |y - (w·x + b)| - epsilon),   q = ‖x‖² (+ 1 with an intercept)
        PA: tau = l/q     PA-I: tau = min(C, l/q)     PA-II: tau = l/(q + 1/(2C))
        w += sign(y - (w·x + b)) tau x,   b likewise

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        How the step is limited.
    C : float, default=1.0
        The limit: smaller is more cautious. "PA" does not use it.
    epsilon : float, default=0.1
        How far from its target a prediction may be without a step.
    scale_target : bool, default=True
        `C` and `epsilon` are in units of the targets' spread, their mean distance from the median of the different
        targets, and learning starts at that median: so they mean the same for euros and millions. In `partial_fit` and
        streams the unit is the size of the first target. Predictions and `coef_` are always in the unit of y. False is
        the paper's algorithm.
    keep : {"last", "average", "tail"}, default="last"
        Which weights are the answer; "average" is a good choice for noisy data.
    early_stopping : bool, default=False
        Stop by R² on held-out rows.
    penalty, alpha, l1_ratio, fit_intercept, max_iter, tol, shuffle, random_state, init, n_init, validation_fraction, \
n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`. A sample weight s makes the limit ``s C``.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : array of shape (1,)
    target_scale_ : float
        The spread of the training targets, in which `C` and `epsilon` are measured.
    n_features_in_, n_iter_, converged_, stop_reason_, mistakes_, updates_, history_
        As for `Perceptron`; a mistake is a prediction farther than epsilon from its target.

    Notes
    -----
    If some u comes within epsilon of every target, the squared losses of PA sum up to at most ``‖u‖² R²``. Converged
    means that an epoch passed with every prediction within epsilon. Cost: as for `PassiveAggressive`.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer (2006), Online passive-aggressive
    algorithms, section 5.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveRegression
    >>> learner = PassiveAggressiveRegression(variant="PA", epsilon=0.01).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> learner.predict([[10.0]]).round(0).tolist()
    [21.0]
    """

    def params(self) -> PassiveAggressiveRegressionParams:  # type: ignore[override]
        """Everything that this learner is told, in the units of the targets that it has learned."""
        unit = vars(self).get("target_scale_")
        return self if unit is None else self.scaled(unit)


@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(NamedByLoss, Measuring):
    """scikit-learn's PassiveAggressiveRegressor by its own parameters, which left scikit-learn with 1.10.

    ``loss="epsilon_insensitive"`` is PA-I, ``loss="squared_epsilon_insensitive"`` PA-II. New code is better written
    with `PassiveAggressiveRegression`.

    Parameters
    ----------
    C : float, default=1.0
        The limit of a step.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        PA-I or PA-II.
    epsilon : float, default=0.1
        How far from its target a prediction may be without a step.
    average : bool, default=False
        Answer with the mean of the weights.
    fit_intercept, max_iter, tol, shuffle, random_state, early_stopping, validation_fraction, n_iter_no_change, \
warm_start, verbose
        As for `Perceptron`; `tol` is a share of the rows, not a difference of losses.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveRegressor
    >>> PassiveAggressiveRegressor(random_state=0).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.5]]).round(1).tolist()
    [0.5]
    """

    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"
    epsilon: float = 0.1

    def params(self) -> PassiveAggressiveRegressionParams:
        """The same by the family's own names."""
        losses: dict[str, Variant] = {"epsilon_insensitive": "PA-I", "squared_epsilon_insensitive": "PA-II"}
        params = params_by_loss(self, PassiveAggressiveRegressionParams, losses)
        params.scale_target = False
        return params
