"""A look at a whole table before learning: what its columns are, their means and scales, the classes.

Invariant: only rows that can be read count; a column that is not what its first rows promised is an error that says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.data.bad_line import bad_line
from rosenblatt.data.batches import number_of
from rosenblatt.data.cells import MISSING, mostly
from rosenblatt.data.columns import ColumnEncoder, labels_of
from rosenblatt.data.guess import guess_columns
from rosenblatt.data.moments import Moments
from rosenblatt.data.pieces import listed
from rosenblatt.data.tally import Tally
from rosenblatt.data.vectors import places_from
from rosenblatt.errors import DataError

if TYPE_CHECKING:
    from rosenblatt.data.reader import Reader

_MANY_LABELS = 20
SAMPLE = 20_000  # rows that a guess is made from


@dataclass
class Look:
    """What a pass over a table, or over a part of it, has found."""

    moments: Moments
    labels: dict[bytes, None]
    rows: int
    bytes: int
    strange: dict[str, dict[str, int]]

    def joined(self, later: Look) -> Look:
        """With what a look at a later part has found."""
        tally = Tally(strange={name: dict(words) for name, words in self.strange.items()})
        tally.add_strange(later.strange)
        return Look(
            self.moments.joined(later.moments),
            self.labels | later.labels,
            self.rows + later.rows,
            self.bytes + later.bytes,
            tally.strange,
        )


def look_through(reader: Reader, *, number: Sequence[str], **columns: Any) -> Reader:
    """The reader with an encoder for its columns."""
    guess(reader, number, columns)
    return conclude(reader, number, look(reader))


def look(reader: Reader) -> Look:
    """A pass over all pieces of a reader whose columns are guessed."""
    encoder: ColumnEncoder = reader.encoder
    found, tally = Look(Moments.of(encoder), {}, 0, 0, {}), Tally()
    for name, size, piece in reader._pieces():
        found.bytes += size
        try:
            rows = piece.rows(encoder)
            faults = encoder.faults(rows.table, require_label=True)
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        bad = sorted([*rows.bad, *((int(rows.places[row]), why) for row, why in faults.items())])
        if bad and not reader.skip_bad:
            raise bad_line(f"{name}, {piece.unit} {bad[0][0] + 1}: {bad[0][1]}")
        table = rows.table
        if faults:
            table = table.take(places_from(np.setdiff1d(np.arange(table.num_rows), list(faults))))
        if encoder.weight is not None:  # a row of weight 0 is as if absent
            table = table.take(places_from(np.flatnonzero(encoder.weights_in(table))))
        tally.add_strange(rows.strange)
        found.moments.add(encoder, table)
        names = labels_of(encoder, table)
        measured = bool(names) and number_of(names[0]) is not None  # then there may be as many as rows
        reader.add_labels(found.labels, names, None if measured else reader.limits.classes)
        found.rows += table.num_rows
    found.strange = tally.strange
    return found


def conclude(reader: Reader, number: Sequence[str], found: Look) -> Reader:
    """The reader with the means, scales and classes of what was found in all of its data."""
    if not found.rows:
        of_weight = " of a weight above 0" if getattr(reader.encoder, "weight", None) else ""
        raise DataError(f"{reader.sources[0].name if reader.sources else 'the data'} has no rows{of_weight}")
    reader.total += found.bytes
    reader.tally.add_strange(found.strange)
    _settle(reader, number, found.rows)
    reader.encoder = found.moments.put_into(reader.encoder)
    reader.labels = found.labels
    if _MANY_LABELS < len(found.labels) > found.rows / 2 and number_of(next(iter(found.labels))) is None:
        reader.notes.append(
            f"{reader.encoder.label}: {len(found.labels):,} different labels in {found.rows:,} rows, so that most are "
            "met once: is it the right column? --label names another"
        )
    return reader


def guess(reader: Reader, number: Sequence[str], columns: dict[str, Any]) -> None:
    """Put an encoder into the reader, by the look of its first piece."""
    piece = rows = None
    name = reader.sources[0].name if reader.sources else "the data"
    for name, _, piece in reader._pieces():  # the first that has rows; the header may stand in one alone
        try:
            rows = piece.rows()
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
        if rows.bad and not reader.skip_bad:
            raise bad_line(f"{name}, {piece.unit} {rows.bad[0][0] + 1}: {rows.bad[0][1]}")
        if rows.table.num_rows:
            break
    dialect = getattr(piece, "dialect", None)
    if rows is None or not rows.table.num_rows:
        headed = dialect is not None and dialect.header
        raise DataError(f"{name} has a header and no rows" if headed else f"{name} is empty")
    decimal = "." if dialect is None else dialect.decimal
    missing = MISSING if dialect is None or dialect.missing is None else dialect.missing
    names = rows.table.schema.names
    if len(names) == 1 and dialect is not None:
        raise DataError(f"{name} has one column only, called {listed(names)!r}: --delimiter says what divides cells")
    try:
        reader.encoder = guess_columns(
            rows.table.slice(0, SAMPLE), number=number, decimal=decimal, missing=missing, **columns
        )
    except DataError as error:
        raise DataError(f"{name}: {error}") from None


def _settle(reader: Reader, number: Sequence[str], count: int) -> None:
    """Say which cells were not what their column is; too many of them are an error, unless the user said what it is."""
    for name, strange in reader.tally.strange.items():
        kind = next((column.kind for column in reader.encoder.columns if column.name == name), "number")
        wrong, example = sum(strange.values()), max(strange, key=lambda word: strange[word])
        if name not in number and not mostly(count - wrong, strange):
            others = f"--number {name}, " if kind == "number" else ""
            raise DataError(
                f"the column {name!r} looked like {kind}s at first, but {wrong:,} of {count:,} cells are none, such as "
                f"{example!r}: say {others}--category {name} or --drop {name}"
            )
        words = sorted(strange, key=lambda word: -strange[word])
        shown = ", ".join(repr(word[:40]) for word in words[:3]) + (", …" if len(words) > 3 else "")
        reader.notes.append(f"{name}: a {kind}; {wrong:,} of {count:,} cells were not, taken as missing: {shown}")
