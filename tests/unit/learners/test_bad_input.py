"""Bad input: one sentence that names the place, and the model as it was; labels of every kind."""

import decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from registry import CONFIGURATIONS, LINEAR, each, rows
from rejected import rejected
from sklearn.base import clone
from written import reloaded

import rosenblatt as rb
from rosenblatt import AutoPerceptron, AveragedPerceptron, Calibrated, KernelPerceptron, Perceptron
from rosenblatt.errors import LabelError

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [-1.0, 3.0]])
y = np.array(["a", "b", "b", "a"])

NAN, INF, HUGE = X.copy(), X.copy(), X.copy()
NAN[2, 1], INF[1, 0], HUGE[3, 1] = np.nan, -np.inf, 1e200
BROKEN = sp.csr_array(X)
BROKEN.indices = np.array([0, 9, 1, 0, 1, 0][: len(BROKEN.indices)], dtype=np.int32)

BAD_ROWS: list[tuple[Any, Any, list[str]]] = [
    (NAN, y, ["NaN", "row 2", "column 1"]),
    (INF, y, ["infinity", "row 1", "column 0"]),
    (sp.csr_array(NAN), y, ["NaN", "row 2", "column 1"]),
    (HUGE, y, ["row 3", "column 1"]),
    (X[0], y, ["Reshape your data"]),
    (["win a prize"] * len(y), y, ["text", "AutoPerceptron", "vectorizer"]),
    ([{"win": 1.0}] * len(y), y, ["dicts", "learn_many", "predict_many"]),
    (X[None], y, ["dim 3"]),
    (X[:0], y[:0], ["X is empty"]),
    (X[:, :0], y, ["no columns"]),
    (X.astype(complex), y, ["Complex data not supported"]),
    ([[1.0, "tall"], [2.0, 3.0]], ["a", "b"], ["'tall'", "row 0", "column 1"]),
    ([[1.0, 2.0], [2.0]], ["a", "b"], ["X"]),
    (BROKEN, y, ["CSR"]),
    (pd.DataFrame(NAN, columns=["height", "width"]), y, ["NaN", "row 2", "column 1", "'width'", "AutoPerceptron"]),
    (X.astype("datetime64[s]"), y, ["dates"]),
]
BAD_LABELS: list[tuple[Any, str, list[str]]] = [
    (y[:3], "data", ["4 rows", "3 labels"]),
    (None, "label", ["y is None"]),
    ([0.5, 1.5, 0.25, 1.0], "label", ["Unknown label type: continuous", "0.5", "row 0"]),
    ([0.0, np.nan, 1.0, 1.0], "label", ["NaN", "row 1"]),
    (np.array(["a", None, "b", "a"], dtype=object), "label", ["None", "row 1"]),
    (np.array(["a", 1, "b", "a"], dtype=object), "label", ["row 0 is 'a'", "row 1 is 1"]),
    (np.full((4, 2), 2.0), "label", ["0 and 1"]),
]
BAD_WEIGHTS: list[tuple[Any, list[str]]] = [
    ([1.0, -1.0, 1.0, 1.0], ["sample_weight", "-1", "row 1"]),
    ([1.0, 1.0, np.nan, 1.0], ["sample_weight", "nan", "row 2"]),
    ([1.0, 1.0], ["(4,)"]),
    (["heavy"] * 4, ["sample_weight"]),
]
every_learner = pytest.mark.parametrize("learner", [make() for make in LINEAR.values()], ids=LINEAR)


def snapshot(learner: Any) -> Any:
    return (learner.decision_function(X).tolist(), learner.classes_.tolist(), learner.n_features_in_, learner.mistakes_)


def assert_refused(learner: Any, code: str, facts: list[str], *args: Any, **kwargs: Any) -> None:
    """An error before and after learning, by `fit` and by `partial_fit`, with nothing changed."""
    fresh = clone(learner)
    with rejected(code, *facts):
        fresh.fit(*args, **kwargs)
    assert not [name for name in vars(fresh) if name.endswith("_")]
    trained = clone(learner).set_params(tol=None, max_iter=500).fit(X, y)
    before = snapshot(trained)
    with rejected(code, *facts):
        trained.fit(*args, **kwargs)
    with rejected(code, *facts):
        trained.partial_fit(*args, **kwargs)
    assert snapshot(trained) == before


@every_learner
@pytest.mark.parametrize(("rows", "labels", "facts"), BAD_ROWS)
def test_rows(learner: Any, rows: Any, labels: Any, facts: list[str]) -> None:
    assert_refused(learner, "data", facts, rows, labels)


@pytest.mark.parametrize(("labels", "code", "facts"), BAD_LABELS)
def test_labels(labels: Any, code: str, facts: list[str]) -> None:
    assert_refused(rb.Perceptron(), code, facts, X, labels)


@pytest.mark.parametrize(("weights", "facts"), BAD_WEIGHTS)
def test_sample_weights(weights: Any, facts: list[str]) -> None:
    assert_refused(rb.Perceptron(), "data", facts, X, y, sample_weight=weights)


def test_other_feature_counts() -> None:
    learner = rb.Perceptron(tol=None).fit(X, y)
    for call in (learner.predict, learner.decision_function):
        with pytest.raises(ValueError, match=r"3 .*Perceptron.* 2 "):
            call(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"3 .*Perceptron.* 2 "):
        learner.partial_fit(np.ones((1, 3)), ["a"])


@pytest.mark.parametrize(
    ("learner", "fact"),
    [
        (rb.Perceptron(init=[[1.0, 2.0, 3.0]]), "init"),
        (rb.Perceptron(init=[["a", "b"]]), "init"),
        (rb.Perceptron(n_init=3, shuffle=False), "n_init=3"),
        (rb.Perceptron(n_jobs=0, n_init=2), "n_jobs=0"),
        (rb.Perceptron(fit_intercept=float("nan")), "fit_intercept"),
        (rb.Perceptron(shuffle=float("nan")), "shuffle"),
        (rb.Perceptron(class_weight={"z": 2.0}), "'z'"),
        (rb.Perceptron(class_weight={"a": -2.0}), "class_weight"),
        (rb.Perceptron(validation_fraction=1.0), "validation_fraction=1.0"),
        (rb.PassiveAggressiveClassifier(average=10), "average=10"),
    ],
)
def test_parameters(learner: Any, fact: str) -> None:
    with rejected("parameter", fact):
        learner.fit(X, y)


BAD_CALLS: list[tuple[Any, str, list[str]]] = [
    (lambda: Perceptron().fit(X, y, X_val=X[:2], y_val=["a", "z"]), "label", ["y_val", "'z'", "row 1"]),
    (lambda: Perceptron().fit(X, y, X_val=np.ones((2, 3)), y_val=["a", "b"]), "data", ["X_val", "3 features", "2"]),
    (lambda: Perceptron().fit(X, y, X_val=X), "parameter", ["X_val"]),
    (lambda: Perceptron().partial_fit(X, y).partial_fit(X, [1, 2, 1, 2]), "label", ["sort"]),
    (lambda: Perceptron().fit(X, ["a"] * 4), "label", ["'a'"]),
    (lambda: Perceptron(tie="positive").fit(X, ["a", "b", "c", "a"]), "parameter", ["tie='positive'", "3"]),
    (lambda: Perceptron(class_weight="balanced").partial_fit(X, y), "parameter", ["class_weight='balanced'"]),
    (lambda: Perceptron(early_stopping=True).fit(X[:2], ["a", "b"]), "data", ["validat"]),
    (lambda: Perceptron(warm_start=True).fit(X, y).fit(np.ones((4, 3)), y), "data", ["warm start"]),
    (lambda: Perceptron(warm_start=True).fit(X, y).fit(X, [1, 2, 1, 2]), "label", ["warm start"]),
    (lambda: Perceptron().fit(np.ma.masked_array(X, X == 2), y), "data", ["masked", "row 2"]),
]


@pytest.mark.parametrize(("call", "code", "facts"), BAD_CALLS)
def test_calls(call: Any, code: str, facts: list[str]) -> None:
    with rejected(code, *facts):
        call()


def test_of_few_rows_one_is_held_out() -> None:
    learner = rb.Perceptron(early_stopping=True).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert set(learner.history_.validation_score) <= {0.0, 1.0}


def test_what_a_learner_does_not_have_names_the_way_to_it() -> None:
    with pytest.raises(AttributeError, match="vote"):
        _ = rb.VotedPerceptron(tol=None).fit(X, y).coef_
    with pytest.raises(AttributeError, match="fit"):
        _ = rb.Perceptron().coef_
    assert not hasattr(Perceptron(), "predict_proba")
    with pytest.raises(AttributeError, match=r"Calibrated\(Perceptron\(\)\) or AutoPerceptron"):
        Perceptron().fit(X, y).predict_proba(X)


BIG = 2**63
DATES = np.array(["2020-01-01", "2021-01-01"], "datetime64[ns]")
MISSING: dict[str, Any] = {
    "NaT": np.array(["2020-01-01", "2021-01-01", "NaT"], "datetime64[D]"),
    "timedelta NaT": np.array([1, 2, "NaT"], "timedelta64[s]"),
    "a series with NaT": pd.Series([pd.Timestamp("2020"), pd.Timestamp("2021"), pd.NaT]).to_numpy(),
    "float32 NaN among objects": np.array([0, 1, np.float32("nan")], object),
    "Decimal NaN": np.array([0, 1, decimal.Decimal("NaN")], object),
    "pandas' NaT among objects": np.array(["a", "b", pd.NaT], object),
    "pandas' NA among objects": np.array(["a", "b", pd.NA], object),
    "a text series with NA": pd.Series(["a", "b", pd.NA], dtype="string"),
}
every_missing = pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)


def spread(labels: Any, n: int) -> Any:
    """These labels over n rows, the last of them in row 5 at first."""
    place = np.arange(n) % (len(labels) - 1)
    place[5::3] = len(labels) - 1
    return labels.take(place).reset_index(drop=True) if isinstance(labels, pd.Series) else labels[place]


@every_missing
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_missing_label_is_refused_with_its_row(labels: Any, call: str) -> None:
    X, _ = rows()
    with pytest.raises(LabelError, match=r"(NaT|NaN|NA|missing).* row 5"):
        getattr(Perceptron(max_iter=20), call)(X, spread(labels, 60))


@pytest.mark.parametrize("seed", [2**64, 10**30])
@pytest.mark.parametrize(
    "learner", [Perceptron(), KernelPerceptron(), AutoPerceptron(), Calibrated(AveragedPerceptron())], ids=repr
)
def test_a_seed_of_more_than_64_bits_is_refused_by_name(learner: Any, seed: int) -> None:
    X, y = rows()
    name = "learner__random_state" if isinstance(learner, Calibrated) else "random_state"
    with rejected("parameter", "random_state=", "2**64"):
        learner.set_params(**{name: seed}).fit(X, y)


TEXTS = getattr(np.dtypes, "StringDType", None)  # from NumPy 2.0 on
AS_OTHERS: dict[str, tuple[Any, Any]] = {
    "whole numbers as objects": (np.array([3, 7], object), np.array([3, 7])),
    "NumPy's numbers as objects": (np.array([np.int8(3), np.int64(7)], object), np.array([3, 7])),
    "floats as objects": (np.array([3.0, 7.0], object), np.array([3.0, 7.0])),
    "truth values as objects": (np.array([False, True], object), np.array([False, True])),
    "numbers on both sides of 2^63 as objects": (np.array([1, BIG + 1], object), np.array([1, BIG + 1], np.uint64)),
}
APART: dict[str, Any] = {
    "bytes": np.array([b"no", b"yes"]),
    "bytes as objects": np.array([b"no", b"yes"], object),
    "beyond 64 bits": np.array([2**70, 2**71], object),
    "dates": DATES,
}
if TEXTS is not None:
    AS_OTHERS["texts of any length"] = np.array(["no", "yes"], TEXTS()), np.array(["no", "yes"])


@pytest.mark.parametrize(("labels", "plain"), AS_OTHERS.values(), ids=AS_OTHERS)
def test_labels_of_this_kind_are_plain_ones(labels: Any, plain: Any) -> None:
    X, _ = rows()
    code = np.arange(60) % 2
    for make in (Perceptron, AutoPerceptron, lambda: Calibrated(AveragedPerceptron(max_iter=20), n_jobs=1)):
        learner = make().fit(X, labels[code])
        assert learner.classes_.dtype == plain.dtype
        right = np.mean(learner.predict(X) == plain[code])
        assert learner.score(X, labels[code]) == learner.score(X, plain[code]) == right
        assert reloaded(learner).partial_fit(X, labels[code]).classes_.tolist() == plain.tolist()
    stream = Perceptron().learn_one({"x": 1.0}, labels[0]).learn_one({"x": -1.0}, labels[1])
    assert stream.classes_.tolist() == plain.tolist()


@pytest.mark.parametrize("labels", APART.values(), ids=APART)
@each(CONFIGURATIONS)
def test_other_labels_have_a_score_too(make: Any, labels: Any) -> None:
    X, _ = rows(40)
    y = labels[np.arange(40) % 2]
    learner, weights = make().fit(X, y), np.resize([1.0, 2.0, 0.0], 40)
    right = np.array([found == label for found, label in zip(learner.predict(X), y, strict=True)])
    assert learner.score(X, y) == np.mean(right)
    assert learner.score(X, y, weights) == pytest.approx(np.average(right, weights=weights))
