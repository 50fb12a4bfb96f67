"""The one list of all learners: a law is tried on every one of them, by name.

A new rule, keep or option that learning depends on gets a line here.
"""

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
    NormalizedPerceptron,
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
    "tail": lambda: Perceptron(keep="tail", max_iter=20),
    "normalized": lambda: NormalizedPerceptron(max_iter=20),
    "normalized vote": lambda: NormalizedPerceptron(keep="vote", max_iter=20),
    "vote": lambda: VotedPerceptron(max_iter=20),
    "pocket": lambda: PocketPerceptron(max_iter=20),
    "average ovr": lambda: AveragedPerceptron(multiclass="ovr", max_iter=20),
    "vote ovr": lambda: VotedPerceptron(multiclass="ovr", max_iter=20),
    "pocket ovr": lambda: PocketPerceptron(multiclass="ovr", max_iter=20),
    "l2": lambda: Perceptron(penalty="l2", alpha=0.01, max_iter=20),
    "average l1": lambda: AveragedPerceptron(penalty="l1", alpha=0.01, max_iter=20),
    "PA-I average elasticnet": lambda: PassiveAggressive(penalty="elasticnet", alpha=0.01, keep="average", max_iter=20),
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
