"""Defects of models, their files, exports and evaluations that use has found."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics

import rosenblatt
from rosenblatt.cli.main import main
from rosenblatt.data.batch import RowBatch
from rosenblatt.errors import DataError, ModelError
from rosenblatt.evaluation import compare_models, evaluate, evaluate_batches
from rosenblatt.io import open_dataset
from rosenblatt.models.export import to_c, to_json, to_onnx
from rosenblatt.models.file import sha256_of
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Linear
from rosenblatt.report import render_text


def rare(rows: int = 4000) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.01
    X = rng.normal(size=(rows, 2)) + np.outer(y, [1.5, 0.0])
    return X, np.where(y, "yes", "no")


def batch_of(X: Any, y: Any, weights: Any = None) -> RowBatch:
    names = sorted(set(y.tolist()))
    rows, columns = X.shape
    return RowBatch(
        (np.arange(rows + 1) * columns).astype(np.int32),
        np.tile(np.arange(columns, dtype=np.int32), rows),
        np.ascontiguousarray(X).ravel(),
        np.searchsorted(names, y).astype(np.int32),
        [name.encode() for name in names],
        weights,
    )


@pytest.fixture(scope="module")
def weighted() -> Any:
    """A classifier whose balanced decision differs from the likeliest class."""
    X, y = rare()
    return rosenblatt.Calibrated(rosenblatt.AveragedPerceptron(class_weight="balanced", random_state=0)).fit(X, y)


def test_calibration_pairs_a_probability_with_its_class_not_with_the_weighted_decision(weighted: Any) -> None:
    X, y = rare()
    found = evaluate_batches(model_of(weighted), [batch_of(X, y)])
    assert found.reliability is not None
    assert found.reliability.ece < 0.02
    assert found.errors > 200  # the decision favors the rare class


def test_a_rare_class_has_a_baseline_an_average_precision_and_thresholds(weighted: Any) -> None:
    X, y = rare()
    found = evaluate(weighted, X, y)
    expected = metrics.average_precision_score(y == "yes", weighted.decision_function(X))
    assert found.baseline == (y == "no").mean()
    assert found.pr_auc == pytest.approx(expected)
    P = weighted.predict_proba(X)[:, 1]
    for each in found.thresholds:
        named = each.threshold <= P
        assert each.rows == named.sum()
        assert each.recall == pytest.approx(metrics.recall_score(y == "yes", named))
        assert each.precision == pytest.approx(metrics.precision_score(y == "yes", named))
    assert any(each.recall >= 0.9 for each in found.thresholds)
    assert f"{found.baseline:.2%}" in render_text(found)


def test_figures_do_not_depend_on_how_rows_are_cut(weighted: Any) -> None:
    X, y = rare(1000)
    w = np.random.default_rng(1).random(1000)
    model = model_of(weighted)
    whole = evaluate_batches(model, [batch_of(X, y, w)])
    parts = [slice(0, 1), slice(1, 340), slice(340, 341), slice(341, 1000)]
    cut = evaluate_batches(model, [batch_of(X[part], y[part], w[part]) for part in parts])
    assert json.dumps(cut.to_json()) == json.dumps(whole.to_json())


def test_dates_as_classes_are_evaluated_and_written_as_json(tmp_path: Path) -> None:
    y = np.array(["2024-01-01", "2024-02-01"], "M8[ns]")[[0, 0, 1, 1]]
    found = evaluate(rosenblatt.Perceptron().fit([[0.0], [1.0], [5.0], [6.0]], y), [[0.0], [1.0], [5.0], [0.5]], y)
    read = json.loads(json.dumps(found.to_json()))
    assert [label[:10] for label in read["classes"]] == ["2024-01-01", "2024-02-01"]
    assert read["confusions"][0]["true"][:10] == "2024-02-01"


def test_two_models_are_compared_on_the_same_rows() -> None:
    X, y = rare(2000)
    good = model_of(rosenblatt.AveragedPerceptron(random_state=0).fit(X, y))
    rng = np.random.default_rng(2)
    bad = model_of(rosenblatt.AveragedPerceptron(random_state=0).fit(X, rng.permutation(np.tile(["no", "yes"], 1000))))
    found = compare_models(bad, good, [batch_of(X, y)], [batch_of(X[:5], y[:5]), batch_of(X[5:], y[5:])])
    assert found.difference == pytest.approx(np.mean(good.predict(X) == y) - np.mean(bad.predict(X) == y))
    low, high = found.interval
    assert 0 < low < found.difference < high
    same = compare_models(good, good, [batch_of(X, y)], [batch_of(X, y)])
    assert same.interval[0] < 0 < same.interval[1]


def onnx_session(model: Any) -> Any:
    runtime = pytest.importorskip("onnxruntime", reason="runs the exported model")
    pytest.importorskip("onnx")
    return runtime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])


def run_c(tmp_path: Path, model: Any, body: str, text: str = "") -> str:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "main.c").write_text(
        f"#include <stdio.h>\n#include <stdlib.h>\n{to_c(model)}\nint main(void) {{ {body} }}"
    )
    subprocess.run([compiler, "-std=c99", "-O1", "-o", tmp_path / "main", tmp_path / "main.c", "-lm"], check=True)
    return subprocess.run([tmp_path / "main"], input=text, capture_output=True, text=True, check=True).stdout


def test_c_code_of_two_million_features_needs_no_stack(tmp_path: Path) -> None:
    features = 2_000_000
    weights = np.zeros((1, features))
    weights[0, [3, features - 1]] = 1.0, 2.0
    model = Model("x", {}, np.array([0, 1]), (Linear(weights, np.zeros(1)),), features)
    body = f"""double *row = calloc({features}, sizeof(double)), score;
        row[3] = 4; row[{features - 1}] = 8; model_scores(row, &score);
        printf("%g %d", score, model_predict(row)); return 0;"""
    assert run_c(tmp_path, model, body) == "20 1"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
def test_every_export_has_the_probabilities(tmp_path: Path, classes: int, calibrate: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + rng.normal(size=400) / 2, [-0.5, 0.5][: classes - 1])]
    model = model_of(rosenblatt.Calibrated(rosenblatt.AveragedPerceptron(), calibrate=calibrate).fit(X, y))
    expected = model.predict_proba(X[:50])
    label, found = onnx_session(model).run(["label", "probabilities"], {"X": X[:50]})
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert label.tolist() == model.predict(X[:50]).tolist()
    body = """double row[3], scores[MODEL_ROWS], p[MODEL_CLASSES];
        while (scanf("%lf %lf %lf", row, row + 1, row + 2) == 3) {
          model_scores(row, scores); model_probabilities(scores, p);
          for (int k = 0; k < MODEL_CLASSES; ++k) printf("%.17g ", p[k]);
        } return 0;"""
    said = run_c(tmp_path, model, body, "\n".join(" ".join(map(repr, row)) for row in X[:50].tolist()))
    np.testing.assert_allclose(np.array(said.split(), float).reshape(expected.shape), expected, atol=1e-12)
    read = json.loads(to_json(model))["probabilities"]
    assert len(read["curves"]) == (1 if classes == 2 else classes)


def test_onnx_of_a_table_with_categories(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with open(tmp_path / "x.csv", "w") as file:
        file.write("age,job,city,rich\n")
        for k in range(300):
            age, job, city = rng.integers(20, 70), ["clerk", "smith", ""][k % 3], ["a=b", "c"][k % 2]
            file.write(f"{age if k % 11 else ''},{job},{city},{'yes' if age + 20 * (job == 'smith') > 50 else 'no'}\n")
    model = rosenblatt.train(tmp_path / "x.csv", "averaged", label="rich")
    session = onnx_session(model)
    assert {each.name for each in session.get_inputs()} == {"X", "job", "city"}
    jobs, cities = [["smith"], ["clerk"], [""], ["unheard of"]], [["c"], ["a=b"], ["c"], ["c"]]
    row = {"X": np.array([[30.0], [np.nan], [60.0], [40.0]]), "job": np.array(jobs), "city": np.array(cities)}
    (scores,) = session.run(["scores"], row)
    (tmp_path / "new.csv").write_text("age,job,city\n30,smith,c\n,clerk,a=b\n60,,c\n40,unheard of,c\n")
    (batch,) = open_dataset(tmp_path / "new.csv", encoder=model.encoder, require_label=False)
    np.testing.assert_allclose(scores, model.batch_scores(batch), atol=1e-12)


def test_dates_as_classes_are_exported(tmp_path: Path) -> None:
    y = np.array(["2024-01-01", "2024-02-01"], "M8[D]")[[0, 0, 1, 1]]
    model = model_of(rosenblatt.Perceptron().fit([[0.0], [1.0], [5.0], [6.0]], y))
    assert json.loads(to_json(model))["classes"] == ["2024-01-01", "2024-02-01"]
    assert onnx_session(model).run(["label"], {"X": np.array([[9.0]])})[0].tolist() == ["2024-02-01"]


def test_many_names_are_saved_beside_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rosenblatt.models.container.MOST_HEADER", 20_000)
    names = {f"feature {k} of many": 1.0 for k in range(3000)}
    learner = rosenblatt.Perceptron().learn_one(names, "a").learn_one({"other": 1.0}, "b")
    rosenblatt.save(learner, tmp_path / "m")
    loaded = rosenblatt.load(tmp_path / "m")
    assert loaded.predict_one({"other": 1.0}) == learner.predict_one({"other": 1.0})
    assert loaded.learn_one({"new": 1.0}, "b").n_features_in_ == 3002


def test_a_header_that_load_refuses_is_not_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rosenblatt.models.container.MOST_HEADER", 20_000)
    labels = [f"a class with a long name, the {k}th" for k in range(1000)]
    with pytest.raises(ModelError, match="header"):
        rosenblatt.save(rosenblatt.Perceptron().partial_fit(np.eye(1000), labels), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("learner", [rosenblatt.Perceptron, rosenblatt.VotedPerceptron, rosenblatt.KernelPerceptron])
def test_a_stream_without_features_is_saved_and_loaded(tmp_path: Path, learner: Any) -> None:
    stream = learner().learn_one({}, "a").learn_one({}, "b")
    rosenblatt.save(stream, tmp_path / "m")
    loaded = rosenblatt.load(tmp_path / "m")
    assert loaded.predict_one({"x": 1.0}) == stream.predict_one({"x": 1.0})
    for each in (stream, loaded):
        each.learn_one({"x": 1.0}, "a")
        each.learn_one({"y": 1.0}, "b")
    assert [loaded.predict_one({name: 5.0}) for name in "xy"] == [stream.predict_one({name: 5.0}) for name in "xy"]


def test_a_file_says_where_the_model_comes_from(tmp_path: Path, capsys: Any) -> None:
    rosenblatt.save(rosenblatt.Perceptron().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m", lineage={"data": "a.csv"})
    loaded = rosenblatt.load(tmp_path / "m")
    assert loaded.lineage == {"data": "a.csv"}
    rosenblatt.save(loaded, tmp_path / "same")
    assert (tmp_path / "same").read_bytes() == (tmp_path / "m").read_bytes()
    loaded.partial_fit([[2.0]], [1])
    rosenblatt.save(loaded, tmp_path / "next", lineage={"date": "2026-11-18"})
    found = rosenblatt.load(tmp_path / "next").lineage
    assert found == {"parent": sha256_of(tmp_path / "m"), "date": "2026-11-18"}
    assert main(["inspect", str(tmp_path / "next")]) == 0
    assert found["parent"] in capsys.readouterr().out


@pytest.fixture(scope="module")
def spam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spam")
    (folder / "x.tsv").write_text("spam\twin a prize now\nham\tsee you at lunch\n" * 20)
    rosenblatt.save(rosenblatt.train(folder / "x.tsv", "averaged"), folder / "m")
    return folder / "m"


def test_a_loaded_model_takes_texts(spam: Path) -> None:
    model = rosenblatt.load(spam)
    texts = ["win a prize", "lunch with you"]
    assert model.predict(texts).tolist() == model.predict(np.array(texts, object)).tolist() == ["spam", "ham"]
    assert [model.predict_one(text) for text in texts] == ["spam", "ham"]
    names = {each.feature for each in model.explain("win a prize")}
    assert {"win", "prize"} <= names
    with pytest.raises(DataError):
        model.predict("win a prize")
    for _ in range(30):
        model.learn_one("a prize for lunch", "ham")
    assert model.predict_one("a prize for lunch") == "ham"


def test_a_loaded_model_takes_raw_rows(tmp_path: Path) -> None:
    with open(tmp_path / "x.csv", "w") as file:
        file.write("age,job,rich\n")
        for k in range(200):
            file.write(f"{20 + k % 50},{['clerk', 'smith'][k % 2]},{'yes' if k % 50 > 25 else 'no'}\n")
    rosenblatt.save(rosenblatt.train(tmp_path / "x.csv", "averaged", label="rich"), tmp_path / "m")
    model = rosenblatt.load(tmp_path / "m")
    rows = [{"age": 65, "job": "clerk"}, {"age": 21, "job": None}]
    assert [model.predict_one(row) for row in rows] == ["yes", "no"]
    assert model.predict(rows).tolist() == model.predict(pa.Table.from_pylist(rows)).tolist() == ["yes", "no"]
    first = model.explain(rows[0])[0]
    assert first.feature == "age"
    assert first.share == pytest.approx(first.value * dict(model.top_features()["yes"])["age"])
    with pytest.raises(DataError):
        model.predict_one({"age": 65})


def test_predict_takes_a_list_of_dicts() -> None:
    learner = rosenblatt.Perceptron().learn_one({"win": 1.0}, "spam").learn_one({"lunch": 2.0}, "ham")
    examples = [{"win": 1.0}, {"lunch": -1.0, "new": 5.0}, {}]
    assert model_of(learner).predict(examples).tolist() == [learner.predict_one(each) for each in examples]
