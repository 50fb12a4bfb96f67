"""All learners, in one place: a law of this folder holds for every one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressive,
    PassiveAggressiveClassifier,
    Perceptron,
    PocketPerceptron,
    Sweep,
    VotedPerceptron,
)

Make = Callable[[], Any]


def rbf(a: Any, b: Any) -> Any:
    """A kernel of the user's own."""
    a, b = (rows.toarray() if sp.issparse(rows) else rows for rows in (a, b))
    return np.exp(-((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))


# Linear, each with `fit`, `partial_fit`, `learn_one` and `predict_one`.
LINEAR: dict[str, Make] = {
    "last": lambda: Perceptron(max_iter=20),
    "margin": lambda: Perceptron(beta=1.0, eta0=0.5, max_iter=20),
    "positive tie": lambda: Perceptron(tie="positive", fit_intercept=False, multiclass="ovr", max_iter=20),
    "average": lambda: AveragedPerceptron(max_iter=20),
    "vote": lambda: VotedPerceptron(max_iter=20),
    "pocket": lambda: PocketPerceptron(max_iter=20),
    "average ovr": lambda: AveragedPerceptron(multiclass="ovr", max_iter=20),
    "vote ovr": lambda: VotedPerceptron(multiclass="ovr", max_iter=20),
    "pocket ovr": lambda: PocketPerceptron(multiclass="ovr", max_iter=20),
    "l2": lambda: Perceptron(penalty="l2", alpha=0.01, max_iter=20),
    "average l1": lambda: AveragedPerceptron(penalty="l1", alpha=0.01, max_iter=20),
    "PA": lambda: PassiveAggressive(variant="PA", max_iter=20),
    "PA-I": lambda: PassiveAggressive(C=0.1, max_iter=20),
    "PA-I average": lambda: PassiveAggressive(C=0.1, keep="average", max_iter=20),
    "PA-II vote": lambda: PassiveAggressive(variant="PA-II", keep="vote", max_iter=20),
    "PA-II pocket": lambda: PassiveAggressive(variant="PA-II", keep="pocket", max_iter=20),
    "PassiveAggressiveClassifier": lambda: PassiveAggressiveClassifier(random_state=0, max_iter=20),
    "AROW": lambda: AROW(max_iter=20),
    "AROW average": lambda: AROW(keep="average", max_iter=20),
    "AROW ovr": lambda: AROW(multiclass="ovr", max_iter=20),
}

KERNEL: dict[str, Make] = {
    "kernel": lambda: KernelPerceptron(gamma=0.5, max_iter=20),
    "kernel average": lambda: KernelPerceptron(gamma=0.5, keep="average", max_iter=20),
    "kernel vote ovr": lambda: KernelPerceptron(gamma=0.5, keep="vote", multiclass="ovr", max_iter=20),
    "kernel pocket": lambda: KernelPerceptron(gamma=0.5, keep="pocket", max_iter=20),
    "kernel PA-I": lambda: KernelPerceptron(gamma=0.5, rule="PA-I", max_iter=20),
    "kernel function": lambda: KernelPerceptron(kernel=rbf, max_iter=20),
    "projectron": lambda: KernelPerceptron(gamma=0.5, budget=10, max_iter=20),
    "forget-oldest": lambda: KernelPerceptron(gamma=0.5, budget=10, policy="forget-oldest", max_iter=20),
    "forgetron ovr": lambda: KernelPerceptron(gamma=0.5, budget=10, policy="forgetron", multiclass="ovr", max_iter=20),
}

# Around others; each has `fit` and `partial_fit` but for the sweep.
PROBABLE: dict[str, Make] = {
    "auto": lambda: AutoPerceptron(n_jobs=1),
    "auto linear": lambda: AutoPerceptron(products=False, calibrate="sigmoid", n_jobs=1),
    "sigmoid": lambda: Calibrated(AveragedPerceptron(max_iter=20), n_jobs=1),
    "isotonic": lambda: Calibrated(PassiveAggressive(C=0.1, max_iter=20), calibrate="isotonic", n_jobs=1),
    "votes": lambda: Calibrated(VotedPerceptron(max_iter=20), calibrate="vote", n_jobs=1),
    "votes ovr": lambda: Calibrated(VotedPerceptron(multiclass="ovr", max_iter=20), calibrate="vote", n_jobs=1),
}
SWEEP: dict[str, Make] = {
    "sweep": lambda: Sweep([AveragedPerceptron(max_iter=5), AROW(max_iter=5)], n_jobs=1),
}

LEARNERS = LINEAR | KERNEL | PROBABLE | SWEEP
STREAMING = LINEAR | KERNEL | PROBABLE  # that have `partial_fit`


def each(learners: dict[str, Make]) -> Any:
    """Run a test once for each of these learners."""
    return pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in learners.items()])


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
