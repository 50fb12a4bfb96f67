"""The compiled engine by itself: what it refuses, its sums, and the seam for other tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from rosenblatt import engine

X = np.array([[1.0, 2.0], [0.5, -1.0], [-2.0, 0.0]])
ROWS = engine.dense_rows(X)
SIGNS = np.array([1, -1, 1], np.int8)
CLASSES = np.array([0, 1, 2], np.int32)
PERCEPTRON = engine.Rule("perceptron")


def arrays(K: int = 1, features: int = 2, dtype: Any = np.float64, **changes: Any) -> dict[str, Any]:
    """The arrays of a state with every keep and rule; None takes one away."""
    size = K * features
    given: dict[str, Any] = {
        "weights": np.zeros(size, dtype),
        "intercept": np.zeros(K),
        "counters": np.zeros(len(engine.COUNTERS), np.int64),
        "mistake_weight": np.zeros(1),
        "sums": np.zeros(size),
        "intercept_sums": np.zeros(K),
        "pocket": np.zeros(size, dtype),
        "pocket_intercept": np.zeros(K),
        "pocket_mistakes": np.array([np.inf]),
        "variances": np.ones(size, dtype),
        "intercept_variances": np.ones(K),
        "settled_at": np.zeros(1),
        "summed_at": np.zeros(size),
        "generator": np.zeros(4, np.uint64),  # not the engine's: ignored
    }
    return {name: array for name, array in (given | changes).items() if array is not None}


def state(keep: str = "last", feature_major: bool = False, **changes: Any) -> engine.State:
    return engine.State(keep, arrays(**changes), fit_intercept=True, feature_major=feature_major)


def targets(y: NDArray[Any] = SIGNS, rows: int = 1, **changes: Any) -> engine.Targets:
    return engine.Targets(y, rows=rows, **changes)


def one_pass(**changes: Any) -> engine.Pass:
    given = {"rows": ROWS, "targets": targets(), "state": state(), "rule": PERCEPTRON, **changes}
    return engine.Pass(given.pop("rows"), given.pop("targets"), given.pop("state"), given.pop("rule"), **given)


def stream(features: int = 0, **changes: Any) -> engine.Stream:
    given: dict[str, Any] = {"arrays": [arrays(features=features)], "names": {}, "labels": ["no", "yes"]}
    given |= {"rule": PERCEPTRON, "keep": "last", "fit_intercept": True, "one_vs_rest": False, "tie_positive": False}
    given |= changes
    return engine.Stream(given.pop("arrays"), given.pop("names"), given.pop("labels"), given.pop("rule"), **given)


def source() -> engine.KernelSource:
    return engine.row_source(ROWS, None, "rbf", gamma=1.0, coef0=0.0, degree=1)


def tally() -> engine.Tally:
    return engine.Tally(arrays())


def dual(**changes: Any) -> engine.DualRun:
    given = {"source": source(), "targets": targets(), "bias": 1.0, "start": np.zeros((3, 1)), **changes}
    return engine.DualRun(given.pop("source"), given.pop("targets"), **given)


def pool(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "members": np.full(2, -1),
        "coefficients": np.zeros(2),
        "matrix": np.zeros(4),
        "ring": np.zeros(2, np.int64),
        "numbers": np.zeros(4),
    }
    return {name: array for name, array in (given | changes).items() if array is not None}


def on_budget(**changes: Any) -> None:
    given = {"rule": PERCEPTRON, "order": None, "bias": 1.0, "policy": "projectron", "pool": pool(), **changes}
    engine.learn_on_budget(source(), given.pop("before", None), targets(), tally(), given.pop("rule"), **given)


def contest(rule: Any = PERCEPTRON, keep: str = "last", fold: int = 0) -> engine.Contest:
    made = engine.Contest(ROWS, targets(), fit_intercept=True)
    everything = np.arange(3, dtype=np.uint32)
    made.add_fold(everything, everything[:1], engine.seed_generator(1))
    made.add(fold, rule, keep)
    return made


def updates(**changes: Any) -> tuple[Any, ...]:
    given: dict[str, Any] = {
        "rows": np.zeros(1, np.int64),
        "steps": np.ones(1),
        "gains": np.zeros(1, np.int32),
        "loses": np.full(1, -1, np.int32),
        "survived": np.ones(1, np.int64),
    }
    return tuple((given | changes).values())


def votes(made: Any = None, start: Any = (np.zeros(2), np.zeros(1)), support: Any = ROWS) -> Any:
    return engine.votes(ROWS, support, made or updates(), survived_last=1, start=start, fit_intercept=True)


def walk(made: Any = None, starts: Any = (0, 1), K: int = 1) -> Any:
    last = np.ones(len(starts) - 1, np.int64)
    return engine.kernel_walk(source(), made or updates(), np.array(starts, np.int64), last, K=K, bias=1.0)


def sparse(indices: Any = (0, 1), starts: Any = (0, 2), features: int = 2) -> engine.Rows:
    return engine.sparse_rows(np.ones(2), np.array(indices), np.array(starts, np.int32), features)


STRIDED = np.zeros(4)[::2]
READ_ONLY = np.zeros(2)
READ_ONLY.setflags(write=False)
OUTSIDE = np.array([0, 3], np.uint32)
ALMOST = np.zeros(3)
FORTRAN = np.ones((3, 2), order="F")
NONE = np.empty((0, 2))

# Calls that would read or write outside of an array if the engine did not check them.
REFUSED: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: engine.Rule("hebb"), ValueError),
    (lambda: engine.Rule("PA", C=float("nan")), ValueError),
    (lambda: targets(np.array([1, 0, 1], np.int8)), ValueError),
    (lambda: targets(np.array([0, 1, 3], np.int32), 3), ValueError),
    (lambda: targets(np.array([0.0, np.nan, 1.0])), ValueError),
    (lambda: targets(np.zeros(3, np.int64)), TypeError),
    (lambda: targets(SIGNS, 3), ValueError),
    (lambda: targets(SIGNS, sample_weight=np.ones(2)), ValueError),
    (lambda: targets(SIGNS, sample_weight=np.array([1, -1, 1.0])), ValueError),
    (lambda: state("best"), ValueError),
    (lambda: state(weights=None), ValueError),
    (lambda: state(weights=STRIDED), TypeError),
    (lambda: state(weights=READ_ONLY), TypeError),
    (lambda: state(weights=np.zeros(2, np.int64)), TypeError),
    (lambda: state(intercept=np.zeros(4)), ValueError),
    (lambda: state(counters=np.zeros(2, np.int64)), ValueError),
    (lambda: state("average", sums=None), ValueError),
    (lambda: state("pocket", pocket=np.zeros(2, np.float32)), TypeError),
    (lambda: one_pass(state=state(features=3)), ValueError),
    (lambda: one_pass(state=state(dtype=np.float32)), TypeError),
    (lambda: one_pass(state=state(K=3)), ValueError),
    (lambda: one_pass(order=OUTSIDE), ValueError),
    (lambda: one_pass(targets=targets(SIGNS[:2])), ValueError),
    (lambda: one_pass(rule=engine.Rule("AROW"), state=state(variances=None)), ValueError),
    (lambda: one_pass(rule=engine.Rule("AROW"), state=state("vote")), ValueError),
    (lambda: one_pass(rule=engine.Rule("PA", cut=0.1), state=state("pocket")), ValueError),
    (lambda: one_pass(rule=engine.Rule("PA", cut=0.1), state=state(settled_at=None)), ValueError),
    (lambda: one_pass(targets=targets(CLASSES, 3), state=state(K=3, feature_major=True)), ValueError),
    (lambda: engine.run_passes([None]), TypeError),
    (lambda: engine.run_passes([one_pass()] * 2), RuntimeError),
    (lambda: engine.run_passes([one_pass(order=OUTSIDE[:n].copy()) for n in (1, 0)]), ValueError),
    (lambda: engine.dense_rows(FORTRAN), ValueError),
    (lambda: engine.dense_rows(np.ones((3, 2), np.int64)), TypeError),
    (lambda: sparse(starts=[]), ValueError),
    (lambda: sparse(indices=[0]), ValueError),
    (lambda: sparse(features=2**31), ValueError),
    (lambda: engine.scores(sparse(starts=[0, 9]), np.zeros(2), np.zeros(1)), ValueError),
    (lambda: engine.sorted_columns(sparse(indices=[0, 7])), ValueError),
    (lambda: engine.find_unusable(sparse(indices=np.array([0, 2**32]))), ValueError),
    (lambda: engine.scores(ROWS, ALMOST, np.zeros(1)), ValueError),
    (lambda: engine.scores(ROWS, np.zeros(2, np.float32), np.zeros(1)), TypeError),
    (lambda: votes(updates(rows=np.full(1, 3))), ValueError),
    (lambda: votes(updates(gains=np.full(1, 1, np.int32))), ValueError),
    (lambda: votes(updates(steps=np.ones(2))), ValueError),
    (lambda: votes(support=engine.dense_rows(np.ones((1, 3)))), ValueError),
    (lambda: engine.shuffle(np.zeros(3, np.uint32), np.zeros(4, np.uint64)), ValueError),
    (lambda: contest(fold=1), ValueError),
    (lambda: contest(keep="vote"), ValueError),
    (lambda: contest().run([1]), ValueError),
    (lambda: stream(names={"a": 0}), ValueError),
    (lambda: stream(labels=["no", "perhaps", "yes"]), ValueError),
    (lambda: stream(labels=["no", "no"]), ValueError),
    (lambda: stream(arrays=[]), ValueError),
    (lambda: stream(arrays=[arrays(sums=None)], keep="average"), ValueError),
    (lambda: stream(keep="vote"), ValueError),
    (lambda: stream(hash_bits=3), ValueError),
    (lambda: stream().learn({"a": 1.0}, "yes", -1.0), ValueError),
    (lambda: stream().learn([], "yes"), TypeError),
    (lambda: stream().add_class(["no", "perhaps", "yes"], 1), ValueError),
    (lambda: dual(start=np.zeros((3, 2))), ValueError),
    (lambda: dual(source=engine.matrix_source(np.zeros((3, 2)))), ValueError),
    (lambda: dual().learn(tally(), engine.Rule("AROW")), ValueError),
    (lambda: engine.kernel_matrix(engine.column_source(3, lambda i: np.zeros(2), 0)), ValueError),
    (lambda: walk(starts=[0, 2]), ValueError),
    (lambda: on_budget(pool=pool(ring=np.array([3, 0]))), ValueError),
    (lambda: on_budget(pool=pool(ring=np.array([1, 0]), members=np.full(2, 3))), ValueError),
    (lambda: on_budget(pool=pool(matrix=np.zeros(3))), ValueError),
]


@pytest.mark.parametrize(("call", "error"), REFUSED)
def test_what_does_not_fit_raises(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_what_fits_runs() -> None:
    """The calls that the refusals change in one place each."""
    one = one_pass()
    engine.run_passes([one])
    assert [len(array) for array in one.updates()] == [0] * 5
    assert contest().run([0]).shape == (1, 6)
    assert dual().count_mistakes() == 3
    on_budget()
    assert votes().shape == (3, 1)
    assert walk()[0][0].shape == (3, 1)
    assert stream().learn({"a": 1.0, "b": 2.0}, "yes")
    assert not stream().learn({"a": 1.0}, "perhaps")
    assert stream().scores({"a": 1.0}).tolist() == [0.0]


def test_a_pass_keeps_alive_what_it_looks_into() -> None:
    given = arrays()
    weights = given["weights"]
    table = X.copy()
    one = engine.Pass(
        engine.dense_rows(table),
        engine.Targets(SIGNS.copy(), rows=1, sample_weight=np.ones(3)),
        engine.State("last", given, fit_intercept=True, feature_major=False),
        engine.Rule("PA-I", cut=1e-9),
        order=np.array([2, 1, 0], np.uint32),
    )
    given.clear()
    del table, given
    engine.run_passes([one])
    assert weights.any()


@pytest.mark.parametrize(("rule", "C"), [("PA", 1.0), ("PA-I", 0.05), ("PA-II", 0.5)])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_numbers_are_learned_by_the_same_loop(rule: str, C: float, is_sparse: bool) -> None:
    """Crammer et al. 2006, section 5, written out."""
    generator = np.random.default_rng(3)
    rows = generator.standard_normal((60, 4))
    y = rows @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.3
    epsilon, w, b, mistakes = 0.1, np.zeros(4), 0.0, 0
    for x, target in zip(rows, y, strict=True):
        away = target - (w @ x + b)
        loss, q = max(0.0, abs(away) - epsilon), x @ x + 1
        tau = {"PA": loss / q, "PA-I": min(C, loss / q), "PA-II": loss / (q + 1 / (2 * C))}[rule]
        w, b = w + np.sign(away) * tau * x, b + np.sign(away) * tau
        mistakes += loss > 0
    given = arrays(features=4)
    view = engine.dense_rows(rows)
    if is_sparse:
        columns = np.tile(np.arange(4, dtype=np.int32), 60)
        view = engine.sparse_rows(rows.ravel(), columns, np.arange(0, 241, 4, dtype=np.int32), 4)
    numbers = engine.Targets(y, rows=1, epsilon=epsilon)
    learner = engine.State("last", given, fit_intercept=True, feature_major=True)
    engine.run_passes([engine.Pass(view, numbers, learner, engine.Rule(rule, C=C))])
    np.testing.assert_allclose(given["weights"], w, rtol=1e-9)
    np.testing.assert_allclose(given["intercept"], [b], rtol=1e-9)
    assert given["counters"][engine.COUNTERS.index("mistakes")] == mistakes
    wider = epsilon + 1e-9  # the last step ends at epsilon, up to rounding
    wrong = np.abs(y - rows @ given["weights"] - given["intercept"]) > wider
    assert engine.count_mistakes(view, engine.Targets(y, rows=1, epsilon=wider), learner) == wrong.sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("classes", [3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 129])
def test_the_score_of_a_sparse_row_is_one_sum_per_class_from_left_to_right(classes: int, dtype: type) -> None:
    generator = np.random.default_rng(classes)
    lengths = [0, 1, 2, 7, 20]
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    columns = np.concatenate([np.sort(generator.permutation(30)[:n]) for n in lengths]).astype(np.int32)
    values = generator.standard_normal(starts[-1]).astype(dtype)
    weights = generator.standard_normal((30, classes)).astype(dtype)
    found = engine.scores(engine.sparse_rows(values, columns, starts, 30), weights.ravel(), np.zeros(classes))
    for row in range(len(lengths)):
        sums = np.zeros(classes, dtype)
        for at in range(starts[row], starts[row + 1]):
            sums += weights[columns[at]] * values[at]
        np.testing.assert_array_equal(found[row], sums)


def test_a_contest_tells_the_weight_of_mistakes_and_of_overflow() -> None:
    weights = np.array([1.0, 2.0, 4.0])
    made = engine.Contest(ROWS, targets(sample_weight=weights), fit_intercept=True)
    everything = np.arange(3, dtype=np.uint32)
    made.add_fold(everything, everything, engine.seed_generator(1))
    made.add(0, PERCEPTRON, "average")
    made.add(0, engine.Rule("perceptron", eta0=1e308), "last")
    for _ in range(4):
        made.shuffle()
        before, after = made.run([0, 1])
    first, second = made.take_state(0), made.take_state(1)
    assert before[5] == 1
    assert after[5] == np.isfinite(second["weights"]).all()
    assert not after[5]
    assert set(first) == {"weights", "intercept", "counters", "mistake_weight", "sums", "intercept_sums", "generator"}
    with pytest.raises(ValueError, match="who"):
        made.take_state(0)


def test_a_contestant_runs_once_at_a_time() -> None:
    made = contest()
    made.shuffle()
    with pytest.raises(RuntimeError, match="contest: another call is using it"):
        made.run([0, 0])
    assert made.run([0]).shape == (1, 6)


class Calling:
    """A number that calls back when it is read."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call

    def __float__(self) -> float:
        self.call()
        return 1.0


def test_a_number_may_change_the_dict_it_stands_in() -> None:
    features: dict[Any, Any] = {f"f{n}" * 5: float(n) for n in range(50)}
    features["first"] = Calling(features.clear)
    features.update({f"g{n}" * 5: float(n) for n in range(50)})
    engine.Stream.check(features)
    assert features == {}
    features["a"] = Calling(features.clear)
    assert stream().learn(features, "yes")
    features["a"] = Calling(features.clear)
    assert stream().predict(features) == "yes"


def test_a_feature_may_call_the_stream_that_reads_it() -> None:
    made = stream()
    seen: list[str] = []
    assert made.learn({"a": Calling(lambda: made.learn({"b": 1.0}, "no"))}, "yes")
    assert made.learned == 2
    assert made.names == {"b": 0, "a": 1}
    assert made.predict({"a": Calling(lambda: seen.append(made.predict({"a": 2.0})))}) == "yes"
    assert seen == ["yes"]
    assert not made.learn({"c": Calling(made.close)}, "no")
    assert made.learned == 2


class Slow(str):
    """A name whose comparisons let other threads run."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        threading.Event().wait(1e-4)
        return str.__eq__(self, other)  # type: ignore[arg-type]

    __hash__ = str.__hash__


def test_threads_predict_while_one_learns() -> None:
    size = 400
    made = stream()
    for n in range(20):
        made.learn({Slow(f"f{n}"): 1.0}, "yes" if n % 2 else "no")
    failures: list[BaseException] = []

    def predict() -> None:
        try:
            for _ in range(5):
                assert made.predict({Slow(f"f{n}"): 1.0 for n in range(20)}) in ("yes", "no")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=predict) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(20, size):
        made.learn({f"f{n}": 1.0}, "yes")
    for thread in threads:
        thread.join()
    assert not failures


def test_a_source_in_use_is_refused() -> None:
    held: list[engine.KernelSource] = []

    def compute(row: int) -> NDArray[np.float64]:
        with pytest.raises(RuntimeError, match="source: another call is using it"):
            engine.kernel_matrix(held[0])
        return np.full(3, float(row))

    held.append(engine.column_source(3, compute, 0))
    assert engine.kernel_matrix(held[0])[0].tolist() == [0.0, 1.0, 2.0]
    held.clear()


def test_functions_by_fixed_operations_are_as_close_as_those_of_a_library() -> None:
    numbers = np.concatenate([np.linspace(-800, 800, 4001), np.linspace(-3, 3, 4001), [0.0, -0.0, 1e-300]])
    np.testing.assert_allclose(engine.sigmoid(numbers), expit(numbers), rtol=1e-15, atol=1e-300)
    np.testing.assert_allclose(engine.softplus(numbers), np.logaddexp(0, numbers), rtol=2e-15, atol=1e-300)
    above = np.concatenate([np.exp(np.linspace(-700, 700, 4001)), np.linspace(0.5, 2, 4001), [1.0, 5e-324]])
    np.testing.assert_allclose(engine.log(above), np.log(above), rtol=2e-15, atol=4e-16)
    assert np.isnan(engine.sigmoid(np.array([np.nan]))).all()


def test_columns_of_no_rows_have_no_size() -> None:
    assert engine.largest_sizes(engine.dense_rows(NONE)).tolist() == [0.0, 0.0]
