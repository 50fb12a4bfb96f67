"""Weights that overflow are an error in every call, and the learner stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from learners import answers, assert_same, rows
from rosenblatt import AveragedPerceptron, Calibrated, KernelPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BOLD = [
    Perceptron(eta0=1e100),
    AveragedPerceptron(eta0=1e100),
    VotedPerceptron(eta0=1e100),
    PocketPerceptron(eta0=1e100),
    Perceptron(eta0=1e100, multiclass="ovr"),
    Perceptron(eta0=1e100, penalty="l2", alpha=1e-110),
]
every_bold = pytest.mark.parametrize("learner", BOLD, ids=repr)

FAR = np.full((6, 4), 1e99)
FAR_LABELS = np.array(["class 0", "class 1", "class 2"] * 2)
HEAVY = np.full(6, 1e120)


@every_bold
def test_partial_fit_that_overflows_is_refused(learner: Any) -> None:
    with pytest.raises(DataError, match="overflow"):
        clone(learner).partial_fit(FAR, FAR_LABELS, sample_weight=HEAVY)


@every_bold
def test_partial_fit_that_overflows_leaves_the_learner_as_it_was(learner: Any) -> None:
    X, y = rows()
    learner = clone(learner).partial_fit(X, y)
    before, counted = answers(learner, X), (learner.mistakes_, learner.updates_, learner.classes_.tolist())
    with pytest.raises(DataError, match="overflow"):
        learner.partial_fit(FAR, FAR_LABELS, sample_weight=HEAVY)
    assert_same(answers(learner, X), before)
    assert (learner.mistakes_, learner.updates_, learner.classes_.tolist()) == counted


def test_float32_weights_that_overflow_are_refused() -> None:
    far = np.full((4, 2), 1e15, np.float32)
    with pytest.raises(DataError, match="overflow"):
        Perceptron(eta0=1e30).partial_fit(far, [0, 1, 0, 1])


def test_learn_one_that_overflows_is_refused_and_nothing_is_learned() -> None:
    learner = Perceptron(eta0=1e100).learn_one({"a": 1.0}, "x").learn_one({"a": -1.0}, "y")
    learner.set_params(class_weight={"x": 1e150, "y": 1e150})
    with pytest.raises(DataError, match="overflow"):
        [learner.learn_one({"a": 1e99}, label) for label in ["x", "y"] * 3]
    assert np.isfinite(learner.coef_).all()


@pytest.mark.parametrize("budget", [None, 5])
def test_a_kernel_that_overflows_in_partial_fit_is_refused(budget: int | None) -> None:
    far = np.full((4, 2), 1e90)
    learner = KernelPerceptron(kernel="poly", degree=5, gamma=1.0, budget=budget)
    with pytest.raises(DataError, match="overflow"):
        learner.partial_fit(far, [0, 1, 0, 1])


def test_a_calibrated_learner_whose_weights_overflow_is_as_it_was() -> None:
    X, y = rows()
    learner = Calibrated(AveragedPerceptron(eta0=1e100, max_iter=5), n_jobs=1).fit(X, y)
    before = answers(learner, X)
    with pytest.raises(DataError, match="overflow"):
        learner.partial_fit(FAR, FAR_LABELS, sample_weight=HEAVY)
    assert_same(answers(learner, X), before)
