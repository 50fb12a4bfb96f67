"""Wrong answers that learners and the engine once gave, each as the smallest case that shows it."""

import copy
import gc
import itertools
import signal
import threading
import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from command import python
from interleave import run_all
from rejected import rejected
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt import AveragedPerceptron, KernelPerceptron, PassiveAggressive, Perceptron, engine
from rosenblatt.learners.fit import FitPlan


def noisy(seed: int, rows: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 4))
    return X, (X @ [1.0, -2.0, 0.5, 0.0] + rng.standard_normal(rows) > 0).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make", [rb.PocketPerceptron, lambda **k: rb.KernelPerceptron(keep="pocket", kernel="linear", **k)]
)
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
        learner = rb.Perceptron(random_state=seed, tol=None).fit(X, y, X_val=X_val, y_val=y_val)
        assert learner.score(X_val, y_val) == max(learner.history_.validation_score), seed


@pytest.mark.parametrize(
    "make",
    [
        rb.AveragedPerceptron,
        rb.VotedPerceptron,
        lambda **k: rb.Perceptron(beta=0.1, keep="average", **k),
        lambda **k: rb.KernelPerceptron(keep="average", gamma=0.5, **k),
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


@pytest.mark.parametrize("weight", [None, "much", -1, float("nan")])
def test_a_class_weight_that_is_not_a_weight_is_named(weight: Any) -> None:
    for call in ("fit", "partial_fit"):
        with rejected("parameter", "class_weight", "'b'"):
            getattr(rb.Perceptron(class_weight={"b": weight}), call)([[0.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize("weight", [None, "much", [1.0, 2.0], -1.0])
def test_the_weight_of_an_example_is_a_number(weight: Any) -> None:
    for learner in (rb.Perceptron(), rb.VotedPerceptron(), rb.Calibrated(rb.Perceptron())):
        with rejected("data", "weight"):
            learner.learn_one({"a": 1.0}, "x", weight)


def test_a_precomputed_kernel_takes_no_sparse_rows() -> None:
    assert rb.KernelPerceptron().__sklearn_tags__().input_tags.sparse
    assert not rb.KernelPerceptron(kernel="precomputed").__sklearn_tags__().input_tags.sparse


def test_documented_modules_are_reachable() -> None:
    """Each in a process that has loaded no other one."""
    modules = ["report", "river", "service", "datasets", "theory", "params"]
    python(f"""
import os, rosenblatt
for name in {modules}:
    child = os.fork()
    if child == 0:
        getattr(rosenblatt, name)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
""")


def test_gamma_auto_of_a_stream_follows_the_features() -> None:
    """It was that of the first example's features for ever."""
    rng = np.random.default_rng(1)
    rows = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in rng.standard_normal((40, 5))]
    stream, whole = rb.KernelPerceptron(), rb.KernelPerceptron(gamma=0.2)
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


@pytest.mark.parametrize("make", [rb.Perceptron, lambda: rb.Perceptron(multiclass="ovr"), lambda: rb.VotedPerceptron()])
def test_a_handler_of_ctrl_c_that_does_not_raise_ends_nothing(make: Any, handled: Any, monkeypatch: Any) -> None:
    X, y = np.random.default_rng(0).standard_normal((50, 3)), np.arange(50) % 3
    expected, run = make().partial_fit(X, y), rb.engine.run_passes

    def interrupted(*args: Any) -> Any:
        if not handled:
            signal.raise_signal(signal.SIGINT)
        return run(*args)

    monkeypatch.setattr(rb.engine, "run_passes", interrupted)
    learner = make().partial_fit(X, y)
    assert handled == [1]
    np.testing.assert_array_equal(learner.decision_function(X), expected.decision_function(X))
    assert learner.history_.mistakes == expected.history_.mistakes


@pytest.mark.parametrize("make", [rb.Perceptron, rb.KernelPerceptron])
def test_ctrl_c_in_the_first_partial_fit_reaches_the_caller(make: Any, monkeypatch: Any) -> None:
    def interrupt(*args: Any, **more: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(rb.engine, "seed_generator", interrupt)
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
        learner = rb.PassiveAggressiveRegression(max_iter=20, **options).fit(X, y)
        scores.append(learner.predict(X) / unit)
        assert learner.score(X, y) > 0.9
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)


@pytest.mark.parametrize("first", [None, 1e-9, 1e5])
def test_the_first_target_of_a_stream_is_no_unit(first: float | None) -> None:
    X = np.random.default_rng(0).normal(size=(3000, 3))
    y = X @ [3.0, -2.0, 1.0] + 1000.0
    if first is not None:
        y[0] = first
    whole, stream = rb.PassiveAggressiveRegression().partial_fit(X, y), rb.PassiveAggressiveRegression()
    for row, target in zip(X, y, strict=True):
        stream.learn_one(dict(enumerate(row)), target)
    paper = rb.PassiveAggressiveRegression(scale_target=False).partial_fit(X, y)
    np.testing.assert_array_equal(whole.coef_, paper.coef_)
    assert whole.score(X[1:], y[1:]) > 0.99
    far = [abs(stream.predict_one(dict(enumerate(row))) - z) for row, z in zip(X[1:99], y[1:99], strict=True)]
    assert np.mean(far) < 0.3


@pytest.mark.parametrize("make", [rb.Perceptron, rb.VotedPerceptron, rb.KernelPerceptron, rb.AROW])
def test_a_class_of_weight_0_stays_a_class(make: Any) -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    fitted, batch, batches = (make(class_weight={"c": 0.0}) for _ in range(3))
    batches.partial_fit(X[:2], y[:2]).partial_fit(X[2:], y[2:])
    for each in (fitted.fit(X, y), batch.partial_fit(X, y), batches):
        assert each.classes_.tolist() == y
    calibrated = rb.Calibrated(make(class_weight={"b": 0.0}))
    for label in "bab":
        calibrated.learn_one({"x": 1.0}, label)
    assert calibrated.predict_proba_one({"x": 1.0}) == {"a": 0.5, "b": 0.5}
    learner = make(class_weight={"b": 0.0})
    for label in ("b", "a", "b", "c"):
        learner.learn_one({"x": 1.0}, label)
    assert learner.classes_.tolist() == ["a", "b", "c"]
    assert learner.states[0].counter("seen") == 2


def test_a_reader_does_not_wait_for_a_long_partial_fit() -> None:
    X, y = np.random.default_rng(0).normal(size=(300, 5)), np.arange(300) % 2
    learner = rb.Perceptron().partial_fit(X, y)
    expected, inside = learner.predict(X).tolist(), []

    class State(type(learner.states[0])):  # type: ignore[misc]
        @classmethod
        def passes(cls, states: Any, *how: Any) -> Any:
            reader = threading.Thread(target=lambda: inside.append(learner.predict(X).tolist()))
            reader.start()
            reader.join(30)
            return super().passes(states, *how)

    learner.states[0].__class__ = State
    learner.partial_fit(X, y)
    assert inside == [expected]


def test_a_reader_that_waits_for_a_long_partial_fit_gets_the_snapshot_before_it() -> None:
    """It came while the call still checked its rows, and waited for the whole pass."""
    learner, inside = rb.Perceptron().partial_fit([[-1.0], [1.0]], ["a", "b"]), []
    reader = threading.Thread(target=lambda: inside.append(learner.predict([[2.0]]).tolist()))
    with learner.lock:
        reader.start()
        reader.join(0.1)
        learner.snapshot()
        reader.join(30)
        assert inside == [["b"]]


@pytest.mark.parametrize("make", [rb.Perceptron, rb.KernelPerceptron])
def test_a_fit_replaces_nothing_while_another_call_learns_or_saves(make: Any, monkeypatch: Any) -> None:
    X, ran, go = np.array([[-1.0], [1.0]]), threading.Event(), threading.Event()
    learner, run = make().partial_fit(X, ["a", "b"]), FitPlan.run

    def run_and_wait(plan: Any) -> Any:
        tasks = run(plan)
        ran.set()
        go.wait(30)
        return tasks

    monkeypatch.setattr(FitPlan, "run", run_and_wait)
    fit = threading.Thread(target=learner.fit, args=(X, ["c", "d"]))
    fit.start()
    ran.wait(30)
    with learner.lock:
        go.set()
        fit.join(0.1)
        assert learner.classes_.tolist() == ["a", "b"]
    fit.join()
    assert learner.classes_.tolist() == ["c", "d"]


@pytest.mark.parametrize("make", [rb.PassiveAggressive, lambda: rb.Perceptron(beta=1.0), rb.KernelPerceptron])
def test_stopping_counts_updates_with_their_weights(make: Any) -> None:
    X, y, weights = np.array([[2.0], [0.3], [-1.0], [0.1]]), [1, 1, 0, 1], [1.0, 5.0, 0.5, 2.0]
    learner, expected = make(), 0.0
    for row, label, weight in zip(X, y, weights, strict=True):
        before = (learner.mistakes_, learner.updates_) if hasattr(learner, "history_") else (0, 0)
        learner.partial_fit([row], [label], classes=[0, 1], sample_weight=[weight])
        expected += weight * ((learner.mistakes_, learner.updates_) != before)
    assert learner.states[0].mistake_weight == expected


def test_rows_of_weight_0_set_neither_the_unit_nor_the_kernel() -> None:
    X = np.random.default_rng(3).normal(size=(200, 4))
    y = X[:, 0] * 2 + 3
    far, weights = np.where(np.arange(200) < 100, y, 100 * y), np.repeat([1.0, 0.0], 100)
    some = rb.PassiveAggressiveRegression().fit(X, far, sample_weight=weights)
    assert some.target_scale_ == rb.PassiveAggressiveRegression().fit(X[:100], y[:100]).target_scale_
    wide = np.where(np.arange(200)[:, None] < 100, X, 100 * X)
    kernels = [rb.KernelPerceptron(gamma="scale").fit(wide, y > 3, sample_weight=weights)]
    kernels.append(rb.KernelPerceptron(gamma="scale").fit(X[:100], y[:100] > 3))
    assert np.array_equal(kernels[0].decision_function(X), kernels[1].decision_function(X))


@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (rb.Perceptron(penalty="l2"), 5_000_000),  # which shrinks all weights for an answer
        (rb.AveragedPerceptron(), 10_000),
        (rb.Calibrated(rb.Perceptron(), n_jobs=1), 10_000),
    ],
)
def test_an_example_costs_no_look_at_all_columns(learner: Any, most: int) -> None:
    """Each example predicted and then learned, over very many columns, of which each prediction once made a table."""
    X = sp.csr_array((np.ones(20), (np.arange(20), np.arange(20))), shape=(20, 300_000))
    learner.fit(X, np.arange(20) % 2)
    learner.learn_one({5: 1.0}, 1)  # from now on its columns have names
    learner.predict_one({5: 1.0})
    tracemalloc.start()
    try:
        for k in range(5):
            learner.predict_one({k: 1.0})
            learner.learn_one({k: 1.0}, k % 2)
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_the_first_predictions_of_dicts_have_the_bits_of_the_next() -> None:
    X = np.random.default_rng(0).normal(size=(90, 400))
    fitted = [rb.Perceptron(tol=None).fit(X[:60], np.arange(60) % classes) for classes in (2, 3)]
    for learner, row in itertools.product(fitted, X[60:]):
        fresh, example = copy.deepcopy(learner), dict(enumerate(row.tolist()))
        assert len({fresh.scores_one(example).tobytes() for _ in range(10)}) == 1


def test_learn_one_takes_one_label_first_and_in_mid_stream() -> None:
    with rejected("label", "partial_fit"):
        rb.Perceptron().learn_one({"a": 1.0}, [1, 0, 1])
    learner = rb.Perceptron().learn_one({"a": 1.0}, 1).learn_one({"a": -1.0}, 0)
    for label in ([1], {1}, np.array([1])):
        with rejected("label", "learn_one"):
            learner.learn_one({"a": 1.0}, label)
        with rejected("label", "learn_one"):
            learner.learn_many([{"a": 1.0}], [label])
    assert learner.states[0].counter("seen") == 2


def test_a_number_in_an_example_is_a_name_and_not_a_place() -> None:
    learner = rb.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["x", "y"]).learn_one({1: 1.0, 7: 1.0}, "y")
    assert learner.columns_by_name() == {0: 0, 1: 1, 7: 2}
    learner = rb.Perceptron().learn_one({5: 1.0}, "x").learn_one({3: 1.0}, "y")
    assert learner.columns_by_name() == {5: 0, 3: 1}
    assert learner.predict([[0.0, 1.0]]).tolist() == [learner.predict_one({3: 1.0})] == ["y"]


@pytest.mark.parametrize("keep", ["last", "average", "vote"])
def test_a_kernel_makes_the_same_updates_in_fit_and_in_one_call_per_epoch(keep: Any) -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = (X[:, 0] * X[:, 1] > 0.1).astype(int)
    fitted, called = (rb.KernelPerceptron(gamma=0.7, keep=keep, shuffle=False, tol=None, max_iter=3) for _ in range(2))
    fitted.fit(X, y)
    for _ in range(3):
        called.partial_fit(X, y)
    assert fitted.history_.mistakes == called.history_.mistakes
    np.testing.assert_allclose(fitted.decision_function(X), called.decision_function(X), atol=1e-12)


def test_names_of_a_stream_are_made_once_per_new_column() -> None:
    """`predict` of rows made an array of all names in each call."""
    learner = rb.Perceptron().learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    assert learner.feature_names_in_ is learner.feature_names_in_
    assert learner.learn_one({"c": 1.0}, "x").feature_names_in_.tolist() == ["a", "b", "c"]
    learner.close_stream()
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]


def test_the_warning_at_max_iter_names_what_helps() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="early_stopping=True"):
        rb.Perceptron(max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r" [1-9]\d* updates in the last epoch"):
        rb.PassiveAggressive(max_iter=2, tol=None).fit(X * 0.01 + np.where(y, 1, -1)[:, None] * 0.1, y)


def test_a_class_weight_is_applied_once_if_threads_begin_a_stream_together() -> None:
    for _ in range(30):
        learner = Perceptron(class_weight={"a": 3.0, "b": 3.0}, fit_intercept=False)
        learner.learn_one({"x": 0.0}, "a")
        again = Perceptron(class_weight={"a": 3.0, "b": 3.0}, fit_intercept=False)
        run_all(*[lambda one=again: one.learn_one({"x": 1.0}, "a")] * 4)
        again.learn_one({"x": 1.0}, "b")  # a score of 0 is a mistake: one step of 3
        assert abs(again.coef_).tolist() == [[3.0]]


def test_a_child_forked_while_another_thread_learns_can_learn() -> None:
    program = """
import os, threading
from rosenblatt import Perceptron
learner = Perceptron().learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
held, go = threading.Event(), threading.Event()
def hold():
    with learner.lock:
        held.set()
        go.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    learner.partial_fit([[1.0, 2.0]], ["x"])
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
"""
    assert python(program, PYTHONWARNINGS="ignore").stdout.split() == ["0"]


def test_predict_one_after_several_labels_per_row_is_a_row_of_predict() -> None:
    X, Y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([[1, 0], [0, 1], [1, 1]])
    for learner in (Perceptron(multiclass="ovr"), KernelPerceptron(multiclass="ovr")):
        learner.fit(X, Y)
        rows = [{0: 1.0}, {1: 1.0}, {0: 1.0, 1: 1.0}]
        assert [learner.predict_one(row) for row in rows] == learner.predict(X).tolist()
    assert Perceptron(multiclass="ovr").fit(X, Y).predict_many(rows) == Y.tolist()


def test_rbf_kernels_see_small_differences_of_large_values() -> None:
    offsets = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [0.5, 0.5]])
    y = [0, 1, 0, 1]
    near = KernelPerceptron(kernel="rbf", gamma=1.0).fit(offsets, y)
    for rows in (offsets + 1e9, sp.csr_array(offsets + 1e9)):
        far = KernelPerceptron(kernel="rbf", gamma=1.0).fit(rows, y)
        assert far.mistakes_ == near.mistakes_
        np.testing.assert_allclose(far.decision_function(rows), near.decision_function(offsets), atol=1e-6)


@pytest.mark.parametrize("policy", ["forget-oldest", "forgetron", "projectron"])
def test_a_budget_learns_rows_of_negative_length(policy: str) -> None:
    """A kernel need not be positive: here K(x, x) is -3."""
    X = np.array([[1.0], [-1.0]])
    learner = KernelPerceptron(kernel=lambda a, b: -3.0 * a @ b.T, budget=2, policy=policy, fit_intercept=False)
    learner.partial_fit(X, [0, 1])
    assert learner.updates_ > 0


def test_gamma_scale_of_sparse_rows_is_that_of_dense_ones() -> None:
    X = 1e8 + np.random.default_rng(0).normal(size=(50, 3))
    y = np.arange(50) % 2
    dense, sparse = (KernelPerceptron(gamma="scale").fit(rows, y) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(X), rtol=1e-5, atol=1e-5)


def test_the_average_of_float32_weights_stays_among_them() -> None:
    """Steps of 1e-9 are rounded away beside weights of 1, and so must their sums be."""
    X = np.array([[1.0]] * 400, np.float32)
    y = np.array([1, 0] * 200)
    weights = np.array([1.0] + [1e-9] * 399)
    learner = AveragedPerceptron(fit_intercept=False).partial_fit(X, y, sample_weight=weights)
    assert learner.coef_.item() == pytest.approx(1.0)


def test_tiny_float32_values_are_learned_in_float64() -> None:
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]])
    y = [1, 1, 0, 0]
    tiny = (X * 1e-25).astype(np.float32)
    for learner in (Perceptron(fit_intercept=False), PassiveAggressive(variant="PA", fit_intercept=False)):
        assert learner.fit(tiny, y).score(tiny, y) == 1.0
        assert learner.converged_


def test_predict_and_fit_use_as_many_threads_as_the_environment_allows() -> None:
    program = "from rosenblatt import engine\nfrom rosenblatt.learners.fit import count_threads\n"
    program += "print(engine.thread_limit(), count_threads(-1), count_threads(3))"
    for name in ("OMP_NUM_THREADS", "ROSENBLATT_THREADS"):
        assert python(program, **{name: "1"}).stdout.split() == ["1", "1", "3"]
    assert engine.thread_limit() >= 1


class Calls(str):
    """A text whose hash runs code first, while there is some."""

    code: Any = None

    def __hash__(self) -> int:
        code, Calls.code = Calls.code, None
        if code is not None:
            code()
        return str.__hash__(self)


@pytest.mark.parametrize("value", [1.0, np.float64(1.0)])
def test_a_label_that_predicts_while_it_is_compared_does_not_change_what_is_learned(value: Any) -> None:
    """The example that the label's code had predicted was learned instead."""
    learner = Perceptron().learn_many([{"a": 1.0}, {"b": 1.0}, {"other": 1.0}], ["x", "y", "x"])
    again = copy.deepcopy(learner).learn_one({"a": 1.0, "c": 1.0}, "y")

    def __hash__(self: Any) -> int:
        learner.predict_one({"other": 1.0})
        return str.__hash__(self)

    label = type("Label", (str,), {"__hash__": __hash__})("y")
    learner.learn_one({"a": value, "c": value}, label)
    np.testing.assert_array_equal(learner.coef_, again.coef_)


class Number:
    """1.0, but the n-th time that it is read it runs code first."""

    def __init__(self, n: int, code: Any) -> None:
        self.n, self.code = n, code

    def __float__(self) -> float:
        self.n -= 1
        if self.n == 0:
            self.code()
        return 1.0


@pytest.mark.parametrize("labels", ["", "a", "ab", "abc", "abcd"])
@pytest.mark.parametrize("n", range(1, 6))
def test_a_number_that_teaches_a_new_label_while_another_is_learned_loses_none(n: int, labels: str) -> None:
    learner = Perceptron()
    for label in labels:
        learner.learn_one({label: 1.0}, label)
    number = Number(n, lambda: learner.learn_one({"q": 1.0}, "q"))
    learner.learn_one({"z": number}, "z")
    taught = ["q"] if number.n <= 0 else []
    assert learner.classes_.tolist() == [*labels, *taught, "z"]
    rows = len(learner.classes_)
    assert learner.coef_.shape[0] == (rows if rows > 2 else 1)


def test_a_name_that_teaches_a_new_label_while_another_is_learned_loses_none() -> None:
    learner = Perceptron()
    for label in "abcd":
        learner.learn_one({label: 1.0}, label)
    stream = learner._fitted.stream
    features = {Calls("z"): 1.0}
    Calls.code = lambda: stream.learn_new({"q": 1.0}, "q", 1.0, 4)
    with pytest.raises(ValueError, match="label"):
        stream.learn_new(features, "z", 1.0, 4)
    assert len(stream.snapshot()[0]["intercept"]) == 5


class Overridden(dict):  # type: ignore[type-arg]
    """Says other things than it holds."""

    def __iter__(self) -> Any:
        return iter(["other"])

    def __getitem__(self, name: Any) -> float:
        return 99.0

    def keys(self) -> Any:
        return ["other"]

    def values(self) -> Any:
        return [99.0]

    def items(self) -> Any:
        return [("other", 99.0)]


@pytest.mark.parametrize("value", [2.0, np.float64(2.0)])
@pytest.mark.parametrize(
    "make",
    [Perceptron, lambda: Perceptron(hash_bits=4), lambda: Perceptron(keep="vote"), lambda: KernelPerceptron()],
)
def test_a_dict_is_read_as_it_is_stored_whatever_its_class_overrides(make: Any, value: Any) -> None:
    """The types of the values decided between the stored items and those of the class."""
    examples = [({"a": value, "b": value}, "x"), ({"b": value}, "y"), ({"a": value}, "x"), ({"b": value}, "x")]
    plain, other = make(), make()
    for features, label in examples:
        plain.learn_one(features, label)
        other.learn_one(Overridden(features), label)
    for features, _ in examples:
        expected = plain.scores_one(features)
        for learner in (other, copy.copy(other)):  # a copy has no stream yet
            np.testing.assert_array_equal(learner.scores_one(Overridden(features)), expected)


@pytest.mark.parametrize("make", [Perceptron, AveragedPerceptron, lambda: Perceptron(multiclass="ovr")])
def test_what_the_garbage_collector_calls_may_teach_the_learner_that_grows_or_is_copied(make: Any) -> None:
    """The arrays were replaced while they were copied: examples got lost, and freed memory was read."""
    learner = make().learn_many([{label: 1.0} for label in "abcd"], list("abcd"))
    stream, taught = learner._fitted.stream, [4]

    def teach(features: Any) -> None:
        learned = stream.learn(features, "a")  # another may be taught meanwhile
        taught[0] += learned

    def collected(phase: str, info: Any) -> None:
        teach({f"{taught[0]} {at}": 1.0 for at in range(stream.features)} if stream.features < 1000 else {})

    thresholds = gc.get_threshold()
    held: list[Any] = []
    try:
        gc.callbacks.append(collected)
        gc.set_threshold(1, 10**6, 10**6)  # the youngest alone, which takes no time
        for at in range(40):
            held += [{} for _ in range(100)]  # no dict is left to use again
            teach({f"new {at} {one}": 1.0 for one in range(stream.features)} if at < 8 else {})
            features = stream.features
            for arrays in stream.snapshot():
                assert len(arrays["weights"]) == features * len(arrays["intercept"])
            assert stream.seen == taught[0]
    finally:
        gc.callbacks.remove(collected)
        gc.set_threshold(*thresholds)
