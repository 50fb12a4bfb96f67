"""The one list of learners: every estimator with what it can do, and a value other than the default for each parameter.

A new estimator or parameter gets a line here; every law then runs on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import rosenblatt as rb

# Another value for each parameter, by name; `Learner.values` has those with another meaning.
VALUES: dict[str, Any] = {
    "C": 0.07,
    "alpha": 0.003,
    "average": True,
    "beta": 0.5,
    "budget": 12,
    "cache_size": 1.0,
    "calibrate": "isotonic",
    "class_weight": {"no": 1.0, "yes": 2.5},
    "coef0": 0.5,
    "choose": "progressive",
    "folds": 3,
    "degree": 2,
    "early_stopping": True,
    "epsilon": 0.25,
    "eta0": 0.3,
    "fit_intercept": False,
    "gamma": 0.7,
    "hash_bits": 6,
    "hash_seed": 7,
    "init": "random",
    "keep": "average",
    "kernel": "poly",
    "l1_ratio": 0.6,
    "loss": "squared_hinge",
    "max_iter": 2,
    "multiclass": "ovr",
    "n_init": 2,
    "n_iter_no_change": 2,
    "n_jobs": 2,
    "penalty": "elasticnet",
    "policy": "forget-oldest",
    "products": False,
    "r": 0.5,
    "random_state": 11,
    "rule": "PA-I",
    "scale_target": False,
    "scoring": "balanced_accuracy",
    "shuffle": False,
    "tie": "positive",
    "tol": 0.05,
    "validation_fraction": 0.3,
    "variant": "PA-II",
    "warm_start": True,
}


@dataclass(frozen=True)
class Learner:
    """An estimator, and what it can do."""

    cls: type
    given: dict[str, Any] = field(default_factory=dict)  # parameters that every case has
    values: dict[str, Any] = field(default_factory=dict)  # other values than those of VALUES
    excludes: tuple[str, ...] = ()  # parameters that its keep refuses
    streams: bool = True  # partial_fit, learn_one
    regression: bool = False
    kernel: bool = False
    wrapper: bool = False  # holds other estimators
    probabilities: bool = False

    @property
    def name(self) -> str:
        return self.cls.__name__

    def make(self, **params: Any) -> Any:
        return self.cls(**{**self.given, **params})

    def cases(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """A name and parameters for the defaults, and for each parameter at another value."""
        yield "defaults", {}
        for name in self.make().get_params(deep=False):
            if name in ("learner", "learners", "verbose", *self.excludes):  # the wrapped estimators; printing
                continue
            value = self.values.get(name, VALUES.get(name))
            assert name in self.values or name in VALUES, (
                f"{self.name}.{name}: name another value in tests/laws/registry.py"
            )
            needed = {key: one for key, one in REQUIRES.get(name, {}).items() if key in self.make().get_params()}
            yield f"{name}={value}", {name: value, **needed}


# What a parameter needs beside it to have an effect.
REQUIRES: dict[str, dict[str, Any]] = {
    "alpha": {"penalty": "l2"},
    "l1_ratio": {"penalty": "elasticnet"},
    "validation_fraction": {"early_stopping": True},
    "hash_seed": {"hash_bits": 6},
    "policy": {"budget": 12},
}
FEW = {"max_iter": 5}
PENALTY = ("penalty", "alpha", "l1_ratio")
LEARNERS: dict[str, Learner] = {
    each.name: each
    for each in (
        Learner(rb.Perceptron, FEW),
        Learner(rb.AveragedPerceptron, FEW),
        Learner(rb.VotedPerceptron, FEW, excludes=PENALTY),
        Learner(rb.PocketPerceptron, FEW, excludes=PENALTY),
        Learner(rb.NormalizedPerceptron, FEW),
        Learner(rb.PassiveAggressive, FEW),
        Learner(rb.PassiveAggressiveClassifier, FEW | {"random_state": 0}, {"multiclass": "joint"}),
        Learner(rb.AROW, FEW),
        Learner(rb.KernelPerceptron, FEW, kernel=True),
        Learner(rb.PassiveAggressiveRegression, FEW, regression=True),
        Learner(
            rb.PassiveAggressiveRegressor,
            FEW | {"random_state": 0},
            {"loss": "squared_epsilon_insensitive"},
            regression=True,
        ),
        Learner(rb.Calibrated, {"learner": rb.AveragedPerceptron(max_iter=5)}, wrapper=True, probabilities=True),
        Learner(
            rb.Sweep,
            {"learners": [rb.AveragedPerceptron(max_iter=5), rb.AROW(max_iter=5)]},
            streams=False,
            wrapper=True,
        ),
        Learner(rb.AutoPerceptron, {"n_jobs": 1}, wrapper=True, probabilities=True),
    )
}
