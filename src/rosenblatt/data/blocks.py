"""Batches as blocks, the units of the cache, and groups of blocks, the units of learning and of a checkpoint.

Invariant: where a block ends depends on the rows alone, not on how a reader cut them. It holds at most so many rows and
values, and ends before the row that does not fit; or it is a strip, which holds exactly so many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rosenblatt.data.batches import Batch, Classes, join_batches
from rosenblatt.errors import LabelError

GROUP = 32  # blocks that are read together
ROWS = 1 << 12
VALUES = 1 << 16
UNLIMITED = 2**31 - 1


class UnknownLabelError(LabelError):
    """A label that is not among the classes."""


def iter_blocks(
    batches: Iterable[Batch], classes: Classes, *, rows: int = ROWS, values: int = VALUES
) -> Iterator[Batch]:
    """Blocks of the batches; codes count in `classes`, and rows of weight 0 are left out."""
    waiting: list[Batch] = []
    count = size = 0
    for batch in batches:
        coded = _coded(batch, classes)
        starts, at = coded.starts, 0
        while at < len(coded):
            # The bound in the type of the starts: NumPy would convert all of them for another.
            bound = min(int(starts[at]) + values - size, int(starts[-1]))
            fit = int(np.searchsorted(starts, starts.dtype.type(bound), side="right")) - 1 - at
            fit = min(fit, rows - count, len(coded) - at)
            if fit <= 0 and count == 0:
                fit = 1  # a row longer than a block is a block of its own
            if fit > 0:
                waiting.append(coded.part(at, at + fit))
                count, size = count + fit, size + int(starts[at + fit]) - int(starts[at])
                at += fit
            if at < len(coded):
                yield join_batches(waiting)
                waiting, count, size = [], 0, 0
    if waiting:
        yield join_batches(waiting)


def iter_strips(batches: Iterable[Batch], classes: Classes, rows: int) -> Iterator[Batch]:
    """Batches of whole strips of so many rows, but for the last one; as `iter_blocks` has them otherwise."""
    waiting: list[Batch] = []  # the beginning of a strip
    count = 0
    for batch in batches:
        coded = _coded(batch, classes)
        first = min(-count % rows, len(coded))
        if first:
            waiting.append(coded.part(0, first))
            count += first
        if count == rows:
            yield join_batches(waiting)
            waiting, count = [], 0
        end = len(coded) - (len(coded) - first) % rows
        if end > first:
            yield coded.part(first, end)
        if len(coded) > end:
            waiting.append(coded.part(end, len(coded)))
            count += len(coded) - end
    if waiting:
        yield join_batches(waiting)


def _coded(batch: Batch, classes: Classes) -> Batch:
    codes = classes.codes(batch)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        label = batch.labels[batch.codes[row]].decode("utf-8", "replace") if batch.codes[row] >= 0 else None
        raise UnknownLabelError(f"the label {label!r} is not among the classes {classes.values.tolist()[:20]}")
    return replace(batch, codes=codes, labels=())


@dataclass(frozen=True)
class Group:
    """Rows that are learned together, and the blocks that they come from."""

    rows: Batch
    blocks: list[int]
    sizes: list[int]  # rows of each block
    stays: bool = False  # else it is good until the next is asked for
