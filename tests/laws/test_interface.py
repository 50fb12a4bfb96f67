"""Calls in any order, one example at a time, hashed streams, several labels: what users look for."""

import pickle
from typing import Any

import numpy as np
import pytest
from registry import KERNEL, LINEAR, PROBABLE, answers, assert_same, dicts, each, rows
from rejected import rejected
from sklearn.base import clone
from written import reloaded

import rosenblatt as rb
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron


@pytest.mark.parametrize(
    "learner", [rb.Perceptron(), rb.KernelPerceptron(), rb.PassiveAggressiveRegression()], ids=repr
)
def test_learn_one_refuses_a_negative_weight_and_a_bad_example(learner: Any) -> None:
    for features, weight in [({"a": 1.0}, -1.0), ({"a": np.nan}, 1.0), ({"a": "one"}, 1.0)]:
        with pytest.raises((ValueError, TypeError), match=r"weight|feature"):
            learner.learn_one(features, 1, weight=weight)
    assert not learner.has_learned


@each(PROBABLE)
def test_the_probabilities_of_one_example_are_those_of_its_row(make: Any) -> None:
    X, y = rows(60, classes=3)
    learner = make().fit(X, y)
    found = learner.predict_proba_one(dicts(X)[0])
    assert list(found) == learner.classes_.tolist()
    np.testing.assert_allclose(list(found.values()), learner.predict_proba(X[:1])[0])


@each({name: make for name, make in KERNEL.items() if name != "kernel function"})
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_kernel_learns_a_stream_of_features_that_come_as_they_come(make: Any) -> None:
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


@pytest.mark.parametrize("kind", [rb.Perceptron, rb.AveragedPerceptron, rb.AROW, rb.VotedPerceptron])
def test_a_hashed_stream_equals_rows_of_its_columns(kind: Any) -> None:
    """Names that share a column add up, and there are as many weights as hashes."""
    rng = np.random.default_rng(0)
    stream, table = kind(hash_bits=4), kind(hash_bits=4)
    for k in range(200):
        x = {f"w{j}": float(j % 3 + 1) for j in rng.choice(40, 6, replace=False).tolist()}
        columns, values = rb.engine.Stream.hashed(x, 4)
        assert (np.diff(columns) > 0).all()
        assert values.sum() == sum(x.values())
        row = np.zeros((1, 16))
        row[0, columns] = values
        stream.learn_one(x, k % 2)
        table.partial_fit(row, [k % 2])
    assert stream.n_features_in_ == 16
    np.testing.assert_allclose(stream.decision_function(np.eye(16)), table.decision_function(np.eye(16)))


def test_what_hash_bits_cannot_do_is_said() -> None:
    X, y = rows(20)
    with rejected("data", "hash_bits=5", "32 columns", "4 were"):
        rb.Perceptron(hash_bits=5).fit(X, y).learn_one({"a": 1.0}, "class 0")
    with rejected("parameter", "hash_bits=31"):
        rb.Perceptron(hash_bits=31).fit(X, y)
    learner = rb.Perceptron(hash_bits=5).learn_one({"a": 1.0}, 1).learn_one({"b": 1.0}, 0)
    with rejected("parameter", "hash_bits"):
        learner.set_params(hash_bits=6).learn_one({"a": 1.0}, 1)


SEVERAL = {name: LINEAR[name] for name in ("last", "average", "vote", "pocket", "PA-I", "AROW")} | {
    name: KERNEL[name] for name in ("kernel",)
}


def indicators(labels: int = 3) -> tuple[Any, Any]:
    X, _ = rows(60)
    return X, (X @ np.random.default_rng(0).normal(size=(4, labels)) > 0).astype(int)


@each(SEVERAL)
@pytest.mark.parametrize("labels", [2, 3])
def test_an_indicator_of_several_labels_is_one_problem_for_each(make: Any, labels: int) -> None:
    X, Y = indicators(labels)
    learner = make().fit(X, Y)
    found = learner.predict(X)
    assert found.shape == (60, labels)
    assert set(np.unique(found)) <= {0, 1}
    for k in range(labels):
        alone = make().fit(X, Y[:, k])
        assert_same([learner.decision_function(X)[:, k], found[:, k]], answers(alone, X), f"label {k}")
    assert learner.score(X, Y) > 0.3


def test_several_labels_that_make_no_sense_are_refused() -> None:
    X, Y = indicators()
    learner = rb.AveragedPerceptron(max_iter=3).fit(X, Y)
    for bad in (2 * Y, Y[:, :2], Y[:, 0]):
        with rejected("label"):
            learner.partial_fit(X, bad)
    with rejected("label", "learn_one"):
        learner.learn_one({0: 1.0}, 1)
    with rejected("parameter", "class_weight"):
        rb.AveragedPerceptron(class_weight="balanced").fit(X, Y)


def test_several_labels_are_judged_by_all_columns_of_a_row() -> None:
    """A row is right if all its labels are; a score of the user's gets the columns as `predict` gives them."""
    X, Y = indicators()
    learners, told = [rb.AveragedPerceptron(max_iter=5), rb.AROW(max_iter=5)], []

    def all_right(true: Any, predicted: Any) -> float:
        told.append(true.shape[1:] + predicted.shape[1:])
        return float(np.mean((true == predicted).all(axis=1)))

    for learner in learners:
        found = [rb.cross_validate(X, Y, learner, scoring=scoring, n_jobs=1).scores for scoring in (None, all_right)]
        np.testing.assert_array_equal(*found)
    swept = [rb.Sweep(learners, scoring=scoring, n_jobs=1).fit(X, Y) for scoring in (None, all_right)]
    np.testing.assert_array_equal(*(each.scores_ for each in swept))
    assert set(told) == {(3, 3)}


@pytest.mark.parametrize("learner", [rb.AutoPerceptron(n_jobs=1), rb.Calibrated(rb.AveragedPerceptron(), n_jobs=1)])
def test_probabilities_of_several_labels_are_refused(learner: Any) -> None:
    X, Y = indicators()
    for call in (learner.fit, learner.partial_fit):
        with rejected("label", type(learner).__name__):
            call(X, Y)


def visible(learner: Any) -> dict[str, Any]:
    """Every learned attribute that can be seen, with its type."""
    found: dict[str, Any] = {}
    for name in sorted({*dir(type(learner)), *vars(learner)}):
        if not name.endswith("_") or name.startswith("_"):
            continue
        try:
            value = getattr(learner, name)
        except AttributeError:
            continue
        if isinstance(value, np.ndarray):
            value = (str(value.dtype), value.shape, value.tolist())
        found[name] = repr(value)
    return found


@each(LINEAR)
def test_predict_one_changes_nothing_that_can_be_seen(make: Any) -> None:
    X, y = rows(classes=3)
    learner = make().fit(X.astype(np.float32), y)
    before = visible(learner)
    learner.predict_one(dicts(X)[0])
    learner.predict_one({0: 1.0, "never seen": 2.0})
    after = visible(learner)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()


@each(LINEAR)
def test_fit_after_learn_one_is_a_fit_of_a_fresh_learner(make: Any) -> None:
    X, y = rows(d=4)
    learner, fresh = make(), make().fit(X, y)
    for word, label in [("free", "spam"), ("lunch", "ham"), ("win", "spam")]:
        learner.learn_one({word: 1.0}, label)
    learner.fit(X, y)
    assert_same(answers(learner, X), answers(fresh, X))
    assert learner.classes_.tolist() == fresh.classes_.tolist()
    assert learner.history_.mistakes == fresh.history_.mistakes
    assert not hasattr(learner, "feature_names_in_")


@pytest.mark.parametrize(
    ("learner", "change"),
    [
        (Perceptron(eta0=1.0), {"eta0": 4.0}),
        (Perceptron(), {"beta": 2.0}),
        (Perceptron(), {"tie": "positive"}),
        (PassiveAggressive(C=0.01), {"C": 10.0}),
        (PassiveAggressive(C=0.01), {"variant": "PA"}),
        (AROW(r=10.0), {"r": 0.1}),
        (AveragedPerceptron(), {"penalty": "l2", "alpha": 0.1}),
    ],
    ids=lambda value: repr(value),
)
def test_learn_one_uses_parameters_set_between_two_calls(learner: Any, change: dict[str, Any]) -> None:
    X, y = rows()
    one = clone(learner)
    for at, (x, label) in enumerate(zip(dicts(X), y.tolist(), strict=True)):
        if at == 30:
            one.set_params(**change)
        one.learn_one(x, label)
    # The first example of a stream has no second class to be mistaken for: only what came after it is compared.
    fresh = clone(learner).partial_fit(X[:1], y[:1]).partial_fit(X[1:30], y[1:30])
    fresh.set_params(**change).partial_fit(X[30:], y[30:])
    np.testing.assert_allclose(one.decision_function(X), fresh.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("change", [{"keep": "average"}, {"fit_intercept": False}, {"multiclass": "ovr"}], ids=repr)
@pytest.mark.parametrize("call", ["partial_fit", "learn_one"])
def test_a_parameter_that_learning_cannot_follow_is_refused_by_name(call: str, change: dict[str, Any]) -> None:
    X, y = rows(classes=3)
    learner = Perceptron().partial_fit(X, y)
    before = answers(learner, X)
    learner.set_params(**change)
    with rejected("parameter", next(iter(change))):
        learner.partial_fit(X, y) if call == "partial_fit" else learner.learn_one(dicts(X)[0], y[0])
    assert_same(answers(learner, X), before)


@each(LINEAR | KERNEL)
def test_a_feature_keeps_its_name_through_rows_a_pickle_and_a_file(make: Any) -> None:
    X, y = rows(20, d=3)
    x = {0: 1.0, 1: 2.0, "new": 1.0}
    learner = make().fit(X[:, :2], y).learn_one(x, "class 1").partial_fit(X, y)
    if make is not KERNEL["kernel function"]:
        assert reloaded(learner).learn_one(x, "class 0").n_features_in_ == 3
    assert pickle.loads(pickle.dumps(learner)).learn_one(x, "class 0").n_features_in_ == 3
    assert learner.learn_one(x, "class 0").n_features_in_ == 3
    assert learner.predict_one(x) == learner.predict([[1.0, 2.0, 1.0]]).tolist()[0]
