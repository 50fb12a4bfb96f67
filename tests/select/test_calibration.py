"""Probabilities: their maps against closed forms, out of sample, and on published data against the bar of 0.03."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, load_svmlight_file
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from rosenblatt import AutoPerceptron, AveragedPerceptron, Calibrated, VotedPerceptron
from rosenblatt.errors import ParameterError
from rosenblatt.select import brier_score, reliability
from rosenblatt.select.calibration import WINDOW, Calibration, HeldOutScores, fit_calibrator, fit_isotonic, fit_sigmoid

# NumPy 2 calls it by another name.
_CORE = getattr(np, "_core", None) or np.core
_DISPATCHED = _CORE._multiarray_umath.__cpu_dispatch__

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@given(st.lists(st.tuples(st.floats(-50, 50), st.booleans()), min_size=2, max_size=60), st.floats(1e-6, 1e6))
def test_a_sigmoid_minimises_the_log_loss_and_ignores_units(pairs: list[tuple[float, bool]], unit: float) -> None:
    scores = np.array([pair[0] for pair in pairs])
    positive = np.array([pair[1] for pair in pairs])
    found = fit_sigmoid(scores, positive)
    assert found.sigmoid is not None
    yes, no = positive.sum(), (~positive).sum()
    target = np.where(positive, (yes + 1) / (yes + 2), 1 / (no + 2))
    slack = found(scores) - target
    assert abs(slack.sum()) < 1e-3  # the gradient is 0 at the minimum
    by_slope = np.sum(slack * (scores / max(np.abs(scores).max(), 1e-300)))
    if found.sigmoid[0] > 0:
        assert abs(by_slope) < 1e-3
    else:  # scores that point the wrong way: the loss would fall with a negative slope only
        assert found.sigmoid[0] == 0
        assert by_slope > -1e-3
    scaled = fit_sigmoid(scores * unit, positive)
    np.testing.assert_allclose(scaled(scores * unit), found(scores), atol=1e-4)


def test_a_sigmoid_finds_the_numbers_that_made_the_labels() -> None:
    generator = np.random.default_rng(0)
    scores = generator.normal(size=200_000) * 3
    found = fit_sigmoid(scores, generator.random(200_000) < expit(1.5 * scores - 0.5)).sigmoid
    assert found == pytest.approx((1.5, -0.5), abs=0.03)


_CURVE = """
import numpy as np
from rosenblatt.select.calibration import fit_sigmoid
generator = np.random.default_rng(0)
scores = generator.normal(size=5000)
curve = fit_sigmoid(scores, generator.random(5000) < 0.5 + 0.3 * np.tanh(scores))
print([number.hex() for number in curve.sigmoid], curve(scores).tobytes().hex()[:4000])
"""


def test_probabilities_have_the_same_bits_whatever_numpy_makes_of_the_cpu() -> None:
    """NumPy has other code for each kind of CPU; here it does without all that it can do without."""
    found = [
        subprocess.run(
            [sys.executable, "-c", _CURVE], env={**os.environ, **more}, capture_output=True, text=True, check=True
        ).stdout
        for more in ({}, {"NPY_DISABLE_CPU_FEATURES": " ".join(_DISPATCHED)})
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("fit", [fit_sigmoid, fit_isotonic])
def test_a_weight_of_two_is_a_row_that_comes_twice(fit: Any) -> None:
    """But for Platt's smoothing, which counts the effective number of rows; the unit of weights changes nothing."""
    generator = np.random.default_rng(5)
    scores = generator.normal(size=4000)
    positive = generator.random(4000) < expit(scores)
    weights = np.where(generator.random(4000) < 0.3, 2.0, 1.0)
    twice = np.repeat(np.arange(4000), weights.astype(int))
    at = np.linspace(-2, 2, 50)
    found = fit(scores, positive, weights)(at)
    np.testing.assert_allclose(found, fit(scores[twice], positive[twice])(at), atol=1e-3)
    np.testing.assert_allclose(fit(scores, positive, 1e6 * weights)(at), found, atol=1e-9)
    np.testing.assert_allclose(fit(scores, positive, np.full(4000, 3.0))(at), fit(scores, positive)(at), atol=1e-9)


def test_a_window_is_filled_from_all_over_the_rows() -> None:
    codes = np.repeat([0, 1, 2], [15_000, 9_000, 6_000]).astype(np.int32)
    scores = np.arange(30_000.0)[:, None].repeat(3, axis=1)
    sorted_rows = Calibration("sigmoid", HeldOutScores(scores, codes, None), 3).scores
    assert np.bincount(sorted_rows.codes).tolist() == [5000, 3000, 2000]
    assert (np.diff(sorted_rows.scores[:, 0]) > 0).all()  # in their order, so that the oldest can leave
    in_turn = Calibration("sigmoid", HeldOutScores(scores, np.tile([0, 1, 2], 10_000).astype(np.int32), None), 3).scores
    assert np.bincount(in_turn.codes).tolist() == [3334, 3333, 3333]


def test_the_oldest_rows_of_a_window_leave() -> None:
    def judged(begin: int, end: int, weights: Any = None) -> HeldOutScores:
        return HeldOutScores(np.arange(float(begin), end)[:, None], np.zeros(end - begin, np.int32), weights)

    first = Calibration("sigmoid", judged(0, 8000), 2)
    later = first.append(judged(8000, 12_000, np.full(4000, 2.0))).scores
    assert later.scores[[0, -1], 0].tolist() == [2000, 11_999]
    assert later.weights is not None
    assert np.bincount(later.weights.astype(int)).tolist() == [0, 6000, 4000]
    assert len(first.append(judged(8000, 50_000)).scores.codes) == WINDOW


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic", "blend"])
@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_sum_to_one(kind: Any, classes: int) -> None:
    generator = np.random.default_rng(1)
    codes = generator.integers(classes, size=300).astype(np.int32)
    scores = generator.normal(size=(300, 1 if classes == 2 else classes))
    P = fit_calibrator(scores, codes, classes, kind).probabilities(scores)
    assert P.shape == (300, classes)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.parametrize("classes", [2, 3])
def test_auto_is_the_mean_of_both_maps_where_there_are_enough_rows(classes: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2500, 4))
    y = np.argmax(X[:, :classes] + rng.normal(size=(2500, classes)), axis=1)
    auto = AutoPerceptron(products=False).fit(X, y)
    judged = auto._predictor.calibration.scores
    assert len(judged.codes) >= 2000
    rows = rng.normal(size=(40, 1 if classes == 2 else classes))
    both = [fit_calibrator(judged.scores, judged.codes, classes, kind).curves for kind in ("sigmoid", "isotonic")]
    for found, sigmoid, isotonic in zip(auto.calibrator().curves, *both, strict=True):
        np.testing.assert_array_equal(found(rows[:, 0]), (sigmoid(rows[:, 0]) + isotonic(rows[:, 0])) / 2)
    few = AutoPerceptron(products=False).fit(X[:200], y[:200])
    assert all(each.sigmoid is not None and not len(each.scores) for each in few.calibrator().curves)


def test_the_brier_score_is_scikit_learns() -> None:
    generator = np.random.default_rng(2)
    p, codes = generator.random(50), generator.integers(2, size=50).astype(np.int32)
    assert brier_score(np.column_stack([1 - p, p]), codes) == pytest.approx(brier_score_loss(codes, p))


def test_reliability_by_hand() -> None:
    P = np.array([[0.05, 0.95], [0.05, 0.95], [0.35, 0.65], [0.65, 0.35]])
    found = reliability(P, np.array([1, 0, 1, 1], np.int32))
    assert found.count.tolist() == [2, 2]
    np.testing.assert_allclose(found.confidence, [0.65, 0.95])
    np.testing.assert_allclose(found.accuracy, [0.5, 0.5])
    assert found.ece == pytest.approx(0.5 * 0.15 + 0.5 * 0.45)


def test_votes_are_shares() -> None:
    X, y = load_iris(return_X_y=True)
    joint = Calibrated(VotedPerceptron(max_iter=5), calibrate="vote").fit(X, y)
    P = joint.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(P.argmax(axis=1), joint.predict(X))
    two = Calibrated(VotedPerceptron(max_iter=5), calibrate="vote").fit(X, y == 1)
    np.testing.assert_array_equal(two.predict_proba(X)[:, 1] >= 0.5, two.predict(X))  # a tie is the larger class


def test_rows_are_scored_before_they_are_learned() -> None:
    """The window holds the scores of the weights before the batch, not after."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    calibrated = Calibrated(AveragedPerceptron(max_iter=3)).fit(X[:300], y[:300])
    before = calibrated.learner_.decision_function(X[300:])
    calibrated.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(calibrated._predictor.calibration.scores.scores[300:, 0], before)
    assert not np.array_equal(before, calibrated.learner_.decision_function(X[300:]))


def test_a_new_class_gets_a_column() -> None:
    X, y = load_iris(return_X_y=True)
    for made in (Calibrated(AveragedPerceptron(max_iter=5)), AutoPerceptron()):
        made.fit(X[:100], y[:100])
        assert made.predict_proba(X).shape == (150, 2)
        made.partial_fit(X, y)
        assert made.predict_proba(X).shape == (150, 3)


def test_bad_parameters_are_named() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="calibrate='platt': must be 'sigmoid', 'isotonic' or 'vote'"):
        Calibrated(AveragedPerceptron(), calibrate="platt").fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="calibrate='vote' needs a learner with keep='vote'"):
        Calibrated(AveragedPerceptron(), calibrate="vote").fit(X, y)
    with pytest.raises(ParameterError, match="learner: str is not a learner of rosenblatt"):
        Calibrated("perceptron").fit(X, y)
    with pytest.raises(ParameterError, match="calibrate='vote': must be 'auto', 'sigmoid' or 'isotonic'"):
        AutoPerceptron(calibrate="vote").fit(X, y)  # type: ignore[arg-type]


def a9a(folder: Path) -> tuple[Any, Any, Any, Any]:
    parts = []
    for name, opener in (("a9a.xz", lzma.open), ("a9a.t.gz", gzip.open)):
        with opener(folder / "libsvm_a9a" / name) as file:
            parts.append(load_svmlight_file(io.BytesIO(file.read()), n_features=123))
    return parts[0][0], parts[1][0], parts[0][1], parts[1][1]


def spambase(folder: Path) -> tuple[Any, Any, Any, Any]:
    with gzip.open(folder / "uci_spambase" / "spambase.data.gz") as file:
        table = np.loadtxt(file, delimiter=",")
    X, y = table[:, :-1], table[:, -1]
    return tuple(train_test_split(X, y, test_size=0.25, stratify=y, random_state=0))  # type: ignore[return-value]


@pytest.mark.parametrize("load", [a9a, spambase])
def test_calibration_error_below_three_hundredths(load: Any, real_data: Path) -> None:
    """The requirement: ECE below 0.03 on the test part, and still after another third came as a stream."""
    X, X_test, y, y_test = load(real_data)
    two_thirds = 2 * X.shape[0] // 3
    auto = AutoPerceptron().fit(X[:two_thirds], y[:two_thirds])
    codes = (y_test == auto.classes_[1]).astype(np.int32)
    assert reliability(auto.predict_proba(X_test), codes).ece < 0.03
    for begin in range(two_thirds, X.shape[0], 500):
        auto.partial_fit(X[begin : begin + 500], y[begin : begin + 500])
    assert reliability(auto.predict_proba(X_test), codes).ece < 0.03
