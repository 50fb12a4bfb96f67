"""The dialect of a CSV file: delimiter, decimal mark, header, lines to skip.

Invariant: a guess is made from many rows, is reported, and gives way to the options of the user. If the columns are
known (from a model, or from the first of several files), a header is a line of their names and nothing else.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rosenblatt import engine
from rosenblatt.encode.cells import MISSING, NO_VALUE, read_number
from rosenblatt.encode.options import ReadOptions
from rosenblatt.encode.schema import infer_decimal
from rosenblatt.errors import DataError
from rosenblatt.io.limits import DEFAULT_LIMITS, Limits

LONGEST_NAME = 200  # characters
_LABELS = ("label", "class", "target", "y", "category")


def matches_names(first: list[str], known: Sequence[str]) -> bool:
    """Does a line say the names of these columns? Names that are numbers do not count unless all of them are there."""
    words = {name for name in known if read_number(name) is None}
    found = sum(cell in words for cell in first)
    if words:
        return found > 0 and 2 * found >= sum(bool(cell) and read_number(cell) is None for cell in first)
    return len(first) >= len(known) - 1 and first == [name for name in known if name in first]


def looks_like_header(first: list[str], rows: list[list[str]], decimal: str) -> bool:
    """Is it clearly a header, though not with the names that are known?"""
    return bool(rows) and all(read_number(cell) is None for cell in first) and is_header(first, rows, decimal)


def unique_names(cells: list[str]) -> tuple[str, ...]:
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


def is_header(first: list[str], rows: list[list[str]], decimal: str = ".") -> bool:
    """Is the first line a header? It is where the columns below are of another kind.

    Examples
    --------
    >>> is_header(["", "0", "1"], [["0", "5.1", "a"], ["1", "4.9", "b"]])
    True
    >>> is_header(["5.1", "3.5", "a"], [["4.9", "3.0", "a"]])
    False
    """

    def number(cell: str) -> float | None:
        return read_number(cell, decimal)

    if not any(first):
        return False
    values = [number(cell) for cell in first]
    if any(value is not None and not _is_whole(value) for value in values):
        return False
    if not rows:
        return all(value is None for value in values) and all(first)
    columns = [[row[j] for row in rows if j < len(row)] for j in range(len(first))]
    told, against = False, False
    for cell, value, column in zip(first, values, columns, strict=True):
        there = [each for each in column if each not in MISSING]
        numeric = sum(number(each) is not None for each in there)
        if not there:
            continue
        if numeric >= 0.8 * len(there):
            told |= value is None and cell not in MISSING and not _is_missing(cell)
        elif value is None and cell in set(there):
            against = True
        elif value is None and cell and (cell.lower() in _LABELS or len(set(there)) <= len(there) / 2):
            told = True
    if told and not against:
        return True
    if against:
        return False
    whole = [int(value) for value in values if value is not None and math.isfinite(value)]
    counting = len(whole) >= (2 if first[0] == "" else 3) and whole in (
        list(range(len(whole))),
        list(range(1, len(whole) + 1)),
    )
    if counting and len(whole) >= len(first) - 1:
        # 0, 1, 2, …: names, if the first of them is empty or the cells below are not whole numbers.
        below = [number(cell) for column in columns for cell in column]
        return first[0] == "" or any(value is None or not _is_whole(value) for value in below)
    return all(value is None for value in values) and all(first) and len(set(first)) == len(first)


def _is_whole(value: float) -> bool:
    return value.is_integer() or abs(value) >= 1e15


def _is_missing(cell: str) -> bool:
    return not cell or cell.lower() in NO_VALUE


_SEPARATOR = re.compile(rb'"?sep=(?P<mark>[^"\r\n])"?[,;\t|]*\r?(\n|\r|\Z)', re.IGNORECASE)
_MOST = 20  # lines that may stand before a header
_ENOUGH = 3  # rows below a second header, or below lines that are no rows


def sep_directive(head: bytes) -> str | None:
    """What Excel's own first line ``sep=;`` says; None without such a line."""
    found = _SEPARATOR.match(head)
    return found["mark"].decode("latin-1") if found else None


def find_preamble(records: Sequence[list[str]], decimal: str, *, told: bool, marked: bool) -> tuple[int, int]:
    """The number of records to skip before the header, and behind it.

    Parameters
    ----------
    told : did the user say whether there is a header? Then only records that cannot be rows are skipped.
    marked : is the first record ``sep=;``?
    """
    before = int(marked)
    before += _comments(records[before:], decimal)
    before += _lone_words(records[before:])
    if told:
        return before, 0
    before += _titles(records[before:], decimal)
    behind = before + 1 < len(records) and _is_second_header(records[before], records[before + 1 :], decimal)
    return before, int(behind)


def _comments(records: Sequence[list[str]], decimal: str) -> int:
    """Lines that begin with ``#``, unless the last of them is itself the header, or they may be rows."""
    count = next((k for k, cells in enumerate(records) if not (cells and cells[0].startswith("#"))), len(records))
    if not count or count == len(records):
        return 0
    below = [cells for cells in records[count + 1 :] if cells]
    if is_header(records[count], below, decimal) and below:
        return count
    width = len(records[count])
    if len(records[count - 1]) == width:  # such as "#id,name,…", or a row
        return next((k for k in range(count) if all(len(cells) == width for cells in records[k:count])), 0)
    return count


def _lone_words(records: Sequence[list[str]]) -> int:
    """Lines of one cell, which is no number, above a table that has three columns in every line."""
    count = next((k for k, cells in enumerate(records) if len(cells) != 1 or read_number(cells[0]) is not None), 0)
    widths = {len(cells) for cells in records[count:]}
    return count if count <= _MOST and len(records) >= count + _ENOUGH and len(widths) == 1 and min(widths) > 2 else 0


def _titles(records: Sequence[list[str]], decimal: str) -> int:
    """Lines with few cells above a line that is clearly a header."""
    widths = Counter(len(cells) for cells in records if cells)
    if not widths:
        return 0
    width = widths.most_common(1)[0][0]
    for k, cells in enumerate(records[:_MOST]):
        filled = sum(map(bool, cells))
        if 2 * filled > width or width < 2:
            below = [each for each in records[k + 1 :] if len(each) == width]
            return k if k and len(cells) == width and len(below) > 1 and is_header(cells, below, decimal) else 0
    return 0


def _is_second_header(first: list[str], rows: Sequence[list[str]], decimal: str) -> bool:
    """Does the line below a header say words above all columns of numbers, two at least: units, or more names?"""
    second, below = rows[0], [cells for cells in rows[1:] if len(cells) == len(rows[0])]
    if len(below) < _ENOUGH or len(second) != len(first) or not is_header(first, below, decimal):
        return False
    columns = 0
    for j, cell in enumerate(second):
        there = [cells[j] for cells in below if cells[j] not in MISSING]
        if not there or any(read_number(each, decimal) is None and each.lower() not in NO_VALUE for each in there):
            continue
        if not cell and not first[j]:
            continue  # the index of a frame
        if cell in MISSING or cell.lower() in NO_VALUE or read_number(cell, decimal) is not None:
            return False
        columns += 1
    return columns > 1


DELIMITERS = (",", ";", "\t", "|")
_SHOWN = {"\t": "a tab", " ": "a space"}
SAMPLE = 1000  # records that are looked at

_MANY_SPACES = re.compile(rb"[ \t]+")
_OUTER_SPACES = re.compile(rb"(?m)^ | (?=\r?$)")


@dataclass(frozen=True)
class Dialect:
    """How to read the records of a text table."""

    delimiter: str = ","
    decimal: str = "."
    names: tuple[str, ...] = ()
    header: bool = True
    lead: int = 1  # records before the first row: the header, and what is passed over
    escape: str = ""
    spaced: bool = False  # spaces between a delimiter and a quote
    unnamed: bool = False  # the header lacks a name for the first column
    squeezed: bool = False  # cells are separated by any number of spaces
    skipped: tuple[int, int] = (0, 0)  # records above the header and below it
    slow: set[str] = field(default_factory=set, compare=False)  # number columns with cells that are not plain numbers

    def describe(self) -> str:
        """In words, as far as it is worth saying."""
        parts = [] if self.delimiter in (",", "\t") else [f"{_SHOWN.get(self.delimiter, self.delimiter)} between cells"]
        if self.decimal == ",":
            parts.append("decimal commas")
        above, below = self.skipped
        if self.header:
            parts.append(f"a header on line {above + 1}" if above else "a header")
        if above or below:
            what = [f"{above} line{'s' if above > 1 else ''} above"] if above else []
            parts.append("skipped " + " and ".join([*what, *["a units row below it"] * below]))
        if not self.header:
            parts.append(f"no header: the columns are called {self._called()}")
        return ", ".join(parts)

    def _called(self) -> str:
        return f"{self.names[0]} to {self.names[-1]}" if len(self.names) > 1 else self.names[0]


def sniff_dialect(
    head: bytes,
    name: str,
    options: ReadOptions = ReadOptions(),
    *,
    saved: ReadOptions = ReadOptions(),
    tabs: bool = False,
    known: Sequence[str] | None = None,
    label: str | None = None,
    whole: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Dialect:
    """The dialect of a table whose text begins with `head`.

    Parameters
    ----------
    name : for errors
    saved : options of the training data, which decide what the file leaves open
    tabs : is it called a table of tab separated values?
    known : the columns in the order of an earlier file or of the training data; only their names are a header then
    label : the one of them that a file may lack
    whole : is `head` all there is?
    """
    directive = sep_directive(head)
    delimiter = options.delimiter or directive or _saved_delimiter(head, saved.delimiter, known)
    delimiter = delimiter or _infer_delimiter(head, tabs)
    squeezed = delimiter == " " and _cut_evenly_by_spaces(squeeze(head))
    if squeezed:
        head = squeeze(head)
    escape = "\\" if _escapes(head, delimiter) else ""
    spaced = _spaced(delimiter).search(head) is not None
    if spaced:
        head = join_quotes(head, delimiter)
    records = _sample(head, delimiter, escape, whole)
    cells = (cell for record in records for cell in record)
    decimal = options.decimal or infer_decimal(cells, saved.decimal or ".")
    told = options.header is not None
    above, below = find_preamble(records, decimal, told=told, marked=directive is not None)
    records = records[above:]
    if not records:
        raise DataError(f"{name} is empty")
    first = records[0]
    limits.check_columns(len(first), name)
    rows = records[1 + below :]
    unnamed = options.header is not False and len(rows) > 0 and all(len(row) == len(first) + 1 for row in rows)
    if unnamed and not any(row[-1] for row in rows):  # every line ends in a delimiter, but for the header
        first, unnamed = [*first, ""], False
    if first[0].startswith("#") and rows and rows[0][:1] != ["#"]:
        first = [first[0].lstrip("# "), *first[1:]]
    header = options.header
    if header is None and known is not None:
        header = unnamed or matches_names(first, known) or looks_like_header(first, rows, decimal)
    elif header is None:
        header = unnamed or is_header(first, rows, decimal)
    names = unique_names(["", *first] if unnamed else first) if header else column_names(len(first), name, known, label)
    lead = above + header + below
    return Dialect(delimiter, decimal, names, header, lead, escape, spaced, unnamed, squeezed, (above, below))


def _saved_delimiter(head: bytes, delimiter: str | None, known: Sequence[str] | None) -> str | None:
    """The delimiter of the training data, if it cuts the first record into the known columns."""
    if delimiter is None or known is None:
        return None
    records = _sample(head, delimiter, "", True)
    fits = records and (len(records[0]) in (len(known), len(known) - 1) or matches_names(records[0], known))
    return delimiter if fits and len(records[0]) > 1 else None


def squeeze(text: bytes) -> bytes:
    """With one space for many between cells, and none around a line."""
    return _OUTER_SPACES.sub(b"", _MANY_SPACES.sub(b" ", text))


def _cut_evenly_by_spaces(head: bytes) -> bool:
    """Have all records as many cells, more than one? The last may be cut, and R's header is a cell shorter."""
    data = np.frombuffer(head[: 1 << 18], np.uint8) if head else np.empty(0, np.uint8)
    _, counts, *_ = engine.split_records(data, delimiter=" ", escape="", last=True, hopeless=True)
    counts = counts[counts != 0]
    if not len(counts):
        return False
    body = counts[1:-1] if len(counts) > 2 else counts[-1:]
    return bool(body.min() == body.max() > 1 and counts[0] in (body[0], body[0] - 1))


def join_quotes(text: bytes, delimiter: str) -> bytes:
    """Without the spaces before a quote at the beginning of a cell."""
    return _spaced(delimiter).sub(rb'\1"', text)


def _spaced(delimiter: str) -> re.Pattern[bytes]:
    """Spaces, and a quote that opens a cell: within a cell it would be doubled, or end it."""
    mark = re.escape(delimiter.encode())
    return re.compile(rb'(^|[\n%s]) +"(?=[^"\r\n%s])' % (mark, mark))


def _sample(head: bytes, delimiter: str, escape: str, whole: bool) -> list[list[str]]:
    """The cells of the first records; without the last, which may be cut."""
    data = np.frombuffer(head, np.uint8) if head else np.empty(0, np.uint8)
    ends, counts, *_ = engine.split_records(data, delimiter=delimiter, escape=escape, last=True, hopeless=True)
    records: list[list[str]] = []
    begin = 0
    for k, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
        cut = not whole and end == len(head) and not head.endswith((b"\n", b"\r")) and k > 0
        if count != 0 and not cut:
            text = head[begin:end].decode("utf-8", "replace").rstrip("\r\n")
            records.append(_cells(text, delimiter, escape) if count > 0 else [])
        begin = end
        if len(records) > SAMPLE:
            break
    return [cells for cells in records if cells]


def _cells(text: str, delimiter: str, escape: str) -> list[str]:
    csv.field_size_limit(1 << 30)
    try:
        reader = csv.reader(
            [text.replace("\0", " ")], delimiter=delimiter, escapechar=escape or None, doublequote=not escape
        )
        return [cell.strip() for cell in next(reader, [])]
    except csv.Error:
        return [cell.strip() for cell in text.split(delimiter)]


def _infer_delimiter(head: bytes, tabs: bool) -> str:
    """The one that cuts most records into the same number of cells, more than one."""
    best, score = "\t" if tabs else ",", 0.0
    order = ("\t", ",", ";", "|") if tabs else DELIMITERS
    for delimiter in order:
        begin = join_quotes(head[: 1 << 18], delimiter)
        data = np.frombuffer(begin, np.uint8) if begin else np.empty(0, np.uint8)
        _, counts, *_ = engine.split_records(data, delimiter=delimiter, escape="", last=False, hopeless=True)
        if not len(counts):
            _, counts, *_ = engine.split_records(data, delimiter=delimiter, escape="", last=True, hopeless=True)
        counts = counts[counts != 0][: SAMPLE + 1]
        widths, numbers = np.unique(counts[counts > 1], return_counts=True)
        if not len(widths):
            continue
        share = numbers.max() / len(counts)
        if share > score + 0.1 or (share > score - 1e-9 and score < 1 and share > score):
            best, score = delimiter, float(share)
    if score < 0.9 and (_cut_evenly_by_spaces(head) or _cut_evenly_by_spaces(squeeze(head))):
        return " "
    return best


def _escapes(head: bytes, delimiter: str) -> bool:
    """Are quotes inside of cells written with a backslash?"""
    if b'\\"' not in head:
        return False
    inside = re.search(rb'[^"%s\n]\\"[^%s\r\n"]' % (re.escape(delimiter.encode()), re.escape(delimiter.encode())), head)
    return inside is not None and b'""' not in head.replace(b',""', b"")


def column_names(count: int, name: str, known: Sequence[str] | None, label: str | None) -> tuple[str, ...]:
    """What so many columns without a header are called: 1, 2, … or as it is known, the label apart."""
    if known is None:
        return tuple(str(j + 1) for j in range(count))
    for order in (tuple(known), tuple(each for each in known if each != label)):
        if len(order) == count:
            return order
    raise DataError(f"{name} has no header and {count} columns, but the model has {len(known)}")
