"""The one list of learners: every estimator with what it can do, and the configurations that learn in their own way.

A new estimator, parameter, rule or keep gets a line here; every law then runs on it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

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
    excludes: tuple[str, ...] = ()  # parameters that its keep rejects
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

# -- configurations: every rule, keep and option that learning depends on

Make = Callable[[], Any]


def rbf(a: Any, b: Any) -> Any:
    """A kernel of the user's own."""
    a, b = (rows.toarray() if sp.issparse(rows) else rows for rows in (a, b))
    return np.exp(-((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


# Linear, each with `fit`, `partial_fit`, `learn_one` and `predict_one`.
LINEAR: dict[str, Make] = {
    "last": lambda: rb.Perceptron(max_iter=20),
    "margin": lambda: rb.Perceptron(beta=1.0, eta0=0.5, max_iter=20),
    "positive tie": lambda: rb.Perceptron(tie="positive", fit_intercept=False, multiclass="ovr", max_iter=20),
    "average": lambda: rb.AveragedPerceptron(max_iter=20),
    "tail": lambda: rb.Perceptron(keep="tail", max_iter=20),
    "normalized": lambda: rb.NormalizedPerceptron(max_iter=20),
    "normalized vote": lambda: rb.NormalizedPerceptron(keep="vote", max_iter=20),
    "vote": lambda: rb.VotedPerceptron(max_iter=20),
    "pocket": lambda: rb.PocketPerceptron(max_iter=20),
    "average ovr": lambda: rb.AveragedPerceptron(multiclass="ovr", max_iter=20),
    "vote ovr": lambda: rb.VotedPerceptron(multiclass="ovr", max_iter=20),
    "pocket ovr": lambda: rb.PocketPerceptron(multiclass="ovr", max_iter=20),
    "l2": lambda: rb.Perceptron(penalty="l2", alpha=0.01, max_iter=20),
    "average l1": lambda: rb.AveragedPerceptron(penalty="l1", alpha=0.01, max_iter=20),
    "PA-I average elasticnet": lambda: rb.PassiveAggressive(
        penalty="elasticnet", alpha=0.01, keep="average", max_iter=20
    ),
    "PA": lambda: rb.PassiveAggressive(variant="PA", max_iter=20),
    "PA-I": lambda: rb.PassiveAggressive(C=0.1, max_iter=20),
    "PA-I average": lambda: rb.PassiveAggressive(C=0.1, keep="average", max_iter=20),
    "PA-II vote": lambda: rb.PassiveAggressive(variant="PA-II", keep="vote", max_iter=20),
    "PA-II pocket": lambda: rb.PassiveAggressive(variant="PA-II", keep="pocket", max_iter=20),
    "PassiveAggressiveClassifier": lambda: rb.PassiveAggressiveClassifier(random_state=0, max_iter=20),
    "AROW": lambda: rb.AROW(max_iter=20),
    "AROW average": lambda: rb.AROW(keep="average", max_iter=20),
    "AROW ovr": lambda: rb.AROW(multiclass="ovr", max_iter=20),
}

KERNEL: dict[str, Make] = {
    "kernel": lambda: rb.KernelPerceptron(gamma=0.5, max_iter=20),
    "kernel average": lambda: rb.KernelPerceptron(gamma=0.5, keep="average", max_iter=20),
    "kernel vote ovr": lambda: rb.KernelPerceptron(gamma=0.5, keep="vote", multiclass="ovr", max_iter=20),
    "kernel pocket": lambda: rb.KernelPerceptron(gamma=0.5, keep="pocket", max_iter=20),
    "kernel PA-I": lambda: rb.KernelPerceptron(gamma=0.5, rule="PA-I", max_iter=20),
    "kernel function": lambda: rb.KernelPerceptron(kernel=rbf, max_iter=20),
    "projectron": lambda: rb.KernelPerceptron(gamma=0.5, budget=10, max_iter=20),
    "forget-oldest": lambda: rb.KernelPerceptron(gamma=0.5, budget=10, policy="forget-oldest", max_iter=20),
    "forgetron ovr": lambda: rb.KernelPerceptron(
        gamma=0.5, budget=10, policy="forgetron", multiclass="ovr", max_iter=20
    ),
}

# Meta-estimators; each has `fit` and `partial_fit` but for the sweep.
PROBABLE: dict[str, Make] = {
    "auto": lambda: rb.AutoPerceptron(n_jobs=1),
    "auto linear": lambda: rb.AutoPerceptron(products=False, calibrate="sigmoid", n_jobs=1),
    "sigmoid": lambda: rb.Calibrated(rb.AveragedPerceptron(max_iter=20), n_jobs=1),
    "isotonic": lambda: rb.Calibrated(rb.PassiveAggressive(C=0.1, max_iter=20), calibrate="isotonic", n_jobs=1),
    "votes": lambda: rb.Calibrated(rb.VotedPerceptron(multiclass="ovr", max_iter=20), n_jobs=1),
}
SWEEP: dict[str, Make] = {
    "sweep": lambda: rb.Sweep([rb.AveragedPerceptron(max_iter=5), rb.AROW(max_iter=5)], n_jobs=1),
}

# Streams of hashed names.
HASHED: dict[str, Make] = {
    "hashed": lambda: rb.Perceptron(hash_bits=3, max_iter=20),
    "hashed average ovr": lambda: rb.AveragedPerceptron(hash_bits=3, multiclass="ovr", max_iter=20),
    "hashed vote": lambda: rb.VotedPerceptron(hash_bits=3, max_iter=20),
}
# Regressions.
NUMBERS: dict[str, Make] = {
    "PA of numbers": lambda: rb.PassiveAggressiveRegression(variant="PA", max_iter=20),
    "PA-I of numbers": lambda: rb.PassiveAggressiveRegression(C=0.1, max_iter=20),
    "PA-II of numbers average": lambda: rb.PassiveAggressiveRegression(variant="PA-II", keep="average", max_iter=20),
    "regressor": lambda: rb.PassiveAggressiveRegressor(random_state=0, max_iter=20),
}
# For several labels per row.
SEVERAL: dict[str, Make] = {
    "several": lambda: rb.Perceptron(multiclass="ovr", max_iter=20),
    "several average": lambda: rb.AveragedPerceptron(multiclass="ovr", max_iter=20),
    "several PA": lambda: rb.PassiveAggressive(C=0.1, multiclass="ovr", max_iter=20),
    "several pocket": lambda: rb.PocketPerceptron(multiclass="ovr", max_iter=20),
}
CONFIGURATIONS = LINEAR | KERNEL | PROBABLE | SWEEP
STREAMING = LINEAR | KERNEL | PROBABLE  # that have `partial_fit`


def each(learners: dict[str, Make]) -> Any:
    """Run a test once for each of these learners."""
    return pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in learners.items()])


# -- rows, and everything that a learner answers


def rows(n: int = 60, d: int = 4, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Rows and labels with a little noise; values of few bits, so that sums are exact in any order."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y]
    return np.round(X * 8) / 8, np.array([f"class {k}" for k in range(classes)])[y]


def answers(learner: Any, X: Any) -> list[Any]:
    """Everything that a learner says about these rows."""
    said = [learner.decision_function(X), learner.predict(X)]
    if hasattr(learner, "predict_proba") and getattr(learner, "calibrator", True) is not None:
        said.append(learner.predict_proba(X))
    return said


def same(a: list[Any], b: list[Any]) -> bool:
    """The same answers, bit for bit."""
    return all(left.shape == right.shape and np.array_equal(left, right) for left, right in zip(a, b, strict=True))


def assert_same(found: Any, expected: list[Any], what: str = "the answers") -> None:
    """Raise unless these are the expected answers, bit for bit; an exception in their place is raised."""
    if isinstance(found, Exception):
        raise AssertionError(f"{what}: {found!r}") from found
    if not same(found, expected):
        shapes = [one.shape for one in found], [one.shape for one in expected]
        raise AssertionError(f"{what} differ; shapes {shapes[0]}, expected {shapes[1]}")


def dicts(X: Any) -> list[dict[int, float]]:
    """The rows as examples of a stream, named by their column numbers."""
    return [dict(enumerate(row)) for row in np.asarray(X).tolist()]
