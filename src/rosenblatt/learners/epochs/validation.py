"""Rows held out to say when to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError
from rosenblatt.learners.epochs.run import LearningState
from rosenblatt.learners.targets import Targets


def hold_out(
    labels: Labels, rows: NDArray[np.uint32] | None, fraction: float, generator: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Rows to learn from and rows to validate on, in order: the same share of every class."""
    everything = np.arange(len(labels.codes), dtype=np.uint32) if rows is None else rows
    codes = labels.codes[everything]
    held = np.zeros(len(labels.codes), bool)
    for k in range(len(labels.classes)):
        members = everything[codes == k].copy()
        engine.shuffle(members, generator)
        held[members[: round(fraction * len(members))]] = True
    validation, training = everything[held[everything]], everything[~held[everything]]
    if not len(validation):
        raise DataError(
            f"validation_fraction={fraction} of {len(everything)} rows leaves no row to validate on: "
            "raise it, or pass X_val and y_val"
        )
    left = np.bincount(labels.codes[training], minlength=len(labels.classes))
    if not left.all():
        gone = labels.classes.tolist()[int(np.argmin(left))]
        raise DataError(f"validation_fraction={fraction} leaves no row of class {gone!r} to learn from")
    return training, validation


def validation_score(state: LearningState, *, table: Table, targets: Targets, rows: NDArray[np.uint32] | None) -> float:
    """The share of the rows that the answer so far gets right."""
    asked = targets if rows is None else targets.take(rows)
    return float(np.mean(asked.right(state.answer().scores(table, rows))))
