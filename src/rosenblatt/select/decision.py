"""Which learner to take, of the columns as they are, scaled or multiplied, and how it then learns from all rows.

Invariant: the same rows and seed give the same decision and the same bits, with any number of threads. Nothing here
needs scikit-learn, so that the command can choose without loading it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import as_counts, effective_rows
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.learners.epochs.run import Counters, Outcome
from rosenblatt.learners.epochs.stopping import Epoch, StoppingCriterion
from rosenblatt.learners.epochs.threads import count_threads, run_both
from rosenblatt.learners.state.arrays import KEEPS
from rosenblatt.learners.state.state import State, declare
from rosenblatt.learners.targets import targets_of, weight_rows
from rosenblatt.models.predictions import predict_codes
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import check_count
from rosenblatt.select.contest import (
    Candidate,
    Contest,
    Examples,
    Measured,
    make_candidates,
    new_contest,
)
from rosenblatt.select.folds import MOST_FOLDS, assign_folds, check_column, selection_folds
from rosenblatt.select.scaling import Scaling, find_scaling, standardize, typical_squared_norm
from rosenblatt.select.scoring import percent, score_of_share

MOST_FILLED = 0.5  # rows with a larger share of values other than 0 are dense, however they are stored
SETTLED_EPOCHS = {"last": 5, "average": 12}  # where rows are few; an average has the first weights in it for long
SETTLED_PRODUCTS = 8  # the same, for products, of which more are learned from every row
MOST_TERMS = 4096  # columns and products
MOST_WEIGHTS = 1 << 17  # of all classes, for the terms: with many classes they would take too long
MOST_VALUES = 1 << 24  # terms of all rows, 64 MB; of more rows, some are taken to decide by
HELD_VALUES = 0.25  # of these, for rows to judge by
VALUES_BESIDE = 1_000_000  # terms; below it, a thread for the products costs more than it saves
SURE = 1.0  # standard errors: products must right so many more held-out rows than they wrong
TOO_FEW_WRONG = 1  # held-out rows: products that right all of them are not sure to be better


@dataclass(frozen=True)
class Decision:
    """The candidates, the best first, what was done to the columns, and how the best one should learn."""

    ranked: list[Candidate]
    epochs: int
    scaling: Scaling | None
    products: Products | None
    examples: Examples  # all rows, as they came
    prepared: Examples  # what the candidates learned from
    contest: Contest | None
    other_scores: dict[str, float] = field(default_factory=dict)  # with products or without, whichever did worse
    paired: tuple[float, float] | None = None  # scores of the same held-out rows, without products and with them
    scoring: str | None = None  # the score that was asked for, instead of accuracy

    @property
    def best(self) -> Candidate:
        return self.ranked[0]

    @property
    def scores(self) -> dict[str, float]:
        """The held-out score of every candidate: accuracy, or what was asked for."""
        if self.contest is None:
            return {}
        suffix = "" if self.products is None else ", products"
        own = {f"{each.name}{suffix}": self._asked(each.score) for each in self.ranked}
        return own | self.other_scores

    def _asked(self, score: float) -> float:
        """A score in the units of the user's scoring."""
        return score_of_share(self.scoring, score)

    @property
    def sentence(self) -> str:
        """What was chosen, and why."""
        ways = {
            "standard": "columns standardized",
            "mean-abs": "columns of another size divided by their mean absolute value",
        }
        how = "columns as they are" if self.scaling is None else ways[self.scaling.kind]
        if self.products is not None:
            how = "columns standardized, and their products"
        chosen = f"{self.best.name}, {self.epochs} epoch{'s' if self.epochs > 1 else ''}, {how}"
        if self.contest is None:
            return f"{chosen}: too few rows to compare learners"
        by_weight = "" if self.examples.weights is None else " by weight"
        shown = percent if self.scoring is None else "{:.4f}".format
        best = shown(self._asked(self.best.score))
        judged = f"{best} of {self.best.held:,} held-out rows right{by_weight}"
        if self.scoring is not None:
            judged = f"{self.scoring} {best} on {self.best.held:,} held-out rows"
        tried = ""
        if self.paired is not None:
            without, multiplied = (shown(self._asked(score)) for score in self.paired)
            if self.products is not None:
                return f"{chosen}: {judged}, {without} without products"
            tried = f"; {multiplied} with products of columns, {without} without on the same rows"
        second, learners = self.ranked[1], len(self.ranked)
        next_best = f"(next: {second.name}, {shown(self._asked(second.score))})"
        return f"{chosen}: {judged}; none of {learners} learners did clearly better {next_best}{tried}"

    def held_right(self) -> NDArray[np.bool_]:
        """Which held-out rows the best candidate answers right."""
        assert self.contest is not None
        codes = self.prepared.labels.codes[self.prepared.held]
        right: NDArray[np.bool_] = predict_codes(self.contest.held_scores(self.best)) == codes
        return right


def choose(
    table: Table,
    labels: Labels,
    weights: NDArray[np.float64] | None,
    *,
    products: bool,
    seed: int,
    max_iter: int,
    n_jobs: int | None,
    sample_weights: NDArray[np.float64] | None = None,
    scoring: tuple[str, Measured] | None = None,
    groups: Any = None,
    time: Any = None,
) -> Decision:
    """Scale if needed, let the candidates learn side by side, rank them, and see if products of columns do better.

    All comparisons count rows by their `weights`; `sample_weights`, without those of classes, are for probabilities.
    """
    check_count("max_iter", max_iter)
    examples = Examples(table, labels, weights, [], sample_weights)
    if weights is not None and not weights.all():  # rows of weight 0 are as if absent, in the scaling too
        present = np.flatnonzero(weights).astype(np.uint32)
        groups, time = (
            None if each is None else check_column("groups and time", each, labels)[present] for each in (groups, time)
        )
        examples = examples.take(present)
        table, labels = examples.table, examples.labels
    examples = replace(examples, folds=selection_folds(labels, examples.weights, seed, groups=groups, time=time))
    terms = count_terms(table.features)

    def look() -> Decision:
        scaling = find_scaling(table)
        scaled = examples if scaling is None else replace(examples, table=scaling.apply(table))
        return _decide(examples, scaled, scaling, None, seed, max_iter, n_jobs, scoring)

    def look_again() -> Decision:
        scaling = standardize(table)
        products = Products(np.arange(table.features), scaling.center, scaling.scale)
        multiplied = replace(sample, table=products.apply(sample.table))
        return _decide(examples, multiplied, None, products, seed, max_iter, n_jobs, scoring)

    too_many = terms > MOST_TERMS or terms * weight_rows(len(labels.classes)) > MOST_WEIGHTS
    if not products or not examples.folds or too_many:
        return look()
    sample, multiplied = _sample(examples, terms), None
    if terms * table.count > VALUES_BESIDE and count_threads(n_jobs) > 1:
        plain, multiplied = run_both(look, look_again)
    else:
        plain = look()
    if scoring is None and np.count_nonzero(~plain.held_right()) <= TOO_FEW_WRONG:
        return plain
    multiplied = multiplied or look_again()
    same_rows = plain if sample is examples else _learn_sample(plain, sample, seed, max_iter, n_jobs, scoring)
    if scoring is not None:
        better = multiplied.best.clearly_above(same_rows.best)
    else:
        better = _clearly_better(multiplied.held_right(), same_rows.held_right(), multiplied.prepared.held_weights)
    paired = same_rows.best.score, multiplied.best.score
    if better:
        return replace(multiplied, other_scores=plain.scores, paired=paired)
    return replace(plain, other_scores=multiplied.scores, paired=paired)


def _learn_sample(
    plain: Decision,
    sample: Examples,
    seed: int,
    max_iter: int,
    n_jobs: int | None,
    scoring: tuple[str, Measured] | None,
) -> Decision:
    """The best candidate without products, learned from the rows that the products were learned from."""
    scaled = sample if plain.scaling is None else replace(sample, table=plain.scaling.apply(sample.table))
    counted = effective_rows(sample.held_weights, len(sample.held))
    candidate = Candidate(plain.best.params, plain.best.parameters, len(sample.held), counted)
    return _decide(sample, scaled, plain.scaling, None, seed, max_iter, n_jobs, scoring, [candidate])


def _clearly_better(later: NDArray[np.bool_], first: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> bool:
    """Does the later answer right more rows than it wrongs, by a standard error of the difference?"""
    counts = np.ones(len(first)) if weights is None else as_counts(weights)
    gained, lost = counts[later & ~first], counts[first & ~later]
    error = math.sqrt(np.square(gained).sum() + np.square(lost).sum() + 1)
    return bool(gained.sum() - lost.sum() > SURE * error)


def _decide(
    examples: Examples,
    prepared: Examples,
    scaling: Scaling | None,
    products: Products | None,
    seed: int,
    max_iter: int,
    n_jobs: int | None,
    scoring: tuple[str, Measured] | None,
    candidates: list[Candidate] | None = None,
) -> Decision:
    table = prepared.table
    name, stopping = (None, None) if scoring is None else scoring
    sparse = table.sparse and table.stored < MOST_FILLED * table.count * table.features
    q = typical_squared_norm(table) + 1.0
    if candidates is None:
        candidates = make_candidates(q, len(prepared.held), sparse=sparse, weights=prepared.held_weights)
    if products is not None:  # a second look at the same rows has to be a quick one
        candidates = candidates[:1]
    if not prepared.folds:
        return Decision(candidates, max_iter, scaling, products, examples, prepared, None)
    contest = Contest(candidates, prepared, seed, n_jobs, stopping)
    ranked = contest.rank(max_iter)
    settled = SETTLED_EPOCHS[ranked[0].params.keep] if products is None else SETTLED_PRODUCTS
    epochs = ranked[0].epochs(examples.table.count, max_iter, settled)
    return Decision(ranked, epochs, scaling, products, examples, prepared, contest, scoring=name)


def _sample(examples: Examples, terms: int) -> Examples:
    """All rows, or as many training rows and held-out rows as so many terms per row allow to hold at once."""
    if terms * examples.table.count <= MOST_VALUES:
        return examples
    by = max(1, math.ceil(len(examples.held) * terms / (HELD_VALUES * MOST_VALUES)))
    step = math.ceil(len(examples.folds[0][0]) * terms / ((1 - HELD_VALUES) * MOST_VALUES))
    folds = [(training[::step], held[::by]) for training, held in examples.folds]
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    places = [[np.searchsorted(rows, part).astype(np.uint32) for part in fold] for fold in folds]
    return replace(examples.take(rows), folds=[(first, last) for first, last in places])


def out_of_sample_scores(
    decision: Decision, *, seed: int, enough: int
) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Scores of rows by the best candidate where it had not learned from them, and which of the prepared rows.

    These are the rows that it was judged by; where they are fewer than `enough`, further parts are held out in turn.
    """
    assert decision.contest is not None
    examples = decision.prepared
    rows, scores = examples.held, decision.contest.held_scores(decision.best)
    further = min(math.ceil(enough / len(rows)), MOST_FOLDS) - len(examples.folds)
    if further < 1:
        return scores, rows
    training = examples.folds[0][0]
    every = np.sort(np.concatenate([training, rows]))
    fold_of = assign_folds(examples.labels, training, MOST_FOLDS - 1, seed)[every]
    parts = [(every[fold_of != fold], every[fold_of == fold]) for fold in range(further)]
    contest = new_contest(replace(examples, folds=parts), seed)
    for fold in range(further):
        decision.best.add_to(contest, fold)
    for _ in decision.best.curve():
        contest.shuffle()
        contest.run(list(range(further)))
    found = [contest.held_scores(fold) for fold in range(further)]
    return np.vstack([scores, *found]), np.concatenate([rows, *(held for _, held in parts)])


def learn_all(decision: Decision, seed: int) -> Outcome:
    """What the best learner's own ``fit`` with so many epochs gives, to the bit, on all rows, scaled or multiplied."""
    examples = decision.examples
    rows = np.arange(examples.table.count, dtype=np.uint32)
    if decision.prepared.table.count < examples.table.count:
        return _learn_part_by_part(decision, rows, seed)
    contest = new_contest(replace(decision.prepared, folds=[(rows, rows[:0])]), seed)
    decision.best.add_to(contest, 0)
    targets = targets_of(examples.labels, sample_weight=examples.weights)[0]
    stopping, weight = StoppingCriterion(decision.epochs, None, 1), targets.total(rows)
    while stopping.stop_reason is None:
        contest.shuffle()
        _, mistakes, updates, _, mistake_weight, finite = contest.run([0])[0].tolist()
        epoch = Epoch(int(mistakes), int(updates), mistake_weight, weight, len(rows), bool(finite))
        stopping.update(epoch, lambda: True)
    state = _state_of(contest.take_state(0), decision)
    return Outcome(state, stopping.history, stopping.stop_reason)


def _state_of(arrays: dict[str, NDArray[Any]], decision: Decision) -> State:
    """The state that a contestant hands over."""
    params, sparse = decision.best.params, decision.prepared.table.sparse
    declared = declare(params.keep, params.update_rule.traits.second_order)
    K = len(arrays["intercept"])
    for array in declared:
        if array.shape == "weights":
            flat = arrays[array.name]
            arrays[array.name] = flat.reshape(-1, K).T if sparse else flat.reshape(K, -1)
    return State(KEEPS[params.keep], declared, True, arrays)


def _learn_part_by_part(decision: Decision, rows: NDArray[np.uint32], seed: int) -> Outcome:
    """The same, where the terms of all rows are too many to hold."""
    examples, products, params = decision.examples, decision.products, decision.best.params
    assert products is not None
    targets = targets_of(examples.labels, sample_weight=examples.weights)[0]
    state = State.begin(
        np.zeros((targets.weight_rows, count_terms(len(products.columns))), np.float32),
        np.zeros(targets.weight_rows),
        keep=params.keep,
        fit_intercept=True,
        generator=engine.seed_generator(seed),
    )

    def separates() -> bool:
        parts = products.iter_terms(examples.table, rows)
        return not any(state.count_mistakes(terms, targets.take(part)) for terms, part in parts)

    stopping, weight = StoppingCriterion(decision.epochs, None, 1), targets.total(rows)
    while stopping.stop_reason is None:
        order, before = np.empty_like(rows), Counters.of(state)
        engine.draw_order(order, state.generator, rows)
        for terms, part in products.iter_terms(examples.table, order):
            state.learn(terms, targets.take(part), params.update_rule)
        stopping.update(Counters.of(state).since(before, weight, len(rows), finite=state.is_finite()), separates)
    return Outcome(state, stopping.history, stopping.stop_reason)
