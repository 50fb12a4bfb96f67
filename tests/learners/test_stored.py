"""Rows that lie in another type than they are learned in give the bits of rows that were converted first."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import rosenblatt
from few_epochs import FEW_EPOCHS
from rosenblatt import (
    AutoPerceptron,
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
)
from rosenblatt.data import table as tables
from rosenblatt.data.table import as_table, precision_of

ml_dtypes = pytest.importorskip("ml_dtypes")
IN_FLOAT32 = ["bool", "int8", "uint8", "float16", ml_dtypes.bfloat16]
IN_FLOAT64 = ["int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.fixture(autouse=True)
def nothing_is_copied(monkeypatch):
    """Small tables too are read where they lie."""
    monkeypatch.setattr(tables, "COPIED", -1)


def rows_of(dtype, *, rows=70, features=37, seed=0):
    rng = np.random.default_rng(seed)
    low = 0 if np.dtype(dtype).kind in "bu" else -3
    return rng.integers(low, 2 if dtype == "bool" else 4, (rows, features)).astype(dtype)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("make", FEW_EPOCHS)
def test_every_learner_has_the_bits_of_floats(make, classes):
    rng = np.random.default_rng(classes)
    y, weights = rng.integers(0, classes, 70), rng.random(70)
    for dtype in ("uint8", "float16", "int32"):
        X = rows_of(dtype)
        floats = X.astype(precision_of(X.dtype))
        assert not np.shares_memory(X, floats)
        ours, theirs = make().fit(X, y, sample_weight=weights), make().fit(floats, y, sample_weight=weights)
        assert_array_equal(ours.decision_function(X), theirs.decision_function(floats))
        assert ours.history_.mistakes == theirs.history_.mistakes
        if hasattr(theirs, "coef_"):
            assert_array_equal(ours.coef_, theirs.coef_)
            assert ours.coef_.dtype == theirs.coef_.dtype


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [*IN_FLOAT32, *IN_FLOAT64])
def test_every_type_is_read_where_it_lies(dtype):
    X, y = rows_of(dtype), np.random.default_rng(1).integers(0, 2, 70)
    table = as_table(X)
    assert np.shares_memory(table.values, X)
    assert table.dtype == (np.float32 if dtype in IN_FLOAT32 else np.float64)
    floats = X.astype(table.dtype)
    ours, theirs = Perceptron(max_iter=4).fit(X, y), Perceptron(max_iter=4).fit(floats, y)
    assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.score(X, y) == theirs.score(floats, y)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**16 - 1), st.integers(1, 5))
def test_halves_are_widened_as_numpy_widens_them(first, features):
    bits = (first + np.arange(70 * features, dtype=np.uint32)).astype(np.uint16).reshape(70, features)
    for X in (bits.view(np.float16), bits.view(ml_dtypes.bfloat16)):
        wide = X.astype(np.float32)
        X = X[(np.abs(wide) <= 1e15).all(axis=1)]
        if len(X):
            learner = Perceptron().partial_fit(np.ones((2, features), np.float32), [0, 1])
            assert_array_equal(learner.decision_function(X), learner.decision_function(X.astype(np.float32)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float16", ml_dtypes.bfloat16])
def test_what_is_no_number_is_refused_with_its_place(dtype, value):
    X = np.ones((40, 3), dtype)
    X[7, 2] = value
    with pytest.raises(rosenblatt.errors.DataError, match="row 7, column 2"):
        as_table(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_that_lie_apart_and_backwards_and_not_in_c_order():
    whole, y = rows_of("uint8", rows=140, features=74), np.arange(70) % 2
    for X in (whole[::2, :37], whole[::-2, :37], whole[:70, ::2], np.asfortranarray(whole[:70])):
        expected = Perceptron(max_iter=3, tol=None).fit(np.ascontiguousarray(X, np.float32), y)
        assert_array_equal(Perceptron(max_iter=3, tol=None).fit(X, y).coef_, expected.coef_)


def test_a_state_in_float64_reads_small_integers_where_they_lie():
    X, y = rows_of("uint8"), np.arange(70) % 2
    first = X[:35].astype(np.float64)
    ours = Perceptron().partial_fit(first, y[:35]).partial_fit(X[35:], y[35:])
    theirs = Perceptron().partial_fit(first, y[:35]).partial_fit(X[35:].astype(np.float64), y[35:])
    assert_array_equal(ours.coef_, theirs.coef_)
    assert ours.coef_.dtype == np.float64


def test_any_cut_gives_the_same_bits_and_so_does_a_saved_model(tmp_path):
    X, y = rows_of("uint8", rows=300), np.arange(300) % 3
    whole = AveragedPerceptron().partial_fit(X, y, classes=[0, 1, 2])
    parts = AveragedPerceptron()
    for begin in range(0, 300, 7):
        parts.partial_fit(X[begin : begin + 7], y[begin : begin + 7], classes=[0, 1, 2])
    assert_array_equal(whole.coef_, parts.coef_)
    rosenblatt.save(whole, tmp_path / "model")
    assert_array_equal(rosenblatt.load(tmp_path / "model").decision_function(X), whole.decision_function(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_windows_of_strips_and_threads_change_nothing():
    X, y = rows_of("uint8", rows=20_000, features=70), np.arange(20_000) % 2
    floats = X.astype(np.float32)
    ours, theirs = Perceptron(max_iter=2, tol=None), Perceptron(max_iter=2, tol=None)
    ours.fit(X, y)
    theirs.fit(floats, y)
    assert_array_equal(ours.coef_, theirs.coef_)
    assert_array_equal(ours.decision_function(X), theirs.decision_function(floats))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["rbf", "linear", lambda A, B: A @ B.T])
def test_kernels_choice_and_a_plane(kernel):
    X, y = rows_of("uint8"), np.arange(70) % 2
    floats = X.astype(np.float32)
    ours = KernelPerceptron(kernel=kernel, gamma=0.1, max_iter=3).fit(X, y)
    theirs = KernelPerceptron(kernel=kernel, gamma=0.1, max_iter=3).fit(floats, y)
    assert_array_equal(ours.decision_function(X), theirs.decision_function(floats))
    assert_array_equal(AutoPerceptron().fit(X, y).predict(X), AutoPerceptron().fit(floats, y).predict(floats))
    plane, same = (rosenblatt.theory.separate(rows, y, max_updates=200) for rows in (X, floats))
    assert_array_equal(plane.w, same.w)


def test_pixels_are_learned_from_without_a_copy():
    X, y = rows_of("uint8", rows=4000, features=500), np.arange(4000) % 2
    learner = Perceptron()
    learner.partial_fit(X[:10], y[:10])
    tracemalloc.start()
    learner.partial_fit(X, y)
    learner.predict(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < X.nbytes / 4
