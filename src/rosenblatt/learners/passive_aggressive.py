"""The passive-aggressive algorithms: the shortest step that removes the loss of a row, of classes or of numbers.

Invariant: this file does not learn. A class joins params to the linear learner, and documents them. The targets of a
regression are numbers (`Numbers`), and it has one weight row.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, Self, TypeVar

from sklearn.base import RegressorMixin

from rosenblatt import params
from rosenblatt.data.labels import Numbers
from rosenblatt.learners.base import ClassifierMixin, LinearLearner, learner
from rosenblatt.params import check_fields, choice, like, switch

AnyParams = TypeVar("AnyParams", bound=params.LimitedParams)


@learner
class PassiveAggressive(params.PassiveAggressiveParams, ClassifierMixin, LinearLearner):
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
    C: float = like(params.PassiveAggressiveParams, "C", 1.0)
    fit_intercept: bool = like(params.PassiveAggressiveParams, "fit_intercept", True)
    max_iter: int = like(params.PassiveAggressiveParams, "max_iter", 1000)
    tol: float | None = like(params.PassiveAggressiveParams, "tol", 1e-3)
    early_stopping: bool = like(params.PassiveAggressiveParams, "early_stopping", False)
    validation_fraction: float = like(params.PassiveAggressiveParams, "validation_fraction", 0.1)
    n_iter_no_change: int = like(params.PassiveAggressiveParams, "n_iter_no_change", 5)
    shuffle: bool = like(params.PassiveAggressiveParams, "shuffle", True)
    verbose: int = like(params.PassiveAggressiveParams, "verbose", 0)
    random_state: Any = like(params.PassiveAggressiveParams, "random_state", None)
    warm_start: bool = like(params.PassiveAggressiveParams, "warm_start", False)
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
    n_jobs: int | None = like(params.PassiveAggressiveParams, "n_jobs", None)
    class_weight: Any = like(params.PassiveAggressiveParams, "class_weight", None)
    multiclass: Literal["joint", "ovr"] = like(params.PassiveAggressiveParams, "multiclass", "ovr")

    def params(self) -> params.PassiveAggressiveParams:
        """The same params by the names of the family."""
        return self._family(params.PassiveAggressiveParams)


class RegressionLearner(RegressorMixin, LinearLearner):  # type: ignore[misc]
    """A regressor with a weight per feature."""

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
        params: Any = self.params()
        params.check()
        return Numbers.of(y, float(params.epsilon))


@learner
class PassiveAggressiveRegression(params.PassiveAggressiveRegressionParams, RegressionLearner):
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

    def params(self) -> params.PassiveAggressiveRegressionParams:  # type: ignore[override]
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
    epsilon: float = like(params.PassiveAggressiveRegressionParams, "epsilon", 0.1)

    def params(self) -> params.PassiveAggressiveRegressionParams:
        """The same params by the names of the family."""
        return self._family(params.PassiveAggressiveRegressionParams, scale_target=False)
