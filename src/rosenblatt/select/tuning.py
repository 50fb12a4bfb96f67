"""`tune`: rules and their parameters side by side, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.data.table import as_table
from rosenblatt.learners.arow import AROW
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.learners.passive_aggressive import PassiveAggressive
from rosenblatt.learners.perceptron import AveragedPerceptron
from rosenblatt.select.scaling import Scaling, find_scaling, typical_squared_norm
from rosenblatt.select.validation import CrossValidation, cross_validate

EPOCHS = (2, 10)


@dataclass(frozen=True)
class Tuning:
    """Learners with their cross-validation, the best first.

    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> found = tune(rows, labels)
    >>> len(found.tried), found.tried[0][1].mean
    (18, 1.0)
    """

    scaling: Scaling | None
    tried: list[tuple[LinearLearner, CrossValidation]]

    @property
    def best(self) -> LinearLearner:
        """The learner to take, not fitted yet."""
        return self.tried[0][0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "scaling": None if self.scaling is None else self.scaling.kind,
            "tried": [
                {"learner": shown(learner), found.scoring: found.mean, "standard_error": found.standard_error}
                for learner, found in self.tried
            ],
        }

    def __str__(self) -> str:
        how = "columns as they are" if self.scaling is None else f"columns scaled ({self.scaling.kind})"
        width = max(len(shown(learner)) for learner, _ in self.tried)
        lines = [f"{shown(learner).ljust(width)}  {found}" for learner, found in self.tried]
        return "\n".join([how, "", *lines, "", f"take {shown(self.best)}"])


def tune(
    X: Any,
    y: Any,
    *,
    folds: int = 5,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int = -1,
) -> Tuning:
    """Cross-validate averaged PA-I, AROW and the averaged perceptron over their parameters and two lengths of learning.

    Parameters
    ----------
    X, y : rows and labels
        As for `fit`; scaled first if `AutoPerceptron` would scale them.
    folds, groups, time, sample_weight, scoring, random_state, n_jobs
        As for `cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt.select import tune
    >>> found = tune(*load_iris(return_X_y=True), folds=3)
    >>> len(found.tried)
    18
    """
    table = as_table(X)
    given = None if sample_weight is None else np.asarray(sample_weight)
    if given is not None and given.shape == (table.count,) == np.shape(y)[:1] and given.any() and not given.all():
        kept = np.flatnonzero(given)  # a row of weight 0 is as if absent, also where the steps are sized
        table, y, sample_weight = as_table(table.take(kept)), np.asarray(y)[kept], given[kept]
        groups, time = (None if each is None else np.asarray(each)[kept] for each in (groups, time))
    scaling = find_scaling(table)
    scaled = table if scaling is None else scaling.apply(table)
    how = {
        "folds": folds,
        "groups": groups,
        "time": time,
        "sample_weight": sample_weight,
        "scoring": scoring,
        "random_state": random_state,
    }
    tried = [
        (learner, cross_validate(scaled.values, y, learner, n_jobs=n_jobs, **how))
        for learner in _grid(typical_squared_norm(scaled) + 1.0)
    ]
    return Tuning(scaling, sorted(tried, key=lambda pair: np.nan_to_num(-pair[1].mean, nan=np.inf)))


def shown(learner: LinearLearner) -> str:
    """The learner as it is written in Python, without what is left at its default."""
    given, defaults = learner.get_params(), type(learner)().get_params()
    changed = (f"{name}={value!r}" for name, value in given.items() if value != defaults[name])
    return f"{type(learner).__name__}({', '.join(changed)})"


def _grid(q: float) -> list[LinearLearner]:
    """Steps from cautious to bold for rows of median ``‖x‖² + 1 = q``."""
    found: list[LinearLearner] = []
    for epochs in EPOCHS:
        common: dict[str, Any] = {"max_iter": epochs, "tol": None}
        for share in (0.01, 0.1, 1.0, 10.0):
            found.append(PassiveAggressive(C=float(f"{share / q:.2g}"), keep="average", **common))
        for share in (0.005, 0.05, 0.5, 5.0):
            found.append(AROW(r=float(f"{share * q:.2g}"), **common))
        found.append(AveragedPerceptron(**common))
    return found
