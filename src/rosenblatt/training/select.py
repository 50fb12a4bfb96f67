"""Automatic selection: the learner that `AutoPerceptron` chooses, on a sample of the rows.

Invariant: the same data and seed give the same choice, however the data is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rosenblatt.training.holdout import HoldoutResult
from rosenblatt.training.rows import Compact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.data.batch import RowBatch
    from rosenblatt.models.calibrator import Calibrator
    from rosenblatt.models.predictors import Products
    from rosenblatt.params import Params

SAMPLE_BYTES = 32 << 20
UNTRIED_EPOCHS = 5  # where learners could not be compared
MANY_WEIGHTS = 1 << 26  # of all classes, over all columns: half a gigabyte
CAUTION = 0.5  # r beside the median ‖x‖² + 1, where AROW is taken untried: it comes first on such rows
MOST_WEIGHTS = 1 << 19  # of a candidate, all classes together; some dozens of candidates and folds are held at once


@dataclass(frozen=True)
class Choice:
    """Params, what columns are divided by or how they are multiplied, and why."""

    params: Params
    scale: NDArray[np.float64] | None
    products: Products | None
    why: str
    scores: dict[str, float]
    held: HoldoutResult | None = None  # how the best one did on the rows that it was chosen by
    calibrator: Calibrator | None = None


def choose(
    rows: RowBatch,
    step: int,
    classes: NDArray[Any],
    features: int | None,
    *,
    products: bool,
    max_iter: int | None = None,
    random_state: int = 0,
    class_weight: Any = None,
) -> Choice:
    """Choose by every `step`-th row, whose codes are those of the classes."""
    import numpy as np

    from rosenblatt.data.labels import encode_labels
    from rosenblatt.learners.targets import row_weights, weight_rows
    from rosenblatt.params import AROWParams
    from rosenblatt.select.scaling import typical_squared_norm
    from rosenblatt.select.search import MOST_EPOCHS, Sample, select

    compact = Compact.of(rows, features, dense=False)
    weights = weight_rows(len(classes)) * len(compact.columns)
    codes = rows.codes
    if weights > MOST_WEIGHTS or len(codes) == 0 or codes.min() == codes.max():
        why = f"{len(classes)} classes and {len(compact.columns):,} columns are too many to try several side by side"
        if weights <= MOST_WEIGHTS:
            why = f"every {step:,}-th row is of one class, too few to compare learners"
        r = float(f"{CAUTION * (typical_squared_norm(compact.table) + 1.0):.2g}")
        epochs = UNTRIED_EPOCHS if max_iter is None else max_iter
        untried = AROWParams(r=r, max_iter=epochs, random_state=random_state)
        return Choice(untried, None, None, f"AROW(r={r:g}): {why}", {})
    labels = encode_labels(classes[codes])
    sample_weights = row_weights(rows.weights, None, labels)
    found = select(
        Sample(
            compact.table, labels, row_weights(rows.weights, class_weight, labels, more_to_come=True), sample_weights
        ),
        products=products,
        seed=random_state,
        max_iter=MOST_EPOCHS if max_iter is None else max_iter,
    )
    best, params = found.best, found.params
    if found.contest is None and max_iter is None and len(classes) * compact.features > MANY_WEIGHTS:
        params.max_iter = UNTRIED_EPOCHS  # each epoch would go over all weights
    scale = None
    if found.scaling is not None:
        scale = np.ones(compact.features)
        scale[compact.columns] = found.scaling.scale
    sample = "" if step == 1 else f" (on every {step:,}-th row)"
    multiplied = found.products
    if multiplied is not None:
        multiplied = replace(multiplied, columns=compact.columns[multiplied.columns])
    held = None
    if found.contest is not None:
        which = (f"{best.held:,} held-out rows", ", by which the learner was chosen")
        held = HoldoutResult(best.score, best.effective, *which, baseline=found.held_baseline())
    calibration = found.calibrate() if len(labels.classes) == len(classes) else None
    calibrator = None if calibration is None else calibration.calibrator
    return Choice(params, scale, multiplied, found.sentence + sample, found.scores, held, calibrator)
