"""Known answers: by hand, by the textbook; how learning stops; weights, starts, labels, frames."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from rosenblatt import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron, textbook
from rosenblatt.learners.fit import run_threads

AND = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def test_one_update_of_a_false_negative() -> None:
    # x = [1, 2], y = 1 predicted 0, weights [0.5, 0.3], eta0 = 0.1: they become [0.6, 0.5].
    learner = Perceptron(eta0=0.1, init=([0.5, 0.3], [-2.0]))
    learner.partial_fit([[1.0, 2.0]], [1], classes=[0, 1])
    np.testing.assert_allclose(learner.coef_, [[0.6, 0.5]])
    assert learner.mistakes_ == 1


def test_and_step_by_step_with_the_step_function() -> None:
    learner = Perceptron(tie="positive", eta0=0.1)
    expected = [(-0.1, 0.0, 0.0, 1), (-0.1, 0.0, 0.0, 1), (-0.1, 0.0, 0.0, 1), (0.0, 0.1, 0.1, 2)]
    for x, label, (bias, w1, w2, mistakes) in zip(AND, [0, 0, 0, 1], expected, strict=True):
        learner.partial_fit([x], [label], classes=[0, 1])
        np.testing.assert_allclose([*learner.intercept_, *learner.coef_[0]], [bias, w1, w2], atol=1e-15)
        assert learner.mistakes_ == mistakes
    final = Perceptron(tie="positive", eta0=0.1, shuffle=False, tol=None).fit(AND, [0, 0, 0, 1])
    assert final.converged_
    assert final.predict(AND).tolist() == [0, 0, 0, 1]


def test_the_zero_start_is_a_mistake() -> None:
    learner = Perceptron(fit_intercept=False).partial_fit([[3.0, -4.0]], [1], classes=[-1, 1])
    assert learner.mistakes_ == 1
    assert learner.coef_.tolist() == [[3.0, -4.0]]
    assert learner.decision_function([[3.0, -4.0]]).tolist() == [25.0]


def test_xor_never_converges_and_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=50 with . mistakes in the last epoch"):
        learner = Perceptron(tol=None, max_iter=50).fit(AND, [0, 1, 1, 0])
    assert (learner.converged_, learner.stop_reason_, learner.n_iter_) == (False, "max_iter", 50)
    patient = Perceptron(max_iter=1000).fit(AND, [0, 1, 1, 0])
    assert (patient.converged_, patient.stop_reason_) == (False, "no_change")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_pocket_keeps_the_best_of_xor() -> None:
    """No weights that the perceptron visits from zero get more than two rows of XOR strictly right."""
    learner = PocketPerceptron(tol=None, max_iter=50).fit(AND, [0, 1, 1, 0])
    margins = np.array([-1, 1, 1, -1]) * learner.decision_function(AND)
    assert np.count_nonzero(margins <= 0) == 2
    last = Perceptron(tol=None, max_iter=50).fit(AND, [0, 1, 1, 0])
    assert np.count_nonzero(np.array([-1, 1, 1, -1]) * last.decision_function(AND) <= 0) >= 2


def test_it_converges_at_the_first_epoch_without_a_mistake() -> None:
    learner = Perceptron(tol=None, shuffle=False).fit(AND, [0, 0, 0, 1])
    run = textbook.learn(AND.tolist(), [-1, -1, -1, 1], orders=[range(4)] * 100)
    assert learner.history_.mistakes == run.mistakes_per_epoch
    assert learner.history_.mistakes[-1] == 0
    assert learner.coef_.tolist() == [run.last[0][:-1]]
    assert (learner.mistakes_, learner.updates_) == (run.mistakes, run.updates)


def test_no_change_counts_epochs_without_a_better_mistake_rate() -> None:
    learner = Perceptron(shuffle=False, n_iter_no_change=3, tol=0.0, max_iter=6).fit(AND, [0, 1, 1, 0])
    assert learner.history_.mistakes == [4, 4, 4, 4]  # the first sets the best; three, half of all, do not beat it
    assert learner.stop_reason_ == "no_change"


def test_a_margin_rule_converges_only_when_every_row_has_its_margin() -> None:
    X, y = load_iris(return_X_y=True)
    learner = Perceptron(beta=1.0).fit(X[:100], y[:100])
    assert learner.converged_
    margins = np.where(y[:100] == 1, 1, -1) * learner.decision_function(X[:100])
    assert margins.min() > 1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scale_of_the_data_does_not_matter() -> None:
    X, y = load_iris(return_X_y=True)
    small = Perceptron(fit_intercept=False).fit(X * 2.0**-20, y)
    assert small.history_.mistakes == Perceptron(fit_intercept=False).fit(X, y).history_.mistakes


def test_early_stopping_keeps_the_best_epoch() -> None:
    X, y = load_digits(return_X_y=True)
    learner = AveragedPerceptron(early_stopping=True, max_iter=40, n_iter_no_change=3).fit(X[:1000], y[:1000])
    scores = learner.history_.validation_score
    assert len(scores) == learner.n_iter_
    assert learner.stop_reason_ in ("no_change", "converged")
    own = AveragedPerceptron(max_iter=40, n_iter_no_change=3).fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    assert own.score(X[1000:], y[1000:]) == pytest.approx(max(own.history_.validation_score))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_restarts_keep_the_best() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    runs = [Perceptron(max_iter=1, tol=None, n_init=k).fit(X, y) for k in (1, 2, 4, 16)]
    wrong = [np.count_nonzero(run.predict(X) != y) for run in runs]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[-1] < wrong[0]


def test_a_row_of_weight_zero_is_absent_and_weight_two_is_a_double_step() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    weights = np.ones(100)
    weights[::7] = 0.0
    kept = weights > 0
    for keep in ("last", "average", "vote", "pocket"):
        with_zeros = Perceptron(keep=keep, tol=None).fit(X, y, sample_weight=weights)
        without = Perceptron(keep=keep, tol=None).fit(X[kept], y[kept])
        np.testing.assert_array_equal(with_zeros.decision_function(X), without.decision_function(X))
        assert with_zeros.mistakes_ == without.mistakes_
    double = Perceptron().partial_fit(X[:1], y[:1], classes=[0, 1], sample_weight=[2.0])
    np.testing.assert_array_equal(double.coef_, -2.0 * X[:1])


def test_class_weights_are_sample_weights() -> None:
    X, y = load_iris(return_X_y=True)
    by_class = Perceptron(class_weight={0: 0.5, 2: 3.0}).fit(X, y)
    by_row = Perceptron().fit(X, y, sample_weight=np.array([0.5, 1.0, 3.0])[y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = Perceptron(class_weight="balanced").fit(X[:110], y[:110])
    weights = 110 / (3 * np.bincount(y[:110]))
    np.testing.assert_array_equal(
        balanced.coef_, Perceptron().fit(X[:110], y[:110], sample_weight=weights[y[:110]]).coef_
    )


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([-1, 1, 1, -1], [-1, 1]),
        ([0, 1, 1, 0], [0, 1]),
        ([False, True, True, False], [False, True]),
        (["ham", "spam", "spam", "ham"], ["ham", "spam"]),
        ([3.0, 7.0, 7.0, 3.0], [3.0, 7.0]),
        (np.array([5, 9, 9, 5], dtype=np.uint8), [5, 9]),
        (np.array([10**15, 3, 3, 10**15]), [3, 10**15]),
    ],
)
def test_any_two_labels(labels: Any, classes: Any) -> None:
    X = [[-1.0], [1.0], [2.0], [-2.0]]
    learner = Perceptron(tol=None).fit(X, labels)
    assert learner.classes_.tolist() == classes
    assert learner.predict(X).tolist() == list(labels)
    assert learner.predict([[0.0]]).tolist() == [classes[1] if learner.intercept_[0] >= 0 else classes[0]]


def test_frames_keep_their_column_names() -> None:
    pd, pl, pa = pytest.importorskip("pandas"), pytest.importorskip("polars"), pytest.importorskip("pyarrow")
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
    random = Perceptron(init="random", max_iter=1, tol=None)
    with pytest.warns(ConvergenceWarning):
        random.fit(X, y)
    given = Perceptron(tol=None, init=(np.array([0.0, 0.0, 9.0, 9.0]), -30.0), shuffle=False).fit(X[:100], y[:100])
    assert given.mistakes_ < Perceptron(tol=None, shuffle=False).fit(X[:100], y[:100]).mistakes_
    as_sklearn = Perceptron(tol=None, shuffle=False).fit(
        X[:100], y[:100], coef_init=np.array([[0.0, 0.0, 9.0, 9.0]]), intercept_init=np.array([-30.0])
    )
    np.testing.assert_array_equal(as_sklearn.coef_, given.coef_)


def test_large_counters_do_not_stop() -> None:
    """Sums are float64 and counters int64: the mean of a million examples is exact."""
    learner = AveragedPerceptron(fit_intercept=False)
    X = np.ones((1_000_000, 1), np.float32)
    learner.partial_fit(X, np.ones(1_000_000, int), classes=[0, 1])
    assert learner.coef_.tolist() == [[1.0]]
    assert learner.learned.states[0].counter("seen") == 1_000_000


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param("Perceptron()", marks=pytest.mark.slow),
        pytest.param("VotedPerceptron()", marks=pytest.mark.slow),
        "PassiveAggressive(multiclass='ovr', n_jobs=2)",
    ],
)
def test_ctrl_c_stops_learning(learner: str) -> None:
    script = f"""
import numpy as np
from rosenblatt import *
rng = np.random.default_rng(0)
X, y = rng.standard_normal((50_000, 100)), rng.integers(0, 3, 50_000)
print("ready", flush=True)
{learner}.set_params(max_iter=1_000_000, tol=None).fit(X, y)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "ready"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors


def test_ctrl_c_while_threads_begin_stops_those_that_run() -> None:
    def work(cancel: Any) -> None:
        while not cancel[0]:
            time.sleep(0.001)

    class Interrupted(list[Any]):
        def __iter__(self) -> Any:
            yield self[0]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_threads(Interrupted([work, work]), 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_verbose_shows_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_iris(return_X_y=True)
    Perceptron(verbose=1, max_iter=3, tol=None).fit(X, y)
    shown = capsys.readouterr().err
    assert "mistakes" in shown
    assert "3/3" in shown


def test_vote_and_average_agree_with_the_textbook_on_real_rows() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[50:] - 4.0, np.where(y[50:] == 1, -1, 1)
    rows = X.tolist()
    lived = textbook.voted_perceptron([[*x, 1.0] for x in rows], y.tolist(), T=2)
    expected = [textbook.vote(lived, [*x, 1.0]) for x in rows]
    with pytest.warns(ConvergenceWarning):
        learner = VotedPerceptron(max_iter=2, tol=None, shuffle=False).fit(X, y)
    votes = learner.decision_function(X) * learner.learned.states[0].counter("seen")
    np.testing.assert_allclose(votes, expected)
