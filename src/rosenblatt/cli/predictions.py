"""Writers of predictions: text, CSV, JSON lines and Parquet.

Invariant: one prediction per line of the data, in its order; a line without a row has an empty one.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

Columns = dict[str, list[Any]]
_RANKED = re.compile(r"(label|score|probability) \d+")
_GROUPS = {"score of ": "scores", "probability of ": "probabilities"}


def open_writer(kind: str, out: BinaryIO) -> Any:
    return ParquetWriter(out) if kind == "parquet" else LineWriter(out, kind)


def with_gaps(columns: Columns, gaps: Sequence[int]) -> Columns:
    """With an empty prediction for every line that gave no row.

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


class LineWriter:
    """Text, CSV, TSV or JSON lines, flushed after each batch."""

    def __init__(self, out: BinaryIO, kind: str) -> None:
        self._out, self._kind, self._has_header = out, kind, kind in ("text", "json")

    def write(self, columns: Columns) -> None:
        rows = zip(*columns.values(), strict=True)
        if self._kind == "text":
            text = "".join("\t".join(map(_one_line, row)) + "\n" for row in rows)
        elif self._kind == "json":
            lines = (_nested(dict(zip(columns, row, strict=True))) for row in rows)
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        else:
            text = self._separated(columns, rows)
        self._out.write(text.encode("utf-8", "replace"))
        self._out.flush()

    def _separated(self, columns: Columns, rows: Iterator[Any]) -> str:
        file = io.StringIO()
        writer = csv.writer(file, delimiter="\t" if self._kind == "tsv" else ",", lineterminator="\n")
        if not self._has_header:
            writer.writerow(columns)
            self._has_header = True
        writer.writerows(rows)
        return file.getvalue()

    def close(self) -> None:
        pass


def _one_line(cell: Any) -> str:
    text = "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)
    return text if text.isprintable() else text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """Scores and probabilities as objects of their own, ranked classes as a list."""
    nested: dict[str, Any] = {}
    for name, cell in row.items():
        prefix = next((prefix for prefix in _GROUPS if name.startswith(prefix)), None)
        if ranked := _RANKED.fullmatch(name):
            top = nested.setdefault("top", [])
            if ranked[1] == "label":
                top.append({})
            top[-1][ranked[1]] = cell
        elif prefix is not None:
            nested.setdefault(_GROUPS[prefix], {})[name.removeprefix(prefix)] = cell
        else:
            nested[name] = cell
    return nested


class ParquetWriter:
    """One row group per batch."""

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
