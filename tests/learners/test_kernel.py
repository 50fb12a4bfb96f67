"""KernelPerceptron: equal to the textbook, to the linear learners, and to itself however it is run."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise

from rosenblatt import KernelPerceptron, PassiveAggressive, Perceptron, engine, textbook
from rosenblatt.data.table import as_table
from rosenblatt.models.predictors import Kernel

KEEPS = ("last", "average", "vote", "pocket")
RULES = ("perceptron", "PA", "PA-I", "PA-II")


def whole_numbers(seed: int, rows: int = 60, features: int = 4, classes: int = 3) -> tuple[Any, Any]:
    """Rows of small whole numbers, of which a third are 0, so that every product is exact; all classes are there."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(rows, features)).astype(float)
    X[rng.random(X.shape) < 0.3] = 0.0
    y = rng.integers(0, classes, size=rows)
    y[:classes] = np.arange(classes)
    return X, y


def fitted(learner: Any, X: Any, y: Any, **how: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(X, y, **how)


def same_bits(a: Any, b: Any, X: Any, X_other: Any = None) -> None:
    assert a.mistakes_ == b.mistakes_
    assert a.updates_ == b.updates_
    assert a.history_.mistakes == b.history_.mistakes
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X if X_other is None else X_other))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.booleans()), min_size=2, max_size=25),
    st.integers(1, 4),
    st.integers(1, 6),
)
def test_alphas_are_those_of_the_textbook(rows: list[tuple[int, int, bool]], degree: int, epochs: int) -> None:
    X = [[float(a), float(b)] for a, b, _ in dict.fromkeys(rows)]
    y = [1 if positive else -1 for _, _, positive in dict.fromkeys(rows)]
    if len(set(y)) < 2:
        return
    expected = textbook.kernel_perceptron(X, y, epochs, textbook.polynomial(degree))
    learner = KernelPerceptron(
        kernel="poly",
        gamma=1.0,
        coef0=1.0,
        degree=degree,
        fit_intercept=False,
        shuffle=False,
        max_iter=epochs,
        tol=None,
    )
    fitted(learner, X, y)
    assert learner.updates_ == sum(expected)
    totals: dict[tuple[float, ...], float] = {}
    for x, alpha, sign in zip(X, expected, y, strict=True):
        totals[tuple(x)] = totals.get(tuple(x), 0.0) + alpha * sign
    assert {
        tuple(x): c for x, c in zip(learner.support_vectors_.tolist(), learner.dual_coef_[0].tolist(), strict=True)
    } == {x: c for x, c in totals.items() if c}
    scores = [textbook.kernel_score(expected, X, y, x, textbook.polynomial(degree)) for x in X]
    assert learner.decision_function(X).tolist() == scores


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_linear_kernel_is_the_linear_learner(classes: int, multiclass: Any, keep: Any, fit_intercept: bool) -> None:
    X, y = whole_numbers(1, classes=classes)
    weights = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    weights[:classes] = 1.0
    options: dict[str, Any] = {"fit_intercept": fit_intercept, "multiclass": multiclass, "keep": keep, "max_iter": 20}
    for sample_weight in (None, weights):
        linear = fitted(Perceptron(**options), X, y, sample_weight=sample_weight)
        kernel = fitted(KernelPerceptron(kernel="linear", **options), X, y, sample_weight=sample_weight)
        assert kernel.history_.mistakes == linear.history_.mistakes
        assert kernel.history_.updates == linear.history_.updates
        assert kernel.stop_reason_ == linear.stop_reason_
        np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=1e-12, atol=1e-12)
        if keep != "vote":
            np.testing.assert_allclose(kernel.dual_coef_ @ kernel.support_vectors_, linear.coef_, atol=1e-12)
            np.testing.assert_allclose(kernel.intercept_, linear.intercept_, atol=1e-12)


@pytest.mark.parametrize("rule", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("classes", [2, 3])
def test_linear_kernel_is_the_linear_passive_aggressive(rule: Any, classes: int) -> None:
    X, y = whole_numbers(2, classes=classes)
    linear = fitted(PassiveAggressive(variant=rule, C=0.3, max_iter=5), X, y)
    kernel = fitted(KernelPerceptron(kernel="linear", rule=rule, C=0.3, max_iter=5), X, y)
    assert kernel.history_.mistakes == linear.history_.mistakes
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("keep", KEEPS)
def test_poly_kernel_is_the_linear_learner_on_products_of_features(keep: Any) -> None:
    X, y = whole_numbers(3)
    products = (X[:, :, None] * X[:, None, :]).reshape(len(X), -1)
    linear = fitted(Perceptron(keep=keep, max_iter=30), products, y)
    kernel = fitted(KernelPerceptron(kernel="poly", gamma=1.0, degree=2, keep=keep, max_iter=30), X, y)
    assert kernel.history_.mistakes == linear.history_.mistakes
    expected = linear.decision_function(products)
    np.testing.assert_allclose(kernel.decision_function(X), expected, rtol=1e-12, atol=1e-12)


def test_kernel_values_are_scikit_learns() -> None:
    X, Z = np.random.default_rng(4).normal(size=(70, 9)), np.random.default_rng(5).normal(size=(41, 9))

    def values(kernel: Kernel) -> Any:
        return kernel.matrix(as_table(X), Z)

    np.testing.assert_allclose(values(Kernel("linear")), X @ Z.T, rtol=1e-12, atol=1e-13)
    expected = pairwise.polynomial_kernel(X, Z, degree=5, gamma=0.3, coef0=0.7)
    np.testing.assert_allclose(values(Kernel("poly", 0.3, 0.7, 5)), expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(values(Kernel("rbf", 0.4)), pairwise.rbf_kernel(X, Z, gamma=0.4), rtol=1e-12)
    expected = pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=0.1)
    np.testing.assert_allclose(values(Kernel("sigmoid", 0.2, 0.1)), expected, rtol=1e-11, atol=1e-15)
    far = as_table([[0.0], [1.0], [40.0], [1e100]])
    found = Kernel("rbf", 1.0).matrix(far, np.array([[0.0]]))[:, 0]
    assert found.tolist() == [1.0, pytest.approx(np.exp(-1.0), rel=1e-15), 0.0, 0.0]


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("rule", RULES)
def test_precomputed_and_functions_are_the_kernel_on_the_fly(keep: Any, multiclass: Any, rule: Any) -> None:
    rng = np.random.default_rng(6)
    X, Z, y = rng.normal(size=(80, 3)), rng.normal(size=(50, 3)), rng.integers(0, 3, size=80)
    options: dict[str, Any] = {"keep": keep, "multiclass": multiclass, "rule": rule, "max_iter": 6}
    there = fitted(KernelPerceptron(kernel="rbf", gamma=0.3, **options), X, y)
    kernel = Kernel("rbf", 0.3)
    before = fitted(KernelPerceptron(kernel="precomputed", **options), kernel.matrix(as_table(X), X), y)
    same_bits(there, before, Z, kernel.matrix(as_table(Z), X))
    given = fitted(KernelPerceptron(kernel=lambda A, B: kernel.matrix(as_table(A), B), **options), X, y)
    same_bits(there, given, Z)
    if keep != "vote":
        np.testing.assert_array_equal(X[before.support_], there.support_vectors_)
        np.testing.assert_array_equal(before.dual_coef_, there.dual_coef_)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("kernel", ["poly", "rbf", lambda A, B: np.tanh(A @ B.T)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_any_cache_size_gives_the_same_bits(keep: Any, kernel: Any, shuffle: bool) -> None:
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(150, 5)), rng.integers(0, 3, size=150)
    learners = [
        fitted(
            KernelPerceptron(kernel=kernel, keep=keep, rule="PA-I", shuffle=shuffle, max_iter=4, cache_size=size), X, y
        )
        for size in (200, 0, 0.02)
    ]
    for other in learners[1:]:
        same_bits(learners[0], other, X)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("features", [7, 5000])  # more than 4,096 are laid out by the features that are there
def test_dense_and_sparse_rows_give_the_same_bits(keep: Any, features: int) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(90, features))
    X[rng.random(X.shape) < 0.8] = 0.0
    y = rng.integers(0, 3, size=90)
    options: dict[str, Any] = {"kernel": "rbf", "gamma": 0.1 / features, "keep": keep, "max_iter": 8}
    dense, sparse = fitted(KernelPerceptron(**options), X, y), fitted(KernelPerceptron(**options), sp.csr_array(X), y)
    same_bits(dense, sparse, X, sp.csr_array(X))
    half = X.astype(np.float32)
    same_bits(
        fitted(KernelPerceptron(**options), half, y), fitted(KernelPerceptron(**options), half.astype(float), y), half
    )


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("keep", ["last", "average", "vote"])
@pytest.mark.parametrize("cuts", [[], [1], [40], [3, 4, 70, 100]])
def test_an_epoch_may_be_cut_anywhere(multiclass: Any, keep: Any, cuts: list[int]) -> None:
    rng = np.random.default_rng(10)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 3, size=120)
    options: dict[str, Any] = {"gamma": 0.7, "keep": keep, "rule": "PA-I", "multiclass": multiclass}
    whole = fitted(KernelPerceptron(max_iter=1, shuffle=False, **options), X, y)
    stream = KernelPerceptron(**options)
    for rows in np.split(np.arange(120), cuts):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert stream.mistakes_ == whole.mistakes_
    np.testing.assert_array_equal(stream.decision_function(X), whole.decision_function(X))
    if keep != "vote":
        np.testing.assert_array_equal(stream.dual_coef_, whole.dual_coef_)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("keep", KEEPS)
def test_a_warm_start_goes_on_bit_for_bit(multiclass: Any, keep: Any) -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, size=80)
    options: dict[str, Any] = {"keep": keep, "multiclass": multiclass, "rule": "PA-I", "C": 0.2, "tol": None}
    once = fitted(KernelPerceptron(max_iter=5, **options), X, y)
    twice = fitted(KernelPerceptron(max_iter=2, warm_start=True, **options), X, y)
    twice.max_iter = 3
    fitted(twice, X, y)
    same_bits(once, twice, X)
    if keep != "vote":
        assert twice.support_vectors_.shape == once.support_vectors_.shape


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("keep", KEEPS)
def test_classes_that_come_later_are_learned_as_the_linear_learner_does(multiclass: Any, keep: Any) -> None:
    X, y = whole_numbers(12)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    linear = Perceptron(multiclass=multiclass, keep=keep)
    kernel = KernelPerceptron(kernel="linear", multiclass=multiclass, keep=keep)
    for begin in range(0, len(y), 7):
        linear.partial_fit(X[begin : begin + 7], y[begin : begin + 7])
        kernel.partial_fit(X[begin : begin + 7], y[begin : begin + 7])
        assert kernel.classes_.tolist() == linear.classes_.tolist()
        np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-12)
    assert kernel.mistakes_ == linear.mistakes_


def test_a_support_row_is_stored_once_for_all_classes_epochs_and_batches() -> None:
    X, y = whole_numbers(13)
    for multiclass in ("joint", "ovr"):
        learner = fitted(KernelPerceptron(gamma=0.2, multiclass=multiclass, keep="vote", max_iter=10), X, y)
        rows = learner.support_vectors_
        assert len(np.unique(rows, axis=0)) == len(rows) < learner.updates_
        stream = KernelPerceptron(gamma=0.2, multiclass=multiclass)
        for _ in range(3):
            stream.partial_fit(X, y)
        rows = stream.support_vectors_
        assert len(np.unique(rows, axis=0)) == len(rows) < stream.updates_


@pytest.mark.parametrize("keep", KEEPS)
def test_threads_and_early_stopping_give_the_same_bits(keep: Any) -> None:
    X, y = whole_numbers(14, rows=150)
    options: dict[str, Any] = {"keep": keep, "multiclass": "ovr", "early_stopping": True, "max_iter": 15}
    same_bits(
        fitted(KernelPerceptron(**options), X, y), fitted(KernelPerceptron(n_jobs=3, **options), sp.csr_array(X), y), X
    )


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_bits() -> None:
    if engine.ISA == "baseline":
        pytest.skip("this CPU has the baseline instruction set only")
    program = """
import hashlib, warnings
import numpy as np
from rosenblatt import KernelPerceptron
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(100, 20)), rng.integers(0, 3, size=100)
for kernel in ("poly", "rbf", "sigmoid"):
    learner = KernelPerceptron(kernel=kernel, rule="PA-I", keep="average", max_iter=3).fit(X, y)
    print(hashlib.sha256(learner.decision_function(X).tobytes()).hexdigest())
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "ROSENBLATT_ISA": isa}, capture_output=True, check=True
        ).stdout
        for isa in ("baseline", engine.ISA)
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].split()) == 3


def make_circles(rows: int) -> tuple[Any, Any]:
    angle, y = np.linspace(0, 4 * np.pi, rows), np.arange(rows) % 2
    return np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + y[:, None]), y


def make_spirals(rows: int) -> tuple[Any, Any]:
    turn, y = np.linspace(0.5, 3, rows) * 2 * np.pi, np.arange(rows) % 2
    angle = turn + np.pi * y
    return np.column_stack([turn * np.cos(angle), turn * np.sin(angle)]), y


@pytest.mark.parametrize(
    ("data", "gamma"),
    [
        (([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]), 1.0),
        (make_circles(200), 1.0),
        (make_spirals(400), 0.5),
    ],
    ids=["xor", "circles", "spirals"],
)
def test_rbf_separates_what_no_line_can(data: tuple[Any, Any], gamma: float) -> None:
    X, y = data
    learner = KernelPerceptron(kernel="rbf", gamma=gamma, tol=None).fit(X, y)
    assert learner.converged_
    assert learner.predict(X).tolist() == list(y)


def test_mistakes_stay_below_the_bound_of_the_separator_that_was_found() -> None:
    X, y = make_circles(200)
    learner = KernelPerceptron(kernel="rbf", gamma=1.0, fit_intercept=False, tol=None).fit(X, y)
    alpha, rows = learner.dual_coef_[0], learner.support_vectors_
    norm = np.sqrt(alpha @ Kernel("rbf", 1.0).matrix(as_table(rows), rows) @ alpha)
    margin = np.min((2 * y - 1) * learner.decision_function(X)) / norm
    assert 0 < learner.mistakes_ <= 1.0 / margin**2


def test_rows_of_weight_zero_are_as_if_absent() -> None:
    X, y = whole_numbers(15)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    there = weights > 0
    weighted = fitted(KernelPerceptron(shuffle=False, max_iter=5), X, y, sample_weight=weights)
    alone = fitted(KernelPerceptron(shuffle=False, max_iter=5), X[there], y[there])
    same_bits(weighted, alone, X)


def test_the_steps_of_a_weighted_row_are_as_long_as_its_weight() -> None:
    learner = KernelPerceptron(kernel="linear", fit_intercept=False, max_iter=1, shuffle=False)
    fitted(learner, [[1.0, 0.0], [0.0, 1.0]], [1, 0], sample_weight=[2.5, 0.5])
    assert learner.dual_coef_.tolist() == [[2.5, -0.5]]


def test_predicting_before_any_mistake_answers_with_zero_scores() -> None:
    for keep in KEEPS:
        learner = KernelPerceptron(keep=keep).partial_fit([[1.0]], ["b"], classes=["b"])
        assert learner.predict([[1.0], [2.0]]).tolist() == ["b", "b"]
        assert learner.support_vectors_.shape == (0, 1)
