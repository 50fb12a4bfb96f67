"""No call writes to an argument; an invalid parameter and an overflow are errors; every parameter is documented."""

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from registry import CONFIGURATIONS, LEARNERS, answers, assert_same, each, rows
from rejected import rejected
from sklearn.base import clone

import rosenblatt as rb


def with_duplicates(X: Any) -> Any:
    """The same rows, each value as two halves that lie beside each other, in no order of columns."""
    n, d = X.shape
    columns = np.tile(np.repeat(np.arange(d)[::-1], 2), n).astype(np.int32)
    halves = np.repeat(X[:, ::-1], 2, axis=1).ravel() / 2
    return sp.csr_matrix((halves, columns, np.arange(0, 2 * n * d + 1, 2 * d, dtype=np.int32)), shape=(n, d))


def unsorted(X: Any) -> Any:
    n, d = X.shape
    columns = np.tile(np.arange(d)[::-1], n).astype(np.int32)
    starts = np.arange(0, n * d + 1, d, dtype=np.int32)
    return sp.csr_array((X[:, ::-1].ravel().copy(), columns, starts), shape=(n, d))


KINDS: dict[str, Any] = {
    "dense": np.array,
    "float32": lambda X: X.astype(np.float32),
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "unsorted csr": unsorted,
    "csr with duplicates": with_duplicates,
}


def arrays_of(X: Any) -> list[Any]:
    return [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]


def bytes_of(*arguments: Any) -> list[str]:
    return [f"{array.dtype} {hash(array.tobytes())}" for each in arguments for array in arrays_of(each)]


def calls(learner: Any, X: Any, y: Any, weight: Any) -> list[tuple[str, Any]]:
    found = [
        ("fit", lambda: learner.fit(X, y, sample_weight=weight)),
        ("decision_function", lambda: learner.decision_function(X)),
        ("predict", lambda: learner.predict(X)),
        ("score", lambda: learner.score(X, y)),
    ]
    if hasattr(learner, "predict_proba"):
        found.append(("predict_proba", lambda: learner.predict_proba(X)))
    if hasattr(learner, "partial_fit"):
        found.append(("partial_fit", lambda: learner.partial_fit(X, y, sample_weight=weight)))
    return found


@each(CONFIGURATIONS)
def test_no_call_writes_to_an_argument(make: Any) -> None:
    """Read-only arguments would be an error; the bytes show what the engine writes."""
    dense, y = rows(40)
    weight = np.resize([1.0, 2.0, 0.5], 40)
    for kind, convert in KINDS.items():
        X = convert(dense)
        for array in [*arrays_of(X), y, weight]:
            array.flags.writeable = False
        before = bytes_of(X, y, weight)
        for name, call in calls(make(), X, y, weight):
            call()
            assert bytes_of(X, y, weight) == before, f"{name} changed its {kind} rows, labels or weights"


SIGNED = ("coef0", "tol")


@pytest.mark.parametrize("name", LEARNERS)
def test_an_invalid_value_of_any_parameter_is_named_and_nothing_is_learned(name: str) -> None:
    X, y = rows()
    kind = LEARNERS[name]
    for parameter, value in kind.make().get_params(deep=False).items():
        if parameter in ("learner", "learners", "verbose"):
            continue
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        for wrong in ("nonsense", *[np.nan, -7.5] * (numeric and parameter not in SIGNED)):
            learner = kind.make(**{parameter: wrong})
            with rejected("parameter", parameter):
                learner.fit(X, X[:, 0] if kind.regression else y)
            assert not hasattr(learner, "n_features_in_")


@pytest.mark.parametrize("name", LEARNERS)
def test_the_docstring_names_every_parameter_and_fitted_attribute(name: str) -> None:
    learner = LEARNERS[name].make()
    documented = inspect.getdoc(type(learner)) or ""
    section = documented.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    assert [parameter for parameter in inspect.signature(type(learner)).parameters if parameter not in section] == []
    if name == "Perceptron":
        learner.fit([[0.0], [1.0]], [0, 1])
        learned = [each for each in [*vars(learner), "coef_", "intercept_"] if each.endswith("_") and each[0] != "_"]
        assert [each for each in learned if each not in documented] == []


BOLD = [
    rb.Perceptron(eta0=1e100),
    rb.AveragedPerceptron(eta0=1e100),
    rb.VotedPerceptron(eta0=1e100),
    rb.PocketPerceptron(eta0=1e100),
    rb.Perceptron(eta0=1e100, multiclass="ovr"),
    rb.Perceptron(eta0=1e100, penalty="l2", alpha=1e-110),
]
every_bold = pytest.mark.parametrize("learner", BOLD, ids=repr)

FAR = np.full((6, 4), 1e99)
FAR_LABELS = np.array(["class 0", "class 1", "class 2"] * 2)
HEAVY = np.full(6, 1e120)


@every_bold
def test_partial_fit_that_overflows_leaves_the_learner_as_it_was(learner: Any) -> None:
    X, y = rows()
    learner = clone(learner).partial_fit(X, y)
    before, counted = answers(learner, X), (learner.mistakes_, learner.updates_, learner.classes_.tolist())
    with rejected("data", "overflow"):
        learner.partial_fit(FAR, FAR_LABELS, sample_weight=HEAVY)
    assert_same(answers(learner, X), before)
    assert (learner.mistakes_, learner.updates_, learner.classes_.tolist()) == counted


def test_learn_one_that_overflows_is_refused_and_nothing_is_learned() -> None:
    learner = rb.Perceptron(eta0=1e100).learn_one({"a": 1.0}, "x").learn_one({"a": -1.0}, "y")
    learner.set_params(class_weight={"x": 1e150, "y": 1e150})
    with rejected("data", "overflow"):
        [learner.learn_one({"a": 1e99}, label) for label in ["x", "y"] * 3]
    assert np.isfinite(learner.coef_).all()


@pytest.mark.parametrize("budget", [None, 5])
def test_a_kernel_that_overflows_in_partial_fit_is_refused(budget: int | None) -> None:
    far = np.full((4, 2), 1e90)
    learner = rb.KernelPerceptron(kernel="poly", degree=5, gamma=1.0, budget=budget)
    with rejected("data", "overflow"):
        learner.partial_fit(far, [0, 1, 0, 1])


def test_a_calibrated_learner_whose_weights_overflow_is_as_it_was() -> None:
    X, y = rows()
    learner = rb.Calibrated(rb.AveragedPerceptron(eta0=1e100, max_iter=5), n_jobs=1).fit(X, y)
    before = answers(learner, X)
    with rejected("data", "overflow"):
        learner.partial_fit(FAR, FAR_LABELS, sample_weight=HEAVY)
    assert_same(answers(learner, X), before)


@pytest.mark.parametrize("learner", [rb.NormalizedPerceptron(), rb.PassiveAggressive(variant="PA")], ids=repr)
def test_a_row_too_short_to_step_along_moves_nothing(learner: Any) -> None:
    learner.set_params(fit_intercept=False).partial_fit([[1e-160], [-1e-160]], [1, 0], classes=[0, 1])
    assert learner.coef_.tolist() == [[0.0]]
    assert learner.mistakes_ == 2
