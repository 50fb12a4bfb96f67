"""Streams: one example at a time or many, with classes and features that appear later."""

import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from length import examples
from numpy.testing import assert_array_equal
from registry import CONFIGURATIONS, HASHED, LINEAR, STREAMING, each, rows
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron
from rosenblatt.errors import DataError

# A stream knows its features by name; the tests compare it with arrays, which have none.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
every_learner = pytest.mark.parametrize("learner", [make() for make in LINEAR.values()], ids=LINEAR)


def test_a_third_class_keeps_what_was_learned_of_two() -> None:
    """The two classes get the rows that the joint rule would have given them; a new class starts from 0."""
    X, y = load_iris(return_X_y=True)
    for learner, share in ((Perceptron(), 1.0), (PassiveAggressive(), 0.5)):
        late = clone(learner).partial_fit(X[:100], y[:100])
        w = late.coef_.copy()
        far = 100 * X[[np.argmax(late.decision_function(X[:100]))]]  # class 1 with a wide margin: no step
        late.partial_fit(far, [1], classes=[2])
        np.testing.assert_array_equal(late.coef_, np.vstack([-share * w, share * w, 0 * w]))


@every_learner
@pytest.mark.parametrize(
    ("features", "error", "facts"),
    [
        ({"a": "high"}, TypeError, "'a' .*'high'"),
        ({"a": 10**400}, ValueError, r"'a' .*10{76}\.\.\."),
        ({"é" * 99: "ö" * 99}, TypeError, r"'é{76}\.\.\. .*'ö{76}\.\.\."),
        ({"b": float("nan")}, ValueError, "'b' .*nan"),
        ({"b": 1.0, "c": float("inf")}, ValueError, "'c' .*inf"),
        ([1.0, 2.0], TypeError, "features"),
    ],
)
def test_a_bad_example_changes_nothing(learner: Any, features: Any, error: Any, facts: str) -> None:
    one = clone(learner)
    with pytest.raises(error, match=facts):
        one.learn_one(features, "x")
    assert not hasattr(one, "classes_")
    one.learn_one({"a": 1.0}, "x").learn_one({"a": -1.0}, "y")
    before = (one.mistakes_, one.n_features_in_, one.classes_.tolist())
    for label in ("x", "new"):
        with pytest.raises(error, match=facts):
            one.learn_one(features, label)
        with pytest.raises(error, match=facts):
            one.predict_one(features)
    assert (one.mistakes_, one.n_features_in_, one.classes_.tolist()) == before


def test_a_single_label_is_predicted_until_another_comes() -> None:
    with pytest.raises(NotFittedError):
        Perceptron().predict_one({"a": 1.0})
    learner = Perceptron().learn_one({"a": 1.0}, "only")
    assert learner.predict_one({"b": 1.0}) == "only"
    assert learner.predict([[1.0]]).tolist() == ["only"]
    assert learner.mistakes_ == 0


@pytest.mark.parametrize("learner", [Perceptron(), AveragedPerceptron(), PassiveAggressive()], ids=repr)
@given(data=st.data())
@examples(40)
def test_names_are_equal_by_value_whatever_objects_and_order_they_come_in(learner: Any, data: Any) -> None:
    """Columns are remembered by place and object: no reuse of a dict, an object or an order may show in the weights."""
    named, numbered = clone(learner), clone(learner)
    features: dict[Any, float] = {}
    for label in data.draw(st.lists(st.booleans(), min_size=2, max_size=30)):
        if data.draw(st.booleans()):
            features = dict(reversed(features.items()))
        if features and data.draw(st.booleans()):
            del features[data.draw(st.sampled_from(list(features)))]
        name = data.draw(st.sampled_from(["a", "b", "längste", "日本", 3, (1, 2)]))
        features["".join(name) if isinstance(name, str) else name] = data.draw(st.sampled_from([1, -0.5, 2.25, True]))
        plain = {repr(key): float(value) for key, value in features.items()}
        assert not hasattr(named, "classes_") or named.predict_one(features) == numbered.predict_one(plain)
        named.learn_one(features, label)
        numbered.learn_one(plain, label)
    assert named.coef_.tolist() == numbered.coef_.tolist()
    assert [repr(name) for name in named.column_names] == list(numbered.column_names)


def test_a_name_whose_comparison_empties_the_dict_is_read_to_the_end() -> None:
    class Thief:
        def __hash__(self) -> int:
            return hash("a")

        def __eq__(self, other: object) -> bool:
            stolen.clear()
            return False

    learner = Perceptron().learn_one({"a": 1.0}, True).learn_one({"a": 1.0}, False)
    stolen: dict[Any, float] = {Thief(): 2.0, "c": 3.0}
    learner.learn_one(stolen, False)
    assert not stolen
    assert learner.n_features_in_ == 3


def test_a_number_may_ask_the_learner_for_a_prediction() -> None:
    class Caller(float):
        def __float__(self) -> float:
            learner.predict_one({"a": 1.0})
            return 1.0

    class Number:
        def __float__(self) -> float:
            return Caller(1.0).__float__()

    learner = Perceptron().learn_one({"a": 1.0}, True).learn_one({"a": 1.0}, False)
    learner.learn_one({"b": Number()}, True)  # type: ignore[dict-item]
    assert learner.n_features_in_ == 2


@each({name: CONFIGURATIONS[name] for name in ("sigmoid", "votes")})
def test_an_example_without_features_has_probabilities(make: Any) -> None:
    learner = make().learn_one({}, "a").learn_one({}, "b")
    assert set(learner.predict_proba_one({"never seen": 1.0})) == {"a", "b"}
    learner.learn_one({}, "c").learn_one({"x": 1.0}, "c")
    assert learner.predict_one({}) == "c"
    assert sum(learner.predict_proba_one({"x": 1.0}).values()) == pytest.approx(1.0)


@pytest.mark.parametrize("labels", ["words", "numbers"])
@each(LINEAR)
def test_new_classes_of_a_stream_are_those_of_rows(make: Any, labels: str) -> None:
    """Classes come in any order, with features that nobody has met and with weights."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 40, 120)
    known = [f"{'x' * (code % 5)}{code}" if labels == "words" else int(code) for code in codes]
    X = np.round(rng.normal(size=(120, 100)) * 8) / 8
    X[:, 3:] *= np.arange(120)[:, None] >= np.arange(97)[None]  # column 3 + i is 0 before row i
    weights = rng.choice([0.5, 1.0, 2.0], 120)
    one, rows_ = make(), make()
    for x, label, weight in zip(X, known, weights, strict=True):
        one.learn_one({j: value for j, value in enumerate(x.tolist()) if value or j < 3}, label, weight)
        rows_.partial_fit(x[None], [label], sample_weight=[weight])
        assert one.predict_one(dict(enumerate(x))) == rows_.predict(x[None]).tolist()[0]
    assert one.classes_.tolist() == rows_.classes_.tolist() == sorted(set(known))
    assert (one.mistakes_, one.updates_) == (rows_.mistakes_, rows_.updates_)
    places = np.argsort([one.columns_by_name()[j] for j in range(100)])  # the columns stand in another order
    np.testing.assert_allclose(one.decision_function(X[:, places]), rows_.decision_function(X), atol=1e-12)


def memory(call: Callable[[], Any]) -> int:
    """The most bytes that a call needed at once, beside what was there before."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    call()
    return tracemalloc.get_traced_memory()[1] - before


@each({name: STREAMING[name] for name in ("last", "vote", "AROW", "kernel", "projectron")})
def test_a_late_partial_fit_needs_no_more_memory_than_an_early_one(make: Any) -> None:
    """Rows that are right, so that nothing is learned from them: only what is copied can grow."""
    X, y = rows(40, seed=1)
    learner = make().partial_fit(X, y)
    easy = X[:1]

    def least() -> int:
        tracemalloc.start()
        try:
            return min(memory(lambda: learner.partial_fit(easy, learner.predict(easy))) for _ in range(5))
        finally:
            tracemalloc.stop()

    early = least()
    for _ in range(400):
        learner.partial_fit(easy, learner.predict(easy))
    assert least() < early + 2_000


def stream_of(count, labels="abc", seed=0):
    drawn = random.Random(seed)
    examples = [{f"f{drawn.randrange(200)}": drawn.uniform(-1, 1) for _ in range(9)} for _ in range(count)]
    return examples, [drawn.choice(labels) for _ in range(count)]


@each(LINEAR | HASHED)
@pytest.mark.parametrize("weighted", [False, True])
def test_one_call_has_the_bits_of_many(make, weighted):
    examples, labels = stream_of(150)
    weights = [0.5 * (k % 3) for k in range(150)] if weighted else None
    one = make()
    for k, (features, label) in enumerate(zip(examples, labels, strict=True)):
        one.learn_one(features, label, 1.0 if weights is None else weights[k])
    many = make()
    for begin in range(0, 150, 40):
        part = slice(begin, begin + 40)
        many.learn_many(examples[part], np.array(labels[part]), None if weights is None else weights[part])
    assert many.mistakes_ == one.mistakes_
    assert many.predict_many(examples) == [one.predict_one(features) for features in examples]
    for features in examples[:20]:
        assert_array_equal(many.scores_one(features), one.scores_one(features))


@pytest.mark.parametrize(
    ("examples", "labels", "error"),
    [
        ([{"f0": 1.0}, {"f0": float("nan")}], ["a", "b"], ValueError),
        ([{"f0": 1.0}, {"f0": "much"}], ["a", "b"], TypeError),
        ([{"f0": 1.0}, 7], ["a", "b"], TypeError),
        (np.ones((2, 1)), ["a", "b"], DataError),
        ([{"f0": 1.0}, {"f0": 2.0}], ["a", 7], ValueError),
        ([{"f0": 1.0}, {"f0": 2.0}], ["a"], ValueError),
    ],
)
def test_one_bad_example_leaves_the_learner_as_it_was(examples, labels, error):
    learner = Perceptron().learn_many(*stream_of(50))
    weights, mistakes = learner.coef_.copy(), learner.mistakes_
    with pytest.raises(error):
        learner.learn_many(examples, labels)
    assert_array_equal(learner.coef_, weights)
    assert (learner.mistakes_, learner.classes_.tolist()) == (mistakes, ["a", "b", "c"])
