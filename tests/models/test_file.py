"""The model file: whole or refused."""

import hashlib
import json
import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors.numpy import save as save_tensors
from sklearn.datasets import load_iris, make_circles

import rosenblatt
from rosenblatt import load, save
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.models import container
from rosenblatt.models.container import read_container, write_container

X, Y = load_iris(return_X_y=True)


def learners():
    for keep in ("last", "average", "vote", "pocket"):
        for multiclass in ("joint", "ovr"):
            yield rosenblatt.Perceptron(keep=keep, multiclass=multiclass, max_iter=3)
    yield rosenblatt.PassiveAggressive(max_iter=3)
    yield rosenblatt.AROW(max_iter=3)
    for keep in ("last", "average", "vote", "pocket"):
        for multiclass in ("joint", "ovr"):
            yield rosenblatt.KernelPerceptron(gamma=0.7, keep=keep, multiclass=multiclass, max_iter=2)
    for kernel in ("linear", "poly", "sigmoid"):
        yield rosenblatt.KernelPerceptron(kernel=kernel, gamma="scale", coef0=0.5, degree=2, max_iter=2)
    yield rosenblatt.KernelPerceptron(budget=7, max_iter=2)
    yield rosenblatt.AutoPerceptron(products=False)


def fitted(learner, X=X, y=Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(X, y)


@pytest.mark.parametrize("learner", list(learners()), ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_loaded_model_scores_with_the_same_bits(tmp_path, learner, dtype, form, classes):
    rows = form(X[classes > Y].astype(dtype))
    labels = np.array(["setosa", "versicolor", "virginica"])[Y[classes > Y]]
    learner = fitted(learner, rows, labels)
    save(learner, tmp_path / "m")
    model = load(tmp_path / "m")
    np.testing.assert_array_equal(model.decision_function(rows), learner.decision_function(rows))
    np.testing.assert_array_equal(model.predict(rows), learner.predict(rows))


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], ["b", "ä"], [0.0, 2.0], np.array([1, 3], np.uint8)])
def test_classes_of_every_kind(tmp_path, labels):
    save(fitted(rosenblatt.Perceptron(), [[0.0], [1.0]], labels), tmp_path / "m")
    assert load(tmp_path / "m").classes.tolist() == list(labels)


def test_what_the_header_says(tmp_path):
    import pandas as pd

    learner = fitted(rosenblatt.AveragedPerceptron(max_iter=4), pd.DataFrame(X, columns=list("abcd")))
    save(learner, tmp_path / "m")
    model = load(tmp_path / "m")
    assert model.learner == "AveragedPerceptron"
    assert model.parameters["max_iter"] == 4
    assert model.names == {0: "a", 1: "b", 2: "c", 3: "d"}
    assert model.history["mistakes"] == learner.history_.mistakes
    assert model.history["stop_reason"] == "max_iter"
    tops = model.top_features(2)
    best = np.argsort(-learner.coef_[0])[0]
    assert tops["0"][0] == ("abcd"[best], learner.coef_[0, best])


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in "ab":
        save(fitted(rosenblatt.AveragedPerceptron(max_iter=4)), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def saved(tmp_path):
    path = tmp_path / "m"
    save(fitted(rosenblatt.AveragedPerceptron(max_iter=4)), path)
    return path


def test_every_truncation_is_refused(tmp_path):
    path = saved(tmp_path)
    content = path.read_bytes()
    for size in range(0, len(content), 7):
        path.write_bytes(content[:size])
        with pytest.raises(ModelError, match="is not a rosenblatt model, or it is truncated"):
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
    path = tmp_path / "m"
    path.write_bytes(save_tensors({"x": np.zeros(3)}, {"rosenblatt.is": "not here"}))
    with pytest.raises(ModelError, match="is a safetensors file, but not a rosenblatt model"):
        load(path)
    import pickle

    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ModelError, match="is not a rosenblatt model"):
        load(path)
    with pytest.raises(ModelError, match="there is no such file"):
        load(tmp_path / "nothing")
    with pytest.raises(ModelError, match="is a folder, not a rosenblatt model"):
        load(tmp_path)


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "VERSION", 2)
    path = saved(tmp_path)
    monkeypatch.undo()
    with pytest.raises(ModelError, match="has the file version 2, and this rosenblatt reads version 1"):
        load(path)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda h, t: h.update(features=-1), "it has -1 features"),
        (lambda h, t: h.update(features=2), "its tensors have other"),
        (lambda h, t: h.update(features=10**12), "it has 1000000000000 features"),
        (lambda h, t: h["classes"].update(values=[0, 1]), "its weight rows do not fit its classes"),
        (lambda h, t: h["classes"].update(kind="X"), "is not a valid model"),
        (lambda h, t: h.update(parts=[{"kind": "magic"}]), "unknown kind 'magic'"),
        (lambda h, t: t.update({"0.columns": np.array([0, 2, 1, 3])}), "its columns are out of order"),
        (lambda h, t: t.update({"0.rows": t["0.rows"] + 7}), "a weight for a class that is not there"),
        (lambda h, t: t.update({"0.weights": t["0.weights"] * np.nan}), "its weights are not finite"),
        (lambda h, t: t.update({"0.weights": t["0.weights"].astype(int)}), "other types"),
        (lambda h, t: t.pop("0.intercept"), "is not a valid model"),
        (
            lambda h, t: h.update(encoder={"kind": "lines", "format": "exe", "bits": 3, "grams": "pairs"}),
            "unknown format",
        ),
        (lambda h, t: h.update(encoder={"kind": "lines", "format": "vw", "bits": 99, "grams": "pairs"}), "bits=99"),
    ],
)
def test_a_file_with_a_right_checksum_and_wrong_content_is_refused(tmp_path, change, why):
    path = saved(tmp_path)
    header, tensors = container.read_container(path, "model")
    change(header, tensors)
    container.write_container(path, "model", header, tensors)
    with pytest.raises((ModelError, DataError), match=why):
        load(path)


def test_a_vote_that_points_outside_is_refused(tmp_path):
    path = tmp_path / "m"
    save(fitted(rosenblatt.VotedPerceptron(max_iter=2)), path)
    header, tensors = container.read_container(path, "model")
    tensors["0.which"] = tensors["0.which"] + 10**6
    container.write_container(path, "model", header, tensors)
    with pytest.raises(ModelError, match="its updates name a row or a class that is not there"):
        load(path)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_precomputed_kernel_names_its_columns(tmp_path, classes):
    rows, labels = X[classes > Y], Y[classes > Y]
    learner = fitted(rosenblatt.KernelPerceptron(kernel="precomputed", max_iter=3), rows @ rows.T, labels)
    save(learner, tmp_path / "m")
    model = load(tmp_path / "m")
    np.testing.assert_array_equal(model.decision_function(rows @ rows.T), learner.decision_function(rows @ rows.T))
    with pytest.raises(DataError, match="X is sparse: a precomputed kernel matrix must be dense"):
        model.predict(sp.csr_array(rows @ rows.T))


def test_a_kernel_model_without_a_support_row(tmp_path):
    """A single class: nothing was ever mistaken."""
    for keep in ("last", "vote"):
        learner = rosenblatt.KernelPerceptron(keep=keep).partial_fit(X, np.zeros(len(X), int))
        save(learner, tmp_path / "m")
        model = load(tmp_path / "m")
        assert model.support_rows == 0
        np.testing.assert_array_equal(model.decision_function(X), learner.decision_function(X))


def test_a_kernel_that_is_a_function_is_not_saved(tmp_path):
    learner = fitted(rosenblatt.KernelPerceptron(kernel=lambda A, B: A @ B.T, max_iter=2))
    with pytest.raises((ModelError, ParameterError), match="kernel"):
        save(learner, tmp_path / "m")


@pytest.mark.parametrize(
    ("keep", "change", "why"),
    [
        ("last", lambda h, t: h["kernel"].update(name="function"), "the unknown kernel 'function'"),
        ("last", lambda h, t: h["kernel"].update(gamma=-1.0), "the numbers of its kernel are out of range"),
        ("last", lambda h, t: h["kernel"].update(gamma="1"), "the numbers of its kernel are not numbers"),
        ("last", lambda h, t: h["support"].update(rows=-1), "invalid count in the file: -1"),
        ("last", lambda h, t: h["support"].update(rows=3), "its tensors have other|is not a valid model"),
        ("last", lambda h, t: t.update({"0.coefficients": t["0.coefficients"][1:]}), "its tensors have other"),
        ("last", lambda h, t: t.update({"0.coefficients": t["0.coefficients"] + np.inf}), "weights are not finite"),
        ("last", lambda h, t: t.update({"0.support.indices": t["0.support.indices"] + 99}), "broken CSR|not a valid"),
        ("last", lambda h, t: t.update({"0.support.data": t["0.support.data"] * np.nan}), "its support contains NaN"),
        ("vote", lambda h, t: t.update({"0.0.gains": t["0.0.gains"] + 3}), "name a row or a class that is not there"),
        ("vote", lambda h, t: t.update({"0.0.which": t["0.0.which"] - 5}), "name a row or a class that is not there"),
        ("vote", lambda h, t: t.update({"0.0.steps": t["0.0.steps"][1:]}), "its tensors have other"),
        ("vote", lambda h, t: h.update(K=7), "its weight rows do not fit its classes"),
    ],
)
def test_a_kernel_model_with_wrong_content_is_refused(tmp_path, keep, change, why):
    path = tmp_path / "m"
    save(fitted(rosenblatt.KernelPerceptron(keep=keep, max_iter=2), sp.csr_array(X)), path)
    header, tensors = container.read_container(path, "model")
    change(header["parts"][0], tensors)
    container.write_container(path, "model", header, tensors)
    with pytest.raises(ModelError, match=why):
        load(path)


def ring(path):
    auto = rosenblatt.AutoPerceptron().fit(*make_circles(300, noise=0.1, factor=0.5, random_state=1))
    save(auto, path)
    return auto


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_model_of_products(tmp_path, form):
    auto = ring(tmp_path / "m")
    assert auto.products_ is not None
    model = load(tmp_path / "m")
    rows = form(np.random.default_rng(0).normal(size=(50, 2)))
    np.testing.assert_array_equal(model.decision_function(rows), auto.decision_function(rows))
    assert model.learner == "AutoPerceptron"
    assert model.weighted == 5
    assert model.support_rows is None
    assert {name for name, _ in model.top_features(2)["0"]} == {"0²", "1²"}
    with pytest.raises(ModelError, match="a model of products has weights for products of columns"):
        model.linear()
    assert model.weights()[1].columns.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda t: t.update({"0.products.center": t["0.products.center"][1:]}), "its tensors have other"),
        (lambda t: t.update({"0.products.scale": t["0.products.scale"].astype("f4")}), "its tensors have other"),
        (lambda t: t.update({"0.products.scale": -t["0.products.scale"]}), "its columns cannot be standardized"),
        (lambda t: t.update({"0.products.center": t["0.products.center"] * np.nan}), "not finite"),
        (lambda t: t.update({"0.products.columns": t["0.products.columns"] + 1}), "its columns are out of order"),
        (lambda t: t.update({"0.products.columns": t["0.products.columns"] * 0}), "its columns are out of order"),
        (lambda t: t.update({"0.products.columns": np.arange(2000)}), "have other"),
        (lambda t: t.update({"0.columns": t["0.columns"] + 1}), "its columns are out of order"),
    ],
)
def test_a_model_of_products_with_wrong_content_is_refused(tmp_path, change, why):
    ring(tmp_path / "m")
    header, tensors = container.read_container(tmp_path / "m", "model")
    change(tensors)
    container.write_container(tmp_path / "m", "model", header, tensors)
    with pytest.raises(ModelError, match=why):
        load(tmp_path / "m")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = saved(tmp_path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(ModelError, match="cannot be written: No space left on device"):
        save(fitted(rosenblatt.Perceptron(max_iter=1)), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m"]


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ModelError, match="has learned nothing yet"):
        save(rosenblatt.Perceptron(), tmp_path / "m")
    with pytest.raises(ModelError, match="is not a learner of rosenblatt"):
        save(object(), tmp_path / "m")
    with pytest.raises(ModelError, match="cannot be written: there is no folder"):
        save(fitted(rosenblatt.Perceptron(max_iter=1)), tmp_path / "no" / "folder")


def test_rows_of_another_width_are_refused(tmp_path):
    with pytest.raises(DataError, match="X has 3 features, but the model is expecting 4"):
        load(saved(tmp_path)).predict(X[:, :3])


def test_the_header_is_plain_json(tmp_path):
    from safetensors import safe_open

    with safe_open(saved(tmp_path), framework="numpy") as file:
        envelope = json.loads(file.metadata()["rosenblatt"])
    header = json.loads(envelope["header"])
    assert header["library"] == rosenblatt.__version__
    assert header["classes"] == {"kind": "i", "values": [0, 1, 2]}


def resealed(path, change):
    """The file with its header or its tensors changed, under a right checksum."""
    header, tensors = read_container(path, "model")
    change(header, tensors)
    write_container(path, "model", header, tensors)


VOTE = {
    "kind": "voted kernel",
    "kernel": {"name": "rbf", "gamma": 1.0, "coef0": 0.0, "degree": 3},
    "K": 0,
    "support": {"storage": "none", "rows": 0},
    "survived_last": [],
    "fit_intercept": True,
}


def put_extra_part(header, tensors):
    header["parts"].append(VOTE)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (put_extra_part, "its tensors have other"),
        (lambda header, _: header.update(features=2**31), "features and 3 classes, more than can be learned"),
        (
            lambda header, _: header["parts"].append(VOTE | {"survived_last": [2**63]}),
            "invalid count in the file",
        ),
        (lambda header, _: header.update(learner=["x"]), "what it says of its training cannot be read"),
        (lambda header, _: header["history"].update(mistakes=["<b>"]), "what it says of its training cannot be read"),
        (lambda header, _: header.update(history=[]), "is not a valid model"),
        (lambda header, _: header.update(probabilities=[[None, [], []]]), "its probabilities cannot be read"),
        (lambda header, _: header.update(probabilities=[[[1.0, 0.0], [0, 1], [1, 0]]]), "do not rise with the score"),
        (lambda header, _: header.update(probabilities=[]), "its probabilities do not fit its classes"),
        (lambda header, _: header.update(probabilities=5), "is not a valid model"),
    ],
)
def test_what_a_sealed_file_claims_is_checked(tmp_path, change, why):
    path = tmp_path / "m"
    save(fitted(rosenblatt.Perceptron(max_iter=1)), path)
    resealed(path, change)
    with pytest.raises(ModelError, match=why) as error:
        load(path)
    assert "\n" not in str(error.value)


def sealed_with(path, header):
    """A model file around any text as its header."""
    from safetensors.numpy import save as pack

    text = f"model\0{1}\0{header}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    envelope = {"kind": "model", "version": 1, "sha256": digest, "header": header}
    path.write_bytes(pack({"x": np.zeros(1)}, {"rosenblatt": json.dumps(envelope)}))


@pytest.mark.parametrize(
    "header",
    ["[" * 100_000 + "]" * 100_000, '{"a": "\\ud800"}', "\ud800", "5", "[]", "{", '"' + "x" * 100, "{" * 50_000],
    ids=["deep", "half a pair", "half a pair, raw", "number", "list", "cut", "open", "open deep"],
)
def test_headers_that_are_hard_to_read(tmp_path, header):
    sealed_with(tmp_path / "m", header)
    with pytest.raises(ModelError) as error:
        load(tmp_path / "m")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_metadata_that_is_nested_deeply_is_refused(tmp_path):
    for inner in ("[" * 100_000 + "]" * 100_000, '{"__metadata__": {"rosenblatt": ' + "[" * 9999 + "]" * 9999 + "}}"):
        raw = inner.encode()
        (tmp_path / "m").write_bytes(len(raw).to_bytes(8, "little") + raw)
        with pytest.raises(ModelError, match="is not a rosenblatt model"):
            load(tmp_path / "m")
    for size in (2**63, 2**64 - 1, 2**40, 9):
        (tmp_path / "m").write_bytes(size.to_bytes(8, "little") + b"{}")
        with pytest.raises(ModelError, match="is not a rosenblatt model, or it is truncated"):
            load(tmp_path / "m")


def test_a_label_that_is_no_text_is_not_saved(tmp_path):
    learner = rosenblatt.Perceptron().fit([[0.0], [1.0]], ["\ud800", "b"])
    with pytest.raises(ModelError, match="a label or a name is no text that can be encoded"):
        save(learner, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_file_that_is_cut_while_it_is_used_does_no_harm(tmp_path):
    """It is read, not mapped: the model stays whole in memory."""
    path = tmp_path / "m"
    learner = fitted(rosenblatt.Perceptron(max_iter=1))
    save(learner, path)
    model = load(path)
    os.truncate(path, 10)
    assert model.predict(np.zeros((1, model.features))).shape == (1,)
    with pytest.raises(ModelError, match="truncated"):
        load(path)


def test_many_hashed_columns_cost_nothing_to_inspect(tmp_path, monkeypatch):
    (tmp_path / "x").write_text("a\tred\nb\tblue\n" * 5)
    from rosenblatt.io import open_dataset
    from rosenblatt.params import make_params
    from rosenblatt.training.run import TrainingRun

    run = TrainingRun.begin(open_dataset(tmp_path / "x", bits=22), make_params("perceptron", max_iter=2))
    run.run()
    model = run.model()
    sorted_sizes = []
    original = np.argsort

    def counted(values, **options):
        sorted_sizes.append(len(values))
        return original(values, **options)

    monkeypatch.setattr(np, "argsort", counted)
    assert {name for tops in model.top_features().values() for name, _ in tops} == {"red", "blue"}
    assert max(sorted_sizes) <= 2


@pytest.mark.parametrize("calibrate", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_saved(tmp_path, calibrate, classes):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 4))
    labels = np.digitize(rows[:, 0] + 0.5 * rng.normal(size=300), [-0.4, 0.4][: classes - 1])
    learner = rosenblatt.Calibrated(rosenblatt.AveragedPerceptron(), calibrate=calibrate).fit(rows, labels)
    save(learner, tmp_path / "m")
    model = load(tmp_path / "m")
    np.testing.assert_allclose(model.predict_proba(rows), learner.predict_proba(rows), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), learner.predict(rows))
    save(model, tmp_path / "n")
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_model_without_probabilities_says_so(tmp_path):
    with pytest.raises(ModelError, match="the model has scores but no probabilities"):
        load(saved(tmp_path)).predict_proba(X)


def test_one_long_label_among_many_does_not_ask_for_gigabytes(tmp_path):
    """NumPy holds texts with the room of the longest for each: 436 KB of labels took 4 GB."""
    save(rosenblatt.Perceptron().fit(np.eye(3), ["a", "b", "c"]), tmp_path / "m")
    header, tensors = read_container(tmp_path / "m", "model")
    header["classes"]["values"] = [*(f"a{k:05}" for k in range(5000)), "b" * 200_000]
    write_container(tmp_path / "m", "model", header, tensors)
    with pytest.raises(ModelError, match="one of its labels is too long for so many classes"):
        load(tmp_path / "m")
