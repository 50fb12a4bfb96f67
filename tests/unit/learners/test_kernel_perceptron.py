"""KernelPerceptron: equal to the textbook, to the linear learners and to itself; budgets; invalid input."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rejected import rejected
from sklearn.metrics import pairwise
from sklearn.model_selection import cross_val_score

from rosenblatt import KernelPerceptron, Perceptron, textbook
from rosenblatt.data.table import as_table
from rosenblatt.learners.support import BudgetState
from rosenblatt.models.predictors import Dual, Kernel

KEEPS = ("last", "average", "vote", "pocket")
RULES = ("perceptron", "PA", "PA-I", "PA-II")


def kernel_matrix(kernel: Kernel, rows: Any, others: Any) -> Any:
    """The values of all pairs: the scores by a coefficient of 1 for each of the others."""
    count = len(others) if kernel.name == "precomputed" else others.shape[0]
    return Dual(kernel, others, np.eye(count), np.zeros(count)).scores(as_table(rows))


def whole_numbers(seed: int, rows: int = 60, features: int = 4, classes: int = 3) -> tuple[Any, Any]:
    """Rows of small whole numbers, of which a third are 0, so that every product is exact; all classes are there."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(rows, features)).astype(float)
    X[rng.random(X.shape) < 0.3] = 0.0
    y = rng.integers(0, classes, size=rows)
    y[:classes] = np.arange(classes)
    return X, y


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
    assume(len(set(y)) == 2)
    expected = textbook.kernel_perceptron(X, y, epochs, textbook.polynomial(degree))
    options: dict[str, Any] = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": degree}
    learner = KernelPerceptron(**options, fit_intercept=False, shuffle=False, max_iter=epochs, tol=None).fit(X, y)
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
        linear = Perceptron(**options).fit(X, y, sample_weight=sample_weight)
        kernel = KernelPerceptron(kernel="linear", **options).fit(X, y, sample_weight=sample_weight)
        assert kernel.history_.mistakes == linear.history_.mistakes
        assert kernel.history_.updates == linear.history_.updates
        assert kernel.stop_reason_ == linear.stop_reason_
        np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=1e-12, atol=1e-12)
        if keep != "vote":
            np.testing.assert_allclose(kernel.dual_coef_ @ kernel.support_vectors_, linear.coef_, atol=1e-12)
            np.testing.assert_allclose(kernel.intercept_, linear.intercept_, atol=1e-12)


def test_kernel_values_are_scikit_learns() -> None:
    X, Z = np.random.default_rng(4).normal(size=(70, 9)), np.random.default_rng(5).normal(size=(41, 9))

    def values(kernel: Kernel) -> Any:
        return kernel_matrix(kernel, X, Z)

    np.testing.assert_allclose(values(Kernel("linear")), X @ Z.T, rtol=1e-12, atol=1e-13)
    expected = pairwise.polynomial_kernel(X, Z, degree=5, gamma=0.3, coef0=0.7)
    np.testing.assert_allclose(values(Kernel("poly", 0.3, 0.7, 5)), expected, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(values(Kernel("rbf", 0.4)), pairwise.rbf_kernel(X, Z, gamma=0.4), rtol=1e-12)
    expected = pairwise.sigmoid_kernel(X, Z, gamma=0.2, coef0=0.1)
    np.testing.assert_allclose(values(Kernel("sigmoid", 0.2, 0.1)), expected, rtol=1e-11, atol=1e-15)
    far = as_table([[0.0], [1.0], [40.0], [1e100]])
    found = kernel_matrix(Kernel("rbf", 1.0), far.values, np.array([[0.0]]))[:, 0]
    assert found.tolist() == [1.0, pytest.approx(np.exp(-1.0), rel=1e-15), 0.0, 0.0]


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("rule", RULES)
def test_precomputed_and_functions_are_the_kernel_on_the_fly(keep: Any, multiclass: Any, rule: Any) -> None:
    rng = np.random.default_rng(6)
    X, Z, y = rng.normal(size=(80, 3)), rng.normal(size=(50, 3)), rng.integers(0, 3, size=80)
    options: dict[str, Any] = {"keep": keep, "multiclass": multiclass, "rule": rule, "max_iter": 6}
    there = KernelPerceptron(kernel="rbf", gamma=0.3, **options).fit(X, y)
    kernel = Kernel("rbf", 0.3)
    before = KernelPerceptron(kernel="precomputed", **options).fit(kernel_matrix(kernel, X, X), y)
    same_bits(there, before, Z, kernel_matrix(kernel, Z, X))
    given = KernelPerceptron(kernel=lambda A, B: kernel_matrix(kernel, A, B), **options).fit(X, y)
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
        KernelPerceptron(kernel=kernel, keep=keep, rule="PA-I", shuffle=shuffle, max_iter=4, cache_size=size).fit(X, y)
        for size in (200, 0, 0.02, 1e300)
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
    dense, sparse = KernelPerceptron(**options).fit(X, y), KernelPerceptron(**options).fit(sp.csr_array(X), y)
    same_bits(dense, sparse, X, sp.csr_array(X))
    half = X.astype(np.float32)
    same_bits(KernelPerceptron(**options).fit(half, y), KernelPerceptron(**options).fit(half.astype(float), y), half)


def test_a_support_row_is_stored_once_for_all_classes_epochs_and_batches() -> None:
    X, y = whole_numbers(13)
    for multiclass in ("joint", "ovr"):
        learner = KernelPerceptron(gamma=0.2, multiclass=multiclass, keep="vote", max_iter=10).fit(X, y)
        rows = learner.support_vectors_
        assert len(np.unique(rows, axis=0)) == len(rows) < learner.updates_
        stream = KernelPerceptron(gamma=0.2, multiclass=multiclass)
        for _ in range(3):
            stream.partial_fit(X, y)
        rows = stream.support_vectors_
        assert len(np.unique(rows, axis=0)) == len(rows) < stream.updates_


POLICIES = ("forget-oldest", "forgetron", "projectron")


def stream(seed: int, rows: int = 300, noise: float = 0.1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    y = np.where((np.sin(2 * X[:, 0]) + X[:, 1] > 0) ^ (rng.random(rows) < noise), 1, -1)
    return X, y


def plain(X: Any, y: Any, budget: int, policy: str, bias: float) -> tuple[int, list[float]]:
    """Mistakes, and the scores of all rows at the end, by the definitions."""
    K = kernel_matrix(Kernel("rbf", 0.5), X, X) + bias
    rows: list[int] = []  # oldest first
    alpha: dict[int, float] = {}
    mistakes, spent = 0, 0.0
    for i in range(len(X)):
        if y[i] * sum(alpha[s] * K[s, i] for s in rows) > 0:
            continue
        mistakes += 1
        if policy == "projectron" and len(rows) == budget:
            shares = np.linalg.solve(K[np.ix_(rows, rows)], K[rows, i])
            for s, share in zip(rows, shares, strict=True):
                alpha[s] += y[i] * share
            continue
        rows.append(i)
        alpha[i] = float(y[i])
        if len(rows) <= budget:
            continue
        oldest = rows[0]
        if policy == "forgetron":
            R2 = 1.0 + bias
            sigma = abs(alpha[oldest])
            mu = y[oldest] * sum(alpha[s] * K[s, oldest] for s in rows) / R2

            def cost(phi: float, sigma: float = sigma, mu: float = mu) -> float:
                return (phi * sigma) ** 2 + 2 * phi * sigma - 2 * phi * sigma * phi * mu

            room = 15 / 32 * mistakes - spent
            low, high = 0.0, 1.0
            if cost(1.0) <= room:
                low = 1.0
            for _ in range(200 if low == 0.0 else 0):  # the largest phi by bisection
                middle = (low + high) / 2
                low, high = (middle, high) if cost(middle) <= room else (low, middle)
            spent += cost(low)
            for s in rows:
                alpha[s] *= low
        rows.pop(0)
        del alpha[oldest]
    return mistakes, [sum(alpha[s] * K[s, i] for s in rows) for i in range(len(X))]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("budget", [1, 7, 25])
def test_a_policy_does_what_its_paper_says(policy: Any, fit_intercept: bool, budget: int) -> None:
    X, y = stream(1)
    mistakes, scores = plain(X, y, budget, policy, float(fit_intercept))
    learner = KernelPerceptron(gamma=0.5, budget=budget, policy=policy, fit_intercept=fit_intercept)
    learner.partial_fit(X, y)
    assert learner.mistakes_ == mistakes > budget
    assert len(learner.support_vectors_) <= budget
    np.testing.assert_allclose(learner.decision_function(X), scores, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_stream_may_be_cut_anywhere(policy: Any, multiclass: Any, sparse: bool) -> None:
    multiclass = "ovr" if policy == "forgetron" else multiclass  # which works with two classes only
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 3, size=200)
    X[rng.random(X.shape) < 0.3] = 0.0
    once = KernelPerceptron(budget=12, policy=policy, multiclass=multiclass).partial_fit(X, y)
    cut = KernelPerceptron(budget=12, policy=policy, multiclass=multiclass)
    for rows in np.split(np.arange(200), [1, 2, 50, 120]):
        cut.partial_fit(sp.csr_array(X[rows]) if sparse else X[rows], y[rows], classes=[0, 1, 2])
    assert cut.mistakes_ == once.mistakes_
    np.testing.assert_array_equal(cut.decision_function(X), once.decision_function(X))
    assert len(once.support_vectors_) <= (12 if multiclass == "joint" else 36)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: kernel_matrix(Kernel("rbf", 0.5), A, B)])
def test_a_budget_that_is_never_used_up_changes_nothing(policy: Any, kernel: Any) -> None:
    X, y = stream(3, rows=150)
    options: dict[str, Any] = {"kernel": kernel, "gamma": 0.5, "max_iter": 4, "tol": None}
    free = KernelPerceptron(**options).fit(X, y)
    bound = KernelPerceptron(budget=150, policy=policy, **options).fit(X, y)
    assert bound.history_.mistakes == free.history_.mistakes
    assert len(bound.support_vectors_) == len(free.support_vectors_) < free.updates_
    np.testing.assert_allclose(bound.decision_function(X), free.decision_function(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_projectron_keeps_its_bound(noise: float) -> None:
    X, y = stream(5, rows=600, noise=noise)
    K = Kernel("rbf", 0.5)
    gram = kernel_matrix(K, X, X)
    judge = KernelPerceptron(gamma=0.5, fit_intercept=False, keep="average", tol=None, max_iter=50).fit(X, y)
    tested = False
    for budget in (30, 100, 300):
        learner = KernelPerceptron(gamma=0.5, fit_intercept=False, budget=budget, policy="projectron").partial_fit(X, y)
        state: BudgetState = learner.states[0]
        eta = math.sqrt(state.arrays["numbers"][3])
        rows, alpha = judge.support_vectors_, judge.dual_coef_[0]
        norm_of_judge = math.sqrt(alpha @ kernel_matrix(K, rows, rows) @ alpha)
        for length in (0.5, 1.0, 2.0, 5.0):  # any competitor will do: one direction, several lengths
            u = judge.decision_function(X) / norm_of_judge * length
            loss = np.maximum(0.0, 1.0 - y * u).sum()
            share = 1.0 - eta * length
            if share <= 0:
                continue
            bound = ((length + math.sqrt(length**2 + 4 * share * loss)) / (2 * share)) ** 2
            assert learner.mistakes_ <= bound
            tested = True
    assert tested
    assert gram.max() <= 1.0 + 1e-12


def test_the_forgetron_keeps_its_bound() -> None:
    budget = 100
    longest = 0.25 * math.sqrt((budget + 1) / math.log(budget + 1))
    X, y = stream(6, rows=2000, noise=0.2)
    learner = KernelPerceptron(gamma=0.5, fit_intercept=False, budget=budget, policy="forgetron").partial_fit(X, y)
    judge = KernelPerceptron(gamma=0.5, fit_intercept=False, keep="average").partial_fit(X, y)
    rows, alpha = judge.support_vectors_, judge.dual_coef_[0]
    norm = math.sqrt(alpha @ kernel_matrix(Kernel("rbf", 0.5), rows, rows) @ alpha)
    loss = np.maximum(0.0, 1.0 - y * judge.decision_function(X) / norm * longest).sum()
    assert budget < learner.mistakes_ <= 2 * longest**2 + 4 * loss
    state: BudgetState = learner.states[0]
    assert state.arrays["numbers"][1] <= 15 / 32 * state.arrays["numbers"][0] * (1 + 1e-12)  # what forgetting has cost


X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1]


PRECOMPUTED = KernelPerceptron(kernel="precomputed")


@pytest.mark.parametrize(
    ("call", "code", "facts"),
    [
        (lambda: KernelPerceptron(budget=5, policy="forget").fit(X, y), "parameter", ["policy='forget'"]),
        (lambda: KernelPerceptron(budget=5, keep="vote").fit(X, y), "parameter", ["keep='vote'"]),
        (lambda: KernelPerceptron(budget=5, rule="PA-I").fit(X, y), "parameter", ["policy='projectron'"]),
        (lambda: KernelPerceptron(budget=5, kernel="precomputed").fit(X, y), "parameter", ["precomputed"]),
        (lambda: KernelPerceptron(budget=5, policy="forgetron").fit(X, [0, 1, 2]), "parameter", ["'forgetron'", "3"]),
        (lambda: KernelPerceptron(gamma="scale").partial_fit(X, y), "parameter", ["gamma='scale'"]),
        (lambda: PRECOMPUTED.fit(X, y), "data", ["X", "(3, 2)"]),
        (lambda: PRECOMPUTED.fit(sp.eye_array(3, format="csr"), y), "data", ["X is sparse"]),
        (lambda: PRECOMPUTED.partial_fit(np.eye(3), y), "parameter", ["kernel='precomputed'", "partial_fit"]),
    ],
)
def test_invalid_calls_are_named(call: Any, code: str, facts: list[str]) -> None:
    with rejected(code, *facts):
        call()


def test_a_precomputed_matrix_has_a_column_per_training_row() -> None:
    learner = KernelPerceptron(kernel="precomputed").fit(np.eye(3), y)
    with pytest.raises(ValueError, match=r"2 .*KernelPerceptron.* 3"):
        learner.predict(X)
    with pytest.raises(AttributeError, match="support_"):
        _ = learner.support_vectors_


def test_gamma_scale_is_that_of_scikit_learn() -> None:
    learner = KernelPerceptron(gamma="scale").fit(X, y)
    assert learner.states[0].kernel.gamma == pytest.approx(1 / (2 * np.var(X)))


@pytest.mark.parametrize(
    ("function", "fact"),
    [
        (lambda A, B: A @ B.T @ np.ones(len(B)), "(3,)"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
    ],
)
def test_a_function_that_is_no_kernel_is_refused_and_changes_nothing(function: Any, fact: str) -> None:
    learner = KernelPerceptron(kernel=function)
    with rejected("data", "function", fact):
        learner.fit(X, y)
    assert not hasattr(learner, "classes_")


def test_what_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="fit"):
        _ = KernelPerceptron().dual_coef_
    with pytest.raises(AttributeError, match="vote"):
        _ = KernelPerceptron(keep="vote").fit(X, y).dual_coef_
    with pytest.raises(AttributeError, match="support_vectors_"):
        _ = KernelPerceptron().fit(X, y).support_


def test_a_precomputed_kernel_is_cut_both_ways_in_cross_validation() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    matrix = kernel_matrix(Kernel("rbf", 1.0), rows, rows)
    given = cross_val_score(KernelPerceptron(kernel="precomputed", tol=None), matrix, labels, cv=3)
    there = cross_val_score(KernelPerceptron(gamma=1.0, tol=None), rows, labels, cv=3)
    assert given.tolist() == there.tolist()
