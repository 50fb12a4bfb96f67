"""Learners side by side are the learners alone, bit for bit; scikit-learn's tools around estimators of select."""

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from rejected import rejected
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, PocketPerceptron, Sweep, VotedPerceptron
from rosenblatt.select import passes


def overlapping(rows: int, features: int, classes: int, seed: int) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rows, features))
    y = np.argmax(X @ generator.normal(size=(features, classes)) + generator.normal(size=(rows, classes)), axis=1)
    return X, y


LEARNERS = [
    Perceptron(max_iter=6),
    AveragedPerceptron(max_iter=6),
    VotedPerceptron(max_iter=4),
    PocketPerceptron(max_iter=6),
    *(PassiveAggressive(C=C, keep="average", max_iter=6) for C in (0.01, 0.1, 1.0)),
    PassiveAggressive(variant="PA-II", max_iter=6, multiclass="ovr"),
    AROW(max_iter=6),
    AROW(r=0.1, keep="average", max_iter=6),
    Perceptron(max_iter=6, shuffle=False),
    Perceptron(max_iter=6, random_state=3, n_init=2),
    Perceptron(max_iter=2),
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", ["dense", pytest.param("float32", marks=pytest.mark.slow), "sparse"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_equals_itself_trained_alone(classes: int, layout: str, n_jobs: int) -> None:
    X, y = overlapping(3000, 40, classes, seed=1)
    X = {"dense": X, "float32": X.astype(np.float32), "sparse": sp.csr_array(np.where(np.abs(X) > 1, X, 0.0))}[layout]
    sweep = Sweep(LEARNERS, validation_fraction=0.2, n_jobs=n_jobs).fit(X, y)
    for learner, beside in zip(LEARNERS, sweep.learners_, strict=True):
        alone = clone(learner).set_params(early_stopping=True, validation_fraction=0.2).fit(X, y)
        assert beside.history_.mistakes == alone.history_.mistakes
        assert beside.stop_reason_ == alone.stop_reason_
        np.testing.assert_array_equal(beside.decision_function(X), alone.decision_function(X))


def test_a_thread_that_is_ahead_changes_nothing_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread has quick learners, the other slow ones that still go over the order of the epoch before."""
    monkeypatch.setattr(passes, "VALUES_A_THREAD", 1)
    X, y = overlapping(4000, 100, 8, seed=3)
    learners = [Perceptron(max_iter=10, tol=None), AROW(keep="average", max_iter=10, tol=None)] * 3
    sweep = Sweep(learners, n_jobs=2).fit(X, y)
    for learner, fitted in zip(learners[:2], sweep.learners_, strict=False):
        alone = clone(learner).set_params(early_stopping=True).fit(X, y)
        np.testing.assert_array_equal(fitted.coef_, alone.coef_)


def test_bad_parameters_are_named() -> None:
    for learners, fact in (([], "one learner"), (AROW(), "list"), (["PA"], "entry 0, str")):
        with rejected("parameter", "learners", fact):
            Sweep(learners).fit([[0.0], [1.0]], [0, 1])


TOGETHER = [
    rb.AutoPerceptron(n_jobs=1),
    rb.Calibrated(rb.AROW(max_iter=5), n_jobs=1),
    rb.Sweep([rb.AROW(max_iter=5), rb.PassiveAggressive(max_iter=5, penalty="l2")], n_jobs=1),
    rb.Perceptron(max_iter=5, penalty="elasticnet"),
]


def test_a_search_reaches_the_learner_inside() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    grid = {"learner__r": [0.1, 10.0], "calibrate": ["sigmoid", "isotonic"]}
    search = GridSearchCV(rb.Calibrated(rb.AROW(max_iter=3), folds=2, n_jobs=1), grid, cv=2).fit(X, y)
    assert search.best_estimator_.learner_.r == search.best_params_["learner__r"]
    assert search.predict_proba(X).shape == (len(y), 2)


@pytest.mark.parametrize("estimator", TOGETHER, ids=lambda e: type(e).__name__)
def test_sample_weights_are_routed(estimator: Any) -> None:
    """Rows of weight 0 are ignored, also through a pipeline and a cross-validation that route the weights."""
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
    for made in (rb.Perceptron(max_iter=1, tol=None), rb.Sweep([rb.Perceptron(max_iter=1, tol=None)])):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made.fit(X, y)
        assert [each.filename for each in caught if each.category is ConvergenceWarning] == [__file__]
