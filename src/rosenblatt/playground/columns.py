"""The user's table for the page: two columns of numbers and one of labels, checked before the browser opens.

Invariant: a table that passes here is one that the page can show, so that mistakes are told in the terminal.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from rosenblatt.errors import DataError, ParameterError

MOST_CLASSES = 6


@dataclass(frozen=True)
class Columns:
    """A table and the columns of it that the page shows first; the others can be chosen there."""

    text: str
    across: str
    up: str
    label: str

    @property
    def query(self) -> str:
        """The part of the address that tells the page what to show."""
        return "?" + urlencode({"csv": "data.csv", "x": self.across, "y": self.up, "label": self.label})


def is_number(cell: str) -> bool:
    """Is the cell a finite number?"""
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def choose_columns(path: Path, columns: tuple[str, str] | None = None, label: str | None = None) -> Columns:
    """The table of a CSV file, with the two columns and the label to show.

    Without a choice, the first two columns of numbers are shown and the label is the last column of words (or the
    last column). A file without a header has columns named ``column 1``, ``column 2`` and so on.

    Parameters
    ----------
    path
        A file of comma, semicolon or tab separated values, in UTF-8.
    columns
        The names of the columns to draw across and up.
    label
        The name of the column of labels; two to six different ones.

    Raises
    ------
    DataError
        The file cannot be shown: the sentence names the line and the column.
    ParameterError
        A column is named that the file does not have.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8 text") from None
    first = next((line for line in text.splitlines() if line.strip()), "")
    mark = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=mark, skipinitialspace=True)
    rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(cell.strip() for cell in row)]
    if not rows:
        raise DataError(f"{path}: the file has no rows")
    width = len(rows[0][1])
    if width < 3:
        raise DataError(f"{path}: line {rows[0][0]} has {width} columns; two of numbers and a label are needed")
    for line, row in rows:
        if len(row) != width:
            raise DataError(f"{path}: line {line} has {len(row)} columns, but line {rows[0][0]} has {width}")
    titled = len(rows) > 1 and not any(map(is_number, rows[0][1])) and any(map(is_number, rows[1][1]))
    header = [cell if titled and cell else f"column {j}" for j, cell in enumerate(rows[0][1], start=1)]
    rows = rows[titled:]
    numbers = [all(is_number(row[j]) for _, row in rows) for j in range(width)]
    for name in (*(columns or ()), *([label] if label is not None else [])):
        if name not in header:
            raise ParameterError(f"{path}: there is no column {name!r}; the columns are {', '.join(header)}")
    words = [j for j in range(width) if not numbers[j]] or [width - 1]
    target = header.index(label) if label is not None else words[-1]
    if columns is not None:
        across, up = (header.index(name) for name in columns)
    else:
        # Columns of numbers first; where there are too few, another is taken, and its bad cell is named below.
        across, up = sorted((j for j in range(width) if j != target), key=lambda j: not numbers[j])[:2]
    if len({across, up, target}) < 3:
        raise ParameterError(f"{path}: the two columns and the label must be three different columns")
    for line, row in rows:
        for j in (across, up):
            if not is_number(row[j]):
                raise DataError(f"{path}: line {line}, column {header[j]!r}: {row[j]!r} is not a number")
        if not row[target]:
            raise DataError(f"{path}: line {line}, column {header[target]!r}: the label is missing")
    labels = {row[target] for _, row in rows}
    if not 2 <= len(labels) <= MOST_CLASSES:
        raise DataError(
            f"{path}: column {header[target]!r} has {len(labels)} different labels; two to {MOST_CLASSES} can be shown"
        )
    return Columns(text, header[across], header[up], header[target])
