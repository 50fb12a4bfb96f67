"""Defects of models, their files, exports and evaluations that use has found."""

import datetime
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from batches import batch_of
from exported import compile_c, onnx_session, run_c
from rejected import rejected
from sklearn import metrics
from sklearn.base import is_classifier, is_regressor
from written import reloaded

import rosenblatt
from rosenblatt.cli.main import main
from rosenblatt.errors import DataError
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


@pytest.fixture(scope="module")
def weighted() -> Any:
    """A classifier whose balanced decision differs from the most likely class."""
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


def test_c_code_of_two_million_features_needs_no_stack(tmp_path: Path) -> None:
    features = 2_000_000
    weights = np.zeros((1, features))
    weights[0, [3, features - 1]] = 1.0, 2.0
    model = Model("x", {}, np.array([0, 1]), (Linear(weights, np.zeros(1)),), features)
    body = f"""int main(void) {{ double *row = calloc({features}, sizeof(double)), score;
        row[3] = 4; row[{features - 1}] = 8; model_scores(row, &score);
        printf("%g %d", score, model_predict(row)); return 0; }}"""
    assert run_c(compile_c(tmp_path, to_c(model), body)) == "20 1"


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
    body = """int main(void) { double row[3], scores[MODEL_ROWS], p[MODEL_CLASSES];
        while (scanf("%lf %lf %lf", row, row + 1, row + 2) == 3) {
          model_scores(row, scores); model_probabilities(scores, p);
          for (int k = 0; k < MODEL_CLASSES; ++k) printf("%.17g ", p[k]);
        } return 0; }"""
    said = run_c(compile_c(tmp_path, to_c(model), body), "\n".join(" ".join(map(repr, row)) for row in X[:50].tolist()))
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


def test_many_names_are_saved(tmp_path: Path) -> None:
    names = {f"feature {k} of many": 1.0 for k in range(3000)}
    learner = rosenblatt.Perceptron().learn_one(names, "a").learn_one({"other": 1.0}, "b")
    rosenblatt.save(learner, tmp_path / "m")
    header = int.from_bytes((tmp_path / "m").read_bytes()[:8], "little")
    assert header < 3000  # safetensors reads 100 MB of it at most, so names are not in it
    loaded = rosenblatt.load(tmp_path / "m")
    assert loaded.predict_one({"other": 1.0}) == learner.predict_one({"other": 1.0})
    assert loaded.learn_one({"new": 1.0}, "b").n_features_in_ == 3002


@pytest.mark.parametrize("learner", [rosenblatt.Perceptron, rosenblatt.VotedPerceptron, rosenblatt.KernelPerceptron])
def test_a_stream_without_features_is_saved_and_loaded(learner: Any) -> None:
    stream = learner().learn_one({}, "a").learn_one({}, "b")
    loaded = reloaded(stream)
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
    model = reloaded(rosenblatt.train(tmp_path / "x.csv", "averaged", label="rich"))
    rows = [{"age": 65, "job": "clerk"}, {"age": 21, "job": None}]
    assert [model.predict_one(row) for row in rows] == ["yes", "no"]
    assert model.predict_one(rows[0] | {"more": 1}) == "yes"
    assert model.predict(rows).tolist() == model.predict(pa.Table.from_pylist(rows)).tolist() == ["yes", "no"]
    first = model.explain(rows[0])[0]
    assert first.feature == "age"
    assert first.share == pytest.approx(first.value * dict(model.top_features()["yes"])["age"])
    with rejected("data", "'job'"):
        model.predict_one({"age": 65})


def test_one_raw_row_is_read_as_the_training_file_was(tmp_path: Path) -> None:
    rows = [f"{k % 30},5 kg;{1000 + 13 * k},25 €;{'yes' if k % 30 < 15 else 'no'}" for k in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["weight;price;sold", *rows]), encoding="utf-8")
    model = rosenblatt.train(tmp_path / "t.csv", "averaged", label="sold")
    written = {"weight": "2,5 kg", "price": "1.026,25 €"}
    assert model.predict_one(written) == model.predict_one({"weight": 2.5, "price": 1026.25}) == "yes"
    with rejected("data", "row 0", "'price'", "'dear'"):
        model.predict_one(written | {"price": "dear"})


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA], ids=repr)
def test_a_text_among_texts_may_be_missing(missing: Any, tmp_path: Path) -> None:
    model = rosenblatt.AutoPerceptron(max_iter=2).fit(["win a prize", "see you at home"] * 20, ["spam", "ham"] * 20)
    for each in (model, reloaded(model)):
        assert each.predict([missing, "win a prize"]).tolist() == each.predict(["", "win a prize"]).tolist()
    rows = [f"{k % 30},{'ab'[k % 2]},{'yes' if k % 30 < 15 else 'no'}" for k in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["age,kind,sold", *rows]), encoding="utf-8")
    table = rosenblatt.train(tmp_path / "t.csv", "averaged", label="sold")
    with rejected("data", "row 0", "columns"):
        table.predict([missing, {"age": 3, "kind": "a"}])


def test_cells_that_a_model_cannot_read_are_reported(tmp_path: Path) -> None:
    rows = [f"{k % 30},2024-03-{1 + k % 28:02d},{'yes' if k % 30 < 15 else 'no'}" for k in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["age,day,sold", *rows]), encoding="utf-8")
    model = rosenblatt.train(tmp_path / "t.csv", "averaged", label="sold")
    with rejected("data", "row 0", "'day'", "'soon'"):
        model.predict_one({"age": 3, "day": "soon"})
    assert model.predict_one({"age": 3, "day": "unknown"}) == model.predict_one({"age": 3, "day": None})
    frame = pd.DataFrame({"age": ["3 years", "4 years"], "day": ["2024-03-01", "soon"]})
    for call in (model.predict, lambda X: model.partial_fit(X, ["yes", "no"])):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call(frame)
        assert ["'3 years'" in str(told[0].message), "'soon'" in str(told[1].message)] == [True, True]


def test_text_of_many_classes_takes_memory_for_the_columns_it_has_only(tmp_path: Path) -> None:
    lines = [f"c{k}\tword{k} word{k + 1} shared{k % 7}" for k in range(300)] * 3
    (tmp_path / "many.tsv").write_text("\n".join(lines))
    model = rosenblatt.train(tmp_path / "many.tsv", "arow", max_iter=3)
    rosenblatt.save(model, tmp_path / "many.model")
    loaded = rosenblatt.load(tmp_path / "many.model")
    for found in (model, loaded):
        (linear,) = found.parts
        assert linear.weights.size < 2_000 * 300 < found.features * 300
    assert (tmp_path / "many.model").stat().st_size < 1 << 20
    texts = [line.partition("\t")[2] for line in lines] + ["never seen before"]
    assert np.array_equal(loaded.decision_function(texts), model.decision_function(texts))
    assert loaded.predict(texts[:-1]).tolist() == [f"c{k}" for k in range(300)] * 3
    more = [*lines[:5], "c7\tquite new words"]
    (tmp_path / "more.tsv").write_text("\n".join(more))
    arguments = ["train", str(tmp_path / "more.tsv"), "--from", str(tmp_path / "many.model"), "-o"]
    assert main([*arguments, str(tmp_path / "more.model")]) == 0
    continued = rosenblatt.load(tmp_path / "more.model")
    assert continued.parts[0].weights.size < 2_000 * 300
    assert continued.predict(["quite new words"]).tolist() == ["c7"]


def test_predict_one_of_a_loaded_model_has_the_bits_of_predict() -> None:
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(100, 20))
    y = X @ rng.normal(size=20) + rng.normal(size=100)
    model = reloaded(rosenblatt.PassiveAggressiveRegression().partial_fit(X, y))
    assert [model.predict_one(dict(enumerate(row))) for row in X.tolist()] == model.predict(X).tolist()


def test_raw_texts_are_lowered_as_labeled_lines_are(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("ja\tÜBER ÄPFEL\nnein\tunter Birnen\n" * 20, encoding="utf-8")
    model = rosenblatt.train(tmp_path / "t.tsv", "averaged")
    scores = [model.decision_function([text])[0] for text in ("ÜBER ÄPFEL", "über äpfel", "Über Äpfel")]
    assert scores[0] == scores[1] == scores[2] != model.decision_function(["neither"])[0]
    (tmp_path / "new.tsv").write_text("ja\tÜBER ÄPFEL\n", encoding="utf-8")
    (batch,) = open_dataset(tmp_path / "new.tsv", encoder=model.encoder)
    assert model.batch_scores(batch)[0, 0] == scores[0]


def test_onnx_labels_beyond_63_bits_are_texts() -> None:
    classes = np.array([1, 2**64 - 1], np.uint64)
    learner = rosenblatt.Perceptron().fit([[-1.0], [1.0]], classes)
    session = onnx_session(reloaded(learner))  # an export takes what `load` returns
    assert session.run(["label"], {"X": np.array([[-2.0], [2.0]])})[0].tolist() == ["1", str(2**64 - 1)]


@pytest.mark.parametrize("kind", [np.int8, np.float32, ">i4", "datetime64[25s]", datetime.date], ids=str)
def test_loaded_labels_have_the_type_of_the_learner(kind: Any) -> None:
    days = [datetime.date(2024, 1, 1), datetime.date(2025, 1, 1)]
    y = np.array(days * 10) if kind is datetime.date else np.array([0, 1] * 10).astype(kind)
    learner = rosenblatt.Perceptron().fit([[-1.0], [1.0]] * 10, y)
    found, expected = reloaded(learner).predict([[-2.0], [2.0]]), learner.predict([[-2.0], [2.0]])
    assert found.dtype == expected.dtype.newbyteorder("=")
    assert found.tolist() == expected.tolist() == y[:2].tolist()


def test_a_loaded_model_scores_labels_as_its_learner_does() -> None:
    y = [datetime.datetime(2024, 1, 1, 3), datetime.datetime(2023, 1, 1)] * 5
    learner = rosenblatt.Perceptron().fit([[-1.0], [1.0]] * 5, y)
    assert reloaded(learner).score([[-1.0], [1.0]] * 5, y) == learner.score([[-1.0], [1.0]] * 5, y) == 1.0


def test_an_empty_text_is_missing_in_files_frames_and_raw_rows(tmp_path: Path) -> None:
    rows = [{"age": 20 + k % 40, "job": ["clerk", "", "smith", "NA"][k % 4]} for k in range(200)]
    y = ["old" if row["age"] > 40 or not row["job"] else "young" for row in rows]
    frame = pd.DataFrame(rows).assign(y=y)
    frame.to_csv(tmp_path / "x.csv", index=False)
    new = pd.DataFrame(rows[:4])
    for data in (tmp_path / "x.csv", frame):
        model = rosenblatt.train(data, "averaged", label="y")
        expected = model.decision_function(new)
        assert model.decision_function(new.to_dict("records")).tolist() == expected.tolist()
        new.to_csv(tmp_path / "new.csv", index=False)
        (batch,) = open_dataset(tmp_path / "new.csv", encoder=model.encoder, require_label=False)
        assert model.batch_scores(batch)[:, 0].tolist() == expected.tolist()


def test_onnx_of_a_model_without_features_is_refused() -> None:
    with rejected("model", "no features"):
        to_onnx(rosenblatt.Perceptron().learn_one({}, "a").learn_one({}, "b"))


def test_a_regression_is_evaluated_in_python_as_in_files() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 100 * X[:, 0] + rng.normal(size=200)
    learner = rosenblatt.PassiveAggressiveRegression().fit(X, y)
    for model in (learner, model_of(learner)):
        found = evaluate(model, X, y)
        assert found.r2 == pytest.approx(metrics.r2_score(y, learner.predict(X)))
        assert found.mean_absolute_error == pytest.approx(metrics.mean_absolute_error(y, learner.predict(X)))
        assert "RMSE" in render_text(found)


@pytest.mark.parametrize("kind", [bool, np.float32, np.uint64, np.int8])
def test_labels_of_a_file_are_those_of_a_model_from_python(kind: Any, tmp_path: Path) -> None:
    y = np.array([0, 1] * 10).astype(kind)
    frame = pd.DataFrame({"a": [-1.0, 1.0] * 10})
    model = model_of(rosenblatt.Perceptron().fit(frame, y))
    rosenblatt.save(model, tmp_path / "m")
    frame.assign(y=y).to_csv(tmp_path / "x.csv", index=False)
    output = tmp_path / "report.html"
    arguments = ["evaluate", str(tmp_path / "m"), str(tmp_path / "x.csv"), "--label", "y", "--report", str(output)]
    assert main(arguments) == 0
    assert "100.00% of 20 rows right" in output.read_text()


def test_a_loaded_model_has_what_scikit_learn_expects() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.array(["a", "b", "c"] * 20)
    auto = rosenblatt.AutoPerceptron(n_jobs=1).fit(X, y)
    model = reloaded(auto)
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.score(X, y) == auto.score(X, y) == auto.score(X, y, np.ones(60))
    assert {"predict", "predict_proba", "explain", "classes_", "partial_fit"} <= set(dir(model))
    for each in (auto, model):
        np.testing.assert_array_equal(each.predict_log_proba(X), np.log(auto.predict_proba(X)))
    with rejected("data", "y "):
        model.score(X, y[:3])
    numbers = rosenblatt.PassiveAggressiveRegression().fit(X, X[:, 0])
    model = reloaded(numbers)
    assert is_regressor(model)
    assert model.score(X, X[:, 0]) == numbers.score(X, X[:, 0])
    assert len(repr(rosenblatt.read(pa.table({"x": X[:, 0], "y": y})))) < 80


@pytest.mark.parametrize("kind", ["maybe", "b2"])
def test_raw_rows_of_any_kind_are_read_as_the_training_file_was(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"age": range(20, 80), "flag": ["True", "5", kind] * 20, "y": ["n", "y"] * 30})
    frame.to_csv(tmp_path / "x.csv", index=False)
    model = rosenblatt.train(tmp_path / "x.csv", "averaged", label="y")
    rows = frame.drop(columns="y")
    told = model.decision_function(rows)
    assert model.decision_function(rows.to_dict("records")).tolist() == told.tolist()
    typed = [{"age": 20, "flag": True}, {"age": 21.0, "flag": 5.0}]
    assert model.decision_function(typed).tolist() == told[:2].tolist()
    assert model.predict_one(rows.iloc[2]) == model.predict_one(next(rows[2:].itertuples())) == model.predict(rows[2:3])
    nothing = model.predict(pd.DataFrame({"age": [None], "flag": [None]}))
    for missing in (None, float("nan"), pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT")):
        assert model.predict([{"age": missing, "flag": missing}]) == nothing
    assert model.predict([{"age": "unknown", "flag": None}]) == nothing
    with rejected("data", "one row"):
        model.explain(rows)


def test_a_frame_of_one_column_is_texts_for_a_model_of_texts(spam: Path) -> None:
    model, texts = rosenblatt.load(spam), ["win a prize", "lunch with you"]
    for given in (pd.DataFrame({"text": texts}), pa.table({"text": texts}), pa.array(texts), pa.chunked_array([texts])):
        assert model.predict(given).tolist() == ["spam", "ham"]
    with rejected("data", "2 columns"):
        model.predict(pd.DataFrame({"text": texts, "more": texts}))


@pytest.mark.parametrize("bits", [3, 8])
def test_onnx_of_categories_that_share_a_column(tmp_path: Path, bits: int) -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({name: draw.choice([f"{k} | a" for k in range(20)], 300) for name in ("a", "a=b")})
    frame["y"] = np.where(frame["a"] > "2", "p", "q")
    model = rosenblatt.train(frame, "averaged", label="y", folds=3, bits=bits, category=["a", "a=b"])
    feeds = {name: frame[[name]].to_numpy(object) for name in ("a", "a=b")} | {"X": np.zeros((300, 0))}
    session = onnx_session(model)
    feeds = {each.name: feeds[each.name] for each in session.get_inputs()}
    (told,) = session.run(["probabilities"], feeds)
    np.testing.assert_allclose(told, model.predict_proba(frame), atol=1e-9)


def test_onnx_of_an_estimator_of_frames(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["x", "y", "z"] * 40, "b": [1.0, float("nan"), 3.0, 4.0] * 30})
    model = model_of(rosenblatt.AutoPerceptron(products=False).fit(frame, ["p", "q", "q"] * 40))
    feeds = {"X": frame[["b"]].to_numpy(), "a": frame[["a"]].to_numpy(object)}
    (told,) = onnx_session(model).run(["probabilities"], feeds)
    np.testing.assert_allclose(told, model.predict_proba(frame), atol=1e-9)
