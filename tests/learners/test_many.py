"""Many dicts in one call are what `learn_one` and `predict_one` make of each."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressiveRegressor, Perceptron, VotedPerceptron

MAKES = [
    Perceptron,
    lambda: AveragedPerceptron(class_weight={"a": 2.0, "b": 1.0, "c": 0.0}),
    lambda: Perceptron(penalty="l2", alpha=1e-3),
    lambda: Perceptron(multiclass="ovr"),
    lambda: Perceptron(hash_bits=6),
    AROW,
    VotedPerceptron,
]


def stream_of(count, labels="abc", seed=0):
    drawn = random.Random(seed)
    examples = [{f"f{drawn.randrange(200)}": drawn.uniform(-1, 1) for _ in range(9)} for _ in range(count)]
    return examples, [drawn.choice(labels) for _ in range(count)]


@pytest.mark.parametrize("make", MAKES)
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


def test_a_label_that_comes_last_does_not_make_all_others_be_looked_at_again_and_again():
    examples, labels = stream_of(40_000, "ab")
    late = Perceptron().learn_many(examples, [*labels[:-1], "c"])
    one = Perceptron()
    for features, label in zip(examples, [*labels[:-1], "c"], strict=True):
        one.learn_one(features, label)
    assert late.mistakes_ == one.mistakes_
    assert_array_equal(late.scores_one(examples[0]), one.scores_one(examples[0]))


@pytest.mark.parametrize("bad", [float("nan"), None, 3, 2.5, b"z", ["u"], ("t",), {}])
@pytest.mark.parametrize("begun", [False, True])
def test_a_bad_label_keeps_all_examples_from_being_learned(bad, begun):
    learner = Perceptron()
    if begun:
        learner.learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    before = learner.mistakes_ if begun else None
    with pytest.raises((ValueError, TypeError)):
        learner.learn_many([{"a": 1.0, "new": 1.0}, {"b": 1.0}, {"c": 1.0}], ["y", "x", bad])
    assert learner.has_learned == begun
    if begun:
        assert (learner.mistakes_, learner.n_features_in_) == (before, 2)


def test_numbers_of_any_type_may_be_weighed():
    one, other = Perceptron(), Perceptron(class_weight={"x": 2.0, "y": 1.0})
    for learner in (one, other):
        learner.learn_one({"a": Decimal("1.5")}, "x", weight=2.0)
        learner.learn_one({"a": Decimal("-1.5")}, "y", weight=2.0)
    assert one.predict_one({"a": 1.0}) == other.predict_one({"a": 1.0}) == "x"


def test_numbers():
    examples, _ = stream_of(60)
    targets = [sum(features.values()) for features in examples]
    one, many = PassiveAggressiveRegressor(), PassiveAggressiveRegressor().learn_many(examples, targets)
    for features, target in zip(examples, targets, strict=True):
        one.learn_one(features, target)
    assert [many.predict_one(features) for features in examples] == [one.predict_one(features) for features in examples]


@pytest.mark.parametrize(
    ("examples", "labels", "error"),
    [
        ([{"f0": 1.0}, {"f0": float("nan")}], ["a", "b"], ValueError),
        ([{"f0": 1.0}, {"f0": "much"}], ["a", "b"], TypeError),
        ([{"f0": 1.0}, 7], ["a", "b"], TypeError),
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


def test_a_fitted_learner_and_none_at_all():
    learner = Perceptron().fit(np.array([[1.0, 0.0], [0.0, 1.0]]), ["x", "y"])
    assert learner.predict_many([{0: 1}, {1: 1}, {}]) == [learner.predict_one(f) for f in ({0: 1}, {1: 1}, {})]
    assert learner.predict_many([]) == []
    assert learner.learn_many([], []) is learner
    only = Perceptron().learn_many([{"f": 1}], ["x"])
    assert only.predict_many([{"f": 1}, {}]) == ["x", "x"]
