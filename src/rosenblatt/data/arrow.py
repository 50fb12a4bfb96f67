"""Parquet, Feather (Arrow IPC) and any Arrow stream, as pieces.

Invariant: nothing that a file claims is believed before it is checked: every batch of a file is validated whole, values
included, before its first row is used, and what a few bytes can grow to is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from rosenblatt.data.columns import ColumnEncoder
from rosenblatt.data.flatten import DEEPEST
from rosenblatt.data.limits import Limits, shown
from rosenblatt.data.pieces import Rows, find_columns
from rosenblatt.data.sources import Source, Spooled
from rosenblatt.data.vectors import is_text
from rosenblatt.errors import DataError

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
    from rosenblatt.data.ipc import find_large_batches

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
            f"{source.name} has {len(schema):,} columns, and the limit is {source.limits.columns:,}: --limit columns=N"
        )


def _check_growth(source: Source, size: int) -> None:
    """Raise where a short file has become a large one."""
    if size > max(_FREE, source.limits.expansion * source.size):
        raise DataError(
            f"{source.name} has {shown(source.size)} and grows to more than {source.limits.expansion:,} times as much: "
            "--limit expansion=N"
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
