"""Automatic selection: scale columns if needed, compare learners on held-out rows, and try products of columns.

Invariant: all candidates meet the same rows in the same orders; the same rows and seed give the same selection and the
same bits, with any number of threads. Nothing here needs scikit-learn, so that the command can select without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import as_counts, effective_rows
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.fit import Counters, Outcome, count_threads, run_both, run_threads
from rosenblatt.learners.stopping import Epoch, StoppingCriterion
from rosenblatt.learners.targets import targets_of, weight_rows
from rosenblatt.learners.weights import KEEP_BY_NAME, WeightState, declare, engine_rule
from rosenblatt.models.predictions import predict_codes
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import AROWParams, LinearParams, PassiveAggressiveParams, check_count
from rosenblatt.select.calibration import ENOUGH, PLENTY, Calibration, HeldOutScores, Method
from rosenblatt.select.folds import MOST_FOLDS, Fold, assign_folds, check_column, selection_folds
from rosenblatt.select.scaling import Scaling, find_scaling, standardize, typical_squared_norm
from rosenblatt.select.scoring import percent, score_of_share

Floats = NDArray[np.float64]
Rows = NDArray[np.uint32]
# A score of the user's choice, up to 1, from the scores of rows, their labels and weights; and its name.
Scoring = tuple[str, Callable[[Floats, Labels, Floats | None], float]]

VALUES_A_THREAD = 1_000_000  # below this, starting a thread costs more than it saves
MOST_EPOCHS = 100
ROUNDS = ((1, 2), (3, 1))  # after so many epochs in all, so many candidates stay
FIRST_LOOK = 4  # then 8, 16 ...: learning goes on while twice the epochs bring a standard error
SETTLED = 40_000  # row visits of the final fit at least, in a limited number of epochs: few steps have not settled yet
SETTLED_EPOCHS = {"last": 5, "average": 12}  # the most such epochs; an average holds the first weights for long
SETTLED_PRODUCTS = 8  # the same for products, of which each row has more
EDGE = 100.0  # a later candidate must get EDGE·p·(1-p) more held-out rows right, p being its accuracy
CLEAR = 1.0  # standard errors by which a candidate or products must be better
MOST_FILLED = 0.5  # rows with a larger share of values other than 0 are dense, however they are stored
MOST_TERMS = 4096  # columns and products
MOST_WEIGHTS = 1 << 17  # of all classes, for the terms: with many classes they would take too long
MOST_VALUES = 1 << 24  # terms of all rows, 64 MB; of more rows, a sample is compared
HELD_VALUES = 0.25  # of these, for held-out rows
VALUES_BESIDE = 1_000_000  # terms; below it, a thread for the products costs more than it saves
LEAK_SCORE = 0.99  # held-out accuracy from which on a column that tells the label is looked for
LEAK_COLUMNS = 1000
LEAK_ROWS = 50
TOO_FEW_WRONG = 1  # held-out rows: products that get all of them right are not sure to be better


@dataclass(frozen=True)
class Sample:
    """Rows with labels and weights, and how they are split into training rows and held-out rows."""

    table: Table
    labels: Labels
    weights: Floats | None  # of samples and classes
    sample_weights: Floats | None = None  # without those of classes, which do not move probabilities
    folds: list[Fold] = field(default_factory=list)  # none: there are too few rows to compare learners

    @property
    def held(self) -> Rows:
        """The held-out rows, fold after fold."""
        return np.concatenate([np.empty(0, np.uint32), *(held for _, held in self.folds)])

    @property
    def held_weights(self) -> Floats | None:
        return None if self.weights is None else self.weights[self.held]

    def take(self, rows: Rows) -> Sample:
        """Some of the rows, without folds."""

        def some(weights: Floats | None) -> Floats | None:
            taken = None if weights is None else weights[rows]
            return None if taken is None or bool(np.all(taken == 1.0)) else taken

        table = as_table(self.table.take(rows))
        return Sample(table, self.labels.take(rows), some(self.weights), some(self.sample_weights))


@dataclass
class Candidate:
    """Params, and their held-out score after every epoch, fold by fold."""

    params: LinearParams
    changed: dict[str, Any]  # the parameters that are not at their defaults
    held: int  # held-out rows
    effective: float  # as how many rows of equal weight they count
    runs: list[int] = field(default_factory=list)  # its places in the engine, one per fold
    scores: list[list[float]] = field(default_factory=list)
    over: list[bool] = field(default_factory=list)
    shares: list[float] | None = None  # what the rows of each fold weigh; None: folds count alike

    @cached_property
    def name(self) -> str:
        """The learner as it is written in Python."""
        values = (f"{k}={v:g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in self.changed.items())
        return f"{self.params.learner}({', '.join(values)})"

    def add_to(self, contest: engine.Contest, folds: int) -> None:
        """One run per fold."""
        for fold in range(folds):
            contest.add(fold, engine_rule(self.params.update_rule), self.params.keep)

    def record_epoch(self, run: int, score: float, separates: bool, max_iter: int) -> None:
        """The score of one fold after an epoch; its learning is over if it separates or no longer improves."""
        fold = run - self.runs[0]
        scores = self.scores[fold]
        scores.append(score)
        done = len(scores)
        all_right = done >= ROUNDS[-1][0] and max(scores) == 1.0
        looks = done >= FIRST_LOOK and done & (done - 1) == 0
        rises = not looks or score > scores[done // 2 - 1] + self.error(score)
        self.over[fold] = separates or all_right or not rises or done >= max_iter

    def curve(self) -> list[float]:
        """The mean score after each epoch; a fold that ended earlier keeps its last score."""
        if len(self.scores) == 1:
            return self.scores[0]
        shares = self.shares or [1.0] * len(self.scores)
        return [
            sum(share * each[min(k, len(each) - 1)] for share, each in zip(shares, self.scores, strict=True))
            / sum(shares)
            for k in range(max(map(len, self.scores)))
        ]

    @property
    def score(self) -> float:
        return max(self.curve())

    def epochs(self, rows: int, max_iter: int, settled: int) -> int:
        """The last epoch within a standard error of the best one; up to `settled` of them if there are few rows."""
        curve = self.curve()
        floor = max(curve) - self.error(max(curve))
        chosen = max(k for k, score in enumerate(curve, start=1) if score >= floor)
        return min(max_iter, max(chosen, min(settled, SETTLED // rows)))

    @property
    def floor(self) -> float:
        """The score from which on an earlier candidate is preferred: a few rows more or less prove nothing.

        Many rows may count as few by weight, and EDGE may ask for more rows than these: a standard error is enough.
        """
        error = self.error(self.score)
        edge = EDGE * error**2
        return self.score - (edge if self.shares is None else min(edge, CLEAR * error))

    def error(self, score: float) -> float:
        """The standard error of a score, as if one more row were right and one wrong, so that it is never 0."""
        share = (min(max(score, 0.0), 1.0) * self.effective + 1.0) / (self.effective + 2.0)
        return math.sqrt(share * (1.0 - share) / self.effective)


def make_candidates(q: float, held: int, *, sparse: bool, weights: Floats | None = None) -> list[Candidate]:
    """The family, its steps set by ``q``, the median of ``‖x‖² + 1``; the first is preferred unless another is better.

    They will be compared on so many held-out rows, of these weights.
    """
    effective = effective_rows(weights, held)

    def passive_aggressive(share: float) -> Candidate:
        changed: dict[str, Any] = {"C": float(f"{share / q:.2g}"), "keep": "average"}
        return Candidate(PassiveAggressiveParams(**changed), changed, held, effective)

    def arow(share: float) -> Candidate:
        changed: dict[str, Any] = {"r": float(f"{share * q:.2g}")}
        return Candidate(AROWParams(**changed), changed, held, effective)

    if sparse:  # rare features still learn when frequent ones have settled
        return [arow(0.5), passive_aggressive(10.0), arow(0.05), passive_aggressive(1.0)]
    return [passive_aggressive(1.0), passive_aggressive(10.0), arow(0.05), arow(0.5)]


class Contest:
    """Candidates learning side by side, each row read once for all; the weaker ones leave early."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        sample: Sample,
        seed: int,
        n_jobs: int | None,
        scoring: Scoring | None = None,
    ) -> None:
        self.candidates, self._sample, self._scoring = list(candidates), sample, scoring
        self._contest = _new_contest(sample, seed)
        folds = len(sample.folds)
        for place, each in enumerate(candidates):
            each.runs = list(range(place * folds, (place + 1) * folds))
            each.scores, each.over = [[] for _ in range(folds)], [False] * folds
            each.add_to(self._contest, folds)
            if sample.weights is not None:
                each.shares = [float(sample.weights[held].sum()) for _, held in sample.folds]
        values = sample.table.stored * weight_rows(len(sample.labels.classes))
        self._threads = max(1, min(count_threads(n_jobs), values // VALUES_A_THREAD))

    def rank(self, max_iter: int) -> list[Candidate]:
        """The candidates by their held-out score, the best first."""
        left, done = self.candidates, 0
        for epochs, stay in ROUNDS:
            self._run(left, min(epochs, max_iter) - done, max_iter)
            left, done = best_first(left), min(epochs, max_iter)
            left = left[: 1 if left[0].score == 1.0 else stay]
        self._run(left, max_iter - done, max_iter)
        return [left[0], *(each for each in best_first(self.candidates) if each is not left[0])]

    def held_scores(self, candidate: Candidate) -> Floats:
        """The candidate's scores of the held-out rows, fold after fold."""
        return np.vstack([self._contest.held_scores(run) for run in candidate.runs])

    def _run(self, left: list[Candidate], epochs: int, max_iter: int) -> None:
        for _ in range(epochs):
            active = [(run, each) for each in left for run, over in zip(each.runs, each.over, strict=True) if not over]
            if not active:
                return
            self._contest.shuffle()
            found = self._run_epoch([run for run, _ in active])
            for (run, candidate), (accuracy, _, _, separates, *_) in zip(active, found, strict=True):
                score = accuracy if self._scoring is None else self._score(run)
                candidate.record_epoch(run, score, bool(separates), max_iter)

    def _score(self, run: int) -> float:
        """The score of the user's choice, on the fold of a run."""
        assert self._scoring is not None
        held = self._sample.folds[run % len(self._sample.folds)][1]
        weights = None if self._sample.weights is None else self._sample.weights[held]
        return self._scoring[1](self._contest.held_scores(run), self._sample.labels.take(held), weights)

    def _run_epoch(self, runs: list[int]) -> list[list[float]]:
        threads = min(self._threads, len(runs))
        parts = [runs[at::threads] for at in range(threads)]
        found = run_threads([partial(self._contest.run, part) for part in parts], threads)
        by_run = dict(zip(chain(*parts), chain(*(rows.tolist() for rows in found)), strict=True))
        return [by_run[run] for run in runs]


def _new_contest(sample: Sample, seed: int) -> engine.Contest:
    targets = targets_of(sample.labels, sample_weight=sample.weights)[0]
    contest = engine.Contest(sample.table.rows, targets.view, fit_intercept=True)
    for training, held in sample.folds:
        contest.add_fold(training, held, engine.seed_generator(seed))
    return contest


def best_first(candidates: list[Candidate]) -> list[Candidate]:
    """By score; candidates as good as the best, but for a few rows, in their given order."""
    scores = [candidate.score for candidate in candidates]
    floor = candidates[scores.index(max(scores))].floor
    order = sorted(range(len(scores)), key=lambda place: -min(scores[place], floor))
    return [candidates[place] for place in order]


@dataclass(frozen=True)
class Selection:
    """The candidates, the best first, what was done to the columns, and how the best one should learn."""

    ranked: list[Candidate]
    epochs: int
    scaling: Scaling | None
    products: Products | None
    sample: Sample  # all rows, as they came
    prepared: Sample  # the rows that the candidates learned from, scaled or multiplied
    contest: Contest | None
    seed: int
    scoring: str | None = None  # the name of the user's score; None: accuracy
    other_scores: dict[str, float] = field(default_factory=dict)  # with products or without, whichever did worse
    paired: tuple[float, float] | None = None  # scores of the same held-out rows, without products and with them

    @property
    def best(self) -> Candidate:
        return self.ranked[0]

    @property
    def params(self) -> LinearParams:
        """The params to fit on all rows."""
        best = self.best
        return type(best.params)(**best.changed, max_iter=self.epochs, tol=None, random_state=self.seed)

    @property
    def scores(self) -> dict[str, float]:
        """The held-out score of every candidate, those of the chosen columns first."""
        if self.contest is None:
            return {}
        suffix = "" if self.products is None else ", products"
        own = {f"{each.name}{suffix}": score_of_share(self.scoring, each.score) for each in self.ranked}
        return own | self.other_scores

    @property
    def sentence(self) -> str:
        """What was chosen, and the numbers that decided."""
        ways = {"standard": "columns standardized", "mean-abs": "columns divided by their mean absolute value"}
        how = "" if self.scaling is None else f", {ways[self.scaling.kind]}"
        if self.products is not None:
            how = ", columns standardized, and their products"
        chosen = f"{self.best.name}, {self.epochs} epoch{'s' if self.epochs > 1 else ''}{how}"
        if self.contest is None:
            return f"{chosen}: too few rows to compare learners"

        def shown(share: float) -> str:
            return percent(share) if self.scoring is None else f"{score_of_share(self.scoring, share):.4f}"

        rows, by_weight = f"{self.best.held:,} held-out rows", "" if self.sample.weights is None else " by weight"
        judged = f"{shown(self.best.score)} of {rows} right{by_weight}"
        if self.scoring is not None:
            judged = f"{self.scoring} {shown(self.best.score)} on {rows}"
        tried = ""
        if self.paired is not None:
            without, multiplied = map(shown, self.paired)
            if self.products is not None:
                return f"{chosen}: {judged}, {without} without products"
            tried = f"; {multiplied} with products of columns, {without} without on the same rows"
        if len(self.ranked) == 1:
            return f"{chosen}: {judged}"
        second = self.ranked[1]
        next_best = f"(next: {second.name}, {shown(second.score)})"
        return f"{chosen}: {judged}; none of {len(self.ranked)} learners did clearly better {next_best}{tried}"

    def held_baseline(self) -> float:
        """The share of the most frequent class in the held-out rows."""
        shares = np.bincount(self.prepared.labels.codes[self.prepared.held], self.prepared.held_weights)
        return float(shares.max() / shares.sum())

    def held_right(self) -> NDArray[np.bool_]:
        """Which held-out rows the best candidate gets right."""
        assert self.contest is not None
        codes = self.prepared.labels.codes[self.prepared.held]
        right: NDArray[np.bool_] = predict_codes(self.contest.held_scores(self.best)) == codes
        return right

    def enough_scores(self, method: Method) -> int:
        """How many held-out scores to calibrate by."""
        return PLENTY if method != "sigmoid" and self.best.effective >= ENOUGH else 0

    def calibrate(self, method: Method = "auto") -> Calibration | None:
        """Curves from scores to probabilities, fitted on held-out rows; None if no row was held out.

        If these are fewer than enough, the best candidate learns again from other parts of the rows.
        """
        if self.contest is None:
            return None
        sample = self.prepared
        rows, scores = sample.held, self.contest.held_scores(self.best)
        more = min(math.ceil(self.enough_scores(method) / len(rows)), MOST_FOLDS) - len(sample.folds)
        if more > 0:
            training = sample.folds[0][0]
            every = np.sort(np.concatenate([training, rows]))
            fold_of = assign_folds(sample.labels, training, MOST_FOLDS - 1, self.seed)[every]
            parts = [(every[fold_of != fold], every[fold_of == fold]) for fold in range(more)]
            contest = _new_contest(replace(sample, folds=parts), self.seed)
            self.best.add_to(contest, more)
            for _ in self.best.curve():
                contest.shuffle()
                contest.run(list(range(more)))
            scores = np.vstack([scores, *(contest.held_scores(fold) for fold in range(more))])
            rows = np.concatenate([rows, *(held for _, held in parts)])
        weights = None if sample.sample_weights is None else sample.sample_weights[rows]
        held = HeldOutScores(scores, sample.labels.codes[rows], weights)
        return Calibration(method, held, len(sample.labels.classes))

    def learn(self) -> Outcome:
        """The best params, learned from all rows, scaled or multiplied: the bits of their own ``fit``."""
        sample, params = self.sample, self.params
        targets = targets_of(sample.labels, sample_weight=sample.weights)[0]
        stopping = StoppingCriterion(self.epochs, None, 1)
        rows = np.arange(sample.table.count, dtype=np.uint32)
        weight = targets.total(rows)
        if self.prepared.table.count == sample.table.count:  # a contest of one: small fits take half the time
            contest = _new_contest(replace(self.prepared, folds=[(rows, rows[:0])]), self.seed)
            self.best.add_to(contest, 1)
            while stopping.stop_reason is None:
                contest.shuffle()
                _, mistakes, updates, _, mistake_weight, finite = contest.run([0])[0].tolist()
                epoch = Epoch(int(mistakes), int(updates), mistake_weight, weight, len(rows), bool(finite))
                stopping.update(epoch, lambda: True)
            return Outcome(self._state(contest.take_state(0)), stopping.history, stopping.stop_reason)
        # The terms of all rows are too many to hold at once.
        products, generator = self.products, engine.seed_generator(self.seed)
        assert products is not None
        weights = np.zeros((targets.weight_rows, count_terms(len(products.columns))), np.float32)
        state = WeightState.of(params, weights, np.zeros(targets.weight_rows), generator)

        def separates() -> bool:
            parts = products.iter_terms(sample.table, rows)
            return not any(state.count_mistakes(terms, targets.take(part)) for terms, part in parts)

        while stopping.stop_reason is None:
            order, before = np.empty_like(rows), Counters.of(state)
            engine.draw_order(order, state.generator, rows)
            for terms, part in products.iter_terms(sample.table, order):
                state.learn(terms, targets.take(part), params.update_rule)
            stopping.update(Counters.of(state).since(before, weight, len(rows), finite=state.is_finite()), separates)
        return Outcome(state, stopping.history, stopping.stop_reason)

    def _state(self, arrays: dict[str, NDArray[Any]]) -> WeightState:
        """The state that a run of the engine hands over."""
        params, sparse = self.best.params, self.prepared.table.sparse
        declared = declare(params.keep, params.update_rule.traits.second_order)
        K = len(arrays["intercept"])
        for array in declared:
            if array.shape == "weights":
                flat = arrays[array.name]
                arrays[array.name] = flat.reshape(-1, K).T if sparse else flat.reshape(K, -1)
        return WeightState(KEEP_BY_NAME[params.keep], declared, True, arrays)


def select(
    sample: Sample,
    *,
    products: bool = True,
    seed: int = 0,
    max_iter: int = MOST_EPOCHS,
    n_jobs: int | None = -1,
    scoring: Scoring | None = None,
    groups: Any = None,
    time: Any = None,
    only: tuple[LinearParams, dict[str, Any]] | None = None,
) -> Selection:
    """Scale if needed, let the candidates learn side by side, rank them, and compare them with products of columns.

    Parameters
    ----------
    sample : Sample
        All comparisons count rows by its weights; its sample weights, without those of classes, are for probabilities.
    products : bool
        Try products of columns, if there are few columns.
    seed : int
        Of the held-out part and the shuffling.
    max_iter : int
        The most epochs.
    n_jobs : int or None
        Threads; they change nothing.
    scoring : (name, function), optional
        What to compare by instead of accuracy.
    groups, time : arrays, optional
        One value per row: rows of one group are held out together, or the latest rows are held out.
    only : (params, changed parameters), optional
        The single candidate, learned for all its epochs, instead of the family.
    """
    check_count("max_iter", max_iter)
    weights, labels = sample.weights, sample.labels
    if weights is not None and not weights.all():  # rows of weight 0 are as if absent, in the scaling too
        present = np.flatnonzero(weights).astype(np.uint32)
        groups = None if groups is None else check_column("groups", groups, labels)[present]
        time = None if time is None else check_column("time", time, labels)[present]
        sample = sample.take(present)
        labels = sample.labels
    folds = selection_folds(labels, sample.weights, seed, groups=groups, time=time)
    sample = replace(sample, folds=folds)
    compare = partial(_compare, sample, seed=seed, max_iter=max_iter, n_jobs=n_jobs, scoring=scoring)
    table = sample.table
    terms = count_terms(table.features)

    def without_products() -> Selection:
        scaling = find_scaling(table)
        scaled = sample if scaling is None else replace(sample, table=scaling.apply(table))
        if only is None:
            return compare(scaled, scaling=scaling)
        single = Candidate(*only, len(sample.held), effective_rows(sample.held_weights, len(sample.held)))
        return replace(compare(scaled, scaling=scaling, candidates=[single]), epochs=int(only[0].max_iter))

    def with_products() -> Selection:
        how = standardize(table)
        products = Products(np.arange(table.features), how.center, how.scale)
        return compare(replace(small, table=products.apply(small.table)), products=products)

    too_many = terms > MOST_TERMS or terms * weight_rows(len(labels.classes)) > MOST_WEIGHTS
    if not products or not sample.folds or too_many or only is not None:
        return without_products()
    small, multiplied = _sample_for_products(sample, terms), None
    if terms * table.count > VALUES_BESIDE and count_threads(n_jobs) > 1:
        plain, multiplied = run_both(without_products, with_products)
    else:
        plain = without_products()
    right = plain.held_right()
    if scoring is None and np.count_nonzero(~right) <= TOO_FEW_WRONG:
        return plain
    multiplied, same_rows = multiplied or with_products(), plain
    if small is not sample:  # the best candidate without products learns from the rows of the products
        scaled = small if plain.scaling is None else replace(small, table=plain.scaling.apply(small.table))
        effective = effective_rows(small.held_weights, len(small.held))
        again = Candidate(plain.best.params, plain.best.changed, len(small.held), effective)
        same_rows = compare(scaled, scaling=plain.scaling, candidates=[again])
        right = same_rows.held_right()
    if scoring is not None:
        other = same_rows.best
        better = multiplied.best.score > other.score + other.error(other.score)
    else:
        better = clearly_better(multiplied.held_right(), right, multiplied.prepared.held_weights)
    chosen, other_scores = (multiplied, plain.scores) if better else (plain, multiplied.scores)
    return replace(chosen, other_scores=other_scores, paired=(same_rows.best.score, multiplied.best.score))


def find_leak(selection: Selection) -> int | None:
    """The column that alone, by a threshold, tells two classes apart; such a column is often a copy of the label."""
    sample = selection.sample
    table, codes = sample.table, sample.labels.codes
    if selection.contest is None or selection.scoring is not None or selection.best.score < LEAK_SCORE:
        return None
    present = np.flatnonzero(np.bincount(codes))
    if len(present) != 2 or not 2 <= table.features <= LEAK_COLUMNS or table.count < LEAK_ROWS:
        return None
    leak = None
    for count in (LEAK_ROWS, 1000):  # few rows rule out most columns
        rows = np.arange(0, table.count, max(1, table.count // count), dtype=np.uint32)
        values = table.take(rows)
        values = values.toarray() if table.sparse else np.asarray(values)
        no, yes = (values[codes[rows] == code] for code in present)
        if not len(no) or not len(yes):
            continue
        found = np.flatnonzero((no.max(axis=0) < yes.min(axis=0)) | (yes.max(axis=0) < no.min(axis=0)))
        if not len(found):
            return None
        leak = int(found[0])
    return leak


def clearly_better(later: NDArray[np.bool_], first: NDArray[np.bool_], weights: Floats | None) -> bool:
    """Does `later` fix more rows than it breaks, by more than one standard error?"""
    counts = np.ones(len(first)) if weights is None else as_counts(weights)
    fixed, broken = counts[later & ~first], counts[first & ~later]
    error = math.sqrt(np.square(fixed).sum() + np.square(broken).sum() + 1)
    return bool(fixed.sum() - broken.sum() > CLEAR * error)


def _compare(
    sample: Sample,
    prepared: Sample,
    *,
    seed: int,
    max_iter: int,
    n_jobs: int | None,
    scoring: Scoring | None,
    scaling: Scaling | None = None,
    products: Products | None = None,
    candidates: list[Candidate] | None = None,
) -> Selection:
    """Rank the candidates on prepared rows of the sample."""
    table, keep = prepared.table, (scaling, products, sample, prepared)
    sparse = table.sparse and table.stored < MOST_FILLED * table.count * table.features
    if candidates is None:
        q = typical_squared_norm(table) + 1.0
        candidates = make_candidates(q, len(prepared.held), sparse=sparse, weights=prepared.held_weights)
    if products is not None:  # one candidate: a second look at the same rows has to be quick
        candidates = candidates[:1]
    if not prepared.folds:
        return Selection(candidates, max_iter, *keep, None, seed)
    contest = Contest(candidates, prepared, seed, n_jobs, scoring)
    ranked = contest.rank(max_iter)
    settled = SETTLED_EPOCHS[ranked[0].params.keep] if products is None else SETTLED_PRODUCTS
    epochs = ranked[0].epochs(sample.table.count, max_iter, settled)
    return Selection(ranked, epochs, *keep, contest, seed, None if scoring is None else scoring[0])


def _sample_for_products(sample: Sample, terms: int) -> Sample:
    """All rows, or as many training rows and held-out rows as so many terms per row allow to hold at once."""
    if terms * sample.table.count <= MOST_VALUES:
        return sample
    by = max(1, math.ceil(len(sample.held) * terms / (HELD_VALUES * MOST_VALUES)))
    step = math.ceil(len(sample.folds[0][0]) * terms / ((1 - HELD_VALUES) * MOST_VALUES))
    folds = [(training[::step], held[::by]) for training, held in sample.folds]
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    first, last = ([np.searchsorted(rows, fold[k]).astype(np.uint32) for fold in folds] for k in (0, 1))
    return replace(sample.take(rows), folds=list(zip(first, last, strict=True)))
