"""All ways to a model agree: for every learner and every parameter at another value than its default, the same rows
give the same predictions and probabilities by whichever way, or a clear error.

The ways: fit; save and load; pickle; partial_fit in any cut, also after a load; streams of dicts; a file; a cluster of
one shard.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from registry import LEARNERS, Learner

import rosenblatt
from rosenblatt.errors import RosenblattError

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = [
    pytest.param(learner, params, id=f"{learner.name}-{name}")
    for learner in LEARNERS.values()
    for name, params in learner.cases()
]


def rows(learner: Learner, count: int = 80) -> tuple[Any, Any]:
    """Rows of few bits, so that sums are exact and a file holds them as they are."""
    random = np.random.default_rng(5)
    X = np.round(random.normal(size=(count, 5)) * 4) / 4
    margin = X @ np.array([1.0, -2.0, 0.5, 0.0, 1.0]) + 0.25
    if learner.regression:
        return X, np.round(margin * 4) / 4 * 100
    return X, np.where(margin + random.normal(size=count) > 0, "yes", "no")


def said(model: Any, X: Any) -> list[Any]:
    """Everything that a model says of these rows."""
    found = [np.asarray(model.predict(X)).tolist()]
    if hasattr(model, "predict_proba"):
        try:
            found.append(np.asarray(model.predict_proba(X)).tolist())
        except RosenblattError:  # a loaded model without a calibrator
            found.append(None)
    else:
        found.append(None)
    return found


@pytest.mark.parametrize(("learner", "params"), CASES)
def test_save_load_and_pickle(learner: Learner, params: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows(learner)
    fitted = learner.make(**params).fit(X, y)
    path = tmp_path / "model"
    rosenblatt.save(fitted, path)
    loaded = rosenblatt.load(path)
    assert said(loaded, X) == said(fitted, X)
    assert said(pickle.loads(pickle.dumps(fitted)), X) == said(fitted, X)
    rosenblatt.save(loaded, tmp_path / "again")
    assert said(rosenblatt.load(tmp_path / "again"), X) == said(fitted, X)


@pytest.mark.parametrize(("learner", "params"), [case for case in CASES if case.values[0].streams])
def test_partial_fit_in_any_cut_also_after_a_load(learner: Learner, params: dict[str, Any], tmp_path: Path) -> None:
    X, y = rows(learner)
    whole, cut = learner.make(**params), learner.make(**params)
    try:
        whole.partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    except RosenblattError:
        with pytest.raises(RosenblattError):
            cut.partial_fit(X[:50], y[:50])
        return
    cut.partial_fit(X[:50], y[:50])
    rosenblatt.save(cut, tmp_path / "model")
    loaded = rosenblatt.load(tmp_path / "model")
    middle = 80 if learner.wrapper else 63  # a calibrator scores each batch before the batch is learned
    for model in (loaded, pickle.loads(pickle.dumps(cut))):
        model.partial_fit(X[50:middle], y[50:middle])
        if middle < 80:
            model.partial_fit(X[middle:], y[middle:])
        assert said(model, X) == said(whole, X)


@pytest.mark.parametrize(("learner", "params"), CASES)
def test_a_file_gives_what_arrays_give(learner: Learner, params: dict[str, Any], tmp_path: Path) -> None:
    if learner.wrapper:
        pytest.skip("files take learners; automatic selection has laws of its own")
    X, y = rows(learner)
    if not learner.regression:
        y = np.where(y == "yes", 1, -1)
    if "class_weight" in params:
        params = params | {"class_weight": {-1: 1.0, 1: 2.5}}
    path = tmp_path / "rows.svm"
    pairs = (" ".join(f"{k}:{v!r}" for k, v in enumerate(row) if v) for row in X.tolist())
    path.write_text("".join(f"{label} {text}\n" for label, text in zip(y.tolist(), pairs, strict=True)))
    try:
        model = rosenblatt.train(path, learner.make(**params))
    except RosenblattError as error:
        assert any(name in str(error) for name in params), error  # noqa: PT017 - it says which parameter
        return
    fitted = learner.make(**params).fit(X if learner.kernel else sp.csr_array(X), y)
    assert np.asarray(model.predict(X)).tolist() == pytest.approx(fitted.predict(X).tolist(), rel=1e-9)


@pytest.mark.parametrize(("learner", "params"), [case for case in CASES if case.values[0].streams])
def test_a_stream_of_dicts_gives_what_rows_give(learner: Learner, params: dict[str, Any], tmp_path: Path) -> None:
    if learner.wrapper or learner.kernel or "hash_bits" in params or "init" in params:
        pytest.skip("its columns are others, or known only when they come")
    X, y = rows(learner)
    dicts = [{f"f{k}": v for k, v in enumerate(row)} for row in X.tolist()]
    one, many, batch = (learner.make(**params) for _ in range(3))
    try:
        batch.partial_fit(X, y, **({} if learner.regression else {"classes": ["no", "yes"]}))
    except RosenblattError:
        with pytest.raises(RosenblattError):
            one.learn_one(dicts[0], y.tolist()[0])
        return
    for features, label in zip(dicts, y.tolist(), strict=True):
        one.learn_one(features, label)
    many.learn_many(dicts, y.tolist())
    rosenblatt.save(one, tmp_path / "model")
    loaded = rosenblatt.load(tmp_path / "model")
    expected = [one.predict_one(features) for features in dicts]
    again = [loaded.predict_one(features) for features in dicts]
    assert again == (pytest.approx(expected, rel=1e-12) if learner.regression else expected)  # a sum in another order
    assert [pickle.loads(pickle.dumps(one)).predict_one(features) for features in dicts] == expected
    assert [many.predict_one(features) for features in dicts] == expected
    if learner.regression:
        assert expected == pytest.approx(batch.predict(X).tolist(), rel=1e-9)
    elif y.tolist()[0] != y.tolist()[1]:  # else the first rows count only where both classes are known
        assert expected == batch.predict(X).tolist()


@pytest.mark.parametrize(("learner", "params"), CASES)
def test_a_cluster_of_one_shard_is_a_fit(learner: Learner, params: dict[str, Any]) -> None:
    from rosenblatt import cluster

    if learner.wrapper:
        pytest.skip("a cluster takes learners")
    X, y = rows(learner)
    try:
        model = cluster.train(None, (X, y), learner.make(**params), shards=1, n_jobs=1).model
    except RosenblattError as error:
        assert learner.kernel or learner.regression or any(name in str(error) for name in [*params, "keep"]), error  # noqa: PT017
        return
    assert said(model, X)[0] == said(learner.make(**params).fit(X, y), X)[0]
