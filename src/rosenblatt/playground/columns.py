"""The user's table for the page: two columns of numbers and one of labels, checked before the browser opens.

Invariant: the table is read as `train` reads it, and written again as plain CSV: what passes here is what the page can
show, so that the terminal shows mistakes.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from rosenblatt.errors import DataError, ParameterError

MOST_CLASSES = 6
MOST_ROWS = 100_000


@dataclass(frozen=True)
class Columns:
    """A table and the columns of it that the page shows first; the others can be chosen there.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.csv")
    >>> _ = path.write_text("a,b,class\\n1,2,x\\n3,4,y\\n")
    >>> choose_columns(path).query
    '?csv=data.csv&x=a&y=b&label=class'
    """

    text: str
    across: str
    up: str
    label: str

    @property
    def query(self) -> str:
        """The part of the address that tells the page what to show."""
        return "?" + urlencode({"csv": "data.csv", "x": self.across, "y": self.up, "label": self.label})


def choose_columns(
    path: Path | str, columns: tuple[str, str] | None = None, label: str | None = None, **options: Any
) -> Columns:
    """The table of a file, with the two columns and the label to show.

    Without a choice, the first two columns of numbers are shown, and the label is the one that `train` would take.

    Parameters
    ----------
    path
        A table in any format that `open_dataset` reads.
    columns
        The names of the columns to draw across and up.
    label
        The name of the column of labels; two to six different ones.
    options
        Those of `open_dataset`.

    Raises
    ------
    DataError
        The file cannot be shown: the sentence names the line and the column.
    ParameterError
        A column is named that the file does not have.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "rows.csv")
    >>> _ = path.write_text("a,b,class\\n1,2,x\\n3,4,y\\n")
    >>> found = choose_columns(path, columns=("b", "a"))
    >>> found.across, found.up, found.label
    ('b', 'a', 'class')
    """
    from rosenblatt.encode.lines import LineEncoder
    from rosenblatt.io.dataset import open_dataset

    reader = open_dataset(path, label=label, **options)
    if isinstance(reader.encoder, LineEncoder):
        raise DataError(f"{path} is in the format {reader.format}, and the page shows tables")
    encoder = reader.encoder
    header, numbers = list(encoder.order), [column.name for column in encoder.numbers]
    for name in columns or ():
        if name not in header:
            raise ParameterError(f"{path}: there is no column {name!r}; the columns are {', '.join(header)}")
        if name == encoder.label or header.count(name) > 1:
            raise ParameterError(f"{path}: the two columns and the label must be three different columns")
        if name not in numbers:
            raise DataError(f"{path}: the column {name!r} is not numeric; the numeric ones are {', '.join(numbers)}")
    across, up = columns or (numbers[0] if numbers else "", numbers[1] if len(numbers) > 1 else "")
    if not up:
        raise DataError(f"{path} has {len(numbers)} columns of numbers besides the label, and two are needed")
    if across == up:
        raise ParameterError(f"{path}: the two columns and the label must be three different columns")
    rows = _rows_of(reader, path, across, up)
    labels = {row[header.index(encoder.label)] for row in rows}
    if not 2 <= len(labels) <= MOST_CLASSES:
        raise DataError(
            f"{path}: column {encoder.label!r} has {len(labels)} different labels; two to {MOST_CLASSES} can be shown"
        )
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return Columns(text.getvalue(), across, up, encoder.label)


def _rows_of(reader: Any, path: Path | str, across: str, up: str) -> list[list[str]]:
    """All rows as cells, numbers in the plain form."""
    import numpy as np

    from rosenblatt.encode.cells import doubles_of

    encoder, rows = reader.encoder, []
    for name, chunk in reader.chunks():
        arrays, _ = encoder.arrays(chunk, require_label=True)
        cells = chunk.cells(["*"])
        for column in encoder.numbers:
            values = doubles_of(arrays[column.name])
            empty = np.flatnonzero(np.isnan(values))
            if column.name in (across, up) and len(empty):
                place = int(chunk.lines[empty[0]]) + 1
                raise DataError(
                    f"{name}: {chunk.unit} {place}, column {column.name!r}: the cell is empty or not a number"
                )
            cells[column.name] = ["" if value != value else _plain(value) for value in values.tolist()]
        labels = arrays[encoder.label].to_pylist()
        if (missing := next((at for at, label in enumerate(labels) if label in (None, "")), None)) is not None:
            place = int(chunk.lines[missing]) + 1
            raise DataError(f"{name}: {chunk.unit} {place}: the label {encoder.label!r} is missing")
        cells[encoder.label] = [str(label) for label in labels]
        columns = [cells[each] for each in encoder.order]
        rows += [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
        if len(rows) > MOST_ROWS:
            raise DataError(f"{path} has more than {MOST_ROWS:,} rows, too many to watch: show a part of it")
    return rows


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
