"""Rows of weight 0 are as if absent: their labels are no classes, however the rows come."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)
from rosenblatt.select import Sweep, tune

pytestmark = pytest.mark.filterwarnings(f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning")
LEARNERS = {
    "perceptron": Perceptron,
    "one-vs-rest": lambda: Perceptron(multiclass="ovr"),
    "balanced": lambda: AveragedPerceptron(class_weight="balanced"),
    "passive-aggressive": PassiveAggressive,
    "pocket": PocketPerceptron,
    "voted": VotedPerceptron,
    "arow": AROW,
    "kernel": lambda: KernelPerceptron(kernel="rbf"),
    "auto": AutoPerceptron,
    "calibrated": lambda: Calibrated(Perceptron()),
}
AS_THEY_COME = [name for name in LEARNERS if name != "balanced"]  # which needs all rows
drawn = np.random.default_rng(0)
X = drawn.normal(size=(120, 3))
y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down").astype(object)
y[::10], weights = "ghost", np.ones(120)
weights[::10] = 0.0
there = weights > 0


@pytest.mark.parametrize(
    ("name", "call"), [*((name, "fit") for name in LEARNERS), *((name, "partial_fit") for name in AS_THEY_COME)]
)
def test_a_label_of_absent_rows_alone_is_no_class(name: str, call: str) -> None:
    found, expected = LEARNERS[name](), LEARNERS[name]()
    getattr(found, call)(X, y, sample_weight=weights)
    getattr(expected, call)(X[there], y[there], sample_weight=weights[there])
    assert_array_equal(found.classes_, ["down", "up"])
    assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("name", ["perceptron", "one-vs-rest", "balanced", "passive-aggressive", "arow"])
def test_the_weights_have_the_bits_of_a_fit_without_the_rows(name: str) -> None:
    found = LEARNERS[name]().fit(X, y, sample_weight=weights.tolist())
    expected = LEARNERS[name]().fit(X[there], y[there])
    assert_array_equal(found.coef_, expected.coef_)
    assert found.history_.mistakes == expected.history_.mistakes


def test_a_sweep_knows_no_absent_class() -> None:
    found = Sweep([Perceptron(), PassiveAggressive()]).fit(X, y, sample_weight=weights)
    assert_array_equal(found.best_.classes_, ["down", "up"])


@pytest.mark.parametrize("name", AS_THEY_COME)
def test_rows_that_are_all_absent_change_nothing(name: str) -> None:
    learner = LEARNERS[name]().partial_fit(X[:3], y[:3], sample_weight=np.zeros(3))
    assert not hasattr(learner, "classes_")
    learner.fit(X, y, sample_weight=weights)
    expected = learner.predict(X)
    learner.partial_fit(X[:2], ["other", "up"], sample_weight=[0.0, 0.0])
    learner.learn_one({0: 1.0}, "another", weight=0.0)
    assert_array_equal(learner.classes_, ["down", "up"])
    assert_array_equal(learner.predict(X), expected)


@pytest.mark.parametrize("seed", range(3))
def test_tuning_does_not_see_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(90, 3)) * np.where(np.arange(90) % 3 == 0, 20.0, 1.0)[:, None]
    labels, given = (rows.sum(axis=1) > 0).astype(int), (np.arange(90) % 3 > 0).astype(float)
    found, expected = tune(rows, labels, sample_weight=given), tune(rows[given > 0], labels[given > 0])
    assert [(str(a), b.mean) for a, b in found.tried] == [(str(a), b.mean) for a, b in expected.tried]


def test_classes_that_are_named_are_known_all_the_same() -> None:
    learner = Perceptron().partial_fit(X, y, classes=["down", "ghost", "up"], sample_weight=weights)
    assert_array_equal(learner.classes_, ["down", "ghost", "up"])


def test_one_class_that_is_left_is_said() -> None:
    alone = np.where(y == "ghost", 0.0, 0.0) + (y == "up")
    with pytest.raises(ValueError, match="y has one class only, 'up'"):
        Perceptron().fit(X, y, sample_weight=alone)
    with pytest.raises(ValueError, match="every sample_weight is zero"):
        Perceptron().fit(X, y, sample_weight=np.zeros(120))


LINES = [(1, 1, "x:1 y:2"), (-1, 1, "x:-1 y:1"), (7, 0, "x:3"), (1, 2, "x:2"), (-1, 1, "x:-2"), (9, 0, "z:1")] * 5


@pytest.mark.parametrize("learner", ["perceptron", "auto", "pocket", "balanced"])
def test_files_of_every_kind_know_no_absent_class(tmp_path: Any, learner: str) -> None:
    from rosenblatt.cli.main import main

    vw, csv, without = tmp_path / "x.vw", tmp_path / "x.csv", tmp_path / "without.vw"
    vw.write_text("".join(f"{label} {weight} | {features}\n" for label, weight, features in LINES))
    without.write_text("".join(f"{label} {weight} | {features}\n" for label, weight, features in LINES if weight))
    rows = [dict(pair.split(":") for pair in features.split()) for _, _, features in LINES]
    cells = [[row.get(name, "0") for name in "xyz"] for row in rows]
    table = [",".join([*cell, str(w), f"c{label}"]) for cell, (label, w, _) in zip(cells, LINES, strict=True)]
    csv.write_text("\n".join(["x,y,z,w,label", *table]) + "\n")
    balanced = ["--learner", "perceptron", "--class-weight", "balanced"]
    words = balanced if learner == "balanced" else ["--learner", learner]
    for data, more in ((vw, []), (without, []), (csv, ["--weight", "w"])):
        assert main(["train", str(data), *words, *more, "--quiet", "-o", f"{data}.model"]) == 0
    models = [rosenblatt.load(f"{data}.model") for data in (vw, without, csv)]
    assert [len(model.classes_) for model in models] == [2, 2, 2]
    assert (tmp_path / "x.vw.model").read_bytes() == (tmp_path / "without.vw.model").read_bytes()


def test_evaluation_does_not_count_them(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from rosenblatt.cli.main import main

    vw = tmp_path / "x.vw"
    vw.write_text("".join(f"{label} {weight} | {features}\n" for label, weight, features in LINES))
    assert main(["train", str(vw), "--learner", "perceptron", "--quiet", "-o", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "m"), str(vw), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 20
    assert main(["predict", str(tmp_path / "m"), str(vw)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 30  # every line has its answer
