"""AutoPerceptron: what it chooses, products of columns, and weights in every comparison."""

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, make_circles
from sklearn.metrics import balanced_accuracy_score

from rosenblatt import AutoPerceptron, Perceptron, Sweep, engine
from rosenblatt.data import as_table
from rosenblatt.data.batch import as_counts, effective_rows
from rosenblatt.data.labels import encode_labels
from rosenblatt.errors import DataError
from rosenblatt.learners.targets import hold_out
from rosenblatt.models.predictors import FARTHEST_VALUE, Products, count_terms
from rosenblatt.params import AROWParams
from rosenblatt.select import search
from rosenblatt.select.choice import Sample
from rosenblatt.select.scaling import standardize, typical_squared_norm
from rosenblatt.select.search import Candidate, best_first, clearly_better


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_choice_can_be_repeated_by_hand(load: Any) -> None:
    """The chosen learner, on rows scaled by hand, for as many epochs, has the same weights."""
    X, y = load(return_X_y=True)
    auto = AutoPerceptron(products=False, n_jobs=2).fit(X, y)
    assert auto.choice_ == AutoPerceptron(products=False, n_jobs=1).fit(X, y).choice_
    scaling = auto.scaling_
    by_hand = type(auto.best_)(**auto.best_.get_params())
    scaled = X if scaling is None else (X - scaling.center) / scaling.scale
    by_hand.fit(scaled, y)
    np.testing.assert_array_equal(by_hand.coef_, auto.best_.coef_)
    np.testing.assert_allclose(auto.decision_function(X), by_hand.decision_function(scaled), rtol=1e-6, atol=1e-9)
    epochs = int(re.search(r"(\d+) epoch", auto.choice_)[1])  # type: ignore[index]
    assert by_hand.max_iter == epochs


def candidates_of(rows: int, weights: Any = None) -> list[Candidate]:
    """Two candidates to be scored on so many held-out rows."""
    index = np.arange(rows, dtype=np.uint32)
    sample = Sample(as_table(np.zeros((rows, 1))), encode_labels(index % 2), weights, folds=[(index, index)])
    return [Candidate(AROWParams(), sample) for _ in range(2)]


def test_a_few_rows_more_do_not_unseat_the_first_candidate() -> None:
    first, later = candidates_of(1000)
    first.scores, later.scores = [[0.900]], [[0.908]]
    assert best_first([first, later])[0] is first
    later.scores = [[0.911]]
    assert best_first([first, later])[0] is later


def test_a_candidate_unseats_the_first_by_rows_of_equal_weight() -> None:
    """100 rows, one of which weighs as much as the others together, count as 3.9: one row more proves nothing."""
    first, later = candidates_of(100, np.r_[np.ones(99), 99.0])
    assert first.sample.effective == pytest.approx(198**2 / (99 + 99**2))
    first.scores, later.scores = [[0.7]], [[0.9]]
    assert best_first([first, later])[0] is first
    first.scores = [[0.6]]  # a standard error below, though 100·p·(1 - p) rows are more than these count as
    assert best_first([first, later])[0] is later


def test_learning_goes_on_while_twice_the_epochs_bring_more_than_chance() -> None:
    candidate = candidates_of(1000)[0]

    def epochs_of(curve: list[float]) -> int:
        return next(k for k in range(1, len(curve) + 1) if candidate.is_over(curve[:k]))

    assert epochs_of([0.8] * 100) == 4
    assert epochs_of([0.80, 0.82, 0.84, 0.86, 0.86, 0.87, 0.88, 0.895] + [0.90] * 92) == 16
    assert epochs_of([1 - 0.5 / k**0.5 for k in range(1, 200)]) == 100
    assert epochs_of([0.99, 0.99, 1.0]) == 3


def test_the_first_partial_fit_chooses_by_its_rows() -> None:
    X, y = load_iris(return_X_y=True)
    fitted, streamed = AutoPerceptron().fit(X[:90], y[:90]), AutoPerceptron().partial_fit(X[:90], y[:90], [0, 1, 2])
    assert streamed.choice_ == fitted.choice_
    assert streamed.classes_.tolist() == [0, 1, 2]
    assert streamed.best_.coef_.shape == (3, streamed.best_.n_features_in_)
    assert streamed.partial_fit(X, y).predict(X[:1]).tolist() == [0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_engine_describes_columns_as_numpy_does(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 7)) * 10.0 ** np.arange(-3, 4) + [0, 1e3, 0, -5, 0, 7e5, 0]).astype(dtype)
    X[:, 4], X[rng.random(X.shape) < 0.2] = 2.5, 0.0
    mean, deviation, largest = engine.describe_columns(as_table(X).rows)
    np.testing.assert_allclose(mean, X.mean(axis=0, dtype=np.float64), rtol=1e-10)
    np.testing.assert_allclose(deviation, X.std(axis=0, dtype=np.float64), rtol=1e-7)
    np.testing.assert_array_equal(largest, np.abs(X).max(axis=0))
    np.testing.assert_array_equal(engine.describe_columns(as_table(sp.csr_array(X)).rows)[2], largest)
    assert typical_squared_norm(as_table(X)) == pytest.approx(
        np.median(np.sum(X.astype(np.float64) ** 2, axis=1)), rel=1e-5
    )
    constant = engine.describe_columns(as_table(np.full((9, 1), 0.1, dtype)).rows)
    assert constant[1].tolist() == [0.0]


def products_of(table: Any) -> Products:
    scaling = standardize(table)
    return Products(np.arange(table.features), scaling.center, scaling.scale)


def by_hand(row: list[float], products: Products) -> list[float]:
    d = len(row)
    z = [(x - c) / s for x, c, s in zip(row, products.center, products.scale, strict=True)]
    z = [max(-FARTHEST_VALUE, min(FARTHEST_VALUE, value)) for value in z]
    return [*z, *((z[j] * z[k] - (j == k)) / d**0.5 for j in range(d) for k in range(j, d))]


@given(
    st.integers(1, 9).flatmap(
        lambda d: st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=d, max_size=d), min_size=1, max_size=6)
    )
)
def test_terms_are_the_columns_and_their_products(rows: list[list[float]]) -> None:
    table = as_table(rows)
    products = products_of(table)
    expected = np.array([by_hand(row, products) for row in rows])
    found = products.apply(table).values
    assert found.dtype == np.float32
    assert found.shape == (len(rows), count_terms(len(rows[0])))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(products.apply(as_table(sp.csr_array(np.array(rows)))).values, found)
    some = np.array([len(rows) - 1, 0], np.uint32)
    np.testing.assert_array_equal(products.apply(table, some).values, found[some])


def test_some_columns_of_many() -> None:
    X = np.random.default_rng(0).normal(size=(7, 9)) * (np.arange(63).reshape(7, 9) % 4 > 0)
    columns = np.array([1, 4, 8])
    whole = products_of(as_table(X[:, columns]))
    some = Products(columns, whole.center, whole.scale)
    expected = whole.apply(as_table(X[:, columns])).values
    np.testing.assert_array_equal(some.apply(as_table(X)).values, expected)
    np.testing.assert_array_equal(some.apply(as_table(sp.csr_array(X))).values, expected)
    for wrong in ([1, 4, 9], [4, 1, 8], [-1, 1, 2], [1, 1, 2]):
        with pytest.raises(ValueError, match="columns"):
            Products(np.array(wrong), whole.center, whole.scale).apply(as_table(X))


def test_too_many_columns_are_not_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    for limit in ("MOST_TERMS", "MOST_WEIGHTS"):
        with monkeypatch.context() as patch:
            patch.setattr(search, limit, 4)
            assert AutoPerceptron().fit(X, y).products_ is None


@pytest.mark.parametrize(("classes", "weighted", "sparse"), [(2, False, False), (3, True, True)])
def test_more_rows_than_fit_are_decided_by_some_and_learned_part_by_part(
    monkeypatch: pytest.MonkeyPatch, classes: int, weighted: bool, sparse: bool
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = np.digitize(np.sum(X**2, axis=1) + 0.1 * rng.normal(size=3000), [2.0, 4.0][: classes - 1])
    weights = rng.choice([0.0, 0.5, 2.0], 3000) if weighted else None
    monkeypatch.setattr("rosenblatt.select.choice.MOST_VALUES", 9 * 800)
    monkeypatch.setattr("rosenblatt.models.predictors.TERMS_AT_ONCE", 1000)
    rows = sp.csr_array(X) if sparse else X
    auto = AutoPerceptron().fit(rows, y, weights)
    assert np.mean(auto.predict(rows) == y) > 0.95
    held = int(auto.choice_.split(" held-out")[0].split(" of ")[-1])
    assert 100 < held < 250
    terms = auto.products_.apply(as_table(X)).values
    alone = type(auto.best_)(**auto.best_.get_params()).fit(terms, y, sample_weight=weights)
    np.testing.assert_array_equal(alone.coef_, auto.best_.coef_)
    np.testing.assert_array_equal(alone.intercept_, auto.best_.intercept_)
    assert alone.history_.mistakes == auto.best_.history_.mistakes


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=50), st.floats(1e-150, 1e150))
def test_weights_count_as_at_most_all_rows_and_have_no_unit(weights: list[float], unit: float) -> None:
    found = effective_rows(np.array(weights), len(weights))
    assert 1 - 1e-9 <= found <= len(weights) * (1 + 1e-9)
    assert found == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert effective_rows(unit * np.array(weights), len(weights)) == pytest.approx(found)
    counts = as_counts(np.array(weights))
    assert np.square(counts).sum() == pytest.approx(counts.sum())


def test_balanced_weights_choose_what_answers_both_classes() -> None:
    """PA-I, which comes first, answers with the class of 99 rows in 100; half of the weight is wrong then."""
    rng = np.random.default_rng(0)
    y = (np.arange(4000) % 100 == 0).astype(int)
    X, new = (rng.normal(size=(4000, 3)) + 0.6 * y[:, None] for _ in range(2))
    learner = AutoPerceptron(class_weight="balanced", n_jobs=1).fit(X, y)
    assert max(learner.scores_.values()) - learner.scores_[next(iter(learner.scores_))] < 0.05, learner.choice_
    assert balanced_accuracy_score(y, learner.predict(new)) > 0.65


def test_products_must_right_more_weight_than_they_wrong() -> None:
    first = np.r_[np.zeros(30, bool), np.ones(30, bool)]
    later = np.r_[np.ones(30, bool), np.ones(25, bool), np.zeros(5, bool)]  # rights 30 rows, wrongs 5
    assert clearly_better(later, first, None)
    assert clearly_better(later, first, np.full(60, 7.0))
    assert not clearly_better(later, first, np.r_[np.ones(55), np.full(5, 10.0)])
    assert clearly_better(first, later, np.r_[np.ones(55), np.full(5, 100.0)])
    assert not clearly_better(np.ones(60, bool), np.r_[False, np.ones(59, bool)], np.r_[1e6, np.ones(59)])


@given(
    counts=st.lists(st.integers(0, 12), min_size=2, max_size=8),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 99),
)
def test_no_class_is_held_out_altogether(counts: list[int], fraction: float, seed: int) -> None:
    labels = encode_labels(np.r_[np.arange(len(counts)), np.repeat(np.arange(len(counts)), counts)])
    rows = np.arange(len(counts), len(labels.codes), dtype=np.uint32)  # a class may have no row left
    try:
        training, held = hold_out(labels, rows, fraction, engine.seed_generator(seed))
    except DataError:
        assert round(fraction * len(rows)) == 0 or max(counts) < 2
        return
    assert sorted([*training, *held]) == rows.tolist()
    assert len(held) > 0
    left = np.bincount(labels.codes[training], minlength=len(counts))
    assert all(left[k] > 0 for k, count in enumerate(counts) if count)


def test_a_sweep_judges_all_learners_alike() -> None:
    """Class weights count if all learners have them; if they differ, the learners would have different scores."""
    y = np.repeat([1, 0], [40, 60])
    told: dict[str, Any] = {"max_iter": 1, "tol": None, "shuffle": False}
    plain, weighted = Perceptron(**told), Perceptron(class_weight={1: 10.0}, **told)
    alone = [Sweep([each]).fit(np.zeros((100, 1)), y).scores_[0] for each in (plain, weighted)]
    both = Sweep([plain, weighted]).fit(np.zeros((100, 1)), y).scores_
    assert alone[0] != alone[1]
    assert both[0] == alone[0] == both[1] == 0.6
