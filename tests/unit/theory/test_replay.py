"""Traces and ledgers: they tell the learners' own runs, and the proof holds in each of them."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from drawn import labeled_integers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from length import examples
from registry import LEARNERS
from scipy import sparse

import rosenblatt as rb
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.theory import certify, ledger, trace

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND = [0, 0, 0, 1]


def fitted(learner, X, y):
    return learner.fit(np.array(X, dtype=float), y)


# What a trace does not follow, and what would make sums inexact.
UNTRACED = {"penalty", "alpha", "l1_ratio", "early_stopping", "validation_fraction", "n_init", "warm_start", "eta0"}
TRACED = [
    (LEARNERS[name], params)
    for name in ("Perceptron", "AveragedPerceptron", "VotedPerceptron", "PocketPerceptron", "AROW")
    for _, params in LEARNERS[name].cases()
    if not params.keys() & UNTRACED
]
ORDERS = st.fixed_dictionaries(
    {"fit_intercept": st.booleans(), "shuffle": st.booleans(), "random_state": st.integers(0, 5)},
    optional={"max_iter": st.integers(1, 30), "tol": st.sampled_from([None, 0.0])},
)


@examples(150)
@given(labeled_integers(), st.sampled_from(TRACED), ORDERS)
def test_a_trace_is_the_learner_s_own_run(data, traced, order):
    X, y = data[0], np.array(["no", "yes"])[data[1]]
    learner = traced[0].make(**order | traced[1])
    told = trace(X, y, learner)
    run = fitted(learner, X, y)
    assert told.mistakes == run.history_.mistakes
    assert sum(step.update for step in told.steps) == run.updates_
    (state,) = run.states
    np.testing.assert_allclose(told.steps[-1].after, np.c_[state.weights, state.intercept], rtol=1e-12, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(labeled_integers(classes=3), st.integers(0, 5), st.sampled_from([rb.Perceptron, rb.AROW]))
def test_a_trace_of_three_classes_is_the_learner_s_own_run(data, seed, cls):
    X, y = data
    learner = cls(max_iter=20, random_state=seed)
    told = trace(X, y, learner)
    run = fitted(learner, X, y)
    assert told.mistakes == run.history_.mistakes
    np.testing.assert_allclose(told.steps[-1].after, np.hstack([run.coef_, run.intercept_[:, None]]), rtol=1e-9)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_a_trace_of_passive_aggressive_steps(variant):
    told = trace(SQUARE, AND, rb.PassiveAggressive(variant=variant, C=0.5, max_iter=3, shuffle=False))
    expected = rb.textbook.steps(
        SQUARE, [-1, -1, -1, 1], rule=rb.textbook.Rule(variant, C=0.5), orders=[range(4)] * told.steps[-1].epoch
    )
    assert told.steps == list(expected)


def test_the_default_is_the_perceptron_in_the_order_given():
    told = trace(sparse.csr_array(SQUARE), ["no", "no", "no", "yes"])
    run = rb.textbook.learn(SQUARE, [-1, -1, -1, 1], orders=[range(4)] * 100)
    assert told.mistakes == run.mistakes_per_epoch
    assert told.steps[-1].after == run.last
    assert told.classes == ["no", "yes"]


@pytest.mark.parametrize("labels", [AND, [0, 1, 2, 2]])
def test_the_records_of_a_trace_hold_every_number(labels):
    told = trace(SQUARE, labels)
    records = told.records()
    assert json.loads(json.dumps(records)) == records
    for record, step in zip(records, told.steps, strict=True):
        assert (record["epoch"], record["row"], record["y"]) == (step.epoch, step.row, labels[step.row])
        assert record["x"] == step.x
        assert record["margin"] == step.margin
        if len(set(labels)) == 2:
            assert [*record["w_before"], record["b_before"]] == step.before[0]
            assert [*record["w_after"], record["b_after"]] == step.after[0]
        else:
            assert [*record["w_after"][2], record["b_after"][2]] == step.after[2]
            assert record["wrong"] == step.wrong


def test_the_ledger_of_the_and_function_by_hand():
    book = ledger(SQUARE, AND, rb.Perceptron(shuffle=False, tol=None))
    first, second = book.lines[:2]
    # Row 0 first: w = (0, 0, -1). Then row 3: w = (1, 1, 0). u = (2, 2, -3)/sqrt 17, gamma = 1/sqrt 17.
    root = math.sqrt(17)
    assert (first.k, first.row, second.row) == (1, 0, 3)
    assert first.progress == pytest.approx(3 / root, rel=1e-9)
    assert second.progress == pytest.approx(4 / root, rel=1e-9)
    assert second.least_progress == pytest.approx(2 / root, rel=1e-9)
    assert (second.squared_length, second.most_squared_length) == (2, 6)
    assert second.cosine == pytest.approx(4 / root / math.sqrt(2), rel=1e-9)
    # Rows 1 and 2 have a score of 1 and are wrong.
    assert second.bracket == pytest.approx((-1 / math.sqrt(2), math.sqrt(2) / 2), rel=1e-12)
    assert book.converged
    assert len(book) == 18


@pytest.mark.slow
@examples(80)
@given(
    labeled_integers(),
    st.sampled_from([rb.Perceptron, rb.AveragedPerceptron, rb.VotedPerceptron, rb.PocketPerceptron]),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([1.0, 0.25]),
    st.sampled_from([0.0, 1.5]),
)
def test_the_proof_holds_in_every_run_of_the_perceptron_s_rule(data, cls, fit_intercept, seed, eta0, beta):
    X, y = data
    certificate = certify(X, y, fit_intercept=fit_intercept)
    assume(bool(certificate))
    learner = cls(fit_intercept=fit_intercept, random_state=seed, eta0=eta0, beta=beta, tol=None, max_iter=100_000)
    book = ledger(X, y, learner)
    assert book.holds
    assert book.converged
    assert len(book) == fitted(learner, X, y).updates_
    assert len(book) <= book.bound
    lower, upper = book.gamma_bracket
    assert lower <= certificate.gamma.upper * (1 + 1e-9)
    assert upper >= certificate.gamma.lower * (1 - 1e-9)
    assert lower > 0


@settings(max_examples=40, deadline=None)
@given(labeled_integers(classes=3), st.integers(0, 3))
def test_the_proof_holds_for_the_joint_perceptron(data, seed):
    X, y = data
    assume(bool(certify(X, y)))
    book = ledger(X, y, rb.Perceptron(random_state=seed, tol=None, max_iter=100_000))
    assert book.holds
    assert book.converged


def test_the_ledger_of_the_unit_norm_proof():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    u = np.array([2.0, -1.0, 2.0]) / 3
    X = X[np.abs(X @ u) >= 0.05]
    y = np.where(X @ u > 0, 1, -1)
    book = ledger(X, y, rb.Perceptron(fit_intercept=False, shuffle=False, tol=None), w=u)
    assert book.radius == pytest.approx(1)
    assert book.gamma >= 0.05
    assert book.bound == pytest.approx(1 / book.gamma**2)
    assert book.holds
    # The proof's last step: 1 >= cos >= gamma sqrt(k).
    assert all(1 + 1e-9 >= line.cosine >= book.gamma * math.sqrt(line.k) - 1e-9 for line in book)


def test_a_ledger_that_breaks_an_inequality_does_not_hold():
    book = ledger(SQUARE, AND)
    assert book.holds
    line = book.lines[-1]
    for forged in (
        replace(line, progress=line.least_progress * 0.999),
        replace(line, squared_length=line.most_squared_length * 1.001),
    ):
        assert not forged.holds
        assert not replace(book, lines=[*book.lines[:-1], forged]).holds
    assert not replace(book, bound=len(book) - 1).holds
    assert "AN INEQUALITY FAILS" in str(replace(book, bound=1.0))


@pytest.mark.parametrize(
    ("y", "learner", "options", "fact"),
    [
        ([0, 1, 1, 0], None, {}, "deviation_bound"),
        (AND, rb.PassiveAggressive(), {}, "passive_aggressive_bound"),
        (AND, rb.PassiveAggressiveRegression(), {}, "linear classifiers"),
        (AND, rb.Perceptron(init="random"), {}, "init"),
        (AND, rb.Perceptron(class_weight={0: 2.0, 1: 1.0}), {}, "class_weight"),
        (AND, rb.Perceptron(n_init=2), {}, "n_init=2"),
        (AND, rb.Perceptron(early_stopping=True), {}, "early_stopping"),
        ([0, 1, 2, 2], rb.Perceptron(multiclass="ovr"), {}, "ovr"),
        (AND, "perceptron", {}, "linear classifiers"),
        (AND, None, {"w": [1.0, 1.0], "b": 0.0}, "row 1"),
    ],
)
def test_where_the_theorem_says_nothing_the_ledger_says_why(y, learner, options, fact):
    with pytest.raises((ParameterError, DataError), match=fact):
        ledger(SQUARE, y, learner, **options)
