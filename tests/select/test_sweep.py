"""Learners side by side are the learners alone, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, PocketPerceptron, Sweep, VotedPerceptron
from rosenblatt.errors import ParameterError
from rosenblatt.select import sweep as sweeps

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def overlapping(rows: int, features: int, classes: int, seed: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features))
    y = np.argmax(X @ generator.normal(size=(features, classes)) + generator.normal(size=(rows, classes)), axis=1)
    return X, y


LEARNERS = [
    Perceptron(max_iter=6),
    AveragedPerceptron(max_iter=6),
    VotedPerceptron(max_iter=4),
    PocketPerceptron(max_iter=6),
    *(PassiveAggressive(C=C, keep="average", max_iter=6) for C in (0.01, 0.1, 1.0)),
    PassiveAggressive(variant="PA-II", max_iter=6, multiclass="ovr"),
    AROW(max_iter=6),
    AROW(r=0.1, keep="average", max_iter=6),
    Perceptron(max_iter=6, shuffle=False),
    Perceptron(max_iter=6, random_state=3, n_init=2),
    Perceptron(max_iter=2),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", ["dense", pytest.param("float32", marks=pytest.mark.slow), "sparse"])
@pytest.mark.parametrize("choose", ["holdout", "progressive"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_equals_itself_trained_alone(classes: int, layout: str, choose: Any, n_jobs: int) -> None:
    X, y = overlapping(3000, 40, classes, seed=1)
    X = {"dense": X, "float32": X.astype(np.float32), "sparse": sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))}[layout]
    learners = LEARNERS if choose == "holdout" else [each for each in LEARNERS if each.multiclass == "joint"]
    sweep = Sweep(learners, choose=choose, validation_fraction=0.2, n_jobs=n_jobs).fit(X, y)
    for learner, beside in zip(learners, sweep.learners_, strict=True):
        alone = clone(learner)
        if choose == "holdout":
            alone.set_params(early_stopping=True, validation_fraction=0.2)
        alone.fit(X, y)
        assert beside.history_.mistakes == alone.history_.mistakes
        assert beside.stop_reason_ == alone.stop_reason_
        np.testing.assert_array_equal(beside.decision_function(X), alone.decision_function(X))


def test_a_thread_that_is_ahead_changes_nothing_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread has quick learners, the other slow ones that still go over the order of the epoch before."""
    monkeypatch.setattr(sweeps, "VALUES_A_THREAD", 1)
    X, y = overlapping(4000, 100, 8, seed=3)
    learners = [
        each
        for _ in range(3)
        for each in (Perceptron(max_iter=10, tol=None), AROW(keep="average", max_iter=10, tol=None))
    ]
    sweep = Sweep(learners, choose="progressive", n_jobs=2).fit(X, y)
    for learner, fitted in zip(learners[:2], sweep.learners_, strict=False):
        np.testing.assert_array_equal(fitted.coef_, clone(learner).fit(X, y).coef_)


def test_the_choice_is_the_highest_score() -> None:
    X, y = overlapping(400, 5, 2, seed=2)
    sweep = Sweep([Perceptron(max_iter=3), AveragedPerceptron(max_iter=3)], choose="progressive").fit(X, y)
    first = [1 - learner.history_.mistakes[0] / 400 for learner in sweep.learners_]
    assert sweep.scores_.tolist() == first
    assert sweep.best_ is sweep.learners_[int(np.argmax(first))]
    np.testing.assert_array_equal(sweep.predict(X), sweep.best_.predict(X))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"learners": []}, "learners: the list is empty"),
        ({"learners": ["PA"]}, "learners: entry 0, str, is not a linear learner"),
        ({"learners": [Perceptron()], "choose": "luck"}, "choose='luck': must be 'holdout' or 'progressive'"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Sweep(**options).fit([[0.0], [1.0]], [0, 1])
