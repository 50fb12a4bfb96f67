"""Rules and their parameters side by side, as `train` would learn them from the same data.

Invariant: each set of params is judged by rows that it did not learn from, all by the same folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels
from rosenblatt.io.dataset import Dataset, check_classes
from rosenblatt.learners.fit import run_threads
from rosenblatt.models.predictions import predict_codes
from rosenblatt.params import Params, make_params
from rosenblatt.select.folds import FoldScores, assign_folds
from rosenblatt.select.scaling import typical_squared_norm
from rosenblatt.training.holdout import answer_fold
from rosenblatt.training.rows import Compact

EPOCHS = (2, 10)


@dataclass(frozen=True)
class Tried(FoldScores):
    """Params and its accuracy on each fold."""

    params: Params
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]  # what the rows of each fold weigh

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {"learner": self.params.written(), "accuracy": self.mean, "standard_error": self.standard_error}

    def __str__(self) -> str:
        return self.percent()


def tune_reader(reader: Dataset, *, folds: int = 5, random_state: int = 0) -> list[Tried]:
    """The params of a grid with their accuracies, the best first, of equals the first in the grid."""
    store = reader.load()
    classes = check_classes(reader.read_classes())
    rows, labels = store.batch(), Labels(classes.values, store.y)
    table = Compact.of(rows, reader.encoder.features).table
    fold_of = assign_folds(labels, np.arange(len(rows), dtype=np.uint32), folds, random_state)
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    shares = np.bincount(fold_of, weights, folds).astype(np.float64)
    tried = []
    for params in _grid(typical_squared_norm(table) + 1.0, random_state):
        tasks = [
            partial(answer_fold, params, table, labels, np.where(fold_of == fold, 0.0, weights), fold_of == fold)
            for fold in range(folds)
        ]
        scores = []
        for fold, found in enumerate(run_threads(tasks, -1)):
            held = fold_of == fold
            scores.append(np.average(predict_codes(found) == labels.codes[held], weights=weights[held]))
        tried.append(Tried(params, np.array(scores), shares))
    return sorted(tried, key=lambda each: -each.mean)


def _grid(q: float, seed: int) -> list[Params]:
    """Steps from cautious to bold for rows of median ``‖x‖² + 1 = q``."""
    found: list[Params] = []
    for epochs in EPOCHS:
        common: dict[str, Any] = {"max_iter": epochs, "tol": None, "random_state": seed}
        for share in (0.01, 0.1, 1.0, 10.0):
            found.append(make_params("pa1", C=float(f"{share / q:.2g}"), keep="average", **common))
        for share in (0.005, 0.05, 0.5, 5.0):
            found.append(make_params("arow", r=float(f"{share * q:.2g}"), **common))
        found.append(make_params("averaged", **common))
    return found
