"""Candidates side by side, judged by rows held out, the weaker ones leaving early.

Invariant: all candidates meet the same rows in the same orders; the number of threads changes nothing. Nothing here
needs scikit-learn, so that the command can choose without loading it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import effective_rows
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.epochs.threads import count_threads, run_threads
from rosenblatt.learners.state.state import engine_rule
from rosenblatt.learners.targets import targets_of, weight_rows
from rosenblatt.params import AROWParams, LinearParams, PassiveAggressiveParams
from rosenblatt.select.folds import Fold

# A score of the user's choice, up to 1, from the scores of rows, their labels and weights.
Measured = Callable[[NDArray[np.float64], Labels, NDArray[np.float64] | None], float]

VALUES_A_THREAD = 1_000_000  # below this, starting a thread costs more than it saves
MOST_EPOCHS = 100
ROUNDS = ((1, 2), (3, 1))  # after so many epochs in all, so many candidates go on
FIRST_LOOK = 4  # then 8, 16 ...: learning goes on while twice the epochs bring a standard error
SETTLED = 40_000  # rows to go over at least, in a limited number of epochs: few steps have not settled yet
EDGE = 100.0  # a later candidate must answer EDGE·p·(1-p) more held-out rows right, p being its accuracy
CLEAR = 1.0  # standard errors: where rows have weights, so much better is better, however few they count as


@dataclass(frozen=True)
class Examples:
    """Rows with their labels and weights, and which of them are to be learned from and to be judged by."""

    table: Table
    labels: Labels
    weights: NDArray[np.float64] | None
    folds: list[Fold]  # none: there are too few rows to compare by
    sample_weights: NDArray[np.float64] | None = None  # without those of classes, which move no probability

    @property
    def held(self) -> NDArray[np.uint32]:
        """The rows to judge by, fold after fold."""
        return np.concatenate([np.empty(0, np.uint32), *(held for _, held in self.folds)])

    @property
    def held_weights(self) -> NDArray[np.float64] | None:
        """What the rows to judge by weigh."""
        return None if self.weights is None else self.weights[self.held]

    def take(self, rows: NDArray[np.uint32], table: Table | None = None) -> Examples:
        """Those of some rows, without folds; as in another table of these rows, if it is given."""
        weights, samples = (_of_rows(each, rows) for each in (self.weights, self.sample_weights))
        labels = Labels(self.labels.classes, self.labels.codes[rows])
        return Examples(as_table(self.table.take(rows)) if table is None else table, labels, weights, [], samples)


@dataclass
class Candidate:
    """A recipe, and how it did: the held-out accuracy of every epoch, fold by fold."""

    params: LinearParams
    parameters: dict[str, Any]  # those that are not at their defaults
    held: int  # rows to judge by
    counted: float  # as how many of equal weight they count
    courses: list[int] = field(default_factory=list)  # its contestants, one a fold
    scores: list[list[float]] = field(default_factory=list)
    over: list[bool] = field(default_factory=list)
    shares: list[float] | None = None  # what the rows of each fold weigh; None: folds count alike

    @cached_property
    def name(self) -> str:
        """The learner as it is written in Python."""
        given = (f"{k}={v:g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in self.parameters.items())
        return f"{self.params.learner}({', '.join(given)})"

    def enter(self, contest: engine.Contest, first: int, folds: int) -> None:
        """Take part, in every fold."""
        self.courses = list(range(first, first + folds))
        self.scores, self.over = [[] for _ in range(folds)], [False] * folds
        for fold in range(folds):
            self.add_to(contest, fold)

    def add_to(self, contest: engine.Contest, fold: int) -> None:
        """Take part in one fold."""
        contest.add(fold, engine_rule(self.params.update_rule), self.params.keep)

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
        shares = self.shares or [1.0] * len(self.scores)
        total = sum(shares)
        return [
            sum(share * each[min(k, len(each) - 1)] for share, each in zip(shares, self.scores, strict=True)) / total
            for k in range(max(map(len, self.scores)))
        ]

    @property
    def score(self) -> float:
        return max(self.curve())

    def epochs(self, rows: int, most: int, settled: int) -> int:
        """The last epoch within a standard error of the best one; up to `settled` of them where there are few rows."""
        curve = self.curve()
        floor = max(curve) - self._error(max(curve))
        chosen = max(k for k, score in enumerate(curve, start=1) if score >= floor)
        return min(most, max(chosen, min(settled, SETTLED // rows)))

    @property
    def floor(self) -> float:
        """The score from which on an earlier candidate is taken: a few rows more or less prove nothing.

        Many rows may count as few by weight, and EDGE ask for more rows than these are: a standard error is enough.
        """
        score = self.score
        error = self._error(score)
        edge = EDGE * error**2
        return score - (edge if self.shares is None else min(edge, CLEAR * error))

    def clearly_above(self, other: Candidate) -> bool:
        """Is its score higher than that of another by a standard error?"""
        return self.score > other.score + self._error(other.score)

    def _error(self, score: float) -> float:
        """The standard error of a score, as if one more row were right and one wrong, so that it is never 0."""
        share = (min(max(score, 0.0), 1.0) * self.counted + 1.0) / (self.counted + 2.0)
        return math.sqrt(share * (1.0 - share) / self.counted)


def make_candidates(
    q: float, held: int, *, sparse: bool, weights: NDArray[np.float64] | None = None
) -> list[Candidate]:
    """The family, its steps set by ``q``, the median of ``‖x‖² + 1``; the first is taken unless another is better.

    They will be judged by so many rows, of these weights.
    """
    counted = effective_rows(weights, held)

    def passive_aggressive(share: float) -> Candidate:
        told: dict[str, Any] = {"C": float(f"{share / q:.2g}"), "keep": "average"}
        return Candidate(PassiveAggressiveParams(**told), told, held, counted)

    def arow(share: float) -> Candidate:
        told: dict[str, Any] = {"r": float(f"{share * q:.2g}")}
        return Candidate(AROWParams(**told), told, held, counted)

    if sparse:  # rare features still learn where frequent ones have settled
        return [arow(0.5), passive_aggressive(10.0), arow(0.05), passive_aggressive(1.0)]
    return [passive_aggressive(1.0), passive_aggressive(10.0), arow(0.05), arow(0.5)]


class Contest:
    """Candidates on their way through the epochs."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        examples: Examples,
        seed: int,
        n_jobs: int | None,
        judge: Measured | None = None,
    ) -> None:
        self.candidates, self._examples, self._judge = list(candidates), examples, judge
        self._contest = new_contest(examples, seed)
        folds = len(examples.folds)
        for place, candidate in enumerate(candidates):
            candidate.enter(self._contest, place * folds, folds)
            if examples.weights is not None:
                candidate.shares = [float(examples.weights[held].sum()) for _, held in examples.folds]
        enough = examples.table.stored * weight_rows(len(examples.labels.classes)) // VALUES_A_THREAD
        self._threads = min(count_threads(n_jobs), enough) if enough > 1 else 1

    def rank(self, max_iter: int) -> list[Candidate]:
        """The candidates by their held-out accuracy, the best first."""
        left, done = self.candidates, 0
        for epochs, go_on in ROUNDS:
            self._run(left, min(epochs, max_iter) - done, max_iter)
            left, done = _best(left), min(epochs, max_iter)
            left = left[: 1 if left[0].score == 1.0 else go_on]
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
            for (course, candidate), (accuracy, _, _, separates, *_) in zip(owners, found, strict=True):
                score = accuracy if self._judge is None else self._judged(self._judge, course)
                candidate.note(course, score, bool(separates), most)

    def _judged(self, judge: Measured, course: int) -> float:
        """The score of a contestant's answers on its fold, by the user's measure."""
        held = self._examples.folds[course % len(self._examples.folds)][1]
        weights = None if self._examples.weights is None else self._examples.weights[held]
        return judge(self._contest.held_scores(course), self._examples.labels.take(held), weights)

    def _run_epoch(self, courses: list[int]) -> list[list[float]]:
        threads = min(self._threads, len(courses))
        if threads == 1:
            alone: list[list[float]] = self._contest.run(courses).tolist()
            return alone
        parts = [courses[at::threads] for at in range(threads)]
        found = run_threads([partial(self._contest.run, part) for part in parts], threads)
        by_course = dict(zip(chain(*parts), chain(*(rows.tolist() for rows in found)), strict=True))
        return [by_course[course] for course in courses]


def new_contest(examples: Examples, seed: int) -> engine.Contest:
    """The engine's contest over these rows, without contestants."""
    targets = targets_of(examples.labels, sample_weight=examples.weights)[0]
    contest = engine.Contest(examples.table.rows, targets.view, fit_intercept=True)
    for training, held in examples.folds:
        contest.add_fold(training, held, engine.seed_generator(seed))
    return contest


def _of_rows(weights: NDArray[np.float64] | None, rows: NDArray[np.uint32]) -> NDArray[np.float64] | None:
    """The weights of some rows; None where all of these weigh 1."""
    some = None if weights is None else weights[rows]
    return None if some is None or bool(np.all(some == 1.0)) else some


def _best(candidates: list[Candidate]) -> list[Candidate]:
    """The best first; those as good as the best, but for a few rows, in their given order."""
    if len(candidates) == 1:
        return candidates
    scores = [candidate.score for candidate in candidates]
    floor = candidates[scores.index(max(scores))].floor
    order = sorted(range(len(scores)), key=lambda place: -min(scores[place], floor))
    return [candidates[place] for place in order]
