"""Encoded rows, in memory or in a file, to be read again.

Invariant: memory is bounded, whatever the number of rows.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import Classes, RowBatch, join_batches
from rosenblatt.errors import DataError, LabelError, ModelError
from rosenblatt.io.atomic import PartFile, remove_stale


class Room:
    """Arrays by name, each as large as it was ever asked for."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """An array of so many values, not cleared; what was taken by this name before is overwritten."""
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.empty(size + size // 4, dtype)
        return self._arrays[name][:size]


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

    def make_batch(self, numbers: Sequence[int], room: Room) -> RowBatch:
        """Room for these blocks, as one."""
        rows, values, weighted = self.of(numbers)
        count, size = int(rows.sum()), int(values.sum())
        return RowBatch(
            room.take("starts", count + 1, np.int32),
            room.take("indices", size, np.int32),
            room.take("values", size, np.float64),
            room.take("codes", count, np.int32),
            (),
            room.take("weights", count, np.float64) if weighted.any() else None,
        )

    def part(self, batch: RowBatch, numbers: Sequence[int], row: int, value: int) -> RowBatch:
        """The room for these blocks in a batch, behind so many rows and values."""
        rows, values, _ = self.of(numbers)
        end, last = row + int(rows.sum()), value + int(values.sum())
        return RowBatch(
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
    """Numbers of neighbors, from `first` on: so many that their sizes add up to about `most`.

    >>> cut([3, 3, 3, 3, 9], 6)
    [range(0, 1), range(1, 3), range(3, 4), range(4, 5)]
    """
    parts = np.cumsum(np.array(sizes, np.int64)) // most
    bounds = [0, *(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
    return [range(first + begin, first + end) for begin, end in pairwise(bounds) if end > begin]


GROUP = 32  # blocks that are read together
ROWS = 1 << 12
VALUES = 1 << 16
UNLIMITED = 2**31 - 1


class UnknownLabelError(LabelError):
    """A label that is not among the classes."""


def iter_blocks(
    batches: Iterable[RowBatch], classes: Classes, *, rows: int = ROWS, values: int = VALUES
) -> Iterator[RowBatch]:
    """Blocks of the batches; codes count in `classes`, and rows of weight 0 are left out."""
    waiting: list[RowBatch] = []
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


def iter_strips(batches: Iterable[RowBatch], classes: Classes, rows: int) -> Iterator[RowBatch]:
    """Batches of whole strips of so many rows, but for the last one; as `iter_blocks` has them otherwise."""
    waiting: list[RowBatch] = []  # the beginning of a strip
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


def _coded(batch: RowBatch, classes: Classes) -> RowBatch:
    codes = classes.codes(batch)
    if (codes < 0).any():
        row = int(np.flatnonzero(codes < 0)[0])
        label = batch.labels[batch.codes[row]].decode("utf-8", "replace") if batch.codes[row] >= 0 else None
        raise UnknownLabelError(f"the label {label!r} is not among the classes {classes.values.tolist()[:20]}")
    return replace(batch, codes=codes, labels=())


@dataclass(frozen=True)
class Group:
    """Rows that are learned together, and the blocks that they come from."""

    rows: RowBatch
    blocks: list[int]
    sizes: list[int]  # rows of each block
    stays: bool = False  # else it is good until the next is asked for


_MAGIC = b"RBLOCKS3"
_MOST_INDEX = 1 << 30  # bytes
_MOST_VALUES = 1 << 30  # of a batch
_PIECE = 1 << 23  # bytes that are read together where all are read
BROKEN = "the cache is broken: remove its folder"


class BlockFile:
    """A file of blocks: a new one, in a folder or without a name; or one that an earlier run has left."""

    def __init__(self, folder: Path | None, places: Places | None = None, file: IO[bytes] | None = None) -> None:
        self._folder = folder
        self._places = places or Places()
        self._file = file
        self._part: PartFile | None = None
        self._found = file is not None
        self._held: list[NDArray[np.uint8]] = []  # the first bytes of the file, which are not written
        self._held_ends = [0]  # where each piece of them begins, and the last one ends

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        if self._part is not None:
            self._part.__exit__(None, None, None)

    @property
    def rows(self) -> list[int]:
        """The rows of each block."""
        return self._places.rows.tolist()

    @property
    def end(self) -> int:
        return self._places.end

    def add(self, batch: RowBatch, rows: int, memory: int = 0) -> None:
        """Write a batch as blocks of so many rows; the last may be shorter. The first `memory` bytes are only held."""
        bounds = np.append(np.arange(0, len(batch), rows), len(batch))
        sizes = np.diff(bounds), np.diff(batch.starts[bounds]).astype(np.int64)
        weighted = np.full(len(bounds) - 1, batch.weights is not None, np.uint8)
        first = len(self._places)
        ends = self._places.add(*sizes, weighted)
        data = np.empty(int(ends[-1]), np.uint8)
        engine.pack_rows(batch.starts, batch.indices, batch.values, batch.codes, batch.weights, rows=rows, out=data)
        if self._file is None and self._places.end <= memory:
            self._held.append(data)
            self._held_ends.append(self._places.end)
            return
        if self._file is None:
            self._file = self._new_file()
        if self._folder is not None:
            for k, (begin, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
                self._places.checksums[first + k] = zlib.crc32(data.data[begin:end])
        try:
            self._file.write(data.data)
        except OSError as error:
            raise DataError(
                f"the cache cannot be written: {error.strerror} (TMPDIR or --cache name another folder)"
            ) from None

    def flush(self) -> None:
        """Make sure that all blocks can be read."""
        if self._file is not None and not self._found:
            self._file.flush()

    def read(self, numbers: Sequence[int], room: Room) -> RowBatch:
        """Some blocks as one; good until the room is used again."""
        batch = self._places.make_batch(numbers, room)
        self._read_into(batch, numbers, room)
        return batch

    def read_all(self) -> list[RowBatch]:
        """All blocks, as few batches that stay good; what was held of the file is let go of on the way."""
        batches, room, places = [], Room(), self._places
        for numbers in cut(places.values, _MOST_VALUES):
            batch = places.make_batch(numbers, Room())
            rows = values = 0
            for some in cut(engine.packed_bytes(*places.of(numbers)), _PIECE, numbers.start):
                part = places.part(batch, some, rows, values)
                self._read_into(part, some, room)
                part.starts[:] += np.int32(values)
                rows, values = rows + len(part), values + len(part.values)
                self._let_go(places.ends[some[-1]])
            batches.append(batch)
        return batches

    def _read_into(self, batch: RowBatch, numbers: Sequence[int], room: Room) -> None:
        places = self._places
        rows, values, weighted = places.of(numbers)
        ends = np.cumsum(engine.packed_bytes(rows, values, weighted)).tolist()
        data = room.take("data", ends[-1], np.uint8)
        first = 0
        while first < len(numbers):  # neighbors by one reading
            last = first
            while last + 1 < len(numbers) and numbers[last + 1] == numbers[last] + 1:
                last += 1
            begin = ends[first - 1] if first else 0
            self._fill(data.data[begin : ends[last]], places.ends[numbers[last]] - (ends[last] - begin))
            first = last + 1
        new = [] if self._folder is None else [at for at, k in enumerate(numbers) if not places.sound[k]]
        for at in new:
            if zlib.crc32(data.data[ends[at - 1] if at else 0 : ends[at]]) != places.checksums[numbers[at]]:
                raise DataError(f"{BROKEN}: block {numbers[at] + 1} is not what was written")
        sound = engine.unpack_rows(
            data, rows, values, weighted, batch.starts, batch.indices, batch.values, batch.codes, batch.weights
        )
        if not sound:
            raise DataError(BROKEN)
        if new and self._found:
            _check_block(batch)
        for at in new:
            places.sound[numbers[at]] = 1

    def _fill(self, buffer: Any, offset: int) -> None:
        """The bytes from an offset on."""
        done, written = 0, self._held_ends[-1]
        while done < len(buffer):
            at = offset + done
            if at < written:
                piece = bisect_right(self._held_ends, at) - 1
                begin = at - self._held_ends[piece]
                some = self._held[piece].data[begin : begin + len(buffer) - done]
                buffer[done : done + len(some)] = some
                done += len(some)
                continue
            assert self._file is not None
            count = os.preadv(self._file.fileno(), [buffer[done:]], at - written)
            if not count:
                raise DataError("the cache is broken: it is shorter than what was written")
            done += count

    def _let_go(self, end: int) -> None:
        """Of the bytes that are held before this one, which cannot be read any more."""
        for piece in range(bisect_right(self._held_ends, end) - 1):
            self._held[piece] = np.empty(0, np.uint8)

    def keep(self, fingerprint: str) -> None:
        """Note what the blocks were made of, and put the file in place for later runs."""
        if self._part is None or self._file is None:
            return
        index = json.dumps({"fingerprint": fingerprint, "places": self._places.to_json()}).encode()
        tail = len(index).to_bytes(8, "little") + zlib.crc32(index).to_bytes(4, "little") + _MAGIC
        try:
            self._file.write(index + tail)
            self._file.flush()
            self._part.put_in_place(str(_path(self._folder, fingerprint)))
        except (OSError, ModelError) as error:
            raise DataError(f"the cache cannot be written: {error}") from None

    @classmethod
    def find(cls, folder: Path, fingerprint: str) -> BlockFile | None:
        """What an earlier run left in a folder, if it was made of the same data in the same way."""
        try:
            file = open(_path(folder, fingerprint), "rb")  # noqa: SIM115
        except OSError:
            return None
        try:
            return cls(folder, _places_in(file, fingerprint), file)
        except (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
            file.close()  # not whole, or of another kind: it is made anew
            return None

    def _new_file(self) -> IO[bytes]:
        if self._folder is None:
            return tempfile.TemporaryFile(prefix="rosenblatt-")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            target = os.path.realpath(self._folder / "blocks")
            remove_stale(target)
            self._part = PartFile(str(self._folder), target, readable=True)
            return os.fdopen(os.dup(self._part.handle), "w+b")
        except (OSError, ModelError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise DataError(f"the cache cannot be written to {self._folder}: {why}") from None


def _path(folder: Path | None, fingerprint: str) -> Path:
    assert folder is not None
    return Path(os.path.realpath(folder)) / f"{fingerprint[:32]}.blocks"


def _places_in(file: IO[bytes], fingerprint: str) -> Places:
    """The index of a file, checked against its length."""
    size = os.fstat(file.fileno()).st_size
    file.seek(max(size - 20, 0))
    tail = file.read(20)
    length = int.from_bytes(tail[:8], "little")
    if len(tail) < 20 or tail[12:] != _MAGIC or length > min(size - 20, _MOST_INDEX):
        raise ValueError("no index")
    file.seek(size - 20 - length)
    text = file.read(length)
    if zlib.crc32(text) != int.from_bytes(tail[8:12], "little"):
        raise ValueError("another index")
    index = json.loads(text)
    if index["fingerprint"] != fingerprint:
        raise ValueError("of other data")
    places = Places.of_json(index["places"])
    if places.end != size - 20 - length:
        raise ValueError("another length")
    return places


def _check_block(block: RowBatch) -> None:
    """A block from a file that others could have changed: the engine must not be led outside of its arrays."""
    rows = block.table(max(block.features, 1)).rows
    if engine.structure(rows) != "sound" or engine.find_unusable(rows) != (-1, -1):
        raise DataError(BROKEN)


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
        self._held: list[RowBatch] = []
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

    def add(self, block: RowBatch) -> None:
        """Store one more block, to be learned from as it is."""
        size = OVERHEAD + 12 * len(block.values) + (8 if block.weights is None else 16) * len(block)
        fits = len(self._held) == len(self._sizes) and self._bytes + size <= self._memory
        self._sizes.append(len(block))
        if fits:
            self._bytes += size
            self._held.append(_apart(block))
        else:
            self._write(block, len(block))

    def add_strips(self, strips: RowBatch, rows: int) -> None:
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

    def _write(self, batch: RowBatch, rows: int, memory: int = 0) -> None:
        self._wait()
        self._writing = self._writer.submit(self._file.add, batch, rows, memory)

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def _group(self, numbers: Sequence[int], room: Room) -> Group:
        return Group(self._rows_of(numbers, room), list(numbers), [self._sizes[k] for k in numbers])

    def _rows_of(self, numbers: Sequence[int], room: Room) -> RowBatch:
        if self._whole is not None:
            ends = np.cumsum([0, *self._sizes])
            return join_batches([self._whole.rows.part(ends[k], ends[k + 1]) for k in numbers])
        held = len(self._held)
        if min(numbers) >= held:
            return self._file.read([k - held for k in numbers], room)
        return join_batches([self._held[k] if k < held else self._file.read([k - held], Room()) for k in numbers])


def _apart(block: RowBatch) -> RowBatch:
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
