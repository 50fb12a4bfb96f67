"""Parquet, Feather (Arrow IPC) and Arrow streams as chunks of a table.

Invariant: every batch of a file is validated, values included, before its first row is used, and the growth of a
compressed file is bounded. Files are opened by Arrow itself: its threads never hold a Python file object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from rosenblatt.encode.arrow_numpy import is_text
from rosenblatt.encode.table import TableChunk, TableEncoder, find_columns
from rosenblatt.errors import DataError
from rosenblatt.io.limits import FREE_GROWTH, Limits, format_size
from rosenblatt.io.source import Source, Spooled

_ROWS = 65_536
_AT_ONCE = 1024  # rows per Parquet batch if lengths are unknown: a short file may hold long strings many times
_BYTES = 32 << 20  # of a chunk
DEEPEST = 64  # nested structs


@dataclass
class ArrowChunk:
    """A record batch or a table."""

    data: Any
    first: int  # rows before it
    unit: str = "row"

    @property
    def size(self) -> int:
        return int(self.data.nbytes)

    def parse(self, encoder: TableEncoder | None = None) -> TableChunk:
        table = _flatten(self.data)
        return TableChunk(table, np.arange(self.first, self.first + table.num_rows, dtype=np.int64))

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        own, table = self.data.schema.names, _flatten(self.data)
        wanted = own if "*" in names else find_columns(names, [*own, *table.schema.names])
        return {name: (self.data if name in own else table).column(name).to_pylist() for name in wanted}


def read_parquet(source: Source, columns: Sequence[str] | None = None) -> Iterator[ArrowChunk]:
    """Chunks of a Parquet file; only `columns` are read if they are given and all there."""
    from pyarrow import parquet

    with open_arrow(source) as stream, _named(source, "Parquet"):
        schema = parquet.read_schema(stream)
        _check_width(source, schema)
        texts = [field.name for field in schema if is_text(field.type)]
        file = parquet.ParquetFile(stream, read_dictionary=texts)
        some = _known(columns, schema)
        batches = file.iter_batches(batch_size=_rows_at_once(schema), use_threads=False, columns=some)
        yield from _gather(source, batches)


def read_feather(source: Source, columns: Sequence[str] | None = None) -> Iterator[ArrowChunk]:
    """Chunks of a Feather (Arrow IPC) file, or of an IPC stream in a file."""
    with open_arrow(source) as stream, _named(source, "Feather (Arrow IPC)"):
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
        schema = opened(stream).schema
        _check_width(source, schema)
        stream.seek(0)
        some = _known(columns, schema)
        included = None if some is None else [schema.get_field_index(name) for name in some]
        reader = opened(stream, options=pa.ipc.IpcReadOptions(included_fields=included))
        batches = (reader.get_batch(k) for k in range(reader.num_record_batches)) if is_file else iter(reader)
        yield from _gather(source, batches)


def read_stream(stream: Any, limits: Limits) -> Iterator[ArrowChunk]:
    """The record batches of an object with ``__arrow_c_stream__`` (pandas, Polars, DuckDB, pyarrow) or of a dataset."""
    if type(stream).__module__.startswith("polars"):
        # Polars exports string views, which older PyArrow can neither measure nor cast.
        stream = stream.to_arrow()
    first = 0
    batches = stream.to_batches() if hasattr(stream, "to_batches") else pa.RecordBatchReader.from_stream(stream)
    for batch in batches:
        try:
            _validate(batch)
        except pa.ArrowException as error:
            raise DataError(f"the data is not a valid Arrow stream: {str(error).splitlines()[0][:200]}") from None
        for begin in range(0, batch.num_rows, _ROWS):
            part = batch.slice(begin, _ROWS)
            yield ArrowChunk(part, first)
            first += part.num_rows


@contextmanager
def open_arrow(source: Source) -> Iterator[Any]:
    """The decompressed bytes as a file of Arrow's own: mapped memory, for local files."""
    if source.live or source.compression:
        source = Spooled.copy(source)
    try:
        file = pa.memory_map(source.path)
    except OSError as error:
        raise DataError(f"{source.name} cannot be read: {error.strerror or error}") from None
    with file:
        yield file


def _known(columns: Sequence[str] | None, schema: Any) -> list[str] | None:
    """The columns to read; None is all of them: some are nested, or missing."""
    if columns is None or not set(columns) <= set(schema.names):
        return None
    return [name for name in schema.names if name in set(columns)]


def _rows_at_once(schema: Any) -> int:
    """Rows per Parquet batch: more if every type has a fixed size."""
    try:
        bits: int = sum(kind.bit_width for kind in schema.types)
    except ValueError:  # texts, lists, objects
        return _AT_ONCE
    if any(map(pa.types.is_dictionary, schema.types)):
        return _AT_ONCE
    return max(1, min(_ROWS, 8 * _BYTES // max(1, bits)))


def _gather(source: Source, batches: Iterable[Any]) -> Iterator[ArrowChunk]:
    """Validated batches as chunks of at most so many rows and about so many bytes."""
    waiting: list[Any] = []
    first = size = rows = total = 0
    for batch in batches:
        _validate(batch)
        for begin in range(0, batch.num_rows, _ROWS):
            for part in _split(batch.slice(begin, _ROWS)):
                waiting.append(part)
                size, rows, total = size + part.nbytes, rows + part.num_rows, total + part.nbytes
                if total > max(FREE_GROWTH, source.limits.expansion * source.size):
                    raise DataError(
                        f"{source.name} has {format_size(source.size)} and grows to more than "
                        f"{source.limits.expansion:,} times as much: --read-limit expansion=N"
                    )
                if size >= _BYTES or rows >= _ROWS:
                    yield ArrowChunk(pa.Table.from_batches(waiting).combine_chunks(), first)
                    first, waiting, size, rows = first + rows, [], 0, 0
    if waiting:
        yield ArrowChunk(pa.Table.from_batches(waiting).combine_chunks(), first)


def _flatten(table: Any) -> Any:
    """With a column such as ``user.age`` for each field of a struct."""
    deep = 0
    while any(pa.types.is_struct(kind) for kind in table.schema.types) and deep < DEEPEST:
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        table, deep = table.flatten().combine_chunks(), deep + 1
    return table


def _validate(batch: Any) -> None:
    """Raise unless every array of a batch is valid, values included."""
    batch.validate()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise pa.ArrowInvalid(f"the column {name!r}: {error}") from None


def _split(batch: Any) -> Iterator[Any]:
    """A batch without dictionaries, cut so that no part is much larger than a chunk should be."""
    todo = [batch]
    while todo:
        part = todo.pop()
        if part.num_rows > 1 and _decoded_size(part) > _BYTES:
            half = part.num_rows // 2
            todo += [part.slice(half), part.slice(0, half)]
            continue
        columns = [c.dictionary_decode() if pa.types.is_dictionary(c.type) else c for c in part.columns]
        yield pa.RecordBatch.from_arrays(columns, names=part.schema.names)


def _decoded_size(batch: Any) -> int:
    size = 0
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type) and len(column.dictionary):
            lengths = pc.binary_length(pc.cast(column.dictionary, pa.large_string()))
            size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


def _check_width(source: Source, schema: Any) -> None:
    source.limits.check_columns(len(schema), source.name)


@contextmanager
def _named(source: Source, kind: str) -> Iterator[None]:
    """One-line errors that name the file."""
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        why = (str(error).strip().splitlines() or ["it cannot be read"])[0][:200]
        raise DataError(f"{source.name} is not a valid {kind} file: {why}") from None
    except MemoryError:  # a size in the file decides how much Arrow allocates
        raise DataError(f"{source.name} is not a valid {kind} file, or needs more memory than is free") from None
