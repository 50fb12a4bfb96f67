"""A part of a table, of any format, on its way to rows.

Invariant: a piece knows where each of its rows stands in the file, so that what is wrong with one is said with its
line; it gives one row, or one fault, or one gap for each line that it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.cells import Strange
from rosenblatt.data.columns import ColumnEncoder
from rosenblatt.data.lines import Encoded
from rosenblatt.data.vectors import places_from
from rosenblatt.errors import DataError


@dataclass
class Rows:
    """What a piece holds: a table in the types of its columns, and what was not a row.

    Attributes
    ----------
    table : Arrow table or record batch
    places : the line, row or element of each row, from 0
    bad : such places with what is wrong there
    gaps : the places that hold neither a row nor a fault: blank lines
    strange : for each column, the cells that are not what it holds
    """

    table: Any
    places: NDArray[np.int64]
    bad: list[tuple[int, str]] = field(default_factory=list)
    gaps: Sequence[int] = ()
    strange: dict[str, Strange] = field(default_factory=dict)


class Piece(Protocol):
    """A part of a source."""

    unit: str  # what its places count: "line", "row" or "element"

    @property
    def size(self) -> int:
        """Its bytes."""

    def rows(self, encoder: ColumnEncoder | None = None) -> Rows:
        """Its rows, in the encoder's types; without an encoder as they are found, to guess what they are."""

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """The cells of columns as they stand there, for each row; ``*`` is all columns."""


def encode_piece(piece: Piece, encoder: ColumnEncoder, *, require_label: bool, passing: Sequence[str] = ()) -> Encoded:
    """The rows of a piece; those that cannot be rows are among the bad ones."""
    rows = piece.rows(encoder)
    passed = piece.cells(passing) if passing else None
    faults = encoder.faults(rows.table, require_label=require_label)
    table, places, bad = rows.table, rows.places, list(rows.bad)
    if faults:
        kept = np.ones(len(places), bool)
        kept[list(faults)] = False
        bad += [(int(places[row]), why) for row, why in faults.items()]
        table, places = table.take(places_from(np.flatnonzero(kept))), places[kept]
        if passed is not None:
            passed = {name: [cells[k] for k in np.flatnonzero(kept)] for name, cells in passed.items()}
    batch = encoder.encode(table, require_label=require_label)
    if passed is not None:
        batch = replace(batch, passed=passed)
    gaps = np.sort(np.concatenate([np.array([at for at, _ in bad], np.int64), np.array(rows.gaps, np.int64)]))
    before = np.searchsorted(places, gaps)
    return Encoded(batch, len(places) + len(gaps), sorted(bad), tuple(before.tolist()), rows.strange)


def listed(names: Sequence[str], most: int = 20) -> str:
    """Some names, each in one line and not too long.

    >>> listed(["a", "b" * 99, "c"], 2)
    'a, bbbbbbbbbbbbbbbbbbbbbbbbbbbbb…, …'
    """
    short = [" ".join(name.split()) for name in names[:most]]
    return ", ".join([name if len(name) <= 30 else f"{name[:29]}…" for name in short] + ["…"] * (len(names) > most))


def find_columns(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The columns that are asked for, by their names; ``*`` is all of them."""
    if "*" in names:
        return list(known)
    for name in names:
        if name not in known:
            raise DataError(f"there is no column {name!r}; there are {listed(known)}")
    return list(names)
