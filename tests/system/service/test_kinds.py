"""Every kind of model, served: it answers as the loaded model does, to the bit."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import rosenblatt as rb
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.models.file import load
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.decoding import decode_predict
from rosenblatt.service.errors import HTTPError
from rosenblatt.service.predictor import FixedModel, Predictor
from rosenblatt.service.schemas import JSON
from rosenblatt.service.trainer import model_record

dice = np.random.default_rng(0)
X = dice.normal(size=(120, 5))
TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.1, "yes", "no")
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
NUMBERS = X @ [1.0, 2.0, 0.0, 0.0, 1.0] + 0.1
SEVERAL = (X[:, :3] > 0).astype(int)
Z = dice.normal(size=(30, 5))

CLASSIFIERS: dict[str, tuple[Any, Any]] = {
    "two": (rb.Perceptron(), TWO),
    "three": (rb.AveragedPerceptron(), THREE),
    "numbers for labels": (rb.PassiveAggressive(), (TWO == "yes").astype(int)),
    "truth values": (rb.AROW(), TWO == "yes"),
    "vote": (rb.VotedPerceptron(), THREE),
    "kernel": (rb.KernelPerceptron(kernel="rbf"), THREE),
    "budget": (rb.KernelPerceptron(kernel="rbf", budget=20), TWO),
    "calibrated": (rb.Calibrated(rb.AveragedPerceptron()), THREE),
    "auto": (rb.AutoPerceptron(), TWO),
}


def served(learner: Any, y: Any, folder: Path, values: Any = X) -> tuple[Any, Predictor, Path]:
    """The loaded model, and a predictor of it."""
    path = folder / "some.model"
    rb.save(learner.fit(values, y), path)
    model = load(path)
    return model, FixedModel(str(path), ServiceLimits()).predictor, path


def ask(predictor: Predictor, **asked: Any) -> Any:
    options, rows = decode_predict(json.dumps(asked).encode(), JSON, b"", predictor.schema)
    found = [msgspec.to_builtins(each) for each in predictor.predict(rows, options)]
    return {"prediction": found[0], "predictions": found}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_are_those_of_the_loaded_model_to_the_bit(tmp_path: Path, name: str, dtype: Any) -> None:
    model, service, _ = served(*CLASSIFIERS[name], tmp_path, X.astype(dtype))
    labels, scores = model.predict(Z).tolist(), model.decision_function(Z)
    expected = (np.column_stack([-scores, scores]) if scores.ndim == 1 else scores).tolist()
    together = ask(service, rows=Z.tolist(), scores=True)["predictions"]
    apart = [ask(service, row=row, scores=True)["prediction"] for row in Z.tolist()]
    ranked = ask(service, rows=Z.tolist(), scores=True, top=1)["predictions"]
    for answers in (together, apart, ranked):
        assert [answer["label"] for answer in answers] == labels
        assert [list(answer["scores"].values()) for answer in answers] == expected
    if model.calibrator is not None:
        found = ask(service, rows=Z.tolist(), probabilities=True)["predictions"]
        assert [list(answer["probabilities"].values()) for answer in found] == model.predict_proba(Z).tolist()


def test_a_regression_answers_with_its_number(tmp_path: Path) -> None:
    model, service, _ = served(rb.PassiveAggressiveRegression(), NUMBERS, tmp_path)
    expected = model.predict(Z).tolist()
    assert [answer["label"] for answer in ask(service, rows=Z.tolist())["predictions"]] == expected
    assert [ask(service, row=row)["prediction"]["label"] for row in Z.tolist()] == expected
    reasons = ask(service, row=Z[0].tolist(), contributions=5)["prediction"]["contributions"]
    linear = model.weights()[0]
    weights, intercept = linear.weights[0], float(linear.intercept[0])
    assert sum(reason["share"] for reason in reasons) + intercept == pytest.approx(expected[0])
    assert {int(reason["feature"]): reason["share"] for reason in reasons} == pytest.approx(
        {at: weights[at] * value for at, value in enumerate(Z[0])}
    )
    with pytest.raises(HTTPError, match="a number"):
        ask(service, row=Z[0].tolist(), scores=True)


def test_a_model_of_several_labels_answers_with_all_that_hold(tmp_path: Path) -> None:
    model, service, _ = served(rb.Perceptron(), SEVERAL, tmp_path)
    expected = [[at for at, holds in enumerate(row) if holds] for row in model.predict(Z).tolist()]
    answers = ask(service, rows=Z.tolist(), scores=True, top=1)["predictions"]
    assert [answer["label"] for answer in answers] == expected
    assert [list(answer["scores"].values()) for answer in answers] == model.decision_function(Z).tolist()
    with pytest.raises(HTTPError, match="contributions"):
        ask(service, row=Z[0].tolist(), contributions=2)


@pytest.mark.parametrize(("learner", "y"), [
    *(CLASSIFIERS[name] for name in ("kernel", "calibrated", "auto", "vote")),
    (rb.PassiveAggressiveRegression(), NUMBERS),
    (rb.Perceptron(), SEVERAL),
])  # fmt: skip
def test_a_model_that_cannot_learn_is_an_error(tmp_path: Path, learner: Any, y: Any) -> None:
    _, _, path = served(learner, y, tmp_path)
    with pytest.raises((ModelError, ParameterError)):
        model_record(str(path))


def test_answers_never_have_more_scores_than_the_limit(tmp_path: Path) -> None:
    _, _, path = served(rb.Perceptron(), THREE, tmp_path)
    service = FixedModel(str(path), ServiceLimits(cells=60)).predictor
    assert len(ask(service, rows=[{}] * 20)["predictions"]) == 20
    with pytest.raises(HTTPError, match="60 scores"):
        ask(service, rows=[{}] * 21)
