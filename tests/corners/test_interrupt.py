"""An interrupted call has learned whole rows, all of them counted; one that raises has learned nothing."""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from learners import answers, assert_same, rbf, rows
from rosenblatt import (
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.4, 0.3, 1.0, 0.2, 1.2)  # of the time that learning takes
MOST_TRIES = 40  # beyond these, if no call was interrupted in the middle


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Ctrl-C in the middle of a call."""

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def contradictions(n: int, d: int) -> tuple[Any, Any]:
    """The same row again and again, under one label and the other: every row is a mistake, and so is counted."""
    return np.broadcast_to(np.linspace(0.5, 1.0, d), (n, d)), np.arange(n) % 2


def duration(learner: Any, X: Any, y: Any) -> float:
    started = time.perf_counter()
    learner.partial_fit(X, y)
    return time.perf_counter() - started


INTERRUPTED: dict[str, tuple[Any, Any, int, int]] = {  # the learner, one whose time is learning alone, rows, columns
    "last": (Perceptron, Perceptron, 150_000, 20),
    "average": (AveragedPerceptron, AveragedPerceptron, 150_000, 20),
    "vote": (VotedPerceptron, Perceptron, 150_000, 20),
    "PA-II vote": (
        lambda: PassiveAggressive(variant="PA-II", keep="vote"),
        lambda: PassiveAggressive(variant="PA-II"),
        150_000,
        20,
    ),
    "kernel": (lambda: KernelPerceptron(gamma=0.5), lambda: KernelPerceptron(gamma=0.5), 2_000, 20),
    "kernel vote": (
        lambda: KernelPerceptron(gamma=0.5, keep="vote"),
        lambda: KernelPerceptron(gamma=0.5),
        2_000,
        20,
    ),
    "kernel average": (
        lambda: KernelPerceptron(gamma=0.5, keep="average"),
        lambda: KernelPerceptron(gamma=0.5),
        2_000,
        20,
    ),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_partial_fit_has_learned_the_rows_that_it_counted(name: str) -> None:
    make, plain, n, d = INTERRUPTED[name]
    X, y = contradictions(n, d)
    frozen = pickle.dumps(make().partial_fit(X[:2], y[:2]))
    probe = np.concatenate([X[:1], -X[:1], 0.1 * X[:1]])
    takes = min(duration(plain(), X, y) for _ in range(2))
    in_the_middle, low, high = 0, 0.0, 2 * takes
    for share in [*SHARES, *[None] * MOST_TRIES]:
        if share is None and in_the_middle:
            break
        seconds = (low + high) / 2 if share is None else share * takes  # ever closer to where learning goes on
        learner = pickle.loads(frozen)
        try:
            with interrupt_after(seconds):
                learner.partial_fit(X, y)
            low, high = (0.0, high) if high <= seconds else (low, seconds)
        except KeyboardInterrupt:
            counted = learner.mistakes_
            low, high = (seconds, max(high, 1.5 * seconds)) if counted <= 2 else (low, seconds)
            in_the_middle += 2 < counted < n + 2
            fresh = pickle.loads(frozen)
            if counted > 2:
                fresh.partial_fit(X[: counted - 2], y[: counted - 2])
            assert learner.updates_ == fresh.updates_
            assert_same(answers(learner, probe), answers(fresh, probe), f"after {counted} counted rows the answers")
    if not in_the_middle:
        pytest.skip(f"too busy a machine: of {len(SHARES) + MOST_TRIES} calls none was interrupted while it learned")


class Fragile:
    """A kernel of the user's own that fails when it is told to."""

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __call__(self, a: Any, b: Any) -> Any:
        if self.error is not None:
            raise self.error
        return rbf(a, b)

    def __deepcopy__(self, memo: Any) -> Fragile:
        return self


@pytest.mark.parametrize(
    ("keep", "budget"), [("last", None), ("average", None), ("vote", None), ("pocket", None), ("last", 10)]
)
def test_a_kernel_function_that_raises_leaves_no_new_class(keep: Any, budget: int | None) -> None:
    X, y = rows(30)
    kernel = Fragile()
    learner = KernelPerceptron(kernel=kernel, budget=budget, keep=keep).partial_fit(X, y)
    before = answers(learner, X), learner.mistakes_, learner.updates_
    kernel.error = ValueError("the user's own function")
    with pytest.raises(ValueError, match="the user's own function"):
        learner.partial_fit(X, np.where(np.arange(30) % 3 == 0, "new class", y))
    kernel.error = None
    assert learner.classes_.tolist() == ["class 0", "class 1"]
    assert (learner.mistakes_, learner.updates_) == before[1:]
    assert_same(answers(learner, X), before[0])


@pytest.mark.parametrize("budget", [None, 10])
def test_a_kernel_function_that_raises_in_the_first_call_leaves_a_learner_that_has_learned_nothing(
    budget: int | None,
) -> None:
    X, y = rows(30)
    kernel = Fragile()
    kernel.error = ValueError("the user's own function")
    learner = KernelPerceptron(kernel=kernel, budget=budget)
    with pytest.raises(ValueError, match="the user's own function"):
        learner.partial_fit(X, y)
    assert not hasattr(learner, "classes_")


def test_an_interrupted_calibrated_partial_fit_keeps_learner_and_probabilities_together() -> None:
    X, y = rows(60, classes=3)
    learner = Calibrated(AveragedPerceptron(max_iter=5), n_jobs=1).fit(X[y != "class 2"], y[y != "class 2"])
    big, labels = np.tile(X, (3_000, 1)), np.tile(y, 3_000)
    frozen = pickle.dumps(learner)
    started = time.perf_counter()
    learner.partial_fit(big, labels)
    whole = time.perf_counter() - started
    for share in SHARES[:5]:
        copy = pickle.loads(frozen)
        try:
            with interrupt_after(share * whole):
                copy.partial_fit(big, labels)
        except KeyboardInterrupt:
            pass
        assert copy.predict_proba(X).shape == (60, len(copy.classes_))
        assert copy.classes_.tolist() == copy.learner_.classes_.tolist()
