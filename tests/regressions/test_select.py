"""Wrong answers of selection, tuning, calibration and comparison that were found in use."""

import lzma
import pickle
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import scipy.sparse as sp
from interleave import run_all
from numpy.typing import NDArray
from rejected import rejected
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from written import reloaded

import rosenblatt
from rosenblatt import AROW, AutoPerceptron, AveragedPerceptron, Calibrated, PassiveAggressive, Perceptron, Sweep
from rosenblatt.cli.main import main
from rosenblatt.io import open_dataset
from rosenblatt.select import calibration, compare, cross_validate, tune
from rosenblatt.select.validation import family
from rosenblatt.training import train_dataset
from rosenblatt.training.train import continue_training


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
    monkeypatch.setattr("rosenblatt.select.choice.MOST_VALUES", 1 << 22)  # products are learned from a sample of rows
    generator = np.random.default_rng(0)
    X = generator.normal(size=(20_000, 60))
    y = X @ generator.normal(size=60) + 4 * sum(X[:, k] * X[:, k + 1] for k in range(0, 8, 2)) > 0
    chosen = [AutoPerceptron(random_state=seed).fit(X, y) for seed in range(5)]
    assert all(each.products_ is not None for each in chosen)
    for each in chosen:
        with_products, without = re.findall(r"([0-9.]+)%", each.choice_)
        assert float(with_products) > float(without)


def test_products_are_not_decided_by_chance() -> None:
    """200 held-out rows of 1,000 decide by chance; all rows, each held out once, decide the same for every seed."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1000, 6))
    plane = X @ generator.normal(size=6)
    curved = plane + 0.2 * np.einsum("ij,jk,ik->i", X, generator.normal(size=(6, 6)), X)
    noise = generator.normal(size=1000)
    for score, expected in ((plane, False), (curved, True)):
        taken = [AutoPerceptron(random_state=seed).fit(X, score + noise > 0).products_ is not None for seed in range(8)]
        assert taken == [expected] * 8


def two_classes(rows: int = 120, seed: int = 0) -> tuple[Any, Any]:
    generator = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    return generator.normal(size=(rows, 3)) + y[:, None], y


def nan_for_the_first() -> Any:
    """A score that is NaN at the first call, and 0.5 later."""
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


def test_compare_takes_classifiers_by_name() -> None:
    with rejected("parameter", "classifiers"):
        compare(np.eye(4), [0, 1, 0, 1], classifiers=[Perceptron()], folds=2)  # type: ignore[arg-type]


def test_compare_does_not_spend_its_time_on_votes() -> None:
    voted = [each for name, each in family(20_000).items() if name.startswith("VotedPerceptron")]
    assert voted[0].max_iter == 1
    assert "VotedPerceptron" not in family(20_000)  # the name says that it is cut short


@pytest.mark.parametrize("call", ["learn_one", "partial_fit"])
def test_threads_that_begin_a_calibrated_stream_lose_no_example(call: str) -> None:
    X, y = two_classes(400)
    for _ in range(5):
        calibrated = Calibrated(AveragedPerceptron(), folds=2)

        def work(part: int, calibrated: Any = calibrated) -> None:
            for row in range(part * 100, part * 100 + 100, 10):
                if call == "partial_fit":
                    calibrated.partial_fit(X[row : row + 10], y[row : row + 10])
                else:
                    for each in range(row, row + 10):
                        calibrated.learn_one(dict(enumerate(X[each].tolist())), int(y[each]))

        run_all(*(partial(work, part) for part in range(4)))
        if call == "partial_fit":
            assert len(calibrated._predictor.calibration.codes) == 400
        else:
            assert calibrated.learner_.states[0].counter("seen") == 400


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
    """The rule turns around: the first part is wrong for the second."""
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


def test_training_from_a_file_chooses_c_and_epsilon(tmp_path: Any) -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 3))
    price = 300_000 + X @ [50_000, -20_000, 300] + 5_000 * generator.normal(size=600)
    rows = [",".join(f"{cell:.6g}" for cell in (*row, y)) for row, y in zip(X, price, strict=True)]
    (tmp_path / "houses.csv").write_text("a,b,c,price\n" + "\n".join(rows) + "\n")
    model = rosenblatt.train(tmp_path / "houses.csv", task="regression", label="price")
    assert model.is_regression
    assert "R² 0.9" in model.history["choice"]
    frame = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    error = np.array([model.predict_one(row) for row in frame]) - price
    assert 1 - np.var(error) / np.var(price) > 0.95
    by_group = rosenblatt.train(tmp_path / "houses.csv", task="regression", label="price", time="c")
    assert "held-out rows" in by_group.history["choice"]
    with rejected("parameter", "task='regression'"):
        rosenblatt.train(tmp_path / "houses.csv", "averaged", task="regression", label="price")
    for split in ("group", "time"):  # which was left out, and nothing was held out by it
        with rejected("parameter", f"{split} needs folds", "pa1-regression"):
            rosenblatt.train(tmp_path / "houses.csv", "pa1-regression", label="price", **{split: "c"})


def test_automatic_selection_for_numbers_names_what_does_it() -> None:
    X, _ = two_classes()
    with rejected("label", "row 0", "task='regression'"):
        AutoPerceptron().fit(X, X[:, 0] + 0.5)


def jobs(rows: int = 600) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    job = generator.choice(["clerk", "smith", "cook"], rows)
    age = np.where(generator.random(rows) < 0.05, np.nan, generator.normal(40, 10, rows))
    since = pd.to_datetime("2020-01-01") + pd.to_timedelta(generator.integers(0, 999, rows), "D")
    y = np.where((job == "smith") ^ (np.nan_to_num(age, nan=40) > 55), "yes", "no")
    return pd.DataFrame({"age": age, "job": pd.Categorical(job), "city": job.astype(object), "since": since}), y


def test_a_frame_of_text_dates_and_missing_values_is_encoded() -> None:
    frame, y = jobs()
    auto = AutoPerceptron().fit(frame[:400], y[:400])
    assert auto.score(frame[400:], y[400:]) > 0.9
    assert auto.predict_proba(frame[400:]).shape == (200, 2)
    assert auto.predict_one({"age": 30.0, "job": "smith", "city": "smith", "since": None}) == "yes"
    auto.partial_fit(frame[400:], y[400:])
    for again in (reloaded(auto), pickle.loads(pickle.dumps(auto))):
        np.testing.assert_array_equal(again.predict(frame), auto.predict(frame))
        np.testing.assert_array_equal(again.predict_proba(frame), auto.predict_proba(frame))
    assert cross_validate(frame[["age"]].fillna(0), y, AutoPerceptron()).mean > 0.3


def test_a_list_and_a_series_of_texts_are_learned() -> None:
    texts, y = ["good film", "bad film", "nice", "awful bad"] * 50, ["p", "n", "p", "n"] * 50
    auto = AutoPerceptron().fit(texts, y)
    loaded = reloaded(auto)
    for model in (auto, loaded, AutoPerceptron().fit(pd.Series(texts), y)):
        assert model.predict(pd.Series(["good film", "so bad"])).tolist() == ["p", "n"]
        assert model.predict_one("so bad") == model.predict_one({"text": "so bad"}) == "n"
    np.testing.assert_array_equal(loaded.predict_proba(texts[:4]), auto.predict_proba(texts[:4]))


def test_a_column_that_tells_the_label_is_named(tmp_path: Any) -> None:
    X, y = two_classes(300)
    assert "alone" not in AutoPerceptron().fit(X, y).choice_
    assert "column 3 alone" in AutoPerceptron().fit(np.column_stack([X, 5.0 - y]), y).choice_
    rows = [
        f"{a:.3f},{b:.3f},{7 - label},{['no', 'yes'][label]}" for (a, b, _), label in zip(X, y.tolist(), strict=True)
    ]
    (tmp_path / "x.csv").write_text("age,pay,code,kind\n" + "\n".join(rows) + "\n")
    assert "column 'code' alone" in rosenblatt.train(tmp_path / "x.csv", label="kind").history["choice"]
    assert "alone" not in rosenblatt.train(tmp_path / "x.csv", label="kind", drop=["code"]).history["choice"]


@pytest.mark.slow
def test_products_of_a_file_are_not_decided_by_chance(tmp_path: Any, real_data: Any) -> None:
    """40 MB of covtype, of which a sample of 41,000 rows decides: the same for every seed, by the numbers it prints."""
    with lzma.open(real_data / "covtype" / "covtype.csv.xz") as file:
        (tmp_path / "covtype.csv").write_bytes(file.read(40 << 20).rpartition(b"\n")[0])
    for seed in range(4):
        why = rosenblatt.train(tmp_path / "covtype.csv", random_state=seed).history["choice"]
        with_products, without = map(float, re.findall(r"([0-9.]+)%", why))
        assert "and their products" in why
        assert with_products > without + 0.5


def test_one_class_so_far_has_the_probability_one() -> None:
    learner = Calibrated(AveragedPerceptron()).learn_one({"a": 1.0}, "x")
    assert learner.predict_proba_one({"a": 1.0}) == {"x": 1.0}


@pytest.mark.parametrize("how", ["plain", "groups", "time"])
def test_the_only_row_of_a_class_does_not_end_the_comparison(how: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, "no", "yes")
    y[123] = "maybe"
    named = {} if how == "plain" else {how: np.arange(400) // 10}
    auto = AutoPerceptron(n_jobs=1).fit(X, y, **named)
    assert len(auto.scores_) >= 4
    assert auto.predict_proba(X).shape == (400, 3)
    assert np.isfinite(auto.predict_proba(X)).all()


@pytest.mark.parametrize("made", [Calibrated(AveragedPerceptron(max_iter=5), n_jobs=1), AutoPerceptron(n_jobs=1)])
@pytest.mark.parametrize("one", [False, True])
def test_a_new_label_keeps_the_probabilities_of_the_others(made: Any, one: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(X[:, 0] + rng.normal(size=600) > 0, "a", "c")
    made.fit(X[:500], y[:500])
    before = made.predict_proba(X[500:])
    if one:
        made.learn_one({0: 0.1, 1: 3.0, 2: 0.0}, "b")
    else:
        made.partial_fit([[0.1, 3.0, 0.0]], ["b"])
    after = made.predict_proba(X[500:])
    assert made.classes_.tolist() == ["a", "b", "c"]
    assert np.abs(after[:, [0, 2]] - before).mean() < 0.05
    assert after[:, 1].max() < 0.05, "one row of 501"


def test_a_new_label_keeps_the_probabilities_of_a_model_of_files(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) * [1.0, 1.0, 1000.0]
    y = np.where(X[:, 0] + rng.normal(size=600) > 0, 1, 3)
    lines = [f"{label} 1:{a!r} 2:{b!r} 3:{c!r}" for label, (a, b, c) in zip(y.tolist(), X.tolist(), strict=True)]
    (tmp_path / "x.svm").write_text("\n".join(lines))
    (tmp_path / "new.svm").write_text("2 1:0.1 2:3\n")
    model, rows = rosenblatt.train(tmp_path / "x.svm"), np.insert(X, 0, 0.0, axis=1)
    before = model.predict_proba(rows)
    of_file = continue_training(model, open_dataset(tmp_path / "new.svm", encoder=model.encoder)).model
    for after in (of_file, model.partial_fit([[0.0, 0.1, 3.0, 0.0]], [2])):
        assert after.classes_.tolist() == [1, 2, 3]
        assert np.abs(after.predict_proba(rows)[:, [0, 2]] - before).mean() < 0.05


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars_are_encoded(kind: str) -> None:
    words = ["x", None, "y"] * 20
    frame = polars.DataFrame({"a": words}).cast(polars.Enum(["x", "y"]) if kind == "Enum" else polars.Categorical)
    assert AutoPerceptron().fit(frame, [0, 0, 1] * 20).predict(frame).tolist() == [0, 0, 1] * 20
    viewed = pa.table(frame).append_column("label", pa.array(["p", "p", "q"] * 20))
    assert rosenblatt.train(viewed, label="label").predict_one({"a": "y"}) == "q"


def rare_third(seed: int = 0) -> tuple[Any, Any]:
    """Two classes, and three rows of a third."""
    X = np.random.default_rng(seed).normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, "a", "b").astype("<U4")
    y[:3] = "rare"
    return X, y


def test_folds_that_lack_a_class_are_scored_by_probabilities() -> None:
    X, y = rare_third()
    classifiers = {"logistic": LogisticRegression(), "calibrated": Calibrated(AROW(), n_jobs=1)}
    for scoring in ("roc_auc_ovr", "average_precision"):
        found = compare(X, y, scoring=scoring, classifiers=classifiers, folds=4)
        assert all(0.7 < each.score <= 1 for each in found.measured)
    X, y = X[3:], y[3:]
    found = compare(X, y, scoring="roc_auc", classifiers={"no decision_function": KNeighborsClassifier()}, folds=4)
    assert found.measured[0].score > 0.9


def test_a_score_that_is_nan_everywhere_chooses_nothing() -> None:
    X, y = rare_third()
    for call in (
        lambda: tune(X, y, scoring=lambda *_: float("nan"), folds=2, n_jobs=1),
        lambda: Sweep([AROW(), Perceptron()], scoring=lambda *_: float("nan"), n_jobs=1).fit(X, y),
    ):
        with rejected("parameter", "NaN", "held-out"):
            call()
    auto = AutoPerceptron(scoring=lambda *_: float("nan"), n_jobs=1).fit(X, y)
    assert "NaN on the held-out rows, so learners were not compared" in auto.choice_
    with rejected("parameter", "scoring='f1'", "4"):
        AutoPerceptron(scoring="f1", n_jobs=1).fit(X, np.where(X[:, 1] > 1, "c", y))


def test_a_fold_of_one_class_has_no_score_of_ranks() -> None:
    X, y = two_classes(200)
    groups = np.where(y == 1, np.arange(200) // 2 % 5, np.arange(200) // 2 % 4)  # the last of them has one class
    found = cross_validate(X, y, AveragedPerceptron(max_iter=3), groups=groups, scoring="roc_auc")
    assert len(found.scores) == 4
    assert 0.5 < found.mean < 1
    assert "roc_auc" in AutoPerceptron(scoring="roc_auc", n_jobs=1).fit(X, y, groups=groups).choice_
    assert tune(X, y, groups=groups, scoring="roc_auc", n_jobs=1).tried[0][1].mean > 0.5


def test_many_categories_leave_the_products_of_the_numbers() -> None:
    X, y = make_circles(600, noise=0.02, factor=0.5, random_state=0)
    names = [f"k{at}" for at in np.random.default_rng(0).integers(0, 100, 600)]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "name": names})
    auto = AutoPerceptron(n_jobs=1).fit(frame[:400], y[:400])
    assert auto.score(frame[400:], y[400:]) > 0.97
    assert rosenblatt.train(frame.assign(y=y)[:400], label="y").score(frame[400:], y[400:]) > 0.97


def test_arrays_and_files_choose_by_the_same_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Also of a sample, and if there are too many classes and columns to compare learners."""
    rng = np.random.default_rng(0)
    X = sp.random_array((900, 3000), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 5, 900)
    lines = (
        f"{y[at]} " + " ".join(f"{j}:{v!r}" for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for at, row in ((at, X[[at]]) for at in range(900))
    )
    (tmp_path / "x.svm").write_text("\n".join(lines))
    data = rosenblatt.read(tmp_path / "x.svm")
    for limit, most in (("SAMPLE_BYTES", 1 << 17), ("MOST_TRIED", 1000)):
        with monkeypatch.context() as patch:
            patch.setattr(f"rosenblatt.select.search.{limit}", most)
            auto, model = AutoPerceptron(n_jobs=1).fit(data.X, data.y), rosenblatt.train(tmp_path / "x.svm")
        assert auto.choice_ == model.history["choice"]
        assert ("-th row" in auto.choice_) == (limit == "SAMPLE_BYTES")
        np.testing.assert_array_equal(auto.predict_proba(data.X), model.predict_proba(data.X))


def test_a_frame_standardizes_as_a_file_does() -> None:
    """Hundreds of categories leave no room for products, and a year must not drown the rest."""
    rng = np.random.default_rng(0)
    year, city = rng.integers(1990, 2021, 1200), rng.integers(0, 300, 1200)
    frame = pa.table({"year": year, "city": [f"c{each}" for each in city]})
    y = np.where((year - 2005) / 8 + rng.normal(0, 0.3, 1200) > 0, "yes", "no")
    auto = AutoPerceptron(n_jobs=1).fit(frame.slice(0, 900), y[:900])
    of_file = rosenblatt.train(frame.append_column("y", pa.array(y)).slice(0, 900), label="y")
    right = [np.mean(each.predict(frame.slice(900)) == y[900:]) for each in (auto, of_file)]
    assert right[0] > 0.85
    assert right[0] == pytest.approx(right[1], abs=0.02)
    assert "numbers, standardized: year" in auto.encoder_.describe()


def test_tune_compare_and_cross_validate_take_frames_as_fit_does() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    frame, y = pa.table({"a": a, "b": rng.choice(["x", "y"], 200)}), np.where(a > 0, "yes", "no")
    assert cross_validate(frame, y, AutoPerceptron(n_jobs=1), folds=3).mean > 0.9
    found = tune(frame, y, folds=2, n_jobs=1)
    assert found.tried[0][1].mean > 0.9
    assert np.mean(found.fit(frame, y).predict(frame) == y) > 0.9
    assert compare(frame, y, folds=2, classifiers={"l": LogisticRegression()}).measured[0].accuracy > 0.9


@pytest.mark.parametrize("rows", [53, 137, 250])
@pytest.mark.parametrize("curved", [False, True])
def test_the_choice_the_scores_and_the_evaluation_say_the_same(rows: int, curved: bool) -> None:
    """Folds hold out every row once: a share of the rows, and not a mean of folds or the best of some epochs."""
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 4))
    y = np.where((X[:, 0] * X[:, 1] if curved else X[:, 0]) + rng.normal(0, 0.8, rows) > 0, "yes", "no")
    trained = train_dataset(open_dataset(pa.table({f"c{at}": X[:, at] for at in range(4)} | {"y": y}), label="y"))
    said = float(re.search(r": ([\d.]+)% of", str(trained.choice)).group(1))  # type: ignore[union-attr]
    right = trained.held.found.accuracy  # type: ignore[union-attr]
    assert said == round(100 * right, 2)
    assert next(iter(trained.tried.values())) == pytest.approx(right, abs=1e-12)
    assert right * rows == pytest.approx(round(right * rows))


@pytest.mark.parametrize("seed", [None, np.random.RandomState(1), np.random.default_rng(1)], ids=["None", "old", "new"])
def test_train_takes_seeds_as_estimators_do(seed: Any) -> None:
    X, y = two_classes(60)
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    for call in (
        lambda: rosenblatt.train(rows, random_state=seed, label="y"),
        lambda: rosenblatt.train(rows, random_state=seed, label="a", task="regression"),
        lambda: rosenblatt.train(rows, AveragedPerceptron(random_state=seed), label="y"),
    ):
        assert call().history["rows"] == 60


def test_groups_and_times_without_a_value_are_named() -> None:
    X, y = two_classes(40)
    days = np.arange("2020-01-01", "2020-02-10", dtype="M8[D]")
    assert cross_validate(X, y, Calibrated(AROW(), n_jobs=1), time=days, folds=3).mean > 0.5
    days[3] = "NaT"
    with rejected("data", "time", "row 3"):
        AutoPerceptron().fit(X, y, time=days)
    with rejected("data", "groups", "row 1"):
        AutoPerceptron().fit(X, y, groups=["a", None] * 20)


INDEXES = {
    "numbers": pd.Index(np.arange(400) * 7),
    "named": pd.Index(np.arange(400) * 7, name="x"),
    "texts": pd.Index([f"row {at}" for at in range(400)]),
    "several": pd.MultiIndex.from_product([range(2), range(200)], names=["half", "at"]),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES.keys())
def test_the_index_of_a_frame_is_never_a_column(index: Any) -> None:
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 200)
    plain = pd.DataFrame({"c": rng.choice(list("abc"), 400), "x": rng.normal(size=400)})
    frame = plain.set_axis(index)
    auto = AutoPerceptron(n_jobs=1, max_iter=3).fit(frame, y)
    assert [column.name for column in auto.encoder_.used] == ["c", "x"]
    np.testing.assert_array_equal(auto.predict_proba(frame), auto.predict_proba(plain))
    learner = AveragedPerceptron(max_iter=2)
    means = [cross_validate(rows, y, learner, folds=2).mean for rows in (frame, plain)]
    assert means[0] == means[1]
    model = rosenblatt.train(frame.assign(y=y), label="y")
    assert [column.name for column in model.encoder.used] == ["c", "x"]
    np.testing.assert_array_equal(model.predict(frame), model.predict(plain))
    shapes = [rosenblatt.read(each.assign(y=y), label="y").X.shape for each in (frame, plain)]
    assert shapes[0] == shapes[1]


def test_an_absent_key_of_a_dict_is_0() -> None:
    rows: list[dict[str, Any]] = [{"a": 1}, {"b": 2.5, "kind": "x"}, {"a": True, "kind": "y"}] * 20
    full = [{"a": float(row.get("a", 0)), "b": row.get("b", 0.0), "kind": row.get("kind")} for row in rows]
    y = [1, 0, 1] * 20
    auto = AutoPerceptron(n_jobs=1).fit(rows, y)
    np.testing.assert_array_equal(auto.predict(rows), y)
    expected = AutoPerceptron(n_jobs=1).fit(full, y).predict_proba(full)
    np.testing.assert_array_equal(auto.predict_proba(rows), expected)
    assert [auto.predict_one(row) for row in rows] == y
    assert auto.predict_proba_one({}).keys() == {0, 1}
    assert cross_val_score(auto, rows, y, cv=3).mean() == 1.0
    np.testing.assert_array_equal(reloaded(auto).predict_proba(rows), expected)
    words: list[dict[str, str]] = [{"a": "x"}, {"b": "y"}] * 20
    assert AutoPerceptron(n_jobs=1).fit(words, [0, 1] * 20).score(words, [0, 1] * 20) == 1.0
    with rejected("data", "the key 0"):
        AutoPerceptron().fit([{0: 1.0}, {1: "a"}] * 9, [0, 1] * 9)


def test_the_features_of_a_frame_are_its_columns() -> None:
    frame = pd.DataFrame({"c": list("ab") * 20, "x": np.arange(40.0), "empty": [None] * 40})
    y = [0, 1] * 20
    auto = AutoPerceptron(n_jobs=1).fit(frame, y)
    loaded = reloaded(auto).partial_fit(frame, y)
    assert loaded.feature_names_in_ is loaded.feature_names_in_
    for each in (auto, loaded, loaded.learner_, AutoPerceptron(n_jobs=1).partial_fit(frame, y)):
        assert (each.n_features_in_, each.feature_names_in_.tolist()) == (3, ["c", "x", "empty"])
        assert each.partial_fit(frame, y).predict(frame).shape == (40,)
    assert not hasattr(auto.fit(np.eye(40), y), "feature_names_in_")
    assert auto.n_features_in_ == 40


def test_auto_perceptron_warns_of_a_quantity() -> None:
    X = np.random.default_rng(0).normal(size=(120, 2))
    with pytest.warns(UserWarning, match=r"60 .*task='regression'"):
        AutoPerceptron(max_iter=1, n_jobs=1).fit(X, np.arange(120.0) // 2)


def people(rows: int = 120) -> tuple[pd.DataFrame, list[str]]:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({"age": draw.normal(40, 10, rows), "job": draw.choice(["clerk", "nurse"], rows)})
    frame.loc[::7, "age"], frame.loc[::5, "job"] = np.nan, None
    return frame, np.where(frame["age"].fillna(0) > 40, "yes", "no").tolist()


@pytest.mark.parametrize(
    "more",
    [
        pd.period_range("2024-01-01", periods=120, freq="D"),
        pd.cut(np.arange(120.0), 4),
        pd.arrays.SparseArray(np.arange(120) % 2),
        [1, "a"] * 60,
        [[1, 2]] * 120,
        [b"a", b"b"] * 60,
    ],
    ids=["periods", "intervals", "sparse", "mixed", "lists", "bytes"],
)
def test_a_frame_may_hold_columns_of_any_type(more: Any) -> None:
    frame, labels = people()
    frame = frame.assign(more=pd.Series(more))
    model = AutoPerceptron(max_iter=3).fit(frame, labels)
    loaded, told = reloaded(model), model.predict_proba(frame)
    np.testing.assert_array_equal(loaded.predict_proba(frame), told)
    np.testing.assert_array_equal(loaded.predict_proba(frame.to_dict("records")), told)


def test_a_lazy_frame_is_learned_from_as_a_frame() -> None:
    frame, labels = people()
    told = AutoPerceptron(max_iter=3).fit(frame, labels).predict_proba(frame)
    lazy = polars.from_pandas(frame).lazy()
    np.testing.assert_array_equal(AutoPerceptron(max_iter=3).fit(lazy, labels).predict_proba(lazy), told)
    numbers = lazy.select("age").fill_null(0.0)
    for learner in (AutoPerceptron(max_iter=3), Perceptron()):
        learner.fit(numbers, labels)
        np.testing.assert_array_equal(learner.predict(numbers), learner.predict(numbers.collect()))
        assert learner.feature_names_in_.tolist() == ["age"]


def test_records_of_a_frame_with_missing_texts_are_learned() -> None:
    frame, labels = people()
    model = AutoPerceptron(max_iter=3).fit(frame.to_dict("records"), labels)
    assert model.predict_one(frame.iloc[0]) == model.predict(frame.iloc[:1])[0]


@pytest.mark.parametrize(("more", "fact"), [({"c": 1j}, "'c'"), ({"job": 0}, "'job'")])
def test_what_arrow_cannot_hold_is_an_error_of_the_data(more: Any, fact: str) -> None:
    frame, labels = people()
    with rejected("data", fact):
        AutoPerceptron().fit(pd.concat([frame, pd.DataFrame(more, index=frame.index)], axis=1), labels)


def test_explanations_of_a_frame_name_its_categories() -> None:
    frame, _ = people()
    model = reloaded(AutoPerceptron().fit(frame, np.where(frame["job"] == "nurse", "yes", "no")))
    assert "job=nurse" in {each.feature for each in model.explain({"age": 40.0, "job": "nurse"})}


def test_validation_data_give_a_model_from_python_its_probabilities(tmp_path: Any) -> None:
    frame, labels = people()
    rows = frame.assign(y=labels)
    rows[:80].to_csv(tmp_path / "train.csv", index=False)
    rows[80:].to_csv(tmp_path / "more.csv", index=False)
    words = ["train", tmp_path / "train.csv", "--label", "y", "--learner", "averaged", "-o", tmp_path / "m"]
    assert main([*map(str, words), "--validation", str(tmp_path / "more.csv"), "--quiet"]) == 0
    model = rosenblatt.train(rows[:80], "averaged", label="y", validation=rows[80:])
    np.testing.assert_array_equal(model.predict_proba(frame), rosenblatt.load(tmp_path / "m").predict_proba(frame))


def test_train_names_what_it_does_not_take_and_columns_have_a_text_or_a_number() -> None:
    frame, labels = people()
    for options in ({"target": "y"}, {"params": "averaged", "target": "y"}):
        with rejected("parameter", "target"):
            rosenblatt.train(frame.assign(y=labels), **options)
    for data in ([{"a": 1, "y": 2}], {"a": [1], "y": [2]}, np.zeros((2, 2)), []):
        with rejected("data", type(data).__name__):
            rosenblatt.train(data)
    model = rosenblatt.train(frame.assign(y=labels), "averaged", label=3, category="job")
    assert model.classes.tolist() == ["no", "yes"]


def test_scoring_of_a_named_learner_needs_rows_to_score(tmp_path: Any) -> None:
    (tmp_path / "data.svm").write_text("+1 1:2\n-1 1:-1 2:1\n" * 20)
    with rejected("parameter", "scoring needs folds"):
        rosenblatt.train(tmp_path / "data.svm", "pa1", scoring="f1")
    assert rosenblatt.train(tmp_path / "data.svm", "pa1", scoring="f1", folds=3).calibrator is not None


def test_probabilities_of_a_stream_do_not_depend_on_how_it_is_cut(monkeypatch: Any) -> None:
    monkeypatch.setattr(calibration, "WINDOW", 90)  # so that the oldest scores leave
    scores = np.random.default_rng(0).normal(size=(200, 1))
    codes = (scores[:, 0] + np.random.default_rng(1).normal(size=200) > 0).astype(np.int32)

    def followed(*cuts: int, saved: bool = False) -> NDArray[Any]:
        found = calibration.Calibration("sigmoid", scores[:40], codes[:40])
        for begin, end in pairwise((40, *cuts, 200)):
            found.probabilities(scores)  # which may fit the curves
            found = found.extend(scores[begin:end], codes[begin:end], None)
            if saved:
                curves, found = found.calibrator, calibration.Calibration.read(found.to_tree(), 2)
                vars(found)["calibrator"] = curves
        return found.probabilities(scores)

    expected = followed(*range(41, 200))
    for cuts in ((), (120,), (41, 77, 130, 199), tuple(range(41, 200))):
        np.testing.assert_array_equal(followed(*cuts), expected)
        np.testing.assert_array_equal(followed(*cuts, saved=True), expected)


def test_a_stream_fits_its_curves_again_after_a_share_of_its_rows(monkeypatch: Any) -> None:
    X = np.random.default_rng(0).normal(size=(400, 2))
    learner = Calibrated(Perceptron()).fit(X[:100], np.where(X[:100, 0] > 0.1, "b", "a"))
    fits: list[int] = []
    fit = calibration.fit_calibrator
    monkeypatch.setattr(calibration, "fit_calibrator", lambda *given: fits.append(len(given[1])) or fit(*given))
    for row in X[100:].tolist():
        learner.learn_one(dict(enumerate(row)), "b" if row[0] > 0.1 else "a").predict_proba_one({0: 1.0})
    assert fits == sorted(set(fits))
    assert len(fits) < 40
    assert fits[-1] >= 380


def test_probabilities_by_many_validation_rows_do_not_depend_on_their_files(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=25_000)
    lines = [
        f"{a:.4f},{'yes' if a + noise > 0 else 'no'}\n" for a, noise in zip(x, rng.normal(size=len(x)), strict=True)
    ]
    files = {"all.csv": lines, "1.csv": lines[:3334], "2.csv": lines[3334:]}
    for name, part in files.items():
        (tmp_path / name).write_text("x,y\n" + "".join(part))
    one, two = (
        rosenblatt.train(tmp_path / "1.csv", "averaged", validation=[tmp_path / name for name in names])
        for names in (["all.csv"], ["1.csv", "2.csv"])
    )
    rows = [{"x": "0.1"}, {"x": "-1"}]
    assert np.array_equal(one.predict_proba(rows), two.predict_proba(rows))


def test_a_single_fold_with_a_score_has_no_standard_error() -> None:
    """The other fold has one class, of which no rank is defined; a warning of NumPy would be an error here."""
    X, y = two_classes(100)
    groups = np.where(y == 1, np.arange(100) // 2 % 2, 0)
    found = cross_validate(X, y, AveragedPerceptron(max_iter=3, tol=None), groups=groups, scoring="roc_auc", folds=2)
    assert len(found.scores) == 1
    assert np.isnan(found.standard_error)
