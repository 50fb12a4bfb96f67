"""The dialect of a CSV file: delimiter, decimal mark, header, lines to skip.

Invariant: a guess is made from many rows, is reported, and gives way to the options of the user. If the columns are
known (from a model, or from the first of several files), a header is a line of their names and nothing else.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rosenblatt import engine
from rosenblatt.encode.cells import MISSING, NO_VALUE, read_number
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.limits import DEFAULT_LIMITS, Limits

LONGEST_NAME = 200  # characters
_LABELS = ("label", "class", "target", "y", "category")


def says(first: list[str], known: Sequence[str]) -> bool:
    """Does a line say the names of these columns? Names that are numbers do not count unless all of them are there."""
    words = {name for name in known if read_number(name) is None}
    found = sum(cell in words for cell in first)
    if words:
        return found > 0 and 2 * found >= sum(bool(cell) and read_number(cell) is None for cell in first)
    return len(first) >= len(known) - 1 and first == [name for name in known if name in first]


def says_others(first: list[str], rows: list[list[str]], decimal: str) -> bool:
    """Is it clearly a header, though not with the names that are known?"""
    return bool(rows) and all(read_number(cell) is None for cell in first) and is_header(first, rows, decimal)


def distinct(cells: list[str]) -> tuple[str, ...]:
    """Names as pandas would make them: no name twice, and none empty; in one line, and not too long to be said."""
    cells = [" ".join(cell.split())[:LONGEST_NAME] for cell in cells]
    names: list[str] = []
    taken = set(cells)
    for j, cell in enumerate(cells):
        own = cell or f"Unnamed: {j}"
        k = 0
        while own in names or (k and own in taken):
            k += 1
            own = f"{cell or f'Unnamed: {j}'}.{k}"
        names.append(own)
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
    if any(value is not None and value != int(value) for value in values if value is not None and abs(value) < 1e15):
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
    whole = [int(value) for value in values if value is not None]
    counting = len(whole) >= (2 if first[0] == "" else 3) and whole in (
        list(range(len(whole))),
        list(range(1, len(whole) + 1)),
    )
    if counting and len(whole) >= len(first) - 1:
        # 0, 1, 2, …: names, where the first of them is left empty or what follows are no whole numbers.
        below = [number(cell) for column in columns for cell in column]
        return first[0] == "" or any(value is None or value != int(value) for value in below if value != float("inf"))
    return all(value is None for value in values) and all(first) and len(set(first)) == len(first)


def _is_missing(cell: str) -> bool:
    return not cell or cell.lower() in NO_VALUE


_SEPARATOR = re.compile(rb'"?sep=(?P<mark>[^"\r\n])"?[,;\t|]*\r?(\n|\r|\Z)', re.IGNORECASE)
_MOST = 20  # lines that may stand before a header
_ENOUGH = 3  # rows below a second header, or below lines that are no rows


@dataclass(frozen=True)
class Preamble:
    """How many records are passed over before the header, and behind it."""

    before: int = 0
    behind: int = 0

    def describe(self) -> str:
        """In words; nothing where nothing is passed over."""
        said = []
        if self.before:
            said.append(f"{self.before} line{'s' if self.before > 1 else ''} above passed over")
        if self.behind:
            said.append("the line below it passed over, as a second one")
        return " and ".join(said)


def separator_said(head: bytes) -> str | None:
    """What Excel's own first line ``sep=;`` says; None without such a line."""
    found = _SEPARATOR.match(head)
    return found["mark"].decode("latin-1") if found else None


def find_preamble(records: Sequence[list[str]], decimal: str, *, told: bool, marked: bool) -> Preamble:
    """What is to be passed over.

    Parameters
    ----------
    told : did the user say whether there is a header? Then only what cannot be a row is passed over.
    marked : is the first record ``sep=;``?
    """
    before = int(marked)
    before += _comments(records[before:], decimal)
    before += _lone_words(records[before:])
    if told:
        return Preamble(before)
    before += _titles(records[before:], decimal)
    behind = before + 1 < len(records) and _is_second_header(records[before], records[before + 1 :], decimal)
    return Preamble(before, int(behind))


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
NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}
_SHOWN = {"\t": "a tab", " ": "a space"}
SAMPLE = 1000  # records that are looked at

# Numbers with decimals, in money or percent too.
_AROUND = r"[(]?\s*[+-]?\s*[$€£¥₹]?\s*{number}([eE][+-]?\d+)?\s*[%$€£¥₹]?\s*[)]?"
_DECIMAL_COMMA = re.compile(_AROUND.format(number=r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+"))
_DECIMAL_POINT = re.compile(_AROUND.format(number=r"[+-]?(\d*|\d{1,3}(,\d{3})+)\.\d+"))
_MANY_SPACES = re.compile(rb"[ \t]+")
_OUTER_SPACES = re.compile(rb"(?m)^ | (?=\r?$)")


@dataclass(frozen=True)
class ReadOptions:
    """What the user said of the text; None: to be found out."""

    delimiter: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] | None = None
    encoding: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        from rosenblatt.io.text import check_encoding

        if self.delimiter is not None:
            one = NAMES.get(self.delimiter.lower(), self.delimiter)
            if len(one.encode()) != 1 or one in '"\n\r\0':
                raise ParameterError(f"delimiter={self.delimiter!r}: must be one character, or tab")
            object.__setattr__(self, "delimiter", one)
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal={self.decimal!r}: must be . or ,")
        if self.decimal is not None and self.decimal == self.delimiter:
            raise ParameterError(f"decimal and delimiter cannot both be {self.decimal!r}")
        check_encoding(self.encoding)


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
    missing: tuple[str, ...] | None = None
    unnamed: bool = False  # the header lacks a name for the first column
    squeezed: bool = False  # cells are separated by any number of spaces
    passed_over: str = ""  # what is, in words
    slow: set[str] = field(default_factory=set, compare=False)  # number columns with cells that are not plain numbers

    def describe(self) -> str:
        """In words, as far as it is worth saying."""
        parts = [] if self.delimiter in (",", "\t") else [f"{_SHOWN.get(self.delimiter, self.delimiter)} between cells"]
        if self.decimal == ",":
            parts.append("decimal commas")
        if self.passed_over:
            parts.append(f"a header, {self.passed_over}" if self.header else self.passed_over)
        elif self.header:
            parts.append("a header")
        if not self.header:
            parts.append(f"no header: the columns are called {self._called()}")
        return ", ".join(parts)

    def _called(self) -> str:
        return f"{self.names[0]} to {self.names[-1]}" if len(self.names) > 1 else self.names[0]


def guess_dialect(
    head: bytes,
    name: str,
    wishes: ReadOptions = ReadOptions(),
    *,
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
    tabs : is it called a table of tab separated values?
    known : the columns in the order of an earlier file or of the training data; only their names are a header then
    label : the one of them that a file may lack
    whole : is `head` all there is?
    """
    # Loads pyarrow, which lines of text do without.

    said = separator_said(head)
    delimiter = wishes.delimiter or said or _guess_delimiter(head, tabs)
    squeezed = delimiter == " " and _cut_evenly_by_spaces(squeeze(head))
    if squeezed:
        head = squeeze(head)
    escape = "\\" if _escapes(head, delimiter) else ""
    spaced = _spaced(delimiter).search(head) is not None
    if spaced:
        head = join_quotes(head, delimiter)
    records = _sample(head, delimiter, escape, whole)
    if not records:
        raise DataError(f"{name} is empty")
    decimal = wishes.decimal or _guess_decimal([cells for cells, _ in records], delimiter)
    told = wishes.header is not None
    preamble = find_preamble([cells for cells, _ in records], decimal, told=told, marked=said is not None)
    records = records[preamble.before :]
    if not records:
        raise DataError(f"{name} is empty")
    first = records[0][0]
    if len(first) > limits.columns:
        raise DataError(
            f"{name} has {len(first):,} columns, and the limit is {limits.columns:,}: --read-limit columns=N"
        )
    rows = [cells for cells, _ in records[1 + preamble.behind :]]
    unnamed = wishes.header is not False and len(rows) > 0 and all(len(row) == len(first) + 1 for row in rows)
    if unnamed and not any(row[-1] for row in rows):  # every line ends in a delimiter, but for the header
        first, unnamed = [*first, ""], False
    if first[0].startswith("#") and rows and rows[0][:1] != ["#"]:
        first = [first[0].lstrip("# "), *first[1:]]
    names, header = _names(first, rows, name, wishes.header, known, label, decimal, unnamed)
    if wishes.missing is not None and "" not in wishes.missing:
        wishes = replace(wishes, missing=("", *wishes.missing))
    return Dialect(
        delimiter,
        decimal,
        names,
        header,
        preamble.before + header + preamble.behind,
        escape,
        spaced,
        wishes.missing,
        unnamed,
        squeezed,
        preamble.describe(),
    )


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


def _sample(head: bytes, delimiter: str, escape: str, whole: bool) -> list[tuple[list[str], int]]:
    """The first records as cells, each with where it ends; without the last, which may be cut."""
    data = np.frombuffer(head, np.uint8) if head else np.empty(0, np.uint8)
    ends, counts, *_ = engine.split_records(data, delimiter=delimiter, escape=escape, last=True, hopeless=True)
    records: list[tuple[list[str], int]] = []
    begin = 0
    for k, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
        cut = not whole and end == len(head) and not head.endswith((b"\n", b"\r")) and k > 0
        if count != 0 and not cut:
            text = head[begin:end].decode("utf-8", "replace").rstrip("\r\n")
            records.append((_cells(text, delimiter, escape) if count > 0 else [], end))
        begin = end
        if len(records) > SAMPLE:
            break
    return [(cells, end) for cells, end in records if cells]


def _cells(text: str, delimiter: str, escape: str) -> list[str]:
    csv.field_size_limit(1 << 30)
    try:
        reader = csv.reader(
            [text.replace("\0", " ")], delimiter=delimiter, escapechar=escape or None, doublequote=not escape
        )
        return [cell.strip() for cell in next(reader, [])]
    except csv.Error:
        return [cell.strip() for cell in text.split(delimiter)]


def _guess_delimiter(head: bytes, tabs: bool) -> str:
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


def _guess_decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    commas = sum(_DECIMAL_COMMA.fullmatch(cell) is not None for row in rows for cell in row)
    points = sum(_DECIMAL_POINT.fullmatch(cell) is not None for row in rows for cell in row)
    return "," if commas > points else "."


def _names(
    first: list[str],
    rows: list[list[str]],
    name: str,
    header: bool | None,
    known: Sequence[str] | None,
    label: str | None,
    decimal: str,
    unnamed: bool,
) -> tuple[tuple[str, ...], bool]:
    """The names of the columns, and whether the first line says them."""
    # Loads pyarrow, which lines of text do without.

    cells = ["", *first] if unnamed else first
    if header is None:
        if known is not None:
            header = unnamed or says(first, known) or says_others(first, rows, decimal)
        else:
            header = unnamed or is_header(first, rows, decimal)
    if header:
        return distinct(cells), True
    return names_of(len(first), name, known, label), False


def names_of(count: int, name: str, known: Sequence[str] | None, label: str | None) -> tuple[str, ...]:
    """What so many columns without a header are called: 1, 2, … or as it is known, the label apart."""
    if known is None:
        return tuple(str(j + 1) for j in range(count))
    for order in (tuple(known), tuple(each for each in known if each != label)):
        if len(order) == count:
            return order
    raise DataError(f"{name} has no header and {count} columns, but there are {len(known)} to be read")
