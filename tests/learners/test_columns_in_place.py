"""Columns that lie apart, and arrays that are not in C order, give the bits of rows that were copied first."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import rosenblatt
from few_epochs import FEW_EPOCHS
from length import examples
from peaks import PEAK
from rosenblatt import (
    AutoPerceptron,
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.data import table as standing
from rosenblatt.data import table as tables
from rosenblatt.data.table import ColumnSet, as_table, precision_of
from rosenblatt.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEARNERS = [*FEW_EPOCHS, lambda: Perceptron(max_iter=2, tol=None, shuffle="rows", early_stopping=True)]


@pytest.fixture(autouse=True)
def nothing_is_copied(monkeypatch):
    """Small tables and short pieces too are read where they lie."""
    monkeypatch.setattr(tables, "COPIED", -1)
    monkeypatch.setattr(tables, "REORDERED", -1)
    monkeypatch.setattr(tables, "SHARE", -1)
    monkeypatch.setattr(standing, "SHORTEST", 1)


def rows_of(dtype="f8", *, rows=90, features=7, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(scale=20, size=(rows, features))
    return np.abs(values).astype(dtype) if np.dtype(dtype).kind in "bu" else values.astype(dtype)


def by_column(X):
    return {f"c{j}": X[:, j].copy() for j in range(X.shape[1])}


def chunked(X, *sizes):
    """An Arrow table whose columns are cut at different rows."""
    columns = []
    for j in range(X.shape[1]):
        size = sizes[j % len(sizes)]
        columns.append(pa.chunked_array([pa.array(X[k : k + size, j].copy()) for k in range(0, len(X), size)]))
    return pa.table(columns, names=[f"c{j}" for j in range(X.shape[1])])


LAYOUTS = {
    "Fortran order": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "every third row of columns": lambda X: np.asfortranarray(np.repeat(X, 3, axis=0))[::3],
    "Arrow": lambda X: pa.table(by_column(X)),
    "Arrow in chunks": lambda X: chunked(X, 13, 40, 5),
    "Arrow batch": lambda X: pa.record_batch(by_column(X)),
    "Polars": lambda X: polars.DataFrame(by_column(X)),
    "Polars in chunks": lambda X: polars.concat(
        [polars.DataFrame(by_column(p)) for p in (X[:21], X[21:])], rechunk=False
    ),
    "pandas": lambda X: pandas.DataFrame(np.asfortranarray(X), columns=list(by_column(X)), copy=False),
    "pandas in blocks": lambda X: pandas.concat([pandas.Series(v, name=k) for k, v in by_column(X).items()], axis=1),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i2", "u1", "?"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_and_type_has_the_bits_of_a_copy(layout, dtype):
    X, y = rows_of(dtype), np.arange(90) % 2
    if layout.startswith("Polars") and dtype == "f2":
        pytest.skip("Polars turns float16 into float32")
    laid, floats = LAYOUTS[layout](X), X.astype(precision_of(X.dtype))
    table = as_table(laid)
    assert table.dtype == floats.dtype
    assert_array_equal(table.floats, floats)
    assert_array_equal(table.take(slice(3, 50, 4)), floats[3:50:4])
    assert table.take(np.array([5, 2])).flags.c_contiguous
    ours, theirs = Perceptron(max_iter=4, tol=None).fit(laid, y), Perceptron(max_iter=4, tol=None).fit(floats, y)
    assert_array_equal(ours.coef_, theirs.coef_)
    assert_array_equal(ours.predict(laid), theirs.predict(floats))
    assert ours.score(laid, y) == theirs.score(floats, y)
    ours.partial_fit(laid, y)
    theirs.partial_fit(floats, y)
    assert_array_equal(ours.coef_, theirs.coef_)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("make", LEARNERS)
def test_every_learner(make, classes):
    rng = np.random.default_rng(classes)
    X, y, weights = rows_of(), rng.integers(0, classes, 90), rng.integers(0, 3, 90) / 2
    theirs = make().fit(X, y, sample_weight=weights)
    for laid in (np.asfortranarray(X), chunked(X, 13, 40, 5)):
        ours = make().fit(laid, y, sample_weight=weights)
        assert ours.history_.mistakes == theirs.history_.mistakes
        assert_array_equal(ours.decision_function(laid), theirs.decision_function(X))
        if hasattr(theirs, "coef_"):
            assert_array_equal(ours.coef_, theirs.coef_)


@pytest.mark.parametrize("shuffle", [True, False, "rows"])
@pytest.mark.parametrize("rows", [8192, 20_011])
def test_windows_of_strips(rows, shuffle):
    """More rows than a window, the last strip cut; pieces that begin within a strip; rows that do not count."""
    X = rows_of("f4", rows=rows, features=5)
    y, weights = (X.sum(axis=1) > 0).astype(int), np.arange(rows) % 5 > 0
    for laid in (np.asfortranarray(X), chunked(X, 5001, 777)):
        for make in (lambda: Perceptron(max_iter=2, tol=None, shuffle=shuffle, n_init=2, init="random"),):
            ours, theirs = make().fit(laid, y, sample_weight=weights), make().fit(X, y, sample_weight=weights)
            assert_array_equal(ours.coef_, theirs.coef_)
        ours, theirs = VotedPerceptron(max_iter=1, tol=None), VotedPerceptron(max_iter=1, tol=None)
        assert_array_equal(ours.fit(laid, y).predict(laid), theirs.fit(X, y).predict(X))


def test_rows_so_long_that_no_window_is_loaded():
    X = rows_of("f4", rows=9000, features=4200)
    y = (X[:, 0] > 0).astype(int)
    ours = Perceptron(max_iter=1, tol=None).fit(np.asfortranarray(X), y)
    assert_array_equal(ours.coef_, Perceptron(max_iter=1, tol=None).fit(X, y).coef_)


@examples(60)
@given(st.data())
def test_any_cut_of_columns_of_any_types(data):
    count = data.draw(st.integers(1, 200))
    kinds = data.draw(st.lists(st.sampled_from(["f8", "f4", "i8", "u2", "i1", "?"]), min_size=1, max_size=6))
    rng = np.random.default_rng(count)
    columns = [rng.integers(0, 100, count).astype(kind) for kind in kinds]
    cuts = [sorted({0, count, *data.draw(st.lists(st.integers(0, count), max_size=4))}) for _ in kinds]
    chunks = [[c[a:b] for a, b in itertools.pairwise(cut)] for c, cut in zip(columns, cuts, strict=True)]
    laid = ColumnSet.of(chunks)
    whole = np.column_stack(columns)
    assert laid is not None
    assert laid.dtype == whole.dtype
    assert_array_equal(np.asarray(laid), whole)
    assert_array_equal(as_table(laid).floats, whole.astype(precision_of(whole.dtype)))
    row = data.draw(st.integers(0, count - 1))
    assert_array_equal(laid[row], whole[row])


@pytest.mark.parametrize("frame", [pa.table, polars.DataFrame, pandas.DataFrame])
def test_mixed_types_are_learned_from_in_the_precision_of_a_copy(frame, monkeypatch):
    kinds = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
    for one, other in itertools.product(kinds, kinds):
        laid = frame({"a": np.array([0, 1, 1, 0]).astype(one), "b": np.array([1, 0, 1, 0]).astype(other)})
        monkeypatch.setattr(tables, "REORDERED", -1)
        found = as_table(laid)
        monkeypatch.setattr(tables, "REORDERED", 1 << 26)
        assert found.dtype == as_table(laid).dtype, (one, other)
        assert_array_equal(found.floats, as_table(laid).floats)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", lambda A, B: A @ B.T])
def test_kernels(kernel):
    X, y = rows_of("f4"), np.arange(90) % 2
    theirs = KernelPerceptron(kernel=kernel, gamma="scale", max_iter=3).fit(X, y)
    for laid in (np.asfortranarray(X), pa.table(by_column(X))):
        ours = KernelPerceptron(kernel=kernel, gamma="scale", max_iter=3).fit(laid, y)
        assert_array_equal(ours.decision_function(laid), theirs.decision_function(X))


def test_a_kernel_matrix_in_columns():
    X, y = rows_of(), np.arange(90) % 2
    matrix = X @ X.T
    ours = KernelPerceptron(kernel="precomputed", max_iter=2).fit(np.asfortranarray(matrix), y)
    theirs = KernelPerceptron(kernel="precomputed", max_iter=2).fit(matrix, y)
    assert_array_equal(ours.decision_function(np.asfortranarray(matrix)), theirs.decision_function(matrix))
    columns = KernelPerceptron(kernel="precomputed", max_iter=2).fit(pa.table(by_column(matrix)), y)
    assert_array_equal(columns.decision_function(pa.table(by_column(matrix))), theirs.decision_function(matrix))


def test_choice_folds_and_a_plane():
    X = rows_of(rows=300)
    X[:, 3] *= 1000  # so that the choice scales
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    theirs, plane = AutoPerceptron().fit(X, y), rosenblatt.theory.separate(X, y, max_updates=200)
    going_on = AutoPerceptron().fit(X, y).partial_fit(X, y)
    folds = rosenblatt.cross_validate(X, y, Perceptron(max_iter=3))
    for laid in (np.asfortranarray(X), pa.table(by_column(X))):
        ours = AutoPerceptron().fit(laid, y)
        assert_array_equal(ours.predict(laid), theirs.predict(X))
        assert_array_equal(ours.partial_fit(laid, y).decision_function(laid), going_on.decision_function(X))
        assert_array_equal(rosenblatt.theory.separate(laid, y, max_updates=200).w, plane.w)
        assert_array_equal(rosenblatt.cross_validate(laid, y, Perceptron(max_iter=3)).scores, folds.scores)


def test_a_state_in_float64_reads_float32_columns():
    X, y = rows_of("f4"), np.arange(90) % 2
    first, named = X[:30].astype(np.float64), pandas.DataFrame(X[:30].astype(np.float64), columns=list(by_column(X)))
    ours = Perceptron().partial_fit(named, y[:30]).partial_fit(pa.table(by_column(X[30:])), y[30:])
    theirs = Perceptron().partial_fit(first, y[:30]).partial_fit(X[30:].astype(np.float64), y[30:])
    assert_array_equal(ours.coef_, theirs.coef_)


@pytest.mark.parametrize("layout", ["Fortran order", "Arrow in chunks", "Polars", "pandas in blocks"])
def test_what_is_no_number_is_refused_with_its_place(layout):
    X = rows_of()
    X[77, 4] = np.inf
    with pytest.raises(DataError, match="infinity in row 77, column 4"):
        as_table(LAYOUTS[layout](X))


def test_a_missing_value_is_refused_with_its_place():
    for frame in (pa.table, polars.DataFrame):
        with pytest.raises(DataError, match=r"NaN in row 1, column 0 \('a'\)"):
            as_table(frame({"a": [1.0, None], "b": [1, 2]}))


def test_nothing_is_written_to_and_nothing_is_copied(tmp_path):
    X, y = rows_of(rows=500), np.arange(500) % 2
    np.save(tmp_path / "x.npy", np.asfortranarray(X))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(as_table(mapped).values, mapped)
    columns = by_column(X)
    for column in columns.values():
        column.flags.writeable = False
    frame = pa.table(columns)
    for piece, column in zip(as_table(frame).values.pieces[0], columns.values(), strict=True):
        assert np.shares_memory(piece, column)
    for laid in (mapped, frame):
        for learner in (Perceptron(max_iter=2, tol=None), AutoPerceptron(), KernelPerceptron(max_iter=1, tol=None)):
            learner.fit(laid, y).predict(laid)
    assert_array_equal(mapped, X)
    assert_array_equal(np.column_stack(list(columns.values())), X)


def test_small_ones_are_copied(monkeypatch):
    X = np.asfortranarray(rows_of())
    monkeypatch.setattr(tables, "REORDERED", X.nbytes)
    assert as_table(X).in_rows
    assert as_table(pa.table(by_column(X))).in_rows
    monkeypatch.setattr(tables, "REORDERED", X.nbytes - 1)
    assert np.shares_memory(as_table(X).values, X)
    assert isinstance(as_table(pa.table(by_column(X))).values, ColumnSet)


def test_chunks_that_are_too_short_are_copied(monkeypatch):
    monkeypatch.setattr(standing, "SHORTEST", 1024)
    X = rows_of(rows=5000)
    assert as_table(chunked(X, 100)).in_rows
    assert isinstance(as_table(chunked(X, 1024)).values, ColumnSet)


MEASURED = f"""
import sys, warnings
import numpy as np
import pyarrow as pa
from rosenblatt import Perceptron
from rosenblatt.data import table

table.free_memory = lambda: 1 << 30  # as if the copy of an array did not fit well
{PEAK}
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
Perceptron(max_iter=1, tol=None).fit(rng.random((50, 26)), np.arange(50) % 2)
y = rng.integers(0, 2, 1_000_000)
if sys.argv[1] == "arrow":
    X = pa.table({{f"c{{j}}": rng.random(1_000_000) for j in range(26)}})
else:
    X = np.empty((1_000_000, 26), order="F")
    for j in range(26):
        X[:, j] = rng.random(1_000_000)
before = peak()
learner = Perceptron(max_iter=2, tol=None).fit(X, y)
learner.predict(X)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what a process has held")
@pytest.mark.parametrize("kind", [pytest.param("arrow", marks=pytest.mark.slow), "fortran"])
def test_200_megabytes_are_not_doubled(kind):
    done = subprocess.run([sys.executable, "-c", MEASURED, kind], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100  # MB: labels, orders, scores, a window


def test_arrays_and_many_columns_are_copied_where_memory_is_free(monkeypatch):
    X = rows_of(features=65)
    monkeypatch.setattr(tables, "SHARE", 1 / 8)
    assert as_table(np.asfortranarray(X)).in_rows
    assert as_table(pa.table(by_column(X))).in_rows
    assert not as_table(pa.table(by_column(X[:, :64]))).in_rows
    monkeypatch.setattr(tables, "free_memory", lambda: 8 * X.nbytes - 8)
    assert not as_table(np.asfortranarray(X)).in_rows
    assert not as_table(pa.table(by_column(X))).in_rows
