"""Threads that learn, read and close one stream: every example counts once, and every reader finds a whole answer."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import rosenblatt
from rosenblatt import AROW, AveragedPerceptron, Perceptron, VotedPerceptron

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
            learner.predictors()
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


class Slow:
    """A number that takes its time."""

    def __float__(self) -> float:
        time.sleep(0.02)
        return 1.0


@pytest.mark.parametrize("fitted", [False, True])
def test_two_threads_that_begin_a_stream_lose_no_example(fitted):
    learner = Perceptron()
    if fitted:
        learner.fit(np.eye(4), [0, 1, 0, 1])
    before = seen_by(learner)[0] if fitted else 0

    def learn(example: Any) -> Any:
        return lambda: [learner.learn_one(example, label) for label in (0, 1, 0, 1)]

    run_all(learn({0: Slow()}), learn({1: Slow()}), learn({0: 1.0, 1: -1.0}))
    assert seen_by(learner) == [before + 12]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_many_examples_and_rows_by_turns_are_all_learned():
    drawn = np.random.default_rng(0)
    examples = [{"a": float(a), "b": float(b)} for a, b in drawn.normal(size=(3000, 2))]
    labels, rows = [int(each["a"] > each["b"]) for each in examples], drawn.normal(size=(500, 2))
    learner = AveragedPerceptron().learn_many(examples[:10], labels[:10])
    run_all(
        lambda: [learner.learn_many(examples, labels) for _ in range(10)],
        lambda: [learner.partial_fit(rows, (rows[:, 0] > rows[:, 1]).astype(int)) for _ in range(20)],
        lambda: [learner.set_params(eta0=1.0) for _ in range(200)],
    )
    assert seen_by(learner) == [10 + 10 * 3000 + 20 * 500]


@pytest.mark.parametrize("how", ["pickle", "deepcopy", "save"])
def test_what_is_copied_or_saved_beside_a_thread_that_learns_is_whole(how, tmp_path):
    learner = AveragedPerceptron().learn_many([{f"w{j}": 1.0} for j in range(500)], [j % 2 for j in range(500)])
    stop = threading.Event()

    def learn() -> None:
        for k in range(100_000):
            if stop.is_set():
                return
            learner.learn_one({f"n{k}": 1.0, "w1": k % 7 - 3.0}, k % 2)  # each brings a name

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(8):
            if how == "pickle":
                found = pickle.loads(pickle.dumps(learner))
            elif how == "deepcopy":
                found = copy.deepcopy(learner)
            else:
                rosenblatt.save(learner, tmp_path / "m")
                found = rosenblatt.load(tmp_path / "m").learner_
            assert seen_by(found) == [found.n_features_in_]
            found.learn_one({"another": 1.0}, 1)
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda learner: pickle.loads(pickle.dumps(learner))])
def test_a_stream_that_is_closed_leaves_no_answer_of_before(copied):
    learner = copied(Perceptron().learn_many([{"a": 1.0}, {"b": 1.0}], [0, 1]))
    assert learner.coef_.shape == (1, 2)
    for _ in range(5):
        learner.learn_one({"a": 1.0, "new": 2.0}, 1)
        learner.learn_one({"b": 1.0}, 0)
    answer = learner.predict_one({"new": 1.0})
    learner.set_params(eta0=1.0)  # which closes the stream
    assert learner.coef_.shape == (1, 3)
    assert learner.predict_one({"new": 1.0}) == answer


def test_a_reading_follows_every_example():
    learner = Perceptron().learn_many([{"a": 1.0}, {"a": -1.0}], [1, 0])
    before = learner.coef_.copy()
    answers = learner.predictors()
    assert learner.predictors() is answers
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
