"""Ctrl-C stops at a row boundary: all classes have learned the same rows, all counted; an error learns nothing."""

import copy
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pytest
from length import up_to
from registry import CONFIGURATIONS, answers, assert_same, dicts, each, rbf, rows

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron
from rosenblatt.learners.fit import run_threads

pytestmark = pytest.mark.filterwarnings("ignore")


def interrupted_at(line: int, call: Callable[[], Any]) -> bool:
    """Make the call with Ctrl-C before this line of the package; does the call have so many lines?"""
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if "/rosenblatt/" not in frame.f_code.co_filename or frame.f_code.co_name in ("deferred_interrupt", "handle"):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return left <= 0


def facts(learner: Any, X: Any) -> tuple[Any, ...]:
    found = [each.tolist() for each in answers(learner, X)]
    return found, learner.classes_.tolist(), learner.mistakes_, learner.updates_, learner.n_features_in_


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "partial_fit": lambda learner, X, y: learner.partial_fit(X, y),
    "partial_fit with a new class": lambda learner, X, y: learner.partial_fit(X, np.where(X[:, 0] > 1, "new", y)),
    "fit": lambda learner, X, y: learner.fit(X, y),
    "learn_one": lambda learner, X, y: learner.learn_one(dicts(X)[0], y[0]),
    "learn_one with a new class": lambda learner, X, y: learner.learn_one(dicts(X)[0], "new"),
}


@pytest.mark.long
@pytest.mark.parametrize("call", CALLS)
@each({name: CONFIGURATIONS[name] for name in ("last", "average ovr", "vote", "pocket", "l2", "kernel")})
def test_few_rows_are_learned_all_or_none_whichever_line_is_interrupted(make: Any, call: str) -> None:
    X, y = rows(44)
    before = make().set_params(max_iter=3).partial_fit(X, y)
    after = copy.deepcopy(before)
    CALLS[call](after, X[3:27] / 2, y[3:27])
    expected, found = [facts(before, X), facts(after, X)], set()
    for line in count(1, up_to(3, short=29 if call == "fit" else 13)):
        learner = copy.deepcopy(before)
        if not interrupted_at(line, partial(CALLS[call], learner, X[3:27] / 2, y[3:27])):
            break
        found.add(expected.index(facts(learner, X)))
    assert 0 in found


def test_an_interrupted_calibrated_learner_has_probabilities_for_its_classes() -> None:
    X, y = rows(40)
    before, found = CONFIGURATIONS["sigmoid"]().fit(X, y), set()
    for line in count(1, up_to(3, short=13)):
        learner = copy.deepcopy(before)
        if not interrupted_at(line, partial(CALLS["partial_fit with a new class"], learner, X, y)):
            break
        found.add(len(learner.classes_))
        assert learner.predict_proba(X).shape == (40, len(learner.classes_))
        assert learner.classes_.tolist() == learner.learner_.classes_.tolist()
    assert found == {2, 3}  # the call was interrupted before the new class came, and after


def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    X, y = rows(44)
    learner, twin = Perceptron().partial_fit(X, y), Perceptron().partial_fit(X, y).partial_fit(X, y)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in range(1, 200, 9):
        each_learner = copy.deepcopy(learner)
        interrupted_at(line, partial(each_learner.partial_fit, X, y))
        assert facts(each_learner, X) == facts(twin, X)


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Ctrl-C when the process has worked so long, however busy the machine is."""
    before = signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def contradictions(n: int, classes: int) -> tuple[Any, Any]:
    """The same row again and again, under every label in turn: each time it is a mistake, and so is counted."""
    return np.broadcast_to(np.linspace(0.5, 1.0, 20), (n, 20)), np.arange(n) % classes


# The learner, rows and classes; with so many classes the engine looks for signals several times in a pass.
INTERRUPTED: dict[str, tuple[Any, int, int]] = {
    "last": (Perceptron, 150_000, 64),
    "average": (AveragedPerceptron, 150_000, 64),
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
    start = time.process_time()
    pickle.loads(frozen).partial_fit(X, y)
    whole, in_the_middle = time.process_time() - start, 0
    for share in (0.5, 0.7, 0.3, 0.8, 0.2, 0.6, 0.4, 0.9, 0.5, 0.5):
        learner = pickle.loads(frozen)
        with suppress(KeyboardInterrupt), interrupt_after(share * whole):
            learner.partial_fit(X, y)
        counted = learner.mistakes_
        in_the_middle += 2 < counted < n + 2
        fresh = pickle.loads(frozen)
        if counted > 2:
            fresh.partial_fit(X[: counted - 2], y[: counted - 2])
        assert learner.updates_ == fresh.updates_
        assert_same(answers(learner, probe), answers(fresh, probe), f"after {counted} counted rows the answers")
        if in_the_middle == 2:
            break
    assert in_the_middle, "no call was interrupted while it learned"


def test_ctrl_c_while_threads_start_stops_those_that_run() -> None:
    def work(cancel: Any) -> None:
        while not cancel[0]:
            threading.Event().wait(0.001)

    class Interrupted(list[Any]):
        def __iter__(self) -> Any:
            yield self[0]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_threads(Interrupted([work, work]), 2)


class Fragile:
    """A kernel of the user's own that fails on demand."""

    error: BaseException | None = None

    def __call__(self, a: Any, b: Any) -> Any:
        if self.error is not None:
            raise self.error
        return rbf(a, b)

    def __deepcopy__(self, memo: Any) -> "Fragile":
        return self


@pytest.mark.parametrize(
    ("keep", "budget"), [("last", None), ("average", None), ("vote", None), ("pocket", None), ("last", 10)]
)
def test_a_kernel_function_that_raises_leaves_the_learner_as_it_was(keep: Any, budget: int | None) -> None:
    X, y = rows(30)
    kernel = Fragile()
    fresh, learner = (KernelPerceptron(kernel=kernel, budget=budget, keep=keep) for _ in range(2))
    before = facts(learner.partial_fit(X, y), X)
    kernel.error = ValueError("the user's own function")
    for each_learner in (fresh, learner):
        with pytest.raises(ValueError, match="the user's own function"):
            each_learner.partial_fit(X, np.where(np.arange(30) % 3 == 0, "new class", y))
    kernel.error = None
    assert not hasattr(fresh, "classes_")
    assert facts(learner, X) == before
