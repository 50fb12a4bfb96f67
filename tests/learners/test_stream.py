"""Streams: classes and features that appear later, one example at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from family import LINEAR
from length import examples
from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron, textbook

# A stream knows its features by name; the tests compare it with arrays, which have none.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
every_learner = pytest.mark.parametrize("learner", [make() for make in LINEAR.values()], ids=LINEAR)

streams = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-3, 3).map(float), max_size=5),
        st.sampled_from(["x", "y", "z"]),
    ),
    min_size=1,
    max_size=25,
)


@every_learner
@examples(40)
@given(streams)
def test_learn_one_is_partial_fit_with_a_column_a_name(
    learner: Any, stream: list[tuple[dict[str, float], str]]
) -> None:
    """Once all labels are known, dicts and table rows do the same: same mistakes, same weights, same predictions."""
    one, batch = clone(learner), clone(learner)
    names = sorted({name for features, _ in stream for name in features}) or ["a"]
    start = [(dict.fromkeys(names, 0.0), label) for label in ("x", "y", "z")]
    for features, label in start + stream:
        one.learn_one(features, label)
    rows = np.array([[features.get(name, 0.0) for name in names] for features, _ in start + stream])
    labels = [label for _, label in start + stream]
    for i in range(3):  # the labels come one after another in both
        batch.partial_fit(rows[i : i + 1], labels[i : i + 1])
    batch.partial_fit(rows[3:], labels[3:])
    assert one.mistakes_ == batch.mistakes_
    assert one.updates_ == batch.updates_
    assert one.classes_.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(one.decision_function(rows), batch.decision_function(rows), atol=1e-9)
    for features, _ in stream[:5]:
        row = [[features.get(name, 0.0) for name in names]]
        if np.min(np.diff(np.sort(batch.decision_function(row)[0]))) > 1e-9:
            assert one.predict_one(features) == batch.predict(row)[0]


def test_a_binary_stream_is_the_textbook() -> None:
    stream = [
        ({"a": 1.0}, -1),
        ({"a": 2.0, "b": 1.0}, 1),
        ({"c": -1.0}, -1),
        ({"b": 3.0, "c": 1.0}, 1),
        ({"a": 4.0}, -1),
    ]
    X = [[f.get(name, 0.0) for name in "abc"] for f, _ in stream]
    y = [label for _, label in stream]
    # the first row is met with one label known: nothing to be mistaken for
    run = textbook.learn(X[1:], y[1:], orders=[range(4)])
    learner = Perceptron()
    for features, label in stream:
        learner.learn_one(features, label)
    assert learner.mistakes_ == run.mistakes
    np.testing.assert_array_equal(learner.coef_, [run.last[0][:-1]])
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    assert learner.n_features_in_ == 3


@every_learner
def test_hundreds_of_new_features(learner: Any) -> None:
    one = clone(learner)
    for i in range(400):
        one.learn_one({f"word{i}": 1.0, f"word{i // 2}": 2.0}, "even" if i % 2 == 0 else "odd")
    assert one.n_features_in_ == 400
    assert one.predict_one({"never seen": 5.0}) in ("even", "odd")


@every_learner
def test_a_third_class_comes_later(learner: Any) -> None:
    X, y = load_iris(return_X_y=True)
    late = clone(learner).partial_fit(X[:100], y[:100])
    mixed = np.argsort(np.arange(150) % 50, kind="stable")
    late.partial_fit(X[100:], y[100:])
    for _ in range(20):
        late.partial_fit(X[mixed], y[mixed])
    assert late.classes_.tolist() == [0, 1, 2]
    assert late.decision_function(X).shape == (150, 3)
    if not late.params().update_rule.shrinks:  # a penalty may leave too little of a class
        assert set(late.predict(X)) == {0, 1, 2}


def test_a_third_class_keeps_what_was_learned_of_two() -> None:
    """The two classes get the rows that the joint rule would have given them; a new class starts from 0."""
    X, y = load_iris(return_X_y=True)
    for learner, share in ((Perceptron(), 1.0), (PassiveAggressive(), 0.5)):
        late = clone(learner).partial_fit(X[:100], y[:100])
        w = late.coef_.copy()
        far = 100 * X[[np.argmax(late.decision_function(X[:100]))]]  # class 1 with a wide margin: no step
        late.partial_fit(far, [1], classes=[2])
        np.testing.assert_array_equal(late.coef_, np.vstack([-share * w, share * w, 0 * w]))


def test_labels_sort_into_place() -> None:
    learner = Perceptron()
    for label in ("m", "z", "a"):
        learner.learn_one({"f": 1.0}, label)
    assert learner.classes_.tolist() == ["a", "m", "z"]
    assert learner.coef_.shape == (3, 1)


def test_a_fit_and_a_stream_go_on_from_each_other() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"height": [1.0, 2.0, 3.0, 4.0], "width": [1.0, 0.0, 1.0, 0.0]})
    learner = Perceptron(tol=None).fit(frame, ["s", "s", "l", "l"])
    learner.learn_one({"height": 0.1, "color": 1.0}, "s")
    assert learner.feature_names_in_.tolist() == ["height", "width", "color"]
    wider = frame.assign(color=0.0)
    learner.partial_fit(wider, ["s", "s", "l", "l"])
    assert learner.predict(wider).shape == (4,)
    with pytest.raises(ValueError, match="feature names should match"):
        learner.predict(frame)


def test_columns_without_names_are_known_by_their_numbers() -> None:
    learner = Perceptron(tol=None).fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    assert learner.predict_one({0: 3.0}) == "b"
    assert learner.predict_one({1: 3.0}) == "a"


@every_learner
@pytest.mark.parametrize(
    ("features", "error", "sentence"),
    [
        ({"a": "high"}, TypeError, "feature 'a' has the value 'high', which is not a number"),
        ({"a": 10**400}, ValueError, r"feature 'a' has the value 10{76}\.\.\., too large to learn from"),
        ({"é" * 99: "ö" * 99}, TypeError, "feature 'é{76}... has the value 'ö{76}..., which is not a number"),
        ({"b": float("nan")}, ValueError, "feature 'b' has the value nan, which is not finite"),
        ({"b": 1.0, "c": float("inf")}, ValueError, "feature 'c' has the value inf"),
        ([1.0, 2.0], TypeError, "features must be a dict"),
    ],
)
def test_a_bad_example_changes_nothing(learner: Any, features: Any, error: Any, sentence: str) -> None:
    one = clone(learner)
    with pytest.raises(error, match=sentence):
        one.learn_one(features, "x")
    assert not hasattr(one, "classes_")
    one.learn_one({"a": 1.0}, "x").learn_one({"a": -1.0}, "y")
    before = (one.mistakes_, one.n_features_in_, one.classes_.tolist())
    for label in ("x", "new"):
        with pytest.raises(error, match=sentence):
            one.learn_one(features, label)
        with pytest.raises(error, match=sentence):
            one.predict_one(features)
    assert (one.mistakes_, one.n_features_in_, one.classes_.tolist()) == before


def test_predict_one_before_learning() -> None:
    with pytest.raises(NotFittedError, match="has learned nothing"):
        Perceptron().predict_one({"a": 1.0})


def test_a_single_label_is_predicted_until_another_comes() -> None:
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
        assert not hasattr(named, "classes_") or named.predict_one(features) in (False, True)
        named.learn_one(features, label)
        numbered.learn_one({repr(key): float(value) for key, value in features.items()}, label)
    assert named.coef_.tolist() == numbered.coef_.tolist()
    assert [repr(name) for name in named.learned.stream.names] == list(numbered.learned.stream.names)


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
