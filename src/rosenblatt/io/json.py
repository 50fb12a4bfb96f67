"""JSON lines, JSON arrays and concatenated JSON objects as chunks of a table.

Invariant: a row depends on its line alone: a key that it lacks is a missing cell.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from rosenblatt.encode.arrow_numpy import doubles_from, strings_from, text_of_number
from rosenblatt.encode.cells import InvalidCells, parse_dates
from rosenblatt.encode.table import TableChunk, TableEncoder
from rosenblatt.errors import DataError
from rosenblatt.io.limits import DEFAULT_LIMITS, FREE_GROWTH, Limits, format_size
from rosenblatt.io.source import Source
from rosenblatt.io.text import CHUNK, iter_chunks, open_text, to_utf8

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[\s,]*")
_STRING = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*"?')
_FLAT_LINE = rb"[^\S\n]*\{[^{}\[\]\n]*\}[^\S\n]*"
_FLAT = re.compile(rb"(?:%s\n)*%s" % (_FLAT_LINE, _FLAT_LINE))
_AT_ONCE = 20_000  # elements of an array per chunk


@dataclass
class JsonChunk:
    """Lines with one object each, or the elements of an array."""

    lines: list[Any]  # bytes, or values that are parsed already
    first: int  # lines before the first
    size: int
    types: dict[str, Any] = field(default_factory=dict)  # Arrow types of columns, shared by all chunks
    unit: str = "line"
    limits: Limits = DEFAULT_LIMITS

    def parse(self, encoder: TableEncoder | None = None) -> TableChunk:
        table = None if encoder is None or self.unit != "line" else self._by_arrow(encoder)
        filled = np.array([not isinstance(line, bytes) or bool(line.strip()) for line in self.lines], bool)
        blank = (np.flatnonzero(~filled) + self.first).tolist()
        if table is not None:
            return TableChunk(table, np.flatnonzero(filled).astype(np.int64) + self.first, [], blank)
        objects, good, bad = [], [], []
        for k in np.flatnonzero(filled).tolist():
            try:
                objects.append(_object_of(self.lines[k]))
                good.append(k)
            except (ValueError, RecursionError) as error:
                bad.append((self.first + k, _reason(error)))
        lines = np.array(good, np.int64) + self.first
        if encoder is None:
            return TableChunk(_infer(objects, self.limits), lines, bad, blank)
        table, invalid = _convert(objects, encoder)
        return TableChunk(table, lines, bad, blank, invalid)

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        objects = []
        for line in self.lines:
            try:
                if not isinstance(line, bytes) or line.strip():
                    objects.append(_object_of(line))
            except (ValueError, RecursionError):
                continue
        known = tuple(dict.fromkeys(name for each in objects for name in each))
        wanted = known if "*" in names else tuple(names)
        return {name: [_plain(each.get(name)) for each in objects] for name in wanted}

    def _by_arrow(self, encoder: TableEncoder) -> Any:
        """A table, if every line is a flat object of the expected types; else None."""
        lines = [line for line in self.lines if line.strip()]
        text = b"\n".join(lines)
        # Arrow's parser aborts the process on a null beside the objects: it gets one flat object per line only.
        if not lines or not _FLAT.fullmatch(_STRING.sub(b"", text)):
            return None
        if "" not in self.types:
            self.types.update(_types_of(lines[:100]), **{"": None})
        kinds = encoder.kinds()
        schema = pa.schema([(name, self._type(name, kind)) for name, kind in kinds.items()])
        try:
            table = pa.json.read_json(
                io.BytesIO(text),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=min(len(text) + 1, 2**31 - 1)),
                parse_options=pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeError):
            return None
        if table.num_rows != len(lines):
            return None
        arrays = {}
        for name, kind in kinds.items():
            array = table.column(name).combine_chunks()
            if kind == "number":
                array = array.cast(pa.float64())
            elif kind == "date":
                array, invalid = parse_dates(array)
                if invalid:
                    return None
            elif not pa.types.is_string(array.type):
                array = text_of_number(array)
            arrays[name] = array
        return pa.table(arrays)

    def _type(self, name: str, kind: str) -> Any:
        known = self.types.get(name)
        if kind == "number":
            return pa.bool_() if known == pa.bool_() else pa.float64()
        return pa.string() if known is None or kind == "date" else known


def read_json_lines(
    source: Source, types: dict[str, Any], *, encoding: str | None = None, size: int = CHUNK
) -> Iterator[JsonChunk]:
    """Chunks of JSON lines."""
    first = 0
    for chunk in iter_chunks(source, encoding=encoding, size=size):
        lines = bytes(to_utf8(chunk)).split(b"\n")
        if not lines[-1]:
            lines.pop()
        yield JsonChunk(lines, first, len(chunk), types, limits=source.limits)
        first += len(lines)


def read_json(source: Source, *, encoding: str | None = None) -> Iterator[JsonChunk]:
    """Chunks of a JSON file: an array, concatenated objects, or a table by columns."""
    with open_text(source, encoding) as stream:
        data = stream.read(FREE_GROWTH + 1)
    if len(data) > FREE_GROWTH:
        raise DataError(f"{source.name} is longer than {format_size(FREE_GROWTH)}: convert it to JSON lines")
    text = str(to_utf8(data), "utf-8")
    waiting: list[Any] = []
    first = 0
    for value in _elements(text, source):
        waiting.append(value)
        if len(waiting) == _AT_ONCE:
            yield JsonChunk(waiting, first, 0, unit="element", limits=source.limits)
            first, waiting = first + len(waiting), []
    yield JsonChunk(waiting, first, len(data), unit="element", limits=source.limits)


def _elements(text: str, source: Source) -> Iterator[Any]:
    decode = json.JSONDecoder(parse_int=float).raw_decode
    at, count, is_array = 0, 0, text.lstrip().startswith("[")
    if is_array:
        at = text.index("[") + 1
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text):
            if is_array:
                raise DataError(f"{source.name}: the array is not closed behind element {count}")
            return
        if is_array and text[at] == "]":
            return
        try:
            value, end = decode(text, at)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{source.name}, element {count + 1}: {_reason(error)}") from None
        if end - at > source.limits.line and is_array:
            raise DataError(
                f"{source.name}, element {count + 1} is longer than {format_size(source.limits.line)}: "
                "--read-limit line=SIZE"
            )
        yield from _rows_in(value, alone=not is_array)
        at, count = end, count + 1


def _rows_in(value: Any, *, alone: bool) -> list[Any]:
    """The rows of a value: an object is one, a list one by its places; alone, also a table by columns."""
    if isinstance(value, list):
        return [{str(k + 1): cell for k, cell in enumerate(value)}]
    if not isinstance(value, dict) or not alone:
        return [value]
    columns, rows = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, columns), row, strict=False)) for row in rows]
    cells = list(value.values())
    if cells and all(isinstance(each, dict) and each.keys() == cells[0].keys() for each in cells) and cells[0]:
        if all(name.isdecimal() for name in value) and not all(name.isdecimal() for name in cells[0]):
            return cells  # one object per row, by its number
        return [{name: column[key] for name, column in value.items()} for key in cells[0]]
    # A table within an object, as pandas' orient="table" and web services write it.
    tables = [each for each in cells if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)]
    if len(tables) == 1:
        return tables[0]
    if cells and all(isinstance(each, list) and len(each) == len(cells[0]) for each in cells) and cells[0]:
        return [{name: column[k] for name, column in value.items()} for k in range(len(cells[0]))]
    return [value]


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        what = (error.msg[0].lower() + error.msg[1:]).removesuffix(" at")
        return f"it is not JSON: {what} at character {error.pos + 1}"
    return str(error).splitlines()[0]


def replace_lone_surrogates(text: str) -> str:
    """A text in which half of a surrogate pair, which JSON can write and UTF-8 cannot, is U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def _object_of(line: Any) -> dict[str, Any]:
    found = json.loads(line, parse_int=float) if isinstance(line, bytes) else line
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    if any(isinstance(value, dict) for value in found.values()):
        found = dict(_leaves(found, ""))
    return {replace_lone_surrogates(name): value for name, value in found.items()}


def _leaves(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """The values within objects, by names such as ``user.age``."""
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _leaves(each, f"{before}{name}.")
        else:
            yield before + name, each


def _types_of(lines: list[bytes]) -> dict[str, Any]:
    """The Arrow types of columns of numbers or booleans, by the first lines."""
    types: dict[str, set[type]] = {}
    for line in lines:
        try:
            for name, value in _object_of(line).items():
                if value is not None:
                    types.setdefault(name, set()).add(type(value))
        except (ValueError, RecursionError):
            continue
    arrow: dict[type, Any] = {float: pa.float64(), bool: pa.bool_()}
    return {name: arrow[next(iter(of))] for name, of in types.items() if len(of) == 1 and next(iter(of)) in arrow}


def _infer(objects: list[dict[str, Any]], limits: Limits) -> Any:
    """Objects as a table of doubles, strings and lists, to infer the kinds of columns from."""
    names = list(dict.fromkeys(name for each in objects for name in each))
    limits.check_columns(len(names), "the data")
    arrays = {}
    for name in names:
        values = [each.get(name) for each in objects]
        there = [value for value in values if value is not None]
        if there and all(isinstance(value, (bool, float)) for value in there):
            arrays[name] = doubles_from(np.array([np.nan if value is None else value for value in values], np.float64))
        elif any(isinstance(value, list) for value in there):
            arrays[name] = _lists(values)
        else:
            arrays[name] = strings_from([_text(value) for value in values])
    return _table(arrays, len(objects))


def _convert(objects: list[dict[str, Any]], encoder: TableEncoder) -> tuple[Any, dict[str, InvalidCells]]:
    """Objects in the types of the encoder's columns."""
    arrays, invalid = {}, {}
    for name, kind in encoder.kinds().items():
        values = [each.get(name) for each in objects]
        if kind == "number":
            arrays[name], invalid[name] = _numbers(values, encoder, name)
        elif kind == "date":
            texts = strings_from([_text(value) for value in values])
            arrays[name], invalid[name] = encoder.convert(texts, name)
        elif kind == "label" and any(isinstance(value, list) for value in values):
            arrays[name] = _lists(values)
        else:
            arrays[name] = strings_from([_text(value) for value in values])
    return _table(arrays, len(objects)), {name: found for name, found in invalid.items() if found}


def _table(arrays: dict[str, Any], count: int) -> Any:
    return pa.table(arrays) if arrays else pa.table({"": pa.nulls(count)}).select([])


def _lists(values: list[Any]) -> Any:
    """Lists of texts; a single value is a list of one."""
    lists = [value if isinstance(value, list) else [] if value is None else [value] for value in values]
    offsets = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int32)
    flat = strings_from([_text(value) for each in lists for value in each])
    buffers = [None, pa.py_buffer(offsets)]
    return pa.Array.from_buffers(pa.list_(pa.string()), len(lists), buffers, children=[flat])


def _numbers(values: list[Any], encoder: TableEncoder, name: str) -> tuple[Any, InvalidCells]:
    texts = [k for k, value in enumerate(values) if not (value is None or isinstance(value, (float, bool)))]
    plain = np.array([value if isinstance(value, (float, bool)) else np.nan for value in values], np.float64)
    invalid: InvalidCells = {}
    if texts:
        read, invalid = encoder.convert(strings_from([_text(values[k]) for k in texts]), name)
        plain[texts] = np.frombuffer(read.buffers()[1], np.float64)
    return doubles_from(plain), invalid


def _plain(value: Any) -> Any:
    """A value as written: whole numbers were parsed as floats."""
    if isinstance(value, float) and abs(value) < 2**53 and value == int(value):
        return int(value)
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def _text(value: Any) -> str | None:
    """A value as a cell would have it."""
    if value is None:
        return None
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value == value and abs(value) < 2**53 and value == int(value) else repr(value)
    return json.dumps(value, ensure_ascii=True)
