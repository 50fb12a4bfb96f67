"""Calls in any order: `fit` forgets, `partial_fit` and `learn_one` go on, what predicts changes nothing."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from learners import KERNEL, LEARNERS, LINEAR, answers, assert_same, dicts, each, rows
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, load, save
from rosenblatt.errors import ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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
    after = visible(learner)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()


@each(LINEAR)
def test_predict_one_with_features_never_seen_changes_nothing_that_can_be_seen(make: Any) -> None:
    X, y = rows(classes=3)
    learner = make().fit(X, y)
    before = visible(learner)
    learner.predict_one({0: 1.0, "never seen": 2.0})
    after = visible(learner)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()


@pytest.mark.parametrize("keep", ["last", "pocket"])
def test_float32_weights_stay_float32_when_one_example_is_predicted(keep: Any) -> None:
    X, y = rows()
    learner = Perceptron(keep=keep, max_iter=20).fit(X.astype(np.float32), y)
    assert learner.coef_.dtype == np.float32
    learner.predict_one({0: 1.0})
    assert learner.coef_.dtype == np.float32


@each(LINEAR)
def test_partial_fit_after_predict_one_gives_the_bits_of_partial_fit_without_it(make: Any) -> None:
    X, y = rows()
    X32 = X.astype(np.float32) / 3  # thirds: rounding to float32 shows
    plain = make().fit(X32[:40], y[:40])
    asked = pickle.loads(pickle.dumps(plain))
    asked.predict_one(dicts(X32)[0])
    assert_same(answers(asked.partial_fit(X32[40:], y[40:]), X32), answers(plain.partial_fit(X32[40:], y[40:]), X32))


@each(LINEAR)
def test_fit_after_predict_one_forgets_the_columns_before(make: Any) -> None:
    X, y = rows(d=4)
    other, labels = rows(d=6, seed=1)
    learner = make().fit(X, y)
    learner.predict_one({0: 1.0})
    learner.fit(other, labels)
    assert learner.n_features_in_ == 6
    assert_same(answers(learner, other), answers(make().fit(other, labels), other))


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


@each(LEARNERS)
def test_a_second_fit_is_the_fit_of_a_fresh_learner(make: Any) -> None:
    X, y = rows(d=4, classes=3)
    other, labels = rows(d=6, seed=1)
    learner = make().fit(X, y)
    answers(learner, X)
    if hasattr(learner, "predict_one"):
        learner.predict_one({0: 1.0})
    learner.fit(other, labels)
    assert_same(answers(learner, other), answers(make().fit(other, labels), other))


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
    with pytest.raises(ParameterError, match=next(iter(change))):
        learner.partial_fit(X, y) if call == "partial_fit" else learner.learn_one(dicts(X)[0], y[0])
    assert_same(answers(learner, X), before)


@each(LINEAR | KERNEL)
def test_fit_forgets_the_names_of_a_stream(make: Any) -> None:
    X, y = rows(20, d=2)
    learner = make().learn_one({"a": 1.0, "b": 2.0}, "class 0").learn_one({"a": -1.0, "b": 2.0}, "class 1")
    learner.fit(X, y).learn_one({0: 1.0, 1: 2.0}, "class 0")
    assert learner.n_features_in_ == 2


@each(LINEAR | KERNEL)
def test_a_feature_keeps_its_name_through_rows_a_pickle_and_a_file(make: Any, tmp_path: Path) -> None:
    X, y = rows(20, d=3)
    x = {0: 1.0, 1: 2.0, "new": 1.0}
    learner = make().fit(X[:, :2], y).learn_one(x, "class 1").partial_fit(X, y)
    if make is not KERNEL["kernel function"]:
        save(learner, tmp_path / "m")
        assert load(tmp_path / "m").learn_one(x, "class 0").n_features_in_ == 3
    assert pickle.loads(pickle.dumps(learner)).learn_one(x, "class 0").n_features_in_ == 3
    assert learner.learn_one(x, "class 0").n_features_in_ == 3
    assert learner.predict_one(x) == learner.predict([[1.0, 2.0, 1.0]]).tolist()[0]
