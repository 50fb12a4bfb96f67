"""Automatic selection: scale columns if needed, compare learners on held-out rows, and try products of columns.

Invariant: all candidates meet the same rows in the same orders; the same rows and seed give the same selection and the
same bits, with any number of threads. Nothing here needs scikit-learn, so that the command can select without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import as_counts
from rosenblatt.data.labels import Numbers
from rosenblatt.data.table import Table
from rosenblatt.learners.fit import fit_epochs, run_threads
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.predictions import predict_codes
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import (
    AROWParams,
    AveragedPerceptronParams,
    LinearParams,
    PassiveAggressiveParams,
    PassiveAggressiveRegressionParams,
    check_count,
)
from rosenblatt.select import choice
from rosenblatt.select.calibration import PLENTY
from rosenblatt.select.choice import MOST_EPOCHS, Choice, HeldOut, Sample
from rosenblatt.select.folds import CrossValidation, check_column, selection_folds
from rosenblatt.select.passes import SharedRun, run_epoch, threads_for
from rosenblatt.select.scaling import find_scaling, standardize, typical_squared_norm
from rosenblatt.select.scoring import R2, nan_last

Floats = NDArray[np.float64]

SAMPLE_BYTES = 32 << 20  # of values and their columns; of larger tables every 2^k-th row is compared
ROUNDS = ((1, 2), (3, 1))  # (epochs so far, candidates that stay)
FIRST_LOOK = 4  # then 8, 16 ...: learning continues while twice the epochs gain a standard error
SETTLED = 40_000  # row visits of the final fit at least, in a limited number of epochs: few steps have not settled yet
SETTLED_EPOCHS = {"last": 5, "average": 12}  # the most such epochs; an average holds the first weights for long
SETTLED_PRODUCTS = 8  # the same for products, of which each row has more
TUNED_EPOCHS = (2, 10)  # that `tune` tries
EDGE = 100.0  # a later candidate must get EDGE·p·(1-p) more held-out rows right, p being its accuracy
MOST_FILLED = 0.5  # rows with a larger share of values other than 0 are dense, however they are stored
MOST_TERMS = 4096  # columns and products
MOST_WEIGHTS = 1 << 17  # of all classes, for the terms: with many classes they would take too long
MOST_TRIED = 1 << 19  # weights of a candidate; some dozens of candidates and folds are held at once
UNTRIED_EPOCHS = 5  # of a learner that was not compared with others
CAUTION = 0.5  # r beside the median ‖x‖² + 1, if AROW is chosen untried: it comes first on such rows
HELD_VALUES = 0.25  # of the values of products that are held at once, for held-out rows
LEAK_SCORE = 0.99  # held-out accuracy from which on a column that tells the label is looked for
LEAK_COLUMNS = 1000
LEAK_ROWS = 1000
TOO_FEW_WRONG = 1  # held-out rows: products that get all of them right are not sure to be better


class Candidate:
    """Params on some rows, and their held-out score after every epoch, fold by fold."""

    def __init__(self, params: LinearParams, sample: Sample) -> None:
        self.params, self.sample = params, sample
        self.name = params.written() + ", products" * (sample.products is not None)
        self.scores: list[list[float]] = [[] for _ in sample.folds]
        tasks = enumerate(sample.tasks(params, sample.max_iter))
        self.runs = [SharedRun(task, partial(self._append_score, fold)) for fold, task in tasks]

    def _append_score(self, fold: int, state: Any) -> None:
        self.scores[fold].append(self.sample.measures[fold](self.sample.state_scores(fold, state)))

    def active_runs(self) -> list[SharedRun]:
        """The runs whose scores still improve."""
        pairs = zip(self.runs, self.scores, strict=True)
        return [run for run, scores in pairs if not run.is_over and not self.is_over(scores)]

    def is_over(self, scores: list[float]) -> bool:
        """True if the scores of a fold, epoch by epoch, no longer improve."""
        done = len(scores)
        all_right = done >= ROUNDS[-1][0] and scores[-1] == 1.0
        looks = done >= FIRST_LOOK and done & (done - 1) == 0
        rises = not looks or scores[-1] > scores[done // 2 - 1] + self.error(scores[-1])
        return all_right or not rises or done >= self.sample.max_iter

    def curve(self) -> list[float]:
        """The mean score after each epoch; a fold that ended earlier keeps its last score."""
        most = max(map(len, self.scores))
        by_fold, shares = [each + each[-1:] * (most - len(each)) for each in self.scores], self.sample.shares
        return [sum(map(mul, shares, scores)) / sum(shares) for scores in zip(*by_fold, strict=True)]

    @property
    def score(self) -> float:
        """The mean score so far."""
        return self.curve()[-1]

    def epochs(self, rows: int) -> int:
        """The last epoch within a standard error of the best one; more if there are few rows to learn from."""
        most, few = self.sample.max_iter, SETTLED // rows
        if not self.sample.folds:
            return min(most, max(UNTRIED_EPOCHS, few))
        curve = self.curve()
        floor = max(curve) - self.error(max(curve))
        chosen = max(k for k, score in enumerate(curve, start=1) if score >= floor)
        settled = SETTLED_EPOCHS[self.params.keep] if self.sample.products is None else SETTLED_PRODUCTS
        return min(most, max(chosen, min(settled, few)))

    def floor(self, score: float) -> float:
        """With this score, that from which on an earlier candidate is preferred: a few rows more prove nothing.

        Many rows may count as few by weight, and EDGE may ask for more rows than these: a standard error is enough.
        """
        error = self.error(score)
        edge = EDGE * error**2
        return score - (edge if self.sample.weights is None else min(edge, error))

    def error(self, score: float) -> float:
        """The standard error of a score, as if one more row were right and one wrong, so that it is never 0."""
        effective = self.sample.effective
        share = (min(max(score, 0.0), 1.0) * effective + 1.0) / (effective + 2.0)
        return math.sqrt(share * (1.0 - share) / effective)

    @cached_property
    def held_out(self) -> HeldOut:
        """The scores of the held-out rows; if they are few, of spare folds too."""
        sample = self.sample
        rows, scores = sample.held, sample.scores([run.state for run in self.runs])
        if len(rows) < PLENTY and sample.spare_folds:
            spare = replace(sample, folds=sample.spare_folds[: math.ceil(PLENTY / len(rows)) - 1])
            epochs = max(map(len, self.scores))
            tasks = spare.tasks(self.params, epochs)
            threads = threads_for(len(tasks) * epochs * sample.table.stored, sample.n_jobs)
            run_threads([partial(fit_epochs, task) for task in tasks], threads)
            rows = np.concatenate([rows, spare.held])
            scores = np.vstack([scores, spare.scores([task.state for task in tasks])])
        return sample.held_out(rows, scores)

    @property
    def right(self) -> NDArray[np.bool_]:
        """A mask of the held-out rows that are predicted right."""
        right: NDArray[np.bool_] = predict_codes(self.held_out.scores) == self.held_out.labels.codes
        return right


def family(table: Table) -> list[LinearParams]:
    """The params to compare, steps set by the median of ``‖x‖² + 1``; the first ones unless others are better."""
    q = typical_squared_norm(table) + 1.0
    small, large = (PassiveAggressiveParams(C=_round(share / q), keep="average") for share in (1.0, 10.0))
    bold, cautious = (AROWParams(r=_round(share * q)) for share in (0.05, 0.5))
    if table.sparse and table.stored < MOST_FILLED * table.count * table.features:
        # Rare features still learn when frequent ones have settled.
        return [cautious, large, bold, small]
    return [small, large, bold, cautious]


def tuning_grid(
    squared_norm: float, *, seed: int = 0, is_regression: bool = False, epochs: Sequence[int] = TUNED_EPOCHS
) -> list[LinearParams]:
    """The params that `tune` tries: steps from cautious to bold for rows of this median ``‖x‖²``."""
    q, found, steps = squared_norm + 1.0, list[LinearParams](), (0.01, 0.1, 1.0, 10.0)
    if is_regression:
        pairs = [(_round(share / q), epsilon) for share in steps for epsilon in (0.01, 0.1, 0.5)]
        found += [PassiveAggressiveRegressionParams(C=C, epsilon=epsilon, keep="average") for C, epsilon in pairs]
    else:
        found += [PassiveAggressiveParams(C=_round(share / q), keep="average") for share in steps]
        found += [AROWParams(r=_round(share / 2 * q)) for share in steps]
        found.append(AveragedPerceptronParams())
    return [replace(each, max_iter=most, tol=None, random_state=seed) for most in epochs for each in found]


def try_params(grid: list[LinearParams], sample: Sample) -> list[tuple[LinearParams, CrossValidation]]:
    """The scores of all params on the folds, the best first; NaN is last."""
    tried = []
    for params in grid:
        scores = Choice(params).fold_scores(sample)
        pairs = zip(scores, sample.parts, strict=True)
        sigmoids = [sample.scorer.calibrator_for(each, *part) for each, part in pairs]
        tried.append((params, sample.cross_validation(scores, sigmoids)))
    return sorted(tried, key=lambda pair: nan_last(pair[1].mean))


def _round(value: float) -> float:
    return float(f"{value:.2g}")


def best_first(candidates: list[Candidate]) -> list[Candidate]:
    """By score; candidates as good as the best, but for a few rows, in their given order."""
    scores = [each.score for each in candidates]
    floor = candidates[0].floor(max(scores))
    return [candidates[at] for at in sorted(range(len(scores)), key=lambda at: -min(scores[at], floor))]


class Paired(NamedTuple):
    """Scores with and without products of columns, on the same held-out rows."""

    rows: int
    products: float
    columns: float


def _sentence(ranked: list[Candidate], epochs: int, paired: Paired | None, reason: str) -> str:
    """The choice and the numbers behind it, as one sentence."""
    best, sample = ranked[0], ranked[0].sample
    scorer, multiplied = sample.scorer, sample.products is not None
    ways = {"standard": ", columns standardized", "mean-abs": ", columns divided by their mean absolute value"}
    how = "" if sample.scaling is None else ways[sample.scaling.kind]
    how = ", columns standardized, and their products" if multiplied else how
    chosen = f"{best.params.written()}, {epochs} epoch{'s' if epochs > 1 else ''}{how}"
    if not sample.folds:
        return f"{chosen}: {reason or 'too few rows, or too few of a class, to compare learners'}"
    if best.score == -math.inf:
        return f"{chosen}: {scorer.name} is NaN on the held-out rows, so learners were not compared"
    show, score, held = scorer.show_share, best.score, len(sample.held)
    if paired is not None and multiplied:
        score, held = paired.products, paired.rows
    found = f"{scorer.name} {show(score)} on {held:,} held-out rows"
    if scorer.is_accuracy:
        weighted = "" if sample.weights is None else " by weight"
        found = f"{show(score)} of {held:,} held-out rows right{weighted}"
    if others := [each for each in ranked[1:] if each.sample is sample]:
        other = max(others, key=lambda each: each.score)
        unclear = ", not clearly better" if other.score > best.score else ""
        found += f"; best of the other {len(others)}: {other.name}, {show(other.score)}{unclear}"
    if paired is not None and multiplied:
        found += f", {show(paired.columns)} without products"
    elif paired is not None:
        columns = f"{show(paired.columns)} without, on the same {paired.rows:,} rows"
        found += f"; {show(paired.products)} with products of columns, {columns}"
    return f"{chosen}: {found}{f'; {reason}' if reason else ''}"


def select(
    sample: Sample,
    *,
    products: bool = True,
    max_iter: int | None = None,
    groups: Any = None,
    time: Any = None,
    params: LinearParams | None = None,
    step: int | None = None,
    find_names: Callable[[list[int]], Mapping[int, Any]] | None = None,
) -> Choice:
    """Scale if needed, let the candidates learn side by side, rank them, and compare them with products of columns.

    Parameters
    ----------
    sample : Sample
        All comparisons count rows by its weights; its sample weights, without those of classes, are for probabilities.
        Of many rows some are compared. Numbers as labels are a regression, of which C, epsilon and epochs are chosen.
    products : bool
        Try products of columns, if there are few columns.
    max_iter : int, optional
        The maximum number of epochs.
    groups, time : arrays, optional
        One value per row: rows of one group are held out together, or the latest rows are held out.
    params : LinearParams, optional
        The single candidate, learned for all its epochs, instead of the family.
    step : int, optional
        The rows are every `step`-th one of all rows.
    find_names : function, optional
        The names of columns, for a warning about one that alone tells the label; None: no warning.
    """
    check_count("max_iter", MOST_EPOCHS if max_iter is None else max_iter)
    features = sample.table.features
    sample, columns, step = _rows_to_compare(sample, step, groups, time)
    among = "" if step == 1 else f" (on every {step:,}-th row)"
    if isinstance(sample.labels, Numbers):
        return _select_regression(sample, max_iter, among)
    table, classes, reason, scaling = sample.table, len(sample.labels.classes), "", None
    epochs = max_iter if params is None else int(params.max_iter)
    if params is None and weight_rows(classes) * table.features > MOST_TRIED:
        epochs = UNTRIED_EPOCHS if epochs is None else min(epochs, UNTRIED_EPOCHS)
        params = AROWParams(r=_round(CAUTION * (typical_squared_norm(table) + 1.0)))
        reason = f"{classes} classes and {table.features:,} columns are too many to try several side by side"
    else:
        scaling = find_scaling(table)
    sample = replace(sample, max_iter=epochs or MOST_EPOCHS)
    scaled, paired = sample.scaled(scaling), None
    ranked = rank(family(scaled.table) if params is None else [params], scaled)
    if params is None and products and len(used := _columns_to_multiply(ranked[0])):
        ranked, paired = _with_products(ranked, sample, used)
    best = ranked[0]
    epochs = best.epochs(table.count) if params is None else sample.max_iter
    if find_names is not None and (leak := find_leak(sample, best)) is not None:
        column = int(columns[leak])
        name = find_names([column]).get(column, column)
        among += f"; column {name!r} alone tells the label: make sure that it is known when you predict"
    scores = {each.name: sample.scorer.from_share(each.score) for each in ranked if sample.folds}
    if paired is not None and best.sample.products is not None:  # these decided
        scores[best.name] = sample.scorer.from_share(paired.products)
    scaling, multiply, held = best.sample.scaling, best.sample.products, best.held_out if sample.folds else None
    return Choice(
        replace(best.params, max_iter=epochs, tol=None, random_state=sample.seed),
        _sentence(ranked, epochs, paired, reason) + among,
        None if scaling is None else scaling.spread(columns, features),
        None if multiply is None else replace(multiply, columns=columns[multiply.columns]),
        scores,
        held,
        None if held is None else held.calibration(),
    )


def _rows_to_compare(sample: Sample, step: int | None, groups: Any, time: Any) -> tuple[Sample, NDArray[np.intp], int]:
    """Every k-th row with a weight, over the columns in use and in folds; these columns; and k.

    All rows, or k is a power of 2 by which they take at most `SAMPLE_BYTES`.
    """
    table, weights = sample.table, sample.weights
    rows = np.arange(table.count) if weights is None else np.flatnonzero(weights)
    if step is None:
        stored = int(np.diff(table.values.indptr)[rows].sum()) if table.sparse else len(rows) * table.features
        step = sample_step(stored, len(rows))
        rows = rows[::step]
    if len(rows) < table.count:
        groups = None if groups is None else check_column("groups", groups, sample.labels)[rows]
        time = None if time is None else check_column("time", time, sample.labels)[rows]
        sample = sample.take(rows)
    columns = np.arange(table.features)
    if table.sparse:
        compact, columns = sample.table.csr().compact()
        sample = replace(sample, table=compact.table())
    folds, spare_folds = selection_folds(sample.labels, sample.seed, groups=groups, time=time)
    if sample.scorer.response != "predict":  # no score of ranks is defined for one class
        folds = [fold for fold in folds if len(np.unique(sample.labels.codes[fold[1]])) > 1] or folds
    return replace(sample, folds=folds, spare_folds=spare_folds), columns, step


def sample_step(stored: int, rows: int) -> int:
    """The power of 2 by which so many stored values and rows take at most `SAMPLE_BYTES`."""
    size, step = 12 * stored + 16 * rows, 1
    while size > SAMPLE_BYTES * step:
        step *= 2
    return step


def rank(grid: list[LinearParams], sample: Sample) -> list[Candidate]:
    """Let candidates with these params learn side by side; weaker ones stop early. The best is first.

    Without held-out rows, the first of the grid is.
    """
    candidates = [Candidate(params, sample) for params in grid]
    if not sample.folds:
        return candidates
    left, done = candidates, 0
    for epochs, stay in (*ROUNDS, (sample.max_iter, 1)):
        while done < min(epochs, sample.max_iter) and (active := [run for c in left for run in c.active_runs()]):
            run_epoch(active, sample.n_jobs)
            done += 1
        left = best_first(left)
        left = left[: 1 if left[0].score == 1.0 else stay]
    return [left[0], *(each for each in best_first(candidates) if each is not left[0])]


def _columns_to_multiply(best: Candidate) -> NDArray[np.intp]:
    """The columns whose products are tried: all, or if there are too many, the mostly filled ones."""
    sample, table = best.sample, best.sample.table
    none, used = np.empty(0, np.intp), np.arange(table.features)
    if not sample.folds or (sample.scorer.is_accuracy and np.count_nonzero(~best.right) <= TOO_FEW_WRONG):
        return none
    most = min(MOST_TERMS, MOST_WEIGHTS // weight_rows(len(sample.labels.classes)))
    if table.sparse and count_terms(len(used)) > most:
        used = np.flatnonzero(np.bincount(table.values.indices) > MOST_FILLED * table.count)
    return used if count_terms(len(used)) <= most else none


def _with_products(plain: list[Candidate], sample: Sample, used: NDArray[np.intp]) -> tuple[list[Candidate], Paired]:
    """The candidates and one with products of these columns, which is first if it is clearly better; and the scores.

    Further rows are held out only if those of the first comparison do not speak against products.
    """
    small, standard = _sample_for_products(sample, count_terms(len(used))), standardize(sample.table)
    multiply = Products(used, standard.center[used], standard.scale[used])
    terms = replace(small, table=multiply.apply(small.table), products=multiply)
    # One candidate: a second look at the same rows has to be quick.
    (multiplied,), best = rank(family(terms.table)[:1], terms), plain[0]
    if small is not sample:  # the best candidate without products learns from the rows of the products
        (best,) = rank([best.params], small.scaled(best.sample.scaling))
    if multiplied.score < best.score:
        return [*plain, multiplied], Paired(len(best.sample.held), multiplied.score, best.score)
    held = best.held_out
    measure = held.scorer.measure(held.labels, held.weights)
    paired = Paired(len(held.scores), measure(multiplied.held_out.scores), measure(held.scores))
    if held.scorer.is_accuracy:
        better = clearly_better(multiplied.right, best.right, held.weights)
    else:
        better = paired.products > paired.columns + best.error(paired.columns)
    return [multiplied, *plain] if better else [*plain, multiplied], paired


def clearly_better(later: NDArray[np.bool_], first: NDArray[np.bool_], weights: Floats | None) -> bool:
    """True if `later` fixes more rows than it breaks, by more than a standard error (McNemar's paired test)."""
    counts = np.ones(len(first)) if weights is None else as_counts(weights)
    fixed, broken = counts[later & ~first], counts[first & ~later]
    error = math.sqrt(np.square(fixed).sum() + np.square(broken).sum() + 1)
    return bool(fixed.sum() - broken.sum() > error)


def _sample_for_products(sample: Sample, terms: int) -> Sample:
    """All rows, or as many training rows and held-out rows as so many terms per row allow to hold at once."""
    if terms * sample.table.count <= choice.MOST_VALUES:
        return sample
    by = max(1, math.ceil(len(sample.held) * terms / (HELD_VALUES * choice.MOST_VALUES)))
    step = math.ceil(len(sample.folds[0][0]) * terms / ((1 - HELD_VALUES) * choice.MOST_VALUES))
    folds = [(training[::step], held[::by]) for training, held in sample.folds]
    rows = np.unique(np.concatenate([part for fold in folds for part in fold]))
    first, last = ([np.searchsorted(rows, fold[k]).astype(np.uint32) for fold in folds] for k in (0, 1))
    return replace(sample.take(rows), folds=list(zip(first, last, strict=True)))


def _select_regression(sample: Sample, max_iter: int | None, among: str) -> Choice:
    """The C, epsilon and epochs of a regression."""
    epochs = TUNED_EPOCHS if max_iter is None else (max_iter,)
    grid = tuning_grid(typical_squared_norm(sample.table), seed=sample.seed, is_regression=True, epochs=epochs)
    if not sample.folds:
        chosen = grid[-len(grid) // 3]
        return Choice(chosen, f"{chosen.written()}: too few rows to compare parameters")
    tried = try_params(grid, sample)
    (params, best), (other, second) = tried[:2]
    score = "R²" if sample.scorer is R2 else sample.scorer.name
    found = f"{score} {best.mean:.4f} on {len(sample.held):,} held-out rows{among}"
    why = f"{params.written()}: {found}; best of the other {len(tried) - 1}: {other.written()}, {second.mean:.4f}"
    return Choice(params, why, scores={each.written(): score.mean for each, score in tried})


def find_leak(sample: Sample, best: Candidate) -> int | None:
    """The column that alone, by a threshold, tells two classes apart; such a column is often a copy of the label."""
    table, codes = sample.table, sample.labels.codes
    present = np.flatnonzero(np.bincount(codes))
    if not sample.folds or not sample.scorer.is_accuracy or best.score < LEAK_SCORE:
        return None
    if len(present) != 2 or not 2 <= table.features <= LEAK_COLUMNS or table.count < 50:
        return None
    rows = np.arange(0, table.count, max(1, table.count // LEAK_ROWS), dtype=np.uint32)
    values = table.csr().select(rows).dense() if table.sparse else np.asarray(table.take(rows))
    no, yes = (values[codes[rows] == code] for code in present)
    if not len(no) or not len(yes):
        return None
    apart = np.flatnonzero((no.max(axis=0) < yes.min(axis=0)) | (yes.max(axis=0) < no.min(axis=0)))
    return int(apart[0]) if len(apart) else None
