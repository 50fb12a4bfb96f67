"""Batches as blocks, the units of the cache, and groups of blocks, the units of learning and of a checkpoint.

Invariant: where a block ends depends on the rows alone, not on how a reader cut them: it holds at most so many rows and
values, and ends before the row that does not fit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batches import Batch, Classes, join_batches
from rosenblatt.data.blockfile import BlockFile
from rosenblatt.errors import LabelError

GROUP = 32  # blocks that are read together
ROWS = 1 << 12
VALUES = 1 << 16
MEMORY = 192 << 20  # bytes of blocks that a store holds before it writes to disk
OVERHEAD = 3000  # bytes of the objects around a block that is held and ready to be learned
UNLIMITED = 2**31 - 1


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


def _coded(batch: Batch, classes: Classes) -> Batch:
    codes = classes.codes(batch)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        label = batch.labels[batch.codes[row]].decode("utf-8", "replace") if batch.codes[row] >= 0 else None
        raise LabelError(f"the label {label!r} is not among the classes {classes.values.tolist()[:20]}")
    batch = replace(batch, codes=codes, labels=())
    if batch.weights is not None and not batch.weights.all():
        kept = np.flatnonzero(batch.weights)
        matrix = batch.matrix(batch.features)[kept]
        starts, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        return Batch(starts, indices, matrix.data, codes[kept], (), batch.weights[kept])
    return batch


@dataclass(frozen=True)
class Group:
    """Rows that are learned together, and the blocks that they come from."""

    rows: Batch
    blocks: list[int]
    sizes: list[int]  # rows of each block
    stays: bool = False  # else it is good until the next is asked for

    @classmethod
    def of(cls, blocks: Sequence[tuple[int, Batch]], room: Room) -> Group:
        sizes = [len(block) for _, block in blocks]
        return cls(room.join([block for _, block in blocks]), [k for k, _ in blocks], sizes)


class Room:
    """Arrays that one group after another is put into: fresh memory for each would cost more than the copying."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def join(self, blocks: Sequence[Batch]) -> Batch:
        """Blocks as one; good until the next call."""
        if len(blocks) == 1:
            return blocks[0]
        ends = np.cumsum([0] + [len(block.values) for block in blocks])
        starts = self._put("starts", [block.starts[:-1] for block in blocks], extra=1)
        begin = 0
        for block, end in zip(blocks, ends, strict=False):
            starts[begin : begin + len(block)] += np.int32(end)
            begin += len(block)
        starts[-1] = ends[-1]
        weights = None
        if any(block.weights is not None for block in blocks):
            each = [np.ones(len(block)) if block.weights is None else block.weights for block in blocks]
            weights = self._put("weights", each)
        indices, values, codes = (
            self._put(name, [getattr(b, name) for b in blocks]) for name in ("indices", "values", "codes")
        )
        return Batch(starts, indices, values, codes, (), weights)

    def _put(self, name: str, parts: list[NDArray[Any]], extra: int = 0) -> NDArray[Any]:
        size = sum(len(part) for part in parts)
        if name not in self._arrays or len(self._arrays[name]) < size + extra:
            self._arrays[name] = np.empty(size + extra + size // 4, parts[0].dtype)
        np.concatenate(parts, out=self._arrays[name][:size])
        return self._arrays[name][: size + extra]


def iter_groups(blocks: Iterable[Batch], size: int = GROUP) -> Iterator[Group]:
    """Blocks that follow one another, as groups; each is good until the next is asked for."""
    waiting: list[tuple[int, Batch]] = []
    room = Room()
    for k, block in enumerate(blocks):
        waiting.append((k, block))
        if len(waiting) == size:
            yield Group.of(waiting, room)
            waiting = []
    if waiting:
        yield Group.of(waiting, room)


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
        self._written = 0
        self._sizes: list[int] = []  # rows of each block
        self._bytes = 0
        self._whole: Group | None = None

    @property
    def rows(self) -> int:
        """Rows of all blocks."""
        return sum(self._sizes)

    @property
    def bytes(self) -> int:
        """What all blocks would take in memory."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._held) + max(self._written, len(self._file))

    def __enter__(self) -> BlockStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.shutdown()
        self._file.close()

    def add(self, block: Batch) -> None:
        """Store one more block."""
        size = OVERHEAD + 4 * (len(block) + 1) + 12 * len(block.values) + 4 * len(block)
        size += 0 if block.weights is None else 8 * len(block)
        self._sizes.append(len(block))
        self._bytes += size
        if not self._written and size <= self._memory:
            self._memory -= size
            self._held.append(_apart(block))
            return
        self._wait()
        self._writing = self._writer.submit(self._file.add, block)
        self._written += 1

    def read(self, k: int) -> Batch:
        """The k-th block."""
        return self._held[k] if k < len(self._held) else self._file.read(k - len(self._held))

    def flush(self) -> None:
        """Make sure that all blocks can be read."""
        self._wait()
        self._file.flush()

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def whole(self) -> Group:
        """All blocks as one group, which stays good."""
        if self._whole is None:
            self.flush()
            joined = join_batches([self.read(k) for k in range(len(self))])
            self._whole = Group(joined, list(range(len(self))), self._sizes, stays=True)
            if self._held:  # the blocks become views of it, so that the rows are in memory once
                ends = np.cumsum([0, *self._sizes]).tolist()
                self._held = [joined.part(ends[k], ends[k + 1]) for k in range(len(self._held))]
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

    def _group(self, numbers: Sequence[int], room: Room) -> Group:
        return Group.of([(k, self.read(k)) for k in numbers], room)

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
        store._file, store._sizes, store._bytes = found, found.rows, found.end
        return store


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
