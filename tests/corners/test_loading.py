"""A model that was saved and loaded answers, refuses and goes on as the learner that it was made of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from learners import KERNEL, LEARNERS, LINEAR, PROBABLE, answers, assert_same, dicts, each, rows
from rosenblatt import (
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    Perceptron,
    Sweep,
    load,
    save,
)
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.container import write_container
from rosenblatt.models.file import to_parts
from rosenblatt.models.model import model_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SAVED = {name: make for name, make in LEARNERS.items() if name != "kernel function"}  # a function cannot be saved


def loaded(learner: Any, folder: Path) -> Any:
    save(learner, folder / "learner.model")
    return load(folder / "learner.model")


# -- column names


@pytest.mark.parametrize(
    "learner", [Perceptron(), AveragedPerceptron(), AutoPerceptron(), KernelPerceptron()], ids=repr
)
def test_a_frame_with_its_columns_in_another_order_is_never_answered_wrongly(learner: Any, tmp_path: Path) -> None:
    X, y = rows(200, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    learner = learner.fit(frame, y)
    model = loaded(learner, tmp_path)
    try:
        found = model.predict(frame[["c", "a", "b"]])
    except ValueError:
        return  # refused, as the learner itself refuses it
    assert found.tolist() == learner.predict(frame).tolist()


def test_a_frame_with_other_column_names_is_refused(tmp_path: Path) -> None:
    X, y = rows(200, d=3)
    model = loaded(Perceptron(max_iter=20).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y), tmp_path)
    for call in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="d"):
            call(pd.DataFrame(X, columns=["a", "b", "d"]))


def test_the_sentence_names_the_first_column_that_is_elsewhere_new_or_missing(tmp_path: Path) -> None:
    X, y = rows(60, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = loaded(Perceptron(max_iter=20).fit(frame, y), tmp_path)
    sentence = "X has the column 'c' at place 1, where the model was trained on 'b'"
    with pytest.raises(DataError, match=sentence):
        model.predict(frame[["a", "c", "b"]])
    with pytest.raises(DataError, match="X has the column 'd', which the model was not trained on"):
        model.predict(frame.assign(d=1.0))
    with pytest.raises(DataError, match="X lacks the column 'b', which the model was trained on"):
        model.predict(frame[["a", "c"]])
    assert model.predict(frame[model.feature_names_in_]).tolist() == model.predict(X).tolist()


def test_a_model_of_rows_without_names_takes_a_frame_and_has_no_names(tmp_path: Path) -> None:
    X, y = rows(60, d=3)
    model = loaded(Perceptron(max_iter=20).fit(X, y), tmp_path)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    assert model.predict(pd.DataFrame(X, columns=["c", "a", "b"])).tolist() == model.predict(X).tolist()


def test_a_loaded_model_knows_its_feature_names(tmp_path: Path) -> None:
    X, y = rows(60, d=3)
    model = loaded(Perceptron(max_iter=20).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y), tmp_path)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


# -- one class


@each(LINEAR | {name: make for name, make in KERNEL.items() if name != "kernel function"})
def test_a_model_of_one_class_answers_with_it(make: Any, tmp_path: Path) -> None:
    X, _ = rows(20)
    model = loaded(make().partial_fit(X, np.full(20, "only")), tmp_path)
    assert model.predict(X).tolist() == ["only"] * 20


# -- classes of every type


@pytest.mark.parametrize(
    "classes",
    [
        np.array([3, 2**63, 2**64 - 1], np.uint64),
        np.array([-(2**63), 0, 2**63 - 1]),
        np.array([3, 2**63, 2**64 - 1], object),
        np.array(["2024-02-29", "2024-03-01", "9999-12-31"], "datetime64[D]"),
        np.array(["1969-12-31T23:59:59.999999999", "2024-01-01", "2262-01-01"], "datetime64[ns]"),
        np.array([0, 25, 50], "datetime64[25s]"),
        np.array([-1, 0, 2**40], "timedelta64[ms]"),
    ],
    ids=lambda classes: f"{classes.dtype} {classes[0]}",
)
def test_classes_survive_as_what_they_are(classes: Any, tmp_path: Path) -> None:
    X, y = rows(60, classes=3)
    model = model_of(Perceptron(max_iter=20).fit(X, y))
    again = loaded(replace(model, classes=classes), tmp_path)
    assert again.classes.dtype == (np.uint64 if classes.dtype == object else classes.dtype)
    assert again.classes.tolist() == classes.tolist()
    codes = np.searchsorted(model.classes, model.predict(X))
    np.testing.assert_array_equal(again.predict(X), again.classes[codes])
    assert again.predict_one(dicts(X)[0]) == again.predict(X)[0]


@pytest.mark.parametrize("classes", [np.array(["2024-01-01", "NaT"], "datetime64[D]"), np.array([b"a", b"b"])])
def test_classes_that_a_file_cannot_hold_are_refused_when_it_is_written(classes: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    model = model_of(Perceptron(max_iter=20).fit(X, y))
    with pytest.raises(ModelError, match="cannot be saved"):
        save(replace(model, classes=classes), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("kind", ["M", "m"])
@pytest.mark.parametrize(
    "change", [{"unit": "parsecs"}, {"unit": "D] "}, {"unit": None}, {"values": ["NaT"] * 3}, {"values": [1.5] * 3}]
)
def test_dates_that_are_none_are_refused(kind: str, change: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows(60, classes=3)
    model = replace(model_of(Perceptron(max_iter=20).fit(X, y)), classes=np.array([0, 1, 2], f"{kind}8[s]"))
    header, tensors = to_parts(model)
    header["classes"] |= change
    write_container(tmp_path / "m", "model", header, tensors)
    with pytest.raises(ModelError, match="is not a valid model"):
        load(tmp_path / "m")


# -- everything that a learner can do


@each(SAVED)
def test_a_loaded_model_gives_the_answers_of_its_learner(make: Any, tmp_path: Path) -> None:
    X, y = rows(60, classes=3)
    learner = make().fit(X, y)
    model = loaded(learner, tmp_path)
    np.testing.assert_array_equal(model.predict(X), learner.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), learner.decision_function(X))
    if hasattr(learner, "predict_proba"):
        np.testing.assert_array_equal(model.predict_proba(X), learner.predict_proba(X))
    assert model.classes_.tolist() == learner.classes_.tolist()


@each(LINEAR)
def test_a_loaded_model_predicts_one_example(make: Any, tmp_path: Path) -> None:
    learner = make()
    for word, label in [("free", "spam"), ("lunch", "ham"), ("win", "spam"), ("meeting", "work")] * 3:
        learner.learn_one({word: 1.0, "the": 0.5}, label)
    model = loaded(learner, tmp_path)
    for word in ("free", "lunch", "win", "meeting", "never seen"):
        assert model.predict_one({word: 1.0}) == learner.predict_one({word: 1.0})


@each(LINEAR)
def test_the_names_of_a_stream_may_be_numbers(make: Any, tmp_path: Path) -> None:
    learner = make()
    for name, label in [(7, "odd"), (2, "even"), (5, "odd"), ("zero", "even")] * 3:
        learner.learn_one({name: 1.0}, label)
    model = loaded(learner, tmp_path)
    for name in (7, 2, 5, "zero", 0, 1, "7"):
        assert model.predict_one({name: 1.0}) == learner.predict_one({name: 1.0})


def test_a_name_that_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    learner = Perceptron().learn_one({(1, 2): 1.0}, "a").learn_one({"b": 1.0}, "b")
    with pytest.raises(ModelError, match=r"a feature has the name \(1, 2\): only texts and numbers"):
        save(learner, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_one_example_of_rows_without_names_is_named_by_the_numbers_of_the_columns(tmp_path: Path) -> None:
    X, y = rows(60, classes=3)
    for learner in (Perceptron(max_iter=20), KernelPerceptron(max_iter=20), AutoPerceptron(n_jobs=1)):
        model = loaded(learner.fit(X, y), tmp_path)
        assert [model.predict_one(x) for x in dicts(X)] == model.predict(X).tolist()


def test_the_probabilities_of_one_example_are_those_of_its_row(tmp_path: Path) -> None:
    X, y = rows(60, classes=3)
    model = loaded(Calibrated(AveragedPerceptron(max_iter=20), n_jobs=1).fit(X, y), tmp_path)
    found = model.predict_proba_one(dicts(X)[0])
    assert list(found) == ["class 0", "class 1", "class 2"]
    np.testing.assert_allclose(list(found.values()), model.predict_proba(X[:1])[0])
    with pytest.raises(ModelError, match="has scores but no probabilities"):
        loaded(AveragedPerceptron(max_iter=20).fit(X, y), tmp_path).predict_proba_one({0: 1.0})


@pytest.mark.parametrize("bad", [{0: np.nan}, {0: "one"}, [1.0]], ids=str)
def test_one_example_that_is_none_is_refused_as_by_the_learner(bad: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    learner = Perceptron(max_iter=20).fit(X, y)
    model = loaded(learner, tmp_path)
    sentences = []
    for predict_one in (learner.predict_one, model.predict_one):
        with pytest.raises((TypeError, ValueError)) as found:
            predict_one(bad)
        sentences.append(str(found.value))
    assert sentences[0] == sentences[1]


def test_what_has_learned_nothing_is_refused(tmp_path: Path) -> None:
    for learner in (Perceptron(), AutoPerceptron(), Calibrated(Perceptron()), Sweep([Perceptron()])):
        with pytest.raises(ModelError, match=f"{type(learner).__name__} has learned nothing yet: call fit first"):
            save(learner, tmp_path / "m")


@each(PROBABLE)
def test_what_is_loaded_can_be_saved_again(make: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    learner = make().fit(X, y)
    twice = loaded(loaded(learner, tmp_path), tmp_path)
    assert_same(answers(twice, X), answers(learner, X))


def test_the_parameters_of_a_loaded_model_are_those_of_its_learner(tmp_path: Path) -> None:
    X, y = rows(60)
    learner = Perceptron(eta0=0.5, keep="average", class_weight={"class 0": 2.0}, max_iter=7).fit(X, y)
    model = loaded(learner, tmp_path)
    assert model.parameters["class_weight"] == {"class 0": 2.0}
    assert {name: model.parameters[name] for name in ("eta0", "keep", "max_iter")} == {
        "eta0": 0.5,
        "keep": "average",
        "max_iter": 7,
    }
