"""Wrong answers of the engine and of streams that were found in use."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rosenblatt import AveragedPerceptron, KernelPerceptron, PassiveAggressive, Perceptron, engine

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def run_together(work: Any, threads: int = 4) -> None:
    barrier, failures = threading.Barrier(threads), []

    def run() -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:
            failures.append(error)

    all_threads = [threading.Thread(target=run) for _ in range(threads)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    assert not failures


def test_a_class_weight_is_applied_once_if_threads_begin_a_stream_together() -> None:
    for _ in range(30):
        learner = Perceptron(class_weight={"a": 3.0, "b": 3.0}, fit_intercept=False)
        learner.learn_one({"x": 0.0}, "a")
        again = Perceptron(class_weight={"a": 3.0, "b": 3.0}, fit_intercept=False)
        run_together(lambda one=again: one.learn_one({"x": 1.0}, "a"))
        again.learn_one({"x": 1.0}, "b")  # a score of 0 is a mistake: one step of 3
        assert abs(again.coef_).tolist() == [[3.0]]


def test_predict_one_never_raises_beside_a_thread_that_learns_new_labels() -> None:
    for multiclass in ("joint", "ovr"):
        learner = Perceptron(multiclass=multiclass).learn_many([{"f0": 1.0}, {"f1": 1.0}], ["l0", "l1"])
        done = threading.Event()

        def learn(one: Any = learner, over: threading.Event = done) -> None:
            for n in range(2, 150):
                one.learn_one({f"f{n}": 1.0}, f"l{n}")
            over.set()

        thread = threading.Thread(target=learn)
        thread.start()
        while not done.is_set():
            assert learner.predict_one({"f0": 1.0, "f99": 1.0}).startswith("l")
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_another_thread_learns_can_learn() -> None:
    program = """
import os, threading
from rosenblatt import Perceptron
learner = Perceptron().learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
held, go = threading.Event(), threading.Event()
def hold():
    with learner.learned.lock:
        held.set()
        go.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    learner.partial_fit([[1.0, 2.0]], ["x"])
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
"""
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert found.stdout.split() == ["0"], found.stderr


def test_a_parameter_set_in_mid_stream_counts_for_the_next_example() -> None:
    learner = Perceptron(fit_intercept=False).learn_many([{"x": 1.0}, {"x": 1.0}], ["a", "b"])
    learner.eta0 = 5.0
    before = learner.coef_.item()
    learner.learn_one({"x": 1.0}, "a")
    assert learner.coef_.item() == before - 5.0


def test_predict_one_after_several_labels_per_row_is_a_row_of_predict() -> None:
    X, Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([[1, 0], [0, 1], [1, 1]])
    for learner in (Perceptron(multiclass="ovr"), KernelPerceptron(multiclass="ovr")):
        learner.fit(X, Y)
        rows = [{0: 1.0}, {1: 1.0}, {0: 1.0, 1: 1.0}]
        assert [learner.predict_one(row) for row in rows] == learner.predict(X).tolist()
    assert Perceptron(multiclass="ovr").fit(X, Y).predict_many(rows) == Y.tolist()


def test_rbf_kernels_see_small_differences_of_large_values() -> None:
    offsets = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.5, 0.5]])
    y = [0, 1, 0, 1]
    near = KernelPerceptron(kernel="rbf", gamma=1.0).fit(offsets, y)
    for rows in (offsets + 1e9, sp.csr_array(offsets + 1e9)):
        far = KernelPerceptron(kernel="rbf", gamma=1.0).fit(rows, y)
        assert far.mistakes_ == near.mistakes_
        np.testing.assert_allclose(far.decision_function(rows), near.decision_function(offsets), atol=1e-6)


@pytest.mark.parametrize("policy", ["forget-oldest", "forgetron", "projectron"])
def test_a_budget_learns_rows_of_negative_length(policy: str) -> None:
    """A kernel need not be positive: here K(x, x) is -3."""
    X = np.array([[1.0], [-1.0]])
    learner = KernelPerceptron(kernel=lambda a, b: -3.0 * a @ b.T, budget=2, policy=policy, fit_intercept=False)
    learner.partial_fit(X, [0, 1])
    assert learner.updates_ > 0


def test_gamma_scale_of_sparse_rows_is_that_of_dense_ones() -> None:
    X = 1e8 + np.random.default_rng(0).normal(size=(50, 3))
    y = np.arange(50) % 2
    dense, sparse = (KernelPerceptron(gamma="scale").fit(rows, y) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), rtol=1e-5, atol=1e-5)


def test_the_average_of_float32_weights_stays_among_them() -> None:
    """Steps of 1e-9 are rounded away beside weights of 1, and so must their sums be."""
    X = np.array([[1.0]] * 400, np.float32)
    y = np.array([1, 0] * 200)
    weights = np.array([1.0] + [1e-9] * 399)
    learner = AveragedPerceptron(fit_intercept=False).partial_fit(X, y, sample_weight=weights)
    assert learner.coef_.item() == pytest.approx(1.0)


def test_tiny_float32_values_are_learned_in_float64() -> None:
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]])
    y = [1, 1, 0, 0]
    tiny = (X * 1e-25).astype(np.float32)
    for learner in (Perceptron(fit_intercept=False), PassiveAggressive(variant="PA", fit_intercept=False)):
        assert learner.fit(tiny, y).score(tiny, y) == 1.0
        assert learner.converged_


def test_predict_uses_as_many_threads_as_the_environment_allows() -> None:
    program = "from rosenblatt import engine; print(engine.thread_limit())"
    for name in ("OMP_NUM_THREADS", "ROSENBLATT_THREADS"):
        environment = {**os.environ, name: "1"}
        found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert found.stdout.split() == ["1"], found.stderr
    assert engine.thread_limit() >= 1
