"""Columns to features: an encoder that is fitted on the training data and saved in the model.

Columns of the result: the numbers, each ``(x - mean) / scale``; then one missing-value indicator per input column;
then, if there are categories, dates or texts, ``2**bits`` hashed columns. Every text is scaled to length 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import EncodedChunk, Entries, NamedMask, RowBatch, csr_arrays
from rosenblatt.data.labels import LARGEST_NUMBER, numbers_of
from rosenblatt.encode.cells import (
    MISSING,
    NO_LABEL,
    InvalidCells,
    buffers_of,
    categories,
    clean,
    convert,
    doubles_of,
    is_list,
    numbers_from,
    one_array,
    pa,
    pc,
    present,
    read_number,
    strings_from,
    values_of,
)
from rosenblatt.encode.lines import LONGEST_LABEL, lower_letters
from rosenblatt.encode.options import Encoder, ReadOptions
from rosenblatt.errors import DataError, ParameterError, first_line

Kind = Literal["number", "category", "date", "text", "drop"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Mark = Literal["", ".", ","]
ALSO = " | "  # between the names of categories that share a column
_BLOCK = 4096  # rows that are summed together


@dataclass(frozen=True)
class Column:
    """A column of the input and its encoding."""

    name: str
    kind: Kind
    mean: float = 0.0
    scale: float = 1.0
    format: str = ""  # the unit of a number; "month" if that comes first in a date
    decimal: Mark = ""  # the decimal mark, in a file whose columns have different ones
    no_value: str = ""  # the word that the training data has instead of missing numbers
    why: str = ""  # a reason or a remark for the user, which is not saved


@dataclass
class TableChunk:
    """Rows of a source as an Arrow table, and the lines without a row.

    Attributes
    ----------
    table : Arrow table or record batch
    lines : the line, row or element of each row, from 0
    bad : such lines with the reason
    blank : lines with neither a row nor an error
    options : how the cells are written, if all of them are text
    unit : what `lines` count
    """

    table: Any
    lines: NDArray[np.int64]
    bad: list[tuple[int, str]] = field(default_factory=list)
    blank: Sequence[int] = ()
    options: ReadOptions | None = None
    unit: str = "line"

    def add_column(self, name: str, value: str | None) -> None:
        """Add a first column with the same value in every row, unless there is one of this name."""
        if name not in self.table.schema.names:
            self.table = self.table.add_column(0, name, strings_from([value] * len(self.lines)))

    def cells(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """The cells of some columns; ``*``: of all."""
        known = self.table.schema.names
        for name in names:
            if name not in known and name != "*":
                raise DataError(f"there is no column {name!r}; there are {listed(known)}")
        wanted = known if "*" in names else names
        return {name: [_plain(cell) for cell in self.table.column(name).to_pylist()] for name in wanted}


def _plain(cell: Any) -> Any:
    if isinstance(cell, float) and abs(cell) < 2**53 and cell == int(cell):
        return int(cell)
    return json.dumps(cell, default=str) if isinstance(cell, (dict, list)) else cell


@dataclass(frozen=True)
class TableEncoder(Encoder):
    """From columns to rows of features."""

    kind = "columns"

    columns: tuple[Column, ...]
    label: str | None
    complete: bool = False  # no number may be missing: for models that were trained on plain rows
    order: tuple[str, ...] = ()  # all columns as the training data had them, the label among them
    weight: str | None = None  # the column of sample weights
    target: tuple[str, Mark] = ("", "")  # unit and decimal mark of the label, if a regression learns it
    zeros: tuple[str, ...] | None = None  # if it was trained on dicts: the columns in which an absent key is 0
    is_fitted: bool = True  # are the means and scales known?

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.use_idf and not any(column.kind == "text" for column in self.columns):
            raise ParameterError("idf needs text, and the data has no text column; name one with --text")

    @property
    def used(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind != "drop")

    @property
    def numbers(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.kind == "number")

    @property
    def inputs(self) -> list[str]:
        """The names of the columns that are read."""
        return [name for name in (*(column.name for column in self.used), self.weight, self.label) if name is not None]

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
        names = [column.name for column in self.numbers] + [f"{column.name} is missing" for column in self.used]
        return dict(enumerate(names))

    def plain(self) -> TableEncoder:
        """The same columns, with numbers as they are."""
        columns = tuple(replace(column, mean=0.0, scale=1.0) for column in self.columns)
        return replace(self, columns=columns, is_fitted=True)

    def with_date_order(self, order: str) -> TableEncoder:
        """The same columns, with dates read as "month" first, or the day first if empty."""
        columns = (replace(column, format=order) if column.kind == "date" else column for column in self.columns)
        return replace(self, columns=tuple(columns))

    def transform(
        self, chunk: TableChunk, *, require_label: bool, passthrough: Sequence[str] = (), named: NamedMask = None
    ) -> EncodedChunk:
        """The rows of a chunk; rows with errors are among the bad lines.

        Parameters
        ----------
        passthrough : columns whose cells go into the batch
        named : the hashed columns whose names are known; those of others are reported
        """
        arrays, invalid = self.arrays(chunk, require_label=require_label)
        bad = list(chunk.bad)
        if faults := self._faults(arrays, require_label, chunk.table):
            bad += [(int(chunk.lines[row]), why) for row, why in faults.items()]
            kept = np.setdiff1d(np.arange(len(chunk.lines)), list(faults))
            places = numbers_from(kept)
            arrays = {name: array.take(places) for name, array in arrays.items()}
            chunk = replace(chunk, table=chunk.table.take(places), lines=chunk.lines[kept])
        batch, names, frequencies = self._encode(arrays, len(chunk.lines), named)
        batch = replace(batch, line=chunk.lines, passthrough=chunk.cells(passthrough) if passthrough else None)
        gaps = np.sort(np.array([*(at for at, _ in bad), *chunk.blank], np.int64))
        blank, count = tuple(np.searchsorted(chunk.lines, gaps).tolist()), len(chunk.lines) + len(gaps)
        batch = replace(self._label(batch, arrays, require_label), blank=blank)
        texts = "\n".join(name.replace("\n", " ") for name in names.values()).encode()
        found = [(np.array(list(names), np.int32), texts)]
        return EncodedChunk(batch, count, sorted(bad), invalid, found, frequencies)

    def encode(self, table: Any, *, require_label: bool = False) -> RowBatch:
        """The rows of an Arrow table; a row that cannot be encoded is an error."""
        found = self.transform(TableChunk(table, np.arange(table.num_rows)), require_label=require_label)
        for at, why in found.bad:
            raise DataError(f"row {at}: {why}")
        return found.batch

    def arrays(self, chunk: TableChunk, *, require_label: bool) -> tuple[dict[str, Any], dict[str, InvalidCells]]:
        """The columns that are used, converted, and their invalid cells; the label as strings or lists of strings."""
        names, arrays, invalid = chunk.table.schema.names, {}, {}
        weights = [Column(self.weight, "number")] if self.weight is not None and self.weight in names else []
        for column in (*self.used, *weights):
            if column.name not in names:
                raise DataError(f"the column {column.name!r} is missing; there are {listed(names)}")
            arrays[column.name], wrong = self.convert(chunk.table.column(column.name), column, chunk.options)
            if wrong:
                invalid[column.name] = wrong
        if self.label in names:
            labels = one_array(chunk.table.column(self.label))
            missing = ((chunk.options.missing or NO_LABEL) if chunk.options else None) or ("",)
            arrays[str(self.label)] = (_clean_lists if is_list(labels.type) else clean)(labels, missing)
        elif require_label:
            raise DataError(f"the label column {self.label!r} is missing; there are {listed(names)}")
        return arrays, invalid

    def convert(self, array: Any, column: Column, options: ReadOptions | None = None) -> tuple[Any, InvalidCells]:
        """The array of a column as numbers, dates or strings, and its invalid cells; `options`: of text cells."""
        options = options or self.options  # in frames and raw rows as in text
        missing, decimal = options.missing or MISSING, column.decimal or options.decimal or "."
        try:
            return convert(array, column.kind, decimal=decimal, missing=missing, format=column.format)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise DataError(f"column {column.name!r}: {first_line(error)}") from None

    def targets(self, labels: Sequence[bytes]) -> NDArray[np.float64]:
        """The numbers of labels, as regression targets: money, percentages and units too."""
        unit, mark = self.target
        decimal = mark or self.options.decimal or "."
        return numbers_of(labels, lambda label: read_number(label, decimal, unit))

    def _faults(self, arrays: dict[str, Any], require_label: bool, table: Any) -> dict[int, str]:
        """The rows that cannot be encoded, each with the reason."""
        found: dict[int, str] = {}

        def add(wrong: NDArray[np.bool_], why: str, values: Any = None) -> None:
            for row in np.flatnonzero(wrong).tolist():
                found.setdefault(row, why if values is None else f"{why}, not {values[row]:g}")

        for column in self.numbers:
            values = doubles_of(arrays[column.name])
            add(np.abs(values) > LARGEST_NUMBER, f"column {column.name!r} must be finite and at most 1e100", values)
            if self.complete:
                add(np.isnan(values), f"column {column.name!r} has no number")
        if not require_label:
            return found
        if self.weight in arrays:
            weights = doubles_of(arrays[self.weight])
            is_valid = (weights >= 0) & (weights <= LARGEST_NUMBER)
            add(~is_valid, f"the weight {self.weight!r} must be 0 or more", weights)
        labels = arrays[str(self.label)]
        absent = _lengths(labels) == 0 if is_list(labels.type) else ~present(labels)
        for row in np.flatnonzero(absent).tolist():
            word = table.column(self.label)[row].as_py()
            is_word = isinstance(word, str) and word.strip() != ""
            why = f"has {word!r}, which means no value; --missing names other words" if is_word else "has no value"
            other = "" if self.is_fitted else "; --label names another column"
            found.setdefault(row, f"the label column {self.label!r} {why}{other}")
        if not is_list(labels.type):
            # NumPy holds classes with the size of the longest each.
            long = np.diff(buffers_of(labels)[1]) > LONGEST_LABEL
            add(long, f"the label {self.label!r} is longer than {LONGEST_LABEL} bytes")
        return found

    def _encode(
        self, arrays: dict[str, Any], count: int, named: NamedMask
    ) -> tuple[RowBatch, dict[int, str], NDArray[np.int64] | None]:
        """The rows, without labels; the names that are new; and how many texts each hashed column is in, for idf."""
        names = dict[int, str]()
        frequencies = np.zeros(1 << self.bits, np.int64) if self.use_idf and self.idf is None else None
        numbers = np.empty((count, len(self.numbers)))
        missing = np.zeros((count, len(self.used)), bool)
        entries: list[Entries] = []
        at = 0
        for place, column in enumerate(self.used):
            array = arrays[column.name]
            if column.kind == "number":
                numbers[:, at] = (doubles_of(array) - column.mean) / column.scale
                missing[:, place] = np.isnan(numbers[:, at])
                at += 1
            else:
                missing[:, place] = ~present(array)
                entries += self._hash(array, column, named, names)
                if frequencies is not None and column.kind == "text":
                    frequencies += np.bincount(entries[-1][1] - self.base, minlength=len(frequencies))
        # Without gaps, texts and days without a time every row has as many values: no need to sort all of them.
        is_even = not missing.any() and all(column.kind != "text" for column in self.used)
        is_even = is_even and all(len(columns) in (0, count) for _, columns, _ in entries)
        full = [columns for _, columns, _ in entries if is_even and len(columns)]
        hashed = np.sort(np.column_stack([np.empty((count, 0), int), *full]))
        if is_even and (np.diff(hashed) > 0).all():
            columns = np.empty((count, at + hashed.shape[1]), np.int32)
            columns[:, :at], columns[:, at:] = np.arange(at), hashed
            starts = np.arange(count + 1, dtype=np.int32) * np.int32(columns.shape[1])
            indices, values = columns.ravel(), np.column_stack([numbers, np.ones(hashed.shape)]).ravel()
        else:  # every number that is there is stored, a 0 too
            stored = np.column_stack([~np.isnan(numbers), missing])
            plain = (*np.nonzero(stored), np.column_stack([numbers, np.ones(missing.shape)])[stored])
            starts, indices, values = csr_arrays([plain, *entries], count)
        if self.idf is not None:
            hashed = indices >= self.base
            values[hashed] *= self.idf[indices[hashed] - self.base]
        return RowBatch(starts, indices, values, np.full(count, -1, np.int32), []), names, frequencies

    def _label(self, batch: RowBatch, arrays: dict[str, Any], require_label: bool) -> RowBatch:
        """The rows with labels and weights: one per label; none of weight 0."""
        labels = arrays.get(str(self.label))
        if labels is None:
            return batch
        if require_label and self.weight in arrays:
            batch = replace(batch, weights=doubles_of(arrays[self.weight]))
        lengths = np.ones(len(batch), np.int64)
        if is_list(labels.type):
            lengths, labels = _lengths(labels), pc.list_flatten(labels)
        encoded = labels.dictionary_encode()
        words = [label.encode() for label in encoded.dictionary.to_pylist()]
        codes = np.where(present(encoded.indices), values_of(encoded.indices, np.int32), np.int32(-1))
        if require_label and (lengths != 1).any():
            batch = batch.repeat(lengths, codes, words)
        else:  # the first label of each row
            firsts = np.append(codes, np.int32(-1))[np.cumsum(lengths) - lengths]
            batch = replace(batch, codes=np.where(lengths > 0, firsts, np.int32(-1)), labels=words)
        if batch.weights is not None and not batch.weights.all():
            batch = batch.take(np.flatnonzero(batch.weights))
        return batch

    def _hash(self, array: Any, column: Column, named: NamedMask, names: dict[int, str]) -> list[Entries]:
        """The hashed features of a column, and the names that are new."""
        base, bits = self.base, self.bits
        if column.kind == "text":
            data, offsets = buffers_of(pc.fill_null(array, strings_from([""])[0]))
            text = lower_letters(data)
            how: dict[str, Any] = {"bits": bits, "grams": self.grams, "seed": seed_of(column.name), "offsets": offsets}
            starts, indices, values, *_, (at, found) = engine.parse(
                text, "strings", require_label=False, named=named, **how
            )
            texts = found.decode("utf-8", "replace").split("\n")
            names |= {base + c: f"{column.name}: {name}" for c, name in zip(at.tolist(), texts, strict=False)}
            return [(np.repeat(np.arange(len(array)), np.diff(starts)), indices + base, values)]
        entries: list[Entries] = []
        for part, strings in categories(array, column.name, column.kind):
            encoded, rows = strings.dictionary_encode(), np.flatnonzero(present(strings))
            hashes = engine.hash_strings(*buffers_of(encoded.dictionary), seed=seed_of(part), bits=bits)
            for k in [] if named is None else np.flatnonzero(named[hashes] == 0).tolist():
                code, name = base + int(hashes[k]), f"{part}={encoded.dictionary[k].as_py()}"
                names[code] = f"{names[code]}{ALSO}{name}" if code in names else name
            places = values_of(encoded.indices, np.int32)[rows]
            entries.append((rows, (hashes + base)[places], np.ones(len(rows))))
        return entries

    def stats_of(self, batch: RowBatch) -> ColumnStats:
        """The statistics of the number columns of rows that this encoder, not yet fitted, has encoded."""
        width = len(self.numbers)
        stats = ColumnStats(np.zeros(width), np.zeros(width), np.zeros(width))
        for begin in range(0, len(batch) if width else 0, _BLOCK):
            part = slice(batch.starts[begin], batch.starts[min(begin + _BLOCK, len(batch))])
            columns, values = batch.indices[part], batch.values[part]
            columns, values = columns[columns < width], values[columns < width]
            count = np.bincount(columns, minlength=width).astype(np.float64)
            mean = np.bincount(columns, values, width) / np.maximum(count, 1.0)
            squares: NDArray[Any] = np.bincount(columns, (values - mean[columns]) ** 2, width)
            stats = stats.join(ColumnStats(count, mean, squares))
        return stats

    def describe(self) -> str:
        """The kind of each column; the numbers of an encoder that is not fitted yet will be standardized."""
        texts = "texts, idf weights" if self.use_idf else "texts"
        scaled = not self.is_fitted or any((column.mean, column.scale) != (0.0, 1.0) for column in self.numbers)
        titles = ("numbers, standardized" if scaled else "numbers", "categories", "dates", texts, "left out")
        parts = [f"label: {self.label}"] + ([] if self.weight is None else [f"weights: {self.weight}"])
        for kind, title in zip(KINDS, titles, strict=True):
            found = [column for column in self.columns if column.kind == kind]
            names = [column.name + (f" ({column.why})" if column.why else "") for column in found]
            if names:
                parts.append(f"{title}: {', '.join(names[:6])}" + (f", … ({len(names)} in all)" * (len(names) > 6)))
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"columns": [list(astuple(column)[:-1]) for column in self.columns]}

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> Self:
        encoder = super().from_json(header)
        if len({column.name for column in encoder.columns} - {encoder.label, encoder.weight}) < len(encoder.columns):
            raise DataError("the encoder has a column twice")
        if not all(column.scale for column in encoder.columns):
            raise DataError("the encoder has a column with the scale 0")
        return encoder


def seed_of(name: str) -> int:
    """The seed of the hash of a column's values."""
    text = np.frombuffer(name.encode(), np.uint8)
    return int(engine.hash_strings(text, np.array([0, len(text)], np.int64), seed=0, bits=30)[0])


def _lengths(lists: Any) -> NDArray[np.int64]:
    """The number of values in each list; 0 for a missing list."""
    lengths = pc.cast(pc.list_value_length(lists), pa.int64())
    return np.where(present(lengths), values_of(lengths, np.int64), 0)


def _clean_lists(lists: Any, missing: Sequence[str]) -> Any:
    """Lists of labels as strings, without missing ones and duplicates."""
    owners, flat = np.repeat(np.arange(len(lists)), _lengths(lists)), clean(pc.list_flatten(lists), missing)
    encoded = flat.dictionary_encode()
    keys = owners * (len(encoded.dictionary) + 1) + values_of(encoded.indices, np.int32)
    kept = np.sort(np.unique(keys[present(flat)], return_index=True)[1])
    kept = np.flatnonzero(present(flat))[kept]
    ends = np.cumsum(np.bincount(owners[kept], minlength=len(lists)))
    offsets = numbers_from(np.append(0, ends).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, flat.take(numbers_from(kept)))


@dataclass(frozen=True)
class ColumnStats:
    """Counts, means and sums of squares of the number columns (Chan, Golub and LeVeque 1979)."""

    count: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    def join(self, later: ColumnStats) -> ColumnStats:
        """The statistics of the rows of both."""
        total = self.count + later.count
        apart, share = later.mean - self.mean, later.count / np.maximum(total, 1.0)
        squares = self.squares + later.squares + apart**2 * self.count * share
        return ColumnStats(total, self.mean + np.where(later.count > 0, apart * share, 0.0), squares)

    def fit(self, encoder: TableEncoder) -> TableEncoder:
        """The encoder with these means and scales, to nine digits."""
        deviations = np.sqrt(self.squares / np.maximum(self.count, 1.0))
        scales = np.where(deviations > 1e-12 * np.abs(self.mean), deviations, 1.0)
        fitted = {
            column.name: replace(column, mean=float(f"{mean:.9g}"), scale=float(f"{scale:.9g}") or 1.0)
            for column, mean, scale in zip(encoder.numbers, self.mean, scales, strict=True)
        }
        columns = tuple(fitted.get(column.name, column) for column in encoder.columns)
        return replace(encoder, columns=columns, is_fitted=True)


def listed(names: Sequence[str], most: int = 20) -> str:
    """Some names, each in one line and not too long.

    >>> listed(["a", "b" * 99, "c"], 2)
    'a, bbbbbbbbbbbbbbbbbbbbbbbbbbbbb…, …'
    """
    short = [" ".join(name.split()) for name in names[:most]]
    return ", ".join([name if len(name) <= 30 else f"{name[:29]}…" for name in short] + ["…"] * (len(names) > most))
