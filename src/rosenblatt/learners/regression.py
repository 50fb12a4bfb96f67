"""Passive-aggressive regression: numbers instead of classes, by the same steps.

Invariant: this file does not learn. Targets are numbers (`Numbers`), and there is one weight row.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from sklearn.base import RegressorMixin

from rosenblatt.data.labels import Numbers
from rosenblatt.learners.base import LinearLearner, learner
from rosenblatt.learners.passive_aggressive import SklearnParams
from rosenblatt.params import PassiveAggressiveRegressionParams, choice, like


class RegressionLearner(RegressorMixin, LinearLearner):  # type: ignore[misc]
    """A regressor with a weight per feature."""

    def params(self) -> PassiveAggressiveRegressionParams:
        """All parameters by the family's names."""
        raise NotImplementedError

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from these rows once, in their order, continuing from the current state.

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
        return super().partial_fit(X, y, None, sample_weight)

    def learn_one(self, features: dict[Any, float], target: float, weight: float = 1.0) -> Self:
        """Learn from one example: a dict of names and numbers, and its target."""
        self.labels_of([target])
        return super().learn_one(features, target, weight)

    def predict_one(self, features: dict[Any, float]) -> float:
        """The predicted number of one example; unknown features are ignored."""
        return float(self.scores_one(features)[0])

    @property
    def coef_(self) -> Any:
        """The weights, of shape (n_features,), in the unit of y."""
        weights = super().coef_
        return weights if self._sparse_coef else weights[0]

    @property
    def target_scale_(self) -> float:
        """The spread of the training targets, in which `C` and `epsilon` are measured."""
        if self._learned.unit == 1.0:
            raise AttributeError("the targets are measured in their own units")
        return self._fitted.unit

    def labels_of(self, y: Any) -> Numbers:
        """The numbers of `y`, checked."""
        params = self.params()
        params.check()
        return Numbers.of(y, float(params.epsilon))


@learner
class PassiveAggressiveRegression(PassiveAggressiveRegressionParams, RegressionLearner):
    """The smallest change of the weights that brings each prediction within epsilon of its target.

    An online regression without a learning rate. "PA" trusts every target; "PA-I"
    and "PA-II" limit the step by `C`, for data with noise. Choose least squares instead if all rows fit into memory
    and outliers are few.

    Update::

        l = max(0, |y - (w·x + b)| - epsilon),   q = ‖x‖² (+ 1 with an intercept)
        PA: tau = l/q     PA-I: tau = min(C, l/q)     PA-II: tau = l/(q + 1/(2C))
        w += sign(y - (w·x + b)) tau x,   b likewise

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
        """All parameters, in the unit of the learned targets."""
        return self if self._fitted.unit == 1.0 else self.scaled(self._fitted.unit)


@learner
class PassiveAggressiveRegressor(SklearnParams, RegressionLearner):
    """scikit-learn's PassiveAggressiveRegressor, with its parameters; scikit-learn 1.10 removes it.

    ``loss="epsilon_insensitive"`` is PA-I, ``loss="squared_epsilon_insensitive"`` PA-II. Use
    `PassiveAggressiveRegression` in new code.

    Examples
    --------
    >>> from rosenblatt import PassiveAggressiveRegressor
    >>> PassiveAggressiveRegressor(random_state=0).fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.5]]).round(1).tolist()
    [0.5]
    """

    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = choice(
        "epsilon_insensitive", ("epsilon_insensitive", "squared_epsilon_insensitive"), "PA-I or PA-II."
    )
    epsilon: float = like(PassiveAggressiveRegressionParams, "epsilon", 0.1)

    def params(self) -> PassiveAggressiveRegressionParams:
        """The same params by the names of the family."""
        return self._family(PassiveAggressiveRegressionParams, scale_target=False)
