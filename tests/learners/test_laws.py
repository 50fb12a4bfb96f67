"""Laws that hold for every linear learner."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification

from family import LINEAR
from rosenblatt import PassiveAggressive, Perceptron

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

every_learner = pytest.mark.parametrize("learner", [make() for make in LINEAR.values()], ids=LINEAR)
every_multiclass = pytest.mark.parametrize("multiclass", ["joint", "ovr"])


def two_classes(n: int = 120, d: int = 7) -> tuple[Any, Any]:
    X, y = make_classification(n, d, n_informative=4, flip_y=0.1, random_state=3)
    return np.round(X * 8) / 8, np.array(["no", "yes"])[y]  # few bits: sums are exact in any order


def arrays(learner: Any) -> list[Any]:
    """Everything a state holds."""
    found = []
    for state in learner.learned.states:
        found += [state.arrays[name] for name in sorted(state.arrays)]
        found += [state.remembered.updates.steps, state.remembered.updates.survived]
    return found


def assert_same_bits(a: Any, b: Any) -> None:
    for left, right in zip(arrays(a), arrays(b), strict=True):
        np.testing.assert_array_equal(left, right)


def fitted(learner: Any, X: Any, y: Any, **params: Any) -> Any:
    return clone(learner).set_params(**{"max_iter": 4, "tol": None, **params}).fit(X, y)


@every_learner
def test_dense_and_sparse_agree(learner: Any) -> None:
    X, y = two_classes()
    dense, sparse = fitted(learner, X, y), fitted(learner, sp.csr_array(X), y)
    assert dense.history_.mistakes == sparse.history_.mistakes
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=1e-9)


@every_learner
@every_multiclass
def test_dense_and_sparse_agree_with_more_classes(learner: Any, multiclass: str) -> None:
    if learner.params().tie == "positive" and multiclass == "joint":
        pytest.skip("tie='positive' has a meaning for two classes only")
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    dense = fitted(learner, X, y, multiclass=multiclass)
    sparse = fitted(learner, sp.csr_array(X), y, multiclass=multiclass)
    if not isinstance(learner, PassiveAggressive):
        assert dense.history_.mistakes == sparse.history_.mistakes
    np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(sp.csr_array(X)), atol=1e-6)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_every_sparse_format_and_index(form: str, index: Any) -> None:
    X, y = two_classes()
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    assert_same_bits(fitted(Perceptron(), matrix.asformat(form), y), fitted(Perceptron(), sp.csr_array(X), y))


@every_learner
def test_float32_and_float64_agree(learner: Any) -> None:
    X, y = two_classes()
    single, double = fitted(learner, X.astype(np.float32), y), fitted(learner, X, y)
    rule = learner.params().update_rule
    if rule.name == "perceptron" and not rule.shrinks:  # whose sums are exact in both
        assert single.history_.mistakes == double.history_.mistakes
        np.testing.assert_allclose(single.decision_function(X), double.decision_function(X), rtol=1e-6, atol=1e-6)


@every_learner
@settings(max_examples=12)
@given(st.lists(st.integers(0, 120), max_size=6), st.booleans())
def test_any_cut_into_batches_gives_the_same_bits(learner: Any, cuts: list[int], sparse: bool) -> None:
    X, y = two_classes()
    if sparse:
        X = sp.csr_array(X)
    whole = clone(learner).partial_fit(X, y, classes=["no", "yes"])
    parts = clone(learner)
    edges = sorted({0, *cuts, len(y)})
    for begin, end in pairwise(edges):
        parts.partial_fit(X[begin:end], y[begin:end], classes=["no", "yes"])
    assert_same_bits(whole, parts)
    np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))


@every_learner
@every_multiclass
def test_one_epoch_of_fit_is_one_partial_fit(learner: Any, multiclass: str) -> None:
    if learner.params().keep == "pocket":
        pytest.skip("a stream has no 'all rows': its pocket goes by the longest run")
    if learner.params().tie == "positive" and multiclass == "joint":
        pytest.skip("tie='positive' has a meaning for two classes only")
    X, y = load_iris(return_X_y=True)
    epoch = fitted(learner, X, y, max_iter=1, shuffle=False, multiclass=multiclass)
    batch = clone(learner).set_params(multiclass=multiclass).partial_fit(X, y)
    assert_same_bits(epoch, batch)
    assert epoch.mistakes_ == batch.mistakes_


@every_learner
def test_the_same_seed_gives_the_same_bits_and_another_seed_another_order(learner: Any) -> None:
    X, y = two_classes()
    assert_same_bits(fitted(learner, X, y), fitted(learner, X, y))
    other = fitted(learner, X, y, random_state=1)
    assert not np.array_equal(other.learned.states[0].weights, fitted(learner, X, y).learned.states[0].weights)


@pytest.mark.parametrize("jobs", [2, 3, -1])
@every_learner
def test_any_number_of_threads_gives_the_same_bits(learner: Any, jobs: int) -> None:
    X, y = load_iris(return_X_y=True)
    wanted = {"multiclass": "ovr", "n_init": 3, "init": "random"}
    params = {name: value for name, value in wanted.items() if name in learner.get_params()}
    assert_same_bits(fitted(learner, X, y, **params), fitted(learner, X, y, n_jobs=jobs, **params))


@every_learner
def test_predicting_changes_nothing_and_does_not_depend_on_the_other_rows(learner: Any) -> None:
    X, y = two_classes()
    model = fitted(learner, X, y)
    before = [a.copy() for a in arrays(model)]
    together = model.decision_function(X)
    one_by_one = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(len(X))])
    np.testing.assert_array_equal(together, one_by_one)
    for left, right in zip(before, arrays(model), strict=True):
        np.testing.assert_array_equal(left, right)


@every_learner
def test_a_warm_start_goes_on_exactly(learner: Any) -> None:
    X, y = two_classes()
    once = fitted(learner, X, y, max_iter=6)
    twice = fitted(learner, X, y, max_iter=3, warm_start=True).fit(X, y)
    assert_same_bits(once, twice)
    assert once.history_.mistakes == twice.history_.mistakes


@every_learner
def test_the_users_data_stay_as_they_were(learner: Any) -> None:
    X, y = two_classes()
    kept = X.copy(), y.copy()
    X.setflags(write=False)
    y.setflags(write=False)
    fitted(learner, X, y)
    np.testing.assert_array_equal(X, kept[0])
    np.testing.assert_array_equal(y, kept[1])


def test_eta0_changes_no_prediction_from_zero_weights() -> None:
    X, y = two_classes()
    for eta0 in (0.25, 4.0):
        scaled = fitted(Perceptron(eta0=eta0), X, y)
        np.testing.assert_array_equal(scaled.coef_, eta0 * fitted(Perceptron(), X, y).coef_)


def test_a_margin_of_zero_is_the_perceptron_and_a_large_c_is_pa() -> None:
    X, y = two_classes()
    assert_same_bits(fitted(Perceptron(beta=0.0), X, y), fitted(Perceptron(), X, y))
    capped = fitted(PassiveAggressive(variant="PA-I", C=1e300), X, y)
    assert_same_bits(capped, fitted(PassiveAggressive(variant="PA"), X, y))


def test_two_classes_jointly_are_the_binary_problem() -> None:
    """The joint rule's two rows are the binary row and its negative, with the same mistakes."""
    from rosenblatt import engine
    from rosenblatt.data import as_table, encode_labels
    from rosenblatt.learners.targets import Targets
    from rosenblatt.learners.weights import WeightState
    from rosenblatt.params import Rule

    X, y = two_classes()
    labels = encode_labels(y)
    joint = WeightState.begin(
        np.zeros((2, X.shape[1])), np.zeros(2), keep="last", fit_intercept=True, generator=engine.seed_generator(0)
    )
    joint.learn(as_table(X), Targets(labels.codes, 2), Rule())
    binary = Perceptron().partial_fit(X, y)
    assert joint.counter("mistakes") == binary.mistakes_
    np.testing.assert_array_equal(joint.weights, np.vstack([-binary.coef_, binary.coef_]))


SCRIPT = """
import hashlib, numpy as np, scipy.sparse as sp, warnings
warnings.simplefilter("ignore")
import rosenblatt
from rosenblatt import engine
rng = np.random.default_rng(5)
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    for d in (1, 3, 8, 20, 61, 203):
        X = rng.standard_normal((150, d)).astype(dtype)
        for K in (2, 4):
            y = rng.integers(0, K, 150)
            for data in (X, sp.csr_array(X * (rng.random(X.shape) < 0.4))):
                for learner in (rosenblatt.AveragedPerceptron(max_iter=3), rosenblatt.PassiveAggressive(max_iter=3),
                                rosenblatt.PocketPerceptron(max_iter=3), rosenblatt.VotedPerceptron(max_iter=2)):
                    learner.fit(data, y)
                    for state in learner.learned.states:
                        digest.update(np.ascontiguousarray(state.weights).tobytes())
                        digest.update(state.intercept.tobytes())
                    digest.update(learner.decision_function(data).tobytes())
print(engine.ISA, digest.hexdigest())
"""


@pytest.mark.slow
def test_every_instruction_set_gives_the_same_bits() -> None:
    answers = {}
    for isa in ("", "baseline"):
        output = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "ROSENBLATT_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        answers[output[0]] = output[1]
    if len(answers) == 1:
        pytest.skip("this CPU has one instruction set only")
    assert len(set(answers.values())) == 1
