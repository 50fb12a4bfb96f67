"""Every kind of model, served: it answers as the loaded model does, to the bit."""

from __future__ import annotations

import asyncio
import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
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
from rosenblatt.service.bodies import ARROW, JSON
from rosenblatt.service.limits import Limits
from rosenblatt.service.opening import check_bounded, wanted_from
from rosenblatt.service.refusals import Refused
from rosenblatt.service.service import Service
from rosenblatt.service.serving import form_of

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


def served(learner: Any, y: Any, folder: Path, values: Any = X) -> tuple[Any, Service, Path]:
    """The loaded model, and a service that answers by it."""
    path = folder / "some.model"
    rosenblatt.save(learner.fit(values, y), path)
    model = load(path)
    return model, Service(form_of(model, Limits()), Limits(), model=model), path


def awaited(coroutine: Any) -> bytes:
    """What it returns, in a thread of its own: a browser of other tests may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def ask(service: Service, **asked: Any) -> Any:
    body = json.dumps(asked).encode()
    return json.loads(awaited(service.predict(body, JSON, b"")))


def ask_arrow(service: Service, values: Any) -> pa.Table:
    sink = io.BytesIO()
    table = pa.table({str(at): values[:, at] for at in range(values.shape[1])})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found = awaited(service.predict(sink.getvalue(), ARROW, b"", packed=True))
    return pa.ipc.open_stream(found).read_all()


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_answers_are_those_of_the_loaded_model_to_the_bit(tmp_path: Path, name: str, dtype: Any) -> None:
    model, service, _ = served(*CLASSIFIERS[name], tmp_path, X.astype(dtype))
    labels, scores = model.predict(Z).tolist(), model.decision_function(Z)
    expected = (np.column_stack([-scores, scores]) if scores.ndim == 1 else scores).tolist()
    together = ask(service, rows=Z.tolist(), scores=True)["answers"]
    apart = [ask(service, row=row, scores=True)["answer"] for row in Z.tolist()]
    for answers in (together, apart):
        assert [answer["label"] for answer in answers] == labels
        assert [list(answer["scores"].values()) for answer in answers] == expected
    assert ask_arrow(service, Z).column("label").to_pylist() == labels
    if model.calibrator is not None:
        found = ask(service, rows=Z.tolist(), probabilities=True)["answers"]
        assert [list(answer["probabilities"].values()) for answer in found] == model.predict_proba(Z).tolist()


def test_features_by_name_are_those_of_the_loaded_model_to_the_bit(tmp_path: Path) -> None:
    learner = AveragedPerceptron()
    rows = [{f"w{at}": float(v) for at, v in enumerate(row) if v > -0.5} for row in X]
    for row, label in zip(rows, THREE.tolist(), strict=True):
        learner.learn_one(row, label)
    rosenblatt.save(learner, tmp_path / "named.model")
    model = load(tmp_path / "named.model")
    service = Service(form_of(model, Limits()), Limits(), model=model)
    found = ask(service, rows=rows, scores=True)["answers"]
    for row, answer in zip(rows, found, strict=True):
        assert answer["label"] == model.predict_one(row)
        assert list(answer["scores"].values()) == model._scores_one(row)[0].tolist()
        assert ask(service, row={**row, "never seen": 3.0}, scores=True)["answer"] == answer


def test_a_regression_answers_with_its_number(tmp_path: Path) -> None:
    model, service, path = served(PassiveAggressiveRegression(), NUMBERS, tmp_path)
    expected = model.predict(Z).tolist()
    assert [answer["label"] for answer in ask(service, rows=Z.tolist())["answers"]] == expected
    assert [ask(service, row=row)["answer"]["label"] for row in Z.tolist()] == expected
    assert ask_arrow(service, Z).column("label").to_pylist() == expected
    reasons = ask(service, row=Z[0].tolist(), because=5)["answer"]["because"]
    weights, intercept = model.linear().weights[0], float(model.linear().intercept[0])
    assert sum(reason["share"] for reason in reasons) + intercept == pytest.approx(expected[0])
    assert {int(reason["feature"]): reason["share"] for reason in reasons} == pytest.approx(
        {at: weights[at] * value for at, value in enumerate(Z[0])}
    )
    with pytest.raises(Refused, match="predicts a number"):
        ask(service, row=Z[0].tolist(), scores=True)
    with pytest.raises(ModelError, match="predicts numbers instead of labels"):
        wanted_from(str(path))


def test_a_model_of_several_labels_answers_with_all_that_hold(tmp_path: Path) -> None:
    model, service, path = served(Perceptron(), SEVERAL, tmp_path)
    expected = [[at for at, holds in enumerate(row) if holds] for row in model.predict(Z).tolist()]
    answers = ask(service, rows=Z.tolist(), scores=True, top=1)["answers"]
    assert [answer["label"] for answer in answers] == expected
    assert [list(answer["scores"].values()) for answer in answers] == model.decision_function(Z).tolist()
    assert ask_arrow(service, Z).column("label").to_pylist() == expected
    with pytest.raises(Refused, match="several labels"):
        ask(service, row=Z[0].tolist(), because=2)
    with pytest.raises(ModelError, match="several labels per row: it can be served without --learn"):
        wanted_from(str(path))


@pytest.mark.parametrize(("name", "why"), [
    ("kernel", "which keeps rows"),
    ("calibrated", "fitted on rows that are held out"),
    ("auto", "prepares its columns"),
])  # fmt: skip
def test_what_cannot_learn_here_says_why(tmp_path: Path, name: str, why: str) -> None:
    _, _, path = served(*CLASSIFIERS[name], tmp_path)
    with pytest.raises(ModelError, match=why):
        wanted_from(str(path))


def test_a_vote_cannot_learn_here(tmp_path: Path) -> None:
    _, _, path = served(VotedPerceptron(), TWO, tmp_path)
    with pytest.raises(ParameterError, match="no bound"):
        check_bounded(wanted_from(str(path)).params)


def test_answers_never_have_more_scores_than_the_limit(tmp_path: Path) -> None:
    model, _, _ = served(Perceptron(), THREE, tmp_path)
    service = Service(form_of(model, Limits(cells=60)), Limits(cells=60), model=model)
    assert len(ask(service, rows=[{}] * 20)["answers"]) == 20
    with pytest.raises(Refused, match="more than 60 scores"):
        ask(service, rows=[{}] * 21)
