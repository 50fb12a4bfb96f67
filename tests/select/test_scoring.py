"""Scores of the user's choice, kernels among the others, weights in every comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer, mean_absolute_error, r2_score, roc_auc_score

from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressiveRegression,
    Sweep,
    compare,
    cross_validate,
    tune,
)
from rosenblatt.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rare() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (np.arange(1000) % 25 == 0).astype(int)
    return rng.normal(size=(1000, 3)) + 1.0 * y[:, None], y


LEARNERS = [AveragedPerceptron(max_iter=5), AveragedPerceptron(max_iter=5, class_weight="balanced")]


def test_a_sweep_chooses_by_the_score_asked_for() -> None:
    X, y = rare()
    by_accuracy = Sweep(LEARNERS, n_jobs=1).fit(X, y)
    sweep = Sweep(LEARNERS, scoring="balanced_accuracy", n_jobs=1).fit(X, y)
    assert (by_accuracy.best_index_, sweep.best_index_) == (0, 1)
    assert sweep.scores_[1] > max(0.6, sweep.scores_[0])


def test_the_score_of_a_sweep_is_that_of_the_held_out_rows() -> None:
    X, y = rare()
    sweep = Sweep(LEARNERS, scoring="roc_auc", n_jobs=1).fit(X, y)
    names = {"f1": f1_score, "roc_auc": roc_auc_score, "own": balanced_accuracy_score}
    assert all(0 <= score <= 1 for score in sweep.scores_)
    for scoring in ("f1", balanced_accuracy_score, make_scorer(f1_score), lambda estimator, X, y: 0.25):
        found = Sweep(LEARNERS, scoring=scoring, n_jobs=1).fit(X, y)
        assert found.scores_.shape == (2,)
    assert found.scores_.tolist() == [0.25, 0.25]
    assert names


def test_auto_perceptron_takes_a_score() -> None:
    X, y = rare()
    learner = AutoPerceptron(scoring="balanced_accuracy", class_weight="balanced", n_jobs=1).fit(X, y)
    assert balanced_accuracy_score(y, learner.predict(X)) > 0.6
    assert "balanced_accuracy" in learner.choice_
    for scoring in ("neg_log_loss", "roc_auc", f1_score):
        assert AutoPerceptron(scoring=scoring, n_jobs=1).fit(X, y).predict(X).shape == (1000,)


def test_accuracy_by_its_name_changes_nothing() -> None:
    X, y = rare()
    plain, named = AutoPerceptron(n_jobs=1).fit(X, y), AutoPerceptron(scoring="accuracy", n_jobs=1).fit(X, y)
    assert plain.choice_ == named.choice_
    np.testing.assert_array_equal(plain.decision_function(X), named.decision_function(X))


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1", balanced_accuracy_score])
def test_tune_and_cross_validation_take_a_score(scoring: Any) -> None:
    X, y = rare()
    found = cross_validate(X, y, AveragedPerceptron(max_iter=2), scoring=scoring, n_jobs=1)
    assert found.scores.shape == (5,)
    assert found.scoring in str(found)
    assert tune(X, y, folds=2, scoring=scoring, n_jobs=1).best is not None


def test_a_score_that_is_none_or_needs_probabilities_is_refused() -> None:
    X, y = rare()
    with pytest.raises(ParameterError, match="scoring='accurcy'"):
        Sweep(LEARNERS, scoring="accurcy", n_jobs=1).fit(X, y)
    with pytest.raises(ParameterError, match="scoring=3"):
        cross_validate(X, y, LEARNERS[0], scoring=3)
    with pytest.raises(ParameterError, match="scoring='neg_log_loss' needs probabilities"):
        Sweep(LEARNERS, scoring="neg_log_loss", n_jobs=1).fit(X, y)


# -- kernels among the others


@pytest.mark.parametrize(
    "learner",
    [
        KernelPerceptron(gamma=0.5, max_iter=20),
        KernelPerceptron(gamma=0.5, keep="vote", multiclass="ovr", max_iter=20),
        KernelPerceptron(gamma=0.5, budget=10, max_iter=20),
    ],
    ids=repr,
)
def test_a_kernel_learner_can_be_calibrated_and_cross_validated(learner: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (np.hypot(X[:, 0], X[:, 1]) > 1.2).astype(int) + (X[:, 2] > 1)
    calibrated = Calibrated(learner, n_jobs=1).fit(X, y)
    p = calibrated.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert calibrated.partial_fit(X[:5], y[:5]).predict_proba(X).shape == (90, 3)
    assert cross_validate(X, y, learner, folds=3, n_jobs=1).scores.shape == (3,)


def test_each_fold_of_a_kernel_is_what_fit_without_it_gives() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    found = cross_validate(X, y, KernelPerceptron(max_iter=3), folds=3, n_jobs=1)
    from rosenblatt.data.labels import labels_of
    from rosenblatt.select.folds import assign_folds

    fold_of = assign_folds(labels_of(y), np.arange(60, dtype=np.uint32), 3, 0)
    for fold, learner in enumerate(found.learners):
        alone = KernelPerceptron(max_iter=3).fit(X, y, sample_weight=(fold_of != fold).astype(float))
        np.testing.assert_array_equal(learner.decision_function(X), alone.decision_function(X))


def test_a_kernel_matrix_has_no_folds() -> None:
    with pytest.raises(ParameterError, match="precomputed"):
        cross_validate(np.eye(4), [0, 1, 0, 1], KernelPerceptron(kernel="precomputed"))


# -- weights


def test_compare_and_tune_count_rows_by_weight() -> None:
    """Rows of weight 0 are as if absent, and a row that weighs everything decides."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] += 2 * y
    weights = np.ones(200)
    weights[100:] = 0.0
    learners = {"averaged": AveragedPerceptron(max_iter=3), "AROW": AROW(max_iter=3)}
    some = compare(X, y, classifiers=learners, folds=3, sample_weight=weights)
    only = compare(X[:100], y[:100], classifiers=learners, folds=3)
    assert {m.name: m.accuracy for m in some.measured}.keys() == {m.name: m.accuracy for m in only.measured}.keys()
    y[100:] = 1 - y[100:]  # what weighs nothing changes nothing
    again = compare(X, y, classifiers=learners, folds=3, sample_weight=weights)
    assert [m.accuracy for m in again.measured] == [m.accuracy for m in some.measured]
    tuned = [tune(X, labels, folds=2, sample_weight=weights, n_jobs=1) for labels in (y, np.r_[y[:100], 1 - y[100:]])]
    assert str(tuned[0]) == str(tuned[1])


# -- regressions


def numbers() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + 0.1 * rng.normal(size=300)


def test_regressions_are_swept_by_r2() -> None:
    X, y = numbers()
    learners = [PassiveAggressiveRegression(C=C, keep="average", max_iter=5, tol=None) for C in (1e-5, 0.1)]
    sweep = Sweep(learners, n_jobs=1).fit(X, y)
    assert sweep.best_index_ == 1
    assert is_regressor(sweep)
    assert not hasattr(sweep, "decision_function")
    assert not hasattr(sweep, "classes_")
    assert sweep.score(X, y) == pytest.approx(r2_score(y, sweep.predict(X)))


def test_a_regression_is_cross_validated() -> None:
    X, y = numbers()
    learner = PassiveAggressiveRegression(keep="average", max_iter=10)
    assert cross_validate(X, y, learner, folds=3, n_jobs=1).mean > 0.9
    found = cross_validate(X, y, learner, folds=3, scoring="neg_mean_absolute_error", n_jobs=1)
    assert -1.0 < found.mean < 0.0
    assert mean_absolute_error(y, found.learners[0].predict(X)) < 1.0


def test_kinds_are_not_mixed() -> None:
    X, y = numbers()
    with pytest.raises(ParameterError, match="entry 1, AROW, is of another kind"):
        Sweep([PassiveAggressiveRegression(), AROW()]).fit(X, y)
    with pytest.raises(ParameterError, match="a regression has no classes"):
        Calibrated(PassiveAggressiveRegression()).fit(X, y)


def test_a_log_loss_is_told_as_it_was_asked_for() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + 3 * rng.normal(size=600) > 0).astype(int)
    auto = AutoPerceptron(scoring="neg_log_loss").fit(X, y)
    assert all(-0.75 < score < -0.6 for score in auto.scores_.values())
    assert f"neg_log_loss {max(auto.scores_.values()):.2f}"[:-1] in auto.choice_
