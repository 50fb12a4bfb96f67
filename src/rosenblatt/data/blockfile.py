"""Blocks in a file: behind one another, each with a checksum, and an index at the end.

Invariant: a file under its final name is whole. It is written under a name of its own, locked meanwhile, and renamed;
its name says what it was made of. A block whose bytes are not those that were written is refused. A file without a
name is nobody else's: its blocks have no checksums, and the first of its bytes may stay in memory.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch
from rosenblatt.data.partfile import PartFile, remove_stale
from rosenblatt.data.places import Places, cut
from rosenblatt.data.room import Room
from rosenblatt.errors import DataError, ModelError

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

    def add(self, batch: Batch, rows: int, memory: int = 0) -> None:
        """Write a batch as blocks of so many rows; the last may be shorter. The first `memory` bytes are only held."""
        bounds = np.append(np.arange(0, len(batch), rows), len(batch))
        sizes = np.diff(bounds), np.diff(batch.starts[bounds]).astype(np.int64)
        weighted = np.full(len(bounds) - 1, batch.weights is not None, np.uint8)
        first = len(self._places)
        ends = self._places.add(*sizes, weighted)
        data = engine.make_buffer(int(ends[-1]))
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

    def read(self, numbers: Sequence[int], room: Room) -> Batch:
        """Some blocks as one; good until the room is used again."""
        batch = self._places.make_batch(numbers, room)
        self._read_into(batch, numbers, room)
        return batch

    def read_all(self) -> list[Batch]:
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

    def _read_into(self, batch: Batch, numbers: Sequence[int], room: Room) -> None:
        places = self._places
        rows, values, weighted = places.of(numbers)
        ends = np.cumsum(engine.packed_bytes(rows, values, weighted)).tolist()
        data = room.take("data", ends[-1], np.uint8)
        first = 0
        while first < len(numbers):  # neighbours by one reading
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


def _check_block(block: Batch) -> None:
    """A block from a file that others could have changed: the engine must not be led outside of its arrays."""
    rows = block.table(max(block.features, 1)).rows
    if engine.structure(rows) != "sound" or engine.find_unusable(rows) != (-1, -1):
        raise DataError(BROKEN)
