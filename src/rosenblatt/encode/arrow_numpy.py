"""Arrow arrays as NumPy arrays.

The conversions of pyarrow import pandas if it is installed, which takes longer than to learn a small file. pyarrow
itself is imported on first use: svmlight files never need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray


class LazyModule:
    """A module that is imported by the first look into it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # the next look costs nothing
        return found


pa: Any = LazyModule("pyarrow")
pc: Any = LazyModule("pyarrow.compute")


def one_array(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def label_array(column: Any) -> Any:
    """The labels of a column; what is not a number among numbers is missing."""
    array = one_array(column)
    if not pa.types.is_floating(array.type):
        return array
    array = pc.cast(array, pa.float64())
    return pc.if_else(pc.is_nan(array), pa.scalar(None, pa.float64()), array)


def present(array: Any) -> NDArray[np.bool_]:
    """Where the array has a value."""
    if not array.null_count:
        return np.ones(len(array), bool)
    if array.null_count == len(array):
        return np.zeros(len(array), bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def values_of(array: Any, dtype: Any) -> NDArray[Any]:
    """The values of an array of numbers of this type; anything where they are missing."""
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, array.offset + len(array))[array.offset :]


def flags_of(array: Any) -> NDArray[np.bool_]:
    """The values of an array of booleans that are all there, a byte each."""
    bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].view(np.bool_)


def doubles_of(array: Any) -> NDArray[np.float64]:
    """The values of an array of doubles, NaN where they are missing."""
    values = values_of(array, np.float64)
    return np.where(present(array), values, np.nan) if array.null_count else values


def as_strings(array: Any) -> Any:
    if pa.types.is_string(array.type):
        return array
    if pa.types.is_floating(array.type) or pa.types.is_boolean(array.type):
        return text_of_number(array)
    return pc.cast(array, pa.string())


def text_of_number(array: Any) -> Any:
    """Numbers as a cell would have them: 1.0 is 1, however the file or its neighbors wrote it."""
    if pa.types.is_boolean(array.type) or pa.types.is_integer(array.type):
        return pc.cast(array, pa.string())
    encoded = pc.cast(array, pa.float64()).dictionary_encode()
    texts = [
        str(int(value)) if value == value and abs(value) < 2**53 and value == int(value) else repr(value)
        for value in encoded.dictionary.to_pylist()
    ]
    return strings_from(texts).take(encoded.indices)


def buffers_of(array: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The buffer and the offsets of a string array."""
    array = pc.cast(array, pa.large_string())
    _, offsets, data = array.buffers()
    begins = (
        np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        if offsets
        else np.zeros(1, np.int64)
    )
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8), begins


def is_list(kind: Any) -> bool:
    return any(check(kind) for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def is_text(kind: Any) -> bool:
    """Is it one of Arrow's types of strings?"""
    return str(kind) in ("string", "large_string", "string_view")


def strings_from(texts: Sequence[str | None]) -> Any:
    """An Arrow array of strings."""
    raw = [b"" if text is None else text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(raw) + 1, np.int64)
    np.cumsum([len(text) for text in raw], out=offsets[1:])
    there = np.array([text is not None for text in texts], bool)
    mask = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [mask, pa.py_buffer(offsets), pa.py_buffer(b"".join(raw))]
    return pc.cast(pa.Array.from_buffers(pa.large_string(), len(raw), buffers), pa.string())


def doubles_from(values: NDArray[np.float64]) -> Any:
    """An Arrow array of doubles; NaN stays NaN."""
    return pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def places_from(values: NDArray[Any]) -> Any:
    """An Arrow array of places, for `take`."""
    held = np.ascontiguousarray(values, np.int64)
    return pa.Array.from_buffers(pa.int64(), len(held), [None, pa.py_buffer(held)])


def bits_of(array: Any) -> NDArray[np.bool_]:
    """A boolean array, false where it is null."""
    array = one_array(array)
    if not len(array):
        return np.zeros(0, bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[1], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool) & present(array)


def null_where(mask: NDArray[np.bool_], array: Any) -> Any:
    """The array with null where the mask is true."""
    if not mask.any():
        return array
    bits = pa.py_buffer(np.packbits(mask, bitorder="little"))
    chosen = pa.Array.from_buffers(pa.bool_(), len(mask), [None, bits])
    return pc.if_else(chosen, pa.nulls(len(mask), array.type), array)


def without_nulls(array: Any) -> Any:
    """Strings with an empty one where there is none."""
    return pc.coalesce(array, strings_from([""] * len(array))) if array.null_count else array
