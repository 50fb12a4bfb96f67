"""Figures of an evaluation, against scikit-learn's, with and without weights, and for very many classes."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batches import batch_of
from sklearn import metrics

import rosenblatt
from rosenblatt.evaluation import evaluate, evaluate_batches
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Linear
from rosenblatt.report import render_html, render_text


@pytest.fixture(scope="module")
def noisy() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.where(X[:, 0] + rng.normal(size=900) > 0.3, "yes", "no")
    return X, y, rng.integers(1, 5, 900).astype(float)


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
    sure, right = P.max(axis=1), answer == true
    bins = [np.minimum((10 * sure).astype(int), 9) == k for k in range(10)]
    each = np.ones(300) if weights is None else weights
    gaps = [abs(float(np.sum((sure - right)[mine] * each[mine]))) for mine in bins]
    assert found.to_json()["ece"] == found.reliability.ece == pytest.approx(sum(gaps) / each.sum())
    assert found.count == 300
    assert found.weighted is weighted
    assert found.effective == pytest.approx(300 if not weighted else w[600:].sum() ** 2 / (w[600:] ** 2).sum())
    shown = render_text(found)
    assert "AUC" in shown
    assert "log loss" in shown
    assert ("of weight" in shown) is weighted
    page = render_html("<b>", found)
    assert page.count("<circle") == len(found.reliability.count)
    assert "<b>" not in page
    assert not re.search(r"https?://|<script", page)
    json.dumps(found.to_json(), allow_nan=False)


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


def test_a_report_without_probabilities_has_no_diagram() -> None:
    learner = rosenblatt.Perceptron(tol=None).fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    found = evaluate(learner, [[0.0], [3.0], [4.0]], ["no", "yes", "perhaps"])
    assert (found.errors, found.unknown, found.brier) == (1, 1, None)
    page = render_html("steps", found, model_of(learner))
    assert "Probabilities" not in page
    assert "Mistakes per epoch" in page


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
