"""Columns to features: an encoder that is fitted on the training data and saved in the model.

Columns of the result: the numbers, each ``(x - mean) / scale``; then one missing-value indicator per input column;
then, if there are categories, dates or texts, ``2**bits`` hashed columns. Every text is scaled to length 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import RowBatch
from rosenblatt.encode.arrow_numpy import (
    as_strings,
    buffers_of,
    doubles_of,
    is_list,
    label_array,
    one_array,
    pc,
    places_from,
    present,
    values_of,
    without_nulls,
)
from rosenblatt.encode.cells import MISSING, NO_LABEL, InvalidCells, categories, convert, trimmed, without
from rosenblatt.encode.lines import BITS, EncodedChunk, Grams, check_hashing
from rosenblatt.encode.options import ReadOptions
from rosenblatt.errors import DataError

Kind = Literal["number", "category", "date", "text", "drop"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Entries = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]  # rows, columns, values
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
    format: str = ""  # the unit of a number; "day" or "month" if that comes first in a date


@dataclass
class TableChunk:
    """Rows of a source as an Arrow table, and the lines that gave none.

    Attributes
    ----------
    table : Arrow table or record batch
    lines : the line, row or element of each row, from 0
    bad : such lines with the reason
    blank : lines with neither a row nor an error
    invalid : for each column, the cells that do not fit its kind
    """

    table: Any
    lines: NDArray[np.int64]
    bad: list[tuple[int, str]] = field(default_factory=list)
    blank: Sequence[int] = ()
    invalid: dict[str, InvalidCells] = field(default_factory=dict)


@dataclass(frozen=True)
class TableEncoder:
    """From columns to rows of features."""

    columns: tuple[Column, ...]
    label: str | None
    bits: int = BITS
    grams: Grams = "pairs"
    complete: bool = False  # no number may be missing: for models that were trained on plain rows
    order: tuple[str, ...] = ()  # all columns as the training data had them, the label among them
    weight: str | None = None  # the column of sample weights
    options: ReadOptions = ReadOptions()

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

    @property
    def decimal(self) -> str:
        return self.options.decimal or "."

    @property
    def missing(self) -> tuple[str, ...]:
        return MISSING if self.options.missing is None else self.options.missing

    @property
    def missing_labels(self) -> tuple[str, ...]:
        return NO_LABEL if self.options.missing is None else self.options.missing

    def plain_names(self) -> dict[int, str]:
        """The names of the columns that are not hashed."""
        names = {place: column.name for place, column in enumerate(self.numbers)}
        names |= {len(names) + place: f"{column.name} is missing" for place, column in enumerate(self.used)}
        return names

    def kinds(self) -> dict[str, str]:
        """The kind of each column that is read: number, date, category, text or label."""
        kinds = {column.name: str(column.kind) for column in self.used}
        kinds |= {} if self.weight is None else {self.weight: "number"}
        return kinds | ({self.label: "label"} if self.label is not None else {})

    def known(self) -> tuple[str, ...]:
        """The columns of a file without a header."""
        return self.order or tuple(column.name for column in self.columns)

    def plain(self) -> TableEncoder:
        """The same columns, with numbers as they are."""
        return replace(self, columns=tuple(replace(column, mean=0.0, scale=1.0) for column in self.columns))

    def convert(self, array: Any, name: str) -> tuple[Any, InvalidCells]:
        """The array of a column as numbers, dates or strings, as the training data was read; and the invalid cells."""
        column = next((each for each in self.columns if each.name == name), Column(name, "number"))
        kind = "category" if name == self.label else column.kind
        array, invalid = convert(
            one_array(array), name, kind, decimal=self.decimal, missing=self.missing, format=column.format
        )
        if kind in ("category", "text") and self.options.missing is not None:
            array = without(trimmed(array), self.missing)
        return array, invalid

    def transform(
        self,
        chunk: TableChunk,
        *,
        require_label: bool,
        cells: dict[str, list[Any]] | None = None,
        named: NDArray[np.bool_] | None = None,
    ) -> EncodedChunk:
        """The rows of a chunk; rows with errors are among the bad lines.

        Parameters
        ----------
        cells : columns to pass through
        named : the hashed columns whose names are known; those of others are reported
        """
        table, lines, bad = chunk.table, chunk.lines, list(chunk.bad)
        arrays, invalid = self._arrays(table, require_label)
        invalid = {name: found for name, found in (invalid | chunk.invalid).items() if found}
        faults = self._faults(arrays, require_label=require_label)
        if faults:
            kept = np.setdiff1d(np.arange(len(lines)), list(faults))
            bad += [(int(lines[row]), why) for row, why in faults.items()]
            arrays, lines = {name: array.take(places_from(kept)) for name, array in arrays.items()}, lines[kept]
            cells = None if cells is None else {name: [each[k] for k in kept] for name, each in cells.items()}
        names: dict[int, str] = {}
        batch = self._encode(arrays, len(lines), require_label, named, names)
        if cells is not None:
            batch = replace(batch, passthrough=cells)
        gaps = np.sort(np.concatenate([np.array([at for at, _ in bad], np.int64), np.array(chunk.blank, np.int64)]))
        blank = tuple(np.searchsorted(lines, gaps).tolist())
        return EncodedChunk(batch, len(lines) + len(gaps), sorted(bad), blank, invalid, names)

    def encode(self, table: Any, *, require_label: bool = False) -> RowBatch:
        """The rows of an Arrow table; a row that cannot be encoded is an error."""
        found = self.transform(TableChunk(table, np.arange(table.num_rows)), require_label=require_label)
        for at, why in found.bad:
            raise DataError(f"row {at}: {why}")
        return found.batch

    def _arrays(self, table: Any, require_label: bool) -> tuple[dict[str, Any], dict[str, InvalidCells]]:
        """The columns that are used, converted; the label as strings or lists of strings."""
        present_names = set(table.schema.names)
        absent = [column.name for column in self.used if column.name not in present_names]
        if absent:
            raise DataError(f"the column {absent[0]!r} is missing")
        arrays, invalid = {}, {}
        for name in [column.name for column in self.used] + ([self.weight] if self.weight in present_names else []):
            assert name is not None
            arrays[name], invalid[name] = self.convert(table.column(name), name)
        if self.label is not None and self.label in present_names:
            labels = label_array(table.column(self.label))
            arrays[self.label] = labels if is_list(labels.type) else as_strings(labels)
        elif require_label:
            raise DataError(f"the label column {self.label!r} is missing")
        return arrays, invalid

    def _faults(self, arrays: dict[str, Any], *, require_label: bool) -> dict[int, str]:
        """The rows that cannot be encoded, each with the reason."""
        found: dict[int, str] = {}
        for column in self.numbers:
            values = doubles_of(arrays[column.name])
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
        if not require_label:
            return found
        if self.weight in arrays:
            weights = doubles_of(arrays[self.weight])
            for row in np.flatnonzero(~((weights >= 0) & (weights <= _LARGEST))).tolist():
                shown = "not a number" if np.isnan(weights[row]) else f"{weights[row]:g}"
                found.setdefault(row, f"the weight {self.weight!r} is {shown}: it must be 0 or more")
        labels = arrays[str(self.label)]
        if is_list(labels.type):
            lengths = pc.list_value_length(labels).to_numpy(zero_copy_only=False)
            for row in np.flatnonzero(~(lengths > 0)).tolist():
                found.setdefault(row, f"the label {self.label!r} is missing")
            return found
        for row in np.flatnonzero(~present(labels)).tolist():
            found.setdefault(row, f"the label {self.label!r} is missing")
        # NumPy holds classes with the size of the longest each.
        for row in np.flatnonzero(np.diff(buffers_of(labels)[1]) > LONGEST_LABEL).tolist():
            found.setdefault(row, f"the label {self.label!r} is longer than {LONGEST_LABEL} bytes")
        return found

    def _encode(
        self,
        arrays: dict[str, Any],
        count: int,
        require_label: bool,
        named: NDArray[np.bool_] | None,
        names: dict[int, str],
    ) -> RowBatch:
        plain, entries = [], []
        missing = np.zeros((count, len(self.used)), bool)
        for place, column in enumerate(self.used):
            array = arrays[column.name]
            if column.kind == "number":
                values = doubles_of(array)
                missing[:, place] = np.isnan(values)
                plain.append((values - column.mean) / column.scale)
            else:
                missing[:, place] = ~present(array)
                entries += self._hashed(array, column, named, names)
        starts, indices, values = join_features(plain, missing, entries, self.base)
        labels = arrays.get(str(self.label))
        if labels is None:
            return RowBatch(starts, indices, values, np.full(count, -1, np.int32), [])
        weights = doubles_of(arrays[self.weight]) if require_label and self.weight in arrays else None
        rows = None
        if is_list(labels.type):  # one row per label, which share the weight
            lengths = pc.list_value_length(labels).to_numpy(zero_copy_only=False).astype(np.int64)
            rows = np.repeat(np.arange(count), lengths)
            labels = as_strings(pc.list_flatten(labels))
        encoded = labels.dictionary_encode()
        codes = np.where(present(encoded.indices), values_of(encoded.indices, np.int32), np.int32(-1))
        words = [label.encode() for label in encoded.dictionary.to_pylist()]
        if rows is not None:
            if not require_label:
                first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
                codes, rows = np.where(lengths > 0, np.append(codes, -1)[first], -1).astype(np.int32), None
            else:
                batch = RowBatch(starts, indices, values, np.zeros(count, np.int32), words).take(rows)
                shares = (1.0 if weights is None else weights[rows]) / lengths[rows]
                return replace(batch, codes=codes, weights=shares, line=rows)
        batch = RowBatch(starts, indices, values, codes, words, weights)
        return batch if weights is None or weights.all() else batch.take(np.flatnonzero(weights))

    def _hashed(
        self, array: Any, column: Column, named: NDArray[np.bool_] | None, names: dict[int, str]
    ) -> list[Entries]:
        """The hashed features of a column: rows, columns and values."""
        if column.kind == "text":
            text, seed = buffers_of(without_nulls(array)), seed_of(column.name)
            starts, indices, values = engine.hash_texts(*text, seed=seed, bits=self.bits, grams=self.grams)
            if named is not None:
                wanted = np.zeros(1 << self.bits, np.uint8)
                wanted[indices] = ~named[indices]
                found = engine.find_text_names(*text, seed=seed, wanted=wanted, bits=self.bits, grams=self.grams)
                names |= {self.base + c: f"{column.name}: {name.decode('utf-8', 'replace')}" for c, name in found}
            return [(np.repeat(np.arange(len(array)), np.diff(starts)), indices, values)]
        found_entries: list[Entries] = []
        for part, strings in categories(array, column.name, column.kind):
            encoded = strings.dictionary_encode()
            rows = np.flatnonzero(present(strings))
            hashes = engine.hash_strings(*buffers_of(encoded.dictionary), seed=seed_of(part), bits=self.bits)
            if named is not None:
                for k in np.flatnonzero(~named[hashes]).tolist():
                    names.setdefault(self.base + int(hashes[k]), f"{part}={encoded.dictionary[k].as_py()}")
            columns = hashes[values_of(encoded.indices, np.int32)[rows]] if len(rows) else np.empty(0, np.int32)
            found_entries.append((rows, columns, np.ones(len(rows))))
        return found_entries

    def describe(self, *, is_fitted: bool = True) -> str:
        """The kind of each column; the numbers of an encoder that is not fitted yet will be standardized."""
        parts = []
        scaled = not is_fitted or any(
            column.kind == "number" and (column.mean, column.scale) != (0.0, 1.0) for column in self.columns
        )
        numbers = "numbers, standardized" if scaled else "numbers"
        for kind, what in zip(KINDS, (numbers, "categories", "dates", "texts", "left out"), strict=True):
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
        columns = [
            [column.name, column.kind, column.mean, column.scale] + ([column.format] if column.format else [])
            for column in self.columns
        ]
        header: dict[str, Any] = {
            "kind": "columns",
            "columns": columns,
            "label": self.label,
            "bits": self.bits,
            "grams": self.grams,
        }
        header |= {"order": list(self.order)} if self.order else {}
        header |= {} if self.weight is None else {"weight": self.weight}
        options = self.options.to_json()
        return header | ({"options": options} if options else {})

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> TableEncoder:
        columns = []
        for name, kind, mean, scale, *more in header["columns"]:
            if kind not in KINDS or not isinstance(name, str) or not np.isfinite([mean, scale]).all() or scale == 0:
                raise DataError(f"the encoder has an invalid column: {name!r}")
            if len(more) > 1 or not all(isinstance(each, str) for each in more):
                raise DataError(f"the encoder has an invalid column: {name!r}")
            columns.append(Column(name, kind, float(mean), float(scale), format="".join(more)))
        label, weight, order = header["label"], header.get("weight"), header.get("order", [])
        names = [*order, *(name for name in (label, weight) if name is not None)]
        if not isinstance(order, list) or not all(isinstance(name, str) for name in names):
            raise DataError("the encoder has a name that is not text")
        if len({column.name for column in columns} - {label, weight}) < len(columns):
            raise DataError("the encoder has a column twice")
        options = ReadOptions.from_json(header.get("options", {}))
        return cls(
            tuple(columns), label, header["bits"], header["grams"], order=tuple(order), weight=weight, options=options
        )


def seed_of(name: str) -> int:
    """The seed of the hash of a column's values."""
    text = np.frombuffer(name.encode(), np.uint8) if name else np.empty(0, np.uint8)
    return int(engine.hash_strings(text, np.array([0, len(text)], np.int64), seed=0, bits=30)[0])


class ColumnStats:
    """The means and scales of the number columns, by a fold over batches (Chan, Golub and LeVeque 1979).

    Sums are taken over blocks of rows that are aligned to the first row, so they do not depend on how the rows are cut
    into batches.
    """

    BLOCK = 4096

    def __init__(self, width: int) -> None:
        self.count, self.mean, self.squares = np.zeros(width), np.zeros(width), np.zeros(width)
        self._rows = self._done = 0
        self._waiting: list[Entries] = []

    def add(self, batch: RowBatch) -> None:
        """The rows of a batch whose numbers are not standardized."""
        width = len(self.count)
        if not width:
            return
        used = batch.indices < width
        rows = np.repeat(np.arange(self._rows, self._rows + len(batch)), np.diff(batch.starts))[used]
        self._waiting.append((rows, batch.indices[used], batch.values[used]))
        self._rows += len(batch)
        if self._rows - self._done >= self.BLOCK:
            self._flush(self._rows - self._rows % self.BLOCK)

    def _flush(self, end: int) -> None:
        rows, columns, values = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
        cuts = np.searchsorted(rows, np.arange(self._done, end, self.BLOCK)).tolist()
        rest = int(np.searchsorted(rows, end))
        for begin, stop in zip(cuts, [*cuts[1:], rest], strict=True):
            self._add_block(columns[begin:stop], values[begin:stop])
        self._waiting, self._done = [(rows[rest:], columns[rest:], values[rest:])], end

    def _add_block(self, columns: NDArray[Any], values: NDArray[np.float64]) -> None:
        width = len(self.count)
        count = np.bincount(columns, minlength=width).astype(np.float64)
        mean = np.bincount(columns, values, width) / np.maximum(count, 1.0)
        squares = np.bincount(columns, (values - mean[columns]) ** 2, width)
        self._merge(count, mean, squares)

    def _merge(self, count: Any, mean: Any, squares: Any) -> None:
        total = self.count + count
        apart, share = mean - self.mean, count / np.maximum(total, 1.0)
        self.squares = self.squares + squares + apart**2 * self.count * share
        self.mean = self.mean + np.where(count > 0, apart * share, 0.0)
        self.count = total

    def join(self, later: ColumnStats) -> ColumnStats:
        """Of the rows of both."""
        joined = ColumnStats(len(self.count))
        for each in (self.finish(), later.finish()):
            joined._merge(each.count, each.mean, each.squares)
        return joined

    def finish(self) -> ColumnStats:
        if self._rows > self._done:
            self._flush(self._rows)
        return self

    def fit(self, encoder: TableEncoder) -> TableEncoder:
        """The encoder with these means and scales, to nine digits."""
        self.finish()
        places = iter(range(len(self.count)))
        columns = []
        for column in encoder.columns:
            if column.kind == "number":
                j = next(places)
                scale = np.sqrt(self.squares[j] / self.count[j]) if self.count[j] else 1.0
                scale = scale if scale > 1e-12 * abs(self.mean[j]) else 1.0
                column = replace(column, mean=float(f"{self.mean[j]:.9g}"), scale=float(f"{scale:.9g}") or 1.0)
            columns.append(column)
        return replace(encoder, columns=tuple(columns))


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


def listed(names: Sequence[str], most: int = 20) -> str:
    """Some names, each in one line and not too long.

    >>> listed(["a", "b" * 99, "c"], 2)
    'a, bbbbbbbbbbbbbbbbbbbbbbbbbbbbb…, …'
    """
    short = [" ".join(name.split()) for name in names[:most]]
    return ", ".join([name if len(name) <= 30 else f"{name[:29]}…" for name in short] + ["…"] * (len(names) > most))


def find_columns(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """The requested columns, by their names; ``*`` is all of them."""
    if "*" in names:
        return list(known)
    for name in names:
        if name not in known:
            raise DataError(f"there is no column {name!r}; there are {listed(known)}")
    return list(names)
