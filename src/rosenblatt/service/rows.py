"""From rows as clients send them to what a learner and an answer take.

Invariant: what was checked here can be learned. A row becomes the same features whenever it is read, so that a replay
of the log sees what the learner saw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import DataError
from rosenblatt.service.limits import Limits
from rosenblatt.service.refusals import Refused, too_many_cells

Features = dict[Any, float]
Names = Mapping[Any, int]
Arrays = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]


class Form:
    """How rows are read: by an encoder, or as features with names or numbers.

    Parameters
    ----------
    names : dict
        The column of each feature; more may be added by the learner while it is used here.
    limits : Limits
    encoder : encoder of a model, optional
        Rows are then lines of text, or raw columns by name.
    fixed : int, optional
        The features of a model that does not learn: a row as an array must have so many.
    hash_bits : int, optional
        Names are hashed to columns by so many bits, for a model that does not learn.
    """

    def __init__(
        self,
        names: Names,
        limits: Limits,
        encoder: Any = None,
        fixed: int | None = None,
        hash_bits: int | None = None,
    ) -> None:
        self.names, self.limits, self.encoder, self.fixed = names, limits, encoder, fixed
        self.hash_bits = hash_bits
        self.raw = encoder is not None
        self._numbered: bool | None = None

    @property
    def numbered(self) -> bool | None:
        """Are features known by numbers? None: nothing is known yet."""
        if self._numbered is None and self.names:
            self._numbered = not isinstance(next(iter(self.names)), str)
        return self._numbered

    def begin(self, numbered: bool) -> None:
        """The first rows have come: from now on features are known by numbers, or by names."""
        if self.numbered is None:
            self._numbered = numbered

    def forget(self) -> None:
        """What had begun was not stored."""
        self._numbered = None

    def features_of(self, rows: Sequence[Any], *, stored: bool = False) -> list[Features]:
        """The features of each row, checked; a `Refused` names the row that cannot be read.

        Rows that are stored were within the limits of their time, which may be others by now.
        """
        if self.encoder is not None:
            return self._encoded(rows, stored)
        numbered, ordered = self.numbered and self.hash_bits is None, None
        if numbered is None:
            numbered = isinstance(rows[0], list)
        found = []
        for at, row in enumerate(rows):
            if isinstance(row, list):
                if self.fixed is not None and len(row) != self.fixed:
                    raise Refused(422, f"row {at} has {len(row)} values, but the model is expecting {self.fixed}")
                if numbered:
                    row = dict(enumerate(row))
                else:
                    ordered = list(self.names) if ordered is None else ordered
                    if len(row) != len(ordered):
                        known = f"the model knows {len(ordered)} features by name"
                        raise Refused(422, f"row {at} is an array of {len(row)}, but {known}: send a map of names")
                    row = dict(zip(ordered, row, strict=True))
            elif numbered:
                row = _by_number(row, at)
            if not stored:
                self._check(row, at)
            found.append(row if self.hash_bits is None else _hashed(row, self.hash_bits))
        return found

    def stored(self, rows: Sequence[Any], features: Sequence[Features]) -> Sequence[Any]:
        """The rows as the log holds them, so that they are read alike whatever the model knows by then."""
        return rows if self.raw or self.numbered else features

    def _check(self, row: Features, at: int) -> None:
        if len(row) > self.limits.values:
            raise Refused(422, f"row {at} has {len(row):,} values; the limit is {self.limits.values:,}")
        try:
            engine.Stream.check(row)
        except (ValueError, TypeError) as error:
            raise Refused(422, f"row {at}: {error}") from None

    def _encoded(self, rows: Sequence[Any], stored: bool) -> list[Features]:
        from rosenblatt.service.encoded import encode

        try:
            batch = encode(self.encoder, rows)
        except DataError as error:
            raise Refused(422, str(error)) from None
        if not stored and len(batch.values) > self.limits.cells:
            raise too_many_cells("the rows have", "features", self.limits.cells)
        starts, columns, values = batch.starts.tolist(), batch.indices.tolist(), batch.values.tolist()
        spans = pairwise(starts)
        return [dict(zip(columns[a:b], values[a:b], strict=True)) for a, b in spans]


def _by_number(row: Features, at: int) -> Features:
    """A map whose keys are numbers, written as such."""
    found = {}
    for name, value in row.items():
        if not (name.isdecimal() and name.isascii() and len(name) < 10 and str(int(name)) == name):
            raise Refused(422, f"row {at} has the feature {name!r}, but the features of this model are numbered")
        found[int(name)] = value
    return found


def _hashed(row: Features, bits: int) -> Features:
    columns, values = engine.Stream.hashed(row, bits)
    return dict(zip(columns.tolist(), values.tolist(), strict=True))


def new_names(rows: Sequence[Features], names: Names) -> set[Any]:
    """The features that have no column."""
    found: set[Any] = set()
    known = names.keys()
    for row in rows:
        if not row.keys() <= known:
            found |= row.keys() - known
    return found


def arrays_of(rows: Sequence[Features], names: Names, features: int) -> Arrays:
    """Rows as the three arrays of a sparse matrix of the first `features` columns.

    What has no column there weighs nothing.
    """
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    find = names.get
    for row in rows:
        known = sorted([(at, value) for name, value in row.items() if (at := find(name, features)) < features])
        columns += [at for at, _ in known]
        values += [value for _, value in known]
        starts.append(len(columns))
    return np.array(values, np.float64), np.array(columns, np.int64), np.array(starts, np.int64)
