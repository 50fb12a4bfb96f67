"""The early separator: it separates, within the bound, and gives up honestly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from length import examples
from rosenblatt.errors import DataError, LabelError
from rosenblatt.theory import Separable, certify, separate, training_error


@st.composite
def integer_data(draw):
    n, d = draw(st.integers(2, 15)), draw(st.integers(1, 4))
    X = draw(st.lists(st.lists(st.integers(-5, 5), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: len(set(y)) == 2))
    return np.array(X), y


def by_hand(X, y, fit_intercept, max_updates):
    """The same order in plain Python."""
    rows = [np.array([*x, 1.0 if fit_intercept else 0.0]) * (1 if label else -1) for x, label in zip(X, y, strict=True)]
    w, ever, updates, passes = np.zeros(X.shape[1] + 1), [], 0, 0
    while updates < max_updates:
        before, passes = updates, passes + 1
        for i, z in enumerate(rows):
            if w @ z <= 0:
                w, updates = w + z, updates + 1
                if i not in ever:
                    ever.append(i)
        if updates == before:
            return w, updates, passes, True
        moved = True
        while moved and updates < max_updates:
            moved = False
            for i in ever:
                if w @ rows[i] <= 0:
                    w, updates, moved = w + rows[i], updates + 1, True
    return w, updates, passes, False


@examples(150)
@given(
    integer_data(),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["dense", "int32", "int64"]),
)
def test_it_separates_what_is_separable_within_the_bound(data, fit_intercept, dtype, kind):
    X, y = data
    table = X.astype(dtype)
    if kind != "dense":
        table = sparse.csr_array(table)
        table.indices, table.indptr = table.indices.astype(kind), table.indptr.astype(kind)
    certificate = certify(X, y, fit_intercept=fit_intercept)
    plane = separate(table, y, fit_intercept=fit_intercept, max_updates=20_000)
    if not isinstance(certificate, Separable):
        assert not plane.converged
    elif certificate.mistake_bound <= 20_000:
        assert plane.converged
    assert plane.w.dtype == dtype
    if plane.converged:
        assert training_error(X, y, plane.w, plane.b if fit_intercept else None) == 0
        assert plane.updates <= certificate.mistake_bound
        w, updates, passes, _ = by_hand(X, y, fit_intercept, 20_000)
        assert [*plane.w, plane.b] == w.tolist()
        assert (plane.updates, plane.passes) == (updates, passes)


def test_giving_up_is_said():
    plane = separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], max_updates=50)
    assert not plane.converged
    assert 50 <= plane.updates <= 54


def test_a_row_of_zeros_without_an_offset_ends_the_search_at_once():
    plane = separate([[0.0], [1.0]], [0, 1], fit_intercept=False)
    assert not plane.converged
    assert plane.passes == 1


def test_bad_data_are_named():
    with pytest.raises(LabelError, match="3 classes"):
        separate([[1.0], [2.0], [3.0]], [0, 1, 2])
    with pytest.raises(DataError, match="2 rows and y has 3"):
        separate([[1.0], [2.0]], [0, 1, 1])
    with pytest.raises(DataError, match="NaN in row 1"):
        separate([[1.0], [np.nan]], [0, 1])
