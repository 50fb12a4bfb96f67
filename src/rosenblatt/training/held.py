"""How a learner did on rows that it had not learned from, and the probabilities that follow from their scores.

Invariant: no row is judged by weights that it has moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Classes, RowBatch
from rosenblatt.data.labels import Labels
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
from rosenblatt.select.folds import assign_folds, too_few_rows
from rosenblatt.training.rows import DENSE, Compact, read_rows

Floats = NDArray[np.float64]
MOST_TERMS = 1 << 27  # products of columns that are held for folds: half a gigabyte


@dataclass(frozen=True)
class Held:
    """An accuracy on rows that had not been learned from, and which rows these were."""

    accuracy: float
    effective: float  # as how many rows of equal weight they count
    rows: str  # which they were, in words
    how: str = ""  # and how they were judged
    found: Evaluation | None = None  # all figures, where there are more
    baseline: float | None = None  # the accuracy of always predicting the most frequent class

    @classmethod
    def of(cls, found: Evaluation, rows: str, how: str = "") -> Held:
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


def judge_by(model: Model, reader: Dataset, name: str) -> tuple[Held, Calibrator]:
    """The model on rows of their own, and the probabilities that they give it."""
    found = evaluate_batches(model, reader)
    held = Held.of(found, f"the {found.count:,} rows of {name}")
    classes, judged = Classes(model.classes), HeldOutScores.empty(len(model.classes))
    by = math.ceil(found.count / WINDOW)
    for batch in reader:
        codes = classes.codes(batch)
        rows = np.flatnonzero(codes >= 0)[::by]
        new = HeldOutScores(model.batch_scores(batch), codes, batch.weights).take(rows)
        judged = judged.append(new)
    return held, Calibration("auto", judged, len(classes)).calibrator


def check_fold_count(reader: Dataset, folds: int) -> None:
    """Raise, before anything is learned, if there are fewer rows than folds; only their beginning is read."""
    count, batches = 0, iter(reader)
    while count < folds:
        batch = next(batches, None)
        if batch is None:
            raise too_few_rows(folds, count)
        count += len(batch) if batch.weights is None else int(np.count_nonzero(batch.weights))


def judge_by_folds(
    reader: Dataset, params: Params, folds: int, *, scale: Floats | None = None, products: Products | None = None
) -> tuple[Held, Calibrator]:
    """Each row by what was learned from the other folds, and the probabilities that these scores give."""
    rows, classes = read_rows(reader), reader.scan_classes()
    rows = rows if rows.weights is None or rows.weights.all() else rows.take(np.flatnonzero(rows.weights))
    labels = Labels(classes.values, classes.codes(rows))
    table = _prepared(rows, reader.encoder.features, params, scale, products)
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
    evaluator = Evaluator(classes.values)
    evaluator.add(labels.codes, predict_codes(scores), rows.weights, scores, None)
    found = evaluator.result()
    calibrator = Calibration("auto", HeldOutScores(scores, labels.codes, rows.weights), len(classes)).calibrator
    how = f", each judged by what was learned from the other {folds - 1} of {folds} folds"
    return Held.of(found, f"{len(rows):,} rows", how), calibrator


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


def _prepared(
    rows: RowBatch, features: int | None, params: Params, scale: Floats | None, products: Products | None
) -> Table:
    """The rows as the learner meets them."""
    compact = Compact.of(rows, features)
    if products is not None:
        places = np.searchsorted(compact.columns, products.columns)
        if len(rows) * count_terms(len(places)) > MOST_TERMS or places[-1] >= len(compact.columns):
            raise DataError("--folds: products of columns of so many rows are too many to hold: use --validation FILE")
        return replace(products, columns=places).apply(compact.table)
    X = compact.X
    if scale is not None:
        own = np.ones(compact.features)
        own[: len(scale)] = scale[: compact.features]
        X = X.divided(own[compact.columns]) if isinstance(X, Csr) else X / own[compact.columns]
    if space_of(params) is KERNEL and isinstance(X, Csr):
        X = X.dense() if X.shape[0] * X.shape[1] <= DENSE else X.matrix()
    return X.table() if isinstance(X, Csr) else as_table(X)
