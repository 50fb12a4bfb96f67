"""Sample and class weights count in everything that compares; a row of weight 0 is ignored."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import run
from registry import CONFIGURATIONS, KERNEL, LINEAR, STREAMING, answers, assert_same, each, rows
from rejected import rejected

import rosenblatt as rb

# Rows of zeros: 40 of class 1, then 60 of class 0. One epoch in order ends with class 0 for every row, so the share of
# the rows that are right is 0.6 by count, and 60 / (60 + 40·10) where class 1 weighs 10.
ZEROS = np.zeros((100, 1))
ONE_FIRST = np.repeat([1, 0], [40, 60])
TEN = np.where(ONE_FIRST == 1, 10.0, 1.0)
WEIGHTED_SHARE = 60 / 460


def one_epoch(**options: Any) -> Any:
    return rb.Perceptron(max_iter=1, tol=None, shuffle=False, **options)


def weighted_mistakes(learner: Any, X: Any, y: Any, weight: Any) -> float:
    return float(weight[learner.decision_function(X) * np.where(y == learner.classes_[1], 1, -1) <= 0].sum())


RARE = {"class_weight": {1: 10.0}}


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"early_stopping": True}, {"sample_weight": TEN}),
        ({"early_stopping": True, **RARE}, {}),
        (RARE, {"X_val": ZEROS, "y_val": ONE_FIRST}),
    ],
    ids=["sample weights", "class weights", "rows of the user"],
)
def test_held_out_rows_count_with_their_weights(options: Any, given: Any) -> None:
    learner = one_epoch(**options).fit(ZEROS, ONE_FIRST, **given)
    assert learner.history_.validation_score == [pytest.approx(WEIGHTED_SHARE)]


@pytest.mark.parametrize("seed", [3, 4])
def test_one_more_restart_never_makes_more_weighted_mistakes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    weight = np.where(rng.random(60) < 0.1, 20.0, 1.0)
    found = [
        weighted_mistakes(
            rb.Perceptron(n_init=starts, max_iter=5, tol=None).fit(X, y, sample_weight=weight), X, y, weight
        )
        for starts in range(1, 6)
    ]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("seed", [1, 6, 15])
def test_a_warm_pocket_never_becomes_worse_by_the_weights_of_now(seed: int) -> None:
    X, y = rows(80, seed=seed)
    y = np.random.default_rng(1).permutation(y)
    pocket = rb.PocketPerceptron(max_iter=2, tol=None, warm_start=True).fit(X, y, sample_weight=np.full(80, 100.0))
    before = weighted_mistakes(pocket, X, y, np.ones(80))
    pocket.set_params(max_iter=30).fit(X, y)
    assert weighted_mistakes(pocket, X, y, np.ones(80)) <= before


def test_a_sweep_compares_one_vs_rest_learners_by_the_classes_they_answer_with() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 10  # nothing to be learned: one row in ten is right
    sweep = rb.Sweep([rb.Perceptron(multiclass="ovr", max_iter=3)], n_jobs=1).fit(X, y)
    assert sweep.scores_[0] < 0.4


def test_a_sweep_and_cross_validation_count_rows_by_weight() -> None:
    sweep = rb.Sweep([one_epoch()], n_jobs=1).fit(ZEROS, ONE_FIRST, sample_weight=TEN)
    assert sweep.scores_[0] == pytest.approx(WEIGHTED_SHARE)
    result = rb.cross_validate(ZEROS, ONE_FIRST, one_epoch(**RARE), n_jobs=1)
    assert result.scores == pytest.approx(WEIGHTED_SHARE)


@pytest.mark.parametrize(
    "learner",
    [
        rb.Calibrated(rb.AveragedPerceptron(max_iter=5), n_jobs=1),
        rb.Calibrated(rb.AveragedPerceptron(max_iter=5), calibrate="isotonic", n_jobs=1),
        rb.AutoPerceptron(products=False, n_jobs=1),
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


@each(LINEAR | KERNEL | {"auto": lambda: rb.AutoPerceptron(n_jobs=1)})
def test_partial_fit_takes_the_weight_of_a_class_that_has_not_come_yet(make: Any) -> None:
    X, y = rows()
    weights = {"class 0": 2.0, "class 1": 3.0, "class 2": 4.0}
    by_class = make().set_params(class_weight=weights).partial_fit(X, y)
    by_row = make().partial_fit(X, y, sample_weight=[weights[str(label)] for label in y])
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


def with_absent_rows(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """The same rows, and others far away between them, of weight 0 and another class."""
    at = np.repeat(np.arange(len(y)), 2)
    absent = np.tile([False, True], len(y))
    strange = np.where(absent[:, None], 1000.0 * X[at] + 500.0, X[at])
    return strange, np.where(absent, "absent", y[at]), np.where(absent, 0.0, weight[at])


@each(CONFIGURATIONS)
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
    learner.learn_one({0: 1.0}, "another", weight=0.0)
    assert_same(answers(learner, X), answers(without, X))
    assert learner.classes_.tolist() == ["class 0", "class 1"]


@each(STREAMING)
def test_a_stream_of_rows_that_are_all_absent_has_not_begun(make: Any) -> None:
    X, y = rows(6)
    assert not hasattr(make().partial_fit(X, y, sample_weight=np.zeros(6)), "classes_")


def test_all_rows_absent_or_one_class_left_is_an_error() -> None:
    X, y = rows(60)
    with rejected("data", "sample_weight"):
        rb.Perceptron().fit(X, y, sample_weight=np.zeros(60))
    with rejected("label", "class 1"):
        rb.Perceptron().fit(X, y, sample_weight=(y == "class 1").astype(float))


@pytest.mark.parametrize("seed", range(3))
def test_tuning_does_not_see_rows_of_weight_0(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3)) * np.where(np.arange(90) % 3 == 0, 20.0, 1.0)[:, None]
    y, weight = (X.sum(axis=1) > 0).astype(int), (np.arange(90) % 3 > 0).astype(float)
    found, expected = rb.tune(X, y, sample_weight=weight), rb.tune(X[weight > 0], y[weight > 0])
    assert [(str(a), b.mean) for a, b in found.tried] == [(str(a), b.mean) for a, b in expected.tried]


LINES = [(1, 1, "x:1 y:2"), (-1, 1, "x:-1 y:1"), (7, 0, "x:3"), (1, 2, "x:2"), (-1, 1, "x:-2"), (9, 0, "z:1")] * 5


@pytest.mark.parametrize("options", [["--learner", "perceptron", "--class-weight", "balanced"], ["--learner", "auto"]])
def test_the_command_does_not_see_rows_of_weight_0(options: list[str], tmp_path: Path) -> None:
    for name, lines in (("all", LINES), ("present", [line for line in LINES if line[1]])):
        (tmp_path / name).write_text("".join(f"{label} {weight} | {x}\n" for label, weight, x in lines))
        run("train", tmp_path / name, "--format", "vw", *options, "--quiet", "-o", tmp_path / f"{name}.model")
    assert (tmp_path / "all.model").read_bytes() == (tmp_path / "present.model").read_bytes()
    model, data = tmp_path / "all.model", (tmp_path / "all", "--format", "vw")
    assert json.loads(run("evaluate", model, *data, "--json").stdout)["rows"] == 20
    assert len(run("predict", model, *data).stdout.splitlines()) == 30  # every line has its answer
