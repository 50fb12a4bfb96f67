"""Every kind of model, served: it answers as the loaded model does, to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import rosenblatt
from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressive,
    PassiveAggressiveRegression,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.models.file import load
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.decoding import JSON, decode_predict
from rosenblatt.service.errors import HTTPError
from rosenblatt.service.predictor import Predictor, fixed_predictor
from rosenblatt.service.startup import model_record

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

dice = np.random.default_rng(0)
X = dice.normal(size=(120, 5))
TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.1, "yes", "no")
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
NUMBERS = X @ [1.0, 2.0, 0.0, 0.0, 1.0] + 0.1
SEVERAL = (X[:, :3] > 0).astype(int)
Z = dice.normal(size=(30, 5))

CLASSIFIERS: dict[str, tuple[Any, Any]] = {
    "two": (Perceptron(), TWO),
    "three": (AveragedPerceptron(), THREE),
    "numbers for labels": (PassiveAggressive(), (TWO == "yes").astype(int)),
    "truth values": (AROW(), TWO == "yes"),
    "vote": (VotedPerceptron(), THREE),
    "kernel": (KernelPerceptron(kernel="rbf"), THREE),
    "budget": (KernelPerceptron(kernel="rbf", budget=20), TWO),
    "calibrated": (Calibrated(AveragedPerceptron()), THREE),
    "auto": (AutoPerceptron(), TWO),
}


def served(learner: Any, y: Any, folder: Path, values: Any = X) -> tuple[Any, Predictor, Path]:
    """The loaded model, and a predictor of it."""
    path = folder / "some.model"
    rosenblatt.save(learner.fit(values, y), path)
    model = load(path)
    return model, fixed_predictor(model, ServiceLimits()), path


def ask(predictor: Predictor, **asked: Any) -> Any:
    options, rows = decode_predict(json.dumps(asked).encode(), JSON, b"", predictor.schema)
    found = [msgspec.to_builtins(each) for each in predictor.predict(rows, options)[0]]
    return {"prediction": found[0], "predictions": found}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_are_those_of_the_loaded_model_to_the_bit(tmp_path: Path, name: str, dtype: Any) -> None:
    model, service, _ = served(*CLASSIFIERS[name], tmp_path, X.astype(dtype))
    labels, scores = model.predict(Z).tolist(), model.decision_function(Z)
    expected = (np.column_stack([-scores, scores]) if scores.ndim == 1 else scores).tolist()
    together = ask(service, rows=Z.tolist(), scores=True)["predictions"]
    apart = [ask(service, row=row, scores=True)["prediction"] for row in Z.tolist()]
    for answers in (together, apart):
        assert [answer["label"] for answer in answers] == labels
        assert [list(answer["scores"].values()) for answer in answers] == expected
    if model.calibrator is not None:
        found = ask(service, rows=Z.tolist(), probabilities=True)["predictions"]
        assert [list(answer["probabilities"].values()) for answer in found] == model.predict_proba(Z).tolist()


def test_features_by_name_are_those_of_the_loaded_model_to_the_bit(tmp_path: Path) -> None:
    learner = AveragedPerceptron()
    rows = [{f"w{at}": float(v) for at, v in enumerate(row) if v > -0.5} for row in X]
    for row, label in zip(rows, THREE.tolist(), strict=True):
        learner.learn_one(row, label)
    rosenblatt.save(learner, tmp_path / "named.model")
    model = load(tmp_path / "named.model")
    service = fixed_predictor(model, ServiceLimits())
    found = ask(service, rows=rows, scores=True)["predictions"]
    for row, answer in zip(rows, found, strict=True):
        assert answer["label"] == model.predict_one(row)
        assert list(answer["scores"].values()) == model.scores(model._row(row))[0].tolist()
        assert ask(service, row={**row, "never seen": 3.0}, scores=True)["prediction"] == answer


def test_a_regression_answers_with_its_number(tmp_path: Path) -> None:
    model, service, path = served(PassiveAggressiveRegression(), NUMBERS, tmp_path)
    expected = model.predict(Z).tolist()
    assert [answer["label"] for answer in ask(service, rows=Z.tolist())["predictions"]] == expected
    assert [ask(service, row=row)["prediction"]["label"] for row in Z.tolist()] == expected
    reasons = ask(service, row=Z[0].tolist(), contributions=5)["prediction"]["contributions"]
    weights, intercept = model.linear().weights[0], float(model.linear().intercept[0])
    assert sum(reason["share"] for reason in reasons) + intercept == pytest.approx(expected[0])
    assert {int(reason["feature"]): reason["share"] for reason in reasons} == pytest.approx(
        {at: weights[at] * value for at, value in enumerate(Z[0])}
    )
    with pytest.raises(HTTPError, match="predicts a number"):
        ask(service, row=Z[0].tolist(), scores=True)
    with pytest.raises(ModelError, match="predicts numbers, not labels"):
        model_record(str(path))


def test_a_model_of_several_labels_answers_with_all_that_hold(tmp_path: Path) -> None:
    model, service, path = served(Perceptron(), SEVERAL, tmp_path)
    expected = [[at for at, holds in enumerate(row) if holds] for row in model.predict(Z).tolist()]
    answers = ask(service, rows=Z.tolist(), scores=True, top=1)["predictions"]
    assert [answer["label"] for answer in answers] == expected
    assert [list(answer["scores"].values()) for answer in answers] == model.decision_function(Z).tolist()
    with pytest.raises(HTTPError, match="predicts several"):
        ask(service, row=Z[0].tolist(), contributions=2)
    with pytest.raises(ModelError, match="several labels per row"):
        model_record(str(path))


@pytest.mark.parametrize(("name", "why"), [
    ("kernel", "stores rows"),
    ("calibrated", "held-out rows"),
    ("auto", "prepares its columns"),
])  # fmt: skip
def test_what_cannot_learn_here_says_why(tmp_path: Path, name: str, why: str) -> None:
    _, _, path = served(*CLASSIFIERS[name], tmp_path)
    with pytest.raises(ModelError, match=why):
        model_record(str(path))


def test_a_vote_cannot_learn_here(tmp_path: Path) -> None:
    _, _, path = served(VotedPerceptron(), TWO, tmp_path)
    with pytest.raises(ParameterError, match="no bound"):
        model_record(str(path))


def test_answers_never_have_more_scores_than_the_limit(tmp_path: Path) -> None:
    model, _, _ = served(Perceptron(), THREE, tmp_path)
    service = fixed_predictor(model, ServiceLimits(cells=60))
    assert len(ask(service, rows=[{}] * 20)["predictions"]) == 20
    with pytest.raises(HTTPError, match="more than 60 scores"):
        ask(service, rows=[{}] * 21)
