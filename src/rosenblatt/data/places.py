"""What blocks in a file hold, and where they lie: some 40 bytes per block."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch
from rosenblatt.data.room import Room


class Places:
    """What is in each block, and where it ends in the file."""

    def __init__(self) -> None:
        self.rows, self.values, self.ends, self.checksums = array("q"), array("q"), array("q"), array("q")
        self.weighted, self.sound = array("B"), array("B")  # sound: its bytes were found to be those that were written

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def end(self) -> int:
        """Of all blocks."""
        return self.ends[-1] if self.ends else 0

    def add(self, rows: NDArray[np.int64], values: NDArray[np.int64], weighted: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Blocks behind the others; where each of them ends, counted from the first of these."""
        ends = np.cumsum(engine.packed_bytes(rows, values, weighted))
        for known, more in (
            (self.rows, rows),
            (self.values, values),
            (self.ends, self.end + ends),
            (self.checksums, np.zeros(len(rows), np.int64)),
            (self.weighted, weighted),
            (self.sound, np.zeros(len(rows), np.uint8)),
        ):
            known.frombytes(more.tobytes())
        return ends

    def of(self, numbers: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        """The rows and values of some blocks, and whether these have weights."""
        rows, values = ([known[k] for k in numbers] for known in (self.rows, self.values))
        return np.array(rows, np.int64), np.array(values, np.int64), np.array([self.weighted[k] for k in numbers], "B")

    def make_batch(self, numbers: Sequence[int], room: Room) -> Batch:
        """Room for these blocks, as one."""
        rows, values, weighted = self.of(numbers)
        count, size = int(rows.sum()), int(values.sum())
        return Batch(
            room.take("starts", count + 1, np.int32),
            room.take("indices", size, np.int32),
            room.take("values", size, np.float64),
            room.take("codes", count, np.int32),
            (),
            room.take("weights", count, np.float64) if weighted.any() else None,
        )

    def part(self, batch: Batch, numbers: Sequence[int], row: int, value: int) -> Batch:
        """The room for these blocks in a batch, behind so many rows and values."""
        rows, values, _ = self.of(numbers)
        end, last = row + int(rows.sum()), value + int(values.sum())
        return Batch(
            batch.starts[row : end + 1],
            batch.indices[value:last],
            batch.values[value:last],
            batch.codes[row:end],
            (),
            None if batch.weights is None else batch.weights[row:end],
        )

    def to_json(self) -> list[list[int]]:
        return [list(values) for values in (self.rows, self.values, self.weighted, self.checksums)]

    @classmethod
    def of_json(cls, lists: Any) -> Places:
        """Checked: there is nothing but whole numbers, as many of each."""
        rows, values, weighted, checksums = (np.array(array("q", each), np.int64) for each in lists)
        if not len(rows) == len(values) == len(weighted) == len(checksums) or not np.isin(weighted, (0, 1)).all():
            raise ValueError("an index of another kind")
        places = cls()
        places.add(rows, values, weighted.astype(np.uint8))
        places.checksums[:] = array("q", checksums.tolist())
        return places


def cut(sizes: Sequence[int] | NDArray[np.int64], most: int, first: int = 0) -> list[range]:
    """Numbers of neighbours, from `first` on: so many that their sizes add up to about `most`.

    >>> cut([3, 3, 3, 3, 9], 6)
    [range(0, 1), range(1, 3), range(3, 4), range(4, 5)]
    """
    parts = np.cumsum(np.array(sizes, np.int64)) // most
    bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
    return [range(first + begin, first + end) for begin, end in pairwise(bounds) if end > begin]
