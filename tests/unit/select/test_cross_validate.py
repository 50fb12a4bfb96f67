"""Cross-validation, comparison and tuning: the same folds for all, by any score, and figures that can be recomputed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import run
from rejected import rejected
from sklearn.base import is_regressor
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score, make_scorer, r2_score
from sklearn.pipeline import make_pipeline
from written import put

import rosenblatt as rb
from rosenblatt import AROW, AveragedPerceptron, KernelPerceptron, VotedPerceptron, compare, cross_validate
from rosenblatt.data import encode_labels
from rosenblatt.select.folds import make_folds
from rosenblatt.select.validation import baselines, family


@pytest.mark.parametrize("learner", [AROW(max_iter=4), VotedPerceptron(max_iter=2), KernelPerceptron(max_iter=3)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fold_is_a_fit_without_its_rows(learner: Any, n_jobs: int) -> None:
    X, y = load_iris(return_X_y=True)
    found = cross_validate(X, y, learner, folds=3, n_jobs=n_jobs)
    for fold, (training, held) in enumerate(make_folds(encode_labels(y), None, 3, seed=0)):
        alone = type(learner)(**learner.get_params()).fit(X[training], y[training])
        assert found.scores[fold] == np.mean(alone.predict(X[held]) == y[held])
    assert found.standard_error == pytest.approx(np.std(found.scores, ddof=1) / np.sqrt(3))


def test_every_class_is_spread_evenly() -> None:
    y = np.array([0] * 10 + [1] * 7 + [2] * 4)
    folds = make_folds(encode_labels(y), None, 4, seed=1)
    counts = np.transpose([np.bincount(y[held], minlength=3) for _, held in folds])
    assert sorted(np.concatenate([held for _, held in folds]).tolist()) == list(range(21))
    assert all(np.setdiff1d(np.arange(21), held).tolist() == training.tolist() for training, held in folds)
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1


@pytest.fixture
def flowers(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    lines = [",".join([*map(str, row), f"kind{label}"]) for row, label in zip(X, y, strict=True)]
    return put(tmp_path / "flowers.csv", "\n".join(lines))


def test_the_figures_are_those_of_cross_validation() -> None:
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    classifiers = {"AROW": AROW(), "mean": AveragedPerceptron()}
    found = compare(X, y, classifiers=classifiers, folds=4)
    for each in found.measured:
        by_hand = cross_validate(X, y, classifiers[each.name], folds=4)
        assert each.accuracy == pytest.approx(by_hand.mean)
        assert each.standard_error == pytest.approx(by_hand.standard_error)
    assert found.measured[0].accuracy >= found.measured[1].accuracy


def test_a_kernel_takes_part_where_there_are_few_rows() -> None:
    X, y = load_iris(return_X_y=True)
    name = "KernelPerceptron rbf"
    assert name in family(5_000)
    assert name not in family(5_001)
    assert compare(X, y, classifiers={name: family()[name]}, folds=3).measured[0].accuracy > 0.8


def test_the_verb_compare_knows_the_family_and_the_baselines(flowers: Path) -> None:
    told = json.loads(run("compare", flowers, "--folds", "2", "--json").stdout)
    assert {each["name"] for each in told["measured"]} == {*family(), *baselines()}
    assert (told["rows"], told["features"], told["classes"]) == (150, 4, 3)


def test_compare_and_tune_read_what_train_reads(tmp_path: Path) -> None:
    text = put(tmp_path / "text", "spam\twin a prize\nham\tlunch at noon\nspam\twin win\nham\tsee you\n" * 10)
    rows = put(tmp_path / "rows.svm", "1 1:1 7:0.5\n-1 3:1\n" * 20)
    table = put(tmp_path / "table.csv", "size,color,kind\n" + "1,red,a\n9,blue,b\n,red,a\n" * 10)
    for path, features in ((text, 14), (rows, 3), (table, 4)):
        told = json.loads(run("compare", path, "--folds", "2", "--json").stdout)
        assert told["features"] == features  # of columns that are ever used
        assert max(each["accuracy"] for each in told["measured"]) == 1.0
        assert json.loads(run("tune", path, "--folds", "2", "--json").stdout)["tried"][0]["accuracy"] == 1.0
    said = run("tune", table, "--label", "color", "--drop", "kind", "--folds", "2").stderr
    assert "label: color; numbers, standardized: size" in said
    weighted = put(tmp_path / "x.vw", "1 2.0 |f a\n-1 |f b\n" * 10)
    assert "left aside" not in run("tune", weighted, "--folds", "2").stderr  # weights count, here too


def test_a_class_that_a_part_lacks() -> None:
    X, y = np.arange(24.0).reshape(12, 2), np.array(["a"] * 5 + ["b"] * 6 + ["c"])
    found = compare(X, y, classifiers={"averaged": AveragedPerceptron()}, folds=3)
    assert found.measured[0].accuracy <= 1
    with rejected("data", "'c'"):
        compare(X[5:], y[5:], classifiers={"averaged": AveragedPerceptron()}, folds=3)


def rare() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = (np.arange(1000) % 25 == 0).astype(int)
    return rng.normal(size=(1000, 3)) + 1.0 * y[:, None], y


LEARNERS = [rb.AveragedPerceptron(max_iter=5), rb.AveragedPerceptron(max_iter=5, class_weight="balanced")]


def test_a_sweep_chooses_by_the_score_asked_for() -> None:
    X, y = rare()
    by_accuracy = rb.Sweep(LEARNERS, n_jobs=1).fit(X, y)
    sweep = rb.Sweep(LEARNERS, scoring="balanced_accuracy", n_jobs=1).fit(X, y)
    assert (by_accuracy.best_index_, sweep.best_index_) == (0, 1)
    assert sweep.scores_[1] > max(0.6, sweep.scores_[0])
    found = [
        rb.Sweep(LEARNERS, scoring=f1, n_jobs=1).fit(X, y).scores_ for f1 in ("f1", f1_score, make_scorer(f1_score))
    ]
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()


ROWS, CODES, REGRESSION = np.eye(4), [0, 1, 0, 1], rb.PassiveAggressiveRegression()


@pytest.mark.parametrize(
    ("call", "code", "facts"),
    [
        (lambda: cross_validate(ROWS, CODES, AROW()), "data", ["folds=5", "4 rows"]),
        (lambda: cross_validate(ROWS, CODES, AROW(), folds=1), "parameter", ["folds=1", "2"]),
        (lambda: cross_validate(ROWS, CODES, 3), "parameter", ["learner", "int"]),
        (lambda: cross_validate(ROWS, CODES, AROW), "parameter", ["learner", "AROW()"]),
        (lambda: cross_validate(ROWS, CODES, make_pipeline(AROW())), "parameter", ["Pipeline", "Calibrated"]),
        (lambda: cross_validate(ROWS, CODES, AROW(), scoring=3), "parameter", ["scoring=3"]),
        (lambda: cross_validate(ROWS, CODES, KernelPerceptron(kernel="precomputed")), "parameter", ["precomputed"]),
        (lambda: compare(ROWS, CODES[:3]), "data", ["4 rows", "3 labels"]),
        (lambda: rb.Sweep(LEARNERS, scoring="accurcy").fit(*rare()), "parameter", ["scoring='accurcy'"]),
        (lambda: rb.Sweep(LEARNERS, scoring="neg_log_loss").fit(*rare()), "parameter", ["scoring='neg_log_loss'"]),
        (
            lambda: rb.Sweep([rb.PassiveAggressiveRegression(), AROW()]).fit(ROWS, CODES),
            "parameter",
            ["entry 1", "AROW"],
        ),
        (
            lambda: rb.Calibrated(rb.PassiveAggressiveRegression()).fit(ROWS, CODES),
            "parameter",
            ["learner", "Calibrated"],
        ),
    ],
)
def test_bad_input_is_named(call: Any, code: str, facts: list[str]) -> None:
    with rejected(code, *facts):
        call()


def test_compare_does_not_see_rows_of_weight_0() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] += 2 * y
    weights = np.ones(200)
    weights[100:] = 0.0
    learners = {"averaged": rb.AveragedPerceptron(max_iter=3), "AROW": rb.AROW(max_iter=3)}
    labels = y, np.r_[y[:100], 1 - y[100:]]
    some, others = (rb.compare(X, each, classifiers=learners, folds=3, sample_weight=weights) for each in labels)
    assert [m.accuracy for m in some.measured] == [m.accuracy for m in others.measured]


def test_regressions_are_swept_by_r2() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 3.0 + 0.1 * rng.normal(size=300)
    learners = [rb.PassiveAggressiveRegression(C=C, keep="average", max_iter=5, tol=None) for C in (1e-5, 0.1)]
    sweep = rb.Sweep(learners, n_jobs=1).fit(X, y)
    assert sweep.best_index_ == 1
    assert is_regressor(sweep)
    assert not hasattr(sweep, "decision_function")
    assert not hasattr(sweep, "classes_")
    assert sweep.score(X, y) == pytest.approx(r2_score(y, sweep.predict(X)))
