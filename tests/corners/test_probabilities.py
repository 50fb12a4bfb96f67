"""Probabilities are those of the data: of all of it, in any order of the rows, whatever the decision weighs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from learners import PROBABLE, each, rows
from rosenblatt import (
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressive,
    VotedPerceptron,
    cross_validate,
)
from rosenblatt.data.labels import encode_labels
from rosenblatt.errors import ParameterError
from rosenblatt.select import reliability
from rosenblatt.select.folds import assign_folds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def overlapping(n: int, *, share: float = 0.5, seed: int = 0) -> tuple[Any, Any]:
    """Two classes that overlap, so that no probability is near 0 or 1 by right."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 3)) + 0.6 * y[:, None], y


def ece(learner: Any, X: Any, y: Any) -> float:
    return reliability(learner.predict_proba(X), y).ece


# -- the order of the rows


@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_rows_sorted_by_class_are_as_well_calibrated_as_shuffled_ones(calibrate: Any) -> None:
    X, y = overlapping(24_000)
    test, truth = overlapping(8_000, seed=1)
    order = np.argsort(y, kind="stable")

    def learner() -> Any:
        return Calibrated(AveragedPerceptron(max_iter=3, tol=None), calibrate=calibrate, folds=2, n_jobs=1)

    assert ece(learner().fit(X[order], y[order]), test, truth) < 0.02 + ece(learner().fit(X, y), test, truth)


def test_the_first_partial_fit_calibrates_rows_sorted_by_class_as_fit_does() -> None:
    X, y = overlapping(24_000)
    test, truth = overlapping(8_000, seed=1)
    order = np.argsort(y, kind="stable")
    learner = Calibrated(AveragedPerceptron(max_iter=3, tol=None), folds=2, n_jobs=1)
    assert ece(learner.partial_fit(X[order], y[order]), test, truth) < 0.04


def test_every_class_of_sorted_rows_gets_probability() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 6_000)
    X = rng.normal(size=(18_000, 3)) + 0.8 * np.eye(3)[y]
    learner = Calibrated(AveragedPerceptron(max_iter=3, tol=None), folds=2, n_jobs=1).fit(X, y)
    assert learner.predict_proba(X).mean(axis=0) == pytest.approx(1 / 3, abs=0.05)


# -- class weights


@pytest.mark.parametrize(
    "learner",
    [
        Calibrated(AveragedPerceptron(class_weight="balanced", max_iter=5, tol=None), n_jobs=1),
        Calibrated(PassiveAggressive(C=0.01, class_weight={1: 99.0}, keep="average", max_iter=5, tol=None), n_jobs=1),
        Calibrated(AveragedPerceptron(class_weight="balanced", max_iter=5, tol=None), calibrate="isotonic", n_jobs=1),
        AutoPerceptron(class_weight="balanced", products=False, n_jobs=1),
    ],
    ids=["averaged", "PA-I", "isotonic", "auto"],
)
def test_class_weights_move_the_decision_and_not_the_mean_probability(learner: Any) -> None:
    X, y = overlapping(10_000, share=0.01)
    learner.fit(X, y)
    assert learner.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.005)
    assert learner.predict(X).mean() > 3 * y.mean(), "the decision does weigh the rare class"


def test_class_weights_of_three_classes_do_not_move_the_mean_probabilities() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=9_000, p=[0.9, 0.07, 0.03])
    X = rng.normal(size=(9_000, 3)) + 0.8 * np.eye(3)[y]
    base = AveragedPerceptron(class_weight="balanced", max_iter=5, tol=None)
    found = Calibrated(base, n_jobs=1).fit(X, y).predict_proba(X).mean(axis=0)
    assert found == pytest.approx(np.bincount(y) / len(y), abs=0.03)


# -- the map never falls


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_a_higher_score_never_has_a_lower_probability(seed: int, calibrate: Any) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2  # nothing to be learned: held-out scores point the wrong way
    new = 3 * rng.normal(size=(200, 2))
    for learner in (
        Calibrated(AveragedPerceptron(max_iter=5), calibrate=calibrate, n_jobs=1),
        AutoPerceptron(calibrate=calibrate, n_jobs=1),
    ):
        learner.fit(X, y)
        order = np.argsort(learner.decision_function(new), kind="stable")
        p = learner.predict_proba(new)[order, 1]
        assert (np.diff(p) >= -1e-12).all(), type(learner).__name__


# -- shares of votes


@pytest.mark.parametrize("classes", [2, 3, 5])
@each(PROBABLE)
def test_probabilities_are_shares_and_the_answer_has_the_highest(make: Any, classes: int) -> None:
    X, y = rows(60, classes=classes)
    learner = make().fit(X, y)
    p = learner.predict_proba(X)
    assert p.shape == (60, classes)
    assert (p >= 0).all()
    assert (p <= 1).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert len(np.unique(p.round(6), axis=0)) > 1, "every row has the same probabilities"
    assert (p.argmax(axis=1) == np.searchsorted(learner.classes_, learner.predict(X))).mean() > 0.7


def test_one_vs_rest_votes_are_the_share_of_each_class_that_voted_for_itself() -> None:
    X, y = rows(60, classes=3)
    learner = Calibrated(VotedPerceptron(multiclass="ovr", max_iter=20), calibrate="vote").fit(X, y)
    votes = (learner.decision_function(X) + 1) / 2  # each column: votes for the class less votes against it
    expected = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.predict_proba(X), expected, atol=1e-12)


# -- the first call of a stream


def test_the_first_partial_fit_takes_the_classes_that_may_come() -> None:
    X, y = rows(60)
    learner = Calibrated(AveragedPerceptron(max_iter=20), n_jobs=1)
    learner.partial_fit(X, y, classes=["class 0", "class 1", "class 2"])
    assert learner.classes_.tolist() == ["class 0", "class 1", "class 2"]
    assert learner.predict_proba(X).shape == (60, 3)


def test_votes_take_the_classes_that_may_come_in_the_first_partial_fit() -> None:
    X, y = rows(60)
    learner = Calibrated(VotedPerceptron(max_iter=20), calibrate="vote")
    learner.partial_fit(X, y, classes=["class 0", "class 1", "class 2"])
    p = learner.predict_proba(X)
    assert p.shape == (60, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_votes_take_no_class_weights() -> None:
    X, y = rows(20)
    with pytest.raises(ParameterError, match="class_weight"):
        Calibrated(VotedPerceptron(class_weight="balanced"), calibrate="vote").fit(X, y)


# -- cross-validated


@each(
    {name: PROBABLE[name] for name in ("auto linear", "sigmoid", "votes")}
    | {"kernel": lambda: Calibrated(KernelPerceptron(gamma=0.5))}
)
def test_a_learner_with_probabilities_is_cross_validated(make: Any) -> None:
    """Each fold is judged by what `fit` gives where its rows have a weight of 0."""
    X, y = rows(90, classes=3)
    weights = np.resize([1.0, 2.0, 0.5], 90)
    found = cross_validate(X, y, make(), folds=3, scoring="neg_log_loss", sample_weight=weights)
    again = cross_validate(X, y, make(), folds=3, sample_weight=weights)
    fold_of = assign_folds(encode_labels(y), np.arange(90, dtype=np.uint32), 3, 0)
    for fold, learner in enumerate(found.learners):
        mine = fold_of == fold
        expected = make().fit(X, y, sample_weight=np.where(mine, 0.0, weights))
        np.testing.assert_array_equal(learner.predict_proba(X), expected.predict_proba(X))
        loss = log_loss(y[mine], expected.predict_proba(X)[mine], sample_weight=weights[mine])
        assert found.scores[fold] == pytest.approx(-loss)
        assert again.scores[fold] == pytest.approx(expected.score(X[mine], y[mine], weights[mine]))
