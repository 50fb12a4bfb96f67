"""Labels of every kind: what can be told apart and sorted is a label; what is missing is refused with its row."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from learners import LEARNERS, LINEAR, answers, assert_same, each, rows
from rosenblatt import AutoPerceptron, AveragedPerceptron, Calibrated, KernelPerceptron, Perceptron, load, save
from rosenblatt.errors import LabelError, ModelError, ParameterError
from rosenblatt.theory import certify, trace

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BIG = 2**63
DATES = np.array(["2020-01-01", "2021-01-01"], "datetime64[ns]")
KINDS: dict[str, Any] = {
    "datetime64[D]": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[D]"),
    "datetime64[ns]": np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[ns]"),
    "timedelta64": np.array([1, 2, 3], "timedelta64[s]"),
    "uint64 above 2^63": np.array([BIG + 1, BIG + 2, BIG + 3], np.uint64),
    "uint64 far apart": np.array([1, 2, 2**64 - 1], np.uint64),
}
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
every_kind = pytest.mark.parametrize("labels", KINDS.values(), ids=KINDS)
every_missing = pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)


def spread(labels: Any, n: int) -> Any:
    """These labels over n rows, the last of them in row 5 at first."""
    place = np.arange(n) % (len(labels) - 1)
    place[5::3] = len(labels) - 1
    return labels.take(place).reset_index(drop=True) if isinstance(labels, pd.Series) else labels[place]


@each(LEARNERS)
def test_every_learner_takes_large_unsigned_labels_as_any_other(make: Any) -> None:
    X, _ = rows()
    plain, large = np.arange(60) % 3, KINDS["uint64 above 2^63"][np.arange(60) % 3]
    learner = make().fit(X, large)
    assert learner.classes_.tolist() == [BIG + 1, BIG + 2, BIG + 3]
    np.testing.assert_array_equal(learner.decision_function(X), make().fit(X, plain).decision_function(X))


@every_kind
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_labels_of_this_kind_come_back_from_predict(labels: Any, call: str) -> None:
    X, _ = rows()
    y = spread(labels, 60)
    learner = getattr(Perceptron(max_iter=20), call)(X, y)
    assert learner.classes_.dtype == labels.dtype
    assert np.isin(learner.predict(X), labels).all()


@every_kind
def test_labels_of_this_kind_go_through_a_stream(labels: Any) -> None:
    X, _ = rows()
    y = spread(labels, 60)
    learner = Perceptron()
    for row, label in zip(X, y, strict=True):
        learner.learn_one({"a": row[0], "b": row[1]}, label)
    assert learner.classes_.tolist() == labels.tolist()
    assert learner.predict_one({"a": 1.0}) in labels


@every_kind
def test_predict_one_and_predict_say_the_same_label(labels: Any) -> None:
    X, _ = rows()
    learner = Perceptron(max_iter=20).fit(X, spread(labels, 60))
    said = learner.predict_one(dict(enumerate(X[0].tolist())))
    assert np.asarray(said).astype(labels.dtype) == learner.predict(X[:1])[0]
    assert not (labels.dtype.kind in "mM" and isinstance(said, int)), "a count of nanoseconds is not the label"


@pytest.mark.parametrize("labels", [KINDS["uint64 above 2^63"], KINDS["uint64 far apart"]], ids=["above", "far apart"])
def test_large_unsigned_labels_are_saved_exactly(labels: Any, tmp_path: Path) -> None:
    X, _ = rows()
    two = spread(labels[:2], 60)
    two[::2] = labels[2]
    three = spread(labels[::-1], 60)
    for y in (two, three):
        learner = Perceptron(max_iter=20).fit(X, y)
        save(learner, tmp_path / "model")
        assert load(tmp_path / "model").predict(X).tolist() == learner.predict(X).tolist()


@every_missing
@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_a_missing_label_is_refused_with_its_row(labels: Any, call: str) -> None:
    X, _ = rows()
    with pytest.raises(LabelError, match=r"(NaT|NaN|NA|missing).* row 5"):
        getattr(Perceptron(max_iter=20), call)(X, spread(labels, 60))


@each(LINEAR)
def test_a_missing_label_in_a_stream_is_refused_and_nothing_is_learned(make: Any) -> None:
    X, _ = rows(20)
    learner = make()
    with pytest.raises(LabelError, match=r"NaT|missing"):
        learner.learn_one({0: 1.0}, np.datetime64("NaT", "D"))
    assert not hasattr(learner, "classes_")
    learner.partial_fit(X, DATES[np.arange(20) % 2])
    before = answers(learner, X)
    for label in (np.datetime64("NaT", "ns"), pd.NaT, float("nan"), None):
        with pytest.raises(LabelError, match=r"NaT|NaN|None|missing"):
            learner.learn_one({0: 1.0}, label)
        assert_same(answers(learner, X), before)


@pytest.mark.parametrize("check", [certify, trace])
def test_theory_refuses_a_missing_label_with_its_row(check: Any) -> None:
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    dates = np.array(["2020-01-01", "2020-01-01", "NaT", "2021-01-01"], "datetime64[D]")
    for y in ([0, 0, np.nan, 1], dates):
        with pytest.raises(LabelError, match=r"(NaN|NaT).* row 2"):
            check(X, y)


@pytest.mark.parametrize("seed", [2**64, 10**30])
@pytest.mark.parametrize(
    "learner", [Perceptron(), KernelPerceptron(), AutoPerceptron(), Calibrated(AveragedPerceptron())], ids=repr
)
def test_a_seed_of_more_than_64_bits_is_refused_by_name(learner: Any, seed: int) -> None:
    X, y = rows()
    name = "learner__random_state" if isinstance(learner, Calibrated) else "random_state"
    with pytest.raises(ParameterError, match=r"random_state=.*2\*\*64"):
        learner.set_params(**{name: seed}).fit(X, y)


def test_a_seed_of_more_than_64_bits_is_refused_in_a_stream() -> None:
    with pytest.raises(ParameterError, match=r"random_state=.*2\*\*64"):
        Perceptron(random_state=2**64).learn_one({"a": 1.0}, "x")


@pytest.mark.parametrize("y", [[2**63, 3] * 10, [2**63 + 1, 2**64 - 1] * 10])
def test_whole_numbers_on_both_sides_of_the_largest_signed_one_keep_their_digits(y: list[int], tmp_path: Path) -> None:
    X = np.tile([[0.0, 1.0], [1.0, 0.0]], (10, 1))
    learner = Perceptron().fit(X, y)
    assert learner.classes_.tolist() == sorted(set(y))
    save(learner, tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == learner.predict(X).tolist() == y


# -- labels that NumPy keeps as objects or texts of its own

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
def test_labels_of_this_kind_are_plain_ones(labels: Any, plain: Any, tmp_path: Path) -> None:
    X, _ = rows()
    code = np.arange(60) % 2
    for make in (Perceptron, AutoPerceptron, lambda: Calibrated(AveragedPerceptron(max_iter=20), n_jobs=1)):
        learner = make().fit(X, labels[code])
        assert learner.classes_.dtype == plain.dtype
        assert (
            learner.score(X, labels[code])
            == learner.score(X, plain[code])
            == np.mean(learner.predict(X) == plain[code])
        )
        save(learner, tmp_path / "m")
        assert load(tmp_path / "m").partial_fit(X, labels[code]).classes_.tolist() == plain.tolist()
    stream = Perceptron().learn_one({"x": 1.0}, labels[0]).learn_one({"x": -1.0}, labels[1])
    assert stream.classes_.tolist() == plain.tolist()


@pytest.mark.parametrize("labels", APART.values(), ids=APART)
@each(LEARNERS)
def test_other_labels_have_a_score_too(make: Any, labels: Any) -> None:
    X, _ = rows(40)
    y = labels[np.arange(40) % 2]
    learner, weights = make().fit(X, y), np.resize([1.0, 2.0, 0.0], 40)
    right = np.array([found == label for found, label in zip(learner.predict(X), y, strict=True)])
    assert learner.score(X, y) == np.mean(right)
    assert learner.score(X, y, weights) == pytest.approx(np.average(right, weights=weights))


@pytest.mark.parametrize("labels", [APART["bytes"], APART["bytes as objects"], APART["beyond 64 bits"]])
def test_labels_that_no_file_holds_are_refused_in_one_sentence(labels: Any, tmp_path: Path) -> None:
    X, _ = rows(4)
    learner = Perceptron(max_iter=5, tol=None).fit(X, labels[[0, 1, 0, 1]])
    with pytest.raises(ModelError, match=r"classes .* cannot be saved: use "):
        save(learner, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(TEXTS is None, reason="NumPy has such texts from 2.0 on")
@pytest.mark.parametrize("missing", [None, np.nan])
def test_texts_that_lack_some_are_refused_with_the_row(missing: Any) -> None:
    X, _ = rows(3)
    assert TEXTS is not None
    y = np.array(["a", "b", missing], TEXTS(na_object=missing))
    with pytest.raises(LabelError, match="in row 2: it is no label"):
        Perceptron().fit(X, y)
