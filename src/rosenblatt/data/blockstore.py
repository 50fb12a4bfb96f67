"""Blocks to be read again, in memory or in a file.

Invariant: memory is bounded by what was allowed, whatever the number of rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from rosenblatt.data.batches import Batch, join_batches
from rosenblatt.data.blockfile import BlockFile
from rosenblatt.data.blocks import Group
from rosenblatt.data.room import Room

MEMORY = 192 << 20  # bytes of blocks that a store holds before it writes to disk
OVERHEAD = 3000  # bytes of the objects around a batch that is held and ready to be learned


class BlockStore:
    """Blocks to be read again: the first of them in memory, the others in a file.

    Parameters
    ----------
    folder : path, optional
        Keep the file here for later runs on the same data. By default it lies in the folder for temporary files,
        without a name, so that it is gone when the process is, however it ends.
    memory : int
        Bytes of blocks to hold in memory.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, memory: int = MEMORY) -> None:
        self._memory = memory if folder is None else 0
        self._held: list[Batch] = []
        self._file = BlockFile(None if folder is None else Path(folder))
        self._writer = ThreadPoolExecutor(1)  # so that learning goes on meanwhile
        self._writing: Future[None] | None = None
        self._sizes: list[int] = []  # rows of each block
        self._bytes = 0  # of the blocks that are held
        self._whole: Group | None = None

    @property
    def rows(self) -> int:
        """Rows of all blocks."""
        return sum(self._sizes)

    @property
    def bytes(self) -> int:
        """What all blocks would take in memory."""
        self._wait()
        return self._bytes + self._file.end

    def __len__(self) -> int:
        return len(self._sizes)

    def __enter__(self) -> BlockStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.shutdown()
        self._file.close()

    def add(self, block: Batch) -> None:
        """Store one more block, to be learned from as it is."""
        size = OVERHEAD + 12 * len(block.values) + (8 if block.weights is None else 16) * len(block)
        fits = len(self._held) == len(self._sizes) and self._bytes + size <= self._memory
        self._sizes.append(len(block))
        if fits:
            self._bytes += size
            self._held.append(_apart(block))
        else:
            self._write(block, len(block))

    def add_strips(self, strips: Batch, rows: int) -> None:
        """Store strips of so many rows each, which come together with others; the last of all may be shorter."""
        whole, rest = divmod(len(strips), rows)
        self._sizes += [rows] * whole + [rest] * bool(rest)
        self._write(strips, rows, self._memory)

    def flush(self) -> None:
        """Make sure that all blocks can be read."""
        self._wait()
        self._file.flush()

    def whole(self) -> Group:
        """All blocks as one group, which stays good."""
        if self._whole is None:
            self.flush()
            joined = join_batches([*self._held, *self._file.read_all()])
            self._whole = Group(joined, list(range(len(self))), self._sizes, stays=True)
            self._held = []  # the rows are in memory once
        return self._whole

    def iter_groups(self, cuts: Sequence[Sequence[int]]) -> Iterator[Group]:
        """Groups of these blocks; the next is read while one is being used."""
        self.flush()
        held = list(takewhile(lambda cut: len(cut) == 1 and cut[0] < len(self._held), cuts))
        for (k,) in held:  # there is nothing to wait for
            yield Group(self._held[k], [k], [self._sizes[k]], stays=True)
        cuts, rooms = cuts[len(held) :], (Room(), Room())
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self._group, cuts[0], rooms[0]) if cuts else None
            for at in range(len(cuts)):
                assert coming is not None
                group = coming.result()
                if at + 1 < len(cuts):
                    coming = pool.submit(self._group, cuts[at + 1], rooms[(at + 1) % 2])
                yield group

    def keep(self, fingerprint: str) -> None:
        """Put the file in place for later runs, with what it was made of."""
        self.flush()
        self._file.keep(fingerprint)

    @classmethod
    def find(cls, folder: str | os.PathLike[str], fingerprint: str) -> BlockStore | None:
        """The store that an earlier run left in a folder, if it was made of the same data in the same way."""
        found = BlockFile.find(Path(folder), fingerprint)
        if found is None:
            return None
        store = cls(folder)
        store._file, store._sizes = found, found.rows
        return store

    def _write(self, batch: Batch, rows: int, memory: int = 0) -> None:
        self._wait()
        self._writing = self._writer.submit(self._file.add, batch, rows, memory)

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def _group(self, numbers: Sequence[int], room: Room) -> Group:
        return Group(self._rows_of(numbers, room), list(numbers), [self._sizes[k] for k in numbers])

    def _rows_of(self, numbers: Sequence[int], room: Room) -> Batch:
        if self._whole is not None:
            ends = np.cumsum([0, *self._sizes])
            return join_batches([self._whole.rows.part(ends[k], ends[k + 1]) for k in numbers])
        held = len(self._held)
        if min(numbers) >= held:
            return self._file.read([k - held for k in numbers], room)
        return join_batches([self._held[k] if k < held else self._file.read([k - held], Room()) for k in numbers])


def _apart(block: Batch) -> Batch:
    """A block in arrays of its own: a view would hold all of the chunk that it was cut from."""
    weights = None if block.weights is None else block.weights.copy()
    return replace(
        block,
        starts=block.starts.copy(),
        indices=block.indices.copy(),
        values=block.values.copy(),
        codes=block.codes.copy(),
        weights=weights,
    )
