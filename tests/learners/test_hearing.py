"""Ctrl-C at any line of `partial_fit`, `fit` and `learn_one`: whole rows are learned by all classes, and counted."""

from __future__ import annotations

import copy
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from types import FrameType
from typing import Any

import numpy as np
import pytest

from length import up_to
from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from rosenblatt.learners.hearing import Hearing

LEARNERS: dict[str, Any] = {
    "perceptron": lambda: Perceptron(max_iter=3),
    "averaged": lambda: AveragedPerceptron(max_iter=3),
    "ovr": lambda: Perceptron(max_iter=3, multiclass="ovr"),
    "voted": lambda: VotedPerceptron(max_iter=3),
    "pocket": lambda: PocketPerceptron(max_iter=3),
    "kernel": lambda: KernelPerceptron(max_iter=3, gamma=0.5),
    "kernel, ovr": lambda: KernelPerceptron(max_iter=3, gamma=0.5, multiclass="ovr"),
}


@pytest.fixture(autouse=True)
def _heard() -> Iterator[None]:
    """Ctrl-C is heard, even if these tests run in the background, where it is not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def rows(seed: int, count: int, classes: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, 6)), np.arange(count) % classes


def interrupted_at(line: int, call: Any) -> bool:
    """Run the call with Ctrl-C when the package's so many-th line of code comes; was there one?"""
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if "/rosenblatt/" not in frame.f_code.co_filename or frame.f_code.co_filename.endswith("hearing.py"):
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


def interrupted_after(seconds: float, call: Any) -> bool:
    """Run the call with Ctrl-C after a while; was it there still?"""
    ended = False
    before = signal.signal(signal.SIGALRM, lambda *_: None if ended else signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        call()
        ended = True
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


def facts(learner: Any, X: Any) -> tuple[Any, ...]:
    scores = learner.decision_function(X)
    return scores.tobytes(), learner.mistakes_, learner.updates_, learner.classes_.tolist(), len(learner.history_)


def check_every_moment(before: Any, after: Any, X: Any, call: Callable[[Any], Any], *, lines: int) -> None:
    """Interrupted at every so many lines, the call leaves what was before it or what is after it, and each of them."""
    expected = [facts(before, X), facts(after, X)]
    found = set()
    for line in count(1, lines):
        learner = copy.deepcopy(before)
        if not interrupted_at(line, partial(call, learner)):
            break
        found.add(expected.index(facts(learner, X)))
    assert found == {0, 1}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("new", [False, True], ids=["known classes", "a new class"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_partial_fit_is_interrupted_before_or_after_its_rows(name: str, new: bool) -> None:
    """The rows are so few that the engine is not asked between them."""
    X, y = rows(0, 24)
    more, asked = rows(1, 20, classes=5 if new else 4)
    before = LEARNERS[name]().partial_fit(X, y)
    after = copy.deepcopy(before).partial_fit(more, asked)
    check_every_moment(before, after, X, lambda learner: learner.partial_fit(more, asked), lines=7)


STREAMS = {
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "ovr": lambda: Perceptron(multiclass="ovr"),
    "voted": VotedPerceptron,
    "voted, ovr": lambda: VotedPerceptron(multiclass="ovr"),
    "penalized": lambda: AveragedPerceptron(penalty="l2"),
    "hashed": lambda: Perceptron(hash_bits=6),
}
EXAMPLES = [({f"w{(3 * i + j) % 9}": float((i * j) % 5 - 2) for j in range(4)}, i % 3) for i in range(30)]


def facts_of_stream(learner: Any) -> tuple[Any, ...]:
    scores = [learner.scores_one(features).tobytes() for features, _ in EXAMPLES]
    scores.append(learner.scores(np.eye(learner.n_features_in_)).tobytes())
    return scores, learner.mistakes_, learner.updates_, learner.classes_.tolist(), learner.n_features_in_


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("what", ["known", "new features", "new class", "begins anew", "closes"])
@pytest.mark.parametrize("name", STREAMS)
def test_an_example_is_interrupted_before_or_after_it_is_learned(name: str, what: str) -> None:
    before = STREAMS[name]().learn_many([f for f, _ in EXAMPLES], [y for _, y in EXAMPLES])
    if what == "begins anew":
        before.set_params(eta0=1.0)
    features = {"w1": 2.0, "w5": -3.0} | ({f"new{k}": 1.0 for k in range(80)} if what == "new features" else {})

    def call(learner: Any) -> Any:
        if what == "closes":
            return learner.set_params(eta0=1.0)
        return learner.learn_one(features, 7 if what == "new class" else 1)

    after = copy.deepcopy(before)
    call(after)
    expected = [facts_of_stream(before), facts_of_stream(after)]
    for line in count(1, up_to(1, short=3)):
        learner = copy.deepcopy(before)
        learner.predictors()  # which are made again if anything was learned
        if not interrupted_at(line, partial(call, learner)):
            break
        found = facts_of_stream(learner)
        assert found in expected, line
        call(learner)  # it goes on


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["perceptron", "ovr", "voted"])
def test_a_fit_is_interrupted_before_or_after_all_of_it(name: str) -> None:
    X, y = rows(0, 24)
    before = LEARNERS[name]().fit(X[:12], y[:12])
    after = copy.deepcopy(before).fit(X, y)
    check_every_moment(before, after, X, lambda learner: learner.fit(X, y), lines=11)


@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_a_long_pass_ends_between_two_rows_for_all_classes(multiclass: str, keep: str) -> None:
    X, y = rows(2, 600_000)
    X = np.tile(X, 10)
    kind = {"last": Perceptron, "average": AveragedPerceptron, "vote": VotedPerceptron}[keep]
    for delay in (0.06, 0.03, 0.015, 0.008, 0.004, 0.002):  # until one comes before the end, however quick the machine
        learner = kind(multiclass=multiclass).partial_fit(X[:8], y[:8])
        before = learner.learned.states[0].counter("seen")
        if interrupted_after(delay, partial(learner.partial_fit, X, y)):
            break
    else:
        pytest.fail("never interrupted")
    seen = {state.counter("seen") - before for state in learner.learned.states}
    assert len(seen) == 1
    (learned,) = seen
    again = kind(multiclass=multiclass).partial_fit(X[:8], y[:8])
    if learned:
        again.partial_fit(X[:learned], y[:learned])
    assert learner.mistakes_ == again.mistakes_
    assert np.array_equal(learner.decision_function(X[:50]), again.decision_function(X[:50]))


def test_what_is_heard_waits_for_the_end_and_is_not_lost() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), Hearing() as outer:  # noqa: PT012
        with Hearing() as inner:
            signal.raise_signal(signal.SIGINT)
            steps.append((outer.cancel[0], inner.cancel[0]))
        steps.append((outer.cancel[0], inner.cancel[0]))
    assert steps == [(0, 1), (1, 1)]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_interrupt_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Hearing() as hearing:
            signal.raise_signal(signal.SIGINT)
        assert not hearing.cancel[0]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
