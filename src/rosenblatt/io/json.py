"""JSON lines, JSON arrays and concatenated JSON objects as chunks of a table.

Invariant: a row depends on its line alone: a key that it lacks is a missing cell. Nesting is bounded before anything
recursive parses it.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.json

from rosenblatt.encode.arrow_numpy import doubles_from, strings_from, text_of_number
from rosenblatt.encode.cells import MISSING, Strange, dates_of, numbers_of
from rosenblatt.encode.table import ColumnEncoder, Rows
from rosenblatt.errors import DataError
from rosenblatt.io.limits import DEFAULT_LIMITS, Limits, shown
from rosenblatt.io.source import Joined, Source
from rosenblatt.io.text import CHUNK, as_utf8, iter_chunks, repaired

DEEPEST = 64
TOO_DEEP = f"it is nested more than {DEEPEST} deep"
_SPACE = re.compile(r"[\s,]*")


class Flattened(Joined):
    """A JSON array, or objects one behind the other over any number of lines, as lines with an object each."""

    def __init__(self, stream: Any, name: str, limits: Limits) -> None:
        super().__init__(self._lines(stream, name, limits))
        self._stream = stream

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()

    @staticmethod
    def _lines(stream: Any, name: str, limits: Limits) -> Iterator[bytes]:
        decode = json.JSONDecoder(parse_int=float).raw_decode
        feed = codecs.getincrementaldecoder("utf-8")("replace")
        text, done, count, at, more, inside = "", False, 0, 0, 1 << 16, None
        while True:
            match = _SPACE.match(text, at)
            at = match.end() if match else at
            if at < len(text):
                if inside is None:
                    inside = text[at] == "["
                    at += inside
                    continue
                if text[at] == "]":
                    return
                try:
                    value, end = decode(text, at)
                    if done or end < len(text) or text[end - 1] in "}]":
                        lines = [json.dumps(row, ensure_ascii=True) for row in _rows_in(value, alone=not inside)]
                        yield ("\n".join(lines) + "\n").encode()
                        count, at, more = count + 1, end, 1 << 16
                        continue
                except RecursionError:
                    raise DataError(f"{name}, element {count + 1}: {TOO_DEEP}") from None
                except ValueError as error:
                    if done:
                        raise DataError(f"{name}, element {count + 1}: {sentence_of(error)}") from None
                if len(text) - at > limits.line:
                    raise DataError(
                        f"{name}, element {count + 1} is longer than {shown(limits.line)}, or is not JSON: "
                        "--read-limit line=SIZE"
                    )
            if done:
                if inside and at >= len(text):
                    raise DataError(f"{name}: the array is not closed behind element {count}")
                return
            piece = stream.read(more)
            done, more = not piece, 2 * more
            text, at = text[at:] + feed.decode(piece or b"", done), 0


def _rows_in(value: Any, *, alone: bool) -> list[Any]:
    """The rows that a value stands for: an object is one, a list one by its places; alone, also a table by columns."""
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
            return cells  # an object for each row, by its number
        return [{name: column[key] for name, column in value.items()} for key in cells[0]]
    # A table within an object, as pandas' orient="table" and web services write it.
    tables = [each for each in cells if isinstance(each, list) and each and all(isinstance(row, dict) for row in each)]
    if len(tables) == 1:
        return tables[0]
    if cells and all(isinstance(each, list) and len(each) == len(cells[0]) for each in cells) and cells[0]:
        return [{name: column[k] for name, column in value.items()} for k in range(len(cells[0]))]
    return [value]


def flatten(stream: BinaryIO, name: str, limits: Limits) -> BinaryIO:
    """The stream of a JSON array as JSON lines."""
    return cast(BinaryIO, Flattened(stream, name, limits))


def sentence_of(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, json.JSONDecodeError):
        return (
            f"it is not JSON: {(error.msg[0].lower() + error.msg[1:]).removesuffix(' at')} at character {error.pos + 1}"
        )
    return str(error).splitlines()[0] if isinstance(error, UnicodeError) is False else "it is not UTF-8"


_HALVES = re.compile("[\ud800-\udfff]")
_STRING = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*"?')
_FLAT_LINE = rb"[^\S\n]*\{[^{}\[\]\n]*\}[^\S\n]*"
_FLAT = re.compile(rb"(?:%s\n)*%s" % (_FLAT_LINE, _FLAT_LINE))
_OPENING, _CLOSING = np.frombuffer(b"{[", np.uint8), np.frombuffer(b"}]", np.uint8)


@dataclass
class ObjectsPiece:
    """Whole lines, an object in each."""

    data: bytes
    line: int  # before the first
    hints: dict[str, Any] = field(default_factory=dict)  # Arrow types of columns, shared by the pieces of a reader
    unit: str = "line"
    limits: Limits = DEFAULT_LIMITS

    @property
    def size(self) -> int:
        return len(self.data)

    def rows(self, encoder: ColumnEncoder | None = None) -> Rows:
        lines = repaired(self.data).split(b"\n")
        if not lines[-1]:
            lines.pop()
        filled = np.array([bool(line.strip()) for line in lines], bool)
        gaps = (np.flatnonzero(~filled) + self.line).tolist()
        places = np.flatnonzero(filled).astype(np.int64)
        bad = [(self.line + int(k), TOO_DEEP) for k in places if is_too_deep(lines[k])]
        if bad:
            deep = {k - self.line for k, _ in bad}
            places = np.array([k for k in places if k not in deep], np.int64)
        table = None if encoder is None else self._quickly([lines[k] for k in places], encoder)
        if table is not None:
            return Rows(table, places + self.line, bad, gaps)
        objects, good = [], []
        for k in places.tolist():
            try:
                objects.append(_object_of(lines[k]))
                good.append(k)
            except (ValueError, RecursionError) as error:
                bad.append((self.line + k, sentence_of(error)))
        found = np.array(good, np.int64) + self.line
        if encoder is None:
            return Rows(_guessed(objects, self.limits), found, sorted(bad), gaps)
        table, strange = _typed(objects, encoder)
        return Rows(table, found, sorted(bad), gaps, strange)

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        objects = []
        for line in repaired(self.data).split(b"\n"):
            if line.strip() and not is_too_deep(line):
                with contextlib.suppress(ValueError, RecursionError):
                    objects.append(_object_of(line))
        known = tuple(dict.fromkeys(name for each in objects for name in each))
        wanted = known if "*" in names else tuple(names)
        return {name: [_plain(each.get(name)) for each in objects] for name in wanted}

    def _quickly(self, lines: list[bytes], encoder: ColumnEncoder) -> Any:
        """By Arrow, where every line is a flat object as the others lead to expect; None where one is not."""
        if not lines:
            return None
        if "" not in self.hints:
            self.hints.update(_types_of(lines[:100]))
            self.hints[""] = None  # looked for
        kinds = encoder.kinds()
        schema = pa.schema([(name, self._type(name, kind)) for name, kind in kinds.items()])
        text = b"\n".join(lines)
        # Arrow's reader ends the process over a null beside the objects: it is given nothing but one object a line.
        if not _FLAT.fullmatch(_STRING.sub(b"", text)):
            return None
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
                array, odd = dates_of(array)
                if odd:
                    return None
            elif not pa.types.is_string(array.type):
                array = text_of_number(array)
            arrays[name] = array
        return pa.table(arrays)

    def _type(self, name: str, kind: str) -> Any:
        hint = self.hints.get(name)
        if kind == "number":
            return pa.bool_() if hint == pa.bool_() else pa.float64()
        return pa.string() if hint is None or kind == "date" else hint


def is_too_deep(line: bytes) -> bool:
    """Is there more than so much nesting in a line?"""
    if line.count(b"{") + line.count(b"[") <= DEEPEST:
        return False
    bare = np.frombuffer(_STRING.sub(b"", line), np.uint8)
    steps = np.isin(bare, _OPENING).astype(np.int64) - np.isin(bare, _CLOSING)
    return bool(len(steps)) and int(np.cumsum(steps).max()) > DEEPEST


def whole_letters(text: str) -> str:
    """A text in which half of a surrogate pair, which JSON can write and UTF-8 cannot, is the sign for no letter."""
    return text if text.isascii() else _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


def _object_of(line: bytes) -> dict[str, Any]:
    found = json.loads(line, parse_int=float)
    if not isinstance(found, dict):
        raise ValueError("it is no object")
    if any(isinstance(value, dict) for value in found.values()):
        found = dict(_leaves(found, ""))
    if b"\\u" in line:  # half a surrogate pair is no name of a column
        found = {whole_letters(name): value for name, value in found.items()}
    return found


def _leaves(value: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """The values within objects, by names such as ``user.age``."""
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _leaves(each, f"{before}{name}.")
        else:
            yield before + name, each


def _types_of(lines: list[bytes]) -> dict[str, Any]:
    """The types of columns that are not strings, as the first lines have them."""
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


def _guessed(objects: list[dict[str, Any]], limits: Limits) -> Any:
    """Objects as a table to guess from: numbers, booleans, strings, and an empty list type for lists."""
    names = list(dict.fromkeys(name for each in objects for name in each))
    if len(names) > limits.columns:
        raise DataError(
            f"the lines have {len(names):,} keys, and the limit is {limits.columns:,}: --read-limit columns=N"
        )
    arrays = {}
    for name in names:
        values = [each.get(name) for each in objects]
        there = [value for value in values if value is not None]
        if there and all(isinstance(value, (bool, float)) for value in there):
            arrays[name] = doubles_from(np.array([np.nan if value is None else value for value in values], np.float64))
        elif any(isinstance(value, list) for value in there):
            arrays[name] = pa.nulls(len(values), pa.list_(pa.null()))
        else:
            arrays[name] = strings_from([_text(value) for value in values])
    return pa.table(arrays) if arrays else pa.table({"": pa.nulls(len(objects))}).select([])


def _typed(objects: list[dict[str, Any]], encoder: ColumnEncoder) -> tuple[Any, dict[str, Strange]]:
    """Objects in the types of the encoder's columns."""
    arrays, strange = {}, {}
    for name, kind in encoder.kinds().items():
        values = [each.get(name) for each in objects]
        if kind == "number":
            arrays[name], strange[name] = _numbers(values)
        elif kind == "date":
            arrays[name], strange[name] = dates_of(strings_from([_text(value) for value in values]))
        else:
            arrays[name] = strings_from([_text(value) for value in values])
    table = pa.table(arrays) if arrays else pa.table({"": pa.nulls(len(objects))}).select([])
    return table, {name: found for name, found in strange.items() if found}


def _numbers(values: list[Any]) -> tuple[Any, Strange]:
    texts = [k for k, value in enumerate(values) if not (value is None or isinstance(value, (float, bool)))]
    plain = np.array([np.nan if value is None or not isinstance(value, (float, bool)) else value for value in values])
    strange: Strange = {}
    if texts:
        read, strange = numbers_of(strings_from([_text(values[k]) for k in texts]), missing=MISSING)
        plain[texts] = np.frombuffer(read.buffers()[1], np.float64)
    plain = plain.astype(np.float64)
    return doubles_from(plain), strange


def _plain(value: Any) -> Any:
    """A value as it stood there: whole numbers were read as floats."""
    if isinstance(value, float) and abs(value) < 2**53 and value == int(value):
        return int(value)
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def _text(value: Any) -> str | None:
    """A value as a cell would have it."""
    if value is None:
        return None
    if isinstance(value, str):
        return whole_letters(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value == value and abs(value) < 2**53 and value == int(value) else repr(value)
    return json.dumps(value, ensure_ascii=True)


def iter_objects(
    source: Source, format: str, hints: dict[str, Any], *, encoding: str | None = None, size: int = CHUNK
) -> Iterator[ObjectsPiece]:
    """The pieces of JSON lines, or of a JSON array as lines."""
    unit, line = "line", 0
    if format == "json":
        source, unit = _Array(source.name, source.limits, source, encoding), "element"
        encoding = None
    for chunk in iter_chunks(source, encoding=encoding, size=size):
        data = bytes(chunk)
        yield ObjectsPiece(data, line, hints, unit, source.limits)
        line += data.count(b"\n")


@dataclass
class _Array(Source):
    """A source of JSON in any layout, as one of JSON lines."""

    inner: Any = None
    encoding: str | None = None

    @property
    def live(self) -> bool:  # type: ignore[override]
        return bool(self.inner.live)

    def open(self) -> BinaryIO:
        return flatten(as_utf8(self.inner.open(), self.name, self.encoding), self.name, self.limits)
