"""Reports: counts by hand, and probabilities where a classifier has them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import brier_score_loss, confusion_matrix

from rosenblatt import AutoPerceptron, Perceptron
from rosenblatt.models.model import model_of
from rosenblatt.report import evaluate, render_html
from rosenblatt.select.scoring import reliability


def test_a_report_of_a_classifier_with_probabilities() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["<malign>", "benign"])[y]
    auto = AutoPerceptron().fit(X[:400], names[:400])
    found = evaluate(auto, X[400:], names[400:])
    np.testing.assert_array_equal(found.confusion, confusion_matrix(names[400:], auto.predict(X[400:])))
    P = auto.predict_proba(X[400:])
    assert found.brier == pytest.approx(brier_score_loss(y[400:], P[:, 1]))
    assert found.reliability is not None
    assert found.reliability.ece == pytest.approx(reliability(P, y[400:].astype(np.int32)).ece)
    assert found.to_json()["ece"] == found.reliability.ece
    page = render_html("cancer", found)
    assert page.count("<circle") == len(found.reliability.count)
    assert f"error {found.reliability.ece:.4f}, Brier score {found.brier:.4f}" in page
    assert "<malign>" not in page
    assert not re.search(r"https?://|<script", page)


def test_a_report_without_probabilities_has_no_diagram() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    learner = Perceptron(tol=None).fit(X, y)
    found = evaluate(learner, [*X, [4.0]], [*y, "perhaps"])
    assert (found.errors, found.unknown, found.brier) == (1, 1, None)
    page = render_html("steps", found, model_of(learner))
    assert "Probabilities" not in page
    assert "Mistakes per epoch" in page
