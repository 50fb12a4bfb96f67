"""JSON lines, JSON arrays and JSON objects one behind the other, as pieces.

Invariant: what a line becomes depends on the line alone: a key that it lacks is a missing cell, whatever its neighbours
have. Nesting is bounded before anything recursive looks at it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.json

from rosenblatt.data.cells import MISSING, Strange, dates_of, numbers_of
from rosenblatt.data.chunks import CHUNK, iter_chunks
from rosenblatt.data.columns import ColumnEncoder
from rosenblatt.data.encoding import as_utf8, repaired
from rosenblatt.data.flatten import DEEPEST, TOO_DEEP, flatten, sentence_of
from rosenblatt.data.limits import USUAL, Limits
from rosenblatt.data.pieces import Rows
from rosenblatt.data.sources import Source
from rosenblatt.data.vectors import doubles_from, strings_from, text_of_number
from rosenblatt.errors import DataError

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
    limits: Limits = USUAL

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
        raise DataError(f"the lines have {len(names):,} keys, and the limit is {limits.columns:,}: --limit columns=N")
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
