"""What users look for: weights and probabilities for one example, bounded streams, scores of choice, several labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from learners import KERNEL, LINEAR, PROBABLE, answers, assert_same, dicts, each, rows
from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    Perceptron,
    Sweep,
    cross_validate,
    tune,
)
from rosenblatt.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- one example at a time


@each(LINEAR)
def test_learn_one_takes_a_weight_as_partial_fit_does(make: Any) -> None:
    X, y = rows(classes=3)
    weights = np.resize([1.0, 3.0, 0.0, 0.5], 60)
    one, many = make(), make()
    for x, row, label, weight in zip(dicts(X), X, y.tolist(), weights.tolist(), strict=True):
        one.learn_one(x, label, weight=weight)
        if weight:
            many.partial_fit(row[None], [label], sample_weight=[weight])
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-9, atol=1e-9)


def test_learn_one_refuses_a_negative_weight() -> None:
    with pytest.raises(DataError, match="weight"):
        Perceptron().learn_one({"a": 1.0}, "x", weight=-1.0)


@each(KERNEL | {name: make for name, make in PROBABLE.items() if name != "auto"})
def test_learn_one_of_every_learner_goes_on_as_partial_fit_does(make: Any) -> None:
    X, y = rows(40)
    one, many = make().fit(X[:30], y[:30]), make().fit(X[:30], y[:30])
    for x, row, label in zip(dicts(X[30:]), X[30:], y[30:].tolist(), strict=True):
        one.learn_one(x, label)
        many.partial_fit(row[None], [label])
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-9, atol=1e-9)
    assert one.predict_one(dicts(X)[0]) == many.predict(X[:1])[0]


@each(PROBABLE)
def test_the_probabilities_of_one_example_are_those_of_its_row(make: Any) -> None:
    X, y = rows(60, classes=3)
    learner = make().fit(X, y)
    found = learner.predict_proba_one(dicts(X)[0])
    assert list(found) == learner.classes_.tolist()
    np.testing.assert_allclose(list(found.values()), learner.predict_proba(X[:1])[0])


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, AROW])
def test_a_hashed_stream_has_a_bounded_number_of_weights(kind: Any) -> None:
    learner = kind(hash_bits=6)
    for k in range(500):
        learner.learn_one({f"word {k}": 1.0, f"word {k + 1}": 1.0}, k % 2)
    assert learner.coef_.shape == (1, 64)
    assert learner.n_features_in_ == 64


def test_a_hashed_stream_has_the_same_bits_in_every_process() -> None:
    first, second = Perceptron(hash_bits=10), Perceptron(hash_bits=10)
    for k in range(50):
        first.learn_one({f"word {k % 7}": 1.0}, k % 2)
        second.learn_one({f"word {k % 7}": 1.0}, k % 2)
    assert first.coef_.tolist() == second.coef_.tolist()
    assert np.count_nonzero(first.coef_) <= 7


# -- scores of choice


def rare() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (np.arange(1000) % 25 == 0).astype(int)
    return rng.normal(size=(1000, 3)) + 1.0 * y[:, None], y


def test_a_sweep_chooses_by_the_score_asked_for() -> None:
    X, y = rare()
    learners = [AveragedPerceptron(max_iter=5), AveragedPerceptron(max_iter=5, class_weight="balanced")]
    sweep = Sweep(learners, scoring="balanced_accuracy", n_jobs=1).fit(X, y)
    assert sweep.best_index_ == 1
    assert sweep.scores_[1] > 0.6


def test_auto_perceptron_takes_a_score() -> None:
    X, y = rare()
    learner = AutoPerceptron(scoring="balanced_accuracy", class_weight="balanced", n_jobs=1).fit(X, y)
    assert balanced_accuracy_score(y, learner.predict(X)) > 0.6
    assert "balanced_accuracy" in learner.choice_


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1", balanced_accuracy_score])
def test_tune_and_cross_validation_take_a_score(scoring: Any) -> None:
    X, y = rare()
    assert cross_validate(X, y, AveragedPerceptron(max_iter=2), scoring=scoring, n_jobs=1).scores.shape == (5,)
    assert tune(X, y, folds=2, scoring=scoring, n_jobs=1).best is not None


# -- kernels among the others


@each({name: KERNEL[name] for name in ("kernel", "kernel vote ovr", "projectron")})
def test_a_kernel_learner_can_be_calibrated(make: Any) -> None:
    X, y = rows(60, classes=3)
    p = Calibrated(make(), n_jobs=1).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_kernel_learner_can_be_cross_validated() -> None:
    X, y = rows(60)
    assert cross_validate(X, y, KernelPerceptron(max_iter=5), folds=3, n_jobs=1).scores.shape == (3,)


# -- several labels at once


@each({name: LINEAR[name] for name in ("last", "average", "vote", "pocket", "PA-I", "AROW")})
def test_an_indicator_of_several_labels_is_one_problem_for_each(make: Any) -> None:
    X, _ = rows(60)
    rng = np.random.default_rng(0)
    Y = (X @ rng.normal(size=(4, 3)) > 0).astype(int)
    learner = make().fit(X, Y)
    found = learner.predict(X)
    assert found.shape == (60, 3)
    assert set(np.unique(found)) <= {0, 1}
    for k in range(3):
        alone = make().fit(X, Y[:, k])
        assert_same([learner.decision_function(X)[:, k], found[:, k]], answers(alone, X), f"label {k}")
