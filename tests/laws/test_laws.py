"""Laws that hold for every linear learner."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from command import python
from hypothesis import given, settings
from hypothesis import strategies as st
from registry import LINEAR, dicts
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

from rosenblatt import KernelPerceptron, PassiveAggressive, Perceptron, engine
from rosenblatt.params import KEEP_NAMES

every_learner = pytest.mark.parametrize("learner", [make() for make in LINEAR.values()], ids=LINEAR)
every_multiclass = pytest.mark.parametrize("multiclass", ["joint", "ovr"])


def two_classes(n: int = 120, d: int = 7) -> tuple[Any, Any]:
    X, y = make_classification(n, d, n_informative=4, flip_y=0.1, random_state=3)
    return np.round(X * 8) / 8, np.array(["no", "yes"])[y]  # few bits: sums are exact in any order


def arrays(learner: Any) -> list[Any]:
    """Everything a state holds."""
    found = []
    for state in learner.states:
        found += [state.arrays[name] for name in sorted(state.arrays)]
        found += [state.log.updates.steps, state.log.updates.survived]
    return found


def assert_same_bits(a: Any, b: Any) -> None:
    for left, right in zip(arrays(a), arrays(b), strict=True):
        np.testing.assert_array_equal(left, right)


def fitted(learner: Any, X: Any, y: Any, **params: Any) -> Any:
    return clone(learner).set_params(**{"max_iter": 4, "tol": None, **params}).fit(X, y)


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
@pytest.mark.parametrize("features", [5, 130, 803])
def test_wide_rows_that_are_scored_ahead_learn_as_one_by_one(learner: Any, features: int) -> None:
    """Rows of more than a kilobyte are scored three at a time."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 200, (61, features)).astype(rng.choice(["f4", "f8", "u1"])), rng.integers(0, 7, 61)
    if learner.params().tie == "positive":
        y = y % 2
    together, alone = clone(learner).partial_fit(X, y, classes=np.unique(y)), clone(learner)
    for i in range(len(X)):
        alone.partial_fit(X[i : i + 1], y[i : i + 1], classes=np.unique(y))
    assert_same_bits(together, alone)
    assert together.mistakes_ == alone.mistakes_ > 0


# A stream has no "all rows": its pocket goes by the longest run.
@pytest.mark.parametrize("learner", [make() for name, make in LINEAR.items() if "pocket" not in name], ids=repr)
@every_multiclass
def test_one_epoch_of_fit_is_one_partial_fit(learner: Any, multiclass: str) -> None:
    if learner.params().tie == "positive":
        multiclass = "ovr"  # it works with two classes only
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
    assert not np.array_equal(other.states[0].weights, fitted(learner, X, y).states[0].weights)


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


def test_eta0_changes_no_prediction_from_zero_weights() -> None:
    X, y = two_classes()
    for eta0 in (0.25, 4.0):
        scaled = fitted(Perceptron(eta0=eta0), X, y)
        np.testing.assert_array_equal(scaled.coef_, eta0 * fitted(Perceptron(), X, y).coef_)


@pytest.mark.parametrize("make", [Perceptron, KernelPerceptron])
@pytest.mark.parametrize("keep", sorted({*KEEP_NAMES} - {"last"}))
def test_no_keep_answers_as_last_where_the_classes_overlap(make: Any, keep: str) -> None:
    """A keep that a place of the engine or of a state forgot would: ARCHITECTURE.md lists the places."""
    X, y = two_classes()
    for learn in (lambda learner: learner.partial_fit(X, y), lambda learner: learner.learn_many(dicts(X), y)):
        found, last = learn(make(keep=keep)).decision_function(X), learn(make()).decision_function(X)
        assert not np.allclose(found / np.abs(found).max(), last / np.abs(last).max())


def test_a_margin_of_zero_is_the_perceptron_and_a_large_c_is_pa() -> None:
    X, y = two_classes()
    assert_same_bits(fitted(Perceptron(beta=0.0), X, y), fitted(Perceptron(), X, y))
    capped = fitted(PassiveAggressive(variant="PA-I", C=1e300), X, y)
    assert_same_bits(capped, fitted(PassiveAggressive(variant="PA"), X, y))


SCRIPT = """
import hashlib, numpy as np, scipy.sparse as sp, sys, warnings
warnings.simplefilter("ignore")
import rosenblatt
rng = np.random.default_rng(5)
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    for d in (1, 3, 8, 20, 61, 203):
        X = rng.standard_normal((150, d)).astype(dtype)
        for K in (2, 4):
            y = rng.integers(0, K, 150)
            for data in (X, sp.csr_array(X * (rng.random(X.shape) < 0.4))):
                for learner in (rosenblatt.AveragedPerceptron(max_iter=3), rosenblatt.PassiveAggressive(max_iter=3),
                                rosenblatt.PocketPerceptron(max_iter=3), rosenblatt.VotedPerceptron(max_iter=2),
                                rosenblatt.AROW(keep="average", max_iter=2),
                                rosenblatt.KernelPerceptron(kernel="rbf", rule="PA-I", max_iter=2)):
                    learner.fit(data, y)
                    digest.update(learner.decision_function(data).tobytes())
X = rng.normal(size=(5000, 21))
for dtype in (np.float32, np.float64):
    auto = rosenblatt.AutoPerceptron(n_jobs=int(sys.argv[1])).fit(X.astype(dtype), X[:, 0] * X[:, 1] + X[:, 2] ** 2 > 1)
    assert "and their products" in auto.choice_
    digest.update(auto.choice_.encode() + auto.best_.coef_.tobytes() + auto.predict_proba(X[:50]).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_every_instruction_set_and_number_of_threads_gives_the_same_bits() -> None:
    runs = [("baseline", 1), (engine.ISA, 1), (engine.ISA, 4)]
    assert len({python(SCRIPT, jobs, ROSENBLATT_ISA=isa).stdout for isa, jobs in runs}) == 1
