"""Products of columns: made exactly, taken where they clearly help, and part of the model from then on."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_circles

from rosenblatt import AutoPerceptron, engine
from rosenblatt.data import as_table
from rosenblatt.errors import DataError
from rosenblatt.learners.fit import run_both
from rosenblatt.models.predictors import FARTHEST_VALUE, Products, count_terms
from rosenblatt.select import search
from rosenblatt.select.scaling import standardize


def products_of(table: Any) -> Products:
    scaling = standardize(table)
    return Products(np.arange(table.features), scaling.center, scaling.scale)


def by_hand(row: list[float], products: Products) -> list[float]:
    d = len(row)
    z = [(x - c) / s for x, c, s in zip(row, products.center, products.scale, strict=True)]
    z = [max(-FARTHEST_VALUE, min(FARTHEST_VALUE, value)) for value in z]
    return [*z, *((z[j] * z[k] - (j == k)) / d**0.5 for j in range(d) for k in range(j, d))]


@given(
    st.integers(1, 9).flatmap(
        lambda d: st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=d, max_size=d), min_size=1, max_size=6)
    )
)
def test_terms_are_the_columns_and_their_products(rows: list[list[float]]) -> None:
    table = as_table(rows)
    products = products_of(table)
    expected = np.array([by_hand(row, products) for row in rows])
    found = products.apply(table).values
    assert found.dtype == np.float32
    assert found.shape == (len(rows), count_terms(len(rows[0])))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    for dtype in (np.int32, np.int64):
        matrix = sp.csr_array(np.array(rows))
        matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
        np.testing.assert_array_equal(products.apply(as_table(matrix)).values, found)
    some = np.array([len(rows) - 1, 0], np.uint32)
    np.testing.assert_array_equal(products.apply(table, some).values, found[some])


def test_some_columns_of_many() -> None:
    X = np.random.default_rng(0).normal(size=(7, 9)) * (np.arange(63).reshape(7, 9) % 4 > 0)
    columns = np.array([1, 4, 8])
    whole = products_of(as_table(X[:, columns]))
    some = Products(columns, whole.center, whole.scale)
    expected = whole.apply(as_table(X[:, columns])).values
    np.testing.assert_array_equal(some.apply(as_table(X)).values, expected)
    np.testing.assert_array_equal(some.apply(as_table(sp.csr_array(X))).values, expected)
    for wrong in ([1, 4, 9], [4, 1, 8], [-1, 1, 2], [1, 1, 2]):
        with pytest.raises(ValueError, match="columns: must rise, and be columns of the rows"):
            Products(np.array(wrong), whole.center, whole.scale).apply(as_table(X))


def test_sparse_columns_are_standardized_with_their_zeros() -> None:
    X = np.where(np.random.default_rng(0).random((60, 5)) < 0.5, 0.0, 3.0) * np.arange(5)
    dense, sparse = standardize(as_table(X)), standardize(as_table(sp.csr_array(X)))
    np.testing.assert_allclose(sparse.center, dense.center, rtol=1e-12)
    np.testing.assert_allclose(sparse.scale, dense.scale, rtol=1e-12)


def test_the_names_are_in_the_order_of_the_terms() -> None:
    assert Products.names(["a", "b", "c"]) == ["a", "b", "c", "a²", "a·b", "a·c", "b²", "b·c", "c²"]


def test_too_many_columns_are_not_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    for limit in ("MOST_TERMS", "MOST_WEIGHTS"):
        with monkeypatch.context() as patch:
            patch.setattr(search, limit, 4)
            assert AutoPerceptron().fit(X, y).products_ is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_more_rows_than_fit_are_decided_by_some_and_learned_part_by_part(
    monkeypatch: pytest.MonkeyPatch, classes: int, weighted: bool, sparse: bool
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.digitize(np.sum(X**2, axis=1) + 0.1 * rng.normal(size=3000), [2.0, 4.0][: classes - 1])
    weights = rng.choice([0.0, 0.5, 2.0], 3000) if weighted else None
    monkeypatch.setattr(search, "MOST_VALUES", 9 * 800)
    monkeypatch.setattr("rosenblatt.models.predictors.TERMS_AT_ONCE", 1000)
    rows = sp.csr_array(X) if sparse else X
    auto = AutoPerceptron().fit(rows, y, weights)
    assert np.mean(auto.predict(rows) == y) > 0.95
    held = int(auto.choice_.split(" held-out")[0].split(" of ")[-1])
    assert 100 < held < 250
    terms = auto.products_.apply(as_table(X)).values
    alone = type(auto.best_)(**auto.best_.get_params()).fit(terms, y, sample_weight=weights)
    np.testing.assert_array_equal(alone.coef_, auto.best_.coef_)
    np.testing.assert_array_equal(alone.intercept_, auto.best_.intercept_)
    assert alone.history_.mistakes == auto.best_.history_.mistakes


def test_few_rows_that_count_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_circles(2000, noise=0.05, factor=0.5, random_state=0)
    monkeypatch.setattr(search, "MOST_VALUES", 5 * 800)
    auto = AutoPerceptron().fit(X, y, np.arange(2000) % 10 == 0)  # few enough for several folds
    assert np.mean(auto.predict(X) == y) > 0.97


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_separable_rows_that_do_not_fit_end_as_the_learner_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 2))
    X = X[np.abs(X[:, 0] * X[:, 1]) > 0.3]
    y = X[:, 0] * X[:, 1] > 0
    monkeypatch.setattr(search, "MOST_VALUES", 5 * 800)
    auto = AutoPerceptron().fit(X, y)
    assert auto.products_ is not None
    terms = auto.products_.apply(as_table(X)).values
    alone = type(auto.best_)(**auto.best_.get_params()).fit(terms, y)
    np.testing.assert_array_equal(alone.coef_, auto.best_.coef_)
    assert (alone.n_iter_, alone.stop_reason_) == (auto.n_iter_, auto.stop_reason_)


def test_a_ring_is_learned_by_its_products() -> None:
    X, y = make_circles(600, noise=0.08, factor=0.5, random_state=0)
    auto = AutoPerceptron().fit(X[:400], y[:400])
    assert np.mean(auto.predict(X[400:]) == y[400:]) > 0.97
    assert "columns standardized, and their products" in auto.choice_
    assert "without products" in auto.choice_
    assert auto.products_.names(["x", "y"])[np.argmax(np.abs(auto.best_.coef_))] in ("x²", "y²")
    assert sum(name.endswith(", products") for name in auto.scores_) == 1
    plain = AutoPerceptron(products=False).fit(X[:400], y[:400])
    assert np.mean(plain.predict(X[400:]) == y[400:]) < 0.7
    assert plain.products_ is None
    assert plain.coef_.shape == (1, 2)


def test_xor_is_learned_by_its_product() -> None:
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, float), [0, 1, 1, 0] * 5
    assert AutoPerceptron().fit(X, y).predict(X).tolist() == y


def test_a_plane_stays_a_plane() -> None:
    rng = np.random.default_rng(0)
    taken = 0
    for _ in range(20):
        X = rng.normal(size=(500, 6))
        y = X @ rng.normal(size=6) + rng.normal(size=500) > 0
        taken += AutoPerceptron().fit(X, y).products_ is not None
    assert taken <= 2


def test_weights_of_products_are_not_called_weights_of_columns() -> None:
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    auto = AutoPerceptron().fit(X, y)
    assert not hasattr(auto, "coef_")
    with pytest.raises(AttributeError, match=r"intercept_ is for answers without products of columns: see best_"):
        _ = auto.intercept_
    assert auto.best_.coef_.shape == (1, 5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sparse", [False, True])
def test_the_choice_can_be_repeated_by_hand(sparse: bool) -> None:
    X, y = make_circles(300, noise=0.1, factor=0.5, random_state=1)
    rows = sp.csr_array(X) if sparse else X
    auto = AutoPerceptron().fit(rows, y)
    terms = auto.products_.apply(as_table(X)).values
    again = type(auto.best_)(**auto.best_.get_params()).fit(terms, y)
    np.testing.assert_array_equal(again.coef_, auto.best_.coef_)
    np.testing.assert_array_equal(again.decision_function(terms), auto.decision_function(rows))


def test_it_goes_on_with_more_rows_and_a_new_class() -> None:
    X, y = make_circles(900, noise=0.05, factor=0.5, random_state=2)
    auto = AutoPerceptron().fit(X[:300], y[:300])
    auto.partial_fit(X[300:600], y[300:600])
    assert np.mean(auto.predict(X[600:]) == y[600:]) > 0.97
    auto.partial_fit(np.vstack([X[600:], [[4.0, 4.0]]]), np.append(y[600:], 2))
    assert auto.classes_.tolist() == [0, 1, 2]
    assert np.mean(auto.predict(X) == y) > 0.97
    assert auto.predict_proba(X[:3]).shape == (3, 3)


def test_many_more_rows_are_learned_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_circles(600, noise=0.05, factor=0.5, random_state=2)
    weights = np.where(np.arange(300) < 100, 0.0, 1.5)
    at_once, in_parts = (AutoPerceptron().fit(X[:300], y[:300]) for _ in range(2))
    at_once.partial_fit(X[300:], y[300:], sample_weight=weights)
    monkeypatch.setattr("rosenblatt.models.predictors.TERMS_AT_ONCE", 35)
    in_parts.partial_fit(X[300:], y[300:].tolist(), sample_weight=weights)
    np.testing.assert_array_equal(at_once.best_.coef_, in_parts.best_.coef_)
    np.testing.assert_array_equal(at_once.predict_proba(X), in_parts.predict_proba(X))
    before = in_parts.best_.coef_.copy()
    weights[-1] = -1.0
    with pytest.raises(DataError, match="sample_weight has -1 in row 299"):
        in_parts.partial_fit(X[300:], y[300:], sample_weight=weights)
    with pytest.raises(DataError, match="inconsistent numbers of samples"):
        in_parts.partial_fit(X[300:], y[301:])
    np.testing.assert_array_equal(in_parts.best_.coef_, before)


def test_a_row_far_away_has_an_answer() -> None:
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    auto = AutoPerceptron().fit(X, y)
    assert np.isfinite(auto.decision_function([[1e99, -1e99], [1e-300, 0.0]])).all()


def test_many_rows_are_answered_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    auto = AutoPerceptron().fit(X, y)
    at_once = auto.decision_function(X)
    monkeypatch.setattr("rosenblatt.models.predictors.TERMS_AT_ONCE", 35)
    np.testing.assert_array_equal(auto.decision_function(X), at_once)
    np.testing.assert_array_equal(auto.decision_function(X[:1]), at_once[:1])


BITS = """
import numpy as np
from rosenblatt import AutoPerceptron
X = np.random.default_rng(0).normal(size=(5000, 21))
y = (X[:, 0] * X[:, 1] + X[:, 2] ** 2 > 1).astype(int)
for dtype in (np.float32, np.float64):
    auto = AutoPerceptron(n_jobs={jobs}).fit(X.astype(dtype), y)
    print(auto.choice_, auto.best_.coef_.tobytes().hex(), auto.predict_proba(X[:50]).tobytes().hex())
"""


@pytest.mark.slow
def test_every_instruction_set_and_number_of_threads_gives_the_same_bits() -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", BITS.format(jobs=jobs)],
            env={**os.environ, "ROSENBLATT_ISA": isa},
            capture_output=True,
            check=True,
        ).stdout
        for isa, jobs in (("baseline", 1), (engine.ISA, 1), (engine.ISA, 4))
    ]
    assert b"and their products" in told[0]
    assert told[0] == told[1] == told[2]


def test_what_fails_beside_fails() -> None:
    def fail() -> Any:
        raise ValueError("beside")

    assert run_both(lambda: 1, lambda: "a") == (1, "a")
    with pytest.raises(ValueError, match="beside"):
        run_both(lambda: 1, fail)
    with pytest.raises(ValueError, match="beside"):
        run_both(fail, lambda: 1)
