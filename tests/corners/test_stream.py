"""Streams: empty examples, many classes, and work that does not grow with what came before."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learners import LINEAR, STREAMING, each, rows
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
