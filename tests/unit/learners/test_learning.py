"""Known answers, when learning stops, the pocket, weights, starts and frames."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from registry import KERNEL, LINEAR, each, rows
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import AveragedPerceptron, KernelPerceptron, PassiveAggressive, Perceptron, PocketPerceptron, textbook

AND = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def test_xor_never_converges_and_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match=r"max_iter=50"):
        learner = Perceptron(tol=None, max_iter=50).fit(AND, [0, 1, 1, 0])
    assert (learner.converged_, learner.stop_reason_, learner.n_iter_) == (False, "max_iter", 50)
    patient = Perceptron(max_iter=1000).fit(AND, [0, 1, 1, 0])
    assert (patient.converged_, patient.stop_reason_) == (False, "no_change")


def test_no_change_counts_epochs_without_a_better_mistake_rate() -> None:
    learner = Perceptron(shuffle=False, n_iter_no_change=3, tol=0.0, max_iter=6).fit(AND, [0, 1, 1, 0])
    assert learner.history_.mistakes == [4, 4, 4, 4]  # the first sets the best; three, half of all, do not beat it
    assert learner.stop_reason_ == "no_change"


def test_class_weights_are_sample_weights() -> None:
    X, y = (each[:110] for each in load_iris(return_X_y=True))
    for given, weights in (({0: 0.5, 2: 3.0}, [0.5, 1.0, 3.0]), ("balanced", 110 / (3 * np.bincount(y)))):
        by_class = Perceptron(class_weight=given).fit(X, y)
        by_row = Perceptron().fit(X, y, sample_weight=np.array(weights)[y])
        np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def test_frames_keep_their_column_names() -> None:
    columns = {"height": [1.0, 2.0, 3.0, 4.0], "width": [1, 0, 1, 0]}
    y = ["s", "s", "l", "l"]
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    models = [Perceptron(tol=None).fit(frame, y) for frame in frames]
    for model, frame in zip(models, frames, strict=True):
        assert model.feature_names_in_.tolist() == ["height", "width"]
        assert model.predict(frame).tolist() == y
        np.testing.assert_array_equal(model.coef_, models[0].coef_)


def test_starting_weights() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning):
        Perceptron(init="random", max_iter=1, tol=None).fit(X, y)
    X, y, plain = X[:100], y[:100], Perceptron(tol=None, shuffle=False)
    start = np.array([0.0, 0.0, 9.0, 9.0])
    given = Perceptron(tol=None, init=(start, -30.0), shuffle=False).fit(X, y)
    assert given.mistakes_ < plain.fit(X, y).mistakes_
    as_sklearn = plain.fit(X, y, coef_init=start[None], intercept_init=np.array([-30.0]))
    np.testing.assert_array_equal(as_sklearn.coef_, given.coef_)


def test_large_counters_do_not_stop() -> None:
    """Sums are float64 and counters int64: the mean of a million examples is exact."""
    learner = AveragedPerceptron(fit_intercept=False)
    X = np.ones((1_000_000, 1), np.float32)
    learner.partial_fit(X, np.ones(1_000_000, int), classes=[0, 1])
    assert learner.coef_.tolist() == [[1.0]]
    assert learner.states[0].counter("seen") == 1_000_000


GATES = {"AND": [0, 0, 0, 1], "OR": [0, 1, 1, 1], "NAND": [1, 1, 1, 0], "NOR": [1, 0, 0, 0], "x1": [0, 0, 1, 1]}
PATIENT = {"max_iter": 1000}


@each({name: LINEAR[name] for name in ("last", "average", "vote", "pocket")})
@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_every_gate_that_is_separable_converges_with_defaults_in_any_order(make: Any, tie: Any) -> None:
    for name, answers in GATES.items():
        for y in (np.array(answers), np.where(answers, "yes", "no")):
            for signs in (AND, 2 * AND - 1):
                for order in [{"shuffle": False}, *({"random_state": seed} for seed in range(5))]:
                    learner = make().set_params(tie=tie, **order, **PATIENT).fit(signs, y)
                    assert learner.stop_reason_ == "converged", (name, order)


def waited(learner: Any) -> int:
    """Epochs since the mistake rate was last better than ever."""
    mistakes = learner.history_.mistakes
    return len(mistakes) - 1 - int(np.argmin(mistakes))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("n", [4, 30, 300, 3000])
def test_learning_is_not_given_up_before_100_000_rows_or_half_of_all_epochs(n: int, shuffle: bool) -> None:
    X, y = rows(n, d=2, seed=1)
    y = np.random.default_rng(0).permutation(y)
    learner = Perceptron(shuffle=shuffle).fit(X, y)
    assert learner.stop_reason_ == "max_iter" or waited(learner) * n >= 100_000 or waited(learner) >= 500


def test_patience_with_early_stopping_counts_rows_too() -> None:
    X, y = rows(60, d=2, seed=1)
    y = np.random.default_rng(0).permutation(y)
    learner = Perceptron(early_stopping=True).fit(X, y)
    scores = learner.history_.validation_score
    assert learner.stop_reason_ == "max_iter" or len(scores) - 1 - int(np.argmax(scores)) >= 500


def test_the_unit_of_the_rows_does_not_matter() -> None:
    X, y = rows(300, d=3, seed=1)
    y = np.where(np.arange(300) % 10, y, y[::-1])  # no plane separates these
    found = [Perceptron(fit_intercept=False).fit(unit * X, y) for unit in (1.0, 2.0**-20, 2.0**20)]
    assert found[0].stop_reason_ == "no_change"
    assert found[0].history_.mistakes == found[1].history_.mistakes == found[2].history_.mistakes


@each(LINEAR | KERNEL)
def test_converged_means_an_epoch_without_an_update(make: Any) -> None:
    X, y = rows(40, d=6, seed=4)
    X[y == "class 1", 0] += 6.0
    X[y == "class 0", 0] -= 6.0
    for shuffle in (False, True):
        learner = make().set_params(shuffle=shuffle, **PATIENT).fit(X, y)
        assert learner.converged_ == (learner.history_.updates[-1] == 0)


@pytest.mark.parametrize("name", ["PA", "PA-I"])
def test_a_separated_set_whose_rows_still_move_the_weights_goes_on(name: str) -> None:
    X, y = np.array([[-1.0, 0.2], [-0.5, -0.1], [0.5, 0.1], [1.0, -0.2]]), np.array([0, 0, 1, 1])
    learner = LINEAR[name]().set_params(shuffle=False, **PATIENT).fit(X, y)
    assert (np.where(y, 1, -1) * learner.decision_function(X)).min() >= 0.99, "every row has its margin in the end"


POCKETS: dict[str, Any] = {
    "perceptron": PocketPerceptron,
    "PA-I": lambda **options: PassiveAggressive(keep="pocket", **options),
    "linear kernel": lambda **options: KernelPerceptron(kernel="linear", keep="pocket", **options),
}
every_pocket = pytest.mark.parametrize("pocket", POCKETS.values(), ids=POCKETS)


@every_pocket
def test_a_stream_after_a_fit_without_mistakes_lets_go_of_its_pocket(pocket: Any) -> None:
    """Rows that were fitted without a mistake leave a run that no row of a noisy stream comes near."""
    rng = np.random.default_rng(1)
    X, others = rng.normal(size=(500, 5)), rng.normal(size=(500, 5))
    now = others @ [-1.0, 0.3, 0, 0, 0] + 0.3 * rng.normal(size=500) > 0
    learner = pocket().fit(X, X[:, 0] > 0)
    for _ in range(5):
        learner.partial_fit(others, now)
    assert learner.score(others, now) >= pocket().fit(others, now).score(others, now) - 0.1


def test_a_mistake_that_moves_nothing_ends_the_run() -> None:
    """A row of zeros without an intercept is mistaken, and has no direction to step along."""
    learner = PocketPerceptron(fit_intercept=False).partial_fit([[1.0], [1.0], [0.0]], [1, 1, 1], classes=[0, 1])
    assert (learner.mistakes_, learner.updates_) == (2, 1)
    assert (learner.states[0].counter("pocket_run"), learner.states[0].counter("run")) == (1, 0)


def test_the_run_of_a_challenger_that_lost_does_not_protect_the_pocket() -> None:
    """The second update has a longer run than the pocket and as many mistakes, the third a shorter run and fewer."""
    X, y = [[0.0, -2.0], [1.0, -1.0], [2.0, 1.0], [0.0, 1.0]], [-1, 1, 1, -1]
    run = textbook.learn(X, y, orders=[range(4)] * 2, fit_intercept=False)
    learner = PocketPerceptron(fit_intercept=False, shuffle=False, tol=None, max_iter=2).fit(X, y)
    assert learner.coef_.tolist() == [row[:-1] for row in run.pocket] == [[2.0, 1.0]]
