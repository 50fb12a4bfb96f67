"""scikit-learn's own checks on every estimator, and its tools around them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from length import LONG
from rosenblatt import (
    AROW,
    AveragedPerceptron,
    NormalizedPerceptron,
    PassiveAggressive,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegression,
    PassiveAggressiveRegressor,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)

# Most of the checks' rows are not separable: with the default of a thousand epochs they would take ten times as long.
FAMILY = [
    Perceptron(),
    AROW(max_iter=20),
    NormalizedPerceptron(max_iter=20),
    AveragedPerceptron(max_iter=20),
    VotedPerceptron(max_iter=20),
    PocketPerceptron(max_iter=20),
    PassiveAggressive(max_iter=20),
    PassiveAggressiveClassifier(max_iter=20),
    Perceptron(multiclass="ovr", keep="average", max_iter=20),
]


# One of each kind; `make test-all` checks them all.
KINDS = [FAMILY[i] for i in (0, 1, 4, 7, 8)]
REGRESSION = [PassiveAggressiveRegression(max_iter=20), PassiveAggressiveRegressor(max_iter=20)]


def expected_failures(estimator: Any) -> dict[str, str]:
    # One step of weight 2 is not two visits of the row: the second visit comes later, to other weights.
    reason = "a sample weight scales the step; a row that comes twice is met twice"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [*FAMILY, *REGRESSION] if LONG else [*KINDS, REGRESSION[0]], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", FAMILY, ids=lambda e: type(e).__name__)
def test_in_a_pipeline_a_search_and_a_validation(learner: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), clone(learner).set_params(max_iter=5, tol=1e-3))
    scores = cross_val_score(pipeline, X, y, cv=3)
    search = GridSearchCV(clone(learner), {"max_iter": [1, 3]}, cv=2).fit(X[:100], y[:100])
    assert scores.shape == (3,)
    assert search.best_params_["max_iter"] in (1, 3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("learner", FAMILY, ids=lambda e: type(e).__name__)
def test_a_pickle_goes_on_with_the_same_bits(learner: Any) -> None:
    X, y = load_iris(return_X_y=True)
    first = clone(learner).set_params(max_iter=3).fit(X, y)
    second = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    first.partial_fit(X, y)
    second.partial_fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
