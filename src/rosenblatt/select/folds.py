"""Rows to learn from and rows to hold out: evenly by class, by group, or by time.

Invariant: a fold is an index into the same memory. Nothing here needs scikit-learn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.targets import draw_order, hold_out
from rosenblatt.params import check_count

Floats = NDArray[np.float64]
Rows = NDArray[np.uint32]
Fold = tuple[Rows, Rows]  # rows to learn from, rows to hold out

MOST_FOLDS = 5
ROWS_IN_FOLDS = 500  # up to so many rows are split into several folds, since one held-out part would be too small
FEWEST_ROWS = 5
HELD_OUT = 0.2
MOST_HELD_OUT = 10_000


def too_few_rows(folds: int, rows: int) -> DataError:
    """The error for more folds than rows."""
    return DataError(f"folds={folds} of {rows} rows: each fold needs at least one row")


def split_rows(labels: Labels, rows: Rows, folds: int, seed: int, groups: Any = None) -> list[Rows]:
    """The rows in so many parts.

    Every class is spread evenly over the parts; with `groups`, rows of equal group share a part instead.
    """
    check_count("folds", folds, least=2)
    if len(rows) < folds:
        raise too_few_rows(folds, len(rows))
    generator = engine.seed_generator(seed, 2**63)
    if groups is None:
        classes = range(len(labels.classes))
        order = np.concatenate([draw_order(rows[labels.codes[rows] == k], generator) for k in classes])
        return [np.sort(order[fold::folds]) for fold in range(folds)]
    groups = check_column("groups", groups, labels)[rows]
    names, group_of, counts = np.unique(groups, return_inverse=True, return_counts=True)
    if len(names) < folds:
        raise DataError(f"folds={folds} of {len(names)} groups: each fold needs at least one group")
    order = draw_order(np.arange(len(names), dtype=np.uint32), generator)
    fold_of, sizes = np.empty(len(names), np.int64), np.zeros(folds)
    for group in order[np.argsort(-counts[order], kind="stable")].tolist():  # the largest group first
        fold_of[group] = fold = int(np.argmin(sizes))  # the fold with the fewest rows so far
        sizes[fold] += counts[group]
    return [rows[fold_of[group_of.ravel()] == fold] for fold in range(folds)]


def check_column(name: str, values: Any, labels: Labels) -> NDArray[Any]:
    """One value per row, such as a group or a time."""
    column = np.asarray(values)
    if column.shape != labels.codes.shape:
        raise DataError(f"{name} has the shape {column.shape}: must be one value per row, {labels.codes.shape}")
    missing = column != column if column.dtype != object else [each is None or each != each for each in column]
    if np.any(missing):
        raise DataError(f"{name} has no value in row {int(np.argmax(missing))}: rows are split by it")
    return column


def take_rows(values: Any, rows: Any) -> Any:
    """The values of some rows; None stays None."""
    return None if values is None else values[rows]


def make_folds(
    labels: Labels, weights: Floats | None, folds: int, seed: int, *, groups: Any = None, time: Any = None
) -> list[Fold]:
    """So many folds of the rows whose weight is not 0; with `time`, each is held out from the rows before it."""
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    rows = rows if weights is None else rows[weights > 0]
    if time is None:
        return [_holding_out(held, rows) for held in split_rows(labels, rows, folds, seed, groups)]
    if groups is not None:
        raise ParameterError("groups and time: pass one of them")
    check_count("folds", folds, least=2)
    if len(rows) < folds + 1:
        raise too_few_rows(folds, len(rows))
    order = rows[np.argsort(check_column("time", time, labels)[rows], kind="stable")]
    cuts = [len(order) * k // (folds + 1) for k in range(1, folds + 2)]
    return [(np.sort(order[:begin]), np.sort(order[begin:end])) for begin, end in pairwise(cuts)]


def selection_folds(
    labels: Labels, seed: int, *, groups: Any = None, time: Any = None
) -> tuple[list[Fold], list[Fold]]:
    """The folds that compare learners, and spare folds with other held-out rows, if the first are too few.

    Few rows are compared by several folds, more by one held-out part. No folds: there are too few rows, or too few of
    a class. Among many rows the only one of its class, such as a misspelled label, is learned from and not held out.
    """
    rows = np.arange(len(labels.codes), dtype=np.uint32)
    counts = np.bincount(labels.codes)
    single, several = int((counts == 1).sum()), int((counts > 1).sum())
    rare = single and (several < 2 or max(ROWS_IN_FOLDS // 2, 2 * single) >= len(rows))
    if rare or len(rows) < FEWEST_ROWS or not _can_learn(labels, (rows, rows)):
        return [], []
    if time is not None:
        last = make_folds(labels, None, round(1 / HELD_OUT) - 1, seed, groups=groups, time=time)[-1]
        return ([last] if _can_learn(labels, last) else []), []
    if groups is not None:
        folds = min(MOST_FOLDS, len(np.unique(check_column("groups", groups, labels))))
        parts = make_folds(labels, None, folds, seed, groups=groups) if folds > 1 else []
        parts = [each for each in parts if _can_learn(labels, each)]
        return (parts, []) if len(rows) <= ROWS_IN_FOLDS else (parts[:1], parts[1:])
    folds = min(MOST_FOLDS, ROWS_IN_FOLDS // len(rows))
    if folds > 1:
        return [each for each in make_folds(labels, None, folds, seed) if len(each[1])], []
    training, held = hold_out(
        labels, rows, min(HELD_OUT, MOST_HELD_OUT / len(rows)), engine.seed_generator(seed, 2**63)
    )
    others = training[counts[labels.codes[training]] > 1]
    spare = [_holding_out(part, rows) for part in split_rows(labels, others, MOST_FOLDS - 1, seed)]
    return [(training, held)], spare


def _holding_out(held: Rows, rows: Rows) -> Fold:
    """All rows but these to learn from, and these."""
    is_held = np.zeros(int(rows[-1]) + 1, bool)
    is_held[held] = True
    return rows[~is_held[rows]], held


def _can_learn(labels: Labels, fold: Fold) -> bool:
    """True if the training rows have two classes; always for a regression."""
    return isinstance(labels, Numbers) or len(np.unique(labels.codes[fold[0]])) > 1


@dataclass(frozen=True)
class CrossValidation:
    """The score on each fold, of the learner fitted on the other folds.

    >>> from rosenblatt import Perceptron, cross_validate
    >>> rows, labels = [[-2.0], [-1.0], [1.0], [2.0]] * 10, [0, 0, 1, 1] * 10
    >>> found = cross_validate(rows, labels, Perceptron())
    >>> found.mean, len(found.scores)
    (1.0, 5)
    """

    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None  # what the rows of each fold weigh; None: folds count alike
    scoring: str = "accuracy"

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return float(np.average(self.scores, weights=self.weights))

    @property
    def standard_error(self) -> float:
        """Of the mean, from the spread of the folds: they share rows, so it is a guide. NaN of one fold."""
        return float(self.scores.std(ddof=1) / np.sqrt(len(self.scores))) if len(self.scores) > 1 else math.nan

    def __str__(self) -> str:
        if self.scoring != "accuracy":
            return f"{self.scoring} {self.mean:.4f} ± {self.standard_error:.4f} ({len(self.scores)} folds)"
        return f"{self.mean:.2%} ± {self.standard_error:.2%} ({len(self.scores)} folds)"


def check_learner(learner: Any) -> None:
    """Raise unless it is a learner of rosenblatt whose rows can be split."""
    from rosenblatt.learners.base import Learner

    if not isinstance(learner, Learner):
        if isinstance(learner, type):
            raise ParameterError(f"learner: {learner.__name__} is a class; pass {learner.__name__}()")
        other = "; put Calibrated into the pipeline, and cross-validate it by scikit-learn" * hasattr(learner, "steps")
        raise ParameterError(f"learner: {type(learner).__name__} is not a learner of rosenblatt{other}")
    if getattr(learner, "precomputed", False):
        raise ParameterError("kernel='precomputed': the rows of a kernel matrix cannot be split into folds")
