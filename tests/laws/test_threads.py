"""Any number of threads may predict; beside one that learns, an answer is that of the state before or after a call."""

import copy
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import python
from interleave import interleave, run_all
from registry import CONFIGURATIONS, LINEAR, STREAMING, assert_same, dicts, each, rows, same

from rosenblatt import AveragedPerceptron, Calibrated, Perceptron, load, save

pytestmark = pytest.mark.filterwarnings("ignore")

MEETINGS = 10  # places of a call where another thread comes in


def places_in(call: Callable[[], Any]) -> list[int]:
    """Lines of the library all over a call."""
    lines = interleave(call, lambda: None, at=-1)[2]
    return sorted({round(place) for place in np.linspace(0, lines - 1, MEETINGS)})


def check_readers(fresh: Callable[[], Any], read: Callable[[Any], Any], expected: Any) -> None:
    """Two threads read a model that nobody has read yet; the second comes in all over the first one's call."""
    unread = fresh()
    for at in places_in(lambda: read(unread)):
        learner = fresh()
        first, second, _ = interleave(lambda learner=learner: read(learner), lambda learner=learner: read(learner), at)
        for said in second:
            assert_same(said, expected, f"the second reader's answers, before line {at},")
        assert_same(first, expected, f"the first reader's answers, met before line {at},")
        assert_same(read(learner), expected, "later answers")


def scores(learner: Any, X: Any) -> list[Any]:
    return [learner.decision_function(X)]


@each(CONFIGURATIONS)
def test_two_threads_that_predict_first_on_an_unpickled_model_both_get_its_answer(make: Any) -> None:
    X, y = rows(40, classes=3)
    learner = make().fit(X, y)
    frozen = pickle.dumps(learner)
    check_readers(lambda: pickle.loads(frozen), lambda model: scores(model, X), scores(learner, X))


def check_in_order(found: list[Any], states: list[Any]) -> None:
    """Every answer is that of one of the states, and none is older than the one before."""
    place = 0
    for said in found:
        if isinstance(said, Exception):
            raise AssertionError(f"a reader got {said!r}") from said
        while place < len(states) and not same(said, states[place]):
            place += 1
        assert place < len(states), "an answer that no state between two calls gives"


@each(STREAMING)
def test_a_reader_that_partial_fit_comes_into_gets_the_answer_before_or_after_it(make: Any) -> None:
    X, y = rows(40)
    begun = make().partial_fit(X[:20], y[:20])
    frozen = pickle.dumps(begun)
    states = [scores(begun, X), scores(pickle.loads(frozen).partial_fit(X[20:], y[20:]), X)]
    for at in places_in(lambda: pickle.loads(frozen).decision_function(X)):
        learner = pickle.loads(frozen)
        said, _, _ = interleave(
            lambda learner=learner: scores(learner, X), lambda learner=learner: learner.partial_fit(X[20:], y[20:]), at
        )
        check_in_order([said, scores(learner, X)], states)


@each(LINEAR)
@pytest.mark.parametrize("classes", [3, 4])
def test_a_reader_beside_learn_one_with_a_new_class_sees_the_state_before_or_after_it(make: Any, classes: int) -> None:
    X, y = rows(12, classes=classes)
    new = f"class {classes - 1}"
    early = np.where(y == new, "class 1", y)

    def begun() -> Any:
        learner = make()
        for x, label in zip(dicts(X), early.tolist(), strict=True):
            learner.learn_one(x, label)
        return learner

    learner, twin, x = begun(), begun(), dicts(X)[2]
    states = [scores(twin, X), scores(twin.learn_one(x, new), X)]
    _, found, _ = interleave(lambda: learner.learn_one(x, new), lambda: scores(learner, X))
    check_in_order([*found, scores(learner, X)], states)


@pytest.mark.parametrize("name", ["last", "AROW"])
def test_a_long_partial_fit_is_not_seen_in_the_middle(name: str) -> None:
    X, y = rows(400, d=50, seed=1)
    y = np.random.default_rng(0).permutation(y)  # never learned, so that the weights never rest
    many, labels = np.tile(X, (100, 1)), np.tile(y, 100)
    make, probe = LINEAR[name], X[:3]
    learner, twin = make().partial_fit(X, y), make().partial_fit(X, y)
    states = [scores(twin, probe), scores(twin.partial_fit(many, labels), probe)]
    found: list[Any] = []
    learning = threading.Thread(target=lambda: learner.partial_fit(many, labels))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        learning.start()
        while learning.is_alive():
            found.append(scores(learner, probe))
        learning.join()
    finally:
        sys.setswitchinterval(interval)
    check_in_order([*found, scores(learner, probe)], states)


def test_a_thread_that_predicts_until_python_ends_says_nothing() -> None:
    code = (
        "import threading, time\n"
        "from rosenblatt import Perceptron\n"
        "learner = Perceptron().learn_one({'a': 1.0}, 1).learn_one({'b': 1.0}, 0)\n"
        "def ask():\n"
        "    while True: learner.predict_one({'a': 1.0})\n"
        "threading.Thread(target=ask, daemon=True).start()\n"
        "time.sleep(0.05)\n"
    )
    done = python(code)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.fixture
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def seen_by(learner: Any) -> set[int]:
    return {state.counter("seen") for state in learner.states}


@pytest.mark.usefixtures("_switching_often")
@each({name: LINEAR[name] for name in ("last", "average ovr", "tail", "vote", "pocket", "l2", "AROW")})
def test_no_example_is_lost_between_threads_that_learn_rows_and_dicts_and_read(make: Any) -> None:
    X, y = rows(30, classes=3)
    examples, learner, stop = dicts(X), make(), threading.Event()
    learner.partial_fit(X, y)

    def learn() -> None:
        for k in range(90):
            learner.learn_one(examples[k % 30], y[k % 30])

    def read() -> None:
        while not stop.is_set():
            learner.predict_one({**examples[0], "never seen": 1.0})
            pickle.loads(pickle.dumps(learner)).learn_one(examples[1], y[1])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        run_all(
            learn, learn, lambda: learner.learn_many(examples, y), lambda: [learner.partial_fit(X, y) for _ in range(5)]
        )
    finally:
        stop.set()
        reader.join()
    assert seen_by(learner) == {30 + 2 * 90 + 30 + 5 * 30}


@pytest.mark.usefixtures("_switching_often")
@pytest.mark.parametrize("how", ["pickle", "deepcopy", "save"])
@pytest.mark.parametrize("made", [AveragedPerceptron, lambda: Calibrated(AveragedPerceptron())])
def test_a_copy_taken_beside_a_thread_that_learns_is_whole(made: Any, how: str, tmp_path: Path) -> None:
    learner = made()
    for j in range(50):
        learner.learn_one({f"w{j}": 1.0}, j % 2)
    stop = threading.Event()

    def learn() -> None:
        for k in range(100_000):
            if stop.is_set():
                return
            if k % 20 == 0:
                time.sleep(0.001)
            learner.learn_one({f"n{k}": 1.0, "w1": k % 7 - 3.0}, k % 2)  # each brings a name

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(5):
            if how == "save":
                save(learner, tmp_path / "m")
                found = load(tmp_path / "m").learner_
            else:
                found = copy.deepcopy(learner) if how == "deepcopy" else pickle.loads(pickle.dumps(learner))
            inner = getattr(found, "learner_", found)
            assert seen_by(inner) == {inner.n_features_in_}
            found.learn_one({"another": 1.0}, 1)
    finally:
        stop.set()
        thread.join()


def test_a_copy_learns_by_a_lock_of_its_own() -> None:
    learner = Perceptron().learn_many([{"a": 1.0}, {"b": -1.0}], ["x", "y"])
    for other in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        with learner.lock:
            run_all(lambda other=other: other.learn_one({"a": -5.0}, "x"))
        assert seen_by(other) == {3}
