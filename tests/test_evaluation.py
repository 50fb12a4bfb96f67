"""Figures of an evaluation, against scikit-learn's, with and without weights, and for very many classes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import rosenblatt
from rosenblatt.data.batch import RowBatch
from rosenblatt.evaluation import evaluate_batches
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Linear
from rosenblatt.report import render_html, render_text


def batch_of(X: Any, labels: Any, weights: Any = None) -> RowBatch:
    names = sorted({str(label) for label in labels})
    place = {name: code for code, name in enumerate(names)}
    rows, columns = X.shape
    return RowBatch(
        (np.arange(rows + 1) * columns).astype(np.int32),
        np.tile(np.arange(columns, dtype=np.int32), rows),
        np.ascontiguousarray(X, np.float64).ravel(),
        np.array([place[str(label)] for label in labels], np.int32),
        [name.encode() for name in names],
        weights,
    )


@pytest.fixture(scope="module")
def noisy() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.where(X[:, 0] + rng.normal(size=900) > 0.3, "yes", "no")
    return X, y, rng.integers(1, 5, 900).astype(float)


def test_batches_are_cut_so_that_scores_of_many_classes_fit_into_memory(
    noisy: tuple[Any, Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, w = noisy
    model, whole = model_of(rosenblatt.Perceptron().fit(X, y)), batch_of(X, y, w)
    whole = replace(whole, blank=(0, 7, 7, 900), passthrough={"id": list(range(900))})
    assert [part is whole for part in whole.split(2)] == [True]
    found = evaluate_batches(model, [whole]).to_json()
    monkeypatch.setattr("rosenblatt.data.batch.MOST_NUMBERS", 15)
    parts = list(whole.split(2))
    assert [len(part) for part in parts] == [7] * 128 + [4]
    assert {k: part.blank for k, part in enumerate(parts) if part.blank} == {0: (0,), 1: (0, 0), 128: (4,)}
    assert [cell for part in parts for cell in (part.passthrough or {})["id"]] == list(range(900))
    assert evaluate_batches(model, [whole]).to_json() == found


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_as_scikit_learn_counts_them(noisy: tuple[Any, Any, Any], weighted: bool) -> None:
    X, y, w = noisy
    auto = rosenblatt.AutoPerceptron().fit(X[:600], y[:600])
    weights = w[600:] if weighted else None
    halves = [slice(600, 700), slice(700, 900)]
    batches = [batch_of(X[part], y[part], w[part] if weighted else None) for part in halves]
    found = evaluate_batches(model_of(auto), batches)
    true, answer, P = y[600:], auto.predict(X[600:]), auto.predict_proba(X[600:])
    scores, positive = auto.decision_function(X[600:]), y[600:] == "yes"
    assert found.accuracy == pytest.approx(metrics.accuracy_score(true, answer, sample_weight=weights))
    assert found.macro_f1 == pytest.approx(metrics.f1_score(true, answer, average="macro", sample_weight=weights))
    assert found.auc == pytest.approx(metrics.roc_auc_score(positive, scores, sample_weight=weights))
    assert found.log_loss == pytest.approx(metrics.log_loss(positive, P[:, 1], sample_weight=weights))
    assert found.brier == pytest.approx(metrics.brier_score_loss(positive, P[:, 1], sample_weight=weights))
    assert found.confusion is not None
    np.testing.assert_allclose(found.confusion, metrics.confusion_matrix(true, answer, sample_weight=weights))
    assert found.reliability is not None
    assert 0 <= found.reliability.ece < 0.2
    assert found.count == 300
    assert found.weighted is weighted
    assert found.effective == pytest.approx(300 if not weighted else w[600:].sum() ** 2 / (w[600:] ** 2).sum())
    shown = render_text(found)
    assert "AUC" in shown
    assert "log loss" in shown
    assert ("of weight" in shown) is weighted
    assert "<script" not in render_html("x", found)
    json.dumps(found.to_json(), allow_nan=False)


def test_three_classes(noisy: tuple[Any, Any, Any]) -> None:
    X, _, w = noisy
    y = np.array(["low", "middle", "high"])[np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])]
    learner = rosenblatt.Calibrated(rosenblatt.AveragedPerceptron()).fit(X, y)
    model = Model("x", {}, learner.classes_, tuple(learner.learner_.predictors()), 3, calibrator=None)
    found = evaluate_batches(model, [batch_of(X, y, w)])
    assert found.auc is None
    assert found.brier is None
    assert found.macro_f1 == pytest.approx(metrics.f1_score(y, learner.predict(X), average="macro", sample_weight=w))


def test_labels_that_the_model_does_not_know_are_shown(noisy: tuple[Any, Any, Any]) -> None:
    X, y, _ = noisy
    model = model_of(rosenblatt.AveragedPerceptron().fit(X, y))
    other = np.where(y == "yes", "ja", "nein")
    found = evaluate_batches(model, [batch_of(X, other)])
    assert found.accuracy == 0
    assert found.unknown_labels == {"nein": int((y == "no").sum()), "ja": int((y == "yes").sum())}
    shown = render_text(found)
    assert "900 rows have a label that the model does not know ('nein', 'ja')" in shown
    assert "It knows 'no', 'yes'." in shown
    assert shown.startswith("None of 900 rows has a label that the model knows, so none is right.\n")
    assert len(shown.splitlines()) == 2  # and no table of zeros
    assert found.to_json()["unknown_labels"]["ja"] == (y == "yes").sum()


def test_very_many_classes_take_no_square_of_memory(tmp_path: Path) -> None:
    K = 20_000
    rng = np.random.default_rng(0)
    weights = np.zeros((K, 4))
    weights[:, 0] = rng.normal(size=K)
    model = Model("x", {}, np.array([f"c{k:05}" for k in range(K)]), (Linear(weights, np.zeros(K)),), 4)
    labels = [f"c{k:05}" for k in rng.integers(0, K, 50)]
    found = evaluate_batches(model, [batch_of(rng.normal(size=(50, 4)), labels)])
    assert found.confusion is None
    assert sum(n for *_, n in found.pairs) == found.errors
    assert len(json.dumps(found.to_json())) < 4_000_000
    assert "most often confused" in render_text(found)
    assert len(render_text(found).splitlines()) < 130
    assert "too many to draw" in render_html("x", found)


def test_rows_of_weight_0_do_not_count(noisy: tuple[Any, Any, Any]) -> None:
    X, y, _ = noisy
    model = model_of(rosenblatt.AveragedPerceptron().fit(X, y))
    w = np.zeros(900)
    w[:100] = 1
    some, all_of = evaluate_batches(model, [batch_of(X, y, w)]), evaluate_batches(model, [batch_of(X[:100], y[:100])])
    assert some.to_json() == all_of.to_json()
