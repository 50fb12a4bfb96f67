"""What KernelPerceptron refuses, in one clear sentence, and scikit-learn's contract."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, ParameterError, RosenblattError
from rosenblatt.models.predictors import Kernel

X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1]

# A weight scales a row's step; it is not the same as meeting the row twice.
ONLINE = "an online learner meets a row once, whatever its weight"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
}


@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(max_iter=20, multiclass="ovr", keep="average"),
        KernelPerceptron(max_iter=20, budget=30),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"kernel": "polynomial"}, "kernel='polynomial': must be 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed' or"),
        ({"kernel": 3}, "kernel=3: must be"),
        ({"gamma": 0}, "gamma=0: must be above 0"),
        ({"gamma": "wide"}, "gamma='wide': must be 'auto', 'scale' or a number above 0"),
        ({"degree": 0}, "degree=0: must be at least 1"),
        ({"degree": 2.5}, "degree=2.5: must be a whole number"),
        ({"coef0": float("nan")}, "coef0=nan: must be"),
        ({"rule": "PA-III"}, "rule='PA-III': must be"),
        ({"keep": "best"}, "keep='best': must be"),
        ({"C": 0}, "C=0: must be above 0"),
        ({"cache_size": -1}, "cache_size=-1: must be at least 0"),
        ({"budget": 0}, "budget=0: must be at least 1"),
        ({"budget": 2.5}, "budget=2.5: must be a whole number"),
        ({"budget": 5, "policy": "forget"}, "policy='forget': must be 'forget-oldest', 'forgetron' or 'projectron'"),
        ({"budget": 5, "keep": "vote"}, "keep='vote' with budget=5: it would need the rows that the budget drops"),
        ({"budget": 5, "rule": "PA-I"}, "policy='projectron' is made for rule='perceptron'"),
        ({"budget": 5, "kernel": "precomputed"}, "a precomputed matrix already holds all of them"),
    ],
)
def test_a_parameter_out_of_range_is_named(parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence.replace("(", r"\(")):
        KernelPerceptron(**parameters).fit(X, y)


def test_a_precomputed_matrix_must_be_square_and_dense() -> None:
    learner = KernelPerceptron(kernel="precomputed")
    with pytest.raises(DataError, match=r"X must be a square matrix .* its shape is \(3, 2\)"):
        learner.fit(X, y)
    with pytest.raises(DataError, match="X is sparse: a precomputed kernel matrix must be dense"):
        learner.fit(sp.eye_array(3, format="csr"), y)
    with pytest.raises(ParameterError, match="kernel='precomputed' has no meaning in partial_fit"):
        learner.partial_fit(np.eye(3), y)
    learner.fit(np.eye(3), y)
    with pytest.raises(ValueError, match="X has 2 features, but KernelPerceptron is expecting 3"):
        learner.predict(X)
    with pytest.raises(AttributeError, match="see support_"):
        _ = learner.support_vectors_


def test_gamma_scale_needs_all_rows() -> None:
    with pytest.raises(ParameterError, match="gamma='scale' needs all rows at once"):
        KernelPerceptron(gamma="scale").partial_fit(X, y)
    X_array = np.array(X)
    dense = KernelPerceptron(gamma="scale").fit(X_array, y)
    assert dense.learned.states[0].kernel.gamma == pytest.approx(1 / (2 * X_array.var()))
    sparse = KernelPerceptron(gamma="scale").fit(sp.csr_array(X_array), y)
    assert sparse.learned.states[0].kernel.gamma == pytest.approx(1 / (2 * X_array.var()))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda A, B: A @ B.T @ np.ones(len(B)), r"the function gave an array of shape \(3,\) for 3 and 1 rows"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "the function gave a value that is not finite"),
    ],
)
def test_a_function_that_is_no_kernel_is_refused_and_changes_nothing(function: Any, sentence: str) -> None:
    learner = KernelPerceptron(kernel=function)
    with pytest.raises(DataError, match=sentence):
        learner.fit(X, y)
    assert not hasattr(learner, "classes_")


def test_what_a_function_raises_comes_through() -> None:
    def broken(A: Any, B: Any) -> Any:
        raise KeyError("mine")

    for parameters in ({}, {"budget": 2}):
        with pytest.raises(KeyError, match="mine"):
            KernelPerceptron(kernel=broken, **parameters).fit(X, y)


def test_the_forgetron_is_for_two_classes() -> None:
    with pytest.raises(ParameterError, match="policy='forgetron' has a meaning for two classes only, and there are 3"):
        KernelPerceptron(budget=5, policy="forgetron").fit(X, [0, 1, 2])


def test_bad_rows_are_refused_as_by_every_learner_and_leave_it_as_it_was() -> None:
    learner = KernelPerceptron().fit(X, y)
    before = learner.decision_function(X).tobytes()
    for bad, sentence in [
        ([[0.0, float("nan")], [1.0, 0.0], [2.0, 2.0]], "X contains NaN in row 0, column 1"),
        ([[0.0, 1.0], [1.0, 0.0]], "X has 2 rows, y has 3 labels"),
    ]:
        for method in (learner.fit, learner.partial_fit):
            with pytest.raises(RosenblattError, match=sentence):
                method(bad, y)
        assert learner.decision_function(X).tobytes() == before


def test_scores_that_overflow_are_an_error() -> None:
    with pytest.raises(DataError, match="the weights overflowed in epoch 1: scale the columns"):
        KernelPerceptron(kernel="poly", degree=9, gamma=1.0).fit([[1e60], [-1e60]], [0, 1])


def test_what_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="no support rows yet"):
        _ = KernelPerceptron().dual_coef_
    with pytest.raises(AttributeError, match="a vote has no single weight vector"):
        _ = KernelPerceptron(keep="vote").fit(X, y).dual_coef_
    with pytest.raises(AttributeError, match="see support_vectors_"):
        _ = KernelPerceptron().fit(X, y).support_


@pytest.mark.parametrize("parameters", [{}, {"keep": "vote"}, {"keep": "pocket"}, {"budget": 2}])
def test_a_pickled_learner_goes_on_bit_for_bit(parameters: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 3)), rng.integers(0, 3, size=60)
    learner = KernelPerceptron(**parameters).partial_fit(rows[:30], labels[:30])
    other = pickle.loads(pickle.dumps(learner))
    for each in (learner, other):
        each.partial_fit(rows[30:], labels[30:])
    np.testing.assert_array_equal(learner.decision_function(rows), other.decision_function(rows))


def test_a_precomputed_kernel_is_cut_both_ways_in_cross_validation() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    matrix = Kernel("rbf", 1.0).matrix(as_table(rows), rows)
    given = cross_val_score(KernelPerceptron(kernel="precomputed", tol=None), matrix, labels, cv=3)
    there = cross_val_score(KernelPerceptron(gamma=1.0, tol=None), rows, labels, cv=3)
    assert given.tolist() == there.tolist()


def test_a_full_nystroem_map_before_a_linear_learner_is_the_kernel_learner() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(80, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    mapped = make_pipeline(Nystroem(gamma=1.0, n_components=80, random_state=0), Perceptron(tol=None)).fit(rows, labels)
    kernel = KernelPerceptron(gamma=1.0, tol=None).fit(rows, labels)
    assert mapped[-1].history_.mistakes == kernel.history_.mistakes
    np.testing.assert_allclose(mapped.decision_function(rows), kernel.decision_function(rows), atol=1e-6)


def test_random_features_before_a_linear_learner_separate_circles() -> None:
    angle, labels = np.linspace(0, 4 * np.pi, 200), np.arange(200) % 2
    rows = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + labels[:, None])
    assert not Perceptron(max_iter=50).fit(rows, labels).converged_
    mapped = make_pipeline(RBFSampler(gamma=1.0, n_components=200, random_state=0), Perceptron(tol=None))
    assert mapped.fit(rows, labels).predict(rows).tolist() == labels.tolist()
