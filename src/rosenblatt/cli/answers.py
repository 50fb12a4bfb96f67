"""Predictions on their way out: as text, CSV, JSON lines or Parquet.

Invariant: there is one answer for each line of the data, in its order; a line that gave no row has an empty one.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

from rosenblatt.errors import ParameterError

KINDS = ("text", "csv", "tsv", "json", "parquet")

Columns = dict[str, list[Any]]
# Endings by which others would take the file for what it is not.
_OTHERS = ("xlsx", "xls", "ods", "feather", "arrow", "ipc", "json", "gz", "bz2", "xz", "zst", "zip")


class Writer(Protocol):
    """Takes answers batch after batch."""

    def write(self, columns: Columns) -> None: ...

    def close(self) -> None: ...


def kind_of(path: str | None, told: str | None) -> str:
    """The form of the answers: what was told, else by the ending of the file."""
    if told is not None:
        return told
    ending = (path or "").lower().rsplit(".", 1)[-1]
    if ending in _OTHERS:
        raise ParameterError(
            f"-o {path}: answers are written as text, .csv, .tsv, .jsonl or .parquet; --to NAME takes one of these"
        )
    return {"csv": "csv", "tsv": "tsv", "parquet": "parquet", "jsonl": "json", "ndjson": "json"}.get(ending, "text")


def open_writer(kind: str, out: BinaryIO) -> Writer:
    """A writer of this kind."""
    if kind == "parquet":
        return _Parquet(out)
    if kind == "json":
        return _Json(out)
    return _Text(out) if kind == "text" else _Separated(out, "\t" if kind == "tsv" else ",")


def with_gaps(columns: Columns, gaps: Sequence[int]) -> Columns:
    """With an empty answer where a line gave no row.

    >>> with_gaps({"label": ["a", "b"]}, [0, 1, 1])
    {'label': [None, 'a', None, None, 'b']}
    """
    if not gaps:
        return columns
    full: Columns = {}
    for name, cells in columns.items():
        at, filled = 0, []
        for gap in gaps:
            filled += [*cells[at:gap], None]
            at = gap
        full[name] = [*filled, *cells[at:]]
    return full


class _Text:
    """Tabs between the parts, nothing but the line end for an empty answer."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, columns: Columns) -> None:
        if len(columns) == 1:
            (cells,) = columns.values()
            text = "".join("\n" if cell is None else f"{_one_line(cell)}\n" for cell in cells)
        else:
            rows = zip(*columns.values(), strict=True)
            text = "".join("\t".join("" if cell is None else _one_line(cell) for cell in row) + "\n" for row in rows)
        self._out.write(text.encode("utf-8", "replace"))
        self._out.flush()

    def close(self) -> None:
        pass


def _one_line(cell: Any) -> str:
    text = repr(cell) if isinstance(cell, float) else str(cell)
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ") if not text.isprintable() else text


class _Separated:
    """With a header."""

    def __init__(self, out: BinaryIO, delimiter: str) -> None:
        self._out, self._delimiter, self._begun = out, delimiter, False

    def write(self, columns: Columns) -> None:
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
        if not self._begun:
            writer.writerow(columns)
            self._begun = True
        writer.writerows(zip(*columns.values(), strict=True))
        self._out.write(text.getvalue().encode("utf-8", "replace"))
        self._out.flush()

    def close(self) -> None:
        pass


class _Json:
    """An object a line; what belongs to one question is an object within it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def write(self, columns: Columns) -> None:
        lines = [
            json.dumps(_nested(dict(zip(columns, row, strict=True))), ensure_ascii=False) + "\n"
            for row in zip(*columns.values(), strict=True)
        ]
        self._out.write("".join(lines).encode("utf-8", "replace"))
        self._out.flush()

    def close(self) -> None:
        pass


_RANKED = re.compile(r"(label|score|probability) \d+")
_GROUPS = {"score of ": "scores", "probability of ": "probabilities"}


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, cell in row.items():
        if ranked := _RANKED.fullmatch(name):
            top = nested.setdefault("top", [])
            if ranked[1] == "label":
                top.append({})
            top[-1][ranked[1]] = cell
            continue
        begin = next((begin for begin in _GROUPS if name.startswith(begin)), None)
        if begin is None:
            nested[name] = cell
        else:
            nested.setdefault(_GROUPS[begin], {})[name.removeprefix(begin)] = cell
    return nested


class _Parquet:
    """A row group for each batch."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._writer: Any = None
        self._schema: Any = None

    def write(self, columns: Columns) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({name: pa.array(cells) for name, cells in columns.items()}, schema=self._schema)
        if self._writer is None:
            fields = [f if f.type != pa.null() else pa.field(f.name, pa.string()) for f in table.schema]
            self._schema = pa.schema(fields)
            self._writer = parquet.ParquetWriter(self._out, self._schema)
            table = table.cast(self._schema)
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
