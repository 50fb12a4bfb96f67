"""Large record batches of an Arrow IPC file, some rows at a time.

pyarrow reads a batch as a whole, and many programs write a table as one batch. Here the places of its columns are taken
from the file, and blocks of rows are read from there: memory holds a block, whatever the size of the batch.

Invariant: what the file says is only a hint where to read. Whatever is unusual (compressed, nested or encoded columns,
places outside of the file) is left to pyarrow, and what is read is validated by pyarrow before it is used.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

_MAGIC = b"ARROW1"
_MOST = 64 << 20  # bytes of a footer, and of the description of a batch
_RECORD_BATCH = 3  # the number of this kind of message


@dataclass(frozen=True)
class _Column:
    kind: Any
    buffers: list[tuple[int, int]]  # where in the file, and how many bytes: validity, then offsets or values, …
    nulls: int


@dataclass(frozen=True)
class LargeBatch:
    """Where the columns of a batch lie."""

    schema: Any
    rows: int
    columns: list[_Column]

    @property
    def bytes_per_row(self) -> int:
        return sum(size for column in self.columns for _, size in column.buffers) // max(1, self.rows) + 1

    def iter_blocks(self, stream: Any, most_rows: int, most_bytes: int) -> Iterator[Any]:
        """Record batches of at most so many rows; they are not validated yet."""
        length = max(8, min(most_rows, most_bytes // self.bytes_per_row) // 8 * 8)
        for begin in range(0, self.rows, length):
            count = min(length, self.rows - begin)
            arrays = [_read_column(stream, column, begin, count) for column in self.columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def find_large_batches(stream: Any, schema: Any, least: int) -> dict[int, LargeBatch]:
    """The batches of at least so many bytes, by their numbers, as far as they can be read in blocks."""
    end = os.fstat(stream.fileno()).st_size
    try:
        footer = _Flat(_read(stream, end - 10, 10))
        size = footer.number("i", 0)
        if footer.data[4:] != _MAGIC or not 0 < size <= min(_MOST, end - 10):
            return {}
        footer = _Flat(_read(stream, end - 10 - size, size))
        root = footer.root()
        described = footer.table(root, 1)
        if described is None or footer.field("h", described, 0):  # big-endian
            return {}
        found: dict[int, LargeBatch] = {}
        total = 0
        for k, at in enumerate(footer.items(root, 3, 24)):
            offset, length, body = footer.number("q", at), footer.number("i", at + 8), footer.number("q", at + 16)
            total += max(0, length) + max(0, body)
            if total > end:  # some of them share their bytes
                return {}
            if body >= least and 0 < length <= _MOST and 0 <= offset <= offset + length + body <= end:
                batch = _find_columns(_read(stream, offset, length), schema, offset + length, body)
                if batch is not None:
                    found[k] = batch
        return found
    except (struct.error, ValueError, OverflowError, IndexError):
        return {}


def _find_columns(data: bytes, schema: Any, start: int, body: int) -> LargeBatch | None:
    message = _Flat(data[8:] if data[:4] == b"\xff\xff\xff\xff" else data[4:])
    root = message.root()
    header = message.table(root, 2)
    if message.field("B", root, 1) != _RECORD_BATCH or header is None or message.table(header, 3) is not None:
        return None
    rows = message.field("q", header, 0)
    nodes = [(message.number("q", at), message.number("q", at + 8)) for at in message.items(header, 1, 16)]
    buffers = [(message.number("q", at), message.number("q", at + 8)) for at in message.items(header, 2, 16)]
    if rows <= 0 or len(nodes) != len(schema) or any(length != rows for length, _ in nodes):
        return None
    if any(offset < 0 or size < 0 or offset + size > body for offset, size in buffers):
        return None
    columns, at = [], 0
    for field, (_, nulls) in zip(schema, nodes, strict=True):
        needed = _needed(field.type, rows)
        own = [(start + offset, size) for offset, size in buffers[at : at + len(needed) + 1]]
        if (
            not needed
            or len(own) != len(needed) + 1
            or any(size < least for (_, size), least in zip(own[1:], needed, strict=False))
        ):
            return None
        if nulls < 0 or (nulls and own[0][1] < (rows + 7) // 8):
            return None
        columns.append(_Column(field.type, own, nulls))
        at += len(own)
    return LargeBatch(schema, rows, columns) if at == len(buffers) else None


def _needed(kind: Any, rows: int) -> list[int]:
    """The least bytes of each buffer behind the validity; nothing for types that are left to pyarrow."""
    if pa.types.is_primitive(kind):
        return [(rows * kind.bit_width + 7) // 8]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return [(rows + 1) * (8 if pa.types.is_large_string(kind) else 4), 0]
    return []


def _read_column(stream: Any, column: _Column, begin: int, count: int) -> Any:
    """Rows of a column; `begin` is a multiple of 8, where a byte of bits begins."""

    def bits(place: int) -> Any:
        return pa.py_buffer(_read(stream, place + begin // 8, (count + 7) // 8))

    there = bits(column.buffers[0][0]) if column.nulls else None
    place = column.buffers[1][0]
    if len(column.buffers) == 2:
        if column.kind.bit_width == 1:
            return pa.Array.from_buffers(column.kind, count, [there, bits(place)])
        width = column.kind.bit_width // 8
        values = pa.py_buffer(_read(stream, place + begin * width, count * width))
        return pa.Array.from_buffers(column.kind, count, [there, values])
    dtype = np.dtype(np.int64 if pa.types.is_large_string(column.kind) else np.int32)
    raw = _read(stream, place + begin * dtype.itemsize, (count + 1) * dtype.itemsize)
    offsets = np.frombuffer(raw, dtype)
    text, size = column.buffers[2]
    first, last = int(offsets[0]), int(offsets[-1])
    if not 0 <= first <= last <= size:
        raise pa.ArrowInvalid("strings that begin or end outside of their column")
    buffers = [there, pa.py_buffer(offsets - offsets[0]), pa.py_buffer(_read(stream, text + first, last - first))]
    return pa.Array.from_buffers(column.kind, count, buffers)


def _read(stream: Any, place: int, size: int) -> bytes:
    stream.seek(place)
    data: bytes = stream.read(size)
    if len(data) != size:
        raise pa.ArrowInvalid("it ends early")
    return data


class _Flat:
    """A look into a FlatBuffer, whose tables say at their beginning where their fields are."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def number(self, kind: str, at: int) -> int:
        if at < 0:
            raise IndexError("before the beginning")
        found: int = struct.unpack_from("<" + kind, self.data, at)[0]
        return found

    def root(self) -> int:
        return self.number("I", 0)

    def _place(self, table: int, field: int) -> int | None:
        fields = table - self.number("i", table)
        if 4 + 2 * field >= self.number("H", fields):
            return None
        offset = self.number("H", fields + 4 + 2 * field)
        return table + offset if offset else None

    def field(self, kind: str, table: int, field: int) -> int:
        place = self._place(table, field)
        return 0 if place is None else self.number(kind, place)

    def table(self, table: int, field: int) -> int | None:
        place = self._place(table, field)
        return None if place is None else place + self.number("I", place)

    def items(self, table: int, field: int, size: int) -> range:
        """Where the structures of a list begin."""
        begin = self.table(table, field)
        if begin is None:
            return range(0)
        count = self.number("I", begin)
        if begin + 4 + count * size > len(self.data):
            raise IndexError("behind the end")
        return range(begin + 4, begin + 4 + count * size, size)
