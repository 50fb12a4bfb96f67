"""Rows held out to say when to stop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError
from rosenblatt.learners.state import State
from rosenblatt.models.linear import predict_codes


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


def validation_score(state: State, *, table: Table, y: NDArray[Any], rows: NDArray[np.uint32] | None) -> float:
    """The share of the rows that the answer so far gets right; `y` holds signs with two classes, codes with more."""
    codes = predict_codes(state.answer().scores(table, rows))
    expected = y if rows is None else y[rows]
    if expected.dtype == np.int8:
        expected = expected > 0
    return float(np.mean(codes == expected))
