"""Parquet, Feather (Arrow IPC) and any Arrow stream as chunks of a table.

Invariant: every batch of a file is validated, values included, before its first row is used, and the growth of a
compressed file is bounded.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from rosenblatt.encode.arrow_numpy import is_text
from rosenblatt.encode.table import ColumnEncoder, Rows, find_columns
from rosenblatt.errors import DataError
from rosenblatt.io.json import DEEPEST
from rosenblatt.io.limits import Limits, shown
from rosenblatt.io.source import Source, Spooled

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


_ROWS = 65_536
_AT_ONCE = 1024  # rows that a Parquet file with texts is asked for: a short file may hold long ones many times
_BYTES = 32 << 20  # of a piece
_BLOCK = 4 << 20  # bytes of the blocks of a batch that is larger than a piece
_FREE = 1 << 30  # bytes that any file may grow to


@dataclass
class TablePiece:
    """A record batch or a table."""

    table: Any
    first: int  # rows before it
    unit: str = "row"

    @property
    def size(self) -> int:
        return int(self.table.nbytes)

    def rows(self, encoder: ColumnEncoder | None = None) -> Rows:
        table = _with_leaves(self.table)
        return Rows(table, np.arange(self.first, self.first + table.num_rows, dtype=np.int64))

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        table = _with_leaves(self.table)
        wanted = find_columns(names, [*self.table.schema.names, *table.schema.names])
        if "*" in names:
            wanted = self.table.schema.names
        own = set(self.table.schema.names)
        return {name: (self.table if name in own else table).column(name).to_pylist() for name in wanted}


def iter_parquet(source: Source) -> Iterator[TablePiece]:
    """The pieces of a Parquet file."""
    from pyarrow import parquet

    with open_seekable(source) as stream, _sound(source, "Parquet"):
        file = parquet.ParquetFile(stream)
        schema = file.schema_arrow
        _check_width(source, schema)
        texts = [field.name for field in schema if is_text(field.type)]
        stream.seek(0)
        file = parquet.ParquetFile(stream, read_dictionary=texts)
        at_once = _rows_at_once(schema)
        waiting: list[Any] = []
        first = size = total = 0
        for batch in file.iter_batches(batch_size=at_once, use_threads=False):
            _validate(batch)
            for part in _parts(batch):
                waiting.append(part)
                size += part.nbytes
                total += part.nbytes
                _check_growth(source, total)
                if size >= _BYTES or len(waiting) * at_once >= _ROWS:
                    yield TablePiece(pa.Table.from_batches(waiting).combine_chunks(), first)
                    first += sum(each.num_rows for each in waiting)
                    waiting, size = [], 0
        if waiting:
            yield TablePiece(pa.Table.from_batches(waiting).combine_chunks(), first)


def _rows_at_once(schema: Any) -> int:
    """How many rows of a Parquet file can be asked for: more where the type says how long each of them is."""
    try:
        bits: int = sum(kind.bit_width for kind in schema.types)
    except ValueError:  # texts, lists, objects
        return _AT_ONCE
    if any(map(pa.types.is_dictionary, schema.types)):
        return _AT_ONCE
    return max(1, min(_ROWS, 8 * _BYTES // max(1, bits)))


def iter_feather(source: Source) -> Iterator[TablePiece]:
    """The pieces of a Feather (Arrow IPC) file, or of an IPC stream in a file."""
    with open_seekable(source) as stream, _sound(source, "Feather (Arrow IPC)"):
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        reader = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
        _check_width(source, reader.schema)
        first = total = 0
        for batch in _batches_of_file(stream, reader) if is_file else iter(reader):
            _validate(batch)
            total += batch.nbytes
            _check_growth(source, total)
            for begin in range(0, batch.num_rows, _ROWS):
                for part in _parts(batch.slice(begin, _ROWS)):
                    yield TablePiece(part, first)
                    first += part.num_rows


def _batches_of_file(stream: Any, reader: Any) -> Iterator[Any]:
    """The batches, large ones in blocks of rows: a table is often written as one batch."""

    large = find_large_batches(stream, reader.schema, _BYTES)
    for k in range(reader.num_record_batches):
        if k in large:
            yield from large[k].iter_blocks(stream, _ROWS, min(_BLOCK, _BYTES))
        else:
            yield reader.get_batch(k)


def iter_stream(stream: Any, limits: Limits) -> Iterator[TablePiece]:
    """The record batches of an object with ``__arrow_c_stream__``: pandas, Polars, DuckDB, pyarrow."""
    first = 0
    if type(stream).__module__.startswith("polars"):
        # It hands out views of texts, which older PyArrow can neither measure nor cast; so they are plain texts.
        stream = stream.to_arrow()
    for batch in pa.RecordBatchReader.from_stream(stream):
        try:
            _validate(batch)
        except pa.ArrowException as error:
            raise DataError(f"the data are no sound Arrow stream: {str(error).splitlines()[0][:200]}") from None
        for begin in range(0, batch.num_rows, _ROWS):
            part = batch.slice(begin, _ROWS)
            yield TablePiece(part, first)
            first += part.num_rows


def _with_leaves(table: Any) -> Any:
    """With a column such as ``user.age`` for each value within a column of objects."""
    deep = 0
    while any(pa.types.is_struct(kind) for kind in table.schema.types) and deep < DEEPEST:
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        table, deep = table.flatten().combine_chunks(), deep + 1
    return table


def _validate(batch: Any) -> None:
    """Raise unless every array of a batch is what it claims to be, values included."""
    batch.validate()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise pa.ArrowInvalid(f"the column {name!r}: {error}") from None


def _parts(batch: Any) -> Iterator[Any]:
    """A batch without dictionaries, cut so that no part is much larger than a piece should be."""
    todo = [batch]
    while todo:
        part = todo.pop()
        if part.num_rows > 1 and _decoded_size(part) > _BYTES:
            half = part.num_rows // 2
            todo += [part.slice(half), part.slice(0, half)]
            continue
        columns = [column.dictionary_decode() if _is_dictionary(column) else column for column in part.columns]
        yield pa.RecordBatch.from_arrays(columns, names=part.schema.names)


def _decoded_size(batch: Any) -> int:
    size = 0
    for column in batch.columns:
        if _is_dictionary(column) and is_text(column.type.value_type) and len(column.dictionary):
            lengths = pc.binary_length(pc.cast(column.dictionary, pa.large_string()))
            size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


def _is_dictionary(column: Any) -> bool:
    return bool(pa.types.is_dictionary(column.type))


def _check_width(source: Source, schema: Any) -> None:
    if len(schema) > source.limits.columns:
        raise DataError(
            f"{source.name} has {len(schema):,} columns, and the limit is {source.limits.columns:,}: "
            "--read-limit columns=N"
        )


def _check_growth(source: Source, size: int) -> None:
    """Raise where a short file has become a large one."""
    if size > max(_FREE, source.limits.expansion * source.size):
        raise DataError(
            f"{source.name} has {shown(source.size)} and grows to more than {source.limits.expansion:,} times as much: "
            "--read-limit expansion=N"
        )


@contextmanager
def _sound(source: Source, kind: str) -> Iterator[None]:
    """Say in one line what is wrong with a file."""
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        why = (str(error).strip().splitlines() or ["it cannot be read"])[0][:200]
        raise DataError(f"{source.name} is not a sound {kind} file: {why}") from None
    except MemoryError:  # a size in the file decides what Arrow asks for
        raise DataError(f"{source.name} is not a sound {kind} file, or needs more memory than there is") from None


def open_seekable(source: Source) -> Any:
    """The decompressed bytes as a file on disk."""
    if source.live or source.packed:
        source = Spooled.copy(source)
    try:
        return open(source.path, "rb")
    except OSError as error:
        raise DataError(f"{source.name} cannot be read: {error.strerror}") from None
