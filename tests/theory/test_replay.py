"""Traces and ledgers: they tell the learners' own runs, and the proof holds in each of them."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from length import examples
from rosenblatt import textbook
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners import (
    AROW,
    AveragedPerceptron,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)
from rosenblatt.theory import certify, ledger, trace

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
AND = [0, 0, 0, 1]


def fitted(learner, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(np.array(X, dtype=float), y)


@st.composite
def integer_data(draw, classes=2):
    n, d = draw(st.integers(classes, 12)), draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(st.integers(-5, 5), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n).filter(lambda y: len(set(y)) == classes))
    return X, y


LEARNERS = st.one_of(
    st.builds(
        Perceptron,
        fit_intercept=st.booleans(),
        shuffle=st.booleans(),
        random_state=st.integers(0, 5),
        max_iter=st.integers(1, 30),
        tol=st.sampled_from([None, 0.0, 0.1]),
        eta0=st.sampled_from([1.0, 0.5]),
        beta=st.sampled_from([0.0, 2.0]),
        tie=st.sampled_from(["mistake", "positive"]),
        init=st.sampled_from(["zeros", "random"]),
    ),
    st.builds(VotedPerceptron, max_iter=st.integers(1, 30), random_state=st.integers(0, 5)),
    st.builds(
        AROW,
        r=st.sampled_from([0.1, 1.0]),
        fit_intercept=st.booleans(),
        max_iter=st.integers(1, 10),
        class_weight=st.sampled_from([None, {0: 2.0}, {0: 0.0}]),
    ),
    st.builds(PocketPerceptron, max_iter=st.integers(1, 30), class_weight=st.sampled_from([None, {0: 2.0}, {0: 0.0}])),
)


@examples(150)
@given(integer_data(), LEARNERS)
def test_a_trace_is_the_learner_s_own_run(data, learner):
    X, y = data
    told = trace(X, y, learner)
    run = fitted(learner, X, y)
    assert told.mistakes == run.history_.mistakes
    assert sum(step.update for step in told.steps) == run.updates_
    if isinstance(learner, Perceptron | AROW):
        np.testing.assert_allclose(told.steps[-1].after[0], [*run.coef_[0], run.intercept_[0]], rtol=1e-12, atol=1e-12)


def test_the_variances_of_arow_fall_from_1_in_every_rendering():
    told = trace([[1.0, 0.0]] * 2, [0, 1], AROW(shuffle=False, max_iter=1, fit_intercept=False))
    first, second = told.records()
    assert (first["w_variance_before"], first["w_variance_after"]) == ([1.0, 1.0], [0.5, 1.0])
    assert second["w_variance_before"] == [0.5, 1.0]
    assert first["tau"] == 0.5
    assert json.loads(told.render_jsonl().splitlines()[0])["w_variance_after"] == [0.5, 1.0]
    assert next(csv.DictReader(io.StringIO(told.render_csv())))["w_variance_after_1"] == "0.5"


def test_a_trace_of_arow_with_three_classes_is_the_learner_s_own_run():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    learner = AROW(max_iter=5)
    told, run = trace(X, y, learner), fitted(learner, X, y)
    assert told.mistakes == run.history_.mistakes
    np.testing.assert_allclose(told.steps[-1].after, np.hstack([run.coef_, run.intercept_[:, None]]), rtol=1e-10)


@settings(max_examples=50, deadline=None)
@given(integer_data(classes=3), st.integers(0, 5))
def test_a_trace_of_three_classes_is_the_learner_s_own_run(data, seed):
    X, y = data
    learner = Perceptron(max_iter=20, random_state=seed)
    told = trace(X, y, learner)
    run = fitted(learner, X, y)
    assert told.mistakes == run.history_.mistakes
    np.testing.assert_array_equal(told.steps[-1].after, np.hstack([run.coef_, run.intercept_[:, None]]))


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_a_trace_of_passive_aggressive_steps(variant):
    told = trace(SQUARE, AND, PassiveAggressive(variant=variant, C=0.5, max_iter=3, shuffle=False))
    expected = textbook.steps(
        SQUARE, [-1, -1, -1, 1], rule=textbook.Rule(variant, C=0.5), orders=[range(4)] * told.steps[-1].epoch
    )
    assert told.steps == list(expected)


def test_the_default_is_the_perceptron_in_the_order_given():
    told = trace(sparse.csr_array(SQUARE), ["no", "no", "no", "yes"])
    run = textbook.learn(SQUARE, [-1, -1, -1, 1], orders=[range(4)] * 100)
    assert told.mistakes == run.mistakes_per_epoch
    assert told.steps[-1].after == run.last
    assert told.classes == ["no", "yes"]


@pytest.mark.parametrize("labels", [AND, [0, 1, 2, 2]])
def test_a_trace_in_jsonl_and_csv_holds_every_number(labels):
    told = trace(SQUARE, labels)
    records = [json.loads(line) for line in told.render_jsonl().splitlines()]
    assert records == told.records()
    rows = list(csv.DictReader(io.StringIO(told.render_csv())))
    assert len(rows) == len(told)
    for row, record, step in zip(rows, records, told.steps, strict=True):
        assert (int(row["epoch"]), int(row["row"]), int(row["y"])) == (step.epoch, step.row + 1, labels[step.row])
        assert [float(row["x_1"]), float(row["x_2"])] == record["x"] == step.x
        assert float(row["margin"]) == step.margin
        if len(set(labels)) == 2:
            assert [*record["w_before"], record["b_before"]] == step.before[0]
            assert [float(row["w_after_1"]), float(row["w_after_2"]), float(row["b_after"])] == step.after[0]
        else:
            assert [*record["w_after"][2], record["b_after"][2]] == step.after[2]
            assert [float(row["w_after_3_1"]), float(row["w_after_3_2"]), float(row["b_after_3"])] == step.after[2]
            assert int(row["wrong"]) == step.wrong


def test_a_trace_as_a_table_says_what_it_leaves_out():
    told = trace(SQUARE, AND)
    assert len(str(told).splitlines()) == 1 + len(told)
    assert told.render_table(3).endswith(f"… {len(told) - 3} more steps")


def test_the_ledger_of_the_and_function_by_hand():
    book = ledger(SQUARE, AND, Perceptron(shuffle=False, tol=None))
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
    integer_data(),
    st.sampled_from([Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron]),
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
@given(integer_data(classes=3), st.integers(0, 3))
def test_the_proof_holds_for_the_joint_perceptron(data, seed):
    X, y = data
    assume(bool(certify(X, y)))
    book = ledger(X, y, Perceptron(random_state=seed, tol=None, max_iter=100_000))
    assert book.holds
    assert book.converged


def test_the_ledger_of_the_unit_norm_proof():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    u = np.array([2.0, -1.0, 2.0]) / 3
    X = X[np.abs(X @ u) >= 0.05]
    y = np.where(X @ u > 0, 1, -1)
    book = ledger(X, y, Perceptron(fit_intercept=False, shuffle=False, tol=None), w=u)
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
    ("y", "learner", "options", "sentence"),
    [
        ([0, 1, 1, 0], None, {}, "deviation_bound"),
        (AND, PassiveAggressive(), {}, "passive_aggressive_bound"),
        (AND, Perceptron(init="random"), {}, "init"),
        (AND, Perceptron(class_weight={0: 2.0, 1: 1.0}), {}, "class_weight"),
        (AND, Perceptron(n_init=2), {}, "n_init=2"),
        (AND, Perceptron(early_stopping=True), {}, "early_stopping"),
        ([0, 1, 2, 2], Perceptron(multiclass="ovr"), {}, "ovr"),
        (AND, "perceptron", {}, "linear learners"),
        (AND, None, {"w": [1.0, 1.0], "b": 0.0}, "row 1"),
    ],
)
def test_where_the_theorem_says_nothing_the_ledger_says_why(y, learner, options, sentence):
    with pytest.raises((ParameterError, DataError), match=sentence):
        ledger(SQUARE, y, learner, **options)


def test_bad_data_are_named():
    with pytest.raises(DataError, match="4 rows, y has 2"):
        trace(SQUARE, [0, 1])
    with pytest.raises(LabelError, match="one class only"):
        trace(SQUARE, [0, 0, 0, 0])
    with pytest.raises(DataError, match="must have two dimensions"):
        trace([1, 2], [0, 1])
