"""An example that is predicted and then learned is read once: unless it has changed meanwhile, in whatever way."""

from __future__ import annotations

import collections
import random

import pytest
from numpy.testing import assert_array_equal

from rosenblatt import AveragedPerceptron, Perceptron

MAKES = {
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "hashed": lambda: Perceptron(hash_bits=5),
    "one-vs-rest": lambda: AveragedPerceptron(multiclass="ovr"),
}


class Weight:
    """A number that says another one every time."""

    def __init__(self) -> None:
        self.asked = 0

    def __float__(self) -> float:
        self.asked += 1
        return float(self.asked % 3)


def change(drawn: random.Random, features: dict) -> None:
    """One of the ways in which a dict changes."""
    name, number = f"f{drawn.randrange(12)}", drawn.choice([0.5, -1.5, 2, True, 3.0])
    way = drawn.randrange(8)
    if way == 0:
        features[name] = number
    elif way == 1:
        features.pop(name, None)
    elif way == 2:
        features.clear()
        features[name] = number
    elif way == 3:
        features.update({name: number, "new" + name: 1.0})
    elif way == 4 and features:
        features.popitem()
    elif way == 5:
        features.setdefault(name, number)
    elif way == 6:
        features |= {name: number}


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, lambda: collections.defaultdict(float)])
@pytest.mark.parametrize("seed", range(5))
def test_a_dict_that_changes_between_two_calls_is_read_again(name, kind, seed):
    drawn = random.Random(f"{name} {seed}")
    same, fresh, features = MAKES[name](), MAKES[name](), kind()
    for turn in range(300):
        change(drawn, features)
        label = drawn.choice("abc")
        if turn > 5:
            assert same.predict_one(features) == fresh.predict_one(dict(features))
        if drawn.random() < 0.3:
            change(drawn, features)
        same.learn_one(features, label)
        fresh.learn_one(dict(features), label)
        assert_array_equal(same.scores_one(features), fresh.scores_one(dict(features)))
    assert same.mistakes_ == fresh.mistakes_


def test_dicts_that_come_and_go_at_one_address():
    same, fresh, drawn = Perceptron(), Perceptron(), random.Random(0)
    for turn in range(500):
        number, label = float(drawn.randrange(-3, 4)), drawn.choice("ab")
        if turn > 5:
            assert same.predict_one({"a": number, "b": 1.0}) == fresh.predict_one({"b": 1.0, "a": number})
        same.learn_one({"a": number, "b": 1.0}, label)
        fresh.learn_one({"b": 1.0, "a": number}, label)
    assert same.mistakes_ == fresh.mistakes_


def test_numbers_of_a_type_of_their_own_are_asked_every_time():
    learner, weight = Perceptron().learn_many([{"a": 1.0}, {"a": -1.0}], [1, 0]), Weight()
    features = {"a": weight}
    learner.predict_one(features)
    asked = weight.asked
    learner.learn_one(features, 1)
    assert weight.asked > asked


def test_the_attributes_of_an_object_are_a_dict_that_changes():
    class Row:
        pass

    row, same, fresh = Row(), Perceptron(), Perceptron()
    for turn in range(200):
        row.a, row.b = float(turn % 7 - 3), 1.0
        if turn > 5:
            assert same.predict_one(vars(row)) == fresh.predict_one(dict(vars(row)))
        row.a = float(turn % 5 - 2)
        same.learn_one(vars(row), turn % 3 == 0)
        fresh.learn_one(dict(vars(row)), turn % 3 == 0)
    assert same.mistakes_ == fresh.mistakes_


def test_a_name_that_was_new_when_it_was_predicted_is_learned():
    learner = Perceptron().learn_many([{"a": 1.0}, {"a": -1.0}], [1, 0])
    features = {"a": -2.0, "new": 4.0}
    assert learner.predict_one(features) == 0
    learner.learn_one(features, 1)
    assert learner.n_features_in_ == 2
    assert learner.predict_one({"new": 1.0}) == 1
