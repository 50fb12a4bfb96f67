"""Penalties, and passive-aggressive regression (Crammer et al. 2006, section 6)."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from rejected import rejected
from sklearn.base import clone

import rosenblatt
from rosenblatt import AveragedPerceptron, PassiveAggressive, Perceptron, VotedPerceptron, textbook


def text_like(rows: int = 400, features: int = 600) -> tuple[Any, Any]:
    """Sparse rows of which a few features decide."""
    generator = np.random.default_rng(5)
    X = sp.csr_array(sp.random(rows, features, density=0.03, random_state=generator))
    X.data[:] = 1.0
    y = np.where(X[:, :40].sum(axis=1) > X[:, 40:80].sum(axis=1), "up", "down")
    return X, y


def test_l1_makes_weights_truly_zero_and_sparsify_stores_the_others() -> None:
    X, y = text_like(100, 60)
    signs = np.where(y == "up", 1, -1).tolist()
    expected, _ = textbook.penalized_perceptron(X.toarray().tolist(), signs, T=3, penalty="l1", alpha=2.0**-6)
    learner = Perceptron(penalty="l1", alpha=2.0**-6, max_iter=3, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(learner.coef_, [expected])
    nonzero = np.count_nonzero(expected)
    assert 0 < nonzero < 60
    scores = learner.decision_function(X)
    assert learner.sparsify() is learner
    assert sp.issparse(learner.coef_)
    assert learner.coef_.nnz == nonzero
    np.testing.assert_array_equal(learner.decision_function(X), scores)
    np.testing.assert_array_equal(learner.densify().coef_, [expected])
    assert isinstance(learner.sparsify().fit(X, y).coef_, np.ndarray)


def settled_often(penalty: Any, dtype: Any, storage: Any, classes: int) -> tuple[Any, Any, Any]:
    """A learner, and rows enough for its weights to be settled several times."""
    generator = np.random.default_rng(11)
    X = generator.integers(-1, 2, (20_000, 5)).astype(dtype)
    y = np.argmax(X[:, :classes] + generator.normal(0, 1, (len(X), classes)), axis=1)
    learner = AveragedPerceptron(penalty=penalty, alpha=2.0**-9, max_iter=1, tol=None, shuffle=False)
    return learner, X if storage == "dense" else sp.csr_array(X), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_settling_weights_changes_no_bit_wherever_rows_are_cut(
    penalty: Any, dtype: Any, storage: Any, classes: int
) -> None:
    whole, X, y = settled_often(penalty, dtype, storage, classes)
    cut = clone(whole)
    whole.fit(X, y)
    for begin, end in [(0, 1), (1, 4095), (4095, 4097), (4097, 16_384), (16_384, 20_000)]:
        cut.partial_fit(X[begin:end], y[begin:end], classes=range(classes))
    np.testing.assert_array_equal(cut.coef_, whole.coef_)
    np.testing.assert_array_equal(cut.intercept_, whole.intercept_)
    assert cut.mistakes_ == whole.mistakes_


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_very_strong_penalty_stays_finite(penalty: Any, alpha: float, dtype: Any) -> None:
    learner, X, y = settled_often(penalty, dtype, "sparse", 3)
    learner.set_params(alpha=alpha, max_iter=2).fit(X, y)
    assert np.isfinite(learner.coef_).all()
    assert np.abs(learner.coef_).max() <= 1.0 / alpha


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.3])
def test_the_mean_of_short_lives_keeps_its_digits(alpha: float) -> None:
    generator = np.random.default_rng(1)
    X = generator.standard_normal((20_000, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    signs = np.where(X[:, 0] + generator.normal(0, 0.5, len(X)) > 0, 1.0, -1.0)
    learner = PassiveAggressive(variant="PA-I", penalty="l1", alpha=alpha, keep="average", fit_intercept=False)
    learner.partial_fit(X, signs, classes=[-1.0, 1.0])
    w, sums = np.zeros(8), np.zeros(8)
    for x, sign in zip(X, signs.tolist(), strict=True):
        w = w + min(1.0, max(0.0, 1 - sign * (w @ x)) / (x @ x)) * sign * x
        w = np.sign(w) * np.maximum(np.abs(w) - alpha, 0)
        sums = sums + w
    np.testing.assert_allclose(learner.coef_[0], sums / len(X), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_weights_of_large_values_do_not_overflow_in_their_products(storage: Any) -> None:
    """Rows of the largest values of float32; the stored values are larger than the weights."""
    A = np.full(20_000, 1e15, np.float32)
    B = A.copy()
    B[1::2] *= -0.9
    learner = Perceptron(penalty="l2", alpha=3.3e-3, fit_intercept=False)
    learner.partial_fit(sp.csr_array((4090, len(A)), dtype=np.float32), [0, 1] * 2045)
    before = learner.mistakes_
    learner.partial_fit(storage(np.vstack([A, B, B, B])), [1, 1, 1, 1])
    assert learner.mistakes_ - before == 1


@pytest.mark.parametrize(
    ("learner", "fact"),
    [
        (Perceptron(penalty="l2", alpha=1e300, eta0=1e100), "alpha=1e+300"),
        (PassiveAggressive(penalty="elasticnet", l1_ratio=1.5), "l1_ratio=1.5"),
        (Perceptron(penalty="l2", keep="pocket"), "keep='pocket'"),
        (VotedPerceptron(penalty="l1"), "keep='vote'"),
    ],
    ids=repr,
)
def test_what_has_no_meaning_is_refused(learner: Any, fact: str) -> None:
    for learn in (lambda: learner.fit([[0.0], [1.0]], [0, 1]), lambda: learner.learn_one({"a": 1.0}, 1)):
        with rejected("parameter", fact):
            learn()


VARIANTS = ["PA", "PA-I", "PA-II"]


def plain(**options: Any) -> Any:
    return rosenblatt.PassiveAggressiveRegression(scale_target=False, **options)


def numbers(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 4)) * 8) / 8
    return X, X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0 + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("loss", "variant"), [("epsilon_insensitive", "PA-I"), ("squared_epsilon_insensitive", "PA-II")]
)
def test_the_losses_of_scikit_learn_are_variants_of_the_paper(loss: str, variant: str) -> None:
    X, y = numbers()
    theirs = rosenblatt.PassiveAggressiveRegressor(C=0.1, loss=loss, random_state=0).partial_fit(X, y)
    ours = plain(C=0.1, variant=variant, epsilon=0.1).partial_fit(X, y)
    np.testing.assert_array_equal(theirs.coef_, ours.coef_)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_epochs_are_those_of_the_textbook(variant: str, dtype: Any) -> None:
    X, y = numbers()
    extended = [[*row, 1.0] for row in X.tolist()]
    expected = rosenblatt.textbook.passive_aggressive_regression(extended, y.tolist(), 3, variant, 0.1, 0.2)
    told = {"variant": variant, "C": 0.1, "epsilon": 0.2}
    learner = plain(shuffle=False, max_iter=3, tol=None, **told).fit(X.astype(dtype), y)
    tolerance = 1e-9 if dtype is np.float64 else 1e-4
    found = np.append(learner.coef_, learner.intercept_)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("y", [["a", "b"], [1.0, np.inf], [1.0, None], [[1.0, 2.0], [3.0, 4.0]], [1e200, 0.0]], ids=str)
def test_targets_that_are_no_numbers_are_refused_and_change_nothing(y: Any) -> None:
    X, good = numbers()
    learner = plain().fit(X, good)
    before = learner.predict(X)
    with rejected("label", "y "):
        learner.partial_fit(X[:2], y)
    np.testing.assert_array_equal(learner.predict(X), before)
    with pytest.raises(rosenblatt.errors.LabelError):
        learner.learn_one({0: 1.0}, "a word")
