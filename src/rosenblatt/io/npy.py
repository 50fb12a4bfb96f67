"""NumPy's .npy files as pieces of a table.

Invariant: memory holds a block of rows, whatever the size of the file; the bytes are read, not mapped, so that a file
that is cut short meanwhile is an error and not the end of the process. Nothing is ever unpickled, and no size that the
header claims is believed before the file is seen to be as long.
"""

from __future__ import annotations

import ast
import math
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.lib import format as npy
from numpy.typing import NDArray

from rosenblatt.encode.arrow_numpy import strings_from
from rosenblatt.errors import DataError
from rosenblatt.io.arrow import TablePiece, open_seekable
from rosenblatt.io.csv_sniffer import distinct
from rosenblatt.io.limits import shown
from rosenblatt.io.source import Source

_BYTES = 4 << 20  # of a block
_HEADER = 1 << 18  # bytes at most: a structured array may name many columns
_MOST_ROWS = 65_536

NameColumns = Callable[[int], tuple[str, ...]]


def iter_npy(source: Source, name_columns: NameColumns) -> Iterator[TablePiece]:
    """The pieces of a two-dimensional array, or of a structured array with a field per column.

    Parameters
    ----------
    name_columns : what so many columns without names are called
    """
    with open_seekable(source) as stream:
        shape, in_columns, dtype = _read_header(source, stream)
        begin = stream.tell()
        names = distinct(list(dtype.names)) if dtype.names else name_columns(shape[1])
        count, row_bytes = shape[0], dtype.itemsize * math.prod(shape[1:])
        length = max(1, min(_MOST_ROWS, _BYTES // row_bytes))
        for first in range(0, count, length):
            rows = min(length, count - first)
            if in_columns:
                block = np.empty((shape[1], rows), dtype)
                for j in range(shape[1]):
                    stream.seek(begin + (j * count + first) * dtype.itemsize)
                    _fill(source, stream, block[j])
                columns = list(block)
            else:
                block = np.empty((rows, *shape[1:]), dtype)
                _fill(source, stream, block)
                columns = [block[name] for name in dtype.names] if dtype.names else list(block.T)
            try:
                arrays = [_to_arrow(column) for column in columns]
            except ValueError as error:
                raise DataError(f"{source.name} is not a sound NumPy file: {str(error)[:200]}") from None
            table = pa.RecordBatch.from_arrays(arrays, names=list(names))
            yield TablePiece(table, first)


def _read_header(source: Source, stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether columns lie one after another, and the type, all of which can be read."""
    try:
        version, size = stream.read(8)[6:], 2
        if version not in (b"\1\0", b"\2\0", b"\3\0"):
            raise ValueError("its version is not known")
        if version != b"\1\0":
            size = 4
        length = int.from_bytes(stream.read(size), "little")
        if length > _HEADER:
            raise ValueError(f"its header is longer than {shown(_HEADER)}")
        header = ast.literal_eval(stream.read(length).decode("utf-8" if version == b"\3\0" else "latin-1"))
        shape, in_columns, dtype = header["shape"], header["fortran_order"], npy.descr_to_dtype(header["descr"])
        if type(shape) is not tuple or not all(type(each) is int and 0 <= each < 1 << 63 for each in shape):
            raise ValueError(f"its shape is {shape!r:.60}")
    except (
        ValueError,
        TypeError,
        KeyError,
        SyntaxError,
        RecursionError,
        MemoryError,
        OverflowError,
        IndexError,
    ) as error:
        why = (str(error).strip().splitlines() or ["its header cannot be read"])[0][:200]
        raise DataError(f"{source.name} is not a sound NumPy file: {why}") from None
    _check_type(source, dtype)
    wanted = 1 if dtype.names else 2
    if len(shape) != wanted:
        raise DataError(
            f"{source.name} holds an array with the shape {shape!r:.60}; a table has "
            + ("a row per element" if dtype.names else "rows and columns, the labels in one of them")
        )
    width = len(dtype.names) if dtype.names else shape[1]
    if width == 0 or shape[0] == 0:
        raise DataError(f"{source.name} is empty: its shape is {shape}")
    if width > source.limits.columns:
        raise DataError(
            f"{source.name} has {width:,} columns, and the limit is {source.limits.columns:,}: --read-limit columns=N"
        )
    row_bytes = dtype.itemsize * math.prod(shape[1:])
    if row_bytes > source.limits.line:
        raise DataError(f"{source.name} has rows longer than {shown(source.limits.line)}: --read-limit line=SIZE")
    promised, there = shape[0] * row_bytes, os.fstat(stream.fileno()).st_size - stream.tell()
    if there != promised:
        what = "is cut short" if there < promised else "goes on behind its array"
        raise DataError(
            f"{source.name} {what}: {shape[0]:,} rows are {promised:,} bytes, and {there:,} follow its header"
        )
    return shape, bool(in_columns) and not dtype.names, dtype


def _check_type(source: Source, dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise DataError(f"{source.name} holds Python objects, which are never unpickled: save plain numbers")
    for name in dtype.names or ("",):
        kind = dtype[name] if name else dtype
        plain = kind.kind in "biuUS" or (kind.kind == "f" and kind.itemsize <= 8)
        if kind.names or kind.subdtype or not plain or kind.itemsize == 0:
            where = f" in the field {name!r:.60}" if name else ""
            raise DataError(f"{source.name} holds {str(kind)[:60]}{where}: only numbers, booleans and strings are read")


def _fill(source: Source, stream: Any, block: NDArray[Any]) -> None:
    view = memoryview(block.reshape(-1).view(np.uint8).data)
    done = 0
    while done < len(view):
        read = stream.readinto(view[done:])
        if not read:
            raise DataError(f"{source.name} was cut short while it was read")
        done += read


def _to_arrow(values: NDArray[Any]) -> Any:
    if values.dtype.kind in "US":
        if values.dtype.kind == "U":
            codes = np.ascontiguousarray(values).view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
            if codes.max() > sys.maxunicode:
                raise ValueError("a string has a number that is no character")
        words = values.tolist()
        return strings_from([word.decode("utf-8", "replace") if isinstance(word, bytes) else word for word in words])
    if values.dtype.kind == "b":
        # Any byte but 0 is true, as in the file of another program.
        bits = np.packbits(values.view(np.uint8) != 0, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(bits)])
    dtype = np.dtype(np.float32) if values.dtype.itemsize == 2 and values.dtype.kind == "f" else values.dtype
    own = np.ascontiguousarray(values, dtype.newbyteorder("="))
    gaps = np.isnan(own) if dtype.kind == "f" else None
    there = None if gaps is None or not gaps.any() else pa.py_buffer(np.packbits(~gaps, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(own.dtype), len(own), [there, pa.py_buffer(own)])
