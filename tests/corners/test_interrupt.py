"""An interrupted call has learned whole rows, all of them counted; one that raises has learned nothing."""

from __future__ import annotations

import pickle
import signal
import sys
import threading
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
MOST_TRIES = 50


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


@contextmanager
def interrupt_while_it_learns() -> Iterator[None]:
    """Ctrl-C as soon as the engine is seen at work: its `learn` is the frame, and it has let go of Python's lock."""
    done, main = threading.Event(), threading.main_thread().ident
    assert main is not None

    def stop(number: int, frame: Any) -> None:
        if not done.is_set():
            raise KeyboardInterrupt

    def watch() -> None:
        while not done.is_set():
            frame = sys._current_frames().get(main)
            if frame is not None and frame.f_code.co_name == "learn":
                signal.pthread_kill(main, signal.SIGALRM)
                return

    before, patience = signal.signal(signal.SIGALRM, stop), sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        sys.setswitchinterval(patience)
        signal.signal(signal.SIGALRM, before)


def contradictions(n: int, classes: int) -> tuple[Any, Any]:
    """The same row again and again, under every label in turn: each time it is a mistake, and so is counted."""
    return np.broadcast_to(np.linspace(0.5, 1.0, 20), (n, 20)), np.arange(n) % classes


# The learner, rows and classes; with so many classes the engine looks for signals several times in a pass.
INTERRUPTED: dict[str, tuple[Any, int, int]] = {
    "last": (Perceptron, 150_000, 64),
    "average": (AveragedPerceptron, 150_000, 64),
    "vote": (VotedPerceptron, 150_000, 64),
    "PA-II vote": (lambda: PassiveAggressive(variant="PA-II", keep="vote"), 150_000, 64),
    "kernel": (lambda: KernelPerceptron(gamma=0.5), 2_000, 2),
    "kernel vote": (lambda: KernelPerceptron(gamma=0.5, keep="vote"), 2_000, 2),
    "kernel average": (lambda: KernelPerceptron(gamma=0.5, keep="average"), 2_000, 2),
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_partial_fit_has_learned_the_rows_that_it_counted(name: str) -> None:
    make, n, classes = INTERRUPTED[name]
    X, y = contradictions(n, classes)
    frozen = pickle.dumps(make().partial_fit(X[:2], y[:2], classes=range(classes)))
    probe = np.concatenate([X[:1], -X[:1], 0.1 * X[:1]])
    in_the_middle = 0
    for _ in range(MOST_TRIES):
        learner = pickle.loads(frozen)
        try:
            with interrupt_while_it_learns():
                learner.partial_fit(X, y)
        except KeyboardInterrupt:
            counted = learner.mistakes_
            in_the_middle += 2 < counted < n + 2
            fresh = pickle.loads(frozen)
            if counted > 2:
                fresh.partial_fit(X[: counted - 2], y[: counted - 2])
            assert learner.updates_ == fresh.updates_
            assert_same(answers(learner, probe), answers(fresh, probe), f"after {counted} counted rows the answers")
        if in_the_middle == 3:
            break
    assert in_the_middle, f"of {MOST_TRIES} calls none was interrupted while it learned"


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
