"""Rows held out to say when to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError
from rosenblatt.learners.state.learning import LearningState
from rosenblatt.learners.targets import Targets


def hold_out(
    labels: Labels, rows: NDArray[np.uint32] | None, fraction: float, generator: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Rows to learn from and rows to validate on, in order: the same share of every class, and never all of one.

    Where a share of each class is less than half a row, single rows of as many classes are held out.
    """
    everything = np.arange(len(labels.codes), dtype=np.uint32) if rows is None else rows
    codes = labels.codes[everything]
    held = np.zeros(len(labels.codes), bool)
    firsts = []  # of the classes with more than one row, in the order of the draw
    for k in range(len(labels.classes)):
        members = everything[codes == k].copy()
        engine.shuffle(members, generator)
        if len(members) > 1:
            firsts.append(members[0])
            held[members[: min(round(fraction * len(members)), len(members) - 1)]] = True
    if not held.any():
        single = np.array(firsts, np.uint32)
        engine.shuffle(single, generator)
        held[single[: round(fraction * len(everything))]] = True
    validation, training = everything[held[everything]], everything[~held[everything]]
    if not len(validation):
        raise DataError(
            f"validation_fraction={fraction} of {len(everything)} rows leaves no row to validate on: "
            "raise it, or pass X_val and y_val"
        )
    return training, validation


def validation_score(state: LearningState, *, table: Table, targets: Targets, rows: NDArray[np.uint32] | None) -> float:
    """How good the answer so far is on the rows: the share that it gets right, each counted with its weight."""
    asked = targets if rows is None else targets.take(rows)
    return asked.quality(state.answer().scores(table, rows))
