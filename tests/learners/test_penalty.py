"""Penalties: what they do to the weights, and that the lazy work stays exact; see also test_equals_textbook.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from length import examples
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, Sweep, VotedPerceptron, engine, textbook
from rosenblatt.data import as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.targets import Targets
from rosenblatt.learners.weights import WeightState, states_over
from rosenblatt.params import Penalty, Rule

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@examples(300)
@given(
    st.floats(-100, 100),
    st.integers(0, 3000),
    st.sampled_from([1.0, 0.9999, 0.97, 0.5, 0.0]),
    st.sampled_from([0.0, 1e-3, 0.3]),
)
def test_many_rows_at_once_are_as_many_single_ones(weight: float, rows: int, shrink: float, cut: float) -> None:
    assume(abs(weight) > 1e-6 and (shrink, cut) != (1.0, 0.0))
    state = WeightState.begin(
        np.array([[weight]]), np.zeros(1), keep="average", fit_intercept=True, generator=engine.seed_generator(0)
    )
    state.take_penalty(Penalty(shrink, cut))
    state.set_counter("seen", rows)
    settled = state.settled()
    weights, sums = settled.weights[0], settled.arrays["sums"][0]
    w, total = [weight], 0.0
    for _ in range(rows):
        w = textbook.shrunk(w, shrink, cut)
        total += w[0]
    assert weights[0] == pytest.approx(w[0], rel=1e-9, abs=1e-9)
    assert sums[0] == pytest.approx(total, rel=1e-9, abs=1e-9)


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


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_settled_weights_are_those_that_shrank_row_by_row(penalty: Any, storage: Any) -> None:
    learner, X, y = settled_often(penalty, np.float64, storage, 2)
    learner.fit(X, y)
    rows, signs = X if storage == "dense" else X.toarray(), np.where(y == 1, 1.0, -1.0)
    ratio = {"l2": 0.0, "l1": 1.0, "elasticnet": 0.15}[penalty]
    w, b, sums, offsets, mistakes = np.zeros(5), 0.0, np.zeros(5), 0.0, 0
    for x, sign in zip(rows, signs.tolist(), strict=True):
        if sign * (w @ x + b) <= 0:
            w, b, mistakes = w + sign * x, b + sign, mistakes + 1
        w = np.sign(w) * np.maximum((1 - (1 - ratio) * 2.0**-9) * np.abs(w) - ratio * 2.0**-9, 0)
        sums, offsets = sums + w, offsets + b
    assert learner.mistakes_ == mistakes
    np.testing.assert_allclose(learner.coef_[0], sums / len(rows), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(learner.intercept_[0], offsets / len(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_very_strong_penalty_stays_finite(penalty: Any, alpha: float, dtype: Any) -> None:
    learner, X, y = settled_often(penalty, dtype, "sparse", 3)
    learner.set_params(alpha=alpha, max_iter=2).fit(X, y)
    assert np.isfinite(learner.coef_).all()
    assert np.abs(learner.coef_).max() <= 1.0 / alpha


@pytest.mark.parametrize("alpha", [0.97, 1.0, 1e6, 1e20, 1e40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("keep", ["last", "average"])
def test_weights_that_never_outlive_a_row_are_exactly_zero(alpha: float, dtype: Any, keep: Any) -> None:
    generator = np.random.default_rng(0)
    X, y = generator.uniform(0.1, 0.9, (17_000, 5)).astype(dtype), generator.integers(0, 2, 17_000)
    learner = Perceptron(penalty="l1", alpha=alpha, keep=keep).partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(learner.coef_, np.zeros((1, 5)))


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
    """Rows of the largest values of float32; what is held is larger than the weights."""
    A = np.full(20_000, 1e15, np.float32)
    B = A.copy()
    B[1::2] *= -0.9
    learner = Perceptron(penalty="l2", alpha=3.3e-3, fit_intercept=False)
    learner.partial_fit(sp.csr_array((4090, len(A)), dtype=np.float32), [0, 1] * 2045)
    before = learner.mistakes_
    learner.partial_fit(storage(np.vstack([A, B, B, B])), [1, 1, 1, 1])
    assert learner.mistakes_ - before == 1


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_a_penalty_of_nothing_is_none(penalty: Any) -> None:
    X, y = text_like()
    none, nothing = (Perceptron(penalty=p, alpha=0.0, max_iter=3, tol=None).fit(X, y) for p in (None, penalty))
    np.testing.assert_array_equal(none.coef_, nothing.coef_)


def test_two_fits_are_one() -> None:
    X, y = text_like()
    ten = AveragedPerceptron(penalty="elasticnet", alpha=0.01, max_iter=10, tol=None).fit(X, y)
    twice = AveragedPerceptron(penalty="elasticnet", alpha=0.01, max_iter=5, tol=None, warm_start=True).fit(X, y)
    twice.fit(X, y)
    np.testing.assert_array_equal(ten.coef_, twice.coef_)


def test_dense_and_sparse_batches_may_alternate() -> None:
    X, y = text_like(100, 40)
    mixed, sparse = (AveragedPerceptron(penalty="elasticnet", alpha=0.01) for _ in range(2))
    for k in range(10):
        part = X[10 * k : 10 * k + 10]
        mixed.partial_fit(part.toarray() if k % 2 else part, y[10 * k : 10 * k + 10], classes=["down", "up"])
        sparse.partial_fit(part, y[10 * k : 10 * k + 10], classes=["down", "up"])
    np.testing.assert_allclose(mixed.coef_, sparse.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_a_third_class_takes_over_what_was_learned(multiclass: Any) -> None:
    """The weights are brought up to date before they are shared out."""
    X, y = text_like(60, 30)
    learner = Perceptron(penalty="l1", alpha=0.25, multiclass=multiclass).partial_fit(X, y)
    before = learner.coef_[0]
    grown = states_over(learner.learned.states, learner.classes_, np.array(["down", "up", "x"]), learner.params())
    rows = np.vstack([state.predictor().weights for state in grown])
    np.testing.assert_array_equal(rows, [-before, before, 0 * before])


def test_sweep_over_penalties_equals_each_alone() -> None:
    X, y = text_like()
    learners = [
        *(Perceptron(penalty=p, alpha=a, max_iter=4, tol=None) for p in ("l2", "l1") for a in (1e-3, 1e-2)),
        AveragedPerceptron(penalty="elasticnet", max_iter=4, tol=None),
        PassiveAggressive(penalty="l2", alpha=1e-3, max_iter=4, tol=None),
        Perceptron(max_iter=4, tol=None),
        AROW(max_iter=4, tol=None),
    ]
    sweep = Sweep(learners, choose="progressive", n_jobs=2).fit(X, y)
    for learner, found in zip(learners, sweep.learners_, strict=True):
        np.testing.assert_array_equal(found.coef_, clone(learner).fit(X, y).coef_)


def test_examples_one_by_one_equal_a_batch() -> None:
    X, y = text_like(80, 25)
    stream = Perceptron(penalty="elasticnet", alpha=0.02)
    names = {j: None for row in range(80) for j in X[[row]].indices.tolist()}
    for row, label in enumerate(y.tolist()):
        one = X[[row]]
        stream.learn_one(dict(zip(one.indices.tolist(), one.data.tolist(), strict=True)), label)
    seen_second = next(k for k, label in enumerate(y.tolist()) if label != y[0])
    assert seen_second >= 1  # until the second label comes there is nothing to be mistaken for
    late = Perceptron(penalty="elasticnet", alpha=0.02).partial_fit(X[:seen_second], y[:seen_second])
    late.partial_fit(X[seen_second:], y[seen_second:])
    np.testing.assert_allclose(stream.coef_[0], late.coef_[0][list(names)], rtol=1e-12, atol=1e-15)
    assert stream.predict_one({3: 1.0}) in ("down", "up")


def test_l2_has_the_direction_of_a_gradient_step() -> None:
    """By hand: alpha 0.5 halves the weights after each row; scikit-learn shrinks before the step instead of after."""
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([1, -1, 1])
    ours = Perceptron(penalty="l2", alpha=0.5, fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
    # row 0: w = (1, 0) -> (0.5, 0); row 1: score 0, w = (0.5, -2) -> (0.25, -1); row 2: score -0.75, w = (1.25, 0)
    np.testing.assert_array_equal(ours.coef_, [[0.625, 0.0]])
    theirs = SGDClassifier(
        loss="perceptron", penalty="l2", alpha=0.5, learning_rate="constant", eta0=1.0, shuffle=False,
        fit_intercept=False,
    ).partial_fit(X, y, classes=[-1, 1])  # fmt: skip
    np.testing.assert_allclose(theirs.coef_, 2 * ours.coef_)


@pytest.mark.parametrize(
    ("learner", "sentence"),
    [
        (Perceptron(penalty="l3"), "penalty='l3': must be None, 'l2', 'l1' or 'elasticnet'"),
        (Perceptron(penalty="l2", alpha=-1.0), "alpha=-1.0: must be at least 0"),
        (Perceptron(penalty="l1", alpha=np.inf), "alpha=inf: must be finite, also times eta0=1.0"),
        (Perceptron(penalty="l2", alpha=1e300, eta0=1e100), r"alpha=1e\+300: must be finite, also times eta0=1e\+100"),
        (PassiveAggressive(penalty="elasticnet", l1_ratio=1.5), "l1_ratio=1.5: must be at least 0 and at most 1"),
        (Perceptron(penalty="l2", keep="pocket"), "keep='pocket' needs weights that change by updates alone"),
        (VotedPerceptron(penalty="l1"), "keep='vote' needs weights that change by updates alone"),
    ],
    ids=repr,
)
def test_what_has_no_meaning_is_refused(learner: Any, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence.replace("(", r"\(")):
        learner.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError):
        learner.learn_one({"a": 1.0}, 1)


def test_a_copy_of_a_state_goes_its_own_way() -> None:
    state = WeightState.begin(
        np.ones((1, 2)), np.zeros(1), keep="last", fit_intercept=True, generator=engine.seed_generator(0)
    )
    table, y = as_table(np.array([[1.0, 0.0]])), np.array([1], np.int8)
    state.learn(table, Targets(y, 1), Rule(penalty=Penalty(0.5)))
    other = state.copy()
    other.learn(table, Targets(y, 1), Rule(penalty=Penalty(0.5)))
    np.testing.assert_array_equal(state.settled().weights, [[0.5, 0.5]])
    np.testing.assert_array_equal(other.settled().weights, [[0.25, 0.25]])
