"""A model that was saved and loaded answers, raises and continues as the learner that it was made of."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from registry import KERNEL, LINEAR, answers, assert_same, dicts, each, rows
from rejected import rejected
from written import reloaded

import rosenblatt as rb
from rosenblatt.errors import ModelError
from rosenblatt.models.model import model_of


def test_the_sentence_names_the_first_column_that_is_elsewhere_new_or_missing() -> None:
    X, y = rows(60, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = reloaded(rb.Perceptron(max_iter=20).fit(frame, y))
    with rejected("data", "column 'c'", "1", "'b'"):
        model.predict(frame[["a", "c", "b"]])
    with rejected("data", "column 'd'"):
        model.predict(frame.assign(d=1.0))
    with rejected("data", "column 'b'"):
        model.predict(frame[["a", "c"]])
    assert model.predict(frame[model.feature_names_in_]).tolist() == model.predict(X).tolist()


def test_a_model_of_rows_without_names_takes_a_frame_and_has_no_names() -> None:
    X, y = rows(60, d=3)
    model = reloaded(rb.Perceptron(max_iter=20).fit(X, y))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
    assert model.predict(pd.DataFrame(X, columns=["c", "a", "b"])).tolist() == model.predict(X).tolist()


@each(LINEAR | {name: make for name, make in KERNEL.items() if name != "kernel function"})
def test_a_model_of_one_class_answers_with_it(make: Any) -> None:
    X, _ = rows(20)
    model = reloaded(make().partial_fit(X, np.full(20, "only")))
    assert model.predict(X).tolist() == ["only"] * 20


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
def test_classes_survive_as_what_they_are(classes: Any) -> None:
    X, y = rows(60, classes=3)
    model = model_of(rb.Perceptron(max_iter=20).fit(X, y))
    again = reloaded(replace(model, classes=classes))
    assert again.classes.dtype == (np.uint64 if classes.dtype == object else classes.dtype)
    assert again.classes.tolist() == classes.tolist()
    codes = np.searchsorted(model.classes, model.predict(X))
    np.testing.assert_array_equal(again.predict(X), again.classes[codes])
    assert again.predict_one(dicts(X)[0]) == again.predict(X)[0]


@pytest.mark.parametrize("classes", [np.array(["2024-01-01", "NaT"], "datetime64[D]"), np.array([b"a", b"b"])])
def test_classes_that_a_file_cannot_hold_are_refused_when_it_is_written(classes: Any, tmp_path: Path) -> None:
    X, y = rows(60)
    model = model_of(rb.Perceptron(max_iter=20).fit(X, y))
    with rejected("model"):
        rb.save(replace(model, classes=classes), tmp_path / "m")
    assert not (tmp_path / "m").exists()


@each(LINEAR)
def test_the_names_of_a_stream_may_be_numbers(make: Any) -> None:
    learner = make()
    for name, label in [(7, "odd"), (2, "even"), (5, "odd"), ("zero", "even")] * 3:
        learner.learn_one({name: 1.0}, label)
    model = reloaded(learner)
    for name in (7, 2, 5, "zero", 0, 1, "7"):
        assert model.predict_one({name: 1.0}) == learner.predict_one({name: 1.0})


def test_a_name_that_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    learner = rb.Perceptron().learn_one({(1, 2): 1.0}, "a").learn_one({"b": 1.0}, "b")
    with rejected("model", "(1, 2)"):
        rb.save(learner, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("bad", [{0: np.nan}, {0: "one"}, [1.0]], ids=str)
def test_one_example_that_is_none_is_refused_as_by_the_learner(bad: Any) -> None:
    X, y = rows(60)
    learner = rb.Perceptron(max_iter=20).fit(X, y)
    model = reloaded(learner)
    sentences = []
    for predict_one in (learner.predict_one, model.predict_one):
        with pytest.raises((TypeError, ValueError)) as found:
            predict_one(bad)
        sentences.append(str(found.value))
    assert sentences[0] == sentences[1]


def test_what_has_learned_nothing_is_refused(tmp_path: Path) -> None:
    for learner in (rb.Perceptron(), rb.AutoPerceptron(), rb.Calibrated(rb.Perceptron()), rb.Sweep([rb.Perceptron()])):
        with rejected("model", type(learner).__name__, "fit"):
            rb.save(learner, tmp_path / "m")


def test_names_of_columns_go_on() -> None:
    X, y = rows(60, d=3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = reloaded(rb.Perceptron(max_iter=5).fit(frame, y))
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[["c", "b", "a"]], y)
    model.partial_fit(frame, y).learn_one({"a": 1.0, "d": 2.0}, "class 0")
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]


def test_a_file_without_the_state_is_smaller_and_says_that_it_cannot_go_on(tmp_path: Path) -> None:
    X, y = rows(60, d=300)
    learner = rb.AveragedPerceptron(max_iter=5).fit(X, y)
    rb.save(learner, tmp_path / "with")
    rb.save(learner, tmp_path / "without", state=False)
    assert (tmp_path / "without").stat().st_size < 0.6 * (tmp_path / "with").stat().st_size
    model = rb.load(tmp_path / "without")
    for learn in (lambda: model.partial_fit(X, y), lambda: model.learn_one({0: 1.0}, "class 0")):
        with rejected("model", "state=True"):
            learn()
    assert_same(answers(model, X), answers(learner, X))


@pytest.mark.parametrize("learner", [rb.Perceptron(), rb.VotedPerceptron(), rb.KernelPerceptron(keep="vote")], ids=repr)
def test_arrays_that_the_answer_has_are_stored_once(learner: Any, tmp_path: Path) -> None:
    X, y = rows(400, d=20)
    learner.partial_fit(X, np.roll(y, 7))
    rb.save(learner, tmp_path / "with")
    rb.save(learner, tmp_path / "without", state=False)
    assert (tmp_path / "with").stat().st_size < (tmp_path / "without").stat().st_size + 4_000


@pytest.mark.parametrize(
    "change",
    [
        lambda saved, state: saved.update(learner="History"),
        lambda saved, state: saved.update(learner="os.system"),
        lambda saved, state: saved["parameters"].update(eta0=-1.0),
        lambda saved, state: saved["parameters"].update(unknown=1),
        lambda saved, state: saved["parameters"].update(keep="vote"),
        lambda saved, state: saved["states"]["each"].append(state),
        lambda saved, state: state.update(features=10**12),
        lambda saved, state: state.update(penalty={"shrink": 7.0, "cut": 0.0}),
        lambda saved, state: saved.pop("epochs"),
        lambda saved, state: state["arrays"]["sums"].update(values=state["arrays"]["sums"]["values"][:-1]),
        lambda saved, state: state["arrays"]["sums"].update(values=state["arrays"]["sums"]["values"] * np.nan),
        lambda saved, state: state["arrays"]["weights"].update(columns=state["arrays"]["weights"]["columns"] + 9),
        lambda saved, state: state["arrays"].update(counters=state["arrays"]["counters"][:2]),
        lambda saved, state: state["arrays"].update(counters=state["arrays"]["counters"] - 2**62),
        lambda saved, state: state["arrays"].update(generator=state["arrays"]["generator"] * 0),
        lambda saved, state: state["arrays"].pop("intercept"),
    ],
)  # fmt: skip
def test_a_state_that_is_made_up_is_refused_and_the_model_still_answers(change: Any) -> None:
    X, y = rows(60)
    learner = rb.AveragedPerceptron(max_iter=5).fit(X, y)
    model = reloaded(learner, lambda content: change(content["state"], content["state"]["states"]["each"][0]))
    with pytest.raises(ModelError):
        model.partial_fit(X, y)
    assert_same(answers(model, X), answers(learner, X))


@pytest.mark.parametrize(
    ("learner", "change"),
    [
        (rb.KernelPerceptron(), lambda states, state: state.update(pocket=10**9)),
        (rb.KernelPerceptron(), lambda states, state: states["kernel"].update(gamma=-1.0)),
        (rb.KernelPerceptron(), lambda states, state: state["log"].update(gains=state["log"]["gains"] + 1)),
        (rb.KernelPerceptron(), lambda states, state: states.update(support=5)),
        (rb.KernelPerceptron(budget=5), lambda states, state: state["arrays"]["ring"].__iadd__(10**6)),
        (rb.KernelPerceptron(budget=5), lambda states, state: state["arrays"]["members"].__iadd__(10**6)),
        (rb.KernelPerceptron(budget=5), lambda states, state: state["arrays"]["matrix"].__imul__(np.inf)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_state_of_a_kernel_that_is_made_up_is_refused(learner: Any, change: Any) -> None:
    X, y = rows(60)

    def change_content(content: Any) -> None:
        states = content["state"]["states"]
        (state,) = states["each"]
        state["arrays"] = {name: array.copy() for name, array in state["arrays"].items()}
        change(states, state)

    model = reloaded(learner.partial_fit(X, y), change_content)
    with pytest.raises(ModelError):
        model.partial_fit(X, y)


@each({name: make for name, make in KERNEL.items() if name != "kernel function"})
def test_a_row_is_known_again_whether_it_comes_dense_or_sparse(make: Any) -> None:
    """A file with rows that are stored twice could not continue."""
    X, y = rows(30, d=3)
    X[::2, 1] = 0.0
    dense, mixed = make().partial_fit(X, y).partial_fit(X, y), make().partial_fit(X, y).partial_fit(sp.csr_array(X), y)
    np.testing.assert_allclose(mixed.decision_function(X), dense.decision_function(X), atol=1e-9)
    assert [each.support.shape[0] for each in mixed.predictors()] == [
        each.support.shape[0] for each in dense.predictors()
    ]
    model = reloaded(mixed).partial_fit(X, y)
    assert_same(answers(model, X), answers(mixed.partial_fit(X, y), X))
