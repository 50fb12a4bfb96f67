"""AutoPerceptron: what it chooses is what it says, and the choice is the same every time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import rosenblatt
from rosenblatt import AutoPerceptron, engine
from rosenblatt.data import as_table
from rosenblatt.data.labels import encode_labels
from rosenblatt.select import search
from rosenblatt.select.folds import assign_folds, selection_folds
from rosenblatt.select.scaling import find_scaling, typical_squared_norm
from rosenblatt.select.search import VALUES_A_THREAD, Contest, Sample, best_first, make_candidates, select


@parametrize_with_checks(
    [AutoPerceptron(n_jobs=1)],
    expected_failed_checks=lambda _: {
        **dict.fromkeys(
            ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
            "a sample weight scales the step; a row that comes twice is met twice",
        ),
        "check_classifiers_train": "probabilities are those of the data, not of the decision",
    },
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_choice_can_be_repeated_by_hand(load: Any) -> None:
    """The chosen learner, on rows scaled by hand, for as many epochs, has the same weights."""
    X, y = load(return_X_y=True)
    auto = AutoPerceptron(products=False).fit(X, y)
    scaling = auto.scaling_
    by_hand = type(auto.best_)(**auto.best_.get_params())
    scaled = X if scaling is None else (X - scaling.center) / scaling.scale
    by_hand.fit(scaled, y)
    np.testing.assert_array_equal(by_hand.coef_, auto.best_.coef_)
    np.testing.assert_allclose(auto.decision_function(X), by_hand.decision_function(scaled), rtol=1e-6, atol=1e-9)
    epochs = int(re.search(r"(\d+) epoch", auto.choice_)[1])  # type: ignore[index]
    assert by_hand.max_iter == epochs


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_a_contestant_learns_and_is_judged_as_its_learner_would_be(load: Any, sparse: bool) -> None:
    X, y = load(return_X_y=True)
    X = X / X.max(axis=0)
    table, labels = as_table(sp.csr_array(X) if sparse else X), encode_labels(y)
    candidates = make_candidates(4.0, len(y), sparse=sparse)
    folds = selection_folds(labels, None, 3)
    contest = Contest(candidates, Sample(table, labels, None, folds=folds), 3, n_jobs=1)
    contest._run(candidates, 3, 3)
    training, held = folds[0]
    chosen = np.isin(np.arange(len(y)), training).astype(float)
    for candidate in candidates:
        learner = getattr(rosenblatt, candidate.params.learner)(**candidate.changed, tol=None, random_state=3)
        alone = [learner.set_params(max_iter=k + 1).fit(table.values, y, sample_weight=chosen) for k in range(3)][-1]
        np.testing.assert_allclose(
            contest.held_scores(candidate)[: len(held)],
            alone.decision_function(table.take(held)).reshape(len(held), -1),
            rtol=1e-12,
            atol=1e-12,
        )
        assert candidate.scores[0][-1] == np.mean(alone.predict(table.take(held)) == y[held])


def test_a_few_rows_more_do_not_unseat_the_first_candidate() -> None:
    first, later = make_candidates(4.0, 1000, sparse=False)[:2]
    first.scores, later.scores = [[0.900]], [[0.908]]
    assert best_first([first, later])[0] is first
    later.scores = [[0.911]]
    assert best_first([first, later])[0] is later


def test_learning_goes_on_while_twice_the_epochs_bring_more_than_chance() -> None:
    candidate = make_candidates(4.0, 1000, sparse=False)[0]

    def epochs_of(curve: list[float]) -> int:
        candidate.runs, candidate.scores, candidate.over = [0], [[]], [False]
        for done, accuracy in enumerate(curve, start=1):
            candidate.record_epoch(0, accuracy, False, 100)
            if candidate.over[0]:
                return done
        return len(curve) + 1

    assert epochs_of([0.8] * 100) == 4
    assert epochs_of([0.80, 0.82, 0.84, 0.86, 0.86, 0.87, 0.88, 0.895] + [0.90] * 92) == 16
    assert epochs_of([1 - 0.5 / k**0.5 for k in range(1, 200)]) == 100
    assert epochs_of([0.99, 0.99, 1.0]) == 3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_come_from_scores_of_rows_that_were_not_learned(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 6))
    y = np.argmax(X @ rng.normal(size=(6, classes)) + rng.normal(size=(2600, classes)), axis=1)
    table, labels = as_table(X), encode_labels(y)
    selection = select(Sample(table, labels, None), products=False, seed=3, max_iter=20, n_jobs=1)
    monkeypatch.setattr(search, "PLENTY", 1500)
    few, many = selection.calibrate("sigmoid"), selection.calibrate("auto")
    assert few is not None
    assert many is not None
    scores = many.scores.scores
    assert len(few.scores.codes) < 600
    assert 1500 <= len(scores) < 2000
    training, held = selection.prepared.folds[0]
    fold_of = assign_folds(labels, training, 4, 3)
    part = np.flatnonzero(fold_of == 0)
    assert not np.isin(part, held).any()
    found = slice(len(held), len(held) + len(part))
    np.testing.assert_array_equal(many.scores.codes[found], labels.codes[part])
    best = selection.best
    kind = getattr(rosenblatt, best.params.learner)
    learner = kind(**best.changed, tol=None, max_iter=len(best.curve()), random_state=3)
    learner.fit(X, y, sample_weight=(fold_of != 0).astype(float))
    alone = learner.decision_function(X[part]).reshape(len(part), -1)
    np.testing.assert_allclose(scores[found], alone, rtol=1e-12, atol=1e-12)


def test_same_rows_same_choice_with_any_number_of_threads() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    one, two = AutoPerceptron(n_jobs=1).fit(X, y), AutoPerceptron(n_jobs=2).fit(X, y)
    assert one.choice_ == two.choice_
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_rows_that_are_enough_for_threads_make_the_same_choice() -> None:
    """Candidates of one contest then run side by side; fewer values than these would be left to one thread."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2 * VALUES_A_THREAD // 20 + 1, 20))
    y = X @ rng.standard_normal(20) + rng.standard_normal(len(X)) > 0
    one, two = (AutoPerceptron(n_jobs=jobs, products=False).fit(X, y) for jobs in (1, 2))
    assert one.choice_ == two.choice_
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_units_do_not_matter() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    units = 10.0 ** np.arange(-15, 15)
    metres, feet = AutoPerceptron().fit(X, y), AutoPerceptron().fit(X * units, y)
    assert np.mean(metres.predict(X) != feet.predict(X * units)) < 0.01


@pytest.mark.parametrize("factor", [1e-30, 1e-3, 1e3, 1e80])
@pytest.mark.parametrize("sparse", [False, True])
def test_one_unit_for_all_columns_does_not_matter_either(factor: float, sparse: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + X[:, 1] > 0.5
    rows = sp.csr_array(X * factor) if sparse else X * factor
    assert np.mean(AutoPerceptron().fit(rows, y).predict(rows) == y) > 0.95


def test_a_giant_among_the_rows_does_not_keep_the_others_from_being_learned() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 5)), np.full((1, 5), 1e9)])
    y = np.append(X[:-1, 0] > 0, False)
    assert np.mean(AutoPerceptron().fit(X, y).predict(X) == y) > 0.95


def test_it_goes_on_with_more_rows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    auto = AutoPerceptron().fit(X[:400], y[:400])
    before = auto.coef_.copy()
    auto.partial_fit(X[400:], y[400:])
    assert not np.array_equal(before, auto.coef_)
    scaled = (X - auto.scaling_.center) / auto.scaling_.scale
    np.testing.assert_array_equal(auto.predict(X), auto.best_.predict(scaled))


def test_the_first_partial_fit_chooses_by_its_rows() -> None:
    X, y = load_iris(return_X_y=True)
    fitted, streamed = AutoPerceptron().fit(X[:90], y[:90]), AutoPerceptron().partial_fit(X[:90], y[:90], [0, 1, 2])
    assert streamed.choice_ == fitted.choice_
    assert streamed.classes_.tolist() == [0, 1, 2]
    assert streamed.best_.coef_.shape == (3, streamed.best_.n_features_in_)
    assert streamed.partial_fit(X, y).predict(X[:1]).tolist() == [0]


def test_rows_too_few_to_compare_by_are_learned_all_the_same() -> None:
    auto = AutoPerceptron().fit([[0.0], [4.0]], ["a", "b"])
    assert auto.predict([[-1.0], [5.0]]).tolist() == ["a", "b"]
    assert "too few rows to compare" in auto.choice_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_engine_describes_columns_as_numpy_does(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 7)) * 10.0 ** np.arange(-3, 4) + [0, 1e3, 0, -5, 0, 7e5, 0]).astype(dtype)
    X[:, 4], X[rng.random(X.shape) < 0.2] = 2.5, 0.0
    mean, deviation, largest = engine.describe_columns(as_table(X).rows)
    np.testing.assert_allclose(mean, X.mean(axis=0, dtype=np.float64), rtol=1e-10)
    np.testing.assert_allclose(deviation, X.std(axis=0, dtype=np.float64), rtol=1e-7)
    np.testing.assert_array_equal(largest, np.abs(X).max(axis=0))
    for index in (np.int32, np.int64):
        matrix = sp.csr_array(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        np.testing.assert_array_equal(engine.describe_columns(as_table(matrix).rows)[2], largest)
        np.testing.assert_array_equal(engine.largest_sizes(as_table(matrix).rows), largest)
    np.testing.assert_array_equal(engine.largest_sizes(as_table(X).rows), largest)
    assert typical_squared_norm(as_table(X)) == pytest.approx(
        np.median(np.sum(X.astype(np.float64) ** 2, axis=1)), rel=1e-5
    )
    constant = engine.describe_columns(as_table(np.full((9, 1), 0.1, dtype)).rows)
    assert constant[1].tolist() == [0.0]


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]), None),
        (np.array([[0.0, 1000.0], [1.0, -500.0], [0.5, 0.0]]), "standard"),
        (np.array([[2000.0], [2001.0], [2002.0]]), "standard"),
        (sp.csr_array(np.array([[1.0, 0.0, 500.0], [0.0, 2.0, 0.0]])), "mean-abs"),
        (sp.csr_array(np.array([[0.3, 0.0], [0.0, 0.9]])), None),
    ],
)
def test_columns_are_scaled_where_they_need_it(X: Any, kind: str | None) -> None:
    scaling = find_scaling(as_table(X))
    assert (None if scaling is None else scaling.kind) == kind
