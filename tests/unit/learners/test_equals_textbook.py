"""The engine equals the textbook, mistake for mistake and weight for weight.

Small integers make every sum exact in float32 and float64, so the perceptron's weights must be equal, not close. The
passive-aggressive steps are quotients: there the weights are close, and counts are compared unless a margin lies within
rounding of the value that decides. Penalties by powers of two are exact in float64.
"""

import warnings
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from length import examples

from rosenblatt import engine, textbook
from rosenblatt.data import as_table
from rosenblatt.learners.targets import Targets
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.predictions import predict_codes
from rosenblatt.params import KEEP_NAMES, AROWParams, Penalty, PerceptronParams, Rule, RuleName, penalty_of

LAYOUTS = ("dense", "csr32", "csr64", "strided")


@dataclass
class Case:
    X: list[list[float]]
    y: list[int]  # -1/+1 with two classes, else 0..K-1
    classes: int
    orders: list[list[int]]
    weights: list[float] | None
    start: list[list[float]] | None
    fit_intercept: bool
    tie: str

    def options(self) -> dict[str, Any]:
        """What the textbook is given beside rows, labels, orders and the rule."""
        names = ("classes", "weights", "start", "fit_intercept", "tie")
        return {name: getattr(self, name) for name in names}


@st.composite
def cases(draw: st.DrawFn) -> Case:
    classes = draw(st.integers(2, 4))
    n, d = draw(st.integers(1, 9)), draw(st.integers(1, 40))
    number = st.integers(-3, 3).map(float)
    X = draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=n, max_size=n))
    label = st.sampled_from([-1, 1]) if classes == 2 else st.integers(0, classes - 1)
    y = draw(st.lists(label, min_size=n, max_size=n))
    order = st.lists(st.integers(0, n - 1), max_size=12)  # rows may be left out or come twice
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=n, max_size=n))
    rows = 1 if classes == 2 else classes
    fit_intercept = draw(st.booleans())
    start = draw(st.none() | st.lists(st.lists(number, min_size=d + 1, max_size=d + 1), min_size=rows, max_size=rows))
    if start is not None and not fit_intercept:
        start = [[*row[:-1], 0.0] for row in start]
    return Case(
        X,
        y,
        classes,
        draw(st.lists(order, min_size=1, max_size=3)),
        weights,
        start,
        fit_intercept,
        draw(st.sampled_from(["mistake", "positive"])) if classes == 2 else "mistake",
    )


def lay_out(X: list[list[float]], layout: str, dtype: str) -> Any:
    array = np.array(X, dtype=dtype)
    if layout == "strided":
        return np.hstack([array, np.full_like(array, 7)])[:, : array.shape[1]]
    if layout == "dense":
        return array
    matrix = sp.csr_array(array)
    index = np.int32 if layout == "csr32" else np.int64
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def begin(case: Case, keep: Any, dtype: str, second_order: bool) -> WeightState:
    rows, d = 1 if case.classes == 2 else case.classes, len(case.X[0])
    start = np.array(case.start) if case.start is not None else np.zeros((rows, d + 1))
    made = (AROWParams if second_order else PerceptronParams)(keep=keep, fit_intercept=case.fit_intercept)
    weights = np.ascontiguousarray(start[:, :-1], dtype=dtype)
    return WeightState.of(made, weights, start[:, -1].copy(), engine.seed_generator(0))


def run_engine(case: Case, rule: Rule, keep: Any, layout: str, dtype: str) -> tuple[WeightState, list[int]]:
    """Pass after pass as `fit` does it: rows of weight 0 left out, the pocket checked on all rows of the pass."""
    state, table = begin(case, keep, dtype, rule.name == "AROW"), as_table(lay_out(case.X, layout, dtype))
    y = np.array(case.y, dtype=np.int8 if case.classes == 2 else np.int32)
    weights = None if case.weights is None else np.array(case.weights)
    mistakes = []
    for order in case.orders:
        before = state.counter("mistakes")
        present = [i for i in order if case.weights is None or case.weights[i] != 0]
        state.learn(
            table,
            Targets(y, len(state.intercept), weights, tie_positive=case.tie == "positive"),
            rule,
            np.array(present, dtype=np.uint32),
        )
        mistakes.append(state.counter("mistakes") - before)
    return state, mistakes


def run_textbook(case: Case, rule: Rule) -> list[textbook.Step]:
    told: dict[str, Any] = {name: getattr(rule, name) for name in ("name", "eta0", "beta", "C", "r")}
    told |= {"shrink": rule.penalty.shrink, "cut": rule.penalty.cut}
    return list(textbook.steps(case.X, case.y, rule=textbook.Rule(**told), orders=case.orders, **case.options()))


def kept_by_textbook(case: Case, trace: list[textbook.Step], keep: str) -> Any:
    rows, d = 1 if case.classes == 2 else case.classes, len(case.X[0])
    W = case.start if case.start is not None else [[0.0] * (d + 1)] * rows
    if keep == "average" and trace:
        return np.mean([s.after for s in trace], axis=0)
    if keep == "tail" and trace:
        return np.array([textbook.tail_average([s.after[k] for s in trace]) for k in range(rows)])
    return np.array(trace[-1].after if trace else W)


def check_mistakes(case: Case, trace: list[textbook.Step], mistakes: list[int]) -> None:
    assert mistakes == [sum(s.mistake for s in trace if s.epoch == e) for e in range(1, len(case.orders) + 1)]


def check_answer(case: Case, trace: list[textbook.Step], state: WeightState, keep: str, **tolerance: float) -> None:
    expected, answer = kept_by_textbook(case, trace, keep), state.predictor()
    np.testing.assert_allclose(answer.weights, expected[:, :-1], **tolerance)
    np.testing.assert_allclose(answer.intercept, expected[:, -1], **tolerance)


CLOSE = {"float64": {"rtol": 1e-9, "atol": 1e-9}, "float32": {"rtol": 1e-3, "atol": 1e-4}}


def votes_by_textbook(case: Case, trace: list[textbook.Step]) -> list[list[float]]:
    """Votes of every vector that lived, on the training rows; with more classes each votes for its highest class."""
    lived: list[list[Any]] = [[trace[0].before, 0]]
    for s in trace:
        if s.update:
            lived.append([s.after, 1])
        else:
            lived[-1][1] += 1
    out = []
    for x in case.X:
        votes = [0.0] * len(lived[0][0])
        for W, c in lived:
            scores = textbook.scores_of(W, x)
            if case.classes == 2:
                votes[0] += c if scores[0] >= 0 else -c
            else:
                votes[scores.index(max(scores))] += c
        out.append([v / len(trace) for v in votes])
    return out


@examples(250)
@given(
    cases(), st.sampled_from(KEEP_NAMES), st.sampled_from(LAYOUTS), st.sampled_from(["float32", "float64"]), st.data()
)
def test_perceptron(case: Case, keep: Any, layout: str, dtype: str, data: st.DataObject) -> None:
    rule = Rule(eta0=data.draw(st.sampled_from([1.0, 0.5, 2.0])), beta=data.draw(st.sampled_from([0.0, 0.0, 1.5, 4.0])))
    state, mistakes = run_engine(case, rule, keep, layout, dtype)
    trace = run_textbook(case, rule)
    check_mistakes(case, trace, mistakes)
    assert state.counter("updates") == sum(s.update for s in trace)
    assert state.counter("seen") == len(trace)
    last = kept_by_textbook(case, trace, "last")
    np.testing.assert_array_equal(state.weights, last[:, :-1])
    np.testing.assert_array_equal(state.intercept, last[:, -1])
    if keep not in ("last", "vote", "pocket"):  # the pocket has a test of its own below
        check_answer(case, trace, state, keep, rtol=1e-12, atol=1e-12)
    if keep == "vote" and trace:
        votes = state.predictor().scores(as_table(lay_out(case.X, layout, dtype)))
        np.testing.assert_array_equal(votes, votes_by_textbook(case, trace))


def is_decided(step: textbook.Step, rounding: float) -> bool:
    """Are all comparisons of this step beyond rounding? (Weights that are still 0 make exact scores.)"""
    if not any(any(row) for row in step.before):
        return True
    scores = textbook.scores_of(step.before, step.x)
    rivals = [abs(s - scores[step.wrong]) for k, s in enumerate(scores) if k not in (step.label, step.wrong)]
    close = [abs(step.margin), abs(step.margin - 1)] + (rivals if len(scores) > 1 else [])
    return min(close) > rounding


@pytest.mark.parametrize("name", sorted({*get_args(RuleName)} - {"perceptron"}))
@examples(150)
@given(
    cases(),
    st.sampled_from([0.25, 1.0, 3.0]),
    st.sampled_from(["last", "average", "tail"]),
    st.sampled_from(LAYOUTS),
    st.sampled_from(["float32", "float64"]),
)
def test_rules_that_divide_by_the_norm(name: Any, case: Case, C: float, keep: Any, layout: str, dtype: str) -> None:
    assume((name, keep) != ("AROW", "tail"))  # which has no such keep
    rule = Rule(name, C=C, eta0=C, r=C)
    trace = run_textbook(case, rule)
    assume(all(is_decided(s, 1e-9 if dtype == "float64" else 1e-3) for s in trace))
    state, mistakes = run_engine(case, rule, keep, layout, dtype)
    check_mistakes(case, trace, mistakes)
    check_answer(case, trace, state, keep, **CLOSE[dtype])
    if name == "AROW" and trace:
        variances = np.array(trace[-1].variances_after)
        np.testing.assert_allclose(state.arrays["variances"], variances[:, :-1], **CLOSE[dtype])


EXACT_PENALTIES = [Penalty(0.5), Penalty(1.0, 0.5), Penalty(1.0, 0.125), Penalty(0.5, 0.25)]
PENALTIES = [penalty_of(kind, alpha, 0.3) for kind in ("l2", "l1", "elasticnet") for alpha in (1e-4, 0.03, 0.4)]


@examples(300)
@given(
    cases(),
    st.sampled_from(["perceptron", "PA", "PA-I", "PA-II"]),
    st.sampled_from(EXACT_PENALTIES) | st.sampled_from(PENALTIES),
    st.sampled_from(["last", "average"]),
    st.sampled_from(LAYOUTS),
    st.sampled_from(["float32", "float64"]),
)
def test_penalties(case: Case, name: Any, penalty: Penalty, keep: Any, layout: str, dtype: str) -> None:
    rule, exact = Rule(name, eta0=0.5, penalty=penalty), name == "perceptron" and penalty in EXACT_PENALTIES
    trace = run_textbook(case, rule)
    assume(exact or all(is_decided(s, 1e-9 if dtype == "float64" else 1e-3) for s in trace))
    state, mistakes = run_engine(case, rule, keep, layout, "float64" if exact else dtype)
    check_mistakes(case, trace, mistakes)
    check_answer(case, trace, state, keep, **CLOSE[dtype])
    if exact:
        assert state.counter("updates") == sum(s.update for s in trace)
        np.testing.assert_array_equal(state.settled().weights, kept_by_textbook(case, trace, "last")[:, :-1])


def test_a_penalty_that_changes_counts_from_then_on() -> None:
    case = Case([[1.0, 2.0], [3.0, -1.0]], [1, -1], 2, [[0, 1, 0]], None, None, True, "mistake")
    before, after = Rule(penalty=EXACT_PENALTIES[0]), Rule(penalty=EXACT_PENALTIES[1])
    state, _ = run_engine(case, before, "average", "csr32", "float64")
    first = run_textbook(case, before)
    case.start = first[-1].after
    second = run_textbook(case, after)
    third = textbook.steps(case.X, case.y, orders=case.orders, start=second[-1].after)
    steps = [*first, *second, *third]
    table, y_ = as_table(lay_out(case.X, "csr32", "float64")), np.array(case.y, np.int8)
    for rule in (after, Rule()):
        state.learn(table, Targets(y_, 1), rule, order=np.array([0, 1, 0], np.uint32))
    np.testing.assert_array_equal(state.weights, np.array(steps[-1].after)[:, :-1])
    mean = np.mean([s.after for s in steps], axis=0)
    np.testing.assert_allclose(state.predictor().weights, mean[:, :-1], rtol=1e-12)


@examples(150)
@given(cases(), st.sampled_from(LAYOUTS))
def test_the_pocket_and_convergence_through_fit(case: Case, layout: str) -> None:
    """`fit` without shuffling is `textbook.learn` over the rows in order: the pocket, the history, the reason."""
    from rosenblatt import PocketPerceptron

    assume(len(set(case.y)) == case.classes)
    if case.weights is not None:
        assume(len({label for label, s in zip(case.y, case.weights, strict=True) if s}) == case.classes)
    epochs, n, d = 6, len(case.X), len(case.X[0])
    run = textbook.learn(case.X, case.y, orders=[range(n)] * epochs, **case.options())
    start = np.zeros((1 if case.classes == 2 else case.classes, d + 1)) if case.start is None else np.array(case.start)
    how: Any = {"tie": case.tie, "fit_intercept": case.fit_intercept, "init": (start[:, :-1], start[:, -1])}
    learner = PocketPerceptron(max_iter=epochs, tol=None, shuffle=False, **how)
    with pytest.warns() if not run.converged else warnings.catch_warnings(action="error"):
        learner.fit(lay_out(case.X, layout, "float64"), case.y, sample_weight=case.weights)
    assert learner.converged_ == run.converged
    assert learner.history_.mistakes == run.mistakes_per_epoch
    assert learner.history_.updates == run.updates_per_epoch
    np.testing.assert_array_equal(learner.coef_, [row[:-1] for row in run.pocket])
    np.testing.assert_array_equal(learner.intercept_, [row[-1] for row in run.pocket])


@given(cases(), st.sampled_from(LAYOUTS), st.sampled_from(["float32", "float64"]))
def test_scores_and_predictions(case: Case, layout: str, dtype: str) -> None:
    state, _ = run_engine(case, Rule(), "last", layout, dtype)
    table = as_table(lay_out(case.X, layout, dtype))
    W = np.hstack([state.weights.astype(float), state.intercept[:, None]]).tolist()
    expected = [textbook.scores_of(W, x) for x in case.X]
    scores = state.predictor().scores(table)
    np.testing.assert_array_equal(scores, expected)
    codes = [int(s[0] >= 0) if len(s) == 1 else s.index(max(s)) for s in expected]
    np.testing.assert_array_equal(predict_codes(scores), codes)
