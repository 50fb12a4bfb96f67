"""The model file: whole or an error; a model that was trained on a file reads raw columns."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from rejected import rejected
from safetensors.numpy import save as save_tensors
from sklearn.datasets import load_iris, make_circles
from written import put, reloaded

import rosenblatt
from rosenblatt import load, save
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.models import container
from rosenblatt.models.predictors import Linear

X, Y = load_iris(return_X_y=True)


def curves(levels, sigmoid=None):
    """The probabilities of three classes in a file."""
    curve = {"part": "Curve", "sigmoid": sigmoid, "scores": np.array([0.0, 1.0]), "levels": np.array(levels)}
    return {"part": "Calibrator", "curves": [curve] * 3}


AVERAGED = rosenblatt.AveragedPerceptron(max_iter=4)


def saved(tmp_path):
    path = tmp_path / "m"
    save(AVERAGED.fit(X, Y), path)
    return path


def test_every_truncation_is_refused(tmp_path):
    path = saved(tmp_path)
    content = path.read_bytes()
    for size in range(0, len(content), 7):
        path.write_bytes(content[:size])
        with rejected("model"):
            load(path)


@pytest.mark.slow
def test_every_altered_byte_is_refused(tmp_path):
    path = saved(tmp_path)
    content = path.read_bytes()
    for at in range(len(content)):
        altered = bytearray(content)
        altered[at] ^= 1
        path.write_bytes(altered)
        with pytest.raises(ModelError):
            load(path)


def test_foreign_files_are_refused(tmp_path):
    path = put(tmp_path / "m", save_tensors({"x": np.zeros(3)}, {"rosenblatt.is": "not here"}))
    with rejected("model", "safetensors"):
        load(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    for foreign in (path, tmp_path / "nothing", tmp_path):
        with rejected("model", foreign):
            load(foreign)


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "VERSION", 2)
    path = saved(tmp_path)
    monkeypatch.undo()
    with rejected("model", "version 2", "version 1"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda h, t: h.update(features=-1),
        lambda h, t: h.update(features=2),
        lambda h, t: h.update(features=10**12),
        lambda h, t: h.update(classes=np.array([0, 1])),
        lambda h, t: h.update(classes=["a", 1]),
        lambda h, t: h.update(classes={"unit": "X", "values": np.array([0, 1, 2])}),
        lambda h, t: h.update(classes=np.array([0, 2, 1])),
        lambda h, t: h.update(parts=[{"part": "magic"}]),
        lambda h, t: h.update(parts=[{"part": "Kernel", "name": "rbf"}]),
        lambda h, t: t.update(columns=np.array([0, 2, 1, 3])),
        lambda h, t: t.update(rows=t["rows"] + 7),
        lambda h, t: t.update(weights=t["weights"] * np.nan),
        lambda h, t: t.update(weights=t["weights"].astype(int)),
        lambda h, t: t.pop("intercept"),
        lambda h, t: h.update(encoder={"kind": "lines", "format": "exe", "bits": 3, "grams": "pairs"}),
        lambda h, t: h.update(encoder={"kind": "lines", "format": "vw", "bits": 99, "grams": "pairs"}),
        lambda h, t: h.update(learner=["x"]),
        lambda h, t: h["history"].update(mistakes=["<b>"]),
        lambda h, t: h["history"].update(mistakes=[-1]),
        lambda h, t: h["history"].update(stop_reason=["<b>"]),
        lambda h, t: h["history"].pop("stop_reason"),
        lambda h, t: h.update(lineage={"parent": 5}),
        lambda h, t: h.update(is_multilabel=1),
        lambda h, t: h.update(history=[]),
        lambda h, t: h["parameters"].update(eta0={}),
        lambda h, t: h.update(calibrator=curves([1.0, 0.0])),
        lambda h, t: h.update(calibrator=curves([0.0, 1.5])),
        lambda h, t: h.update(calibrator=curves([0.0, 1.0], sigmoid=[1.0])),
        lambda h, t: h.update(calibrator={"part": "Calibrator", "curves": []}),
    ],
)
def test_a_file_with_a_right_checksum_and_wrong_content_is_refused(change):
    learner = AVERAGED.fit(X, Y)
    with pytest.raises((ModelError, DataError)):
        reloaded(learner, lambda content: change(content, content["parts"][0]))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_precomputed_kernel_names_its_columns(classes):
    rows, labels = X[classes > Y], Y[classes > Y]
    learner = rosenblatt.KernelPerceptron(kernel="precomputed", max_iter=3).fit(rows @ rows.T, labels)
    model = reloaded(learner)
    np.testing.assert_array_equal(model.decision_function(rows @ rows.T), learner.decision_function(rows @ rows.T))
    with rejected("data", "X is sparse"):
        model.predict(sp.csr_array(rows @ rows.T))


def test_a_kernel_model_without_a_support_row():
    """A single class: nothing was ever mistaken."""
    for keep in ("last", "vote"):
        learner = rosenblatt.KernelPerceptron(keep=keep).partial_fit(X, np.zeros(len(X), int))
        model = reloaded(learner)
        assert model.support_rows == 0
        np.testing.assert_array_equal(model.decision_function(X), learner.decision_function(X))


@pytest.fixture(scope="module")
def ring():
    return rosenblatt.AutoPerceptron().fit(*make_circles(300, noise=0.1, factor=0.5, random_state=1))


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("last", lambda part: part["kernel"].update(name="function")),
        ("last", lambda part: part["kernel"].update(gamma=-1.0)),
        ("last", lambda part: part["support"].update(shape=[-1, 4])),
        ("last", lambda part: part["support"].update(shape=[2, 4])),
        ("last", lambda part: part["support"].update(shape=[7, 3])),
        ("last", lambda part: part.update(coefficients=part["coefficients"][1:])),
        ("last", lambda part: part["support"].update(indices=part["support"]["indices"] + 99)),
        ("last", lambda part: part["support"].update(data=part["support"]["data"] * np.nan)),
        ("vote", lambda part: part["logs"][0].update(gains=part["logs"][0]["gains"] + 3)),
        ("vote", lambda part: part["logs"][0].update(which=part["logs"][0]["which"] - 5)),
        ("vote", lambda part: part["logs"][0].update(steps=part["logs"][0]["steps"][1:])),
        ("vote", lambda part: part.update(logs=[part["kernel"]])),
        ("vote", lambda part: part.update(survived_last=[-1])),
        ("vote", lambda part: part.update(K=7)),
        ("products", lambda part: part["products"].update(center=part["products"]["center"][1:])),
        ("products", lambda part: part["products"].update(scale=-part["products"]["scale"])),
        ("products", lambda part: part["products"].update(columns=part["products"]["columns"] + 1)),
        ("products", lambda part: part["linear"].update(columns=part["linear"]["columns"] + 1)),
    ],
)
def test_a_kernel_or_products_with_wrong_content_are_refused(kind, change, ring):
    learner = ring
    if kind != "products":
        learner = rosenblatt.KernelPerceptron(keep=kind, max_iter=2).fit(sp.csr_array(X), Y)
    with rejected("model"):
        reloaded(learner, lambda content: change(content["parts"][0]))


def test_what_cannot_be_saved(tmp_path):
    with rejected("model"):
        save(object(), tmp_path / "m")
    with pytest.raises((ModelError, ParameterError), match="kernel"):
        save(rosenblatt.KernelPerceptron(kernel=lambda A, B: A @ B.T, max_iter=2).fit(X, Y), tmp_path / "m")
    with rejected("model", "no folder"):
        save(AVERAGED.fit(X, Y), tmp_path / "no" / "folder")


def test_rows_of_another_width_are_refused(tmp_path):
    with rejected("data", "3 features", "4"):
        load(saved(tmp_path)).predict(X[:, :3])


def sealed_with(path, text):
    """A model file around any text as its content."""
    tensors = {container.CONTENT: np.frombuffer(text.encode(errors="surrogatepass"), np.uint8)}
    keys = {container.CONTENT: container._key_of(tensors[container.CONTENT])}
    seal = {"kind": "model", "version": 1, "sha256": container._digest_of("model", keys)}
    tensors[container.SEAL] = np.frombuffer(json.dumps(seal).encode(), np.uint8)
    path.write_bytes(save_tensors(tensors))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        '[{"a": "\\ud800"}, []]',
        "\ud800",
        "5",
        "[5, []]",
        "[[], []]",
        "[{}, [[[], 5]]]",
        '[{}, [[["a", "b"], "rosenblatt.content"]]]',
        '[{}, [[["a"], "nothing"]]]',
        "{",
        '"' + "x" * 100,
        "{" * 50_000,
    ],
)
def test_content_that_is_hard_to_read(tmp_path, text):
    sealed_with(tmp_path / "m", text)
    with rejected("model", tmp_path / "m") as error:
        load(tmp_path / "m")
    assert len(str(error.value)) < 300


def test_metadata_that_is_nested_deeply_is_refused(tmp_path):
    nested = b"[" * 100_000 + b"]" * 100_000, b'{"__metadata__": {"x": ' + b"[" * 9999 + b"]" * 9999 + b"}}"
    for size, raw in [*((len(raw), raw) for raw in nested), *((size, b"{}") for size in (2**63, 2**64 - 1, 2**40, 9))]:
        (tmp_path / "m").write_bytes(size.to_bytes(8, "little") + raw)
        with rejected("model"):
            load(tmp_path / "m")


def test_one_long_label_among_many_does_not_ask_for_gigabytes():
    """NumPy holds texts with the room of the longest for each: 436 KB of labels took 4 GB."""
    learner = rosenblatt.Perceptron().fit(np.eye(3), ["a", "b", "c"])
    many = [*(f"a{k:05}" for k in range(5000)), "b" * 200_000]
    with rejected("model", "label"):
        reloaded(learner, lambda content: content.update(classes=many))


def test_weights_stored_for_few_columns_are_those_of_all():
    weights = np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 3.0, 0.0]])
    used, scale = np.array([0, 2]), np.array([2.0, 3.0, 4.0, 5.0])
    every, few = Linear(weights, np.zeros(2)), Linear(weights[:, used], np.zeros(2)).spread(used, 4)
    for one, other in ((every, few), (every.divided(scale), few.divided(scale))):
        np.testing.assert_array_equal(one.at(np.arange(4)), other.at(np.arange(4)))
        assert one.columns().tolist() == other.columns().tolist()


def test_a_prediction_leaves_the_pickle_of_a_model_as_it_was():
    model = reloaded(AVERAGED.fit(X, Y))
    before = pickle.dumps(model)
    model.predict(X), model.predict(sp.csr_array(X))
    assert pickle.dumps(model) == before


def days(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "degrees": 100 + 5 * rng.normal(size=n),
            "sky": rng.choice(["blue", "grey", "black"], n),
            "day": pd.date_range("2020-01-01", periods=n).astype(str),
        }
    )
    frame["rain"] = (frame.degrees - 100) / 5 + 2.0 * (frame.sky == "black") + 0.1 * rng.normal(size=n)
    frame["wet"] = np.where(frame.rain > 0.5, "yes", "no")
    return frame


RAW = ["degrees", "sky", "day"]


@pytest.fixture(params=[("wet", "auto"), ("rain", "pa-regression")])
def models(request: Any, tmp_path: Path) -> list[Any]:
    """A model of a file, trained and loaded."""
    label, learner = request.param
    days()[[*RAW, label]].to_csv(tmp_path / "days.csv", index=False)
    model = rosenblatt.train(tmp_path / "days.csv", learner, label=label, max_iter=20)
    return [model, reloaded(model)]


def test_columns_may_stand_in_any_order_and_in_any_frame(models: list[Any]) -> None:
    expected = models[0].decision_function(days()[RAW])
    for frame in (days(), days()[RAW[::-1]], pl.from_pandas(days()[RAW]), days().assign(more="x")):
        for one in models:
            np.testing.assert_array_equal(one.decision_function(frame), expected)
    with rejected("data", "X"):
        models[1].predict(days()[:0])


def test_columns_without_names_and_missing_columns_are_refused(models: list[Any]) -> None:
    for one in models:
        with rejected("data", "3 columns"):
            one.predict(days()[RAW].to_numpy())
        with rejected("data", "column 'sky'"):
            one.predict(days()[["degrees", "day"]])


def test_an_estimator_is_trained_with_options_of_reading_and_no_other_parameters(tmp_path: Path) -> None:
    days().to_csv(tmp_path / "days.csv", index=False)
    model = rosenblatt.train(tmp_path / "days.csv", rosenblatt.Perceptron(), label="wet")
    assert model.encoder.label == "wet"
    with rejected("parameter", "max_iter"):
        rosenblatt.train(tmp_path / "days.csv", rosenblatt.Perceptron(), label="wet", max_iter=3)
