"""CSV and TSV text: the dialect of a file, and its rows as chunks of a table of strings.

Invariant: a dialect is inferred from many rows and reported; the options of the user override it. If the columns
are known (from a model, or from the first of several files), a header is a line of their names and nothing else.
Time and memory are linear in the size of the text. The engine alone splits records; Arrow parses only those with the
right number of cells.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.encode.cells import MISSING, NO_VALUE, read_number
from rosenblatt.encode.options import ReadOptions
from rosenblatt.encode.schema import infer_decimal
from rosenblatt.encode.table import TableChunk
from rosenblatt.errors import DataError
from rosenblatt.io.source import Source

LONGEST_NAME = 200  # characters
SAMPLE = 1000  # records that are looked at
_HEAD = 1 << 20  # bytes that a dialect is inferred from
_COUNTED = 1 << 18  # bytes in which delimiters are counted
_MOST = 20  # lines that may stand before a header
_ENOUGH = 3  # rows below a second header, or below lines that are not rows
_LABELS = ("label", "class", "target", "y", "category")
_SEPARATOR = re.compile(rb'"?sep=(?P<mark>[^"\r\n])"?[,;\t|]*\r?(\n|\r|\Z)', re.IGNORECASE)
_MANY_SPACES = re.compile(rb"[ \t]+")
_DIGIT = re.compile(r"\d")
_OUTER_SPACES = re.compile(rb"(?m)^ | (?=\r?$)")

OPEN_QUOTE = "a quote is opened and never closed"

Record = list[str]


@dataclass(frozen=True)
class Dialect:
    """How to read the records of a text table."""

    delimiter: str = ","
    decimal: str = "."
    names: tuple[str, ...] = ()
    header: bool = True
    lead: int = 1  # records before the first row: the header, and skipped lines
    escape: str = ""
    spaced: bool = False  # spaces between a delimiter and a quote
    squeezed: bool = False  # cells are separated by any number of spaces
    skipped: int = 0  # lines above the header
    units: tuple[str, ...] = ()  # the cells of a units row below it

    def options(self, given: ReadOptions) -> ReadOptions:
        """The given options with what was inferred, and what a model needs to know to read other files alike."""
        delimiter = None if self.delimiter in (",", "\t") else self.delimiter
        return replace(given, decimal=self.decimal, delimiter=delimiter, header=None, units=self.units or None)

    def describe(self) -> str:
        """The dialect in words, without its defaults."""
        shown = "a space" if self.delimiter == " " else self.delimiter
        parts = [] if self.delimiter in (",", "\t") else [f"{shown} between cells"]
        if self.decimal == ",":
            parts.append("decimal commas")
        above = self.skipped
        if self.header:
            parts.append(f"a header on line {above + 1}" if above else "a header")
        skipped = [f"{above} line{'s' if above > 1 else ''} above"] if above else []
        skipped += ["a units row below it"] if self.units else []
        if skipped:
            parts.append("skipped " + " and ".join(skipped))
        if not self.header:
            called = f"{self.names[0]} to {self.names[-1]}" if len(self.names) > 1 else self.names[0]
            parts.append(f"no header: the columns are called {called}")
        return ", ".join(parts)


def sniff_dialect(head: bytes, source: Source, dataset: Any, whole: bool) -> Dialect:
    """The dialect of a table whose text begins with `head`, or, if `whole`, is it.

    The training data decides properties that the file does not determine. If columns are known, of an earlier file or
    of the training data, only their names are a header.
    """
    options, tabs, known = dataset.options, dataset.format == "tsv", dataset.known_columns(source)
    saved = ReadOptions() if dataset.encoder is None else dataset.encoder.options
    directive = _SEPARATOR.match(head)  # Excel's own first line
    delimiter = _find_delimiter(head, options, saved, known, tabs)
    squeezed = delimiter == " " and _cut_evenly_by_spaces(squeeze(head))
    if squeezed:
        head = squeeze(head)
    escape = "\\" if _escapes(head, delimiter) else ""
    joined = join_quotes(head, delimiter)
    spaced, head = joined != head, joined
    records, lines = _sample(head, delimiter, escape, whole)
    cells = (cell for record in records for cell in record)
    decimal = options.decimal or infer_decimal(cells, saved.decimal or ".")
    above = _find_preamble(records, decimal, options.header is not None, directive is not None, known)
    skipped = lines[above] if above < len(lines) else 0
    records = records[above:]
    if not records:
        raise DataError(f"{source.name} is empty")
    units = () if options.header is not None else _find_units(records, decimal, known, saved.units)
    below = int(bool(units))
    first, rows, header = records[0], records[1 + below :], options.header
    source.limits.check_columns(len(first), source.name)
    unnamed = header is not False and len(rows) > 0 and all(len(row) == len(first) + 1 for row in rows)
    if unnamed and not any(row[-1] for row in rows):  # every line ends in a delimiter, but for the header
        first, unnamed = [*first, ""], False
    if first[0].startswith("#") and rows and rows[0][:1] != ["#"]:
        first = [first[0].lstrip("# "), *first[1:]]
    if header is None:
        header = unnamed or (known is not None and _matches_names(first, known))
        # A file of known columns may have other names only if they are clearly names.
        words = known is None or (bool(rows) and all(read_number(cell) is None for cell in first))
        header = header or (words and is_header(first, rows, decimal))
    named = unique_names(["", *first] if unnamed else first)
    names = named if header else dataset.name_columns(source, len(first))
    lead = above + header + below
    return Dialect(delimiter, decimal, names, header, lead, escape, spaced, squeezed, skipped, units)


def _is_settled(text: bytes, source: Source, dataset: Any) -> bool:
    """True if the beginning of a text shows its dialect; a live source may have sent only a header so far."""
    text = text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]
    if not text.strip() or not source.live:
        return bool(text)
    options, known, saved = dataset.options, dataset.known_columns(source), dataset.encoder.options
    delimiter = _find_delimiter(text, options, saved, known)
    records, _ = _sample(squeeze(text) if delimiter == " " else text, delimiter, "", True)
    decimal = options.decimal or infer_decimal((cell for cells in records for cell in cells), saved.decimal or ".")
    for k, cells in enumerate(records):
        below = records[k + 1 :]
        if not cells[0].startswith("#") and _matches_names(cells, known):
            may_have_units = options.header is None and len(dataset.encoder.numbers) > 1
            sure = not may_have_units or any(
                read_number(cell, decimal) is not None for row in below[:1] for cell in row
            )
            return sure or len(below) > _ENOUGH or (len(below) > 0 and _are_saved_units(below[0], saved.units))
        if 2 * sum(map(bool, cells)) > len(known):
            is_row = any(read_number(cell, decimal) is not None for cell in cells)
            return is_row or options.header is not None or len(below) >= _MOST + _ENOUGH
    return len(records) > _MOST + _ENOUGH


# -- names and headers


def unique_names(cells: Record) -> tuple[str, ...]:
    """Names as pandas would make them: no name twice, and none empty; in one line, and not too long."""
    cells = [" ".join(cell.split())[:LONGEST_NAME] for cell in cells]
    names: dict[str, None] = {}
    taken, copies = set(cells), Counter[str]()
    for j, cell in enumerate(cells):
        base = own = cell or f"Unnamed: {j}"
        while own in names or (copies[base] and own in taken):
            copies[base] += 1
            own = f"{base}.{copies[base]}"
        names[own] = None
    return tuple(names)


def _matches_names(first: Record, known: Sequence[str]) -> bool:
    """True if a line has the names of these columns; names that are numbers count only if all of them are there."""
    words = {name for name in known if read_number(name) is None}
    found = sum(cell in words for cell in first)
    if words:
        return found > 0 and 2 * found >= sum(bool(cell) and read_number(cell) is None for cell in first)
    return len(first) >= len(known) - 1 and first == [name for name in known if name in first]


def is_header(first: Record, rows: Sequence[Record], decimal: str = ".") -> bool:
    """True if the first line is a header: its cells are of another kind than the columns below.

    Examples
    --------
    >>> is_header(["", "0", "1"], [["0", "5.1", "a"], ["1", "4.9", "b"]])
    True
    >>> is_header(["5.1", "3.5", "a"], [["4.9", "3.0", "a"]])
    False
    """
    values = [read_number(cell, decimal) for cell in first]
    if not any(first) or not all(value is None or _is_whole(value) for value in values):
        return False
    is_words = all(value is None for value in values) and all(first)
    if not rows:
        return is_words
    columns = [[row[j] for row in rows if j < len(row)] for j in range(len(first))]
    numbers = [[read_number(cell, decimal) for cell in column] for column in columns]
    differs = over_numbers = repeats = False
    for cell, value, column, below in zip(first, values, columns, numbers, strict=True):
        there = [each for each in column if each not in MISSING]
        if not there or value is not None:
            continue
        is_over_amounts = not _DIGIT.search(cell) and all(map(_DIGIT.search, there))  # or dates, codes
        if is_over_amounts or sum(each is not None for each in below) >= 0.8 * len(there):
            over_numbers |= cell not in MISSING and cell.lower() not in NO_VALUE
        elif cell in set(there):
            repeats = True  # "spam" above spam and ham
        elif cell and (cell.lower() in _LABELS or len(set(there)) <= len(there) / 2):
            differs = True
    if repeats:
        return is_words and over_numbers
    if differs or over_numbers:
        return True
    whole = [int(value) for value in values if value is not None and math.isfinite(value)]
    counted = whole in (list(range(len(whole))), list(range(1, len(whole) + 1)))
    if counted and len(whole) >= max(len(first) - 1, 2 if first[0] == "" else 3):
        # 0, 1, 2, …: names, if the first of them is empty or the cells below are not whole numbers.
        return first[0] == "" or any(value is None or not _is_whole(value) for below in numbers for value in below)
    return is_words and len(set(first)) == len(first)


def _is_whole(value: float) -> bool:
    return value.is_integer() or abs(value) >= 1e15


# -- lines above and below the header


def _find_preamble(
    records: Sequence[Record], decimal: str, requested: bool, directive: bool, known: Sequence[str] | None
) -> int:
    """The number of records to skip before the header.

    Parameters
    ----------
    requested : True if the user set the header; then only records that cannot be rows are skipped
    directive : True if the first record is ``sep=;``
    """
    before = int(directive)
    before += _comments(records[before:], decimal)
    before += _lone_words(records[before:])
    return before if requested else before + _titles(records[before:], decimal, known)


def _comments(records: Sequence[Record], decimal: str) -> int:
    """Lines that begin with ``#``, unless the last of them is itself the header, or they may be rows."""
    count = next((k for k, cells in enumerate(records) if not cells[0].startswith("#")), len(records))
    if not count or count == len(records):
        return 0
    below, width = records[count + 1 :], len(records[count])
    if len(records[count - 1]) != width or (below and is_header(records[count], below, decimal)):
        return count
    # Such as "#id,name,…", or rows.
    return next((k for k in range(count) if all(len(cells) == width for cells in records[k:count])), 0)


def _lone_words(records: Sequence[Record]) -> int:
    """Lines of one non-numeric cell above a table that has three columns in every line."""
    count = next((k for k, cells in enumerate(records) if len(cells) != 1 or read_number(cells[0]) is not None), 0)
    widths = {len(cells) for cells in records[count:]}
    return count if count <= _MOST and len(records) >= count + _ENOUGH and len(widths) == 1 and min(widths) > 2 else 0


def _titles(records: Sequence[Record], decimal: str, known: Sequence[str] | None) -> int:
    """Lines with few cells above a line that is clearly a header."""
    if known is not None:  # a file of few rows too
        width = min(len(known), max(map(len, records), default=0))
        full = (k for k, cells in enumerate(records[:_MOST]) if 2 * sum(map(bool, cells)) > width)
        if (k := next(full, None)) is not None and _matches_names(records[k], known):
            return k
    width = Counter(map(len, records)).most_common(1)[0][0] if records else 0
    for k, cells in enumerate(records[:_MOST]):
        if 2 * sum(map(bool, cells)) > width or width < 2:
            below = [each for each in records[k + 1 :] if len(each) == width]
            return k if k and len(cells) == width and len(below) > 1 and is_header(cells, below, decimal) else 0
    return 0


def _find_units(
    records: Sequence[Record], decimal: str, known: Sequence[str] | None, saved: tuple[str, ...] | None
) -> tuple[str, ...]:
    """The words of the line below a header, if they are units or more names, or those of the training data."""
    if len(records) < 2:
        return ()
    again = known is not None and _matches_names(records[0], known) and _are_saved_units(records[1], saved)
    found = again or _is_second_header(records[0], records[1:], decimal)
    return tuple(dict.fromkeys(filter(None, records[1]))) if found else ()


def _are_saved_units(cells: Record, saved: tuple[str, ...] | None) -> bool:
    return any(cells) and saved is not None and set(filter(None, cells)) <= set(saved)


def _is_second_header(first: Record, rows: Sequence[Record], decimal: str) -> bool:
    """True if the line has words above at least two columns of numbers, and a number above no other column."""
    second, below = rows[0], [cells for cells in rows[1:] if len(cells) == len(rows[0])]
    if len(below) < _ENOUGH or len(second) != len(first) or not is_header(first, below, decimal):
        return False
    columns = 0
    for cell, column in zip(second, zip(*below, strict=True), strict=True):
        there = [each for each in column if each not in MISSING]
        if not there or any(read_number(each, decimal) is None and each.lower() not in NO_VALUE for each in there):
            continue
        if not cell:
            continue  # a number without a unit, or the index of a frame
        if cell in MISSING or cell.lower() in NO_VALUE or read_number(cell, decimal) is not None:
            return False
        columns += 1
    return columns > 1


# -- delimiters and quotes


def squeeze(text: bytes) -> bytes:
    """Replace runs of spaces between cells by one space, and strip the line."""
    return _OUTER_SPACES.sub(b"", _MANY_SPACES.sub(b" ", text))


def join_quotes(text: bytes, delimiter: str) -> bytes:
    """Remove the spaces before a quote that opens a cell: within a cell it would be doubled, or end it."""
    mark = re.escape(delimiter.encode())
    return re.sub(rb'(^|[\n%s]) +"(?=[^"\r\n%s])' % (mark, mark), rb'\1"', text) if b' "' in text else text


def _escapes(head: bytes, delimiter: str) -> bool:
    """True if quotes inside of cells are escaped with a backslash."""
    mark = re.escape(delimiter.encode())
    inside = b'\\"' in head and re.search(rb'[^"%s\n]\\"[^%s\r\n"]' % (mark, mark), head)
    return bool(inside) and b'""' not in head.replace(b',""', b"")


def _find_delimiter(
    head: bytes, options: ReadOptions, saved: ReadOptions, known: Sequence[str] | None, tabs: bool = False
) -> str:
    """The delimiter of the user or the file; else that of the training data if it fits; else the most likely."""
    directive = _SEPARATOR.match(head)
    named = options.delimiter or (directive["mark"].decode("latin-1") if directive else None)
    return named or _saved_delimiter(head, saved.delimiter, known) or _infer_delimiter(head, tabs)


def _saved_delimiter(head: bytes, delimiter: str | None, known: Sequence[str] | None) -> str | None:
    """The delimiter of the training data, if it cuts the first record into the known columns."""
    if delimiter is None or known is None:
        return None
    first = next(iter(_sample(head, delimiter, "", True)[0]), [])
    fits = len(first) in (len(known), len(known) - 1) or _matches_names(first, known)
    return delimiter if fits and len(first) > 1 else None


def _infer_delimiter(head: bytes, tabs: bool) -> str:
    """The delimiter that cuts most records into the same number of cells, more than one."""
    best, score = "\t" if tabs else ",", 0.0
    for delimiter in "\t,;|" if tabs else ",;\t|":
        text = join_quotes(head[:_COUNTED], delimiter)
        counts = _cell_counts(text, delimiter, last=False)
        counts = (counts if len(counts) else _cell_counts(text, delimiter))[: SAMPLE + 1]
        shares = np.unique(counts[counts > 1], return_counts=True)[1] / max(1, len(counts))
        if shares.max(initial=0.0) > score:
            best, score = delimiter, float(shares.max())
    if score < 0.9 and (_cut_evenly_by_spaces(head) or _cut_evenly_by_spaces(squeeze(head))):
        return " "
    return best


def _cut_evenly_by_spaces(head: bytes) -> bool:
    """True if all records have the same number of cells, more than one; the last may be cut, R's header one shorter."""
    counts = _cell_counts(head[:_COUNTED], " ")
    if not len(counts):
        return False
    body = counts[1:-1] if len(counts) > 2 else counts[-1:]
    return bool(body.min() == body.max() > 1 and counts[0] in (body[0], body[0] - 1))


def _cell_counts(text: bytes, delimiter: str, *, last: bool = True) -> NDArray[np.int64]:
    """The number of cells of each record that is not blank; -1 for a quote that is never closed."""
    data = np.frombuffer(text, np.uint8)
    counts = engine.split_records(data, delimiter=delimiter, escape="", last=last, hopeless=True)[1]
    return np.asarray(counts[counts != 0])


def _sample(head: bytes, delimiter: str, escape: str, whole: bool) -> tuple[list[Record], list[int]]:
    """The cells and the lines (from 0) of the first records; without the last, which may be cut."""
    data = np.frombuffer(head, np.uint8)
    ends, counts, starts, *_ = engine.split_records(data, delimiter=delimiter, escape=escape, last=True, hopeless=True)
    is_cut = not whole and not head.endswith((b"\n", b"\r")) and len(ends) > 1
    filled = np.flatnonzero(counts[: len(ends) - is_cut] > 0)[: SAMPLE + 1]
    bounds = _bounds(ends)[filled].tolist()
    texts = [head[begin:end].decode("utf-8", "replace").rstrip("\r\n") for begin, end in bounds]
    return [_cells(text, delimiter, escape) for text in texts], starts[filled].tolist()


def _bounds(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """The beginning and the end of each record."""
    return np.column_stack([np.append(0, ends)[:-1], ends])


def _cells(text: str, delimiter: str, escape: str) -> Record:
    csv.field_size_limit(1 << 30)
    how = {"delimiter": delimiter, "escapechar": escape or None, "doublequote": not escape}
    try:
        cells = next(csv.reader([text.replace("\0", " ")], **how), [])  # type: ignore[arg-type]
    except csv.Error:
        cells = text.split(delimiter)
    return [cell.strip() for cell in cells]


# -- rows


def read_csv(source: Source, columns: Sequence[str] | None, dataset: Any) -> Iterator[TableChunk]:
    """Chunks of a CSV file, whose dialect `dataset` keeps; `columns`: those to read."""
    blocks, head, whole = source.iter_text(dataset.chunk), b"", True
    for block in blocks:
        head += block
        if _is_settled(head, source, dataset):
            whole = False
            break
        source.check_line(len(head))
    first = head[:_HEAD]
    first = first[: first.rfind(b"\n") + 1] or first
    dialect = dataset.dialects.get(source.name) or sniff_dialect(first, source, dataset, whole)
    dataset.dialects[source.name] = dialect
    dataset.note_columns(dialect.names, dialect.describe())
    options, rest, line = dialect.options(dataset.options), b"", 0
    lead = dialect.lead  # records before the first row that are still to come
    for block in chain([head], blocks, [b""]):
        data, last = rest + block, not block
        if dialect.squeezed:
            # The last line may be incomplete: its spaces stay.
            end = len(data) if last else data.rfind(b"\n") + 1
            data = squeeze(data[:end]) + data[end:]
        if dialect.spaced:
            data = join_quotes(data, dialect.delimiter)
        ends, cells, lines, count, is_open = engine.split_records(
            np.frombuffer(data, np.uint8),
            delimiter=dialect.delimiter,
            escape=dialect.escape,
            last=last,
            hopeless=len(data) > source.limits.line,
        )
        end = int(ends[-1]) if len(ends) else 0
        source.check_line(0 if is_open else len(data) - end)
        source.check_line(int(np.diff(ends, prepend=0).max(initial=0)))
        rest = data[end:]
        filled = np.flatnonzero(cells > 0)
        skipped = int(filled[lead - 1]) + 1 if 0 < lead <= len(filled) else len(cells) * (lead > 0)
        lead = max(0, lead - len(filled))
        if end:
            bounds = _bounds(ends)[skipped:]
            yield _chunk(data[:end], bounds, cells[skipped:], lines[skipped:] + line, dialect, options, columns)
        line += count


def _chunk(
    data: bytes, bounds: Any, cells: Any, lines: Any, dialect: Dialect, options: ReadOptions, columns: Any
) -> TableChunk:
    """Records, which begin and end at `bounds` and have so many `cells`, as a table of strings."""
    width = len(dialect.names)
    good, blank = cells == width, cells == 0
    bad = [(int(lines[k]), _fault(int(cells[k]), width)) for k in np.flatnonzero(~good & ~blank)]
    if good.all():
        text = data[int(bounds[0, 0]) :] if len(bounds) else b""
    else:
        text = b"".join([data[a:b] for a, b in bounds[good].tolist()])
    count = int(good.sum())
    names = list(dialect.names)
    if columns is not None and set(columns) <= set(names):
        names = [name for name in names if name in columns]
    table = pa.table({name: pa.nulls(0, pa.string()) for name in names})
    if count:
        table = pa.csv.read_csv(
            pa.py_buffer(text),
            read_options=pa.csv.ReadOptions(
                column_names=list(dialect.names), use_threads=False, block_size=min(len(text) + 1, 2**31 - 1)
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=True, escape_char=dialect.escape or False
            ),
            convert_options=pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=names, strings_can_be_null=False
            ),
        )
    if table.num_rows != count:
        raise DataError(f"from line {int(lines[0]) + 1} on: {OPEN_QUOTE}")
    return TableChunk(table, lines[good], bad, lines[blank].tolist(), options)


def _fault(count: int, width: int) -> str:
    return OPEN_QUOTE if count < 0 else f"it has {count} cell{'s' if count > 1 else ''} instead of {width}"
