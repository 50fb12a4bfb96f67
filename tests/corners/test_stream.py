"""Streams: empty examples, many classes, and work that does not grow with what came before."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learners import LEARNERS, LINEAR, STREAMING, each, rows
from rosenblatt import AutoPerceptron, AveragedPerceptron, Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# -- empty examples


@each(LINEAR)
def test_an_example_without_features_is_an_example(make: Any) -> None:
    learner = make()
    for label in ("a", "b", "a", "b"):
        learner.learn_one({}, label)
    assert learner.predict_one({}) in ("a", "b")
    assert learner.classes_.tolist() == ["a", "b"]
    learner.learn_one({"x": 1.0}, "b")
    assert learner.n_features_in_ == 1


@each({name: LEARNERS[name] for name in ("sigmoid", "votes", "votes ovr")})
def test_an_example_without_features_has_probabilities(make: Any) -> None:
    learner = make().learn_one({}, "a").learn_one({}, "b")
    assert set(learner.predict_proba_one({"never seen": 1.0})) == {"a", "b"}
    learner.learn_one({}, "c").learn_one({"x": 1.0}, "c")
    assert learner.predict_one({}) == "c"
    assert sum(learner.predict_proba_one({"x": 1.0}).values()) == pytest.approx(1.0)


# -- many classes


def test_auto_perceptron_takes_126_classes_of_2_rows() -> None:
    X = np.random.default_rng(0).normal(size=(252, 5))
    y = np.repeat(np.arange(126), 2)
    learner = AutoPerceptron(n_jobs=1).fit(X, y)
    assert learner.predict_proba(X).shape == (252, 126)


@pytest.mark.parametrize("classes", [126, 200])
def test_auto_perceptron_takes_any_number_of_small_classes(classes: int) -> None:
    y = np.repeat(np.arange(classes), 2)
    X = np.random.default_rng(1).normal(size=(len(y), 3)) + y[:, None]
    assert len(AutoPerceptron(n_jobs=1).fit(X, y).classes_) == classes


def test_early_stopping_takes_many_classes_of_few_rows() -> None:
    y = np.repeat(np.arange(126), 4)  # a tenth of 4 rows is less than a half
    X = np.random.default_rng(0).normal(size=(len(y), 5))
    learner = Perceptron(early_stopping=True, max_iter=3).fit(X, y)
    assert len(learner.history_.validation_score) == learner.n_iter_


@pytest.mark.parametrize("labels", ["words", "numbers"])
@each({name: LINEAR[name] for name in ("positive tie", "average ovr", "pocket ovr", "AROW ovr")})
def test_new_classes_of_a_stream_are_those_of_rows(make: Any, labels: str) -> None:
    """Classes come in any order, with features that nobody has met and with weights."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 40, 120)
    known = [f"{'x' * (code % 5)}{code}" if labels == "words" else int(code) for code in codes]
    X = np.round(rng.normal(size=(120, 100)) * 8) / 8
    X[:, 3:] *= np.arange(120)[:, None] >= np.arange(97)[None]  # column 3 + i is 0 before row i
    weights = rng.choice([0.5, 1.0, 2.0], 120)
    one, rows_ = make(), make()
    for x, label, weight in zip(X, known, weights, strict=True):
        one.learn_one({j: value for j, value in enumerate(x.tolist()) if value or j < 3}, label, weight)
        rows_.partial_fit(x[None], [label], sample_weight=[weight])
        assert one.predict_one(dict(enumerate(x))) == rows_.predict(x[None]).tolist()[0]
    assert one.classes_.tolist() == rows_.classes_.tolist() == sorted(set(known))
    assert (one.mistakes_, one.updates_) == (rows_.mistakes_, rows_.updates_)
    columns = [one.columns_by_name()[j] for j in range(100)]
    np.testing.assert_allclose(one.coef_[:, columns], rows_.coef_, atol=1e-12)  # the columns stand in another order
    np.testing.assert_allclose(one.intercept_, rows_.intercept_, atol=1e-12)


def test_a_new_class_in_one_vs_rest_copies_no_other() -> None:
    learner = Perceptron(multiclass="ovr")
    for k in range(300):
        learner.learn_one({"x": float(k), "y": 1.0}, k)
    tracemalloc.start()
    needed = min(memory(lambda k=k: learner.learn_one({"x": 1.0}, k)) for k in range(300, 305))
    tracemalloc.stop()
    assert needed < 300 * 64 * 8, "the weights of 300 classes with room for 64 features"


def test_an_example_of_a_new_class_that_cannot_be_read_leaves_no_class_behind() -> None:
    learner = Perceptron(multiclass="ovr")
    for k in range(4):
        learner.learn_one({"x": float(k)}, k)
    before = learner.coef_.copy()
    for bad in ({"x": np.nan}, {"x": "word"}):
        with pytest.raises((ValueError, TypeError)):
            learner.learn_one(bad, 9)
    with pytest.raises(ValueError, match="cannot be sorted among"):
        learner.learn_one({"x": 1.0}, "a word")
    assert learner.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(learner.coef_, before)
    learner.learn_one({"x": 1.0}, 3)
    assert learner.coef_.shape == (4, 1)


def memory(call: Callable[[], Any]) -> int:
    """The most bytes that a call needed at once, beside what was there before."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    call()
    return tracemalloc.get_traced_memory()[1] - before


@pytest.fixture
def traced() -> Any:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@each({name: STREAMING[name] for name in ("last", "vote", "AROW", "kernel", "projectron")})
def test_a_late_partial_fit_needs_no_more_memory_than_an_early_one(make: Any) -> None:
    """Rows that are right, so that nothing is learned from them: only what is copied can grow."""
    X, y = rows(40, seed=1)
    learner = make().partial_fit(X, y)
    easy = X[:1]

    def least() -> int:
        tracemalloc.start()
        try:
            return min(memory(lambda: learner.partial_fit(easy, learner.predict(easy))) for _ in range(5))
        finally:
            tracemalloc.stop()

    early = least()
    for _ in range(400):
        learner.partial_fit(easy, learner.predict(easy))
    assert least() < early + 2_000


def test_the_history_of_a_long_stream_is_not_copied_with_every_call() -> None:
    X, y = rows(2)
    learner = AveragedPerceptron().partial_fit(X, y)
    for _ in range(2_000):
        learner.partial_fit(X, y)
    tracemalloc.start()
    needed = min(memory(lambda: learner.partial_fit(X, y)) for _ in range(8))
    tracemalloc.stop()
    assert needed < 16_000, "one list of 2,000 entries alone is 16,000 bytes"
