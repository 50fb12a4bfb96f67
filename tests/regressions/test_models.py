"""Defects of models, their files, exports and evaluations that use has found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

import rosenblatt
from rosenblatt.data.batch import RowBatch
from rosenblatt.evaluation import compare_models, evaluate, evaluate_batches
from rosenblatt.models.model import model_of
from rosenblatt.report import render_text


def rare(rows: int = 4000) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.01
    X = rng.normal(size=(rows, 2)) + np.outer(y, [1.5, 0.0])
    return X, np.where(y, "yes", "no")


def batch_of(X: Any, y: Any, weights: Any = None) -> RowBatch:
    names = sorted(set(y.tolist()))
    rows, columns = X.shape
    return RowBatch(
        (np.arange(rows + 1) * columns).astype(np.int32),
        np.tile(np.arange(columns, dtype=np.int32), rows),
        np.ascontiguousarray(X).ravel(),
        np.searchsorted(names, y).astype(np.int32),
        [name.encode() for name in names],
        weights,
    )


@pytest.fixture(scope="module")
def weighted() -> Any:
    """A classifier whose balanced decision differs from the likeliest class."""
    X, y = rare()
    return rosenblatt.Calibrated(rosenblatt.AveragedPerceptron(class_weight="balanced", random_state=0)).fit(X, y)


def test_calibration_pairs_a_probability_with_its_class_not_with_the_weighted_decision(weighted: Any) -> None:
    X, y = rare()
    found = evaluate_batches(model_of(weighted), [batch_of(X, y)])
    assert found.reliability is not None
    assert found.reliability.ece < 0.02
    assert found.errors > 200  # the decision favors the rare class


def test_a_rare_class_has_a_baseline_an_average_precision_and_thresholds(weighted: Any) -> None:
    X, y = rare()
    found = evaluate(weighted, X, y)
    expected = metrics.average_precision_score(y == "yes", weighted.decision_function(X))
    assert found.baseline == (y == "no").mean()
    assert found.pr_auc == pytest.approx(expected)
    P = weighted.predict_proba(X)[:, 1]
    for each in found.thresholds:
        named = each.threshold <= P
        assert each.rows == named.sum()
        assert each.recall == pytest.approx(metrics.recall_score(y == "yes", named))
        assert each.precision == pytest.approx(metrics.precision_score(y == "yes", named))
    assert any(each.recall >= 0.9 for each in found.thresholds)
    assert f"{found.baseline:.2%}" in render_text(found)


def test_figures_do_not_depend_on_how_rows_are_cut(weighted: Any) -> None:
    X, y = rare(1000)
    w = np.random.default_rng(1).random(1000)
    model = model_of(weighted)
    whole = evaluate_batches(model, [batch_of(X, y, w)])
    parts = [slice(0, 1), slice(1, 340), slice(340, 341), slice(341, 1000)]
    cut = evaluate_batches(model, [batch_of(X[part], y[part], w[part]) for part in parts])
    assert json.dumps(cut.to_json()) == json.dumps(whole.to_json())


def test_dates_as_classes_are_evaluated_and_written_as_json(tmp_path: Path) -> None:
    y = np.array(["2024-01-01", "2024-02-01"], "M8[ns]")[[0, 0, 1, 1]]
    found = evaluate(rosenblatt.Perceptron().fit([[0.0], [1.0], [5.0], [6.0]], y), [[0.0], [1.0], [5.0], [0.5]], y)
    read = json.loads(json.dumps(found.to_json()))
    assert [label[:10] for label in read["classes"]] == ["2024-01-01", "2024-02-01"]
    assert read["confusions"][0]["true"][:10] == "2024-02-01"


def test_two_models_are_compared_on_the_same_rows() -> None:
    X, y = rare(2000)
    good = model_of(rosenblatt.AveragedPerceptron(random_state=0).fit(X, y))
    rng = np.random.default_rng(2)
    bad = model_of(rosenblatt.AveragedPerceptron(random_state=0).fit(X, rng.permutation(np.tile(["no", "yes"], 1000))))
    found = compare_models(bad, good, [batch_of(X, y)], [batch_of(X[:5], y[:5]), batch_of(X[5:], y[5:])])
    assert found.difference == pytest.approx(np.mean(good.predict(X) == y) - np.mean(bad.predict(X) == y))
    low, high = found.interval
    assert 0 < low < found.difference < high
    same = compare_models(good, good, [batch_of(X, y)], [batch_of(X, y)])
    assert same.interval[0] < 0 < same.interval[1]
