"""Errors, margins, losses and bounds against hand computation and the textbook."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from length import examples
from rosenblatt import textbook
from rosenblatt.textbook import Rule
from rosenblatt.theory import (
    Separable,
    certify,
    deviation_bound,
    joint_bound,
    margin,
    mistake_bound,
    passive_aggressive_bound,
    perceptron_bound,
    perceptron_loss,
    radius,
    repeat_bound,
    training_error,
)

X = [[1.0, 2.0], [2.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]
y = [+1, -1, +1, -1]


def test_training_error_without_and_with_offset():
    w = [-1.0, 1.0]  # margins 1, 1, 1, 0: the row on the boundary is an error
    assert training_error(X, y, w) == 1 / 4
    assert training_error(X, y, w, b=-0.5) == 0  # margins 0.5, 1.5, 0.5, 0.5
    assert training_error(sparse.csr_array(X), ["no", "yes", "no", "yes"], [1.0, -1.0], b=0.5) == 0


def test_training_error_with_more_classes_counts_a_tie():
    W = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    rows = [[1.0, 0.0], [1.0, 1.0], [-1.0, -1.0]]
    assert training_error(rows, ["a", "b", "c"], W) == 1 / 3


def test_margin_is_a_distance_or_minus_infinity():
    w = [-3.0, 3.0]
    assert margin(X, y, w) == -math.inf
    assert margin(X, y, w, b=-1.5) == pytest.approx(0.5 / math.sqrt(2), rel=1e-15)
    assert margin([[1.0]], [+1], [0.0], b=1.0) == math.inf
    rows, W = [[3.0, 0.0], [0.0, 4.0], [-5.0, -5.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    # Row 0: 3 from class 1 over a length of sqrt 2, 6 from class 2 over sqrt 5.
    assert margin(rows, [0, 1, 2], W) == pytest.approx(3 / math.sqrt(2), rel=1e-15)


def test_radius_with_and_without_the_constant():
    assert radius([[3.0, 4.0], [1.0, 1.0]]) == 5.0
    assert radius(sparse.csr_array([[2.0, 2.0]]), fit_intercept=True) == 3.0


def test_perceptron_loss_is_the_sum_over_mistaken_rows():
    assert perceptron_loss(X, y, [1.0, 0.0], b=0.5) == 0 + 2.5 + 0.5 + 0.5
    assert perceptron_loss([[0.0, 0.0]], [+1], [1.0, 1.0]) == 0


@settings(deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=3),
    st.data(),
    st.sampled_from([-1, +1]),
    st.sampled_from([None, 0.0, 3.0, -7.0]),
)
def test_repeat_bound_is_what_happens(w, draw, label, b):
    x = draw.draw(st.lists(st.integers(-3, 3), min_size=len(w), max_size=len(w)))
    bound = repeat_bound(w, x, label, b)
    if not any(x) and b is None:
        assert bound == math.inf
        return
    vector, row = ([*w, b], [*x, 1.0]) if b is not None else (list(w), x)
    count = 0
    while label * textbook.dot(vector, row) <= 0:
        vector = textbook.plus(vector, label, row)
        count += 1
    assert bound == count


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: repeat_bound([1.0], [1.0], 2), "y must be"),
        (lambda: repeat_bound([1.0], [1.0, 2.0], 1), "one weight per feature"),
        (lambda: training_error(X, y, [1.0]), "row\\(s\\) of 2 weights"),
        (lambda: training_error(X, y, [1.0, 1.0], b=[1.0, 2.0]), "1 offset"),
        (lambda: deviation_bound(X, y, [1.0, 0.0], gamma=0.0), "gamma must be above 0"),
        (lambda: deviation_bound(X, y, [0.0, 0.0], gamma=1.0), "w must not be 0"),
        (lambda: passive_aggressive_bound(X, y, [1.0, 0.0], variant="PA-3"), "variant"),
        (lambda: passive_aggressive_bound(X, y, [1.0, 0.0], C=0), "C must be above 0"),
        (lambda: perceptron_bound(X, [0, 1, 2, 0], np.ones((3, 2))), "joint_bound"),
        (lambda: joint_bound(X, y, [1.0, 0.0]), "perceptron_bound"),
    ],
)
def test_bad_arguments_are_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_bounds_are_infinite_where_their_assumption_fails():
    assert mistake_bound([[1.0], [1.0]], [0, 1]) == math.inf
    assert perceptron_bound([[1.0], [2.0]], [-1, +1], [1.0]) == math.inf
    assert passive_aggressive_bound([[1.0], [2.0]], [-1, +1], [1.0]) == math.inf
    assert joint_bound([[1.0], [2.0], [3.0]], [0, 1, 2], [[1.0], [1.0], [1.0]]) == math.inf


@st.composite
def planted(draw, classes=2):
    """Integer rows that planted weights separate, in any order."""
    d = draw(st.integers(1, 4))
    W = np.array(
        draw(st.lists(st.lists(st.integers(-4, 4), min_size=d, max_size=d), min_size=classes, max_size=classes))
    )
    rows = np.array(draw(st.lists(st.lists(st.integers(-6, 6), min_size=d, max_size=d), min_size=classes, max_size=20)))
    scores = np.sort(rows @ W.T, axis=1)
    rows = rows[scores[:, -1] > scores[:, -2]]
    assume(len(rows))
    label = np.argmax(rows @ W.T, axis=1)
    assume(len(np.unique(label)) == classes)
    return rows.astype(float).tolist(), label.tolist(), W


def run(rows, labels, rule=Rule(), classes=2, epochs=3000, fit_intercept=False, order=None):
    return textbook.learn(
        rows,
        labels,
        rule=rule,
        orders=[order or range(len(rows))] * epochs,
        classes=classes,
        fit_intercept=fit_intercept,
    )


@examples(60)
@given(planted(), st.booleans(), st.randoms(use_true_random=False))
def test_no_perceptron_exceeds_its_bound(data, fit_intercept, random):
    rows, label, W = data
    labels = [2 * k - 1 for k in label]
    order = random.sample(range(len(rows)), len(rows))
    best = mistake_bound(rows, labels, fit_intercept=fit_intercept)
    found = run(rows, labels, fit_intercept=fit_intercept, order=order)
    assert found.mistakes <= best
    if not fit_intercept:
        assert best <= perceptron_bound(rows, labels, W[1] - W[0])
        for beta in (0.5, 3.0):
            margin_run = run(rows, labels, Rule(beta=beta), order=order)
            assert margin_run.updates <= perceptron_bound(rows, labels, W[1] - W[0], beta=beta)


@settings(max_examples=40, deadline=None)
@given(planted(classes=3), st.randoms(use_true_random=False))
def test_no_joint_perceptron_exceeds_its_bound(data, random):
    rows, label, W = data
    order = random.sample(range(len(rows)), len(rows))
    found = run(rows, label, classes=3, order=order)
    best = mistake_bound(rows, label, fit_intercept=False)
    assert found.mistakes <= best <= joint_bound(rows, label, W)


@examples(60)
@given(planted(), st.sampled_from(["PA", "PA-I", "PA-II"]), st.sampled_from([0.1, 1.0, 10.0]))
def test_no_passive_aggressive_run_exceeds_its_bound(data, variant, C):
    rows, label, _ = data
    labels = [2 * k - 1 for k in label]
    certificate = certify(rows, labels, fit_intercept=False)
    assert isinstance(certificate, Separable)
    w = certificate.w / np.linalg.norm(certificate.w) / certificate.gamma.lower
    found = run(rows, labels, Rule(variant, C=C), epochs=50)
    assert found.mistakes <= passive_aggressive_bound(rows, labels, w, variant=variant, C=C, epochs=found.epochs)


@examples(60)
@given(planted(), st.data(), st.sampled_from([0.5, 1.0, 4.0]), st.sampled_from(["perceptron", "PA-I", "PA-II"]))
def test_bounds_for_data_that_are_not_separable_hold_for_any_comparison(data, draw, gamma, name):
    rows, label, W = data
    labels = [2 * k - 1 for k in label]
    for i in draw.draw(st.sets(st.integers(0, len(rows) - 1), max_size=3)):
        labels[i] = -labels[i]
    assume(len(set(labels)) == 2)
    w = W[1] - W[0]
    found = run(rows, labels, Rule(name), epochs=10)
    epochs = found.epochs
    if name == "perceptron":
        bound = deviation_bound(rows, labels, w, gamma=gamma, epochs=epochs)
    else:
        bound = passive_aggressive_bound(rows, labels, w / 3, variant=name, epochs=epochs)
    assert found.mistakes <= bound


def test_a_margin_of_one_row_is_met_by_exactly_one_mistake():
    assert mistake_bound([[2.0, 1.0]], [+1], fit_intercept=False) == 1


def test_larger_margins_have_smaller_bounds():
    bounds = [mistake_bound([[g, 1.0], [-g, 1.0]], [1, -1], fit_intercept=False) for g in (0.25, 0.5, 1.0, 2.0)]
    assert all(a > b for a, b in pairwise(bounds))
    assert bounds == [17, 5, 2, 1]
