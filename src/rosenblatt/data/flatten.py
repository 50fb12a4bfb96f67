"""JSON in any layout as JSON lines: an array, objects one behind the other, a table by columns.

Invariant: only one element is held at a time, and none longer than the limit of a line.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from rosenblatt.data.limits import Limits, shown
from rosenblatt.data.streams import Joined
from rosenblatt.errors import DataError

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
                        "--limit line=SIZE"
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
