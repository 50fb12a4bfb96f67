"""A table of numbers with a column of labels, from a CSV file.

Invariant: a bad cell is an error that names the file, the line and the column.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING

from rosenblatt.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of every verb that reads a table."""
    parser.add_argument("data", metavar="DATA", help="a CSV file of numbers and labels, with or without a header")
    parser.add_argument("--label", metavar="COLUMN", help="the labels' column, by name or number from 1 (the last one)")


def read_table(path: str, label: str | None = None) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Rows, labels and the names of the feature columns.

    The first line is a header if one of its feature cells is not a number.
    """
    import numpy as np

    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            numbered = enumerate(csv.reader(file), start=1)
            lines = [(number, line) for number, line in numbered if any(map(str.strip, line))]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a CSV file: {error}") from None
    if not lines:
        raise DataError(f"{path} is empty")
    width = len(lines[0][1])
    if width < 2:
        raise DataError(f"{path} has one column; it needs features and labels")
    at = _column(path, label, lines[0][1])
    features = [j for j in range(width) if j != at]
    names = [f"x{j + 1}" for j in features]
    if not all(_is_number(lines[0][1][j]) for j in features):
        names = [lines[0][1][j].strip() for j in features]
        lines = lines[1:]
    rows, labels = [], []
    for number, line in lines:
        if len(line) != width:
            raise DataError(f"{path}, line {number}: {len(line)} columns instead of {width}")
        for j in features:
            if not _is_number(line[j]):
                raise DataError(f"{path}, line {number}, column {j + 1}: {line[j]!r} is not a number")
        rows.append([float(line[j]) for j in features])
        labels.append(line[at].strip())
    if not rows:
        raise DataError(f"{path} has a header and no rows")
    return np.array(rows), labels, names


def _column(path: str, label: str | None, first: list[str]) -> int:
    if label is None:
        return len(first) - 1
    names = [name.strip() for name in first]
    if label in names:
        return names.index(label)
    if label.isdigit() and 1 <= int(label) <= len(first):
        return int(label) - 1
    raise DataError(f"{path} has no column {label!r}")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
