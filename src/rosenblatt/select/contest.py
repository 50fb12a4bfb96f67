"""Which learner to take: candidates side by side, judged by rows held out, the weaker ones leaving early.

Invariant: all candidates meet the same rows in the same orders; the number of threads changes nothing. Nothing here
needs scikit-learn, so that the command can choose without loading it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.learners.classes import weight_rows
from rosenblatt.learners.epochs import Outcome
from rosenblatt.learners.history import History
from rosenblatt.learners.progress import count_threads, run_both, run_threads
from rosenblatt.learners.rules import Rule
from rosenblatt.learners.start import check_count
from rosenblatt.learners.state import State
from rosenblatt.learners.validation import hold_out
from rosenblatt.models.linear import predict_codes
from rosenblatt.models.quadratic import Products, count_terms
from rosenblatt.select.folds import assign_folds
from rosenblatt.select.products import can_multiply, find_products
from rosenblatt.select.scaling import Scaling, find_scaling, typical_squared_norm
from rosenblatt.select.together import VALUES_A_THREAD

Fold = tuple[NDArray[np.uint32], NDArray[np.uint32]]  # rows to learn from, rows to judge by

MOST_FOLDS = 5
ROWS_IN_FOLDS = 500  # few rows are judged by several folds, since a single held-out part would be too small
FEWEST_ROWS = 5
HELD_OUT = 0.2
MOST_HELD_OUT = 10_000
MOST_EPOCHS = 100
ROUNDS = ((1, 2), (3, 1))  # after so many epochs in all, so many candidates go on
FIRST_LOOK = 4  # then 8, 16 ...: learning goes on while twice the epochs bring a standard error
SETTLED = 40_000  # rows to go over at least, in at most so many epochs: few steps have not settled yet
SETTLED_EPOCHS = {"last": 5, "average": 12}  # an average has the first weights in it for long
MOST_FILLED = 0.5  # rows with a larger share of values other than 0 are dense, however they are stored
VALUES_BESIDE = 500_000  # terms of all rows; below it, a thread for the products costs more than it saves
SURE = 1.0  # standard errors: products must right so many more held-out rows than they wrong
TOO_FEW_WRONG = 1  # held-out rows: products that right all of them are not sure to be better
EDGE = 100.0  # a later candidate must answer EDGE·p·(1-p) more held-out rows right, where p is its accuracy


@dataclass
class Candidate:
    """A learner, by its name and parameters, and how it did: the held-out accuracy of every epoch, fold by fold."""

    kind: Literal["AROW", "PassiveAggressive"]
    parameters: dict[str, Any]
    rule: Rule
    keep: Literal["last", "average"]
    held: int  # rows to judge by
    courses: list[int] = field(default_factory=list)  # its contestants, one a fold
    scores: list[list[float]] = field(default_factory=list)
    over: list[bool] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The learner as it is written in Python."""
        given = (f"{k}={v:g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in self.parameters.items())
        return f"{self.kind}({', '.join(given)})"

    def enter(self, contest: engine.Contest, first: int, folds: int) -> None:
        """Take part, in every fold."""
        self.courses = list(range(first, first + folds))
        self.scores, self.over = [[] for _ in range(folds)], [False] * folds
        for fold in range(folds):
            self.add_to(contest, fold)

    def add_to(self, contest: engine.Contest, fold: int) -> None:
        """Take part in one fold."""
        rule = self.rule
        average = self.keep == "average"
        contest.add(fold, rule=rule.name, eta0=rule.eta0, beta=rule.beta, C=rule.C, r=rule.r, average=average)

    def note(self, course: int, accuracy: float, separates: bool, most: int) -> None:
        """An epoch of one fold went so; is learning over there?"""
        fold = course - self.courses[0]
        scores = self.scores[fold]
        scores.append(accuracy)
        done = len(scores)
        all_right = done >= ROUNDS[-1][0] and max(scores) == 1.0
        looks = done >= FIRST_LOOK and done & (done - 1) == 0
        rises = not looks or accuracy > scores[done // 2 - 1] + self._error(accuracy)
        self.over[fold] = separates or all_right or not rises or done >= most

    def curve(self) -> list[float]:
        """The mean accuracy after each epoch; a fold that ended earlier keeps its last score."""
        if len(self.scores) == 1:
            return self.scores[0]
        longest = max(map(len, self.scores))
        return [sum(each[min(k, len(each) - 1)] for each in self.scores) / len(self.scores) for k in range(longest)]

    @property
    def score(self) -> float:
        return max(self.curve())

    def epochs(self, rows: int, most: int) -> int:
        """The last epoch within a standard error of the best one; more of them where there are few rows."""
        curve = self.curve()
        floor = max(curve) - self._error(max(curve))
        chosen = max(k for k, score in enumerate(curve, start=1) if score >= floor)
        return min(most, max(chosen, min(SETTLED_EPOCHS[self.keep], SETTLED // rows)))

    @property
    def floor(self) -> float:
        """The score from which on an earlier candidate is taken: a few rows more or less prove nothing."""
        score = self.score
        return score - EDGE * self._error(score) ** 2

    def _error(self, score: float) -> float:
        """The standard error of a score, as if one more row were right and one wrong, so that it is never 0."""
        share = (score * self.held + 1.0) / (self.held + 2.0)
        return math.sqrt(share * (1.0 - share) / self.held)


def make_candidates(q: float, held: int, *, sparse: bool) -> list[Candidate]:
    """The family, its steps set by ``q``, the median of ``‖x‖² + 1``; the first is taken unless another is better."""

    def passive_aggressive(share: float) -> Candidate:
        C = float(f"{share / q:.2g}")
        return Candidate("PassiveAggressive", {"C": C, "keep": "average"}, Rule("PA-I", C=C), "average", held)

    def arow(share: float) -> Candidate:
        r = float(f"{share * q:.2g}")
        return Candidate("AROW", {"r": r}, Rule("AROW", r=r), "last", held)

    if sparse:  # rare features still learn where frequent ones have settled
        return [arow(0.5), passive_aggressive(10.0), arow(0.05), passive_aggressive(1.0)]
    return [passive_aggressive(1.0), passive_aggressive(10.0), arow(0.05), arow(0.5)]


def make_folds(labels: Labels, weights: NDArray[np.float64] | None, seed: int) -> list[Fold]:
    """Rows to learn from and rows to judge by: one held-out part, or folds of few rows; none where too few."""
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    if weights is not None:
        rows = rows[weights > 0]
    counts = np.bincount(labels.codes[rows], minlength=len(labels.classes))
    if counts.min() < 2 or len(rows) < FEWEST_ROWS:
        return []
    folds = min(MOST_FOLDS, ROWS_IN_FOLDS // len(rows))
    if folds < 2:
        generator = engine.seed_generator(seed, 2**63)
        return [hold_out(labels, rows, min(HELD_OUT, MOST_HELD_OUT / len(rows)), generator)]
    fold_of = assign_folds(labels, rows, folds, seed)[rows]
    parts = [(rows[fold_of != fold], rows[fold_of == fold]) for fold in range(folds)]
    return [(training, held) for training, held in parts if len(held)]


class Contest:
    """Candidates on their way through the epochs."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        table: Table,
        labels: Labels,
        weights: NDArray[np.float64] | None,
        folds: Sequence[Fold],
        seed: int,
        n_jobs: int | None,
    ) -> None:
        self.candidates = list(candidates)
        self._contest = new_contest(table, labels, weights, folds, seed)
        for place, candidate in enumerate(candidates):
            candidate.enter(self._contest, place * len(folds), len(folds))
        enough = table.stored // VALUES_A_THREAD
        self._threads = min(count_threads(n_jobs), enough) if enough > 1 else 1

    def rank(self, max_iter: int) -> list[Candidate]:
        """The candidates by their held-out accuracy, the best first."""
        left, done = self.candidates, 0
        for epochs, go_on in ROUNDS:
            self._run(left, min(epochs, max_iter) - done, max_iter)
            left, done = _best(left)[:go_on], min(epochs, max_iter)
        self._run(left, max_iter - done, max_iter)
        return [left[0], *(each for each in _best(self.candidates) if each is not left[0])]

    def held_scores(self, candidate: Candidate) -> NDArray[np.float64]:
        """The candidate's scores of the held-out rows, fold after fold."""
        return np.vstack([self._contest.held_scores(course) for course in candidate.courses])

    def _run(self, left: list[Candidate], epochs: int, most: int) -> None:
        for _ in range(epochs):
            owners = [(c, each) for each in left for c, over in zip(each.courses, each.over, strict=True) if not over]
            if not owners:
                return
            self._contest.shuffle()
            found = self._run_epoch([course for course, _ in owners])
            for (course, candidate), (accuracy, _, _, separates) in zip(owners, found, strict=True):
                candidate.note(course, accuracy, bool(separates), most)

    def _run_epoch(self, courses: list[int]) -> list[list[float]]:
        threads = min(self._threads, len(courses))
        if threads == 1:
            alone: list[list[float]] = self._contest.run(courses).tolist()
            return alone
        parts = [courses[at::threads] for at in range(threads)]
        found = run_threads([partial(self._contest.run, part) for part in parts], threads)
        by_course = dict(zip(chain(*parts), chain(*(rows.tolist() for rows in found)), strict=True))
        return [by_course[course] for course in courses]


@dataclass(frozen=True)
class Decision:
    """The candidates, the best first, what was done to the columns, and how the best one should learn."""

    ranked: list[Candidate]
    epochs: int
    scaling: Scaling | None
    products: Products | None
    prepared: Table
    folds: list[Fold]  # none: there were too few rows to compare by
    contest: Contest | None
    without: Decision | None = None  # where products were taken, what would have been without

    @property
    def best(self) -> Candidate:
        return self.ranked[0]

    @property
    def scores(self) -> dict[str, float]:
        """The held-out accuracy of every candidate."""
        if not self.folds:
            return {}
        if self.without is None:
            return {each.name: each.score for each in self.ranked}
        return self.without.scores | {f"{each.name}, products": each.score for each in self.ranked}

    @property
    def sentence(self) -> str:
        """What was chosen, and why."""
        ways = {"standard": "columns standardised", "max-abs": "columns divided by their largest value"}
        how = "columns as they are" if self.scaling is None else ways[self.scaling.kind]
        if self.products is not None:
            how = "columns standardised, and their products"
        chosen = f"{self.best.name}, {self.epochs} epoch{'s' if self.epochs > 1 else ''}, {how}"
        if not self.folds:
            return f"{chosen}: too few rows to compare learners"
        best = self.best
        right = f"{chosen}: {100 * best.score:.2f} % of {best.held:,} held-out rows right"
        if self.without is not None:
            return f"{right}, {100 * self.without.best.score:.2f} % without products"
        second = self.ranked[1]
        return (
            f"{right}; none of {len(self.ranked)} learners did clearly better "
            f"(next: {second.name}, {100 * second.score:.2f} %)"
        )

    def held_right(self, labels: Labels) -> NDArray[np.bool_]:
        """Which held-out rows the best candidate answers right."""
        assert self.contest is not None
        rows = np.concatenate([held for _, held in self.folds])
        right: NDArray[np.bool_] = predict_codes(self.contest.held_scores(self.best)) == labels.codes[rows]
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
) -> Decision:
    """Scale if needed, let the candidates learn side by side, rank them, and see if products of columns do better."""
    check_count("max_iter", max_iter)
    folds = make_folds(labels, weights, seed)
    decide = partial(_decide, table, labels, weights, folds, seed, max_iter, n_jobs)
    if not products or not folds or not can_multiply(table):
        return decide(find_scaling(table), None)
    look = partial(decide, find_scaling(table), None)
    look_again = partial(decide, None, find_products(table))
    multiplied: Decision | None = None
    if count_terms(table.features) * table.count > VALUES_BESIDE and count_threads(n_jobs) > 1:
        plain, multiplied = run_both(look, look_again)
    else:
        plain = look()
    right = plain.held_right(labels)
    if np.count_nonzero(~right) <= TOO_FEW_WRONG:
        return plain
    multiplied = multiplied or look_again()
    right_too = multiplied.held_right(labels)
    gained, lost = np.count_nonzero(right_too & ~right), np.count_nonzero(right & ~right_too)
    if gained - lost <= SURE * math.sqrt(gained + lost + 1):
        return plain
    return replace(multiplied, without=plain)


def _decide(
    table: Table,
    labels: Labels,
    weights: NDArray[np.float64] | None,
    folds: list[Fold],
    seed: int,
    max_iter: int,
    n_jobs: int | None,
    scaling: Scaling | None,
    products: Products | None,
) -> Decision:
    change = products or scaling
    prepared = table if change is None else change.apply(table)
    held = sum(len(rows) for _, rows in folds)
    sparse = prepared.sparse and table.stored < MOST_FILLED * table.count * table.features
    candidates = make_candidates(typical_squared_norm(prepared) + 1.0, held, sparse=sparse)
    if products is not None:  # a second look at the same rows has to be a quick one
        candidates = candidates[:1]
    if not folds:
        return Decision(candidates, max_iter, scaling, products, prepared, folds, None)
    contest = Contest(candidates, prepared, labels, weights, folds, seed, n_jobs)
    ranked = contest.rank(max_iter)
    return Decision(ranked, ranked[0].epochs(table.count, max_iter), scaling, products, prepared, folds, contest)


def out_of_sample_scores(
    decision: Decision, labels: Labels, weights: NDArray[np.float64] | None, *, seed: int, enough: int
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Rows, and their scores by the best candidate where it had not learned from them.

    These are the rows that it was judged by; where they are fewer than `enough`, further parts are held out in turn.
    """
    assert decision.contest is not None
    rows, scores = np.concatenate([held for _, held in decision.folds]), decision.contest.held_scores(decision.best)
    further = min(math.ceil(enough / len(rows)), MOST_FOLDS) - len(decision.folds)
    if further < 1:
        return rows, scores
    training = decision.folds[0][0]
    every = np.sort(np.concatenate([training, rows]))
    fold_of = assign_folds(labels, training, MOST_FOLDS - 1, seed)[every]
    parts = [(every[fold_of != fold], every[fold_of == fold]) for fold in range(further)]
    contest = new_contest(decision.prepared, labels, weights, parts, seed)
    for fold in range(further):
        decision.best.add_to(contest, fold)
    for _ in decision.best.curve():
        contest.shuffle()
        contest.run(list(range(further)))
    found = [contest.held_scores(fold) for fold in range(further)]
    return np.concatenate([rows, *(held for _, held in parts)]), np.vstack([scores, *found])


def new_contest(
    table: Table, labels: Labels, weights: NDArray[np.float64] | None, folds: Sequence[Fold], seed: int
) -> engine.Contest:
    """The engine's contest over these rows, without contestants."""
    y: NDArray[Any] = labels.signs() if len(labels.classes) == 2 else labels.codes
    contest = engine.Contest(
        table.rows, y, K=weight_rows(len(labels.classes)), sample_weight=weights, fit_intercept=True
    )
    for training, held in folds:
        contest.add_fold(training, held, engine.seed_generator(seed))
    return contest


def learn_all(
    candidate: Candidate,
    table: Table,
    labels: Labels,
    weights: NDArray[np.float64] | None,
    seed: int,
    epochs: int,
) -> Outcome:
    """What the learner's own ``fit`` with so many epochs gives, to the bit, on all rows."""
    rows = np.arange(table.count, dtype=np.uint32) if weights is None else np.flatnonzero(weights).astype(np.uint32)
    contest = new_contest(table, labels, weights, [(rows, rows[:0])], seed)
    candidate.add_to(contest, 0)
    history, separates = History(), False
    while len(history) < epochs and not separates:
        contest.shuffle()
        _, mistakes, updates, separates = contest.run([0])[0].tolist()
        history.mistakes.append(int(mistakes))
        history.updates.append(int(updates))
        history.seconds.append(0.0)
    arrays = contest.take_state(0)
    K = len(arrays["intercept"])
    for name in ("weights", "sums", "variances"):
        if name in arrays:
            flat = arrays[name]
            arrays[name] = flat.reshape(-1, K).T if table.sparse else flat.reshape(K, -1)
    state = State(keep=candidate.keep, fit_intercept=True, **arrays)
    return Outcome(state, history, "converged" if separates else "max_iter")


def _best(candidates: list[Candidate]) -> list[Candidate]:
    """The best first; those as good as the best, but for a few rows, in their given order."""
    scores = [candidate.score for candidate in candidates]
    floor = candidates[scores.index(max(scores))].floor
    order = sorted(range(len(scores)), key=lambda place: -min(scores[place], floor))
    return [candidates[place] for place in order]
