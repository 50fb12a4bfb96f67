"""No learner of the engine ever exceeds its bound on data of known margin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from rosenblatt.learners import AveragedPerceptron, PassiveAggressive, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.theory import (
    certify,
    deviation_bound,
    joint_bound,
    mistake_bound,
    passive_aggressive_bound,
    perceptron_bound,
    separate,
)


def known_margin(gamma, seed, n=400, d=6):
    """Rows in the unit ball that the unit vector u separates with a margin of at least gamma."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    X = X[np.abs(X @ u) >= gamma]
    return X, np.where(X @ u > 0, 1, -1), u


FORMS = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "sparse": sparse.csr_array,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cls", [Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron])
@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_perceptrons(form, cls, gamma):
    for seed in range(5):
        X, y, u = known_margin(gamma, seed)
        rows = FORMS[form](X)
        learner = cls(fit_intercept=False, random_state=seed, tol=None, max_iter=10_000).fit(rows, y)
        assert learner.converged_
        best = mistake_bound(rows, y, fit_intercept=False)
        assert learner.mistakes_ <= best <= perceptron_bound(rows, y, u) <= 1 / gamma**2
        assert separate(rows, y, fit_intercept=False).updates <= best
        margin_learner = cls(fit_intercept=False, random_state=seed, tol=None, max_iter=10_000, beta=0.3).fit(rows, y)
        assert margin_learner.updates_ <= perceptron_bound(rows, y, u, beta=0.3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_passive_aggressive(form, variant, C):
    for seed in range(5):
        X, y, _ = known_margin(0.1, seed)
        rows = FORMS[form](X)
        best = certify(rows, y, fit_intercept=False)
        w = best.w / np.linalg.norm(best.w) / best.gamma.lower
        learner = PassiveAggressive(variant=variant, C=C, fit_intercept=False, max_iter=20, tol=None).fit(rows, y)
        bound = passive_aggressive_bound(rows, y, w, variant=variant, C=C, epochs=learner.n_iter_)
        assert learner.mistakes_ <= bound


@pytest.mark.parametrize("form", FORMS)
def test_joint_perceptron(form):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        W = rng.normal(size=(4, 5))
        X = rng.normal(size=(400, 5))
        scores = np.sort(X @ W.T, axis=1)
        X = X[scores[:, -1] - scores[:, -2] >= 0.5]
        y = np.argmax(X @ W.T, axis=1)
        rows = FORMS[form](X)
        learner = Perceptron(fit_intercept=False, random_state=seed, tol=None, max_iter=10_000).fit(rows, y)
        assert learner.converged_
        assert learner.mistakes_ <= mistake_bound(rows, y, fit_intercept=False) <= joint_bound(rows, y, W)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_perceptron_on_data_that_are_not_separable():
    for seed in range(5):
        X, y, u = known_margin(0.1, seed)
        y[:10] = -y[:10]
        learner = Perceptron(fit_intercept=False, random_state=seed, tol=None, max_iter=5).fit(X, y)
        assert learner.mistakes_ <= deviation_bound(X, y, u, gamma=0.3, epochs=5)
        assert mistake_bound(X, y, fit_intercept=False) == np.inf
