"""Blocks in a file: behind one another, each with a checksum, and an index at the end.

Invariant: a file under its final name is whole. It is written under a name of its own, locked meanwhile, and renamed;
its name says what it was made of. A block whose bytes are not those that were written is refused.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch
from rosenblatt.data.partfile import PartFile, remove_stale
from rosenblatt.errors import DataError, ModelError

_MAGIC = b"RBLOCKS2"
_MOST_INDEX = 1 << 30  # bytes
_KINDS: tuple[Any, ...] = (np.int32, np.int32, np.float64, np.int32, np.float64)
BROKEN = "the cache is broken: remove its folder"


@dataclass(frozen=True)
class Place:
    """Where a block lies, and the checksum of its bytes."""

    offset: int
    rows: int
    values: int
    weighted: bool
    checksum: int = 0

    @property
    def sizes(self) -> list[int]:
        """Bytes of starts, indices, values, codes and weights."""
        return [
            4 * (self.rows + 1),
            4 * self.values,
            8 * self.values,
            4 * self.rows,
            8 * self.rows * self.weighted,
        ]

    @property
    def bytes(self) -> int:
        return sum(self.sizes)


class BlockFile:
    """A file of blocks: a new one, in a folder or without a name; or one that an earlier run has left."""

    def __init__(self, folder: Path | None, places: list[Place] | None = None, file: IO[bytes] | None = None) -> None:
        self._folder = folder
        self._places = places or []
        self._file = file
        self._part: PartFile | None = None
        self._found = file is not None
        self._sound: set[int] = set()

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
        return [place.rows for place in self._places]

    @property
    def end(self) -> int:
        return self._places[-1].offset + self._places[-1].bytes if self._places else 0

    def add(self, block: Batch) -> None:
        """Write one more block."""
        if self._file is None:
            self._file = self._new_file()
        arrays = (block.starts, block.indices, block.values, block.codes, block.weights)
        checksum = 0
        try:
            for array in arrays:
                if array is not None:
                    data = np.ascontiguousarray(array).view(np.uint8).data
                    checksum = zlib.crc32(data, checksum)
                    self._file.write(data)
        except OSError as error:
            raise DataError(
                f"the cache cannot be written: {error.strerror} (TMPDIR or --cache name another folder)"
            ) from None
        weighted = block.weights is not None
        self._places.append(Place(self.end, len(block), len(block.values), weighted, checksum))

    def flush(self) -> None:
        """Make sure that all blocks can be read."""
        if self._file is not None and not self._found:
            self._file.flush()

    def read(self, k: int) -> Batch:
        """The k-th block."""
        place = self._places[k]
        assert self._file is not None
        data = engine.make_buffer(place.bytes)
        done = 0
        while done < place.bytes:
            count = os.preadv(self._file.fileno(), [data.data[done:]], place.offset + done)
            if not count:
                raise DataError("the cache is broken: it is shorter than what was written")
            done += count
        first = k not in self._sound
        if first and zlib.crc32(data.data) != place.checksum:
            raise DataError(f"{BROKEN}: block {k + 1} is not what was written")
        block = _block_of(data, place)
        if first and self._found:
            _check_block(block)
        self._sound.add(k)
        return block

    def keep(self, fingerprint: str) -> None:
        """Note what the blocks were made of, and put the file in place for later runs."""
        if self._part is None or self._file is None:
            return
        places = [[p.offset, p.rows, p.values, int(p.weighted), p.checksum] for p in self._places]
        index = json.dumps({"fingerprint": fingerprint, "places": places}).encode()
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


def _places_in(file: IO[bytes], fingerprint: str) -> list[Place]:
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
    places, end = [], 0
    for offset, rows, values, weighted, checksum in index["places"]:
        place = Place(int(offset), int(rows), int(values), bool(weighted), int(checksum))
        if place.offset != end or place.rows < 0 or place.values < 0:
            raise ValueError("blocks that overlap")
        places.append(place)
        end += place.bytes
    if end != size - 20 - length:
        raise ValueError("another length")
    return places


def _block_of(data: NDArray[np.uint8], place: Place) -> Batch:
    ends = np.cumsum(place.sizes)
    # Copies where 8-byte values do not lie on a multiple of 8.
    starts, indices, values, codes, weights = (
        data[end - size : end].view(kind)
        if (end - size) % np.dtype(kind).itemsize == 0
        else data[end - size : end].copy().view(kind)
        for end, size, kind in zip(ends, place.sizes, _KINDS, strict=True)
    )
    return Batch(starts, indices, values, codes, (), weights if place.weighted else None)


def _check_block(block: Batch) -> None:
    """A block from a file that others could have changed: the engine must not be led outside of its arrays."""
    rows = block.table(max(block.features, 1)).rows
    if engine.structure(rows) != "sound" or engine.find_unusable(rows) != (-1, -1):
        raise DataError(BROKEN)
