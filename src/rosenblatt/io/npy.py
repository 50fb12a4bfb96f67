"""NumPy's .npy files as chunks of a table. Nothing is unpickled."""

from __future__ import annotations

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
from rosenblatt.io.arrow import ArrowChunk
from rosenblatt.io.csv_sniffer import unique_names
from rosenblatt.io.limits import format_size
from rosenblatt.io.source import Source, Spooled

_BYTES = 4 << 20  # of a chunk
_HEADER = 1 << 18  # bytes at most: a structured array may name many columns
_MOST_ROWS = 65_536


def read_npy(source: Source, name_columns: Callable[[int], tuple[str, ...]]) -> Iterator[ArrowChunk]:
    """Chunks of a two-dimensional array, or of a structured array with one field per column.

    `name_columns` names the columns of an array without fields.
    """
    if source.live or source.compression:
        source = Spooled.copy(source)
    try:
        array = npy.open_memmap(source.path, "r", max_header_size=_HEADER)
    except Exception as error:  # NumPy parses the header as Python
        if "Python objects" in str(error):
            raise DataError(f"{source.name} holds Python objects, which are never unpickled: save numbers") from None
        why = (str(error).strip().splitlines() or ["its header cannot be read"])[0][:200]
        raise DataError(f"{source.name} is not a valid NumPy file: {why}") from None
    _check(source, array)
    fields = array.dtype.names
    names = list(unique_names(list(fields)) if fields else name_columns(array.shape[1]))
    length = max(1, min(_MOST_ROWS, _BYTES // max(1, array.nbytes // len(array))))
    for first in range(0, len(array), length):
        block = array[first : first + length]
        columns = [block[name] for name in fields] if fields else list(block.T)
        try:
            arrays = [_to_arrow(np.array(column)) for column in columns]
        except ValueError as error:
            raise DataError(f"{source.name} is not a valid NumPy file: {str(error)[:200]}") from None
        yield ArrowChunk(pa.RecordBatch.from_arrays(arrays, names=names), first)


def _check(source: Source, array: Any) -> None:
    """Raise unless the array is a table of numbers, booleans and strings that ends with the file."""
    shape, dtype = array.shape, array.dtype
    for name in dtype.names or ("",):
        kind = dtype[name] if name else dtype
        plain = kind.kind in "biuUS" or (kind.kind == "f" and kind.itemsize <= 8)
        if kind.names or kind.subdtype or not plain or kind.itemsize == 0:
            where = f" in the field {name!r:.60}" if name else ""
            raise DataError(f"{source.name} holds {str(kind)[:60]}{where}: only numbers, booleans and strings are read")
    if len(shape) != (1 if dtype.names else 2):
        wanted = "one row per element" if dtype.names else "rows and columns, the labels in one of them"
        raise DataError(f"{source.name} holds an array with the shape {shape!r:.60}; a table has {wanted}")
    if 0 in shape:
        raise DataError(f"{source.name} is empty: its shape is {shape}")
    source.limits.check_columns(len(dtype.names) if dtype.names else shape[1], source.name)
    if dtype.itemsize * math.prod(shape[1:]) > source.limits.line:
        raise DataError(f"{source.name} has rows longer than {format_size(source.limits.line)}: --read-limit line=SIZE")
    if array.offset + array.nbytes != os.path.getsize(source.path):
        raise DataError(f"{source.name} is longer than its array")


def _to_arrow(values: NDArray[Any]) -> Any:
    if values.dtype.kind == "U":
        codes = values.view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
        if codes.max() > sys.maxunicode:
            raise ValueError("a string has an invalid character")
    if values.dtype.kind in "US":
        words = values.tolist()
        return strings_from([word.decode("utf-8", "replace") if isinstance(word, bytes) else word for word in words])
    if values.dtype.kind == "b":
        # Any byte but 0 is true, as in the file of another program.
        bits = np.packbits(values.view(np.uint8) != 0, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, pa.py_buffer(bits)])
    dtype = np.dtype(np.float32) if values.dtype.itemsize == 2 and values.dtype.kind == "f" else values.dtype
    own = np.ascontiguousarray(values, dtype.newbyteorder("="))
    nan = np.isnan(own) if dtype.kind == "f" else np.zeros(0, bool)
    valid = pa.py_buffer(np.packbits(~nan, bitorder="little")) if nan.any() else None
    return pa.Array.from_buffers(pa.from_numpy_dtype(own.dtype), len(own), [valid, pa.py_buffer(own)])
