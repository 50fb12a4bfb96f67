"""Wrong answers that learners once gave, each as the smallest case that shows it."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rosenblatt
from rosenblatt import (
    AveragedPerceptron,
    KernelPerceptron,
    PassiveAggressiveRegression,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)


def noisy(seed: int, rows: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 4))
    return X, (X @ [1.0, -2.0, 0.5, 0.0] + rng.standard_normal(rows) > 0).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [PocketPerceptron, lambda **k: KernelPerceptron(keep="pocket", kernel="linear", **k)])
def test_a_pocket_of_other_labels_does_not_survive_a_warm_start(make: Any) -> None:
    """The run of correct answers of the fit before counted for the new rows."""
    for seed in range(8):
        X, y = noisy(seed)
        learner = make(warm_start=True, max_iter=20, random_state=seed).fit(X, y)
        assert learner.fit(X, 1 - y).score(X, 1 - y) > 0.6, seed


def test_early_stopping_keeps_the_best_epoch_though_learning_converged_later() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8))
    y = X[:, 0] > 0
    X_val = rng.standard_normal((200, 8))
    y_val = X_val[:, 0] > 0
    for seed in range(20):
        learner = Perceptron(random_state=seed, tol=None).fit(X, y, X_val=X_val, y_val=y_val)
        assert learner.score(X_val, y_val) == max(learner.history_.validation_score), seed


@pytest.mark.parametrize(
    "make",
    [
        AveragedPerceptron,
        VotedPerceptron,
        lambda **k: Perceptron(beta=0.1, keep="average", **k),
        lambda **k: KernelPerceptron(keep="average", gamma=0.5, **k),
    ],
)
def test_two_warm_fits_are_one_long_fit_also_after_convergence(make: Any) -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    y = [0, 0, 0, 1, 1]
    longer = make(max_iter=400).fit(X, y)
    assert longer.converged_
    twice = make(max_iter=400, warm_start=True).fit(X, y).fit(X, y)
    assert twice.converged_
    np.testing.assert_array_equal(twice.decision_function(X), longer.decision_function(X))
    assert twice.mistakes_ == longer.mistakes_


def test_a_class_of_class_weight_0_stays_a_class() -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    weights = {"a": 1.0, "b": 1.0, "c": 0.0}
    assert Perceptron(class_weight=weights).fit(X, y).classes_.tolist() == ["a", "b", "c"]
    assert Perceptron(class_weight=weights).partial_fit(X, y).classes_.tolist() == ["a", "b", "c"]
    batches = Perceptron(class_weight=weights).partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    assert batches.classes_.tolist() == ["a", "b", "c"]


def test_several_labels_are_predicted_one_by_one_too() -> None:
    X, Y = np.eye(3), np.array([[1, 0], [0, 1], [1, 1]])
    learner = Perceptron().fit(X, Y)
    assert learner.predict_one({0: 1.0}) == learner.predict(X)[0].tolist()
    assert learner.predict_many([{0: 1.0}, {1: 1.0}]) == learner.predict(X)[:2].tolist()


def test_a_precomputed_kernel_takes_no_sparse_rows() -> None:
    assert KernelPerceptron().__sklearn_tags__().input_tags.sparse
    assert not KernelPerceptron(kernel="precomputed").__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize("name", ["report", "river", "service", "datasets", "theory", "params"])
def test_documented_modules_are_reachable(name: str) -> None:
    code = f"import rosenblatt; rosenblatt.{name}"
    if name == "river":
        pytest.importorskip("river")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_stream_without_features_is_saved_and_loaded(tmp_path: Any) -> None:
    learner = Perceptron().learn_one({}, "a").learn_one({}, "b")
    rosenblatt.save(learner, tmp_path / "m")
    loaded = rosenblatt.load(tmp_path / "m")
    assert loaded.predict_one({"x": 1.0}) == learner.predict_one({"x": 1.0})
    loaded.learn_one({"x": 1.0}, "a")


def test_gamma_auto_of_a_stream_follows_the_features() -> None:
    """It was that of the first example's features for ever."""
    rng = np.random.default_rng(1)
    rows = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in rng.standard_normal((40, 5))]
    stream, whole = KernelPerceptron(), KernelPerceptron(gamma=0.2)
    for at, row in enumerate(rows):
        given = dict(list(row.items())[:1]) if at == 0 else row
        stream.learn_one(given, at % 2)
    whole.fit([[row.get(f"x{j}", 0.0) for j in range(5)] for row in rows], [at % 2 for at in range(40)])
    assert stream.predictors()[0].kernel.gamma == pytest.approx(0.2)


@pytest.fixture
def handled() -> Any:
    calls: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    yield calls
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("make", [Perceptron, lambda: Perceptron(multiclass="ovr"), lambda: VotedPerceptron()])
def test_a_handler_of_ctrl_c_that_does_not_raise_ends_nothing(make: Any, handled: Any, monkeypatch: Any) -> None:
    X, y = np.random.default_rng(0).standard_normal((50, 3)), np.arange(50) % 3
    expected, run = make().partial_fit(X, y), rosenblatt.engine.run_passes

    def interrupted(*args: Any) -> Any:
        if not handled:
            signal.raise_signal(signal.SIGINT)
        return run(*args)

    monkeypatch.setattr(rosenblatt.engine, "run_passes", interrupted)
    learner = make().partial_fit(X, y)
    assert handled == [1]
    np.testing.assert_array_equal(learner.decision_function(X), expected.decision_function(X))
    assert learner.history_.mistakes == expected.history_.mistakes


@pytest.mark.parametrize("classes", [2, 3])
def test_nor_does_it_end_a_kernel(classes: int, handled: Any) -> None:
    X, y = np.random.default_rng(0).standard_normal((50, 3)), np.arange(50) % classes

    def kernel(A: Any, B: Any) -> Any:
        if len(handled) < 2:
            signal.raise_signal(signal.SIGINT)
        return A @ B.T

    learner = KernelPerceptron(kernel=kernel, multiclass="ovr").partial_fit(X, y)
    assert handled == [1, 1]
    expected = KernelPerceptron(kernel=kernel, multiclass="ovr").partial_fit(X, y)
    np.testing.assert_array_equal(learner.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("make", [Perceptron, KernelPerceptron])
def test_ctrl_c_in_the_first_partial_fit_reaches_the_caller(make: Any, monkeypatch: Any) -> None:
    def interrupt(*args: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(rosenblatt.engine, "seed_generator", interrupt)
    learner = make()
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(learner, "classes_")


def prices(unit: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 3))
    return X, unit * (3.0 + X @ [0.5, -0.3, 0.2] + 0.05 * rng.standard_normal(400))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"variant": "PA-II", "keep": "average"}, {"penalty": "l1", "alpha": 1e-5}])
def test_a_regression_does_not_depend_on_the_unit_of_its_targets(options: Any) -> None:
    """House prices were learned in steps of at most one euro."""
    scores = []
    for unit in (1.0, 2.0**17):
        X, y = prices(unit)
        learner = PassiveAggressiveRegression(max_iter=20, **options).fit(X, y)
        scores.append(learner.predict(X) / unit)
        assert learner.score(X, y) > 0.9
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)


def test_a_stream_of_prices_is_learned_in_their_unit_however_it_is_cut(tmp_path: Any) -> None:
    X, y = prices(100_000.0)
    whole = PassiveAggressiveRegression().partial_fit(X, y)
    parts = PassiveAggressiveRegression().partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    stream = PassiveAggressiveRegression()
    for row, target in zip(X[:50], y[:50], strict=True):
        stream.learn_one(dict(enumerate(row)), target)
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    assert whole.score(X, y) > 0.9
    rosenblatt.save(whole, tmp_path / "m")
    loaded = rosenblatt.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.partial_fit(X, y).predict(X), whole.partial_fit(X, y).predict(X))
    begun = PassiveAggressiveRegression().partial_fit(X[:50], y[:50])
    np.testing.assert_allclose([stream.predict_one(dict(enumerate(row))) for row in X], begun.predict(X), rtol=1e-9)
