"""train: what it chooses, weights, held-out rows, folds, a model to continue from, regression."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import run, train
from exported import compile_c, onnx_session, run_c
from sklearn import metrics
from sklearn.exceptions import ConvergenceWarning
from written import put

import rosenblatt
from rosenblatt import AveragedPerceptron, load
from rosenblatt.io import read
from rosenblatt.models.export import to_c, to_json


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two numbers, a weight and a label that they tell up to some noise."""
    draw = random.Random(1)
    lines = ["a,b,w,y"]
    for _ in range(300):
        a, b = draw.gauss(0, 1), draw.gauss(0, 1)
        y = "pos" if a + b + draw.gauss(0, 0.7) > 0.6 else "neg"
        lines.append(f"{a:.4f},{b:.4f},{draw.choice([0, 1, 2.5])},{y}")
    return put(tmp_path / "table.csv", "\n".join(lines) + "\n")


def test_a_column_of_weights(table: Path, tmp_path: Path) -> None:
    facts = train(table, "-o", tmp_path / "m", "--weight", "w", "--learner", "averaged")
    rows = read(table, weight="w")
    assert facts["rows"] == np.count_nonzero(rows.sample_weight)
    learner = AveragedPerceptron(max_iter=10)
    with pytest.warns(ConvergenceWarning):
        learner.fit(rows.X, rows.y, sample_weight=rows.sample_weight)
    np.testing.assert_array_equal(load(tmp_path / "m").weights()[0].weights[:, :2], learner.coef_)
    figures = json.loads(run("evaluate", tmp_path / "m", table, "--json").stdout)
    assert figures["weight"] == rows.sample_weight.sum()


@pytest.mark.parametrize(
    ("cells", "words", "fact"),
    [
        ("-1,q", "--weight w", "line 3: the weight 'w' must be 0 or more"),
        ("x,q", "--weight w", "line 3: the weight 'w' must be 0 or more"),
        ("1,spam", "--learner pa1-regression", "the label 'spam' "),
    ],
)
def test_a_bad_weight_or_target_is_named(tmp_path: Path, cells: str, words: str, fact: str) -> None:
    path = put(tmp_path / "bad.csv", f"a,w,y\n1,1,1.5\n2,{cells}\n3,1,2.5\n")
    assert fact in run("train", path, "-o", tmp_path / "m", "--label", "y", *words.split(), check=1).stderr


def test_class_weights_of_the_chosen_learner(table: Path, tmp_path: Path) -> None:
    facts = train(table, "-o", tmp_path / "m", "--class-weight", "pos=50", "--drop", "w")
    assert facts["choice"]
    assert facts["parameters"]["class_weight"] == {"neg": 1.0, "pos": 50.0}
    train(table, "-o", tmp_path / "plain", "--drop", "w")
    counts = [run("predict", tmp_path / name, table).stdout.split().count("pos") for name in ("m", "plain")]
    assert counts[0] > counts[1] + 20


def test_rows_of_their_own_give_the_accuracy_and_the_probabilities(table: Path, tmp_path: Path) -> None:
    lines = table.read_text().splitlines(keepends=True)
    valid = put(tmp_path / "valid.csv", "".join([lines[0], *lines[201:]]))
    table.write_text("".join(lines[:201]))
    options = ("--learner", "arow", "--drop", "w")
    facts = train(table, "-o", tmp_path / "m", "--validation", valid, *options)
    figures = json.loads(run("evaluate", tmp_path / "m", valid, "--json").stdout)
    assert facts["held_out"]["accuracy"] == figures["accuracy"]
    assert "brier" in figures
    train(table, "-o", tmp_path / "plain", *options)
    found, expected = (load(tmp_path / name).weights()[0] for name in ("m", "plain"))
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.intercept, expected.intercept)
    assert "--validation FILE" in run("predict", tmp_path / "plain", valid, "--probabilities", check=1).stderr


@pytest.mark.parametrize(
    "options", ["--learner averaged", "--learner kernel", "--learner arow --class-weight balanced"]
)
def test_folds_give_the_accuracy_and_the_probabilities(table: Path, tmp_path: Path, options: str) -> None:
    facts = train(table, "-o", tmp_path / "m", "--folds", 4, "--drop", "w", *options.split())
    held = facts["held_out"]
    assert "3 of 4 folds" in held["rows"]
    assert 0.7 < held["accuracy"] < held["interval"][1] < 1
    answers = [line.split() for line in run("predict", tmp_path / "m", table, "--probabilities").stdout.splitlines()]
    assert all(abs(float(p) + float(q) - 1) < 1e-12 for _, p, q in answers)


def test_going_on_with_columns_labels_and_features_that_are_new(table: Path, tmp_path: Path) -> None:
    train(table, "-o", tmp_path / "m", "--drop", "w")
    new = put(tmp_path / "new.csv", "a,b,y\n" + "1,1,pos\n-1,-1,neg\n9,9,far\n" * 3)
    facts = train(new, "-o", tmp_path / "m2", "--from", tmp_path / "m")
    assert facts["classes"] == ["far", "neg", "pos"]
    scores = json.loads(run("predict", tmp_path / "m2", new, "--json").stdout.splitlines()[2])["scores"]
    assert scores["far"] > scores["neg"]


def test_what_cannot_go_on_says_so(rows: Path, table: Path, tmp_path: Path) -> None:
    train(rows, "-o", tmp_path / "kernel", "--learner", "kernel")
    train(rows, "-o", tmp_path / "m", "--learner", "averaged")
    train(rows, "-o", tmp_path / "regression", "--learner", "pa1-regression")
    for words, code, fact in (
        ((rows, "--from", tmp_path / "kernel"), 1, "only a linear model"),
        ((rows, "--from", tmp_path / "regression"), 1, "numbers"),
        ((rows, "--from", tmp_path / "m", "--learner", "arow"), 2, "--learner"),
        ((table, "--from", tmp_path / "m"), 1, "line 1"),
    ):
        assert fact in run("train", *words, "-o", tmp_path / "other", check=code).stderr
        assert not (tmp_path / "other").exists()


def test_resume_learns_as_many_epochs_as_it_is_told(table: Path, tmp_path: Path) -> None:
    told = (table, "--learner", "averaged", "--max-iter")
    train(*told, 2, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c")
    resume = ("--checkpoint", tmp_path / "c", "--resume", "-o")
    assert train(*told, 4, *resume, tmp_path / "m4")["epochs"] == 4
    train(*told, 4, "-o", tmp_path / "whole")
    assert (tmp_path / "m4").read_bytes() == (tmp_path / "whole").read_bytes()
    assert "max_iter=3" in run("train", *told, 3, *resume, tmp_path / "m3", check=2).stderr
    assert "other data or parameters" in run("train", *told, 4, "--eta0", 3, *resume, tmp_path / "m3", check=1).stderr


def test_the_verdict_of_a_kernel_names_no_hyperplane(tmp_path: Path) -> None:
    path = put(tmp_path / "xor.csv", "x,y,c\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n")
    said = run("train", path, "-o", tmp_path / "m", "--learner", "kernel").stderr
    assert "so a curve of the rbf kernel separates" in said
    assert "label: c" in said


@pytest.fixture
def uneven(tmp_path):
    """Columns of very different sizes, in three classes that lines nearly separate."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    y = np.argmax(X[:, :3] + 0.1 * rng.standard_normal((600, 3)), axis=1)
    path = tmp_path / "uneven.svm"
    X *= [1.0, 1.0, 1.0, 1000.0]
    lines = (
        f"{k} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) for k, row in zip(y, X.tolist(), strict=True)
    )
    path.write_text("\n".join(lines))
    return path


def test_without_a_learner_it_becomes_what_auto_perceptron_does(uneven, tmp_path):
    facts = train(uneven, "-o", tmp_path / "m", "--seed", 4)
    data = rosenblatt.read(uneven)
    auto = rosenblatt.AutoPerceptron(random_state=4).fit(data.X[:, 1:], data.y)
    assert auto.scaling_ is not None
    assert facts["choice"] == auto.choice_
    assert facts["tried"] == auto.scores_
    model = load(tmp_path / "m")
    np.testing.assert_array_equal(model.weights()[0].weights[:, 1:], auto.coef_)
    np.testing.assert_array_equal(model.decision_function(data.X), auto.decision_function(data.X[:, 1:]))
    assert model.learner == type(auto.best_).__name__
    assert f"rosenblatt: chose {auto.choice_}\n" in run("train", uneven, "-o", tmp_path / "m", "--seed", 4).stderr
    assert auto.choice_ in run("inspect", tmp_path / "m").stdout


def test_a_named_learner_says_that_columns_differ_in_size(tmp_path: Path) -> None:
    even, uneven = [put(tmp_path / f"{n}.svm", f"1 1:{n} 2:1 3:1\n-1 1:-{n} 2:1 4:1\n" * 20) for n in (1, 50)]
    for path, learner, note in (
        (uneven, "pa1", True),
        (uneven, "arow", False),
        (uneven, "auto", False),
        (even, "pa1", False),
    ):
        said = run("train", path, "-o", tmp_path / "m", "--learner", learner).stderr
        assert ("--learner auto scales them" in said) == note, (path, learner)


def test_too_many_weights_to_try_several_learners(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.select.search.MOST_TRIED", 8)
    facts = train(rows, "-o", tmp_path / "m")
    # a row is 1 and 0.5: ‖x‖² + 1 = 2.25
    assert facts["choice"].startswith("AROW(r=1.1), 5 epochs: ")
    assert "; 2 classes and 9 columns are too many to try several side by side" in facts["choice"]
    assert facts["parameters"]["r"] == 1.1


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{k},{k % 3},{'yes' if k > 5 else 'no'}\n" for k in range(12)]
    path = put(tmp_path / "table.csv", "a,b,y\n" + "".join(rows))
    (tmp_path / "narrow.csv").write_text("a,y\n1,yes\n")
    (tmp_path / "empty.csv").write_text("a,b,y\n")
    return path


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--validation", "none.csv"], 1, "none.csv: there is no such file"),
        (["--validation", "none*.csv"], 1, "none*.csv: there is no such file"),
        (["--validation", "narrow.csv"], 1, "narrow.csv: the column 'b' is missing"),
        (["--validation", "empty.csv"], 1, "--validation empty.csv: no rows"),
        (["--folds", "13"], 1, "folds=13 of 12 rows: each fold needs at least one row"),
        (["--folds", "1"], 2, "--folds"),
        (["--folds", "3", "--learner", "pa1-regression"], 2, "need classes"),
        (["--validation", "table.csv", "--learner", "pa1-regression"], 2, "need classes"),
    ],
)
def test_what_cannot_judge_is_refused_before_learning(small: Path, words: list[str], code: int, sentence: str) -> None:
    said = run("train", small, "-o", "m", *words, check=code).stderr
    assert sentence in said
    assert "chose" not in said
    assert not Path("m").exists()


def test_a_run_that_goes_on_refuses_them_as_well(small: Path) -> None:
    run("train", small, "-o", "m", "--learner", "averaged", "--checkpoint", "c", "--quiet")
    for begun in (["--learner", "averaged", "--checkpoint", "c", "--resume"], ["--from", "m"]):
        said = run("train", small, *begun, "-o", "n", "--validation", "none.csv", check=1).stderr
        assert said.endswith("rosenblatt: none.csv: there is no such file\n")


def numbers(count: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(count, 3)), 3)
    return X, np.round(X @ [1.0, -2.0, 0.5] + 0.25, 3)


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    X, y = numbers()
    lines = [f"{a!r},{b!r},{c!r},{t!r}\n" for (a, b, c), t in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("width,height,depth,price\n" + "".join(lines))
    return tmp_path / "rows.csv"


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


def test_every_export_says_the_same(csv: Path, tmp_path: Path) -> None:
    (X, y), model = numbers(), rosenblatt.train(csv, "pa1-regression", label="price")
    expected = model.batch_scores(rosenblatt.read(csv, encoder=model.encoder))[:, 0]
    found = onnx_session(model).run(["prediction"], {"X": X})[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    body = 'int main(void) { double x[3]; while (scanf("%lf%lf%lf", x, x + 1, x + 2) == 3) '
    body += 'printf("%a\\n", model_predict(x)); return 0; }'
    given = "\n".join(" ".join(map(repr, row)) for row in X.tolist())
    said = run_c(compile_c(tmp_path, to_c(model), body), given)
    assert [float.fromhex(line) for line in said.split()] == expected.tolist()
    learner = rosenblatt.PassiveAggressiveRegression(epsilon=0.01, max_iter=50).fit(X, y)
    content = json.loads(to_json(rosenblatt.models.model.model_of(learner)))
    found = X @ np.array([weight for _, _, weight in content["weights"]]) + content["intercept"][0]
    np.testing.assert_allclose(found, learner.predict(X), rtol=1e-12, atol=1e-12)
    assert content["task"] == "regression"


def targets_of(rows: Any) -> Any:
    return np.array([float(rows.labels[code]) for code in rows.codes])


def test_evaluate_says_how_far_off_it_is_and_counts_weights(tmp_path: Path) -> None:
    data = put(tmp_path / "x.csv", "a,w,y\n" + "".join(f"{k},{k % 3},{2 * k + k % 5}\n" for k in range(30)))
    words = ["--learner", "pa1-regression", "--label", "y", "--weight", "w"]
    assert "hyperplane" not in run("train", data, "-o", tmp_path / "m", *words).stderr
    found = json.loads(run("evaluate", tmp_path / "m", data, "--json").stdout)
    rows = rosenblatt.read(data, encoder=load(tmp_path / "m").encoder)
    y, answers, weights = targets_of(rows), load(tmp_path / "m").batch_scores(rows)[:, 0], rows.weights
    assert (found["rows"], found["weight"]) == (20, 30.0)
    assert found["mean_absolute_error"] == pytest.approx(metrics.mean_absolute_error(y, answers, sample_weight=weights))
    squares = metrics.mean_squared_error(y, answers, sample_weight=weights)
    assert found["root_mean_squared_error"] == pytest.approx(squares**0.5)
    assert found["r2"] == pytest.approx(metrics.r2_score(y, answers, sample_weight=weights))
    assert found["bias"] == pytest.approx(np.average(answers - y, weights=weights))
    assert "over 20 rows" in run("evaluate", tmp_path / "m", data).stdout


def test_a_report_of_a_regression(csv: Path, tmp_path: Path) -> None:
    words = ["--learner", "pa1-regression", "--label", "price", "--report", tmp_path / "train.html"]
    run("train", csv, "-o", tmp_path / "m", *words)
    run("evaluate", tmp_path / "m", csv, "--report", tmp_path / "evaluate.html")
    for name in ("train", "evaluate"):
        page = (tmp_path / f"{name}.html").read_text()
        assert "RMSE" in page
        assert "Confusion" not in page


@pytest.mark.parametrize("words", [["--top", "1"], ["--probabilities"], ["--threshold", "0"], ["--scores"]])
def test_predict_refuses_what_is_for_classes(csv: Path, tmp_path: Path, words: list[str]) -> None:
    run("train", csv, "-o", tmp_path / "m", "--learner", "pa1-regression", "--label", "price", "--quiet")
    said = run("predict", tmp_path / "m", csv, *words, check=2).stderr
    assert f"{tmp_path / 'm'} predicts numbers" in said
