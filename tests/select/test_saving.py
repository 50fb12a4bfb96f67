"""What is chosen, swept or calibrated goes into a file with everything that it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import rosenblatt
from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, Calibrated, Sweep, VotedPerceptron
from rosenblatt.models.calibrator import Calibrator, Curve

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MADE = {
    "auto": AutoPerceptron(n_jobs=1),
    "sigmoid": Calibrated(AveragedPerceptron(max_iter=3), n_jobs=1),
    "isotonic": Calibrated(AROW(max_iter=3), calibrate="isotonic", n_jobs=1),
    "votes": Calibrated(VotedPerceptron(max_iter=3), calibrate="vote"),
    "votes ovr": Calibrated(VotedPerceptron(max_iter=3, multiclass="ovr"), calibrate="vote"),
    "sweep": Sweep([AROW(max_iter=3), VotedPerceptron(max_iter=3, multiclass="ovr")], n_jobs=1),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MADE)
def test_a_file_holds_what_was_fitted(name: str, classes: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), np.arange(300) % classes
    X[:, 0] += 2 * y
    learner: Any = MADE[name].fit(X, y)
    rosenblatt.save(learner, tmp_path / "model")
    model = rosenblatt.load(tmp_path / "model")
    assert model.learner == type(learner).__name__
    assert model.history["mistakes"] == learner.history_.mistakes
    assert model.history["stop_reason"] == learner.stop_reason_
    np.testing.assert_array_equal(model.predict(X), learner.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), learner.decision_function(X))
    if name != "sweep":
        np.testing.assert_array_equal(model.predict_proba(X), learner.predict_proba(X))


@pytest.mark.parametrize("learner", MADE.values(), ids=MADE)
def test_what_has_learned_nothing_says_so(learner: Any) -> None:
    for method in ("predictors", "calibrator"):
        if hasattr(learner, method):
            with pytest.raises(NotFittedError, match="not fitted"):
                getattr(clone(learner), method)()


def test_where_no_class_has_a_probability_nothing_is_known() -> None:
    """The curve of each class may be 0 at its score."""
    step = Curve(None, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    P = Calibrator((step,) * 3).probabilities(np.array([[0.0, 0.0, -5.0], [2.0, 0.0, -5.0]]))
    np.testing.assert_allclose(P, [[1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
