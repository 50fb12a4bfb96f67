"""Threads predict examples while a stream grows by new features: none of them fails, whatever the learner."""

import sys
import threading

import pytest

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, VotedPerceptron

LEARNERS = {
    "perceptron": Perceptron,
    "averaged": AveragedPerceptron,
    "passive-aggressive": PassiveAggressive,
    "arow": AROW,
    "one-vs-rest": lambda: Perceptron(multiclass="ovr"),
    "penalized": lambda: Perceptron(penalty="l2"),
    "voted": VotedPerceptron,
}


@pytest.fixture
def _switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_switching_often")
@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_beside_new_features_do_not_fail(name):
    learner = LEARNERS[name]()
    examples = [{f"k{(7 * i + j) % 50}": 1.0 + j for j in range(8)} for i in range(50)]
    learner.learn_many(examples, [i % 4 for i in range(50)])
    stop, errors = threading.Event(), []

    def predict():
        while not stop.is_set():
            try:
                learner.predict_one(examples[0])
                learner.scores_one(examples[1])
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(60 if name in ("penalized", "voted") else 800):
        learner.learn_one({**examples[i % 50], f"new{i}": 1.0}, i % 4)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
