"""Cross-validation: folds of the same memory, and the same learners as by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, VotedPerceptron, cross_validate
from rosenblatt.data import encode_labels
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.select.folds import assign_folds

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("learner", [AveragedPerceptron(max_iter=4), AROW(max_iter=4), VotedPerceptron(max_iter=2)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fold_is_a_fit_without_its_rows(learner: AveragedPerceptron, n_jobs: int) -> None:
    X, y = load_iris(return_X_y=True)
    found = cross_validate(X, y, learner, folds=3, n_jobs=n_jobs)
    fold_of = assign_folds(encode_labels(y), np.arange(150, dtype=np.uint32), 3, seed=0)
    for fold, each in enumerate(found.learners):
        alone = type(learner)(**learner.get_params()).fit(X[fold_of != fold], y[fold_of != fold])
        np.testing.assert_array_equal(each.decision_function(X), alone.decision_function(X))
        assert found.scores[fold] == np.mean(alone.predict(X[fold_of == fold]) == y[fold_of == fold])
    assert found.standard_error == pytest.approx(np.std(found.scores, ddof=1) / np.sqrt(3))


def test_every_class_is_spread_evenly() -> None:
    y = np.array([0] * 10 + [1] * 7 + [2] * 4)
    fold_of = assign_folds(encode_labels(y), np.arange(21, dtype=np.uint32), 4, seed=1)
    counts = np.array([np.bincount(fold_of[y == k], minlength=4) for k in range(3)])
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1


def test_bad_input_is_named() -> None:
    with pytest.raises(DataError, match="folds=5 of 3 rows"):
        cross_validate([[1.0], [2.0], [3.0]], [0, 1, 0], PassiveAggressive())
    with pytest.raises(ParameterError, match="folds=1: must be at least 2"):
        cross_validate([[1.0], [2.0], [3.0]], [0, 1, 0], PassiveAggressive(), folds=1)
    with pytest.raises(ParameterError, match="learner: int is not a learner of rosenblatt"):
        cross_validate([[1.0]], [0], 3)
