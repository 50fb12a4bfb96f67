"""Wrong answers of selection, tuning, calibration and comparison that were found in use."""

from __future__ import annotations

import pickle
import re
import threading
import time
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import rosenblatt
from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, Calibrated, PassiveAggressive, Perceptron, Sweep
from rosenblatt.select import compare, cross_validate, search, tune
from rosenblatt.select.comparison import family

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def incomes_and_cities(seed: int, rows: int = 6000, cities: int = 300) -> tuple[Any, Any]:
    """A standardized log-normal number beside one-hot cities, each of which matters."""
    generator = np.random.default_rng(seed)
    income, city = generator.lognormal(10, 1.5, rows), generator.integers(0, cities, rows)
    score = 2 * np.tanh(income / np.median(income) - 1) + generator.normal(0, 1.2, cities)[city]
    y = (score + generator.logistic(0, 0.6, rows) > 0).astype(int)
    column = sp.csr_array(((income - income.mean()) / income.std())[:, None])
    one_hot = sp.csr_array((np.ones(rows), (np.arange(rows), city)), shape=(rows, cities))
    return sp.hstack([column, one_hot], format="csr"), y


@pytest.mark.parametrize("dense", [False, True])
def test_a_heavy_tailed_column_does_not_rescale_the_others(dense: bool) -> None:
    lost = []
    for seed in range(2):
        X, y = incomes_and_cities(seed)
        rows = X.toarray() if dense else X
        others = PassiveAggressive(C=0.1, keep="average"), LogisticRegression()
        best = max(each.fit(X[:4000], y[:4000]).score(X[4000:], y[4000:]) for each in others)
        lost.append(best - AutoPerceptron().fit(rows[:4000], y[:4000]).score(rows[4000:], y[4000:]))
    assert np.mean(lost) < 0.01


def test_compare_gives_others_columns_of_their_own_size() -> None:
    X, y = incomes_and_cities(0)
    found = compare(X, y, classifiers={"logistic": LogisticRegression()}, folds=3).measured[0]
    alone = LogisticRegression().fit(X[:4000], y[:4000]).score(X[4000:], y[4000:])
    assert found.accuracy > alone - 0.02


def test_products_and_columns_are_compared_on_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_VALUES", 1 << 22)  # products are learned from a sample of the rows
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20_000, 60))
    y = X @ generator.normal(size=60) + 4 * sum(X[:, k] * X[:, k + 1] for k in range(0, 8, 2)) > 0
    chosen = [AutoPerceptron(random_state=seed).fit(X, y) for seed in range(5)]
    assert all(each.products_ is not None for each in chosen)
    for each in chosen:
        with_products, without = re.findall(r"([0-9.]+) %", each.choice_)
        assert float(with_products) > float(without)


def two_classes(rows: int = 120, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    return generator.normal(size=(rows, 3)) + y[:, None], y


def nan_for_the_first() -> Any:
    """A score that is NaN when it is first asked for, and 0.5 afterwards."""
    calls: list[int] = []

    def score(true: Any, predicted: Any) -> float:
        calls.append(1)
        return float("nan") if len(calls) == 1 else 0.5

    return score


def test_a_score_of_nan_does_not_win() -> None:
    X, y = two_classes()
    assert Sweep([Perceptron(max_iter=2), AROW(max_iter=2)], scoring=nan_for_the_first()).fit(X, y).best_index_ == 1
    found = tune(X, y, folds=2, scoring=nan_for_the_first())
    assert np.isnan(found.tried[-1][1].mean)
    assert found.tried[0][1].mean == 0.5


def test_compare_gives_weights_only_to_classifiers_that_take_them() -> None:
    X, y = two_classes()
    found = compare(X, y, classifiers={"neighbors": KNeighborsClassifier()}, folds=2, sample_weight=np.arange(len(y)))
    assert 0.5 < found.measured[0].accuracy <= 1


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "roc_auc_ovo"])
def test_scores_of_probabilities_bear_a_fold_without_a_rare_class(scoring: str) -> None:
    X, y = two_classes()
    y = y.copy()
    y[:2] = 2
    for learner in (Calibrated(AveragedPerceptron(max_iter=3), folds=2), AutoPerceptron(max_iter=3)):
        assert np.isfinite(cross_validate(X, y, learner, folds=4, scoring=scoring).scores).all()


def test_compare_does_not_spend_its_time_on_votes() -> None:
    voted = [each for name, each in family(20_000).items() if name.startswith("VotedPerceptron")]
    assert voted[0].max_iter == 1
    assert "VotedPerceptron" not in family(20_000)  # the name says that it is cut short


def test_calibrated_streams_cost_little_more_than_their_learner() -> None:
    """Work per example must not grow with the window of scores: no array is copied."""
    X, y = two_classes(3000)
    examples = [dict(enumerate(row)) for row in X.tolist()]
    calibrated = Calibrated(AveragedPerceptron())
    for features, label in zip(examples, y.tolist(), strict=True):
        calibrated.learn_one(features, label)
    seconds = []
    for learner in (AveragedPerceptron(), calibrated):
        best = np.inf
        for begin in range(0, 3000, 300):
            started = time.perf_counter()
            for features, label in zip(examples[begin : begin + 300], y[begin : begin + 300].tolist(), strict=True):
                learner.learn_one(features, label)
            best = min(best, time.perf_counter() - started)
        seconds.append(best)
    assert seconds[1] < 20 * seconds[0]
    assert calibrated.predict_proba_one(examples[1])[1] > calibrated.predict_proba_one(examples[0])[1]


@pytest.mark.parametrize("call", ["learn_one", "partial_fit"])
def test_threads_that_begin_a_calibrated_stream_lose_no_example(call: str) -> None:
    X, y = two_classes(400)
    for _ in range(5):
        calibrated = Calibrated(AveragedPerceptron(), folds=2)
        barrier = threading.Barrier(4)

        def work(part: int, calibrated: Any = calibrated, barrier: Any = barrier) -> None:
            barrier.wait()
            for row in range(part * 100, part * 100 + 100, 10):
                if call == "partial_fit":
                    calibrated.partial_fit(X[row : row + 10], y[row : row + 10])
                else:
                    for each in range(row, row + 10):
                        calibrated.learn_one(dict(enumerate(X[each].tolist())), int(y[each]))

        threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if call == "partial_fit":
            assert len(calibrated._predictor.calibration.scores.codes) == 400
        else:
            assert calibrated.learner_.learned.counted("seen") == 400


def test_rows_of_one_group_are_never_learned_and_judged() -> None:
    """Rows of a group are copies of each other: held-out copies would show nothing but memory."""
    generator = np.random.default_rng(0)
    X, y = np.repeat(generator.normal(size=(60, 40)), 5, axis=0), np.repeat(np.arange(60) % 2, 5)
    groups = np.repeat(np.arange(60), 5)
    learner = PassiveAggressive(max_iter=20, tol=None)
    assert cross_validate(X, y, learner).mean > 0.9
    assert cross_validate(X, y, learner, groups=groups).mean < 0.75
    assert cross_validate(X, y, AutoPerceptron(), groups=groups).mean < 0.75
    assert max(AutoPerceptron().fit(X, y, groups=groups).scores_.values()) < 0.75
    assert tune(X, y, folds=2, groups=groups).tried[0][1].mean < 0.8


def test_rows_are_judged_by_earlier_rows() -> None:
    """The rule turns around: what was learned before is wrong of what comes after."""
    generator = np.random.default_rng(0)
    X, time_of_row = generator.normal(size=(400, 2)), generator.permutation(400)
    y = (X[:, 0] > 0) ^ (time_of_row >= 300)
    learner = AveragedPerceptron(max_iter=10)
    assert cross_validate(X, y, learner, folds=3, time=time_of_row).scores[-1] < 0.2
    assert cross_validate(X, y, learner, folds=3).scores[-1] > 0.5
    assert max(AutoPerceptron().fit(X, y, time=time_of_row).scores_.values()) < 0.5


def test_tune_tries_what_train_tries_and_its_model_has_probabilities() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 2))
    ring = (np.sum(X**2, axis=1) > 1.4).astype(int)
    found = tune(X, ring, folds=3)
    assert found.tried[0][1].mean > 0.9  # by products of columns, as train finds it
    assert found.fit(X, ring).predict_proba(X).shape == (400, 2)
    X, y = two_classes(300)
    X = X * [1.0, 100.0, 1e-4] + [0.0, 1e4, 0.0]
    found = tune(X, y, folds=3)
    named = next(learner for learner, _ in found.tried if isinstance(learner, AROW))
    model = type(found)(found.scaling, [(named, found.tried[0][1])]).fit(X, y)  # as if it had been the best
    assert model.score(X, y) > 0.7
    assert np.mean(np.abs(model.predict_proba(X)[:, 1] - y)) < 0.4


def test_tune_finds_c_and_epsilon_of_a_regression() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 5)) * [1, 1, 100, 1, 1]
    price = 300_000 + X @ [50_000, -20_000, 300, 0, 1000] + 5_000 * generator.normal(size=600)
    found = tune(X, price, task="regression", folds=3)
    assert found.tried[0][1].mean > 0.9
    assert found.fit(X[:400], price[:400]).score(X[400:], price[400:]) > 0.9


def jobs(rows: int = 600) -> tuple[Any, Any]:
    pd = pytest.importorskip("pandas")
    generator = np.random.default_rng(0)
    job = generator.choice(["clerk", "smith", "cook"], rows)
    age = np.where(generator.random(rows) < 0.05, np.nan, generator.normal(40, 10, rows))
    since = pd.to_datetime("2020-01-01") + pd.to_timedelta(generator.integers(0, 999, rows), "D")
    y = np.where((job == "smith") ^ (np.nan_to_num(age, nan=40) > 55), "yes", "no")
    return pd.DataFrame({"age": age, "job": pd.Categorical(job), "city": job.astype(object), "since": since}), y


def test_a_frame_of_text_dates_and_missing_values_is_encoded(tmp_path: Any) -> None:
    frame, y = jobs()
    auto = AutoPerceptron().fit(frame[:400], y[:400])
    assert auto.score(frame[400:], y[400:]) > 0.9
    assert auto.predict_proba(frame[400:]).shape == (200, 2)
    rosenblatt.save(auto, tmp_path / "m")
    loaded = rosenblatt.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(frame[400:]), auto.predict(frame[400:]))
    np.testing.assert_array_equal(loaded.predict_proba(frame[400:]), auto.predict_proba(frame[400:]))
    assert auto.predict_one({"age": 30.0, "job": "smith", "city": "smith", "since": None}) == "yes"
    auto.partial_fit(frame[400:], y[400:])
    assert cross_validate(frame[["age"]].fillna(0), y, AutoPerceptron()).mean > 0.3
    copied = pickle.loads(pickle.dumps(auto))
    np.testing.assert_array_equal(copied.predict(frame), auto.predict(frame))


def test_a_column_that_tells_the_label_is_named() -> None:
    X, y = two_classes(300)
    assert "alone" not in AutoPerceptron().fit(X, y).choice_
    assert "column 3 alone" in AutoPerceptron().fit(np.column_stack([X, 5.0 - y]), y).choice_


def test_one_class_so_far_has_the_probability_one() -> None:
    learner = Calibrated(AveragedPerceptron()).learn_one({"a": 1.0}, "x")
    assert learner.predict_proba_one({"a": 1.0}) == {"x": 1.0}
