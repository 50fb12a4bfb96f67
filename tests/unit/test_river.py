"""The adapter for river: its pipelines, metrics and progressive validation take the learners as they are."""

from typing import Any

import numpy as np
from command import python
from registry import LINEAR, dicts, each, rows
from rejected import rejected
from river import base, evaluate, metrics

from rosenblatt import AveragedPerceptron, PassiveAggressiveRegression, Perceptron
from rosenblatt.river import Classifier, Regressor


def test_without_river_the_adapter_says_what_to_install() -> None:
    code = "import sys; sys.modules['river'] = None\nimport rosenblatt.river"
    assert "MissingExtraError" in python(code, check=1).stderr


def test_each_adapter_rejects_the_other_kind_of_learner() -> None:
    with rejected("parameter", "PassiveAggressiveRegression", "Regressor"):
        Classifier(PassiveAggressiveRegression())
    with rejected("parameter", "Perceptron", "Classifier"):
        Regressor(Perceptron())


@each(LINEAR)
def test_an_adapted_learner_follows_rivers_contract(make: Any) -> None:
    model = Classifier(make())
    assert isinstance(model, base.Classifier)
    assert model.predict_one({"a": 1.0}) is None, "nothing was learned yet"
    X, y = rows(30)
    twin = make()
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        assert model.learn_one(x, label) is None
        twin.learn_one(x, label)
    assert [model.predict_one(x) for x in dicts(X)] == [twin.predict_one(x) for x in dicts(X)]


def test_an_adapted_learner_is_cloned_by_river_as_new() -> None:
    model = Classifier(AveragedPerceptron())
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"a": -1.0}, False)
    assert model.clone().predict_one({"a": 1.0}) is None
    assert model.clone(include_attributes=True).predict_one({"a": 1.0}) is True
    assert isinstance(model.clone({"learner": Perceptron(eta0=0.5)}).learner_, Perceptron)


def test_an_adapted_learner_takes_many_rows_of_a_frame() -> None:
    import pandas as pd

    X, y = rows(40)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = Classifier(Perceptron())
    model.learn_many(frame, pd.Series(y))
    expected = Perceptron().partial_fit(frame, y).predict(frame)
    assert np.asarray(model.predict_many(frame)).tolist() == expected.tolist()


def test_progressive_validation_counts_what_the_learner_counts() -> None:
    X, y = rows(60)
    stream = [(x, label == "class 1") for x, label in zip(dicts(X), y.tolist(), strict=True)]
    model = Classifier(Perceptron())
    metric = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    assert 0.5 < metric.get() <= 1.0
