"""Rows to learn from and rows to hold out: evenly by class, by group, or by time.

Invariant: a fold is an index into the same memory. Nothing here needs scikit-learn.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.fit import run_threads
from rosenblatt.learners.targets import hold_out
from rosenblatt.params import check_count

if TYPE_CHECKING:
    from rosenblatt.learners.base import Learner

Floats = NDArray[np.float64]
Rows = NDArray[np.uint32]
Fold = tuple[Rows, Rows]  # rows to learn from, rows to hold out

MOST_FOLDS = 5
ROWS_IN_FOLDS = 500  # so few rows are judged by several folds, since a single held-out part would be too small
FEWEST_ROWS = 5
HELD_OUT = 0.2
MOST_HELD_OUT = 10_000


class FoldScores:
    """A score per fold, their mean and standard error."""

    scores: Floats
    weights: Floats | None  # what the rows of each fold weigh; None: folds count alike

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.average(self.scores, weights=self.weights))

    @property
    def standard_error(self) -> float:
        """Of the mean, from the spread of the folds; they share rows, so it is a guide and not a bound."""
        return float(self.scores.std(ddof=1) / np.sqrt(len(self.scores)))

    def percent(self) -> str:
        """The mean and its standard error, as shares."""
        return f"{100 * self.mean:.2f} % ± {100 * self.standard_error:.2f} ({len(self.scores)} folds)"


def too_few_rows(folds: int, rows: int) -> DataError:
    """The error for more folds than rows."""
    return DataError(f"folds={folds} of {rows} rows: each fold needs at least one row")


def assign_folds(labels: Labels, rows: Rows, folds: int, seed: int, groups: Any = None) -> NDArray[np.int64]:
    """The fold of every row, 0..folds-1; -1 for a row that is not among `rows`.

    Every class is spread evenly over the folds; with `groups`, rows of equal group share a fold instead.
    """
    check_count("folds", folds, least=2)
    if len(rows) < folds:
        raise too_few_rows(folds, len(rows))
    generator = engine.seed_generator(seed, 2**63)
    fold_of = np.full(len(labels.codes), -1, np.int64)
    if groups is not None:
        return _assign_groups(check_column("groups", groups, labels), rows, folds, fold_of, generator)
    begin = 0
    for k in range(len(labels.classes)):
        members = rows[labels.codes[rows] == k].copy()
        engine.shuffle(members, generator)
        fold_of[members] = (begin + np.arange(len(members))) % folds
        begin += len(members)
    return fold_of


def _assign_groups(
    groups: NDArray[Any], rows: Rows, folds: int, fold_of: NDArray[np.int64], generator: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Whole groups, the largest first, each to the fold with the fewest rows so far."""
    names, group_of, counts = np.unique(groups[rows], return_inverse=True, return_counts=True)
    if len(names) < folds:
        raise DataError(f"folds={folds} of {len(names)} groups: each fold needs at least one group")
    order = np.arange(len(names), dtype=np.uint32)
    engine.shuffle(order, generator)
    fold_of_group, sizes = np.empty(len(names), np.int64), np.zeros(folds)
    for group in order[np.argsort(-counts[order], kind="stable")].tolist():
        fold_of_group[group] = fold = int(np.argmin(sizes))
        sizes[fold] += counts[group]
    fold_of[rows] = fold_of_group[group_of.ravel()]
    return fold_of


def check_column(name: str, values: Any, labels: Labels) -> NDArray[Any]:
    """One value per row, such as a group or a time."""
    column = np.asarray(values)
    if column.shape != labels.codes.shape:
        raise DataError(f"{name} has the shape {column.shape}: must be one value per row, {labels.codes.shape}")
    return column


def make_folds(
    labels: Labels, weights: Floats | None, folds: int, seed: int, *, groups: Any = None, time: Any = None
) -> list[Fold]:
    """So many folds of the rows whose weight is not 0; with `time`, each is held out from the rows before it."""
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    rows = rows if weights is None else rows[weights > 0]
    if time is None:
        fold_of = assign_folds(labels, rows, folds, seed, groups)[rows]
        return [(rows[fold_of != fold], rows[fold_of == fold]) for fold in range(folds)]
    if groups is not None:
        raise ParameterError("groups and time: pass one of them")
    check_count("folds", folds, least=2)
    if len(rows) < folds + 1:
        raise too_few_rows(folds, len(rows))
    order = rows[np.argsort(check_column("time", time, labels)[rows], kind="stable")]
    cuts = [len(order) * k // (folds + 1) for k in range(1, folds + 2)]
    return [(np.sort(order[:begin]), np.sort(order[begin:end])) for begin, end in pairwise(cuts)]


def selection_folds(
    labels: Labels, weights: Floats | None, seed: int, *, groups: Any = None, time: Any = None
) -> list[Fold]:
    """One held-out part, or folds of few rows; none if there are too few rows to compare learners by."""
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    rows = rows if weights is None else rows[weights > 0]
    counts = np.bincount(labels.codes[rows], minlength=len(labels.classes))
    if counts[counts > 0].min() < 2 or len(rows) < FEWEST_ROWS:  # a class of weight 0 is absent
        return []
    if time is not None:
        last = make_folds(labels, weights, round(1 / HELD_OUT) - 1, seed, groups=groups, time=time)[-1]
        return [last] if _has_two_classes(labels, last) else []
    folds = min(MOST_FOLDS, ROWS_IN_FOLDS // len(rows))
    if groups is not None:
        folds = min(MOST_FOLDS, len(np.unique(check_column("groups", groups, labels)[rows])))
        parts = make_folds(labels, weights, folds, seed, groups=groups) if folds > 1 else []
        parts = [each for each in parts if _has_two_classes(labels, each)]
        return parts if len(rows) <= ROWS_IN_FOLDS else parts[:1]
    if folds < 2:
        generator = engine.seed_generator(seed, 2**63)
        return [hold_out(labels, rows, min(HELD_OUT, MOST_HELD_OUT / len(rows)), generator)]
    return [each for each in make_folds(labels, weights, folds, seed) if len(each[1])]


def _has_two_classes(labels: Labels, fold: Fold) -> bool:
    """Can a classifier learn from the training rows?"""
    return len(np.unique(labels.codes[fold[0]])) > 1


def fit_folds(
    learner: Learner, table: Table, labels: Labels, weights: Floats | None, folds: list[Fold], n_jobs: int | None
) -> list[Learner]:
    """One clone per fold, learned from the training rows; folds run in threads, each a view of the same rows."""
    from sklearn.base import clone

    tasks = [
        partial(_fit_fold, clone(learner), table, labels, training_weights(weights, fold, len(labels.codes)))
        for fold in folds
    ]
    return run_threads(tasks, n_jobs)


def training_weights(weights: Floats | None, fold: Fold, rows: int) -> Floats:
    """The weights of all rows, 0 for those that are not learned from."""
    found = np.zeros(rows)
    found[fold[0]] = 1.0 if weights is None else weights[fold[0]]
    return found


def _fit_fold(learner: Any, table: Table, labels: Labels, weights: Floats, cancel: NDArray[np.uint8]) -> Learner:
    from rosenblatt.learners.fit import conclude, prepare

    fitting = prepare(learner, table, labels, weights)
    if not cancel[0]:
        conclude(learner, table.values, fitting, fitting.run())
    result: Learner = learner
    return result


def check_learner(learner: Any) -> None:
    """Raise unless it is a learner of rosenblatt whose rows can be split."""
    from rosenblatt.learners.base import Learner

    if not isinstance(learner, Learner):
        raise ParameterError(f"learner: {type(learner).__name__} is not a learner of rosenblatt")
    if getattr(learner, "precomputed", False):
        raise ParameterError("kernel='precomputed': the rows of a kernel matrix cannot be split into folds")
