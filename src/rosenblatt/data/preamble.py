"""What stands before the rows of a text table besides a header: a hint for Excel, comments, titles, units.

Invariant: a line is passed over only where the lines below it show that it is no row, and this is said. What the user
says of the header ends all guessing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rosenblatt.data.cells import MISSING, NO_VALUE, read_number
from rosenblatt.data.header import is_header

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
