"""No call writes to an argument, and none needs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from learners import LEARNERS, answers, assert_same, each, rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


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


@each(LEARNERS)
def test_no_call_writes_to_an_argument(make: Any) -> None:
    dense, y = rows(40)
    weight = np.resize([1.0, 2.0, 0.5], 40)
    for kind, convert in KINDS.items():
        X = convert(dense)
        before = bytes_of(X, y, weight)
        for name, call in calls(make(), X, y, weight):
            call()
            assert bytes_of(X, y, weight) == before, f"{name} changed its {kind} rows, labels or weights"


@each(LEARNERS)
def test_read_only_arguments_give_the_same_answers(make: Any) -> None:
    dense, y = rows(40)
    weight = np.resize([1.0, 2.0, 0.5], 40)
    for kind, convert in KINDS.items():
        X, locked = convert(dense), convert(dense)
        for array in [*arrays_of(locked), y, weight]:
            array.flags.writeable = False
        expected = make().fit(X, y, sample_weight=weight)
        try:
            learner = make().fit(locked, y, sample_weight=weight)
            found = answers(learner, locked)
        except ValueError as error:
            pytest.fail(f"{kind} rows that are read-only: {error}")
        assert_same(found, answers(expected, convert(dense)), kind)


def test_a_matrix_with_duplicates_is_the_same_matrix_after_predict() -> None:
    from rosenblatt import Perceptron

    dense, y = rows(40)
    learner = Perceptron(max_iter=20).fit(dense, y)
    X = with_duplicates(dense)
    learner.predict(X)
    assert X.nnz == 2 * dense.size
    np.testing.assert_array_equal(X.toarray(), dense)
