"""Isotonic curves: those of scikit-learn, which takes longer to load than small data to learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from rosenblatt.select.calibration import isotonic_thresholds

WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0])


@given(
    rows=st.lists(st.tuples(st.floats(-1e6, 1e6), st.booleans(), WEIGHTS), min_size=1, max_size=60).filter(
        lambda rows: any(weight for *_, weight in rows)
    ),
    digits=st.sampled_from([0, 1, 17]),
)
def test_steps_as_scikit_learn_finds_them(rows: list[tuple[float, bool, float]], digits: int) -> None:
    scores, seen, weights = (np.array(each, float) for each in zip(*rows, strict=True))
    scores = np.round(scores, digits)
    expected = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, seen, weights)
    at, levels = isotonic_thresholds(scores, seen > 0, weights)
    np.testing.assert_allclose(np.interp(scores, at, levels), expected.predict(scores), atol=1e-12)


@pytest.mark.parametrize("rows", [10, 3000])
def test_without_weights(rows: int) -> None:
    rng = np.random.default_rng(rows)
    scores = rng.normal(size=rows)
    seen = (rng.random(rows) < 1 / (1 + np.exp(-2 * scores))).astype(float)
    expected = IsotonicRegression(y_min=0.0, y_max=1.0).fit(scores, seen)
    at, levels = isotonic_thresholds(scores, seen > 0)
    np.testing.assert_array_equal(at, expected.X_thresholds_)
    np.testing.assert_allclose(levels, expected.y_thresholds_, atol=1e-12)
