"""Budgets: each policy equals a plain reading of its paper, and keeps its bound."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import KernelPerceptron
from rosenblatt.data.table import as_table
from rosenblatt.learners.support import BudgetState
from rosenblatt.models.predictors import Kernel

POLICIES = ("forget-oldest", "forgetron", "projectron")


def stream(seed: int, rows: int = 300, noise: float = 0.1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    y = np.where((np.sin(2 * X[:, 0]) + X[:, 1] > 0) ^ (rng.random(rows) < noise), 1, -1)
    return X, y


def plain(X: Any, y: Any, budget: int, policy: str, bias: float) -> tuple[int, list[float]]:
    """Mistakes, and the scores of all rows at the end, by the definitions."""
    K = Kernel("rbf", 0.5).matrix(as_table(X), X) + bias
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
    if policy == "forgetron" and multiclass == "joint":
        pytest.skip("the forgetron has a meaning for two classes only")
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
@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: Kernel("rbf", 0.5).matrix(as_table(A), B)])
def test_a_budget_that_is_never_used_up_changes_nothing(policy: Any, kernel: Any) -> None:
    X, y = stream(3, rows=150)
    options: dict[str, Any] = {"kernel": kernel, "gamma": 0.5, "max_iter": 4, "tol": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        free = KernelPerceptron(**options).fit(X, y)
        bound = KernelPerceptron(budget=150, policy=policy, **options).fit(X, y)
    assert bound.history_.mistakes == free.history_.mistakes
    assert len(bound.support_vectors_) == len(free.support_vectors_) < free.updates_
    np.testing.assert_allclose(bound.decision_function(X), free.decision_function(X), rtol=1e-6, atol=1e-9)


def test_passive_aggressive_steps_can_forget_too() -> None:
    X, y = stream(4)
    learner = KernelPerceptron(gamma=0.5, rule="PA-I", C=0.5, budget=20, policy="forget-oldest").partial_fit(X, y)
    assert learner.updates_ > learner.mistakes_ > 20
    assert len(learner.support_vectors_) == 20
    assert np.abs(learner.dual_coef_).max() <= 0.5


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_the_projectron_keeps_its_bound(noise: float) -> None:
    X, y = stream(5, rows=600, noise=noise)
    K = Kernel("rbf", 0.5)
    gram = K.matrix(as_table(X), X)
    judge = KernelPerceptron(gamma=0.5, fit_intercept=False, keep="average", tol=None, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        judge.fit(X, y)
    tested = False
    for budget in (30, 100, 300):
        learner = KernelPerceptron(gamma=0.5, fit_intercept=False, budget=budget, policy="projectron").partial_fit(X, y)
        state: BudgetState = learner.learned.states[0]
        eta = math.sqrt(state.arrays["numbers"][3])
        rows, alpha = judge.support_vectors_, judge.dual_coef_[0]
        norm_of_judge = math.sqrt(alpha @ K.matrix(as_table(rows), rows) @ alpha)
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
    norm = math.sqrt(alpha @ Kernel("rbf", 0.5).matrix(as_table(rows), rows) @ alpha)
    loss = np.maximum(0.0, 1.0 - y * judge.decision_function(X) / norm * longest).sum()
    assert budget < learner.mistakes_ <= 2 * longest**2 + 4 * loss
    state: BudgetState = learner.learned.states[0]
    assert state.arrays["numbers"][1] <= 15 / 32 * state.arrays["numbers"][0] * (1 + 1e-12)  # what forgetting has cost


@pytest.mark.parametrize("policy", ["forget-oldest", "forgetron", "projectron"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_warm_start_is_one_long_fit(policy: str, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % 2
    rows = sp.csr_array(X) if sparse else X
    told = {"gamma": 0.5, "budget": 12, "policy": policy, "tol": None, "random_state": 0}
    long = KernelPerceptron(max_iter=6, **told).fit(rows, y)
    warm = KernelPerceptron(max_iter=3, warm_start=True, **told).fit(rows, y).fit(rows, y)
    assert warm.mistakes_ == long.mistakes_
    np.testing.assert_array_equal(warm.decision_function(rows), long.decision_function(rows))
