"""Wrong answers of selection, tuning, calibration and comparison that were found in use."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from rosenblatt import AutoPerceptron, PassiveAggressive
from rosenblatt.select import compare, decision


def incomes_and_cities(seed: int, rows: int = 6000, cities: int = 300) -> tuple[Any, Any]:
    """A standardized log-normal number beside one-hot cities, each of which matters."""
    generator = np.random.default_rng(seed)
    income, city = generator.lognormal(10, 1.5, rows), generator.integers(0, cities, rows)
    score = 2 * np.tanh(income / np.median(income) - 1) + generator.normal(0, 1.2, cities)[city]
    y = (score + generator.logistic(0, 0.6, rows) > 0).astype(int)
    column = sp.csr_array(((income - income.mean()) / income.std())[:, None])
    one_hot = sp.csr_array((np.ones(rows), (np.arange(rows), city)), shape=(rows, cities))
    return sp.hstack([column, one_hot], format="csr"), y


@pytest.mark.parametrize("dense", [False, True])
def test_a_heavy_tailed_column_does_not_rescale_the_others(dense: bool) -> None:
    lost = []
    for seed in range(2):
        X, y = incomes_and_cities(seed)
        rows = X.toarray() if dense else X
        others = PassiveAggressive(C=0.1, keep="average"), LogisticRegression()
        best = max(each.fit(X[:4000], y[:4000]).score(X[4000:], y[4000:]) for each in others)
        lost.append(best - AutoPerceptron().fit(rows[:4000], y[:4000]).score(rows[4000:], y[4000:]))
    assert np.mean(lost) < 0.01


def test_compare_gives_others_columns_of_their_own_size() -> None:
    X, y = incomes_and_cities(0)
    found = compare(X, y, classifiers={"logistic": LogisticRegression()}, folds=3).measured[0]
    alone = LogisticRegression().fit(X[:4000], y[:4000]).score(X[4000:], y[4000:])
    assert found.accuracy > alone - 0.02


def test_products_and_columns_are_compared_on_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision, "MOST_VALUES", 1 << 22)  # products are learned from a sample of the rows
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20_000, 60))
    y = X @ generator.normal(size=60) + 4 * sum(X[:, k] * X[:, k + 1] for k in range(0, 8, 2)) > 0
    chosen = [AutoPerceptron(random_state=seed).fit(X, y) for seed in range(5)]
    assert all(each.products_ is not None for each in chosen)
    for each in chosen:
        with_products, without = re.findall(r"([0-9.]+) %", each.choice_)
        assert float(with_products) > float(without)
