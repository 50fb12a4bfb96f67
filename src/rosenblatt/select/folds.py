"""Learning from some of the rows and answering for the others, without copying any.

Invariant: a fold is an index into the same memory. Every class is spread evenly over the folds.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.epochs.threads import run_threads
from rosenblatt.params.parameters import check_count

if TYPE_CHECKING:
    from rosenblatt.learners.base import Learner


class FoldScores:
    """A score per fold, and what they say together."""

    scores: NDArray[np.float64]
    weights: NDArray[np.float64] | None  # what the rows of each fold weigh; None: folds count alike

    @property
    def mean(self) -> float:
        return float(np.average(self.scores, weights=self.weights))

    @property
    def standard_error(self) -> float:
        """Of the mean, from the spread of the folds; they share rows, so it is a guide and not a bound."""
        return float(self.scores.std(ddof=1) / np.sqrt(len(self.scores)))

    def percent(self) -> str:
        """The mean and its standard error, as shares."""
        return f"{100 * self.mean:.2f} % ± {100 * self.standard_error:.2f} ({len(self.scores)} folds)"


def too_few_rows(folds: int, rows: int) -> DataError:
    """What is wrong with more folds than rows."""
    return DataError(f"folds={folds} of {rows} rows: each fold needs at least one row")


def assign_folds(labels: Labels, rows: NDArray[np.uint32], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every row, 0..folds-1; -1 for a row that is not among `rows`."""
    check_count("folds", folds, least=2)
    if len(rows) < folds:
        raise too_few_rows(folds, len(rows))
    generator = engine.seed_generator(seed, 2**63)
    fold_of = np.full(len(labels.codes), -1, np.int64)
    begin = 0
    for k in range(len(labels.classes)):
        members = rows[labels.codes[rows] == k].copy()
        engine.shuffle(members, generator)
        fold_of[members] = (begin + np.arange(len(members))) % folds
        begin += len(members)
    return fold_of


def fit_folds(
    learner: Learner,
    table: Table,
    labels: Labels,
    weights: NDArray[np.float64] | None,
    fold_of: NDArray[np.int64],
    n_jobs: int | None,
) -> list[Learner]:
    """One clone a fold, learned from the rows outside of it; folds run in threads, each a view of the same rows."""
    from sklearn.base import clone

    folds = range(int(fold_of.max()) + 1)
    base = np.ones(len(fold_of)) if weights is None else weights
    tasks = [
        partial(_fit_fold, clone(learner), table, labels, np.where((fold_of >= 0) & (fold_of != fold), base, 0.0))
        for fold in folds
    ]
    return run_threads(tasks, n_jobs)


def out_of_fold_scores(
    fitted: list[Learner], table: Table, fold_of: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The rows that have a fold, and their scores by the learner that never saw them."""
    rows = np.flatnonzero(fold_of >= 0).astype(np.uint32)
    held = [np.flatnonzero(fold_of == fold).astype(np.uint32) for fold in range(len(fitted))]
    found = [scores_of(learner, table, part) for learner, part in zip(fitted, held, strict=True)]
    scores = np.empty((len(fold_of), found[0].shape[1]))
    scores[np.concatenate(held)] = np.vstack(found)
    return rows, scores[rows]


def scores_of(learner: Learner, table: Table, rows: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The scores of some rows, one column a weight row."""
    return learner.learned.reading().scores(table, rows)


def check_learner(learner: Any) -> None:
    """Raise unless it is one of the family, and its rows can be parted."""
    from rosenblatt.learners.base import Learner

    if not isinstance(learner, Learner):
        raise ParameterError(f"learner: {type(learner).__name__} is not a learner of rosenblatt")
    if getattr(learner, "precomputed", False):
        raise ParameterError("kernel='precomputed': the rows of a kernel matrix cannot be parted into folds")


def _fit_fold(
    learner: Any, table: Table, labels: Labels, weights: NDArray[np.float64], cancel: NDArray[np.uint8]
) -> Learner:
    from rosenblatt.learners.fitting import conclude, prepare

    fitting = prepare(learner, table, labels, weights)
    if not cancel[0]:
        conclude(learner, table.values, fitting, fitting.run())
    result: Learner = learner
    return result
