"""Systems in whole numbers: both ways of solving them agree, and the answer is multiplied out by hand."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from length import examples
from rosenblatt.theory import systems


@pytest.fixture
def plain(monkeypatch):
    """Without python-flint."""
    monkeypatch.setitem(sys.modules, "flint", None)


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
    assert systems.gram(Z).tolist() == (Z @ Z.T).tolist()


@examples(150)
@given(matrices())
def test_a_system_is_solved_or_shown_to_be_singular_with_flint_and_without(Z):
    A = systems.gram(Z) + 1
    answers = [systems.solve_ones(A)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "flint", None)
        answers.append(systems.solve_ones(A))
    assert answers[0] == answers[1]
    x, v = answers[0]
    if x is None:
        assert any(v)
        assert not any(sum(a * c for a, c in zip(row, v, strict=True)) for row in A.tolist())
    else:
        assert [sum(a * c for a, c in zip(row, x, strict=True)) for row in A.tolist()] == [1] * len(A)


def test_a_prime_that_divides_the_determinant_does_not_mislead(plain):
    first = next(systems._primes())
    assert systems.solve_ones(whole([[first]])) == ([Fraction(1, first)], [])
    A = whole([[1, 1], [1, 1 + first]])  # singular modulo the prime, and not otherwise
    assert systems.solve_ones(A) == ([Fraction(1), Fraction(0)], [])


def test_the_primes_are_primes():
    primes = systems._primes()
    for p in (next(primes) for _ in range(20)):
        assert all(p % d for d in range(2, math.isqrt(p) + 1))


@settings(max_examples=50, deadline=None)
@given(matrices(), st.data())
def test_a_combination_is_exact(Z, data):
    share = data.draw(st.lists(st.fractions(), min_size=len(Z), max_size=len(Z)))
    expected = [sum((s * z for s, z in zip(share, column, strict=True)), Fraction(0)) for column in Z.T.tolist()]
    assert systems.combine(share, Z) == expected
