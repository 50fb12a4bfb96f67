"""CSV and TSV text, in any dialect, as chunks of whole records.

Invariant: time and memory are linear in the size of the text. Records are cut by the engine alone; Arrow parses only
those with the right number of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.encode.cells import MISSING, NO_LABEL, InvalidCells, trimmed, without
from rosenblatt.encode.options import ReadOptions
from rosenblatt.encode.table import TableChunk, TableEncoder, find_columns
from rosenblatt.errors import DataError
from rosenblatt.io.csv_sniffer import Dialect, join_quotes, squeeze
from rosenblatt.io.source import Source
from rosenblatt.io.text import CHUNK, check_line, fill, open_text, to_utf8

_HEAD = 1 << 20  # bytes that a dialect is guessed from
OPEN_QUOTE = "a quote is opened and never closed"


@dataclass
class CsvChunk:
    """Whole records of text, the header not among them."""

    data: bytes
    ends: NDArray[np.int64]
    cells_of: NDArray[np.int32]  # how many each record has
    lines: NDArray[np.int64]  # in which each begins
    dialect: Dialect
    first: int = 0  # the record behind the header
    missing: tuple[str, ...] = MISSING
    missing_labels: tuple[str, ...] = NO_LABEL

    unit = "line"

    @property
    def size(self) -> int:
        return len(self.data)

    def parse(self, encoder: TableEncoder | None = None) -> TableChunk:
        width = len(self.dialect.names)
        good = self.cells_of == width
        good[: self.first] = False
        blank = self.cells_of == 0
        blank[: self.first] = False
        bad = [
            (int(self.lines[k]), self._fault(int(k), width)) for k in np.flatnonzero(~good & ~blank) if k >= self.first
        ]
        table, invalid = self._read(self._text_of(good), encoder, int(good.sum()))
        return TableChunk(table, self.lines[good], bad, self.lines[blank].tolist(), invalid)

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        wanted = find_columns(names, self.dialect.names)
        good = self.cells_of == len(self.dialect.names)
        good[: self.first] = False
        table = self._parse(self._text_of(good), dict.fromkeys(wanted, pa.string()), int(good.sum()))
        return {name: table.column(name).to_pylist() for name in wanted}

    def _fault(self, k: int, width: int) -> str:
        count = int(self.cells_of[k])
        if count < 0:
            return OPEN_QUOTE
        return f"it has {count} cell{'s' if count > 1 else ''} instead of {width}"

    def _text_of(self, good: NDArray[np.bool_]) -> bytes:
        if good.all():
            return bytes(to_utf8(self.data))
        # Runs of good records, each one piece of the text.
        begins = np.concatenate([[0], self.ends[:-1]])
        turns = np.diff(np.concatenate([[False], good, [False]]).astype(np.int8))
        firsts, lasts = np.flatnonzero(turns == 1), np.flatnonzero(turns == -1) - 1
        runs = zip(begins[firsts].tolist(), self.ends[lasts].tolist(), strict=True)
        return bytes(to_utf8(b"".join([self.data[a:b] for a, b in runs])))

    def _read(self, text: bytes, encoder: TableEncoder | None, count: int) -> tuple[Any, dict[str, InvalidCells]]:
        """A table in the types of the encoder's columns, or of strings."""
        names = self.dialect.names
        if encoder is None:
            table = self._parse(text, dict.fromkeys(names, pa.string()), count)
            return pa.table({name: without(trimmed(table.column(name)), self.missing) for name in names}), {}
        kinds = encoder.kinds()
        wanted = {name: kinds[name] for name in names if name in kinds}
        plain = {
            name: pa.float64() if kind == "number" and name not in self.dialect.slow else pa.string()
            for name, kind in wanted.items()
        }
        try:
            table = self._parse(text, plain, count)
        except pa.ArrowInvalid:  # a cell is not a number, or not a plain one
            self.dialect.slow.update(name for name, kind in wanted.items() if kind == "number")
            table = self._parse(text, dict.fromkeys(wanted, pa.string()), count)
        encoder = replace(encoder, options=replace(encoder.options, decimal=self.dialect.decimal, missing=self.missing))
        arrays, invalid = {}, {}
        for name, kind in wanted.items():
            array = table.column(name)
            if kind == "label":
                array = without(trimmed(array), self.missing_labels)
            elif kind in ("number", "date"):
                array, invalid[name] = encoder.convert(array, name) if array.type != pa.float64() else (array, {})
            else:
                array = without(trimmed(array), self.missing)
            arrays[name] = array
        return _table(arrays, count), {name: found for name, found in invalid.items() if found}

    def _parse(self, text: bytes, types: dict[str, Any], count: int) -> Any:
        if not count or not types:
            return _table({name: pa.nulls(0, kind) for name, kind in types.items()}, count)
        dialect = self.dialect
        table = pa.csv.read_csv(
            pa.py_buffer(text),
            read_options=pa.csv.ReadOptions(
                column_names=list(dialect.names), use_threads=False, block_size=min(len(text) + 1, 2**31 - 1)
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=True,
                escape_char=dialect.escape or False,
                double_quote=True,
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=list(self.missing),
                strings_can_be_null=False,
                decimal_point=dialect.decimal,
            ),
        )
        if table.num_rows != count:
            raise DataError(f"line {int(self.lines[self.first]) + 1} and those behind it: {OPEN_QUOTE}")
        return table


def read_csv(
    source: Source,
    sniff: Callable[[bytes, bool], Dialect],
    options: ReadOptions = ReadOptions(),
    *,
    size: int = CHUNK,
) -> Iterator[CsvChunk]:
    """Chunks of a CSV file; `sniff` gets its first bytes, and whether they are all."""
    words = {} if options.missing is None else {"missing": options.missing, "missing_labels": options.missing}
    dialect, rest, line = None, b"", 0
    lead = 0  # records before the first row that are still to come
    with open_text(source, options.encoding) as stream:
        while True:
            buffer = np.empty(max(size, 2 * len(rest)), np.uint8).data
            buffer[: len(rest)] = rest
            filled = len(rest) + fill(stream, buffer[len(rest) :], live=source.live)
            last = filled == len(rest)
            data = bytes(buffer[:filled])
            if dialect is None:
                if not last and b"\n" not in data and b"\r" not in data:
                    check_line(source, len(data))
                    rest = data
                    continue
                head = data[:_HEAD]
                dialect = sniff(bytes(to_utf8(head[: head.rfind(b"\n") + 1] or head)), last)
                lead = dialect.lead
            if not data:
                return
            if dialect.squeezed:
                # The last line may go on: a space that stands at its end, or at the beginning of what comes, is kept.
                data = squeeze(data) if last or data.endswith(b"\n") else _squeezed_lines(data)
            if dialect.spaced:
                data = join_quotes(data, dialect.delimiter)
            hopeless = len(data) > source.limits.line
            ends, cells, lines, count, is_open = engine.split_records(
                np.frombuffer(data, np.uint8),
                delimiter=dialect.delimiter,
                escape=dialect.escape,
                last=last,
                hopeless=hopeless,
            )
            end = int(ends[-1]) if len(ends) else 0
            if not is_open:
                check_line(source, len(data) - end)
            if len(ends):
                check_line(source, int(np.diff(ends, prepend=0).max()))
            rest = data[end:]
            if end:
                first = 0
                if lead:
                    told = np.flatnonzero(cells > 0)
                    first = int(told[lead - 1]) + 1 if len(told) >= lead else len(cells)
                    lead = max(0, lead - len(told))
                yield CsvChunk(data[:end], ends, cells, lines + line, dialect, first, **words)
                line += count
            if last and not rest:
                return


def _squeezed_lines(data: bytes) -> bytes:
    """The whole lines squeezed, and the last one as it is."""
    end = data.rfind(b"\n") + 1
    return squeeze(data[:end]) + data[end:]


def _table(arrays: dict[str, Any], count: int) -> Any:
    """A table with so many rows, also where it has no columns."""
    if arrays:
        return pa.table(arrays)
    return pa.table({"": pa.nulls(count)}).select([])
