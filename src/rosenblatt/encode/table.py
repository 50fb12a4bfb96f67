"""Columns to features: an encoder that is fitted on the training data and saved in the model.

Columns of the result: the numbers, each ``(x - mean) / scale``; then one missing-value indicator per input column;
then, if there are categories, dates or texts, ``2**bits`` hashed columns. Every text is scaled to length 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import RowBatch
from rosenblatt.encode.arrow_numpy import (
    as_strings,
    buffers_of,
    doubles_of,
    is_text,
    label_array,
    one_array,
    pc,
    places_from,
    present,
    values_of,
    without_nulls,
)
from rosenblatt.encode.cells import Strange, categories, converted
from rosenblatt.encode.lines import BITS, Encoded, Grams, check_hashing
from rosenblatt.errors import DataError

Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]  # rows, columns, values


def _blocks(
    numbers: list[NDArray[np.float64]], entries: list[Entries], base: int, count: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]] | None:
    """The same where nothing is missing and each hashed part has one feature in every row; None if some are alike."""
    hashed = np.column_stack([columns for _, columns, _ in entries]).astype(np.int32)
    order = np.argsort(hashed, axis=1, kind="stable")
    hashed = np.take_along_axis(hashed, order, axis=1)
    if (hashed[:, 1:] == hashed[:, :-1]).any():
        return None
    ones = np.column_stack([values for _, _, values in entries])
    width = len(numbers) + hashed.shape[1]
    indices = np.empty((count, width), np.int32)
    indices[:, : len(numbers)] = np.arange(len(numbers), dtype=np.int32)
    indices[:, len(numbers) :] = hashed + np.int32(base)
    values = np.empty((count, width))
    for j, column in enumerate(numbers):
        values[:, j] = column
    values[:, len(numbers) :] = np.take_along_axis(ones, order, axis=1)
    return np.arange(count + 1, dtype=np.int32) * np.int32(width), indices.ravel(), values.ravel()


def join_features(
    numbers: list[NDArray[np.float64]], missing: NDArray[np.bool_], entries: list[Entries], base: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Numbers, missing indicators and hashed features as CSR arrays: every number that is there is stored, a 0 too."""
    count, width = missing.shape
    if numbers and not entries and not missing.any():
        each = np.arange(len(numbers), dtype=np.int32)
        starts = np.arange(count + 1, dtype=np.int32) * np.int32(len(numbers))
        return starts, np.tile(each, count), np.column_stack(numbers).ravel()
    if not missing.any() and all(len(rows) == count and (np.diff(rows) == 1).all() for rows, _, _ in entries):
        blocks = _blocks(numbers, entries, base, count)
        if blocks is not None:
            return blocks
    values = np.column_stack([*numbers, np.ones((count, width))]) if numbers else np.ones((count, width))
    there = np.column_stack([~np.isnan(values[:, : len(numbers)]), missing])
    rows, columns = np.nonzero(there)
    parts = [(rows, columns, values[there]), *((r, c.astype(np.int64) + base, v) for r, c, v in entries)]
    rows, columns, found = (np.concatenate(each) for each in zip(*parts, strict=True))
    span = int(columns.max(initial=0)) + 1
    keys = rows.astype(np.int64) * span + columns
    order = np.argsort(keys, kind="stable")
    keys, found = keys[order], found[order]
    first = np.concatenate([[True], keys[1:] != keys[:-1]]) if len(keys) else np.empty(0, bool)
    if not first.all():  # hashed alike
        found = np.add.reduceat(found, np.flatnonzero(first))
        keys = keys[first]
    starts = np.searchsorted(keys, np.arange(count + 1, dtype=np.int64) * span).astype(np.int32)
    return starts, (keys % span).astype(np.int32), found


Kind = Literal["number", "category", "date", "text", "drop"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_LARGEST = 1e100
LONGEST_LABEL = 256  # bytes, as in the engine's formats


@dataclass(frozen=True)
class Column:
    """A column of the input and what becomes of it."""

    name: str
    kind: Kind
    mean: float = 0.0
    scale: float = 1.0
    why: str = ""


@dataclass(frozen=True)
class ColumnEncoder:
    """From columns to rows of features."""

    columns: tuple[Column, ...]
    label: str | None
    bits: int = BITS
    grams: Grams = "pairs"
    complete: bool = False  # no number may be missing: for models that were trained on plain rows
    order: tuple[str, ...] = ()  # all columns as the training data had them, the label among them
    weight: str | None = None  # the column that says how much a row counts

    def __post_init__(self) -> None:
        check_hashing(self.bits, self.grams)

    @property
    def used(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind != "drop")

    @property
    def numbers(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind == "number")

    @property
    def base(self) -> int:
        """The first hashed column."""
        return len(self.numbers) + len(self.used)

    @property
    def hashed(self) -> bool:
        return any(column.kind in ("category", "date", "text") for column in self.columns)

    @property
    def features(self) -> int:
        return self.base + (1 << self.bits if self.hashed else 0)

    def plain_names(self) -> dict[int, str]:
        """The names of the columns that are not hashed."""
        names = {place: column.name for place, column in enumerate(self.numbers)}
        names |= {len(names) + place: f"{column.name} is missing" for place, column in enumerate(self.used)}
        return names

    def kinds(self) -> dict[str, str]:
        """What a reader of text should read each column as: a number, date, category or text, or the label."""
        kinds = {column.name: str(column.kind) for column in self.used}
        kinds |= {} if self.weight is None else {self.weight: "number"}
        return kinds | ({self.label: "label"} if self.label is not None else {})

    def known(self) -> tuple[str, ...]:
        """The columns of a file without a header, as far as that is known."""
        return self.order or tuple(column.name for column in self.columns)

    def plain(self) -> ColumnEncoder:
        """The same columns, with numbers as they are."""
        return replace(self, columns=tuple(replace(column, mean=0.0, scale=1.0) for column in self.columns))

    def encode(self, table: Any, *, require_label: bool) -> RowBatch:
        """The rows of an Arrow table or record batch, in which `faults` finds none."""
        count = table.num_rows
        places = self._places(table)
        plain, entries = [], []
        missing = np.zeros((count, len(self.used)), bool)
        for place, column in enumerate(self.used):
            array = one_array(table.column(places[column.name]))
            array = converted(array, column.name, column.kind)
            if column.kind == "number":
                values = doubles_of(array)
                missing[:, place] = np.isnan(values)
                plain.append((values - column.mean) / column.scale)
            else:
                missing[:, place] = ~present(array)
                entries += self._hashed(array, column)
        starts, indices, values = join_features(plain, missing, entries, self.base)
        codes, labels = self._labels(table, places)
        batch = RowBatch(starts, indices, values, codes, labels)
        return self._weighed(batch, table) if require_label and self.weight in places else batch

    def _weighed(self, batch: RowBatch, table: Any) -> RowBatch:
        """With the weights of the rows; a row of weight 0 is as if absent."""
        weights = self.weights_in(table)
        batch = replace(batch, weights=weights)
        return batch if weights.all() else batch.take(np.flatnonzero(weights))

    def weights_in(self, table: Any) -> NDArray[np.float64]:
        """How much each row counts, NaN where that is not said."""
        assert self.weight is not None
        return self.numbers_in(table, Column(self.weight, "number"))

    def faults(self, table: Any, *, require_label: bool) -> dict[int, str]:
        """The rows that cannot be encoded, each with the reason."""
        found: dict[int, str] = {}
        places = self._places(table)
        for column in self.numbers:
            values = doubles_of(converted(one_array(table.column(places[column.name])), column.name, column.kind))
            if not len(values):
                continue
            with np.errstate(invalid="ignore"):
                low, high = np.fmin.reduce(values), np.fmax.reduce(values)
            outside = low < -_LARGEST or high > _LARGEST
            for row in np.flatnonzero(np.abs(values) > _LARGEST).tolist() if outside else ():
                why = f"column {column.name!r} has {values[row]:g}: a number must be finite and at most 1e100"
                found.setdefault(row, why)
            if self.complete:
                for row in np.flatnonzero(np.isnan(values)).tolist():
                    found.setdefault(row, f"there is no number in the column {column.name!r}")
        if require_label and self.weight in places:
            weights = self.weights_in(table)
            for row in np.flatnonzero(~((weights >= 0) & (weights <= _LARGEST))).tolist():
                shown = "no number" if np.isnan(weights[row]) else f"{weights[row]:g}"
                found.setdefault(row, f"the weight {self.weight!r} is {shown}: it must be 0 or more")
        if require_label:
            if self.label is None or self.label not in places:
                raise DataError(f"the label column {self.label!r} is missing")
            labels = label_array(table.column(places[self.label]))
            for row in np.flatnonzero(~present(labels)).tolist():
                found.setdefault(row, f"the label {self.label!r} is missing")
            # Classes are held with the room of the longest for each.
            if is_text(labels.type):
                for row in np.flatnonzero(np.diff(buffers_of(labels)[1]) > LONGEST_LABEL).tolist():
                    found.setdefault(row, f"the label {self.label!r} is longer than {LONGEST_LABEL} bytes")
        return found

    def numbers_in(self, table: Any, column: Column) -> NDArray[np.float64]:
        """The numbers of a column as they stand there, NaN where they are missing."""
        return doubles_of(converted(one_array(table.column(column.name)), column.name, column.kind))

    def _places(self, table: Any) -> dict[str, int]:
        places = {name: place for place, name in enumerate(table.schema.names)}
        missing = [column.name for column in self.used if column.name not in places]
        if missing:
            raise DataError(f"the column {missing[0]!r} is missing")
        return places

    def find_names(self, tables: Iterable[Any], wanted: NDArray[np.uint8]) -> dict[int, str]:
        """Names of the hashed columns marked in `wanted` (without the plain ones), as far as the tables hold them."""
        names: dict[int, str] = {}
        for table in tables:
            if not wanted.any():
                break
            for column in self.used:
                if column.kind == "number" or column.name not in table.schema.names:
                    continue
                array = converted(one_array(table.column(column.name)), column.name, column.kind)
                if column.kind == "text":
                    found = engine.find_text_names(
                        *buffers_of(without_nulls(array)),
                        seed=seed_of(column.name),
                        wanted=wanted,
                        bits=self.bits,
                        grams=self.grams,
                    )
                    names |= {c: f"{column.name}: {name.decode('utf-8', 'replace')}" for c, name in found}
                    continue
                for part, strings in categories(array, column.name, column.kind):
                    distinct = pc.unique(strings.drop_null())
                    for c, value in zip(self._hash(distinct, part), distinct.to_pylist(), strict=True):
                        if wanted[c]:
                            wanted[c] = 0
                            names[int(c)] = f"{part}={value}"
        return {self.base + column: name for column, name in names.items()}

    def _numbers(self) -> str:
        scaled = any(column.kind == "number" and (column.mean, column.scale) != (0.0, 1.0) for column in self.columns)
        return "numbers, standardized" if scaled else "numbers"

    def describe(self) -> str:
        """What the encoder takes each column for."""
        parts = []
        for kind, what in zip(KINDS, (self._numbers(), "categories", "dates", "texts", "left out"), strict=True):
            names = [
                column.name + (f" ({column.why})" if column.why else "")
                for column in self.columns
                if column.kind == kind
            ]
            if names:
                shown = ", ".join(names[:6]) + (f", … ({len(names)} in all)" if len(names) > 6 else "")
                parts.append(f"{what}: {shown}")
        weight = "" if self.weight is None else f"weights: {self.weight}; "
        return f"label: {self.label}; {weight}" + "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        columns = [[column.name, column.kind, column.mean, column.scale] for column in self.columns]
        header: dict[str, Any] = {
            "kind": "columns",
            "columns": columns,
            "label": self.label,
            "bits": self.bits,
            "grams": self.grams,
        }
        header |= {"order": list(self.order)} if self.order else {}
        return header | ({} if self.weight is None else {"weight": self.weight})

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> ColumnEncoder:
        columns = []
        for name, kind, mean, scale in header["columns"]:
            if kind not in KINDS or not isinstance(name, str) or not np.isfinite([mean, scale]).all() or scale == 0:
                raise DataError(f"the encoder has a column that means nothing: {name!r}")
            columns.append(Column(name, kind, float(mean), float(scale)))
        label, weight, order = header["label"], header.get("weight"), header.get("order", [])
        names = [*order, *(name for name in (label, weight) if name is not None)]
        if not isinstance(order, list) or not all(isinstance(name, str) for name in names):
            raise DataError("the encoder has a name that is no text")
        if len({column.name for column in columns} - {label, weight}) < len(columns):
            raise DataError("the encoder has a column twice")
        return cls(tuple(columns), label, header["bits"], header["grams"], order=tuple(order), weight=weight)

    def _hashed(self, array: Any, column: Column) -> list[Entries]:
        """The hashed features of a column: rows, columns and values."""
        if column.kind == "text":
            starts, indices, values = engine.hash_texts(
                *buffers_of(without_nulls(array)), seed=seed_of(column.name), bits=self.bits, grams=self.grams
            )
            return [(np.repeat(np.arange(len(array)), np.diff(starts)), indices, values)]
        found: list[Entries] = []
        for part, strings in categories(array, column.name, column.kind):
            encoded = strings.dictionary_encode()
            rows = np.flatnonzero(present(strings))
            hashes = self._hash(encoded.dictionary, part)
            columns = hashes[values_of(encoded.indices, np.int32)[rows]] if len(rows) else np.empty(0, np.int32)
            found.append((rows, columns, np.ones(len(rows))))
        return found

    def _hash(self, strings: Any, part: str) -> NDArray[np.int32]:
        hashes: NDArray[np.int32] = engine.hash_strings(*buffers_of(strings), seed=seed_of(part), bits=self.bits)
        return hashes

    def _labels(self, table: Any, places: dict[str, int]) -> tuple[NDArray[np.int32], list[bytes]]:
        if self.label is None or self.label not in places:
            return np.full(table.num_rows, -1, np.int32), []
        encoded = as_strings(label_array(table.column(places[self.label]))).dictionary_encode()
        codes = np.where(present(encoded.indices), values_of(encoded.indices, np.int32), np.int32(-1))
        return codes, [label.encode() for label in encoded.dictionary.to_pylist()]


def labels_of(encoder: ColumnEncoder, table: Any) -> list[bytes]:
    """The distinct labels of an Arrow table."""
    if encoder.label not in table.schema.names:
        raise DataError(f"the label column {encoder.label!r} is missing")
    distinct = pc.unique(as_strings(label_array(table.column(encoder.label)))).to_pylist()
    return [label.encode() for label in distinct if label is not None]


def seed_of(name: str) -> int:
    """What the values of a column are hashed with."""
    text = np.frombuffer(name.encode(), np.uint8) if name else np.empty(0, np.uint8)
    return int(engine.hash_strings(text, np.array([0, len(text)], np.int64), seed=0, bits=30)[0])


@dataclass
class Moments:
    """The means and scales of number columns, piece after piece (Chan, Golub and LeVeque 1979)."""

    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, encoder: ColumnEncoder) -> Moments:
        return cls(*(np.zeros(len(encoder.numbers)) for _ in range(3)))

    def add(self, encoder: ColumnEncoder, table: Any) -> None:
        for j, column in enumerate(encoder.numbers):
            values = encoder.numbers_in(table, column)
            self._merge(j, values[~np.isnan(values)])

    def _merge(self, j: int, values: NDArray[np.float64]) -> None:
        if not len(values):
            return
        mean = values.mean()
        total, apart = self.count[j] + len(values), mean - self.mean[j]
        self.squares[j] += ((values - mean) ** 2).sum() + apart**2 * self.count[j] * len(values) / total
        self.mean[j] += apart * len(values) / total
        self.count[j] = total

    def joined(self, later: Moments) -> Moments:
        """Of both, as if they had been found in one pass."""
        total = self.count + later.count
        apart, share = later.mean - self.mean, later.count / np.maximum(total, 1.0)
        squares = self.squares + later.squares + apart**2 * self.count * share
        return Moments(total, self.mean + apart * share, squares)

    def put_into(self, encoder: ColumnEncoder) -> ColumnEncoder:
        """The encoder with these means and scales, to nine digits: more would only be the noise of summation."""
        numbers = iter(range(len(encoder.numbers)))
        columns = []
        for column in encoder.columns:
            if column.kind == "number":
                j = next(numbers)
                scale = np.sqrt(self.squares[j] / self.count[j]) if self.count[j] else 1.0
                scale = scale if scale > 1e-12 * abs(self.mean[j]) else 1.0
                column = replace(column, mean=float(f"{self.mean[j]:.9g}"), scale=float(f"{scale:.9g}") or 1.0)
            columns.append(column)
        return replace(encoder, columns=tuple(columns))


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
