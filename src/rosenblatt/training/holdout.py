"""Held-out scores of a learner, and the probabilities that follow from them.

Invariant: no row is scored by weights that were learned from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import RowBatch
from rosenblatt.data.labels import Classes, Labels
from rosenblatt.data.row_store import RowStore
from rosenblatt.data.table import Csr, Table, as_table
from rosenblatt.errors import DataError
from rosenblatt.evaluation import Evaluation, Evaluator, evaluate_batches, wilson_interval
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.fit import prepare_params, run_threads
from rosenblatt.learners.learned import Reading
from rosenblatt.learners.support import KERNEL, space_of
from rosenblatt.learners.targets import row_weights
from rosenblatt.learners.weights import seed_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import predict_codes
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import Params
from rosenblatt.select.calibration import WINDOW, Calibration, HeldOutScores
from rosenblatt.select.folds import assign_folds
from rosenblatt.training.rows import DENSE, Compact

Floats = NDArray[np.float64]
MOST_TERMS = 1 << 27  # products of columns that are held for folds: half a gigabyte


@dataclass(frozen=True)
class HoldoutResult:
    """An accuracy on rows that had not been learned from, and which rows these were."""

    accuracy: float
    effective: float  # as how many rows of equal weight they count
    rows: str  # which they were, in words
    how: str = ""  # and how they were judged
    found: Evaluation | None = None  # all figures, where there are more
    baseline: float | None = None  # the accuracy of always predicting the most frequent class

    @classmethod
    def of(cls, found: Evaluation, rows: str, how: str = "") -> HoldoutResult:
        return cls(found.accuracy, found.effective, rows, how, found, found.baseline)

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval."""
        return wilson_interval(self.accuracy, self.effective)

    def sentence(self) -> str:
        low, high = self.interval()
        baseline = "" if self.baseline is None else f"; baseline {self.baseline:.2%}, the most frequent class"
        return f"{self.accuracy:.2%} of {self.rows} right{self.how} (95 % interval {low:.2%} to {high:.2%}{baseline})"

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        plain = {
            "accuracy": self.accuracy,
            "interval": list(self.interval()),
            "baseline": self.baseline,
            "rows": f"{self.rows}{self.how}",
        }
        return plain | ({} if self.found is None else {"figures": self.found.to_json()})


def judge_by(model: Model, reader: Dataset, name: str) -> tuple[HoldoutResult, Calibrator]:
    """The model on rows of their own, and the probabilities that they give it."""
    found = evaluate_batches(model, reader)
    held = HoldoutResult.of(found, f"the {found.count:,} rows of {name}")
    classes, judged = Classes(model.classes), HeldOutScores.empty(len(model.classes))
    by = math.ceil(found.count / WINDOW)
    for batch in reader:
        codes = classes.codes(batch)
        rows = np.flatnonzero(codes >= 0)[::by]
        new = HeldOutScores(model.batch_scores(batch), codes, batch.weights).take(rows)
        judged = judged.append(new)
    return held, Calibration("auto", judged, len(classes)).calibrator


def judge_by_folds(
    store: RowStore, classes: NDArray[Any], params: Params, folds: int, *, products: Products | None = None
) -> tuple[HoldoutResult, Calibrator]:
    """Each row by what was learned from the other folds, and the probabilities that these scores give."""
    rows, labels = store.batch(), Labels(classes, store.y)
    table = _prepared(rows, params, products)
    fold_of = assign_folds(labels, np.arange(len(rows), dtype=np.uint32), folds, seed_of(params.random_state))
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    tasks = [
        partial(answer_fold, params, table, labels, np.where(fold_of == fold, 0.0, weights), fold_of == fold)
        for fold in range(folds)
    ]
    parts = run_threads(tasks, -1)
    scores = np.empty((len(rows), parts[0].shape[1]))
    for fold, part in enumerate(parts):
        scores[fold_of == fold] = part
    evaluator = Evaluator(classes)
    evaluator.add(labels.codes, predict_codes(scores), rows.weights, scores, None)
    found = evaluator.result()
    calibrator = Calibration("auto", HeldOutScores(scores, labels.codes, rows.weights), len(classes)).calibrator
    how = f", each judged by what was learned from the other {folds - 1} of {folds} folds"
    return HoldoutResult.of(found, f"{len(rows):,} rows", how), calibrator


def answer_fold(
    params: Params,
    table: Table,
    labels: Labels,
    weights: Floats,
    held: NDArray[np.bool_],
    cancel: NDArray[np.uint8],
) -> Floats:
    """The scores of the rows that are held out, by what is learned from the others."""
    fitting = prepare_params(params, space_of(params), table, labels, row_weights(weights, None, labels))
    outcomes = [] if cancel[0] else fitting.run()
    answers = fitting.space.make_predictors([outcome.state for outcome in outcomes])
    return Reading(labels.classes, answers).scores(table, np.flatnonzero(held).astype(np.uint32))


def _prepared(rows: RowBatch, params: Params, products: Products | None) -> Table:
    """The rows as the learner gets them."""
    compact = Compact.of(rows)
    if products is not None:
        places = np.searchsorted(compact.columns, products.columns)
        if len(rows) * count_terms(len(places)) > MOST_TERMS or places[-1] >= len(compact.columns):
            raise DataError("--folds: products of columns of so many rows are too many to hold: use --validation FILE")
        return replace(products, columns=places).apply(compact.table)
    X = compact.X
    if space_of(params) is KERNEL and isinstance(X, Csr):
        X = X.dense() if X.shape[0] * X.shape[1] <= DENSE else X.matrix()
    return X.table() if isinstance(X, Csr) else as_table(X)
