"""Linear systems in integers: every answer is multiplied out by hand."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from length import examples
from rosenblatt.theory import exact


def whole(rows):
    return np.array(rows, dtype=object).reshape(len(rows), -1)


@st.composite
def matrices(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    numbers = draw(st.sampled_from([st.integers(-3, 3), st.integers(-(2**60), 2**60), st.integers(-(2**300), 2**300)]))
    return whole(draw(st.lists(st.lists(numbers, min_size=m, max_size=m), min_size=n, max_size=n)))


@examples(150)
@given(matrices())
def test_a_gram_matrix_is_that_of_python_s_own_integers(Z):
    products = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in Z.tolist()] for one in Z.tolist()]
    assert exact.gram(Z).tolist() == products


@examples(150)
@given(matrices())
@pytest.mark.parametrize("library", ["flint", None])
def test_a_system_is_solved_or_shown_to_be_singular(library, Z):
    A = exact.gram(Z) + 1
    with pytest.MonkeyPatch.context() as patch:
        if library is None:
            patch.setitem(sys.modules, "flint", None)
        x, v = exact.solve_ones(A)
    if x is None:
        assert any(v)
        assert not any(sum(a * c for a, c in zip(row, v, strict=True)) for row in A.tolist())
    else:
        assert [sum(a * c for a, c in zip(row, x, strict=True)) for row in A.tolist()] == [1] * len(A)


@settings(max_examples=50, deadline=None)
@given(matrices(), st.data())
def test_a_combination_is_exact(Z, data):
    share = data.draw(st.lists(st.fractions(), min_size=len(Z), max_size=len(Z)))
    expected = [sum((s * z for s, z in zip(share, column, strict=True)), Fraction(0)) for column in Z.T.tolist()]
    assert exact.combine(share, Z) == expected
