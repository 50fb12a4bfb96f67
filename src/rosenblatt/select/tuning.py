"""`tune`: rules and their parameters side by side, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.arow import AROW
from rosenblatt.learners.passive_aggressive import PassiveAggressive
from rosenblatt.learners.perceptron import AveragedPerceptron
from rosenblatt.learners.regression import PassiveAggressiveRegression
from rosenblatt.select.auto import AutoPerceptron
from rosenblatt.select.scaling import Scaling, find_scaling, typical_squared_norm
from rosenblatt.select.validation import CrossValidation, cross_validate

EPOCHS = (2, 10)


@dataclass(frozen=True)
class Tuning:
    """Learners with their cross-validation, the best first.

    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> found = tune(rows, labels)
    >>> len(found.tried), found.tried[0][1].mean, found.fit(rows, labels).predict_proba([[5.0]]).shape
    (19, 1.0, (1, 2))
    """

    scaling: Scaling | None  # of the rows that all but AutoPerceptron, which scales by itself, learned from
    tried: list[tuple[Any, CrossValidation]]

    @property
    def best(self) -> Any:
        """The best learner, not fitted yet; it takes scaled rows."""
        return self.tried[0][0]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The best learner, fitted on unscaled rows: an `AutoPerceptron`, which scales them and has probabilities.

        For a regression it is a pipeline of scikit-learn, which scales the columns if they need it.

        Parameters
        ----------
        X, y, sample_weight
            As for `tune`.
        """
        best = clone(self.best)
        if isinstance(best, AutoPerceptron):
            return best.fit(X, y, sample_weight)
        if not isinstance(best, PassiveAggressiveRegression):
            return AutoPerceptron(products=False, random_state=best.random_state).fit_learner(best, X, y, sample_weight)
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        if self.scaling is not None:
            best = make_pipeline(StandardScaler(with_mean=not as_table(X).sparse), best)
        if sample_weight is None:
            return best.fit(X, y)
        step = "" if self.scaling is None else "passiveaggressiveregression__"
        return best.fit(X, y, **{f"{step}sample_weight": sample_weight})

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "scaling": None if self.scaling is None else self.scaling.kind,
            "tried": [
                {"learner": to_source(learner), found.scoring: found.mean, "standard_error": found.standard_error}
                for learner, found in self.tried
            ],
        }

    def __str__(self) -> str:
        how = "columns as they are" if self.scaling is None else f"columns scaled ({self.scaling.kind})"
        width = max(len(to_source(learner)) for learner, _ in self.tried)
        lines = [f"{to_source(learner).ljust(width)}  {found}" for learner, found in self.tried]
        return "\n".join([how, "", *lines, "", f"best: {to_source(self.best)}"])


def tune(
    X: Any,
    y: Any,
    *,
    task: Literal["classification", "regression"] = "classification",
    folds: int = 5,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int = -1,
) -> Tuning:
    """Cross-validate averaged PA-I, AROW, the averaged perceptron and `AutoPerceptron` over parameters and epochs.

    Choose it to see how much parameters matter; `AutoPerceptron`, which is tried too, takes a fraction of the time.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`; columns are scaled first if `AutoPerceptron` would scale them.
    task : {"classification", "regression"}, default="classification"
        "regression": the labels are numbers; PA-I regression is tried over C, epsilon and epochs.
    folds, groups, time, sample_weight, scoring, random_state, n_jobs
        As for `cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.select import tune
    >>> found = tune(*load_iris(return_X_y=True), folds=3)
    >>> len(found.tried)
    19
    """
    if task not in ("classification", "regression"):
        raise ParameterError(f"task={task!r}: must be 'classification' or 'regression'")
    table = as_table(X)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    if weights is not None and weights.shape == (table.count,) == np.shape(y)[:1] and weights.any():
        kept = np.flatnonzero(weights)  # a row of weight 0 is as if absent, also for the size of the steps
        table, y, sample_weight = as_table(table.take(kept)), np.asarray(y)[kept], weights[kept]
        groups, time = (None if each is None else np.asarray(each)[kept] for each in (groups, time))
    scaling = find_scaling(table)
    scaled = table if scaling is None else scaling.apply(table)
    how: dict[str, Any] = {"folds": folds, "groups": groups, "time": time, "sample_weight": sample_weight}
    how |= {"scoring": scoring, "random_state": random_state, "n_jobs": n_jobs}
    grid = _classifiers(scaled) if task == "classification" else _regressions(scaled, np.asarray(y, np.float64))
    tried: list[tuple[Any, CrossValidation]] = [(each, cross_validate(scaled.values, y, each, **how)) for each in grid]
    if task == "classification":
        auto = AutoPerceptron(scoring=scoring, random_state=random_state, n_jobs=n_jobs)
        tried.append((auto, cross_validate(table.values, y, auto, **how)))
    return Tuning(scaling, sorted(tried, key=lambda pair: np.nan_to_num(-pair[1].mean, nan=np.inf)))


def to_source(learner: Any) -> str:
    """The learner as it is written in Python, without parameters at their defaults."""
    params, defaults = learner.get_params(deep=False), type(learner)().get_params(deep=False)
    changed = (f"{name}={value!r}" for name, value in params.items() if value != defaults[name])
    return f"{type(learner).__name__}({', '.join(changed)})"


def _classifiers(table: Table) -> list[Any]:
    """Steps from cautious to bold for rows of median ``‖x‖² + 1 = q``."""
    q, found = typical_squared_norm(table) + 1.0, []
    for epochs in EPOCHS:
        common: dict[str, Any] = {"max_iter": epochs, "tol": None}
        for share in (0.01, 0.1, 1.0, 10.0):
            found.append(PassiveAggressive(C=_short(share / q), keep="average", **common))
        for share in (0.005, 0.05, 0.5, 5.0):
            found.append(AROW(r=_short(share * q), **common))
        found.append(AveragedPerceptron(**common))
    return found


def _regressions(table: Table, y: Any) -> list[Any]:
    """The same for numbers: steps and epsilon in units of the target's deviation, if the learner does not scale it."""
    q = typical_squared_norm(table) + 1.0
    unit = 1.0 if "scale_target" in PassiveAggressiveRegression().get_params() else float(np.std(y)) or 1.0
    return [
        PassiveAggressiveRegression(
            C=_short(share * unit / q), epsilon=_short(epsilon * unit), keep="average", max_iter=epochs, tol=None
        )
        for epochs in EPOCHS
        for share in (0.01, 0.1, 1.0, 10.0)
        for epsilon in (0.01, 0.1, 0.5)
    ]


def _short(value: float) -> float:
    return float(f"{value:.2g}")
