"""The engine equals the textbook, mistake for mistake and weight for weight.

Small integers make every sum exact in float32 and float64, so the perceptron's weights must be equal, not close. The
passive-aggressive steps are quotients: there the weights are close, and counts are compared unless a margin lies within
rounding of the value that decides. Penalties by powers of two are exact in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
from rosenblatt.models import predict_codes
from rosenblatt.params import KEEP_NAMES, Penalty, Rule, penalty_of

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


def begin(case: Case, keep: Any, dtype: str) -> WeightState:
    rows, d = 1 if case.classes == 2 else case.classes, len(case.X[0])
    start = np.array(case.start) if case.start is not None else np.zeros((rows, d + 1))
    return WeightState.begin(
        np.ascontiguousarray(start[:, :-1], dtype=dtype),
        start[:, -1].copy(),
        keep=keep,
        fit_intercept=case.fit_intercept,
        generator=engine.seed_generator(0),
    )


def run_engine(case: Case, rule: Rule, keep: Any, layout: str, dtype: str) -> tuple[WeightState, list[int]]:
    """Pass after pass as `fit` does it: rows of weight 0 left out, the pocket checked on all rows of the pass."""
    state, table = begin(case, keep, dtype), as_table(lay_out(case.X, layout, dtype))
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
    penalty = rule.penalty
    return list(
        textbook.steps(
            case.X,
            case.y,
            rule=textbook.Rule(
                rule.name, eta0=rule.eta0, beta=rule.beta, C=rule.C, shrink=penalty.shrink, cut=penalty.cut
            ),
            orders=case.orders,
            classes=case.classes,
            fit_intercept=case.fit_intercept,
            tie=case.tie,
            weights=case.weights,
            start=case.start,
        )
    )


def kept_by_textbook(case: Case, trace: list[textbook.Step], keep: str) -> Any:
    rows, d = 1 if case.classes == 2 else case.classes, len(case.X[0])
    W = case.start if case.start is not None else [[0.0] * (d + 1)] * rows
    if keep == "average" and trace:
        return np.mean([s.after for s in trace], axis=0)
    if keep == "tail" and trace:
        return np.array([textbook.tail_average([s.after[k] for s in trace]) for k in range(rows)])
    return np.array(trace[-1].after if trace else W)


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
    by_epoch = [sum(s.mistake for s in trace if s.epoch == e) for e in range(1, len(case.orders) + 1)]
    assert mistakes == by_epoch
    assert state.counter("updates") == sum(s.update for s in trace)
    assert state.counter("seen") == len(trace)
    last = kept_by_textbook(case, trace, "last")
    np.testing.assert_array_equal(state.weights, last[:, :-1])
    np.testing.assert_array_equal(state.intercept, last[:, -1])
    if keep in ("average", "tail"):
        mean, answer = kept_by_textbook(case, trace, keep), state.predictor()
        np.testing.assert_allclose(answer.weights, mean[:, :-1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(answer.intercept, mean[:, -1], rtol=1e-12, atol=1e-12)
    if keep == "vote" and trace:
        votes = state.predictor().scores(as_table(lay_out(case.X, layout, dtype)))
        np.testing.assert_array_equal(votes, votes_by_textbook(case, trace))


def is_decided(step: textbook.Step, rounding: float) -> bool:
    """Is no comparison of this step within rounding? (Weights that are still 0 make exact scores.)"""
    if not any(any(row) for row in step.before):
        return True
    scores = textbook.scores_of(step.before, step.x)
    rivals = [abs(s - scores[step.wrong]) for k, s in enumerate(scores) if k not in (step.label, step.wrong)]
    close = [abs(step.margin), abs(step.margin - 1)] + (rivals if len(scores) > 1 else [])
    return min(close) > rounding


@examples(250)
@given(
    cases(),
    st.sampled_from(["PA", "PA-I", "PA-II", "normalized"]),
    st.sampled_from([0.25, 1.0, 3.0]),
    st.sampled_from(["last", "average", "tail"]),
    st.sampled_from(LAYOUTS),
    st.sampled_from(["float32", "float64"]),
)
def test_rules_that_divide_by_the_norm(case: Case, name: Any, C: float, keep: Any, layout: str, dtype: str) -> None:
    rule = Rule(name, C=C, eta0=C)
    trace = run_textbook(case, rule)
    assume(all(is_decided(s, 1e-9 if dtype == "float64" else 1e-3) for s in trace))
    state, mistakes = run_engine(case, rule, keep, layout, dtype)
    by_epoch = [sum(s.mistake for s in trace if s.epoch == e) for e in range(1, len(case.orders) + 1)]
    assert mistakes == by_epoch
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype == "float64" else {"rtol": 1e-3, "atol": 1e-4}
    expected, answer = kept_by_textbook(case, trace, keep), state.predictor()
    np.testing.assert_allclose(answer.weights, expected[:, :-1], **tolerance)
    np.testing.assert_allclose(answer.intercept, expected[:, -1], **tolerance)


EXACT_PENALTIES = [Penalty(0.5), Penalty(1.0, 0.5), Penalty(1.0, 0.125), Penalty(0.5, 0.25)]


@examples(200)
@given(cases(), st.sampled_from(EXACT_PENALTIES), st.sampled_from(["last", "average"]), st.sampled_from(LAYOUTS))
def test_penalties(case: Case, penalty: Penalty, keep: Any, layout: str) -> None:
    rule = Rule(eta0=0.5, penalty=penalty)
    trace = run_textbook(case, rule)
    state, mistakes = run_engine(case, rule, keep, layout, "float64")
    assert mistakes == [sum(s.mistake for s in trace if s.epoch == e) for e in range(1, len(case.orders) + 1)]
    assert state.counter("updates") == sum(s.update for s in trace)
    last = kept_by_textbook(case, trace, "last")
    np.testing.assert_array_equal(state.settled().weights, last[:, :-1])
    np.testing.assert_array_equal(state.intercept, last[:, -1])
    if keep in ("average", "tail"):
        mean, answer = kept_by_textbook(case, trace, keep), state.predictor()
        np.testing.assert_allclose(answer.weights, mean[:, :-1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(answer.intercept, mean[:, -1], rtol=1e-12, atol=1e-12)


@examples(200)
@given(
    cases(),
    st.sampled_from(["perceptron", "PA", "PA-I", "PA-II"]),
    st.sampled_from(["l2", "l1", "elasticnet"]),
    st.sampled_from([1e-4, 0.03, 0.4]),
    st.sampled_from(["last", "average"]),
    st.sampled_from(LAYOUTS),
    st.sampled_from(["float32", "float64"]),
)
def test_penalties_of_every_rule(
    case: Case, name: Any, penalty: str, alpha: float, keep: Any, layout: str, dtype: str
) -> None:
    rule = Rule(name, penalty=penalty_of(penalty, alpha, 0.3))
    trace = run_textbook(case, rule)
    assume(all(is_decided(s, 1e-9 if dtype == "float64" else 1e-3) for s in trace))
    state, mistakes = run_engine(case, rule, keep, layout, dtype)
    assert mistakes == [sum(s.mistake for s in trace if s.epoch == e) for e in range(1, len(case.orders) + 1)]
    tolerance = {"rtol": 1e-9, "atol": 1e-9} if dtype == "float64" else {"rtol": 1e-3, "atol": 1e-4}
    expected, answer = kept_by_textbook(case, trace, keep), state.predictor()
    np.testing.assert_allclose(answer.weights, expected[:, :-1], **tolerance)
    np.testing.assert_allclose(answer.intercept, expected[:, -1], **tolerance)


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
    from rosenblatt.learners import PocketPerceptron

    assume(len(set(case.y)) == case.classes)
    if case.weights is not None:
        assume(len({label for label, s in zip(case.y, case.weights, strict=True) if s}) == case.classes)
    epochs, n, d = 6, len(case.X), len(case.X[0])
    run = textbook.learn(
        case.X,
        case.y,
        orders=[range(n)] * epochs,
        classes=case.classes,
        fit_intercept=case.fit_intercept,
        tie=case.tie,
        weights=case.weights,
        start=case.start,
    )
    start = (
        np.array(case.start) if case.start is not None else np.zeros((1 if case.classes == 2 else case.classes, d + 1))
    )
    learner = PocketPerceptron(
        max_iter=epochs,
        tol=None,
        shuffle=False,
        tie=case.tie,
        fit_intercept=case.fit_intercept,
        init=(start[:, :-1], start[:, -1]),
    )
    with pytest.warns() if not run.converged else _nothing():
        learner.fit(lay_out(case.X, layout, "float64"), case.y, sample_weight=case.weights)
    assert learner.converged_ == run.converged
    assert learner.history_.mistakes == run.mistakes_per_epoch
    assert learner.history_.updates == run.updates_per_epoch
    np.testing.assert_array_equal(learner.coef_, [row[:-1] for row in run.pocket])
    np.testing.assert_array_equal(learner.intercept_, [row[-1] for row in run.pocket])


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


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
