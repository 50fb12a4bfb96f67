"""scikit-learn's own checks on the estimators of `select`, and the tools of scikit-learn around the whole family."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from length import LONG
from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    PassiveAggressive,
    Perceptron,
    Sweep,
    VotedPerceptron,
)

ESTIMATORS = [
    Sweep([AveragedPerceptron(max_iter=20), AROW(max_iter=20)]),
    Sweep([AveragedPerceptron(max_iter=20), AROW(max_iter=20)], choose="progressive", n_jobs=1),
    Calibrated(AveragedPerceptron(max_iter=20)),
    Calibrated(VotedPerceptron(max_iter=20), calibrate="vote"),
]
TOGETHER = [
    AutoPerceptron(n_jobs=1),
    Calibrated(AROW(max_iter=5), n_jobs=1),
    Sweep([AROW(max_iter=5), PassiveAggressive(max_iter=5, penalty="l2")], n_jobs=1),
    Perceptron(max_iter=5, penalty="elasticnet"),
]
every_estimator = pytest.mark.parametrize("estimator", TOGETHER, ids=lambda e: type(e).__name__)
unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def expected_failures(estimator: Any) -> dict[str, str]:
    reason = "a sample weight scales the step; a row that comes twice is met twice"
    known = {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }
    if getattr(estimator, "calibrate", "vote") != "vote":
        known["check_classifiers_train"] = "probabilities are those of the data, not of the decision"
    return known


@unfinished
@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    ESTIMATORS if LONG else [ESTIMATORS[0], ESTIMATORS[2]], expected_failed_checks=expected_failures
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@unfinished
@every_estimator
def test_in_a_pipeline_whose_steps_answer_with_frames(estimator: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, clone(estimator)).fit(X, y)
    by_hand = clone(estimator).fit(pd.DataFrame(scaler.fit_transform(X), columns=X.columns), y)
    np.testing.assert_array_equal(pipeline.predict(X), by_hand.predict(scaler.transform(X)))
    assert pipeline[-1].feature_names_in_.tolist() == X.columns.tolist()
    assert cross_val_score(pipeline, X, y, cv=3).shape == (3,)


@unfinished
def test_a_search_reaches_the_learner_inside() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"learner__r": [0.1, 10.0], "calibrate": ["sigmoid", "isotonic"]}
    search = GridSearchCV(Calibrated(AROW(max_iter=3), folds=2, n_jobs=1), grid, cv=2).fit(X, y)
    assert search.best_estimator_.learner_.r == search.best_params_["learner__r"]
    assert search.predict_proba(X).shape == (len(y), 2)


@unfinished
@pytest.mark.parametrize("learner", [Perceptron(max_iter=5), AROW(max_iter=5)], ids=repr)
def test_scikit_learn_calibrates_a_learner(learner: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    P = CalibratedClassifierCV(make_pipeline(StandardScaler(), learner), cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


@unfinished
@every_estimator
def test_sample_weights_are_routed(estimator: Any) -> None:
    """Rows of weight 0 are as if absent, also through a pipeline and a cross-validation that route the weights."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    weights = np.ones(len(y))
    weights[::2] = 0.0
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, asked).fit(X, y, sample_weight=weights)
        alone = clone(estimator).fit(scaler.fit_transform(X), y, sample_weight=weights)
        np.testing.assert_array_equal(pipeline.predict(X), alone.predict(scaler.transform(X)))
        found = cross_validate(asked, X, y, cv=3, params={"sample_weight": weights}, return_estimator=True)
        plain = cross_validate(asked, X, y, cv=3, params={}, return_estimator=True)  # 1.6 wants a mapping
        assert not np.array_equal(
            found["estimator"][0].decision_function(X), plain["estimator"][0].decision_function(X)
        )


def test_the_warning_points_at_the_call() -> None:
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    for made in (Perceptron(max_iter=1, tol=None), Sweep([Perceptron(max_iter=1, tol=None)], choose="progressive")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made.fit(X, y)
        assert [each.filename for each in caught if each.category is ConvergenceWarning] == [__file__]
