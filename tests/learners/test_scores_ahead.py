"""Scores that are taken a few rows ahead are those of the weights as they are when a row's turn comes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, PocketPerceptron

LEARNERS: dict[str, Any] = {
    "perceptron": lambda: Perceptron(),
    "averaged": lambda: AveragedPerceptron(),
    "PA-I": lambda: PassiveAggressive(),
    "AROW": lambda: AROW(),
    "pocket": lambda: PocketPerceptron(),
    "penalized": lambda: Perceptron(penalty="l2", alpha=1e-3),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("features", [5, 130, 803])
@pytest.mark.parametrize("name", LEARNERS)
def test_many_rows_at_once_learn_as_one_by_one(name: str, features: int, dtype: Any) -> None:
    """Rows of more than a kilobyte are scored three at a time: with 803 features, and 130 in float64."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 200, (61, features)).astype(dtype)
    y = rng.integers(0, 7, 61)
    together, alone = LEARNERS[name](), LEARNERS[name]()
    together.partial_fit(X, y, classes=np.arange(7))
    for i in range(len(X)):
        alone.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.arange(7))
    assert together.mistakes_ == alone.mistakes_ > 0
    assert np.array_equal(together.coef_, alone.coef_)
    assert np.array_equal(together.intercept_, alone.intercept_)
    expected = np.vstack([alone.decision_function(X[i : i + 1]) for i in range(len(X))])
    assert np.array_equal(together.decision_function(X), expected)
