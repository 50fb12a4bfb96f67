"""Bad input: one sentence that names the place, and the model as it was."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from family import LINEAR
from rosenblatt import (
    PassiveAggressive,
    PassiveAggressiveClassifier,
    Perceptron,
    VotedPerceptron,
)
from rosenblatt.errors import DataError, LabelError, ParameterError

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [-1.0, 3.0]])
y = np.array(["a", "b", "b", "a"])

NAN, INF, HUGE = X.copy(), X.copy(), X.copy()
NAN[2, 1], INF[1, 0], HUGE[3, 1] = np.nan, -np.inf, 1e200
BROKEN = sp.csr_array(X)
BROKEN.indices = np.array([0, 9, 1, 0, 1, 0][: len(BROKEN.indices)], dtype=np.int32)

BAD_ROWS: list[tuple[Any, Any, type[Exception], str]] = [
    (NAN, y, DataError, "X contains NaN in row 2, column 1"),
    (INF, y, DataError, "X contains infinity in row 1, column 0"),
    (sp.csr_array(NAN), y, DataError, "X contains NaN in row 2, column 1"),
    (HUGE, y, DataError, "X contains 1e\\+200 in row 3, column 1: so large a float64 value overflows"),
    (X[0], y, DataError, "Reshape your data"),
    (X[None], y, DataError, "dim 3"),
    (X[:0], y[:0], DataError, "X is empty"),
    (X[:, :0], y, DataError, "X has no columns"),
    (X.astype(complex), y, DataError, "Complex data not supported"),
    ([[1.0, "tall"], [2.0, 3.0]], ["a", "b"], DataError, "X contains 'tall' in row 0, column 1, which is not a number"),
    ([[1.0, 2.0], [2.0]], ["a", "b"], DataError, "X cannot be read as a table"),
    (BROKEN, y, DataError, "X is a broken CSR matrix"),
    (X.astype("datetime64[s]"), y, DataError, "turn dates into numbers"),
]
BAD_LABELS: list[tuple[Any, type[Exception], str]] = [
    (y[:3], DataError, "X has 4 rows, y has 3 labels"),
    (None, LabelError, "the target y is None"),
    ([0.5, 1.5, 0.25, 1.0], LabelError, "Unknown label type: continuous. y has 0.5 in row 0"),
    ([0.0, np.nan, 1.0, 1.0], LabelError, "y contains NaN in row 1"),
    (np.array(["a", None, "b", "a"], dtype=object), LabelError, "y contains None in row 1"),
    (np.array(["a", 1, "b", "a"], dtype=object), LabelError, "row 0 is 'a', row 1 is 1"),
    (np.full((4, 2), 2.0), LabelError, "several labels per row are columns of 0 and 1"),
]
BAD_WEIGHTS: list[tuple[Any, str]] = [
    ([1.0, -1.0, 1.0, 1.0], "sample_weight has -1 in row 1"),
    ([1.0, 1.0, np.nan, 1.0], "sample_weight has nan in row 2"),
    ([1.0, 1.0], "expected \\(4,\\)"),
    (["heavy"] * 4, "sample_weight must be numbers"),
]
every_learner = pytest.mark.parametrize("learner", [make() for make in LINEAR.values()], ids=LINEAR)


def snapshot(learner: Any) -> Any:
    return (learner.decision_function(X).tolist(), learner.classes_.tolist(), learner.n_features_in_, learner.mistakes_)


def assert_refused(learner: Any, error: type[Exception], sentence: str, *args: Any, **kwargs: Any) -> None:
    """Refused before and after learning, by `fit` and by `partial_fit`, with nothing changed."""
    fresh = clone(learner)
    with pytest.raises(error, match=sentence):
        fresh.fit(*args, **kwargs)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    trained = clone(learner).set_params(tol=None, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        trained.fit(X, y)
    before = snapshot(trained)
    with pytest.raises(error, match=sentence):
        trained.fit(*args, **kwargs)
    with pytest.raises(error, match=sentence):
        trained.partial_fit(*args, **kwargs)
    assert snapshot(trained) == before


@every_learner
@pytest.mark.parametrize(("rows", "labels", "error", "sentence"), BAD_ROWS)
def test_rows(learner: Any, rows: Any, labels: Any, error: type[Exception], sentence: str) -> None:
    assert_refused(learner, error, sentence, rows, labels)


@pytest.mark.parametrize(("labels", "error", "sentence"), BAD_LABELS)
def test_labels(labels: Any, error: type[Exception], sentence: str) -> None:
    assert_refused(Perceptron(), error, sentence, X, labels)


@pytest.mark.parametrize(("weights", "sentence"), BAD_WEIGHTS)
def test_sample_weights(weights: Any, sentence: str) -> None:
    assert_refused(Perceptron(), DataError, sentence, X, y, sample_weight=weights)


def test_weights_that_are_all_zero() -> None:
    with pytest.raises(DataError, match="every sample_weight is zero"):
        Perceptron().fit(X, y, sample_weight=[0.0] * 4)
    learner = Perceptron().partial_fit(X, y)
    before = snapshot(learner)
    assert snapshot(learner.partial_fit(X, y, sample_weight=[0.0] * 4)) == before


def test_one_class_only() -> None:
    with pytest.raises(LabelError, match="y has one class only, 'a'"):
        Perceptron().fit(X, ["a"] * 4)


def test_the_column_is_named() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(NAN, columns=["height", "width"])
    with pytest.raises(DataError, match=r"X contains NaN in row 2, column 1 \('width'\)"):
        Perceptron().fit(frame, y)


def test_other_feature_counts() -> None:
    learner = Perceptron(tol=None).fit(X, y)
    for call in (learner.predict, learner.decision_function):
        with pytest.raises(ValueError, match="X has 3 features, but Perceptron is expecting 2 features"):
            call(np.ones((2, 3)))
    with pytest.raises(ValueError, match="expecting 2 features"):
        learner.partial_fit(np.ones((1, 3)), ["a"])
    with pytest.raises(DataError, match="X_val has 3 features, but X has 2"):
        Perceptron().fit(X, y, X_val=np.ones((2, 3)), y_val=["a", "b"])


def test_a_validation_label_that_was_never_learned() -> None:
    with pytest.raises(LabelError, match="y_val has the label 'z' in row 1, which is not among the classes learned"):
        Perceptron().fit(X, y, X_val=X[:2], y_val=["a", "z"])
    with pytest.raises(ParameterError, match="X_val and y_val go together"):
        Perceptron().fit(X, y, X_val=X)


def test_labels_that_cannot_be_sorted_among_the_known() -> None:
    learner = Perceptron().partial_fit(X, y)
    with pytest.raises(LabelError, match="cannot be sorted among labels like"):
        learner.partial_fit(X, [1, 2, 1, 2])


@pytest.mark.parametrize(
    ("learner", "sentence"),
    [
        (Perceptron(eta0=0.0), "eta0=0.0: must be above 0"),
        (Perceptron(eta0="fast"), "eta0='fast': must be a number"),
        (Perceptron(beta=-1.0), "beta=-1.0: must be at least 0"),
        (Perceptron(max_iter=0), "max_iter=0: must be at least 1"),
        (Perceptron(max_iter=2.5), "max_iter=2.5: must be a whole number"),
        (Perceptron(tol="tight"), "tol='tight': must be a number"),
        (Perceptron(keep="best"), "keep='best': must be 'last', 'average', 'tail', 'vote' or 'pocket'"),
        (Perceptron(tie="negative"), "tie='negative'"),
        (Perceptron(multiclass="pairs"), "multiclass='pairs'"),
        (Perceptron(init="ones"), "init='ones'"),
        (Perceptron(init=[[1.0, 2.0, 3.0]]), r"init: the weights must have shape \(1, 2\), not \(1, 3\)"),
        (Perceptron(init=[["a", "b"]]), "init: the weights must be an array of numbers"),
        (Perceptron(n_init=0), "n_init=0"),
        (Perceptron(n_init=3, shuffle=False), "n_init=3 with shuffle=False and the same start would repeat one run"),
        (Perceptron(random_state=-1), "random_state=-1"),
        (Perceptron(n_jobs=0, n_init=2), "n_jobs=0"),
        (Perceptron(class_weight="even"), "class_weight='even'"),
        (Perceptron(class_weight={"z": 2.0}), "class_weight: 'z' is not among the classes"),
        (Perceptron(class_weight={"a": -2.0}), "class_weight: a weight must be finite and at least 0"),
        (Perceptron(validation_fraction=1.0), "validation_fraction=1.0: must be below 1"),
        (Perceptron(penalty="l0"), "penalty='l0': must be None, 'l2', 'l1' or 'elasticnet'"),
        (PassiveAggressive(variant="PA-3"), "variant='PA-3': must be 'PA', 'PA-I' or 'PA-II'"),
        (PassiveAggressive(C=0), "C=0: must be above 0"),
        (PassiveAggressiveClassifier(loss="log"), "loss='log': must be 'hinge'"),
        (PassiveAggressiveClassifier(average=10), "average=10: averaging starts with the first example"),
    ],
)
def test_parameters(learner: Any, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        learner.fit(X, y)


def test_positive_ties_need_two_classes() -> None:
    with pytest.raises(ParameterError, match="tie='positive' has a meaning for two classes only, and there are 3"):
        Perceptron(tie="positive").fit(X, ["a", "b", "c", "a"])


def test_balanced_weights_need_all_labels() -> None:
    with pytest.raises(ParameterError, match=r"class_weight='balanced' .* has no meaning in partial_fit"):
        Perceptron(class_weight="balanced").partial_fit(X, y)


def test_too_few_rows_to_hold_out() -> None:
    with pytest.raises(DataError, match="leaves no row to validate on"):
        Perceptron(early_stopping=True).fit([[0.0], [1.0]], ["a", "b"])


def test_of_few_rows_one_is_held_out() -> None:
    learner = Perceptron(early_stopping=True).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert set(learner.history_.validation_score) <= {0.0, 1.0}


def test_a_warm_start_on_other_data() -> None:
    learner = Perceptron(warm_start=True, tol=None).fit(X, y)
    with pytest.raises(DataError, match="a warm start goes on with the same ones"):
        learner.fit(np.ones((4, 3)), y)
    with pytest.raises(LabelError, match="a warm start needs"):
        learner.fit(X, [1, 2, 1, 2])


def test_a_vote_has_no_weights() -> None:
    learner = VotedPerceptron(tol=None).fit(X, y)
    with pytest.raises(AttributeError, match="a vote has no single weight vector"):
        _ = learner.coef_
    with pytest.raises(AttributeError, match="call fit first"):
        _ = Perceptron().coef_
