"""Certificates: the verdicts, the proofs, and what happens to a forged one."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from drawn import labeled_integers
from hypothesis import assume, given
from hypothesis import strategies as st
from length import examples
from rejected import rejected
from scipy import sparse
from scipy.optimize import linprog

from rosenblatt.errors import DataError
from rosenblatt.theory import Interval, NotSeparable, Separable, Unknown, certify, from_dict

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND, OR, XOR = [0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0]


def is_separable(Z):
    """Is there a vector with ``v·z >= 1`` for every z? By linear programming, which small integers suit."""
    Z = np.array(Z, float)
    return linprog(np.zeros(Z.shape[1]), -Z, -np.ones(len(Z)), bounds=(None, None)).status == 0


def signed(X, y, fit_intercept):
    return [
        [(1 if label else -1) * v for v in [*x, *([1] if fit_intercept else [])]] for x, label in zip(X, y, strict=True)
    ]


@examples(200)
@given(labeled_integers(most=7, size=3), st.booleans())
def test_verdict_agrees_with_linear_programming_and_passes_its_check(data, fit_intercept):
    X, y = data
    certificate = certify(X, y, fit_intercept=fit_intercept)
    assert not isinstance(certificate, Unknown)
    assert bool(certificate) == is_separable(signed(X, y, fit_intercept))
    assert certificate.fault(X, y) is None
    assert certificate.check(np.array(X, dtype=np.float32), np.array(y) > 0)
    assert certificate.check(sparse.csr_matrix(X), [("no", "yes")[label] for label in y])
    if isinstance(certificate, NotSeparable):
        assert len(certificate.rows) <= len(X[0]) + (2 if fit_intercept else 1)


@examples(60)
@given(labeled_integers(classes=3, most=7, size=3), st.booleans())
def test_three_classes_agree_with_linear_programming_on_kesler_s_vectors(data, fit_intercept):
    X, y = data
    X, y = X[:4], y[:4]
    assume(len(set(y)) == 3)
    vectors = []
    for x, label in zip(X, y, strict=True):
        row = [*x, *([1] if fit_intercept else [])]
        for wrong in {0, 1, 2} - {label}:
            z = [[0] * len(row) for _ in range(3)]
            z[label], z[wrong] = row, [-v for v in row]
            vectors.append([v for part in z for v in part])
    certificate = certify(X, y, fit_intercept=fit_intercept)
    assert bool(certificate) == is_separable(vectors)
    assert certificate.fault(X, y) is None


@examples(100)
@given(labeled_integers(most=7, size=3), st.booleans())
def test_a_certificate_that_was_tampered_with_is_rejected(data, fit_intercept):
    X, y = data
    certificate = certify(X, y, fit_intercept=fit_intercept)
    for i, weight in enumerate(certificate.weights):
        # Of a separable one, any other positive weights that have the same length prove the same.
        for forged in (-weight, 0) if certificate else (-weight, 0, weight + 1, 2 * weight):
            weights = (*certificate.weights[:i], forged, *certificate.weights[i + 1 :])
            assert not replace(certificate, weights=weights).check(X, y)
    if isinstance(certificate, NotSeparable):
        return
    for i in range(len(y)):
        assert not certificate.check(X, [*y[:i], 1 - y[i], *y[i + 1 :]])
    flipped = replace(certificate, w=-certificate.w, b=-certificate.b)
    assert "margin of 0 or less" in flipped.fault(X, y)
    lower, upper = certificate.gamma
    for forged in (
        {"gamma": Interval(math.nextafter(lower, 1e9), upper)},
        {"gamma": Interval(lower, math.nextafter(upper, 0))},
        {"gamma": Interval(math.nextafter(lower, 0), upper)},
        {"radius": math.nextafter(certificate.radius, 0)},
        {"radius": math.nextafter(certificate.radius, 1e9)},
        {"mistake_bound": certificate.mistake_bound - 1},
        {"mistake_bound": certificate.mistake_bound + 1},
        {"rows": (*certificate.rows[:-1], len(X))},
        {"rows": (*certificate.rows[:-1], -1)},
        {"w": certificate.w[:-1]},
        {"fit_intercept": not fit_intercept},
    ):
        assert not replace(certificate, **forged).check(X, y)


def test_a_not_separable_certificate_is_rejected_on_data_it_does_not_prove():
    certificate = certify(SQUARE, XOR)
    assert certificate.fault(SQUARE, AND) == "the combination is not 0"
    assert not replace(certificate, weights=(2, 2, 2, 2)).check(SQUARE, XOR)
    assert not replace(certificate, rows=(0, 1, 2, 2)).check(SQUARE, XOR)


@examples(60)
@given(labeled_integers(most=7, size=3), st.booleans())
def test_a_certificate_survives_json(data, fit_intercept):
    X, y = data
    certificate = certify(X, y, fit_intercept=fit_intercept)
    again = from_dict(json.loads(json.dumps(certificate.as_dict())))
    assert again.as_dict() == certificate.as_dict()
    assert again.check(X, y)


def test_what_is_separable_only_beyond_the_precision_of_floats_is_settled_exactly():
    # In decimals the middle row is the mean of the others; in binary 0.1 + 0.3 is not twice 0.2.
    X, y = [[0.1, 1.0], [0.3, 3.0], [0.2, 2.0]], [0, 0, 1]
    assert Fraction(0.1) + Fraction(0.3) != 2 * Fraction(0.2)
    certificate = certify(X, y)
    assert isinstance(certificate, Separable)
    assert certificate.check(X, y)
    assert certificate.gamma.upper < 1e-16
    assert certificate.gamma.width < 1e-6
    assert from_dict(json.loads(json.dumps(certificate.as_dict()))).check(X, y)
    exact = [[1.0, 1.0], [3.0, 3.0], [2.0, 2.0]]
    assert certify(exact, y).weights == (1, 1, 2)


@examples(100)
@given(st.data())
def test_any_finite_floats_get_a_proved_verdict(draw):
    n, d = draw.draw(st.integers(2, 6)), draw.draw(st.integers(1, 3))
    value = st.floats(allow_nan=False, allow_infinity=False)
    X = draw.draw(st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n))
    y = [0, 1, *draw.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    fit_intercept = draw.draw(st.booleans())
    certificate = certify(X, y, fit_intercept=fit_intercept)
    assert certificate.fault(X, y) is None
    assert not isinstance(
        certify(X, y, fit_intercept=fit_intercept, budget=0.0), NotSeparable if certificate else Separable
    )


def test_rows_with_far_more_columns_than_needed_are_decided_through_their_gram_matrix():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random(300, 20_000, density=0.002, random_state=rng))
    y = rng.integers(0, 2, 300)
    certificate = certify(X, y)
    assert isinstance(certificate, Separable)
    assert certificate.check(X, y)
    assert certificate.gamma.width < 1e-3


def test_a_check_never_raises_on_other_data():
    certificate = certify([[1.0], [2.0]], [0, 1])
    for X, y in (
        ([[1.0], [2.0]], [0, 0]),
        ([[1.0], [math.nan]], [0, 1]),
        ([[1.0]], [0, 1]),
        ([[1.0, 2.0], [2.0, 3.0]], [0, 1]),
    ):
        assert not certificate.check(X, y)


def test_without_a_budget_a_plane_may_still_prove_separability_or_the_answer_is_unknown():
    certificate = certify(SQUARE, AND, budget=0.0)
    assert isinstance(certificate, Separable)
    assert certificate.check(SQUARE, AND)
    assert certificate.gamma.lower < 1 / math.sqrt(17) < certificate.gamma.upper
    certificate = certify(SQUARE, XOR, budget=0.0)
    assert isinstance(certificate, Unknown)
    assert certificate.gamma.lower == 0
    assert certificate.gamma.upper >= 0
    with pytest.raises(ValueError, match="unknown"):
        bool(certificate)
    assert from_dict(certificate.as_dict()).as_dict() == certificate.as_dict()


@pytest.mark.parametrize(
    ("X", "y", "code", "fact"),
    [
        (np.array([[0], [2**53 + 1]]), [0, 1], "data", "row 1, column 0"),
        (np.array([[0], [2**63 - 1]]), [0, 1], "data", "row 1, column 0"),
        ([[1.0], [2.0]], [0, 0], "label", "one class"),
        ([[1.0], [2.0]], [0, 1, 1], "data", "3 labels"),
        ([1.0, 2.0], [0, 1], "data", "X"),
    ],
)
def test_bad_input_is_named(X, y, code, fact):
    with rejected(code, fact):
        certify(X, y)


@pytest.mark.parametrize("labels", [AND, XOR, [0, 1, 2, 2]])
def test_junk_in_any_field_is_rejected(labels):
    values = certify(SQUARE, labels).as_dict()
    for name in values.keys() - {"kind"}:
        for junk in (None, "x", "0x1/0x0", [], {}, -1, 1.5, True, [1, 2, 3], ["x"], [None], [[1.0]], [0.1, 0.2]):
            if junk == values[name]:
                continue
            try:
                forged = from_dict({**values, name: junk})
            except DataError:
                continue
            assert not forged.check(SQUARE, labels), (name, junk)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_two_of_many_wide_classes_that_no_plane_separates_decide_for_all(fit_intercept):
    """A class of its own far off, and an XOR of two others: the proof names rows of these two alone."""
    rng = np.random.default_rng(0)
    X, y = np.zeros((60, 800)), np.array([2] * 56 + [0, 0, 1, 1])
    X[:56] = rng.normal(size=(56, 800))
    X[56:, :2] = [[0, 0], [1, 1], [0, 1], [1, 0]]
    X[56:, 2] = 50.0
    certificate = certify(X, y, fit_intercept=fit_intercept)
    assert isinstance(certificate, NotSeparable)
    assert certificate.check(X, y)
    assert set(certificate.rows) == {56, 57, 58, 59}
