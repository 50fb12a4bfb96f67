"""JSON lines, JSON arrays and concatenated JSON objects as chunks of a table.

Invariant: a row depends on its line alone: a key that it lacks is a missing cell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rosenblatt.encode.cells import null_where, numbers_from, strings_from, text_of_number
from rosenblatt.encode.options import Limits, format_size
from rosenblatt.encode.table import TableChunk
from rosenblatt.errors import DataError
from rosenblatt.io.source import FREE_GROWTH, Source, iter_chunks

_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[\s,]*")
_AT_ONCE = 20_000  # elements of an array per chunk
_DECODER = json.JSONDecoder(parse_int=float)


def read_json_lines(source: Source, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of JSON lines; `columns`: those to read, which a line may lack."""
    first = 0
    for chunk in iter_chunks(source, dataset.chunk):
        lines = str(chunk, "utf-8").removesuffix("\n").split("\n")
        blank = [first + k for k, line in enumerate(lines) if not line or line.isspace()]
        numbered = ((first + k, line) for k, line in enumerate(lines) if line and not line.isspace())
        yield _chunk(numbered, lambda line: _row(_DECODER.decode(line)), columns, source.limits, blank=blank)
        first += len(lines)


def read_json(source: Source, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of a JSON file: an array, concatenated objects, or a table by columns."""
    blocks, length = [], 0
    for block in source.iter_text():
        blocks.append(block)
        length += len(block)
        if length > FREE_GROWTH:
            raise DataError(f"{source.name} is longer than {format_size(FREE_GROWTH)}: convert it to JSON lines")
    values = enumerate(_elements(str(b"".join(blocks), "utf-8"), source))
    while waiting := [value for _, value in zip(range(_AT_ONCE), values, strict=False)]:
        yield _chunk(waiting, _row, columns, source.limits, unit="element")


def _chunk(
    values: Iterable[tuple[int, Any]], parse: Any, columns: Sequence[str] | None, limits: Limits, **more: Any
) -> TableChunk:
    """Numbered values as a table; values that are not objects are bad lines."""
    rows, lines, bad = [], [], []
    for line, value in values:
        try:
            rows.append(parse(value))
            lines.append(line)
        except (ValueError, RecursionError) as error:
            bad.append((line, _reason(error)))
    names = [name for name in columns or () if name != "*"]
    if columns is None or "*" in columns:
        names = list(dict.fromkeys([*names, *(name for row in rows for name in row)]))
    limits.check_columns(len(names), "the data")
    table = pa.table({name: _array([row.get(name) for row in rows]) for name in names})
    return TableChunk(table, np.array(lines, np.int64), bad, **more)


def _row(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    if any(isinstance(each, dict) for each in value.values()):
        value = dict(_leaves(value, ""))
    return {replace_lone_surrogates(name): each for name, each in value.items()}


def _leaves(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """The values within objects, by names such as ``user.age``."""
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _leaves(each, f"{before}{name}.")
        else:
            yield before + name, each


def _array(values: list[Any]) -> Any:
    """Numbers or booleans if all are; lists of texts if some are lists; else texts."""
    kinds = set(map(type, values))
    if kinds <= {bool, type(None)} and bool in kinds:
        missing = np.array([value is None for value in values])
        return null_where(missing, numbers_from(np.array(values, bool)))
    if kinds <= {float, type(None)} and float in kinds:
        return numbers_from(np.array(values, np.float64))
    if list not in kinds:
        return strings_from([_text(value) for value in values])
    lists = [value if isinstance(value, list) else [] if value is None else [value] for value in values]
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int32)
    flat = strings_from([_text(value) for each in lists for value in each])
    return pa.ListArray.from_arrays(numbers_from(offsets), flat)


def _text(value: Any) -> str | None:
    """A value as the text of a cell."""
    if value is None:
        return None
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    return text_of_number(value) if isinstance(value, float) else json.dumps(value)


def replace_lone_surrogates(text: str) -> str:
    """Replace half a surrogate pair, which JSON allows and UTF-8 does not, by U+FFFD."""
    return text if text.isascii() else _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def _elements(text: str, source: Source) -> Iterator[Any]:
    """The elements of an array, or of concatenated objects."""
    at, count, is_array = 0, 0, text.lstrip().startswith("[")
    if is_array:
        at = text.index("[") + 1
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at == len(text) and is_array:
            raise DataError(f"{source.name}: the array is not closed behind element {count}")
        if at == len(text) or (is_array and text[at] == "]"):
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{source.name}, element {count + 1}: {_reason(error)}") from None
        if is_array:
            source.limits.check_length(end - at, f"{source.name}, element {count + 1}")
        yield from [value] if is_array and isinstance(value, dict) else _rows_in(value)
        at, count = end, count + 1


def _rows_in(value: Any) -> list[Any]:
    """The rows of a value: of a table by columns or by rows, as pandas and web services write it; else itself."""
    if isinstance(value, list):
        return [{str(k + 1): cell for k, cell in enumerate(value)}]
    if not isinstance(value, dict) or not value:
        return [value]
    columns, rows, cells = value.get("columns"), value.get("data"), list(value.values())
    if isinstance(columns, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        return [dict(zip(map(str, columns), row, strict=False)) for row in rows]
    if cells[0] and all(isinstance(each, dict) and each.keys() == cells[0].keys() for each in cells):
        if all(name.isdecimal() for name in value) and not all(name.isdecimal() for name in cells[0]):
            return cells  # one object per row, by its number
        return [{name: column[key] for name, column in value.items()} for key in cells[0]]
    tables = [each for each in cells if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)]
    if len(tables) == 1:
        return tables[0]
    if cells[0] and all(isinstance(each, list) and len(each) == len(cells[0]) for each in cells):
        return [dict(zip(value, row, strict=True)) for row in zip(*cells, strict=True)]
    return [value]


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        what = (error.msg[0].lower() + error.msg[1:]).removesuffix(" at")
        return f"it is not JSON: {what} at character {error.pos + 1}"
    return str(error).splitlines()[0]
