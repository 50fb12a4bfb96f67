"""Learning A, saving, loading and learning B gives the bits of learning A and then B."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rosenblatt
from learners import KERNEL, LEARNERS, LINEAR, PROBABLE, SWEEP, answers, assert_same, dicts, each, rows
from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
    load,
    save,
)
from rosenblatt.errors import ModelError
from rosenblatt.models.container import read_container, write_container

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SAVED = {name: make for name, make in LEARNERS.items() if name != "kernel function"}
STREAMS = {name: make for name, make in (LINEAR | KERNEL | PROBABLE).items() if name != "kernel function"}


def again(learner: Any, folder: Path) -> Any:
    save(learner, folder / "learner.model")
    return load(folder / "learner.model")


def counted(learner: Any) -> Any:
    known = learner if hasattr(learner, "mistakes_") else getattr(learner, "learner_", getattr(learner, "best_", None))
    return known.mistakes_, known.updates_


@each(STREAMS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partial_fit_goes_on(make: Any, classes: int, dtype: Any, tmp_path: Path) -> None:
    X, y = rows(90, classes=classes)
    X = X.astype(dtype)
    straight = make().partial_fit(X[:30], y[:30]).partial_fit(X[30:60], y[30:60])
    broken = again(make().partial_fit(X[:30], y[:30]), tmp_path).partial_fit(X[30:60], y[30:60])
    assert_same(answers(broken, X), answers(straight, X))
    straight.partial_fit(X[60:], y[60:])
    broken = again(broken, tmp_path).partial_fit(X[60:], y[60:])
    assert_same(answers(broken, X), answers(straight, X))
    assert counted(broken.learner_) == counted(straight)


@each({name: make for name, make in SAVED.items() if name not in SWEEP})
@pytest.mark.parametrize("sparse", [False, True])
def test_what_was_fitted_goes_on(make: Any, sparse: bool, tmp_path: Path) -> None:
    X, y = rows(80, classes=3)
    X = sp.csr_array(X) if sparse else X
    weights = np.resize([1.0, 0.5, 2.0], 40)
    straight = make().fit(X[:40], y[:40])
    broken = again(straight, tmp_path)
    straight.partial_fit(X[40:], y[40:], sample_weight=weights)
    broken.partial_fit(X[40:], y[40:], sample_weight=weights)
    assert_same(answers(broken, X), answers(straight, X))


@each(LINEAR)
def test_a_stream_goes_on(make: Any, tmp_path: Path) -> None:
    X, y = rows(60, classes=3)
    examples = [({f"f{k}": v for k, v in x.items()}, label) for x, label in zip(dicts(X), y.tolist(), strict=True)]
    straight, broken = make(), make()
    for x, label in examples[:30]:
        straight.learn_one(x, label)
        broken.learn_one(x, label)
    loaded = again(broken, tmp_path)
    for x, label in [*examples[30:], ({"new": 1.0, "f1": 2.0}, "new label")]:
        straight.learn_one(x, label)
        loaded.learn_one(x, label)
        assert loaded.predict_one(x) == straight.predict_one(x)
    assert loaded.feature_names_in_.tolist() == straight.feature_names_in_.tolist()
    np.testing.assert_array_equal(loaded.learner_.scores_one(examples[0][0]), straight.scores_one(examples[0][0]))
    assert counted(loaded.learner_) == counted(straight)
    frame = pd.DataFrame(np.ones((3, 5)), columns=loaded.feature_names_in_)
    assert_same(answers(again(loaded, tmp_path), frame), answers(straight, frame))


def test_a_sweep_goes_on_as_the_best_of_its_learners(tmp_path: Path) -> None:
    X, y = rows(80)
    sweep = SWEEP["sweep"]().fit(X[:40], y[:40])
    broken = again(sweep, tmp_path).partial_fit(X[40:], y[40:])
    assert_same(answers(broken, X), answers(sweep.best_.partial_fit(X[40:], y[40:]), X))


@each({name: SAVED[name] for name in ("last", "vote", "kernel", "sigmoid", "auto")})
def test_a_loaded_model_learns_new_classes(make: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    straight = make().fit(X[:40], y[:40])
    broken = again(straight, tmp_path)
    y[50:] = "a third"
    straight.partial_fit(X[40:], y[40:])
    broken.partial_fit(X[40:], y[40:])
    assert broken.classes_.tolist() == ["a third", "class 0", "class 1"]
    assert_same(answers(broken, X), answers(straight, X))


def test_names_of_columns_go_on(tmp_path: Path) -> None:
    X, y = rows(60, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    loaded = again(Perceptron(max_iter=5).fit(frame, y), tmp_path)
    with pytest.raises(ValueError, match="feature names"):
        loaded.partial_fit(frame[["c", "b", "a"]], y)
    loaded.partial_fit(frame, y).learn_one({"a": 1.0, "d": 2.0}, "class 0")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_infinite_parameters_are_kept(tmp_path: Path) -> None:
    X, y = rows(60)
    make = lambda: rosenblatt.PassiveAggressive(C=np.inf, class_weight={"class 0": 2.0})  # noqa: E731
    loaded = again(make().partial_fit(X[:30], y[:30]), tmp_path).partial_fit(X[30:], y[30:])
    assert loaded.learner_.get_params() == make().get_params()
    assert_same(answers(loaded, X), answers(make().partial_fit(X, y), X))


def test_a_file_without_the_state_is_smaller_and_says_that_it_cannot_go_on(tmp_path: Path) -> None:
    X, y = rows(60, d=300)
    learner = AveragedPerceptron(max_iter=5).fit(X, y)
    save(learner, tmp_path / "with")
    save(learner, tmp_path / "without", state=False)
    assert (tmp_path / "without").stat().st_size < 0.6 * (tmp_path / "with").stat().st_size
    model = load(tmp_path / "without")
    for learn in (lambda: model.partial_fit(X, y), lambda: model.learn_one({0: 1.0}, "class 0")):
        with pytest.raises(ModelError, match="no learning state: save it with state=True"):
            learn()
    assert_same(answers(model, X), answers(learner, X))


@pytest.mark.parametrize("learner", [Perceptron(), VotedPerceptron(), KernelPerceptron(keep="vote")], ids=repr)
def test_arrays_that_the_answer_has_are_stored_once(learner: Any, tmp_path: Path) -> None:
    X, y = rows(400, d=20)
    learner.partial_fit(X, np.roll(y, 7))
    save(learner, tmp_path / "with")
    save(learner, tmp_path / "without", state=False)
    assert (tmp_path / "with").stat().st_size < (tmp_path / "without").stat().st_size + 4_000


def test_a_call_that_raises_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    X, y = rows(60)
    loaded = again(Perceptron(max_iter=5).fit(X, y), tmp_path)
    before = answers(loaded, X)
    with pytest.raises(ValueError, match="NaN"):
        loaded.partial_fit(np.full((2, 4), np.nan), y[:2])
    assert_same(answers(loaded, X), before)


def test_a_loaded_model_can_be_copied(tmp_path: Path) -> None:
    X, y = rows(60)
    loaded = again(AveragedPerceptron().fit(X, y), tmp_path)
    copies = [pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)]
    loaded.partial_fit(X[:20], y[:20])
    for each_copy in copies:
        assert not np.array_equal(each_copy.decision_function(X), loaded.decision_function(X))
        assert_same(answers(each_copy.partial_fit(X[:20], y[:20]), X), answers(loaded, X))


@pytest.mark.parametrize("learner", ["pa1", "averaged", "voted", "arow", "auto"])
def test_what_was_trained_on_a_file_goes_on(learner: str, tmp_path: Path) -> None:
    X, y = rows(200, d=5)
    X[:, 0] *= 1000
    lines = [
        f"{label.split()[1]} " + " ".join(f"{k}:{v!r}" for k, v in enumerate(row, 1))
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    model = rosenblatt.train(tmp_path / "data.svm", learner, max_iter=2)
    loaded = again(model, tmp_path)
    more = sp.csr_array(np.hstack([np.zeros((200, 1)), X])) if model.features == 6 else sp.csr_array(X)
    labels = np.array([int(label.split()[1]) for label in y])
    before = loaded.decision_function(more)
    loaded.partial_fit(more[::-1], labels[::-1])
    assert not np.array_equal(loaded.decision_function(more), before)
    assert loaded.score(more, labels) if hasattr(loaded, "score") else np.mean(loaded.predict(more) == labels) > 0.7
    twice = again(loaded, tmp_path)
    assert_same([twice.decision_function(more)], [loaded.decision_function(more)])


# -- files that are made up


@pytest.mark.parametrize(
    "change",
    [
        lambda header, tensors: header.update(learner="History"),
        lambda header, tensors: header.update(learner="os.system"),
        lambda header, tensors: header["parameters"].update(eta0=-1.0),
        lambda header, tensors: header["parameters"].update(unknown=1),
        lambda header, tensors: header["parameters"].update(keep="vote"),
        lambda header, tensors: header["states"].update(kind="kernel"),
        lambda header, tensors: header["states"]["each"].append(header["states"]["each"][0]),
        lambda header, tensors: header["states"]["each"][0].update(features=10**12),
        lambda header, tensors: header["states"]["each"][0].update(penalty={"shrink": 7.0, "cut": 0.0}),
        lambda header, tensors: header.pop("epochs"),
        lambda header, tensors: tensors.update({"0.sums": tensors["0.sums"][:-1]}),
        lambda header, tensors: tensors.update({"0.sums": tensors["0.sums"] * np.nan}),
        lambda header, tensors: tensors.update({"0.weights.columns": tensors["0.weights.columns"] + 9}),
        lambda header, tensors: tensors.update({"0.counters": tensors["0.counters"][:2]}),
        lambda header, tensors: tensors.update({"0.counters": tensors["0.counters"] - 2**62}),
        lambda header, tensors: tensors.update({"0.generator": tensors["0.generator"] * 0}),
        lambda header, tensors: tensors.pop("0.intercept"),
    ],
)  # fmt: skip
def test_a_state_that_is_made_up_is_refused_and_the_model_still_answers(change: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    learner = AveragedPerceptron(max_iter=5).fit(X, y)
    save(learner, tmp_path / "m")
    header, tensors = read_container(tmp_path / "m", "model")
    own = {name.removeprefix("state."): tensor for name, tensor in tensors.items()}
    own |= {name: tensors[twin] for name, twin in header["state"]["same"].items()}
    header["state"]["same"] = {}
    change(header["state"]["header"], own)
    tensors |= {f"state.{name}": tensor for name, tensor in own.items()}
    tensors = {
        name: t for name, t in tensors.items() if not name.startswith("state.") or name.removeprefix("state.") in own
    }
    write_container(tmp_path / "m", "model", header, tensors)
    model = load(tmp_path / "m")
    with pytest.raises(ModelError):
        model.partial_fit(X, y)
    assert_same(answers(model, X), answers(learner, X))


@pytest.mark.parametrize(
    ("learner", "change"),
    [
        (KernelPerceptron(), lambda header, tensors: header.update(pockets=[10**9])),
        (KernelPerceptron(), lambda header, tensors: header["kernel"].update(gamma=-1.0)),
        (KernelPerceptron(), lambda header, tensors: tensors.update({"state.0.gains": tensors["state.0.gains"] + 1})),
        (KernelPerceptron(budget=5), lambda header, tensors: header.update(policy="none")),
        (KernelPerceptron(budget=5), lambda header, tensors: tensors["state.0.ring"].__iadd__(10**6)),
        (KernelPerceptron(budget=5), lambda header, tensors: tensors["state.0.members"].__iadd__(10**6)),
        (KernelPerceptron(budget=5), lambda header, tensors: tensors["state.0.matrix"].__imul__(np.inf)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_state_of_a_kernel_that_is_made_up_is_refused(learner: Any, change: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    save(learner.partial_fit(X, y), tmp_path / "m")
    header, tensors = read_container(tmp_path / "m", "model")
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    change(header["state"]["header"]["states"], tensors)
    write_container(tmp_path / "m", "model", header, tensors)
    with pytest.raises(ModelError):
        load(tmp_path / "m").partial_fit(X, y)


def test_the_best_of_an_auto_perceptron_is_told(tmp_path: Path) -> None:
    X, y = rows(200)
    learner = AutoPerceptron(n_jobs=1).fit(X, y)
    loaded = again(learner, tmp_path).learner_
    assert (loaded.choice_, loaded.scores_) == (learner.choice_, learner.scores_)
    assert type(loaded.best_) is type(learner.best_)
    assert isinstance(loaded.best_, AROW | rosenblatt.PassiveAggressive)


@each({name: make for name, make in KERNEL.items() if name != "kernel function"})
def test_a_row_is_known_again_whether_it_comes_dense_or_sparse(make: Any, tmp_path: Path) -> None:
    """Rows that are stored twice were refused when the file was to go on."""
    X, y = rows(30, d=3)
    X[::2, 1] = 0.0
    dense, mixed = make().partial_fit(X, y).partial_fit(X, y), make().partial_fit(X, y).partial_fit(sp.csr_array(X), y)
    np.testing.assert_allclose(mixed.decision_function(X), dense.decision_function(X), atol=1e-9)
    assert [each.support_rows for each in mixed.predictors()] == [each.support_rows for each in dense.predictors()]
    save(mixed, tmp_path / "m")
    loaded = load(tmp_path / "m").partial_fit(X, y)
    assert_same(answers(loaded, X), answers(mixed.partial_fit(X, y), X))
