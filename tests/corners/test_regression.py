"""Passive-aggressive regression (Crammer et al. 2006, section 6), by scikit-learn's name and by a plain one."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor

import rosenblatt
from learners import dicts
from rosenblatt import load, save

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

VARIANTS = ["PA", "PA-I", "PA-II"]


def plain(**options: Any) -> Any:
    return rosenblatt.PassiveAggressiveRegression(scale_target=False, **options)


def numbers(n: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, 4)) * 8) / 8
    return X, X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3.0 + 0.1 * rng.normal(size=n)


def textbook(X: Any, y: Any, *, variant: str, C: float, epsilon: float, weights: Any = None) -> Any:
    """One pass in order: ``l = max(0, |y - a| - epsilon)``, a step along the row towards y."""
    w = np.zeros(X.shape[1] + 1)
    for i, row in enumerate(X):
        x = np.append(row, 1.0)
        s = 1.0 if weights is None else weights[i]
        off = y[i] - w @ x
        loss, q = max(0.0, abs(off) - epsilon), x @ x
        if s == 0 or loss == 0:
            continue
        tau = {"PA": loss / q, "PA-I": min(s * C, loss / q), "PA-II": loss / (q + 1 / (2 * s * C))}[variant]
        w += np.sign(off) * tau * x
    return w


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_one_pass_is_that_of_the_paper(variant: str, sparse: bool) -> None:
    X, y = numbers()
    weights = np.resize([1.0, 0.5, 0.0, 2.0], 60)
    learner = plain(variant=variant, C=0.1, epsilon=0.2)
    learner.partial_fit(sp.csr_array(X) if sparse else X, y, sample_weight=weights)
    expected = textbook(X, y, variant=variant, C=0.1, epsilon=0.2, weights=weights)
    np.testing.assert_allclose(np.append(learner.coef_, learner.intercept_), expected, rtol=1e-9)
    np.testing.assert_allclose(learner.predict(X), X @ expected[:-1] + expected[-1], rtol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_cut_into_calls_gives_the_same_bits(variant: str) -> None:
    X, y = numbers()
    whole, cut = plain(variant=variant).partial_fit(X, y), plain(variant=variant)
    for part in (slice(0, 7), slice(7, 30), slice(30, 60)):
        cut.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(whole.coef_, cut.coef_)


def test_a_stream_of_dicts_is_the_same_regression() -> None:
    X, y = numbers()
    one, many = plain(), plain().partial_fit(X, y)
    for x, value in zip(dicts(X), y.tolist(), strict=True):
        one.learn_one(x, value)
    assert one.predict_one(dicts(X)[0]) == pytest.approx(many.predict(X[:1])[0])


@pytest.mark.parametrize("examples", [1, 20])
def test_fit_after_a_stream_with_names_is_the_fit_of_a_fresh_learner(examples: int) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    learner = rosenblatt.PassiveAggressiveRegression(max_iter=5)
    for row in range(examples):
        learner.learn_one({"a": 1.0, f"b{row}": 2.0}, X[row, 0])
    fresh = rosenblatt.PassiveAggressiveRegression(max_iter=5).fit(X, X[:, 0])
    np.testing.assert_array_equal(learner.fit(X, X[:, 0]).coef_, fresh.coef_)
    assert learner.n_features_in_ == 3
    assert not hasattr(learner, "feature_names_in_")


def test_it_is_a_regressor_with_scores_of_one() -> None:
    X, y = numbers(500)
    learner = plain(epsilon=0.01, keep="average", max_iter=50).fit(X, y)
    assert is_regressor(learner)
    assert learner.score(X, y) > 0.98  # the noise alone leaves 0.998
    assert learner.coef_.shape == (4,)


def test_a_label_that_is_no_number_is_refused_with_its_row() -> None:
    X, y = numbers()
    y[5] = np.nan
    with pytest.raises(rosenblatt.errors.DataError, match="row 5"):
        plain().fit(X, y)


def test_a_saved_regression_answers_with_the_same_bits(tmp_path: Path) -> None:
    X, y = numbers()
    learner = plain().fit(X, y)
    save(learner, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), learner.predict(X))


def test_the_parameters_of_scikit_learn_have_its_names_and_defaults() -> None:
    expected = {
        "C": 1.0,
        "fit_intercept": True,
        "max_iter": 1000,
        "tol": 1e-3,
        "early_stopping": False,
        "validation_fraction": 0.1,
        "n_iter_no_change": 5,
        "shuffle": True,
        "verbose": 0,
        "loss": "epsilon_insensitive",
        "epsilon": 0.1,
        "random_state": None,
        "warm_start": False,
        "average": False,
    }
    given = inspect.signature(rosenblatt.PassiveAggressiveRegressor).parameters
    assert {name: given[name].default for name in expected} == expected


@pytest.mark.parametrize(
    ("loss", "variant"), [("epsilon_insensitive", "PA-I"), ("squared_epsilon_insensitive", "PA-II")]
)
def test_the_losses_of_scikit_learn_are_variants_of_the_paper(loss: str, variant: str) -> None:
    X, y = numbers()
    theirs = rosenblatt.PassiveAggressiveRegressor(C=0.1, loss=loss, random_state=0).partial_fit(X, y)
    ours = plain(C=0.1, variant=variant, epsilon=0.1).partial_fit(X, y)
    np.testing.assert_array_equal(theirs.coef_, ours.coef_)


# -- beside the textbook


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


@pytest.mark.parametrize("keep", ["last", "average", "tail"])
def test_a_saved_regression_goes_on(keep: str, tmp_path: Path) -> None:
    X, y = numbers()
    straight, broken = plain(keep=keep).partial_fit(X[:30], y[:30]), plain(keep=keep).partial_fit(X[:30], y[:30])
    save(broken, tmp_path / "m")
    loaded = load(tmp_path / "m").partial_fit(X[30:], y[30:], sample_weight=np.full(30, 0.5))
    straight.partial_fit(X[30:], y[30:], sample_weight=np.full(30, 0.5))
    np.testing.assert_array_equal(loaded.predict(X), straight.predict(X))
    loaded.learn_one({0: 1.0}, 2.5)
    straight.learn_one({0: 1.0}, 2.5)
    assert loaded.predict_one({0: 1.0}) == straight.predict_one({0: 1.0})
    assert not hasattr(loaded, "classes_")


def test_early_stopping_is_by_r2_and_warm_starts_go_on() -> None:
    X, y = numbers(400)
    learner = plain(early_stopping=True, keep="average", max_iter=50).fit(X, y)
    assert 0.9 < max(learner.history_.validation_score) <= 1.0
    more = plain(warm_start=True, max_iter=3, tol=None, shuffle=False).fit(X, y).fit(X, y)
    once = plain(max_iter=6, tol=None, shuffle=False).fit(X, y)
    np.testing.assert_array_equal(more.coef_, once.coef_)
    assert len(more.history_) == 6


@pytest.mark.parametrize("y", [["a", "b"], [1.0, np.inf], [1.0, None], [[1.0, 2.0], [3.0, 4.0]], [1e200, 0.0]], ids=str)
def test_targets_that_are_no_numbers_are_refused_and_change_nothing(y: Any) -> None:
    X, good = numbers()
    learner = plain().fit(X, good)
    before = learner.predict(X)
    with pytest.raises(rosenblatt.errors.LabelError, match="y "):
        learner.partial_fit(X[:2], y)
    np.testing.assert_array_equal(learner.predict(X), before)
    with pytest.raises(rosenblatt.errors.LabelError):
        learner.learn_one({0: 1.0}, "a word")


@pytest.mark.parametrize(
    "told", [{"epsilon": -1.0}, {"C": 0.0}, {"keep": "vote"}, {"keep": "pocket"}, {"variant": "PA-III"}]
)
def test_parameters_out_of_range_are_refused(told: Any) -> None:
    X, y = numbers()
    with pytest.raises(rosenblatt.errors.ParameterError, match=next(iter(told))):
        plain(**told).fit(X, y)
