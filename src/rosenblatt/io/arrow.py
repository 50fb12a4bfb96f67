"""Parquet, Feather (Arrow IPC), Arrow streams and NumPy's .npy files as chunks of a table.

Invariant: every batch of a file is validated, values included, before its first row is used, and the growth of a
compressed file is bounded. Files are opened by Arrow itself: its threads never hold a Python file object.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
from numpy.lib import format as npy
from numpy.typing import NDArray

from rosenblatt.encode.cells import is_text, null_where, numbers_from, one_array, strings_from, text_of_cell
from rosenblatt.encode.table import TableChunk
from rosenblatt.errors import DataError, first_line
from rosenblatt.io.source import Frame, Source

_ROWS = 65_536
_AT_ONCE = 1024  # rows per Parquet batch if lengths are unknown: a short file may hold long strings many times
_BYTES = 32 << 20  # of a chunk
_LEAST = 64  # bytes that a row counts for, so that rows of no or empty columns are bounded too
_NPY_BYTES = 4 << 20  # of a chunk of an array
DEEPEST = 64  # nested structs


def read_parquet(source: Source, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of a Parquet file; only `columns` are read if they are given and all there."""
    from pyarrow import parquet

    with open_arrow(source, "Parquet") as stream:
        schema = parquet.read_schema(stream)
        some = _known(source, columns, schema)
        texts = [field.name for field in schema if is_text(field.type)]
        file = parquet.ParquetFile(stream, read_dictionary=texts)
        batches = file.iter_batches(batch_size=_rows_at_once(schema), use_threads=False, columns=some)
        yield from _gather(source, batches)


def read_feather(source: Source, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of a Feather (Arrow IPC) file, or of an IPC stream in a file."""
    with open_arrow(source, "Feather (Arrow IPC)") as stream:
        is_file = stream.read(6) == b"ARROW1"
        stream.seek(0)
        opened = pa.ipc.open_file if is_file else pa.ipc.open_stream
        schema = opened(stream).schema
        stream.seek(0)
        some = _known(source, columns, schema)
        included = None if some is None else [k for k, name in enumerate(schema.names) if name in some]
        reader = opened(stream, options=pa.ipc.IpcReadOptions(included_fields=included))
        batches = (reader.get_batch(k) for k in range(reader.num_record_batches)) if is_file else iter(reader)
        yield from _gather(source, batches)


def read_frame(source: Frame, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of an object with ``__arrow_c_stream__`` (pandas, Polars, DuckDB, pyarrow), a dataset or a query."""
    stream = without_index(source.data)
    batches = stream.to_batches() if hasattr(stream, "to_batches") else pa.RecordBatchReader.from_stream(stream)
    try:
        yield from _gather(source, batches)
    except pa.ArrowException as error:
        raise DataError(f"{source.name} is not a valid Arrow stream: {first_line(error)}") from None


def kind_of_labels(kind: Any) -> str:
    """NumPy's kind of the labels of a frame that stay text, booleans or dates; empty for others.

    >>> [kind_of_labels(kind) for kind in (pa.string(), pa.bool_(), pa.date32(), pa.int64())]
    ['U', 'b', 'M', '']
    """
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(kind):
        return "b"
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None):
        return "M"
    return "U" if is_text(kind) else ""


def without_index(frame: Any) -> Any:
    """A frame as Arrow reads it; the index of a pandas frame is never a column."""
    if type(frame).__module__.startswith("polars"):
        # Polars exports string views, which older PyArrow can neither measure nor cast.
        return frame.to_arrow()
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return _from_pandas(frame)
    return frame


def _from_pandas(frame: Any) -> Any:
    names = [str(name) for name in frame.columns]
    _check_names("the data", names)
    return pa.table({name: _from_series(name, frame.iloc[:, at]) for at, name in enumerate(names)})


def _check_names(source: str, names: Sequence[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"{source}: the column name {twice[0]!r} occurs twice")


def _from_series(name: str, series: Any) -> Any:
    """A column of a pandas frame; periods, intervals and cells of several types as text."""
    if getattr(series.dtype, "kind", "") == "c":
        raise DataError(f"the column {name!r} has complex numbers")
    if hasattr(series, "sparse"):
        series = series.sparse.to_dense()
    with suppress(pa.ArrowException, TypeError):
        array = pa.array(series, from_pandas=True)
        # Arrow only carries some types of pandas, such as periods and categories of intervals.
        if not isinstance(getattr(array.type, "value_type", array.type), pa.BaseExtensionType):
            return array
    return strings_from([text_of_cell(cell) for cell in series])


def to_chunk(source: Source, table: Any, first: int) -> TableChunk:
    """A table behind so many rows, with a column such as ``user.age`` for each field of a struct."""
    deep = 0
    while any(pa.types.is_struct(kind) for kind in table.schema.types) and deep < DEEPEST:
        table, deep = table.flatten().combine_chunks(), deep + 1
    _check_names(source.name, table.schema.names)
    lines = np.arange(first, first + table.num_rows, dtype=np.int64)
    return TableChunk(table, lines, unit="row")


@contextmanager
def open_arrow(source: Source, kind: str) -> Iterator[Any]:
    """The decompressed bytes as a file of Arrow's own, in mapped memory; errors name the file."""
    try:
        with pa.memory_map(source.on_disk().path) as file:
            yield file
    except DataError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise DataError(f"{source.name} is not a valid {kind} file: {first_line(error)}") from None
    except MemoryError:  # a size in the file decides how much Arrow allocates
        raise DataError(f"{source.name} is not a valid {kind} file, or needs more memory than is free") from None


def _known(source: Source, columns: Sequence[str] | None, schema: Any) -> list[str] | None:
    """The columns to read; None is all of them: some are nested, or missing."""
    source.limits.check_columns(len(schema), source.name)
    if columns is None or not set(columns) <= set(schema.names):  # "*" is all of them
        return None
    return [name for name in schema.names if name in set(columns)]


def _rows_at_once(schema: Any) -> int:
    """Rows per Parquet batch: more if every type has a fixed size."""
    try:
        bits: int = sum(kind.bit_width for kind in schema.types)
    except ValueError:  # texts, lists, objects
        return _AT_ONCE
    is_dictionary = any(map(pa.types.is_dictionary, schema.types))
    return _AT_ONCE if is_dictionary else max(1, min(_ROWS, 8 * _BYTES // max(1, bits)))


def _gather(source: Source, batches: Iterable[Any]) -> Iterator[TableChunk]:
    """Validated batches as chunks of at most so many rows and about so many bytes."""
    waiting: list[Any] = []
    first = size = rows = total = 0
    for part in chain.from_iterable(map(_split, batches)):
        waiting.append(part)
        size, rows = size + part.nbytes, rows + part.num_rows
        total += max(part.nbytes, _LEAST * part.num_rows)
        source.check_growth(total)
        if size >= _BYTES or rows >= _ROWS:
            yield to_chunk(source, pa.Table.from_batches(waiting).combine_chunks(), first)
            first, waiting, size, rows = first + rows, [], 0, 0
    if waiting:
        yield to_chunk(source, pa.Table.from_batches(waiting).combine_chunks(), first)


def _validate(batch: Any) -> None:
    """Raise unless every array of a batch is valid, values included."""
    batch.validate()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowException as error:
            raise pa.ArrowInvalid(f"the column {name!r}: {error}") from None


def _split(batch: Any) -> Iterator[Any]:
    """A validated batch without dictionaries, cut so that no part is much larger than a chunk should be."""
    _validate(batch)
    if not batch.num_columns:
        raise pa.ArrowInvalid("it has no columns")
    for begin in range(0, batch.num_rows, _ROWS):
        todo = [batch.slice(begin, _ROWS)]
        while todo:
            part = todo.pop()
            if part.num_rows > 1 and _decoded_size(part) > _BYTES:
                half = part.num_rows // 2
                todo += [part.slice(half), part.slice(0, half)]
            else:
                yield pa.RecordBatch.from_arrays(list(map(one_array, part.columns)), names=part.schema.names)


def _decoded_size(batch: Any) -> int:
    size = 0
    for column in batch.columns:
        if pa.types.is_dictionary(column.type) and is_text(column.type.value_type) and len(column.dictionary):
            lengths = pc.binary_length(pc.cast(column.dictionary, pa.large_string()))
            size += pc.sum(lengths.take(column.indices)).as_py() or 0
    return size


# -- NumPy's files; nothing is unpickled


def read_npy(source: Source, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of a two-dimensional array of numbers or booleans."""
    source = source.on_disk()
    try:
        array = npy.open_memmap(source.path, "r")
    except Exception as error:  # NumPy parses the header as Python
        if "Python objects" in str(error):
            raise DataError(f"{source.name} holds Python objects, which are never unpickled: save numbers") from None
        raise DataError(f"{source.name} is not a valid NumPy file: {first_line(error)}") from None
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise DataError(f"{source.name} holds {str(array.dtype)[:60]}: only numbers and booleans are read")
    if array.ndim != 2:
        raise DataError(f"{source.name} has the shape {array.shape!r:.60}; a table has rows and columns")
    if 0 in array.shape:
        raise DataError(f"{source.name} is empty: its shape is {array.shape}")
    source.limits.check_columns(array.shape[1], source.name)
    if array.offset + array.nbytes != os.path.getsize(source.path):
        raise DataError(f"{source.name} is longer than its array")
    names = dataset.name_columns(source, array.shape[1])
    dataset.note_columns(names, f"no names: its columns are called {names[0]} to {names[-1]}")
    length = max(1, min(_ROWS, _NPY_BYTES // (array.shape[1] * array.itemsize)))
    for first in range(0, len(array), length):
        arrays = [_to_arrow(np.array(column)) for column in array[first : first + length].T]
        yield to_chunk(source, pa.Table.from_arrays(arrays, names=list(names)), first)


def _to_arrow(values: NDArray[Any]) -> Any:
    if values.dtype.kind == "b":  # any byte but 0 is true, as in the file of another program
        return numbers_from(values.view(np.uint8) != 0)
    if values.dtype.kind == "f":
        values = values.astype(np.float32 if values.dtype.itemsize == 2 else values.dtype)
        return null_where(np.isnan(values), numbers_from(values))
    return numbers_from(values)
