"""Errors, margins, losses and bounds against hand computation and the textbook; the early separator; bad input."""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from command import hide, python
from drawn import labeled_integers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from length import examples
from rejected import rejected
from scipy import sparse

from rosenblatt import textbook, theory
from rosenblatt.textbook import Rule
from rosenblatt.theory import Separable, certify, ledger, separate, trace, training_error

X = [[1.0, 2.0], [2.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]
y = [+1, -1, +1, -1]


def test_training_error_without_and_with_offset():
    w = [-1.0, 1.0]  # margins 1, 1, 1, 0: the row on the boundary is an error
    assert theory.training_error(X, y, w) == 1 / 4
    assert theory.training_error(X, y, w, b=-0.5) == 0  # margins 0.5, 1.5, 0.5, 0.5
    assert theory.training_error(sparse.csr_array(X), ["no", "yes", "no", "yes"], [1.0, -1.0], b=0.5) == 0


def test_training_error_with_more_classes_counts_a_tie():
    W = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    rows = [[1.0, 0.0], [1.0, 1.0], [-1.0, -1.0]]
    assert theory.training_error(rows, ["a", "b", "c"], W) == 1 / 3


def test_margin_is_a_distance_or_minus_infinity():
    w = [-3.0, 3.0]
    assert theory.margin(X, y, w) == -math.inf
    assert theory.margin(X, y, w, b=-1.5) == pytest.approx(0.5 / math.sqrt(2), rel=1e-15)
    assert theory.margin([[1.0]], [+1], [0.0], b=1.0) == math.inf
    rows, W = [[3.0, 0.0], [0.0, 4.0], [-5.0, -5.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]
    # Row 0: 3 from class 1 over a length of sqrt 2, 6 from class 2 over sqrt 5.
    assert theory.margin(rows, [0, 1, 2], W) == pytest.approx(3 / math.sqrt(2), rel=1e-15)


def test_radius_with_and_without_the_constant():
    assert theory.radius([[3.0, 4.0], [1.0, 1.0]]) == 5.0
    assert theory.radius(sparse.csr_array([[2.0, 2.0]]), fit_intercept=True) == 3.0


def test_perceptron_loss_is_the_sum_over_mistaken_rows():
    assert theory.perceptron_loss(X, y, [1.0, 0.0], b=0.5) == 0 + 2.5 + 0.5 + 0.5
    assert theory.perceptron_loss([[0.0, 0.0]], [+1], [1.0, 1.0]) == 0


@settings(deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=3),
    st.data(),
    st.sampled_from([-1, +1]),
    st.sampled_from([None, 0.0, 3.0, -7.0]),
)
def test_repeat_bound_is_what_happens(w, draw, label, b):
    x = draw.draw(st.lists(st.integers(-3, 3), min_size=len(w), max_size=len(w)))
    bound = theory.repeat_bound(w, x, label, b)
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
    ("call", "fact"),
    [
        (lambda: theory.repeat_bound([1.0], [1.0], 2), "y"),
        (lambda: theory.repeat_bound([1.0], [1.0, 2.0], 1), "weight"),
        (lambda: theory.training_error(X, y, [1.0]), "2 weights"),
        (lambda: theory.training_error(X, y, [1.0, 1.0], b=[1.0, 2.0]), "1 offset"),
        (lambda: theory.deviation_bound(X, y, [1.0, 0.0], gamma=0.0), "gamma"),
        (lambda: theory.deviation_bound(X, y, [0.0, 0.0], gamma=1.0), "w "),
        (lambda: theory.passive_aggressive_bound(X, y, [1.0, 0.0], variant="PA-3"), "variant"),
        (lambda: theory.passive_aggressive_bound(X, y, [1.0, 0.0], C=0), "C"),
        (lambda: theory.perceptron_bound(X, [0, 1, 2, 0], np.ones((3, 2))), "joint_bound"),
        (lambda: theory.joint_bound(X, y, [1.0, 0.0]), "perceptron_bound"),
        (lambda: separate([[1.0], [2.0], [3.0]], [0, 1, 2]), "3 classes"),
        (lambda: separate([[1.0], [2.0]], [0, 1, 1]), "2 rows.* 3"),
    ],
)
def test_bad_arguments_are_named(call, fact):
    with pytest.raises(ValueError, match=fact):
        call()


def test_bounds_are_infinite_where_their_assumption_fails():
    assert theory.mistake_bound([[1.0], [1.0]], [0, 1]) == math.inf
    assert theory.perceptron_bound([[1.0], [2.0]], [-1, +1], [1.0]) == math.inf
    assert theory.passive_aggressive_bound([[1.0], [2.0]], [-1, +1], [1.0]) == math.inf
    assert theory.joint_bound([[1.0], [2.0], [3.0]], [0, 1, 2], [[1.0], [1.0], [1.0]]) == math.inf


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
    best = theory.mistake_bound(rows, labels, fit_intercept=fit_intercept)
    found = run(rows, labels, fit_intercept=fit_intercept, order=order)
    assert found.mistakes <= best
    if not fit_intercept:
        assert best <= theory.perceptron_bound(rows, labels, W[1] - W[0])
        for beta in (0.5, 3.0):
            margin_run = run(rows, labels, Rule(beta=beta), order=order)
            assert margin_run.updates <= theory.perceptron_bound(rows, labels, W[1] - W[0], beta=beta)


@settings(max_examples=40, deadline=None)
@given(planted(classes=3), st.randoms(use_true_random=False))
def test_no_joint_perceptron_exceeds_its_bound(data, random):
    rows, label, W = data
    order = random.sample(range(len(rows)), len(rows))
    found = run(rows, label, classes=3, order=order)
    best = theory.mistake_bound(rows, label, fit_intercept=False)
    assert found.mistakes <= best <= theory.joint_bound(rows, label, W)


@examples(60)
@given(planted(), st.sampled_from(["PA", "PA-I", "PA-II"]), st.sampled_from([0.1, 1.0, 10.0]))
def test_no_passive_aggressive_run_exceeds_its_bound(data, variant, C):
    rows, label, _ = data
    labels = [2 * k - 1 for k in label]
    certificate = theory.certify(rows, labels, fit_intercept=False)
    assert isinstance(certificate, theory.Separable)
    w = certificate.w / np.linalg.norm(certificate.w) / certificate.gamma.lower
    found = run(rows, labels, Rule(variant, C=C), epochs=50)
    assert found.mistakes <= theory.passive_aggressive_bound(rows, labels, w, variant=variant, C=C, epochs=found.epochs)


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
        bound = theory.deviation_bound(rows, labels, w, gamma=gamma, epochs=epochs)
    else:
        bound = theory.passive_aggressive_bound(rows, labels, w / 3, variant=name, epochs=epochs)
    assert found.mistakes <= bound


@examples(150)
@given(
    labeled_integers(most=15, columns=4),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["dense", "int32", "int64"]),
)
def test_it_separates_what_is_separable_within_the_bound(data, fit_intercept, dtype, kind):
    X, y = data
    table = np.array(X, dtype)
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


def test_it_gives_up_after_so_many_updates_or_at_a_row_of_zeros_without_an_offset():
    plane = separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], max_updates=50)
    assert (plane.converged, 50 <= plane.updates <= 54) == (False, True)
    plane = separate([[0.0], [1.0]], [0, 1], fit_intercept=False)
    assert (plane.converged, plane.passes) == (False, 1)


README = Path(__file__).resolve().parents[3] / "README.md"
SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND = [0, 0, 0, 1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("check", [trace, ledger, certify, separate], ids=lambda check: check.__name__)
def test_a_value_that_is_no_number_is_refused_with_its_row_and_column(check: Any, sparse: bool, value: float) -> None:
    bad = SQUARE.copy()
    bad[2, 1] = value
    with rejected("data", "row 2", "column 1"):
        check(sp.csr_array(bad) if sparse else bad, AND)


def verdicts() -> list[str]:
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        rows = rng.integers(-3, 4, size=(12, 3)).astype(float)
        for labels in (rng.integers(0, 2, 12), (rows[:, 0] > rows[:, 1]).astype(int), rng.integers(0, 3, 12)):
            if len(set(labels.tolist())) > 1:
                verdict = certify(rows, labels)
                found.append(f"{type(verdict).__name__} {verdict.check(rows, labels)}")
    return found


def test_certify_without_the_extra_gives_the_verdicts_that_it_gives_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = verdicts()
    monkeypatch.setitem(sys.modules, "flint", None)
    assert verdicts() == expected


def test_the_lines_of_the_readme_run_without_any_extra() -> None:
    extras = ["flint", "onnx", "matplotlib", "PIL", "pandas", "polars", "onnxruntime"]
    python(
        f"{hide(extras)}import doctest\n"
        f"found = doctest.testfile({str(README)!r}, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)\n"
        "sys.exit(found.failed > 0 or found.attempted == 0)\n"
    )
