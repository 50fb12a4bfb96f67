"""Tables: sparse rows are put in order, whatever order they come in."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from rejected import rejected

from rosenblatt.data import as_table


def shuffled(rng: np.random.Generator, sizes: list[int], features: int, *, twice: bool) -> Any:
    """Rows of so many values, their columns in any order; with `twice`, some columns twice."""
    columns = [rng.choice(features, size, replace=twice) for size in sizes]
    starts = np.cumsum([0, *sizes])
    values = rng.integers(-8, 9, starts[-1]).astype(float)  # sums of them are exact in any order
    return sp.csr_array((values, np.concatenate([*columns, []]).astype(np.int32), starts), shape=(len(sizes), features))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("twice", [False, True])
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 40) | st.integers(500, 600), min_size=1, max_size=9))
def test_columns_in_any_order_are_sorted(dtype: Any, index: Any, twice: bool, seed: int, sizes: list[int]) -> None:
    matrix = shuffled(np.random.default_rng(seed), sizes, 700, twice=twice).astype(dtype)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    before = matrix.indices.copy()
    expected = matrix.copy()
    expected.sum_duplicates()
    found = as_table(matrix).values
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.data, expected.data)
    assert found.dtype == dtype
    np.testing.assert_array_equal(matrix.indices, before)  # the caller's stays as it is


def test_columns_beyond_31_bits_raise() -> None:
    matrix = sp.csr_array((np.array([1.0]), np.array([2**33]), np.array([0, 1])), shape=(1, 2**40))
    with rejected("data", "1099511627776 columns"):
        as_table(matrix)
