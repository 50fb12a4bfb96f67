"""Batches as blocks, the units of the cache, and groups of blocks, the units of shuffling and of a checkpoint.

Invariant: where a block ends depends on the rows alone, not on how a reader cut them: it holds at most so many rows and
values, and ends before the row that does not fit.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch, Classes, join_batches
from rosenblatt.errors import DataError, LabelError

GROUP = 32  # blocks that are shuffled together
ROWS = 1 << 12
VALUES = 1 << 16
MEMORY = 192 << 20  # bytes of blocks that a store holds before it writes to disk
UNLIMITED = 2**31 - 1


def iter_blocks(
    batches: Iterable[Batch], classes: Classes, *, rows: int = ROWS, values: int = VALUES
) -> Iterator[Batch]:
    """Blocks of the batches; codes count in `classes`, and rows of weight 0 are left out."""
    waiting: list[Batch] = []
    count = size = 0
    for batch in batches:
        rest = _coded(batch, classes)
        while len(rest):
            fit = int(np.searchsorted(rest.starts, values - size, side="right")) - 1
            fit = min(fit, rows - count, len(rest))
            if fit <= 0 and count == 0:
                fit = 1  # a row longer than a block is a block of its own
            if fit > 0:
                waiting.append(rest.part(0, fit))
                count, size = count + fit, size + int(rest.starts[fit])
                rest = rest.part(fit, len(rest))
            if len(rest):
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
    """Rows that are shuffled together, and the blocks that they come from."""

    rows: Batch
    blocks: list[int]
    sizes: list[int]  # rows of each block

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


@dataclass(frozen=True)
class _Place:
    """Where a block lies on disk."""

    offset: int
    rows: int
    values: int
    weighted: bool

    @property
    def bytes(self) -> int:
        return 4 * (self.rows + 1) + 4 * self.values + 8 * self.values + 4 * self.rows + 8 * self.rows * self.weighted


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
        self._folder = None if folder is None else Path(folder)
        self._memory = memory if folder is None else 0
        self._held: list[Batch] = []
        self._places: list[_Place] = []
        self._file: IO[bytes] | None = None
        self._end = 0
        self._writer = ThreadPoolExecutor(1)  # so that learning goes on meanwhile
        self._writing: Future[None] | None = None
        self.checked = True

    def __len__(self) -> int:
        return len(self._held) + len(self._places)

    def __enter__(self) -> BlockStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.shutdown()
        if self._file is not None:
            self._file.close()

    def add(self, block: Batch) -> None:
        """Store one more block."""
        place = _Place(self._end, len(block), len(block.values), block.weights is not None)
        if not self._places and place.bytes <= self._memory:
            self._memory -= place.bytes
            self._held.append(_apart(block))
            return
        if self._file is None:
            self._file = self._new_file()
        self._wait()
        self._writing = self._writer.submit(_write, self._file, block)
        self._places.append(place)
        self._end += place.bytes

    def read(self, k: int) -> Batch:
        """The k-th block."""
        if k < len(self._held):
            return self._held[k]
        place = self._places[k - len(self._held)]
        assert self._file is not None
        data = engine.make_buffer(place.bytes)
        if os.preadv(self._file.fileno(), [data.data], place.offset) < place.bytes:
            raise DataError("the cache is broken: it is shorter than what was written")
        sizes = [
            4 * (place.rows + 1),
            4 * place.values,
            8 * place.values,
            4 * place.rows,
            8 * place.rows * place.weighted,
        ]
        ends = np.cumsum(sizes)
        kinds: list[Any] = [np.int32, np.int32, np.float64, np.int32, np.float64]
        # Copies where 8-byte values do not lie on a multiple of 8.
        parts = [
            np.require(data[end - size : end].view(np.uint8), requirements="C").view(kind)
            if (end - size) % np.dtype(kind).itemsize == 0
            else data[end - size : end].copy().view(kind)
            for end, size, kind in zip(ends, sizes, kinds, strict=True)
        ]
        starts, indices, values, codes, weights = parts
        block = Batch(starts, indices, values, codes, (), weights if place.weighted else None)
        if not self.checked:
            _check_block(block)
        return block

    def flush(self) -> None:
        """Make sure that all blocks can be read."""
        self._wait()
        if self._file is not None:
            self._file.flush()

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def iter_groups(self, order: Sequence[int] | NDArray[Any], size: int = GROUP) -> Iterator[Group]:
        """Blocks in an order, as groups; the next is read while one is being used."""
        self.flush()
        cuts = [[int(k) for k in order[at : at + size]] for at in range(0, len(order), size)]
        rooms = Room(), Room()
        with ThreadPoolExecutor(1) as pool:
            coming = pool.submit(self._group, cuts[0], rooms[0]) if cuts else None
            for at in range(len(cuts)):
                assert coming is not None
                group = coming.result()
                if at + 1 < len(cuts):
                    coming = pool.submit(self._group, cuts[at + 1], rooms[(at + 1) % 2])
                yield group

    def _group(self, numbers: list[int], room: Room) -> Group:
        return Group.of([(k, self.read(k)) for k in numbers], room)

    def keep(self, fingerprint: str) -> None:
        """Note that the file is whole, and what it was made of."""
        if self._folder is None or self._file is None:
            return
        self.flush()
        os.fsync(self._file.fileno())
        index = {"fingerprint": fingerprint, "places": [list(vars(place).values()) for place in self._places]}
        partial = self._folder / "blocks.json.part"
        partial.write_text(json.dumps(index))
        os.replace(partial, self._folder / "blocks.json")

    @classmethod
    def find(cls, folder: str | os.PathLike[str], fingerprint: str) -> BlockStore | None:
        """The store that an earlier run left in a folder, if it was made of the same data in the same way."""
        store = cls(folder)
        try:
            index = json.loads((Path(folder) / "blocks.json").read_text())
            if index["fingerprint"] != fingerprint:
                return None
            store._places = [_Place(int(p[0]), int(p[1]), int(p[2]), bool(p[3])) for p in index["places"]]
            store._file = open(Path(folder) / "blocks.bin", "rb")  # noqa: SIM115
        except (OSError, ValueError, TypeError, KeyError):
            return None
        store._end = sum(place.bytes for place in store._places)
        if os.path.getsize(store._file.name) != store._end:
            return None
        store.checked = False
        return store

    def _new_file(self) -> IO[bytes]:
        if self._folder is None:
            return tempfile.TemporaryFile(prefix="rosenblatt-")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "blocks.json").unlink(missing_ok=True)
            return open(self._folder / "blocks.bin", "w+b")
        except OSError as error:
            raise DataError(f"the cache cannot be written to {self._folder}: {error.strerror}") from None


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


def _write(file: IO[bytes], block: Batch) -> None:
    try:
        for array in (block.starts, block.indices, block.values, block.codes, block.weights):
            if array is not None:
                file.write(np.ascontiguousarray(array).view(np.uint8).data)
    except OSError as error:
        raise DataError(
            f"the cache cannot be written: {error.strerror} (TMPDIR or --cache name another folder)"
        ) from None


def _check_block(block: Batch) -> None:
    """A block from a file that others could have changed: the engine must not be led outside of its arrays."""
    rows = block.table(max(block.features, 1)).rows
    if engine.structure(rows, len(block.values)) != "sound" or engine.find_unusable(rows) != (-1, -1):
        raise DataError("the cache is broken: remove its folder")
