"""Threads that learn, read and close one stream: every example counts once, and every reader finds a whole answer."""

from __future__ import annotations

import copy
import pickle
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from rosenblatt import AROW, AveragedPerceptron, Perceptron, VotedPerceptron, engine

LEARNERS = {
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "arow": AROW,
    "hashed": lambda: Perceptron(hash_bits=8),
    "one-vs-rest": lambda: Perceptron(multiclass="ovr"),
    "voted": VotedPerceptron,
}
EXAMPLES = [({f"f{(7 * i + j) % 30}": float((i * j) % 5 - 2) for j in range(6)}, i % 3) for i in range(200)]


@pytest.fixture(autouse=True)
def _switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run_all(*jobs: Any) -> None:
    failed: list[BaseException] = []

    def run(job: Any) -> None:
        try:
            job()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def seen_by(learner: Any) -> list[int]:
    return [state.counter("seen") for state in learner.learned.states]


def more(seen: list[int], examples: int) -> list[int]:
    return [each + examples for each in seen]


@pytest.mark.parametrize("name", LEARNERS)
def test_no_example_is_lost_between_threads_that_learn_and_read(name):
    learner = LEARNERS[name]().learn_many([f for f, _ in EXAMPLES[:3]], [y for _, y in EXAMPLES[:3]])
    before, stop = seen_by(learner), threading.Event()

    def learn() -> None:
        for features, label in EXAMPLES:
            learner.learn_one(dict(features), label)

    def read() -> None:
        while not stop.is_set():
            learner.answers()
            learner.predict_one(EXAMPLES[0][0])
            pickle.loads(pickle.dumps(learner)).learn_one(*EXAMPLES[1])

    reader = threading.Thread(target=read)
    reader.start()
    run_all(learn, learn, learn)
    stop.set()
    reader.join()
    assert seen_by(learner) == more(before, 3 * len(EXAMPLES))


@pytest.mark.parametrize("name", ["perceptron", "averaged", "voted"])
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_an_example_that_waits_while_rows_are_learned_counts_afterwards(name):
    learner = LEARNERS[name]().learn_many([f for f, _ in EXAMPLES[:30]], [y for _, y in EXAMPLES[:30]])
    before, width = seen_by(learner), learner.n_features_in_
    rows, labels = np.ones((4, width)), [0, 1, 2, 0]

    def learn() -> None:
        for features, label in EXAMPLES[:60]:
            learner.learn_one({name: x for name, x in features.items() if name in known}, label)

    known = set(learner.feature_names_in_)
    run_all(learn, lambda: [learner.partial_fit(rows, labels) for _ in range(20)])
    assert seen_by(learner) == more(before, 60 + 80)


def test_a_reading_follows_every_example():
    learner = Perceptron().learn_many([{"a": 1.0}, {"a": -1.0}], [1, 0])
    before = learner.coef_.copy()
    answers = learner.answers()
    assert learner.answers() is answers
    learner.learn_one({"a": 3.0}, 0)
    assert learner.coef_[0, 0] == before[0, 0] - 3.0
    assert learner.coef_ is learner.coef_


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))])
def test_a_copy_learns_by_a_lock_of_its_own(copied):
    learner = Perceptron().learn_many([{"a": 1.0}, {"b": -1.0}], ["x", "y"])
    other = copied(learner)
    with learner.learned.lock:
        run_all(lambda: other.learn_one({"a": -5.0}, "x"))
    assert seen_by(other) == more(seen_by(learner), 1)


def test_a_lock_may_be_taken_again_by_the_thread_that_holds_it_alone():
    lock, order = engine.Lock(), []
    with lock, lock:
        waiting = threading.Thread(target=lambda: take(lock, order))
        waiting.start()
        time.sleep(0.05)
        order.append("first")
        with pytest.raises(RuntimeError, match="does not hold it"):
            run_all_raising(lambda: lock.__exit__())
    waiting.join()
    assert order == ["first", "second"]
    with pytest.raises(RuntimeError, match="does not hold it"):
        lock.__exit__()


def take(lock: Any, order: list[str]) -> None:
    with lock:
        order.append("second")


def run_all_raising(job: Any) -> None:
    """In another thread; what it raises is raised here."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            job()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def test_ctrl_c_ends_the_waiting_for_a_lock():
    lock, done = engine.Lock(), threading.Event()

    def hold() -> None:
        with lock:
            time.sleep(0.2)
            signal.raise_signal(signal.SIGINT)
            done.wait(20)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    holder = threading.Thread(target=hold)
    holder.start()
    time.sleep(0.05)
    try:
        with pytest.raises(KeyboardInterrupt), lock:
            pass
    finally:
        done.set()
        holder.join()
        signal.signal(signal.SIGINT, before)
    with lock:
        pass
