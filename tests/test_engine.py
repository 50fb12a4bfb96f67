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


def stream(**changes: Any) -> engine.Stream:
    given: dict[str, Any] = {"vocabulary": {}, "codes": {"no": 0, "yes": 1}, "states": [state()], "rule": PERCEPTRON}
    options: dict[str, Any] = {"capacity": 2, "one_vs_rest": False, "tie_positive": False}
    options |= {name: value for name, value in changes.items() if name in options}
    return engine.Stream(*(given | {k: v for k, v in changes.items() if k in given}).values(), **options)


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
    return engine.sparse_rows(np.ones(2), np.array(indices, np.int32), np.array(starts, np.int32), features)


STRIDED = np.zeros(4)[::2]
READ_ONLY = np.zeros(2)
READ_ONLY.setflags(write=False)
OUTSIDE = np.array([0, 3], np.uint32)
ALMOST = np.zeros(3)
FORTRAN = np.ones((3, 2), order="F")
NONE = np.empty((0, 2))

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    # rules
    (lambda: engine.Rule("hebb"), ValueError, "rule='hebb': must be perceptron, normalized, PA, PA-I, PA-II or AROW"),
    (lambda: engine.Rule("PA", C=float("nan")), ValueError, "rule: a parameter is not a number"),
    (lambda: engine.Rule("PA", shrink=1.5), ValueError, "shrink: must be from 0 to 1"),
    (lambda: engine.Rule("PA", cut=-1.0), ValueError, "cut: must be at least 0"),
    # targets
    (lambda: targets(np.array([1, 0, 1], np.int8)), ValueError, "y: signs must be -1 or 1"),
    (lambda: targets(np.array([0, 1, 3], np.int32), 3), ValueError, "y: names a class that is not there"),
    (lambda: targets(np.array([0, 1, -1], np.int32), 3), ValueError, "y: names a class that is not there"),
    (lambda: targets(np.array([0.0, np.nan, 1.0])), ValueError, "y: numbers must be finite"),
    (lambda: targets(np.zeros(3, np.int64)), TypeError, "y: must be int8"),
    (lambda: targets(np.ones(6, np.int8)[::2]), TypeError, "incompatible"),
    (lambda: targets(SIGNS, 3), ValueError, "rows: there must be 1"),
    (lambda: targets(np.zeros(3, np.int32), 1), ValueError, "rows: there must be 1"),
    (lambda: targets(SIGNS, sample_weight=np.ones(2)), ValueError, "sample_weight: its size"),
    (lambda: targets(SIGNS, sample_weight=np.array([1, -1, 1.0])), ValueError, "sample_weight: must be finite"),
    (lambda: targets(X[:, 0].copy(), epsilon=-1.0), ValueError, "epsilon"),
    # states
    (lambda: state("best"), ValueError, "keep='best': must be last, average, tail, vote or pocket"),
    (lambda: state(weights=None), ValueError, "weights: the array is missing"),
    (lambda: state(weights=STRIDED), TypeError, "weights: must be an array of numbers without gaps"),
    (lambda: state(weights=READ_ONLY), TypeError, "weights: must be an array of numbers without gaps"),
    (lambda: state(weights=np.zeros((1, 2))), TypeError, "weights: must be an array of numbers without gaps"),
    (lambda: state(weights="abc"), TypeError, "weights: must be an array of numbers without gaps"),
    (lambda: state(weights=np.zeros(2, np.int64)), TypeError, "weights: its dtype is not float64"),
    (lambda: state(intercept=np.zeros(0)), ValueError, "intercept: there must be one"),
    (lambda: state(intercept=np.zeros(4)), ValueError, "weights: its size does not fit"),
    (lambda: state(intercept=np.zeros(1, np.float32)), TypeError, "intercept: its dtype is not float64"),
    (lambda: state(counters=np.zeros(2, np.int64)), ValueError, "counters: its size"),
    (lambda: state(mistake_weight=np.zeros(0)), ValueError, "mistake_weight: its size"),
    (lambda: state("average", sums=None), ValueError, "sums: the array is missing"),
    (lambda: state("average", intercept_sums=np.zeros(2)), ValueError, "intercept_sums: its size"),
    (lambda: state("pocket", pocket=np.zeros(2, np.float32)), TypeError, "pocket: its dtype"),
    (lambda: state("pocket", pocket_mistakes=None), ValueError, "pocket_mistakes: the array is missing"),
    (
        lambda: engine.State("last", {1: X}, fit_intercept=True, feature_major=True),
        TypeError,
        "a name must be a string",
    ),
    # passes
    (lambda: one_pass(state=state(features=3)), ValueError, "weights: their size does not fit the rows"),
    (lambda: one_pass(state=state(dtype=np.float32)), TypeError, "weights: their dtype is not that of the rows"),
    (lambda: one_pass(state=state(K=3)), ValueError, "intercept: the state has not"),
    (lambda: one_pass(order=OUTSIDE), ValueError, "order: names a row that is not there"),
    (lambda: one_pass(order=np.zeros(2, np.int64)), TypeError, "incompatible"),
    (lambda: one_pass(targets=targets(SIGNS[:2])), ValueError, "targets: its size"),
    (
        lambda: one_pass(rule=engine.Rule("AROW"), state=state(variances=None)),
        ValueError,
        "variances: the array is missing",
    ),
    (lambda: one_pass(rule=engine.Rule("AROW"), state=state("vote")), ValueError, "keep='vote': with AROW"),
    (lambda: one_pass(rule=engine.Rule("AROW", cut=0.1)), ValueError, "rule='AROW': it takes no penalty"),
    (
        lambda: one_pass(rule=engine.Rule("PA", cut=0.1), state=state("pocket")),
        ValueError,
        "keep='pocket': with a penalty",
    ),
    (
        lambda: one_pass(rule=engine.Rule("PA", cut=0.1), state=state(settled_at=None)),
        ValueError,
        "settled_at: the array is missing",
    ),
    (
        lambda: one_pass(rule=engine.Rule("PA", cut=0.1), state=state(settled_at=np.zeros(3))),
        ValueError,
        "settled_at: its",
    ),
    (
        lambda: one_pass(targets=targets(CLASSES, 3), state=state(K=3, feature_major=True)),
        ValueError,
        "weights: must lie feature after feature for sparse rows",
    ),
    (lambda: one_pass(rows=sparse(), targets=targets(SIGNS[:1]), state=None), TypeError, "incompatible"),
    (lambda: engine.run_passes([None]), TypeError, "passes: None is not a pass"),
    (lambda: engine.run_passes([one_pass()] * 2), RuntimeError, "passes: one of them is running"),
    (lambda: engine.run_passes([one_pass()], np.zeros(0, np.uint8)), ValueError, "cancel: its size"),
    (lambda: engine.run_passes([one_pass(order=OUTSIDE[:n].copy()) for n in (1, 0)]), ValueError, "the same order"),
    (lambda: engine.count_mistakes(ROWS, targets(), state(features=1)), ValueError, "weights: their size"),
    (lambda: engine.count_mistakes(ROWS, targets(), state(), order=OUTSIDE), ValueError, "order: names"),
    (lambda: engine.settle(state(settled_at=None), engine.Rule("PA", cut=0.1)), ValueError, "settled_at: the array is"),
    # rows and answers
    (lambda: engine.dense_rows(np.ones((3, 2), np.int64)), TypeError, "incompatible"),
    (lambda: engine.dense_rows(FORTRAN), ValueError, "C order"),
    (lambda: engine.dense_rows(np.ones(3)), TypeError, "incompatible"),
    (lambda: sparse(starts=[]), ValueError, "starts: must hold one entry more"),
    (lambda: sparse(indices=[0]), ValueError, "indices: there must be one for each value"),
    (lambda: sparse(features=-1), ValueError, "features: must be at least 0"),
    (
        lambda: engine.scores(sparse(starts=[0, 9]), np.zeros(2), np.zeros(1)),
        ValueError,
        "rows: their starts point outside",
    ),
    (lambda: engine.find_unusable(sparse(starts=[-5, 2])), ValueError, "rows: their starts point outside"),
    (lambda: engine.sorted_columns(sparse(indices=[0, 7])), ValueError, "starts point outside of the values"),
    (lambda: engine.sorted_columns(ROWS), TypeError, "rows: must be sparse"),
    (lambda: engine.describe_columns(engine.dense_rows(NONE)), ValueError, "rows: there must be at least one"),
    (lambda: engine.squared_norms(ROWS, 0), ValueError, "step: must be at least 1"),
    (lambda: engine.scores(ROWS, STRIDED, np.zeros(1)), TypeError, "incompatible"),
    (lambda: engine.scores(ROWS, ALMOST, np.zeros(1)), ValueError, "weights: its size"),
    (lambda: engine.scores(ROWS, np.zeros(2, np.float32), np.zeros(1)), TypeError, "weights: its dtype"),
    (lambda: engine.scores(ROWS, np.zeros(0), np.zeros(0)), ValueError, "intercept: there must be one"),
    (lambda: engine.scores(ROWS, np.zeros(2), np.zeros(1), OUTSIDE), ValueError, "order: names"),
    (lambda: votes(updates(rows=np.full(1, 3))), ValueError, "updates: one names a row"),
    (lambda: votes(updates(gains=np.full(1, 1, np.int32))), ValueError, "updates: one names a row or a class"),
    (lambda: votes(updates(loses=np.full(1, -2, np.int32))), ValueError, "updates: one names a row or a class"),
    (lambda: votes(updates(steps=np.ones(2))), ValueError, "updates: the arrays differ in length"),
    (lambda: votes(updates(rows=np.zeros(1, np.int32))), TypeError, "incompatible"),
    (lambda: votes(updates()[:4]), TypeError, "incompatible"),
    (lambda: votes(start=(ALMOST, np.zeros(1))), ValueError, "start: its size"),
    (lambda: votes(start=(np.zeros(0), np.zeros(0))), ValueError, "start: there must be an intercept"),
    (lambda: votes(support=engine.dense_rows(np.ones((1, 3)))), ValueError, "support: its features"),
    (lambda: votes(support=engine.dense_rows(X.astype(np.float32))), TypeError, "support: its dtype"),
    (
        lambda: engine.separate(ROWS, SIGNS, weights=STRIDED, intercept=np.zeros(1), fit_intercept=True, max_updates=9),
        TypeError,
        "incompatible",
    ),
    (
        lambda: engine.separate(ROWS, SIGNS, weights=ALMOST, intercept=np.zeros(1), fit_intercept=True, max_updates=9),
        ValueError,
        "weights: its size",
    ),
    (
        lambda: engine.separate(
            ROWS, SIGNS, weights=np.zeros(2), intercept=np.zeros(0), fit_intercept=True, max_updates=9
        ),
        ValueError,
        "intercept: its size",
    ),
    (
        lambda: engine.multiply_columns(
            ROWS, None, np.array([0, 5]), np.zeros(2), np.ones(2), 3.0, 1.0, np.zeros((3, 5), np.float32)
        ),
        ValueError,
        "columns: must rise",
    ),
    (
        lambda: engine.multiply_columns(
            ROWS, OUTSIDE, np.array([0, 1]), np.zeros(2), np.ones(2), 3.0, 1.0, np.zeros((2, 5), np.float32)
        ),
        ValueError,
        "order: names",
    ),
    (
        lambda: engine.multiply_columns(
            ROWS, None, np.array([0, 1]), np.zeros(2), np.ones(2), 3.0, 1.0, np.zeros((2, 5), np.float32)
        ),
        ValueError,
        "terms: its size",
    ),
    (
        lambda: engine.multiply_columns(
            ROWS, None, np.array([0, 1]), np.zeros(2), np.ones(2), -3.0, 1.0, np.zeros((3, 5), np.float32)
        ),
        ValueError,
        "limit: must be at least 0",
    ),
    # rows in columns
    (lambda: engine.column_rows([], float32=True), ValueError, "pieces: there must be at least one"),
    (lambda: engine.column_rows([[]], float32=True), ValueError, "pieces: each must have as many columns"),
    (lambda: engine.column_rows([[X[0]], [X[0], X[0]]], float32=True), ValueError, "pieces: each must have as many"),
    (lambda: engine.column_rows([[X[0], X[:, 0]]], float32=True), ValueError, "pieces: columns must have as many rows"),
    (lambda: engine.column_rows([[X[:0, 0]]], float32=True), ValueError, "pieces: columns must have as many rows"),
    (lambda: engine.column_rows([[X]], float32=True), ValueError, "pieces: a column must have one dimension"),
    (lambda: engine.column_rows([[X[0].astype(complex)]], float32=True), TypeError, "their type cannot be read"),
    (lambda: engine.gathered_rows(ROWS, np.array([3], np.uint32)), ValueError, "names a row that is not there"),
    # the generator
    (lambda: engine.shuffle(np.zeros(3, np.uint32), np.zeros(4, np.uint64)), ValueError, "must not be all zeros"),
    (lambda: engine.shuffle(np.zeros(3, np.uint32), np.ones(3, np.uint64)), ValueError, "generator: its size"),
    (lambda: engine.symmetric_uniform(-1, engine.seed_generator(1)), ValueError, "count: must be at least 0"),
    # contests
    (lambda: contest(fold=1), ValueError, "fold: there is no such fold"),
    (lambda: contest(keep="vote"), ValueError, "keep='vote': in a contest"),
    (lambda: contest(keep="best"), ValueError, "keep='best': must be"),
    (lambda: contest(rule=engine.Rule("PA", cut=0.1)), ValueError, "rule: a contest takes no penalty"),
    (lambda: contest().run([1]), ValueError, "who: there is no such contestant"),
    (lambda: contest().held_scores(-1), ValueError, "who: there is no such contestant"),
    (lambda: contest().add_fold(OUTSIDE, OUTSIDE, engine.seed_generator(1)), ValueError, "order: names"),
    # streams
    (lambda: stream(states=[None]), TypeError, "states: None is not a state"),
    (lambda: stream(states=[state(features=3)]), ValueError, "weights: their size does not fit the capacity"),
    (lambda: stream(states=[state(dtype=np.float32)]), TypeError, "weights: a stream's must be float64"),
    (lambda: stream(states=[state("vote")]), ValueError, "keep='vote': a stream's answer"),
    (lambda: stream(states=[]), ValueError, "states: there must be one"),
    (lambda: stream(states=[state()] * 2), ValueError, "states: there must be one"),
    (lambda: stream(codes={"no": 0}), ValueError, "states: there must be one"),
    (lambda: stream(codes={"no": 0, "yes": 5}), ValueError, "codes: must count the labels from 0"),
    (lambda: stream(codes={"no": 0, "yes": "1"}), ValueError, "codes: must count the labels from 0"),
    (lambda: stream(vocabulary={"a": 2}), ValueError, "vocabulary: a column must be"),
    (lambda: stream(vocabulary={"a": -1}), ValueError, "vocabulary: a column must be"),
    (lambda: stream(vocabulary={"a": 2**70}), ValueError, "vocabulary: a column must be"),
    (lambda: stream(rule=engine.Rule("PA", cut=0.1)), ValueError, "rule: a stream takes no penalty"),
    (lambda: stream().learn({"a": 1.0}, "yes", -1.0), ValueError, "weight: must be finite"),
    (lambda: stream().learn({"a": "1"}, "yes"), TypeError, "which is not a number"),
    (lambda: stream().learn([], "yes"), TypeError, "features must be a dict"),
    (lambda: stream().learn({"a": 1.0}, []), TypeError, "unhashable"),
    (lambda: stream().predict({"a": float("inf")}), ValueError, "which is not finite"),
    (lambda: engine.Stream.check({"a": 1e300}), ValueError, "too large to learn from"),
    # kernels
    (lambda: engine.Tally({}), ValueError, "counters: the array is missing"),
    (lambda: dual(targets=targets(SIGNS[:2])), ValueError, "targets: its size"),
    (lambda: dual(start=np.zeros((3, 2))), ValueError, "start: must be one score"),
    (lambda: dual(start=np.zeros((1, 3))), ValueError, "start: must be one score"),
    (lambda: dual(source=engine.matrix_source(np.zeros((3, 2)))), ValueError, "source: must pair"),
    (lambda: dual().learn(tally(), engine.Rule("AROW")), ValueError, "rule='AROW': it needs weights with variances"),
    (lambda: dual().learn(tally(), engine.Rule("PA", cut=0.1)), ValueError, "rule: a kernel takes no penalty"),
    (lambda: dual().learn(tally(), PERCEPTRON, order=OUTSIDE), ValueError, "order: names"),
    (lambda: dual().count_mistakes(OUTSIDE), ValueError, "order: names"),
    (lambda: dual().updates(1), ValueError, "first: not in the log"),
    (lambda: engine.row_source(ROWS, None, "cosine", gamma=1.0, coef0=0.0, degree=1), ValueError, "kernel: must be"),
    (
        lambda: engine.row_source(ROWS, engine.dense_rows(np.ones((1, 3))), "rbf", gamma=1.0, coef0=0.0, degree=1),
        ValueError,
        "others: the features do not fit",
    ),
    (lambda: engine.column_source(-1, lambda i: np.zeros(0), 0), ValueError, "count: must be at least 0"),
    (lambda: engine.kernel_matrix(engine.column_source(3, lambda i: np.zeros(2), 0)), ValueError, "column: its size"),
    (lambda: engine.kernel_scores(source(), np.zeros((2, 1)), np.zeros(1)), ValueError, "coefficients: must be one"),
    (lambda: walk(K=0), ValueError, "K: there must be a row of weights"),
    (lambda: walk(starts=[0, 2]), ValueError, "starts: must rise within the updates"),
    (lambda: walk(starts=[1, 0]), ValueError, "starts: must rise within the updates"),
    (lambda: walk(starts=[-1, 1]), ValueError, "starts: must rise within the updates"),
    (lambda: walk(updates(rows=np.full(1, -1))), ValueError, "updates: one names a row"),
    (lambda: on_budget(policy="remember"), ValueError, "policy: must be"),
    (lambda: on_budget(rule=engine.Rule("AROW")), ValueError, "rule='AROW'"),
    (lambda: on_budget(pool=pool(members=None)), ValueError, "members: the array is missing"),
    (lambda: on_budget(pool=pool(members=np.empty(0, np.int64))), ValueError, "ring: names a slot"),
    (lambda: on_budget(pool=pool(ring=np.array([3, 0]))), ValueError, "ring: names a slot"),
    (lambda: on_budget(pool=pool(ring=np.array([1, 0]))), ValueError, "members: one names a row"),
    (
        lambda: on_budget(pool=pool(ring=np.array([1, 0]), members=np.full(2, 3))),
        ValueError,
        "members: one names a row",
    ),
    (lambda: on_budget(pool=pool(matrix=np.zeros(3))), ValueError, "matrix: its size"),
    (lambda: on_budget(pool=pool(coefficients=np.zeros(4)[::2])), TypeError, "coefficients: must be an array"),
    (lambda: on_budget(order=OUTSIDE), ValueError, "order: names"),
]


@pytest.mark.parametrize(
    ("call", "error", "sentence"), REFUSED, ids=[f"{n}: {s}" for n, (_, _, s) in enumerate(REFUSED)]
)
def test_what_does_not_fit_is_refused(call: Callable[[], Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
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
    assert not stream().learn({"a": 1.0, "b": 2.0, "c": 3.0}, "yes")  # beyond the capacity
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
    with pytest.raises(ValueError, match="who: there is no such contestant"):
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


def test_a_feature_may_predict_but_not_learn() -> None:
    made = stream()
    with pytest.raises(RuntimeError, match="a feature of this example has called the learner"):
        made.learn({"a": Calling(lambda: made.learn({"b": 1.0}, "no"))}, "yes")
    seen: list[str] = []
    assert made.learn({"a": Calling(lambda: seen.append(made.predict({"a": 2.0})))}, "yes")
    assert made.predict({"a": Calling(lambda: seen.append(made.predict({"a": 2.0})))}) == "yes"
    assert seen == ["yes", "yes"]


class Slow(str):
    """A name whose comparisons let other threads run."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        threading.Event().wait(1e-4)
        return str.__eq__(self, other)  # type: ignore[arg-type]

    __hash__ = str.__hash__


def test_threads_predict_while_one_learns() -> None:
    size = 400
    made = stream(states=[state(features=size)], capacity=size)
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
