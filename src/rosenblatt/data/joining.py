"""Numbers, missing indicators and hashed features of a table as CSR arrays.

Invariant: the columns of a row rise strictly; features that are hashed alike are added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]  # rows, columns, values


def _blocks(
    numbers: list[NDArray[np.float64]], entries: list[Entries], base: int, count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]] | None:
    """The same where nothing is missing and each hashed part has one feature in every row; None if some are alike."""
    hashed = np.column_stack([columns for _, columns, _ in entries]).astype(np.int32)
    order = np.argsort(hashed, axis=1, kind="stable")
    hashed = np.take_along_axis(hashed, order, axis=1)
    if (hashed[:, 1:] == hashed[:, :-1]).any():
        return None
    ones = np.column_stack([values for _, _, values in entries])
    width = len(numbers) + hashed.shape[1]
    indices = np.empty((count, width), np.int32)
    indices[:, : len(numbers)] = np.arange(len(numbers), dtype=np.int32)
    indices[:, len(numbers) :] = hashed + np.int32(base)
    values = np.empty((count, width))
    for j, column in enumerate(numbers):
        values[:, j] = column
    values[:, len(numbers) :] = np.take_along_axis(ones, order, axis=1)
    return np.arange(count + 1, dtype=np.int32) * np.int32(width), indices.ravel(), values.ravel()


def join_features(
    numbers: list[NDArray[np.float64]], missing: NDArray[np.bool_], entries: list[Entries], base: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Numbers, missing indicators and hashed features as CSR arrays: every number that is there is stored, a 0 too."""
    count, width = missing.shape
    if numbers and not entries and not missing.any():
        each = np.arange(len(numbers), dtype=np.int32)
        starts = np.arange(count + 1, dtype=np.int32) * np.int32(len(numbers))
        return starts, np.tile(each, count), np.column_stack(numbers).ravel()
    if not missing.any() and all(len(rows) == count and (np.diff(rows) == 1).all() for rows, _, _ in entries):
        blocks = _blocks(numbers, entries, base, count)
        if blocks is not None:
            return blocks
    values = np.column_stack([*numbers, np.ones((count, width))]) if numbers else np.ones((count, width))
    there = np.column_stack([~np.isnan(values[:, : len(numbers)]), missing])
    rows, columns = np.nonzero(there)
    parts = [(rows, columns, values[there]), *((r, c.astype(np.int64) + base, v) for r, c, v in entries)]
    rows, columns, found = (np.concatenate(each) for each in zip(*parts, strict=True))
    span = int(columns.max(initial=0)) + 1
    keys = rows.astype(np.int64) * span + columns
    order = np.argsort(keys, kind="stable")
    keys, found = keys[order], found[order]
    first = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.empty(0, bool)
    if not first.all():  # hashed alike
        found = np.add.reduceat(found, np.flatnonzero(first))
        keys = keys[first]
    starts = np.searchsorted(keys, np.arange(count + 1, dtype=np.int64) * span).astype(np.int32)
    return starts, (keys % span).astype(np.int32), found
