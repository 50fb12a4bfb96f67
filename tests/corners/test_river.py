"""The adapter for river: its pipelines, metrics and progressive validation take the learners as they are."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from learners import LINEAR, dicts, each, rows
from rosenblatt import AveragedPerceptron, Perceptron


def adapter() -> Any:
    return importlib.import_module("rosenblatt.river")


def test_without_river_the_adapter_says_what_to_install() -> None:
    code = "import sys; sys.modules['river'] = None\nimport rosenblatt.river"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "MissingExtraError: river is not installed: pip install 'rosenblatt[river]'" in done.stderr


@each(LINEAR)
def test_an_adapted_learner_follows_rivers_contract(make: Any) -> None:
    Classifier = adapter().Classifier
    base = pytest.importorskip("river.base")
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
    Classifier = adapter().Classifier
    model = Classifier(AveragedPerceptron())
    model.learn_one({"a": 1.0}, True)
    model.learn_one({"a": -1.0}, False)
    assert model.clone().predict_one({"a": 1.0}) is None


def test_an_adapted_learner_takes_many_rows_of_a_frame() -> None:
    import pandas as pd

    Classifier = adapter().Classifier
    X, y = rows(40)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = Classifier(Perceptron())
    model.learn_many(frame, pd.Series(y))
    expected = Perceptron().partial_fit(frame, y).predict(frame)
    assert np.asarray(model.predict_many(frame)).tolist() == expected.tolist()


def test_progressive_validation_counts_what_the_learner_counts() -> None:
    Classifier = adapter().Classifier
    evaluate, metrics = pytest.importorskip("river.evaluate"), pytest.importorskip("river.metrics")
    X, y = rows(60)
    stream = [(x, label == "class 1") for x, label in zip(dicts(X), y.tolist(), strict=True)]
    model = Classifier(Perceptron())
    metric = evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    assert 0.5 < metric.get() <= 1.0


def test_an_adapted_learner_stands_at_the_end_of_a_pipeline() -> None:
    Classifier = adapter().Classifier
    preprocessing = pytest.importorskip("river.preprocessing")
    model = preprocessing.StandardScaler() | Classifier(Perceptron())
    for x, label in zip(dicts(rows(30)[0]), rows(30)[1].tolist(), strict=True):
        model.learn_one(x, label)
    assert model.predict_one({0: 1.0}) in ("class 0", "class 1")


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_probabilities_of_one_example_add_up(labels: list[str]) -> None:
    Classifier = adapter().Classifier
    from rosenblatt import Calibrated

    model = Classifier(Calibrated(AveragedPerceptron()))
    for k in range(60):
        model.learn_one({"x": float(k % len(labels)), "one": 1.0}, labels[k % len(labels)])
    found = model.predict_proba_one({"x": 1.0, "one": 1.0})
    assert sorted(found) == labels
    assert sum(found.values()) == pytest.approx(1.0)
