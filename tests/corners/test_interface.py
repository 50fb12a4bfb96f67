"""What users look for: weights and probabilities for one example, bounded streams."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learners import KERNEL, LINEAR, PROBABLE, answers, assert_same, dicts, each, rows
from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressiveRegression,
    Perceptron,
    Sweep,
    VotedPerceptron,
    cross_validate,
    load,
    save,
)
from rosenblatt.errors import DataError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- one example at a time


@each(LINEAR)
def test_learn_one_takes_a_weight_as_partial_fit_does(make: Any) -> None:
    X, y = rows(classes=3)
    weights = np.resize([1.0, 3.0, 0.0, 0.5], 60)
    one, many = make(), make()
    for x, row, label, weight in zip(dicts(X), X, y.tolist(), weights.tolist(), strict=True):
        one.learn_one(x, label, weight=weight)
        if weight:
            many.partial_fit(row[None], [label], sample_weight=[weight])
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("learner", [Perceptron(), KernelPerceptron(), PassiveAggressiveRegression()], ids=repr)
def test_learn_one_refuses_a_negative_weight_and_a_bad_example(learner: Any) -> None:
    for features, weight in [({"a": 1.0}, -1.0), ({"a": np.nan}, 1.0), ({"a": "one"}, 1.0)]:
        with pytest.raises((ValueError, TypeError), match=r"weight|feature"):
            learner.learn_one(features, 1, weight=weight)
    assert not learner.has_learned


@each(KERNEL | {name: make for name, make in PROBABLE.items() if name != "auto"})
def test_learn_one_of_every_learner_goes_on_as_partial_fit_does(make: Any) -> None:
    X, y = rows(40)
    one, many = make().fit(X[:30], y[:30]), make().fit(X[:30], y[:30])
    for x, row, label in zip(dicts(X[30:]), X[30:], y[30:].tolist(), strict=True):
        one.learn_one(x, label)
        many.partial_fit(row[None], [label])
    np.testing.assert_allclose(one.decision_function(X), many.decision_function(X), rtol=1e-9, atol=1e-9)
    assert one.predict_one(dicts(X)[0]) == many.predict(X[:1])[0]


@each(PROBABLE)
def test_the_probabilities_of_one_example_are_those_of_its_row(make: Any) -> None:
    X, y = rows(60, classes=3)
    learner = make().fit(X, y)
    found = learner.predict_proba_one(dicts(X)[0])
    assert list(found) == learner.classes_.tolist()
    np.testing.assert_allclose(list(found.values()), learner.predict_proba(X[:1])[0])


@each({name: make for name, make in KERNEL.items() if name != "kernel function"})
def test_a_kernel_learns_a_stream_of_features_that_come_as_they_come(make: Any, tmp_path: Path) -> None:
    """The same as a table over all of them, for a kernel whose gamma does not depend on their number."""
    X, y = rows(40, d=3, classes=3)
    X[:20, 2] = 0
    learner, table = make(), make().partial_fit(X[:1], y[:1])
    examples = [{name: value for name, value in zip("abc", row, strict=True) if value} for row in X.tolist()]
    for k, (x, label) in enumerate(zip(examples, y.tolist(), strict=True)):
        learner.learn_one(x, label)
        if k:
            table.partial_fit(X[k : k + 1], y[k : k + 1])
    order = [learner.columns_by_name()[name] for name in "abc"]
    np.testing.assert_allclose(learner.decision_function(X[:, np.argsort(order)]), table.decision_function(X))
    assert [learner.predict_one(x) for x in examples] == table.predict(X).tolist()
    save(learner, tmp_path / "m")
    loaded = load(tmp_path / "m")
    loaded.learn_one({"d": 1.0, "a": 2.0}, "new")
    learner.learn_one({"d": 1.0, "a": 2.0}, "new")
    assert [loaded.predict_one(x) for x in examples] == [learner.predict_one(x) for x in examples]


def test_a_kernel_whose_example_is_refused_is_as_it_was() -> None:
    X, y = rows(40, d=3)
    learner = KernelPerceptron(max_iter=5).fit(X, y)
    before = learner.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        learner.learn_one({0: 1.0, "new": 2.0}, float("nan"))
    assert learner.n_features_in_ == 3
    np.testing.assert_array_equal(learner.decision_function(X), before)


def test_calibrated_learns_from_the_first_example_on() -> None:
    X, y = rows(400, classes=2)
    learner = Calibrated(AveragedPerceptron(), n_jobs=1)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        learner.learn_one(x, label)
    chances = learner.predict_proba_one(dicts(X)[0])
    assert list(chances) == ["class 0", "class 1"]
    assert sum(chances.values()) == pytest.approx(1.0)
    sure = [learner.predict_proba_one(x)[label] for x, label in zip(dicts(X), y.tolist(), strict=True)]
    assert np.mean(np.array(sure) > 0.5) > 0.8


def test_auto_perceptron_wants_rows_first_and_knows_its_columns() -> None:
    X, y = rows(60)
    with pytest.raises(ValueError, match="call fit with some rows first"):
        AutoPerceptron().learn_one({0: 1.0}, "class 0")
    with pytest.raises(DataError, match="'new' is not among the columns"):
        AutoPerceptron(n_jobs=1).fit(X, y).learn_one({"new": 1.0}, "class 0")


# -- hashed streams


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, AROW, VotedPerceptron, PassiveAggressiveRegression])
def test_a_hashed_stream_has_a_bounded_number_of_weights(kind: Any, tmp_path: Path) -> None:
    learner = kind(hash_bits=6)
    examples = [({f"word {k}": 1.0, f"word {k + 1}": 1.0}, k % 2) for k in range(500)]
    for x, label in examples:
        learner.learn_one(x, label)
    assert learner.n_features_in_ == 64
    if kind is not VotedPerceptron:
        assert learner.coef_.shape == ((64,) if kind is PassiveAggressiveRegression else (1, 64))
    save(learner, tmp_path / "m")
    loaded, again = load(tmp_path / "m"), pickle.loads(pickle.dumps(learner))
    for x, _ in examples[:20]:
        assert loaded.predict_one(x) == pytest.approx(learner.predict_one(x))
    for x, label in examples[:20]:
        for each_learner in (learner, loaded, again):
            each_learner.learn_one(x, label)
    np.testing.assert_array_equal(loaded.predict(np.eye(64)), learner.predict(np.eye(64)))
    np.testing.assert_array_equal(again.predict(np.eye(64)), learner.predict(np.eye(64)))


@pytest.mark.parametrize("kind", [Perceptron, AveragedPerceptron, AROW])
def test_a_hashed_stream_equals_rows_of_its_columns(kind: Any) -> None:
    """Names that share a column add up."""
    from rosenblatt import engine

    rng = np.random.default_rng(0)
    stream, table = kind(hash_bits=4), kind(hash_bits=4)
    for k in range(200):
        x = {f"w{j}": float(j % 3 + 1) for j in rng.choice(40, 6, replace=False).tolist()}
        columns, values = engine.Stream.hashed(x, 4)
        assert (np.diff(columns) > 0).all()
        assert values.sum() == sum(x.values())
        row = np.zeros((1, 16))
        row[0, columns] = values
        stream.learn_one(x, k % 2)
        table.partial_fit(row, [k % 2])
    np.testing.assert_allclose(stream.decision_function(np.eye(16)), table.decision_function(np.eye(16)))


@pytest.mark.slow
def test_a_hashed_stream_has_the_same_bits_in_every_process() -> None:
    code = (
        "from rosenblatt import Perceptron; p = Perceptron(hash_bits=10)\n"
        "for k in range(50): p.learn_one({f'word {k % 7}': 1.0, k % 5: 0.5}, k % 2)\n"
        "print(p.coef_.tobytes().hex())"
    )
    said = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout for _ in range(2)}
    assert len(said) == 1
    assert np.count_nonzero(np.frombuffer(bytes.fromhex(said.pop().strip()))) <= 12


def test_what_hash_bits_cannot_do_is_said() -> None:
    X, y = rows(20)
    with pytest.raises(DataError, match="hash_bits=5 makes 32 columns of an example, but 4 were learned"):
        Perceptron(hash_bits=5).fit(X, y).learn_one({"a": 1.0}, "class 0")
    with pytest.raises(ParameterError, match="hash_bits=31"):
        Perceptron(hash_bits=31).fit(X, y)
    learner = Perceptron(hash_bits=5).learn_one({"a": 1.0}, 1).learn_one({"b": 1.0}, 0)
    with pytest.raises(ParameterError, match="hash_bits"):
        learner.set_params(hash_bits=6).learn_one({"a": 1.0}, 1)


# -- several labels at once


SEVERAL = {name: LINEAR[name] for name in ("last", "average", "vote", "pocket", "PA-I", "AROW")} | {
    name: KERNEL[name] for name in ("kernel",)
}


def indicators(labels: int = 3) -> tuple[Any, Any]:
    X, _ = rows(60)
    return X, (X @ np.random.default_rng(0).normal(size=(4, labels)) > 0).astype(int)


@each(SEVERAL)
@pytest.mark.parametrize("labels", [2, 3])
def test_an_indicator_of_several_labels_is_one_problem_for_each(make: Any, labels: int, tmp_path: Path) -> None:
    X, Y = indicators(labels)
    learner = make().fit(X, Y)
    found = learner.predict(X)
    assert found.shape == (60, labels)
    assert set(np.unique(found)) <= {0, 1}
    for k in range(labels):
        alone = make().fit(X, Y[:, k])
        assert_same([learner.decision_function(X)[:, k], found[:, k]], answers(alone, X), f"label {k}")
    save(learner, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X), found)
    learner.partial_fit(X[:20], Y[:20])
    np.testing.assert_array_equal(loaded.partial_fit(X[:20], Y[:20]).decision_function(X), learner.decision_function(X))
    assert learner.score(X, Y) > 0.3


def test_several_labels_that_make_no_sense_are_refused() -> None:
    X, Y = indicators()
    learner = AveragedPerceptron(max_iter=3).fit(X, Y)
    for bad, sentence in [
        (2 * Y, "columns of 0 and 1"),
        (Y[:, :2], "2 columns of labels, but 3"),
        (Y[:, 0], "by turns"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            learner.partial_fit(X, bad)
    with pytest.raises(ValueError, match="learn_one has one label"):
        learner.learn_one({0: 1.0}, 1)
    with pytest.raises(ParameterError, match="class_weight"):
        AveragedPerceptron(class_weight="balanced").fit(X, Y)


def test_several_labels_are_judged_by_all_columns_of_a_row() -> None:
    """A row is right if all its labels are; a score of the user's gets the columns as `predict` gives them."""
    X, Y = indicators()
    learners, told = [AveragedPerceptron(max_iter=5), AROW(max_iter=5)], []

    def all_right(true: Any, predicted: Any) -> float:
        told.append(true.shape[1:] + predicted.shape[1:])
        return float(np.mean((true == predicted).all(axis=1)))

    for learner in learners:
        found = [cross_validate(X, Y, learner, scoring=scoring, n_jobs=1).scores for scoring in (None, all_right)]
        np.testing.assert_array_equal(*found)
    swept = [Sweep(learners, scoring=scoring, n_jobs=1).fit(X, Y) for scoring in (None, all_right)]
    np.testing.assert_array_equal(*(each.scores_ for each in swept))
    assert set(told) == {(3, 3)}


@pytest.mark.parametrize("learner", [AutoPerceptron(n_jobs=1), Calibrated(AveragedPerceptron(), n_jobs=1)])
def test_probabilities_of_several_labels_are_refused(learner: Any) -> None:
    X, Y = indicators()
    for call in (learner.fit, learner.partial_fit):
        with pytest.raises(ValueError, match="takes one label per row"):
            call(X, Y)
