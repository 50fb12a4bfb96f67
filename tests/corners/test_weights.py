"""Sample and class weights count in everything that compares; a row of weight 0 is as if absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import train

from learners import KERNEL, LEARNERS, LINEAR, STREAMING, answers, assert_same, dicts, each, rows
from rosenblatt import (
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    Perceptron,
    PocketPerceptron,
    Sweep,
    cross_validate,
)
from rosenblatt.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Rows of zeros: 40 of class 1, then 60 of class 0. One epoch in order ends with class 0 for every row, so the share of
# the rows that are right is 0.6 by count, and 60 / (60 + 40·10) where class 1 weighs 10.
ZEROS = np.zeros((100, 1))
ONE_FIRST = np.repeat([1, 0], [40, 60])
TEN = np.where(ONE_FIRST == 1, 10.0, 1.0)
WEIGHTED_SHARE = 60 / 460


def one_epoch(**options: Any) -> Any:
    return Perceptron(max_iter=1, tol=None, shuffle=False, **options)


def weighted_mistakes(learner: Any, X: Any, y: Any, weight: Any) -> float:
    return float(weight[learner.decision_function(X) * np.where(y == learner.classes_[1], 1, -1) <= 0].sum())


# -- held-out rows


def test_held_out_rows_count_with_their_sample_weights() -> None:
    learner = one_epoch(early_stopping=True).fit(ZEROS, ONE_FIRST, sample_weight=TEN)
    assert learner.history_.validation_score == [pytest.approx(WEIGHTED_SHARE)]


def test_held_out_rows_count_with_their_class_weights() -> None:
    learner = one_epoch(early_stopping=True, class_weight={1: 10.0}).fit(ZEROS, ONE_FIRST)
    assert learner.history_.validation_score == [pytest.approx(WEIGHTED_SHARE)]


def test_validation_rows_of_the_user_count_with_their_class_weights() -> None:
    learner = one_epoch(class_weight={1: 10.0}).fit(ZEROS, ONE_FIRST, X_val=ZEROS, y_val=ONE_FIRST)
    assert learner.history_.validation_score == [pytest.approx(WEIGHTED_SHARE)]


def test_a_class_of_weight_0_is_no_obstacle_to_early_stopping() -> None:
    X, y = rows(90, classes=3)
    learner = Perceptron(early_stopping=True, class_weight={"class 2": 0.0}, max_iter=5).fit(X, y)
    assert len(learner.history_.validation_score) == learner.n_iter_


def test_a_class_of_weight_0_does_not_count_among_validation_rows() -> None:
    X = np.concatenate([ZEROS, np.zeros((50, 1))])
    y = np.concatenate([ONE_FIRST, np.full(50, 2)])
    learner = one_epoch(class_weight={2: 0.0}).fit(X, y, X_val=X, y_val=y)
    assert learner.history_.validation_score == [pytest.approx(0.6)]


# -- restarts and the pocket


@pytest.mark.parametrize("seed", [3, 4])
def test_one_more_restart_never_makes_more_weighted_mistakes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    weight = np.where(rng.random(60) < 0.1, 20.0, 1.0)
    found = [
        weighted_mistakes(Perceptron(n_init=starts, max_iter=5, tol=None).fit(X, y, sample_weight=weight), X, y, weight)
        for starts in range(1, 6)
    ]
    assert found == sorted(found, reverse=True)


def test_one_more_restart_never_makes_more_mistakes_by_class_weight() -> None:
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 3)), (rng.random(60) < 0.1).astype(int)
        found = [
            weighted_mistakes(
                Perceptron(n_init=starts, max_iter=5, tol=None, class_weight={1: 9.0}).fit(X, y),
                X,
                y,
                np.where(y == 1, 9.0, 1.0),
            )
            for starts in range(1, 6)
        ]
        assert found == sorted(found, reverse=True), f"seed {seed}"


@pytest.mark.parametrize("seed", [1, 6, 15])
def test_a_warm_pocket_never_becomes_worse_by_the_weights_of_now(seed: int) -> None:
    X, y = rows(80, seed=seed)
    y = np.random.default_rng(1).permutation(y)
    pocket = PocketPerceptron(max_iter=2, tol=None, warm_start=True).fit(X, y, sample_weight=np.full(80, 100.0))
    before = weighted_mistakes(pocket, X, y, np.ones(80))
    pocket.set_params(max_iter=30).fit(X, y)
    assert weighted_mistakes(pocket, X, y, np.ones(80)) <= before


# -- the choice of a learner or a space


def linear_where_it_counts() -> tuple[Any, Any, Any]:
    """Many light rows whose label is the sign of a product, few heavy ones where it is that of a column."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    heavy = rng.random(600) < 40 / 600
    y[heavy] = X[heavy, 0] + 0.3 * rng.normal(size=heavy.sum()) > 0
    return X, y, np.where(heavy, 100.0, 1.0)


def best_scores(learner: Any) -> tuple[float, float]:
    """The held-out accuracy of what was tried without products, and with them."""
    without = [score for name, score in learner.scores_.items() if not name.endswith("products")]
    return max(without), max(score for name, score in learner.scores_.items() if name.endswith("products"))


def test_products_are_taken_only_if_they_are_better_by_sample_weight() -> None:
    X, y, weight = linear_where_it_counts()
    learner = AutoPerceptron(n_jobs=1).fit(X, y, sample_weight=weight)
    if learner.products_ is not None:
        without, products = best_scores(learner)
        assert products > without, learner.choice_


def test_products_are_taken_only_if_they_are_better_by_class_weight() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = (np.arange(3030) % 101 == 0).astype(int)
        X = rng.normal(size=(3030, 3))
        X[y == 1, 0] += 1.0
        learner = AutoPerceptron(class_weight="balanced", n_jobs=1).fit(X, y)
        if learner.products_ is not None:
            without, products = best_scores(learner)
            assert products > without, learner.choice_


def test_the_command_takes_products_only_if_they_are_better_by_importance(tmp_path: Path) -> None:
    X, y, weight = linear_where_it_counts()
    lines = [f"{2 * k - 1} {w:g} | a:{a:.6f} b:{b:.6f}" for (a, b), k, w in zip(X, y, weight, strict=True)]
    (tmp_path / "rows.vw").write_text("\n".join(lines) + "\n")
    facts = train(tmp_path / "rows.vw", "-o", tmp_path / "model")
    if facts["products"]:
        products = [score for name, score in facts["tried"].items() if name.endswith("products")]
        without = [score for name, score in facts["tried"].items() if not name.endswith("products")]
        assert max(products) > max(without), facts["choice"]


def test_a_sweep_compares_one_vs_rest_learners_by_the_classes_they_answer_with() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 10  # nothing to be learned: one row in ten is right
    sweep = Sweep([Perceptron(multiclass="ovr", max_iter=3)], n_jobs=1).fit(X, y)
    assert sweep.scores_[0] < 0.4


def test_a_sweep_does_not_prefer_a_bad_one_vs_rest_learner_to_a_good_joint_one() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(600) % 10
    X = rng.normal(size=(600, 10)) + 2.2 * np.eye(10)[y]
    learners = [AveragedPerceptron(max_iter=5), Perceptron(multiclass="ovr", fit_intercept=False, max_iter=1)]
    sweep = Sweep(learners, n_jobs=1).fit(X, y)
    assert sweep.best_index_ == 0, sweep.scores_
    with pytest.raises(ParameterError, match="progressive"):
        Sweep(learners, choose="progressive", n_jobs=1).fit(X, y)


def test_a_sweep_by_held_out_rows_counts_them_by_weight() -> None:
    sweep = Sweep([one_epoch()], n_jobs=1).fit(ZEROS, ONE_FIRST, sample_weight=TEN)
    assert sweep.scores_[0] == pytest.approx(WEIGHTED_SHARE)


def test_a_sweep_by_the_first_epoch_counts_mistakes_by_weight() -> None:
    sweep = Sweep([one_epoch()], choose="progressive", n_jobs=1).fit(ZEROS, ONE_FIRST, sample_weight=TEN)
    # One mistake of weight 10 moves the intercept to 10; the 11 rows of class 0 that bring it to -1 weigh 1 each.
    assert sweep.scores_[0] == pytest.approx(1 - 21 / 460)


def test_cross_validation_counts_rows_by_class_weight() -> None:
    result = cross_validate(ZEROS, ONE_FIRST, one_epoch(class_weight={1: 10.0}), n_jobs=1)
    assert result.scores == pytest.approx(WEIGHTED_SHARE)


# -- calibration


@pytest.mark.parametrize(
    "learner",
    [
        Calibrated(AveragedPerceptron(max_iter=5), n_jobs=1),
        Calibrated(AveragedPerceptron(max_iter=5), calibrate="isotonic", n_jobs=1),
        AutoPerceptron(products=False, n_jobs=1),
    ],
    ids=["sigmoid", "isotonic", "auto"],
)
def test_probabilities_are_those_of_the_rows_by_sample_weight(learner: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    X = rng.normal(size=(3000, 3)) + 0.3 * y[:, None]
    weight = np.where(y == 1, 9.0, 1.0)
    learner.fit(X, y, sample_weight=weight)
    share = np.average(y, weights=weight)
    assert np.average(learner.predict_proba(X)[:, 1], weights=weight) == pytest.approx(share, abs=0.03)


# -- class weights in every call


@each(LINEAR)
def test_learn_one_counts_class_weights_as_partial_fit_does(make: Any) -> None:
    X, y = rows(classes=3)
    weights = {"class 0": 1.0, "class 1": 5.0, "class 2": 0.25}
    one = make().set_params(class_weight=weights)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        one.learn_one(x, label)
    many = make()
    for row, label in zip(X, y, strict=True):
        many.partial_fit(row[None], [label], sample_weight=[weights[str(label)]])
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-9, atol=1e-9)


@each(LINEAR)
def test_learn_one_takes_a_class_of_weight_0_as_absent(make: Any) -> None:
    X, y = rows()
    learner = make().set_params(class_weight={"class 0": 1.0, "class 1": 1.0, "ignored": 0.0}).partial_fit(X, y)
    before = answers(learner, X), learner.mistakes_, learner.updates_
    learner.learn_one({0: 100.0}, "ignored")
    assert learner.classes_.tolist() in (["class 0", "class 1"], ["class 0", "class 1", "ignored"])
    assert (learner.mistakes_, learner.updates_) == before[1:]
    assert learner.predict(X).tolist() == before[0][1].tolist()


def test_auto_perceptron_counts_class_weights_in_partial_fit() -> None:
    X, y = rows(200)
    weight = np.where(y == "class 1", 10.0, 1.0)
    by_class = AutoPerceptron(class_weight={"class 1": 10.0}, products=False, n_jobs=1)
    by_row = AutoPerceptron(products=False, n_jobs=1)
    by_class.fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    by_row.fit(X[:100], y[:100], sample_weight=weight[:100])
    by_row.partial_fit(X[100:], y[100:], sample_weight=weight[100:])
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


@each(LINEAR | KERNEL | {"auto": lambda: AutoPerceptron(n_jobs=1)})
def test_partial_fit_takes_the_weight_of_a_class_that_has_not_come_yet(make: Any) -> None:
    X, y = rows()
    weights = {"class 0": 2.0, "class 1": 3.0, "class 2": 4.0}
    by_class = make().set_params(class_weight=weights).partial_fit(X, y)
    by_row = make().partial_fit(X, y, sample_weight=[weights[str(label)] for label in y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


# -- rows of weight 0


def with_absent_rows(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """The same rows, and others far away between them, of weight 0 and the wrong class."""
    at = np.repeat(np.arange(len(y)), 2)
    absent = np.tile([False, True], len(y))
    strange = np.where(absent[:, None], 1000.0 * X[at] + 500.0, X[at])
    return strange, np.where(absent, y[::-1][at], y[at]), np.where(absent, 0.0, weight[at])


@each(LEARNERS)
def test_rows_of_weight_0_change_nothing_in_fit(make: Any) -> None:
    X, y = rows(60)
    weight = np.resize([1.0, 2.0, 0.5], 60)
    strange = with_absent_rows(X, y, weight)
    without = make().fit(X, y, sample_weight=weight)
    assert_same(answers(make().fit(strange[0], strange[1], sample_weight=strange[2]), X), answers(without, X))


@each(STREAMING)
def test_rows_of_weight_0_change_nothing_in_partial_fit(make: Any) -> None:
    X, y = rows(60)
    weight = np.resize([1.0, 2.0, 0.5], 60)
    part = slice(40, 60)
    strange = with_absent_rows(X[part], y[part], weight[part])
    without = make().fit(X[:40], y[:40]).partial_fit(X[part], y[part], sample_weight=weight[part])
    learner = make().fit(X[:40], y[:40]).partial_fit(strange[0], strange[1], sample_weight=strange[2])
    assert_same(answers(learner, X), answers(without, X))


def test_a_batch_of_nothing_but_a_class_of_weight_0_is_as_if_absent() -> None:
    X, y = rows(60)
    learner = Perceptron(class_weight={"ignored": 0.0, "class 0": 1.0, "class 1": 1.0}).partial_fit(X, y)
    before, mistakes = learner.predict(X), learner.mistakes_
    learner.partial_fit(X, np.full(60, "ignored"))
    assert learner.mistakes_ == mistakes
    assert learner.predict(X).tolist() == before.tolist()
