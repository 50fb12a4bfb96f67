"""Weights count in every comparison: rows of equal weight that say as much, and rows of weight 0 that are not there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, Calibrated, Perceptron, Sweep, cross_validate, engine
from rosenblatt.data import as_table
from rosenblatt.data.batch import as_counts, effective_rows
from rosenblatt.data.labels import encode_labels
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.targets import hold_out
from rosenblatt.models.predictors import Linear
from rosenblatt.select.scaling import Scaling
from rosenblatt.select.search import best_first, clearly_better, make_candidates

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=50), st.floats(1e-150, 1e150))
def test_weights_count_as_at_most_all_rows_and_have_no_unit(weights: list[float], unit: float) -> None:
    found = effective_rows(np.array(weights), len(weights))
    assert 1 - 1e-9 <= found <= len(weights) * (1 + 1e-9)
    assert found == pytest.approx(sum(weights) ** 2 / sum(w * w for w in weights))
    assert effective_rows(unit * np.array(weights), len(weights)) == pytest.approx(found)
    counts = as_counts(np.array(weights))
    assert np.square(counts).sum() == pytest.approx(counts.sum())


def test_a_candidate_unseats_the_first_by_rows_of_equal_weight() -> None:
    """100 rows, one of which weighs as much as the others together, count as 3.9: one row more proves nothing."""
    weights = np.r_[np.ones(99), 99.0]
    first, later = make_candidates(4.0, 100, sparse=False, weights=weights)[:2]
    assert first.effective == pytest.approx(198**2 / (99 + 99**2))
    for each in (first, later):
        each.shares = [198.0]
    first.scores, later.scores = [[0.7]], [[0.9]]
    assert best_first([first, later])[0] is first
    first.scores = [[0.6]]  # a standard error below, though 100·p·(1 - p) rows are more than these count as
    assert best_first([first, later])[0] is later


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


def test_rows_of_weight_0_change_neither_the_choice_nor_its_words() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] += y
    twice, weight = np.repeat(X, 2, axis=0), np.tile([1.0, 0.0], 200)
    twice[1::2] *= 1e6
    with_absent = AutoPerceptron(n_jobs=1).fit(twice, np.repeat(y, 2), sample_weight=weight)
    without = AutoPerceptron(n_jobs=1).fit(X, y)
    assert with_absent.choice_ == without.choice_
    np.testing.assert_array_equal(with_absent.predict_proba(X), without.predict_proba(X))


def test_the_choice_says_that_rows_are_counted_by_weight() -> None:
    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100) % 2
    assert "held-out rows right by weight" in AutoPerceptron().fit(X, y, sample_weight=1 + np.arange(100)).choice_


def many_small_classes() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(126), 2)
    return rng.normal(size=(252, 20)) + 3 * rng.normal(size=(126, 20))[y], y


@pytest.mark.parametrize(
    "learner",
    [
        AutoPerceptron(n_jobs=1),
        Perceptron(early_stopping=True, max_iter=3),
        Calibrated(AveragedPerceptron(early_stopping=True, max_iter=3), n_jobs=1),
        Sweep([AROW(max_iter=2)], n_jobs=1),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_many_classes_of_two_rows(learner: Any) -> None:
    X, y = many_small_classes()
    assert len(np.unique(learner.fit(X, y).predict(X))) > 50


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
    """Class weights count if all learners have them; where they differ, none would be judged by the others' measure."""
    y = np.repeat([1, 0], [40, 60])
    told: dict[str, Any] = {"max_iter": 1, "tol": None, "shuffle": False}
    plain, weighted = Perceptron(**told), Perceptron(class_weight={1: 10.0}, **told)
    alone = [Sweep([each]).fit(np.zeros((100, 1)), y).scores_[0] for each in (plain, weighted)]
    both = Sweep([plain, weighted]).fit(np.zeros((100, 1)), y).scores_
    assert alone[0] != alone[1]
    assert both[0] == alone[0] == both[1] == 0.6


def test_the_mean_of_folds_counts_their_weight() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    weight = np.where(np.arange(40) < 4, 100.0, 1.0)
    found = cross_validate(X, y, AveragedPerceptron(max_iter=2), folds=4, sample_weight=weight)
    assert found.weights is not None
    assert found.weights.sum() == weight.sum()
    assert found.mean == pytest.approx(np.average(found.scores, weights=found.weights))


def test_balanced_weights_need_all_labels() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    learner = AutoPerceptron(class_weight="balanced").fit(X, y)
    with pytest.raises(ParameterError, match=r"class_weight='balanced' .* has no meaning in partial_fit"):
        learner.partial_fit(X, y)


def test_rows_of_weight_0_alone_change_nothing() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    learner = AutoPerceptron(class_weight={0: 1.0, 1: 1.0, 2: 0.0}, n_jobs=1).partial_fit(X, y, classes=[0, 1, 2])
    before = learner.predict_proba(X)
    learner.partial_fit(X, np.full(60, 2))
    np.testing.assert_array_equal(learner.predict_proba(X), before)


@given(st.integers(0, 1000), st.integers(1, 40))
def test_a_scaling_is_folded_in_one_order_of_sums(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    center, scale = 10 ** rng.uniform(-3, 3, d), 10 ** rng.uniform(-3, 3, d)
    model = Linear(rng.normal(size=(3, d)), rng.normal(size=3))
    folded = Scaling("standard", center, scale).folded(model)
    for k in range(3):
        exact = math.fsum([model.intercept[k], *(-folded.weights[k] * center)])
        size = math.fsum([abs(model.intercept[k]), *np.abs(folded.weights[k] * center)])
        assert abs(folded.intercept[k] - exact) <= 1e-15 * (d + 2) * size
    row = as_table(-center[None])
    np.testing.assert_array_equal(folded.intercept, Linear(folded.weights, model.intercept).scores(row)[0])
