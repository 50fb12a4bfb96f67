"""Regression on files: the numbers of `fit`, the same bits from the command, and models for other places."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from command import run, train
from sklearn import metrics

import rosenblatt
from rosenblatt.models.export import to_c, to_json, to_onnx
from rosenblatt.models.file import load

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
CC = shutil.which("cc") or shutil.which("gcc")


def numbers(count: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(count, 3)), 3)
    return X, np.round(X @ [1.0, -2.0, 0.5] + 0.25, 3)


@pytest.fixture
def svm(tmp_path: Path) -> Path:
    X, y = numbers()
    lines = [f"{t!r} 1:{a!r} 2:{b!r} 3:{c!r}\n" for (a, b, c), t in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rows.svm").write_text("".join(lines))
    return tmp_path / "rows.svm"


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    X, y = numbers()
    lines = [f"{a!r},{b!r},{c!r},{t!r}\n" for (a, b, c), t in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("width,height,depth,price\n" + "".join(lines))
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("learner", ["pa-regression", "pa1-regression", "pa2-regression"])
def test_a_file_gives_the_numbers_of_fit(svm: Path, learner: str) -> None:
    X, y = numbers()
    variant = {"pa-": "PA", "pa1": "PA-I", "pa2": "PA-II"}[learner[:3]]
    fitted = rosenblatt.PassiveAggressiveRegression(variant=variant, epsilon=0.05, max_iter=4, tol=None)
    model = rosenblatt.train(svm, learner, epsilon=0.05, max_iter=4, tol=None)
    rows = sp.csr_array(np.hstack([np.zeros((300, 1)), X])[:, -model.features :])
    fitted.fit(rows, y)
    np.testing.assert_array_equal(model.predict(rows), fitted.predict(rows))


def test_the_command_trains_predicts_and_inspects(csv: Path, tmp_path: Path) -> None:
    words = ["--learner", "pa1-regression", "--label", "price", "--epsilon", "0.05", "--max-iter", "20"]
    facts = train(csv, "-o", tmp_path / "m", *words)
    assert facts["classes"] == []
    _, y = numbers()
    found = [float(line) for line in run("predict", tmp_path / "m", csv).stdout.split("\n")[:-1]]
    assert np.abs(np.array(found) - y).max() < 0.2
    assert load(tmp_path / "m").is_regression
    shown = run("inspect", tmp_path / "m").stdout
    assert "PassiveAggressiveRegression" in shown
    assert "height" in shown


def test_options_that_need_all_rows(csv: Path, tmp_path: Path) -> None:
    words = ["--learner", "pa1-regression", "--label", "price", "--early-stopping", "--max-iter", "20"]
    train(csv, "-o", tmp_path / "m", *words)
    found = [float(line) for line in run("predict", tmp_path / "m", csv).stdout.split("\n")[:-1]]
    assert np.abs(np.array(found) - numbers()[1]).max() < 0.5


def test_a_label_that_is_no_number_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("x,y\n1,1.5\n2,2.5\n3,spam\n")
    words = ["--label", "y", "--learner", "pa1-regression"]
    said = run("train", tmp_path / "bad.csv", "-o", tmp_path / "m", *words, check=1)
    assert "the label 'spam' " in said.stderr


def test_a_classifier_says_which_learners_take_measurements(svm: Path, tmp_path: Path) -> None:
    said = run("train", svm, "-o", tmp_path / "m", "--learner", "pa1", check=1)
    assert "pa1-regression" in said.stderr


def test_json_has_the_weights() -> None:
    X, y = numbers()
    learner = rosenblatt.PassiveAggressiveRegression(epsilon=0.01, max_iter=50).fit(X, y)
    content = json.loads(to_json(rosenblatt.models.model.model_of(learner)))
    found = X @ np.array([weight for _, _, weight in content["weights"]]) + content["intercept"][0]
    np.testing.assert_allclose(found, learner.predict(X), rtol=1e-12, atol=1e-12)
    assert content["task"] == "regression"


def test_onnx_says_the_same(csv: Path) -> None:
    runtime = pytest.importorskip("onnxruntime", reason="runs the exported model")
    pytest.importorskip("onnx")
    model = rosenblatt.train(csv, "pa1-regression", label="price")
    session = runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    rows = rosenblatt.read(csv, encoder=model.encoder)
    found = session.run(["prediction"], {"X": numbers()[0]})[0]
    np.testing.assert_allclose(found, model.batch_scores(rows)[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
def test_c_says_the_same(csv: Path, tmp_path: Path) -> None:
    model = rosenblatt.train(csv, "pa1-regression", label="price")
    (tmp_path / "model.h").write_text(to_c(model))
    body = 'int main(void) { double x[3]; while (scanf("%lf%lf%lf", x, x + 1, x + 2) == 3) '
    body += 'printf("%a\\n", model_predict(x)); return 0; }'
    (tmp_path / "main.c").write_text(f'#include <stdio.h>\n#include "model.h"\n{body}\n')
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-ffp-contract=off", "-O2"]
    subprocess.run([str(CC), *flags, "-o", tmp_path / "main", tmp_path / "main.c"], check=True)
    X, _ = numbers()
    given = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    said = subprocess.run([tmp_path / "main"], input=given, text=True, capture_output=True, check=True).stdout
    rows = rosenblatt.read(csv, encoder=model.encoder)
    assert [float.fromhex(line) for line in said.split()] == model.batch_scores(rows)[:, 0].tolist()


def targets_of(rows: Any) -> Any:
    return np.array([float(rows.labels[code]) for code in rows.codes])


def test_evaluate_says_how_far_off_it_is(csv: Path, tmp_path: Path) -> None:
    trained = run(
        "train", csv, "-o", tmp_path / "m", "--learner", "pa1-regression", "--epsilon", 0.5, "--label", "price"
    )
    assert "hyperplane" not in trained.stderr
    found = json.loads(run("evaluate", tmp_path / "m", csv, "--json").stdout)
    model = load(tmp_path / "m")
    rows = rosenblatt.read(csv, encoder=model.encoder)
    y, answers = targets_of(rows), model.batch_scores(rows)[:, 0]
    assert found["rows"] == len(y)
    assert found["mean_absolute_error"] == pytest.approx(metrics.mean_absolute_error(y, answers))
    assert found["root_mean_squared_error"] == pytest.approx(metrics.mean_squared_error(y, answers) ** 0.5)
    assert found["r2"] == pytest.approx(metrics.r2_score(y, answers))
    assert found["bias"] == pytest.approx(np.mean(answers - y))
    assert f"over {len(y):,} rows, RMSE" in run("evaluate", tmp_path / "m", csv).stdout


def test_evaluate_of_a_regression_counts_weights(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,w,y\n" + "".join(f"{k},{k % 3},{2 * k + k % 5}\n" for k in range(30)))
    words = ["--learner", "pa1-regression", "--label", "y", "--weight", "w", "--quiet"]
    run("train", tmp_path / "x.csv", "-o", tmp_path / "m", *words)
    found = json.loads(run("evaluate", tmp_path / "m", tmp_path / "x.csv", "--json").stdout)
    rows = rosenblatt.read(tmp_path / "x.csv", encoder=load(tmp_path / "m").encoder)
    y, answers = targets_of(rows), load(tmp_path / "m").batch_scores(rows)[:, 0]
    assert (found["rows"], found["weight"]) == (20, 30.0)
    assert found["r2"] == pytest.approx(metrics.r2_score(y, answers, sample_weight=rows.weights))


def test_a_report_of_a_regression(csv: Path, tmp_path: Path) -> None:
    words = ["--learner", "pa1-regression", "--label", "price", "--report", tmp_path / "train.html"]
    run("train", csv, "-o", tmp_path / "m", *words)
    run("evaluate", tmp_path / "m", csv, "--report", tmp_path / "evaluate.html")
    for name in ("train", "evaluate"):
        page = (tmp_path / f"{name}.html").read_text()
        assert "RMSE" in page
        assert "Confusion" not in page


@pytest.mark.parametrize("words", [["--top", "1"], ["--probabilities"], ["--threshold", "0"]])
def test_predict_refuses_what_is_for_classes(csv: Path, tmp_path: Path, words: list[str]) -> None:
    run("train", csv, "-o", tmp_path / "m", "--learner", "pa1-regression", "--label", "price", "--quiet")
    said = run("predict", tmp_path / "m", csv, *words, check=2).stderr
    assert said == f"rosenblatt: {words[0]} needs classes, and {tmp_path / 'm'} predicts numbers\n"
