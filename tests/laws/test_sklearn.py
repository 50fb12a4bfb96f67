"""scikit-learn's own checks on every estimator, and its tools around them."""

from collections.abc import Iterator
from typing import Any

import pytest
from length import LONG
from registry import LEARNERS
from sklearn.utils.estimator_checks import estimator_checks_generator

from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, Calibrated, Sweep

# Most of the checks' rows are not separable: with the default of a thousand epochs they would take ten times as long.
ESTIMATORS = {name: each.make(max_iter=20) for name, each in LEARNERS.items() if not each.wrapper}
ESTIMATORS |= {
    "one-vs-rest": LEARNERS["AveragedPerceptron"].make(multiclass="ovr", max_iter=20),
    "kernel one-vs-rest": LEARNERS["KernelPerceptron"].make(multiclass="ovr", keep="average", max_iter=20),
    "budget": LEARNERS["KernelPerceptron"].make(budget=30, max_iter=20),
}
ESTIMATORS |= {
    "auto": AutoPerceptron(n_jobs=1),
    "sweep": Sweep([AveragedPerceptron(max_iter=20), AROW(max_iter=20)], n_jobs=1),
    "calibrated": Calibrated(AveragedPerceptron(max_iter=20)),
}
# One of each kind; `make test-all` checks them all.
KINDS = ["Perceptron", "VotedPerceptron", "AROW", "PassiveAggressiveRegression", "one-vs-rest", "budget"]
KINDS += ["auto", "sweep", "calibrated"]
# One step of weight 2 is not two visits of the row: the second visit comes later, to other weights.
REASON = "a sample weight scales the step; a row that comes twice is met twice"
EXPECTED_FAILURES = {f"check_sample_weight_equivalence_on_{kind}_data": REASON for kind in ("dense", "sparse")}
DATA_NOT_DECISION = {"check_classifiers_train": "probabilities are those of the data, not of the decision"}


def cases() -> Iterator[Any]:
    for name in ESTIMATORS if LONG else KINDS:
        fails = EXPECTED_FAILURES | (DATA_NOT_DECISION if hasattr(ESTIMATORS[name], "calibrate") else {})
        for case in estimator_checks_generator(ESTIMATORS[name], expected_failed_checks=fails, mark="xfail"):
            if "check_array_api" not in str(case):  # for estimators that take arrays of other libraries
                yield case


def name_of(value: Any) -> str:
    return getattr(getattr(value, "func", value), "__name__", type(value).__name__)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(("estimator", "check"), list(cases()), ids=name_of)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)
