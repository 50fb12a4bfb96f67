"""Columns to features: an encoder that is made once, from the training data, and saved inside the model.

Columns of the result: first the numbers, each ``(x - mean) / scale``; then a 0/1 for "this column is missing", one a
column of the input; then, if there are categories, dates or texts, ``2**bits`` hashed columns. Every text is scaled
to length 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batches import Batch
from rosenblatt.data.lines import BITS, Grams, check_hashing
from rosenblatt.errors import DataError, ParameterError

Kind = Literal["number", "category", "date", "text", "drop"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LABEL_NAMES = ("label", "class", "target", "y", "category")
_DATE_PARTS = ("year", "month", "day_of_week", "hour")
_LARGEST = 1e100


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

    def types(self) -> dict[str, Any]:
        """The Arrow types in which a CSV reader should read the columns."""
        arrow = {"number": pa.float64(), "date": pa.timestamp("us"), "category": pa.string(), "text": pa.string()}
        types = {column.name: arrow[column.kind] for column in self.used}
        return types | ({self.label: pa.string()} if self.label is not None else {})

    def plain(self) -> ColumnEncoder:
        """The same columns, with numbers as they are."""
        return replace(self, columns=tuple(replace(column, mean=0.0, scale=1.0) for column in self.columns))

    def encode(self, table: Any, *, require_label: bool) -> Batch:
        """The rows of an Arrow table or record batch."""
        count = table.num_rows
        places = {name: place for place, name in enumerate(table.schema.names)}
        missing_columns = [column.name for column in self.used if column.name not in places]
        if missing_columns:
            raise DataError(f"the column {missing_columns[0]!r} is missing")
        plain, hashed = [], []
        missing = np.zeros((count, len(self.used)), bool)
        for place, column in enumerate(self.used):
            array = _one_array(table.column(places[column.name]))
            array = _converted(array, column)
            if column.kind == "number":
                values = _numbers(array)
                missing[:, place] = np.isnan(values)
                _check_sizes(values, column.name)
                plain.append((values - column.mean) / column.scale)
            else:
                missing[:, place] = ~_present(array)
                hashed += self._hashed(array, column, count)
        if self.complete and missing.any():
            row, place = np.argwhere(missing)[0]
            raise DataError(
                f"row {row}: the column {self.used[place].name!r} is missing, and the model knows no such rows"
            )
        matrix = _plain_matrix(plain, missing)
        if self.hashed:
            matrix = sp.hstack([matrix, _sum_of(hashed, (count, 1 << self.bits))], format="csr")
        codes, labels = self._labels(table, places, require_label)
        return Batch(
            matrix.indptr.astype(np.int32, copy=False),
            matrix.indices.astype(np.int32, copy=False),
            np.ascontiguousarray(matrix.data, np.float64),
            codes,
            labels,
        )

    def find_names(self, tables: Iterable[Any], wanted: NDArray[np.uint8]) -> dict[int, str]:
        """Names of the hashed columns marked in `wanted` (without the plain ones), as far as the tables hold them."""
        names: dict[int, str] = {}
        for table in tables:
            if not wanted.any():
                break
            for column in self.used:
                if column.kind == "number" or column.name not in table.schema.names:
                    continue
                array = _converted(_one_array(table.column(column.name)), column)
                if column.kind == "text":
                    found = engine.find_text_names(
                        *_strings(array.fill_null("")),
                        seed=_seed(column.name),
                        wanted=wanted,
                        bits=self.bits,
                        grams=self.grams,
                    )
                    names |= {c: f"{column.name}: {name.decode('utf-8', 'replace')}" for c, name in found}
                    continue
                for part, strings in _categories(array, column):
                    distinct = pc.unique(strings.drop_null())
                    for c, value in zip(self._hash(distinct, part), distinct.to_pylist(), strict=True):
                        if wanted[c]:
                            wanted[c] = 0
                            names[int(c)] = f"{part}={value}"
        return {self.base + column: name for column, name in names.items()}

    def describe(self) -> str:
        """What the encoder takes each column for."""
        parts = []
        for kind, what in zip(KINDS, ("numbers", "categories", "dates", "texts", "left out"), strict=True):
            names = [
                column.name + (f" ({column.why})" if column.why else "")
                for column in self.columns
                if column.kind == kind
            ]
            if names:
                shown = ", ".join(names[:6]) + (f", … ({len(names)} in all)" if len(names) > 6 else "")
                parts.append(f"{what}: {shown}")
        return f"label: {self.label}; " + "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        columns = [[column.name, column.kind, column.mean, column.scale] for column in self.columns]
        return {"kind": "columns", "columns": columns, "label": self.label, "bits": self.bits, "grams": self.grams}

    @classmethod
    def from_json(cls, header: dict[str, Any]) -> ColumnEncoder:
        columns = []
        for name, kind, mean, scale in header["columns"]:
            if kind not in KINDS or not isinstance(name, str) or not np.isfinite([mean, scale]).all() or scale == 0:
                raise DataError(f"the encoder has a column that means nothing: {name!r}")
            columns.append(Column(name, kind, float(mean), float(scale)))
        return cls(tuple(columns), header["label"], header["bits"], header["grams"])

    def _hashed(self, array: Any, column: Column, count: int) -> list[Any]:
        """CSR matrices of the hashed features of a column."""
        width = 1 << self.bits
        if column.kind == "text":
            starts, indices, values = engine.hash_texts(
                *_strings(array.fill_null("")), seed=_seed(column.name), bits=self.bits, grams=self.grams
            )
            return [sp.csr_array((values, indices, starts), shape=(count, width))]
        matrices = []
        for part, strings in _categories(array, column):
            encoded = strings.dictionary_encode()
            rows = np.flatnonzero(_present(strings))
            hashes = self._hash(encoded.dictionary, part)
            columns = hashes[_values(encoded.indices, np.int32)[rows]] if len(rows) else np.empty(0, np.int32)
            matrices.append(sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(count, width)))
        return matrices

    def _hash(self, strings: Any, part: str) -> NDArray[np.int32]:
        hashes: NDArray[np.int32] = engine.hash_strings(*_strings(strings), seed=_seed(part), bits=self.bits)
        return hashes

    def _labels(self, table: Any, places: dict[str, int], required: bool) -> tuple[NDArray[np.int32], list[bytes]]:
        if self.label is None or self.label not in places:
            if required:
                raise DataError(f"the label column {self.label!r} is missing")
            return np.full(table.num_rows, -1, np.int32), []
        encoded = _as_strings(_one_array(table.column(places[self.label]))).dictionary_encode()
        codes = np.where(_present(encoded.indices), _values(encoded.indices, np.int32), np.int32(-1))
        if required and (codes < 0).any():
            raise DataError(f"row {int(np.flatnonzero(codes < 0)[0])}: the label {self.label!r} is missing")
        return codes, [label.encode() for label in encoded.dictionary.to_pylist()]


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
            values = _numbers(_converted(_one_array(table.column(column.name)), column))
            _check_sizes(values, column.name)
            self._merge(j, values[~np.isnan(values)])

    def add_rows(self, batch: Batch) -> None:
        """The same from rows that a plain encoder made."""
        columns = batch.matrix(int(batch.indices.max(initial=0)) + 1).tocsc()
        for j in range(min(len(self.count), columns.shape[1])):
            self._merge(j, columns.data[columns.indptr[j] : columns.indptr[j + 1]])

    def _merge(self, j: int, values: NDArray[np.float64]) -> None:
        if not len(values):
            return
        mean = values.mean()
        total, apart = self.count[j] + len(values), mean - self.mean[j]
        self.squares[j] += ((values - mean) ** 2).sum() + apart**2 * self.count[j] * len(values) / total
        self.mean[j] += apart * len(values) / total
        self.count[j] = total

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


def guess_columns(
    sample: Any,
    *,
    label: str | None = None,
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    bits: int = BITS,
    grams: Grams = "pairs",
    labelled: bool = True,
) -> ColumnEncoder:
    """An encoder for columns like those of an Arrow sample; what is named overrides what is guessed."""
    names = list(sample.schema.names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the column name {twice!r} stands twice")
    chosen = _choose_label(names, label) if labelled else None
    for option, given in (("drop", drop), ("text", text), ("category", category)):
        for name in given:
            if name not in names:
                raise ParameterError(f"{option}: there is no column {name!r}; there are {', '.join(names[:20])}")
    columns = []
    for name in names:
        if name == chosen:
            continue
        if name in drop:
            columns.append(Column(name, "drop"))
        elif name in text:
            columns.append(Column(name, "text"))
        elif name in category:
            columns.append(Column(name, "category"))
        else:
            columns.append(_guess_column(name, _one_array(sample.column(name))))
    if all(column.kind == "drop" for column in columns):
        raise DataError("there is no column to learn from besides the label")
    return ColumnEncoder(tuple(columns), chosen, bits, grams)


def labels_of(encoder: ColumnEncoder, table: Any) -> list[bytes]:
    """The distinct labels of an Arrow table."""
    if encoder.label not in table.schema.names:
        raise DataError(f"the label column {encoder.label!r} is missing")
    distinct = pc.unique(_as_strings(_one_array(table.column(encoder.label)))).to_pylist()
    if None in distinct:
        raise DataError(f"the label {encoder.label!r} is missing in a row")
    return [label.encode() for label in distinct]


def _choose_label(names: list[str], label: str | None) -> str:
    if label is None:
        lower = {name.lower(): name for name in names}
        return next((lower[known] for known in LABEL_NAMES if known in lower), names[-1])
    if label in names:
        return label
    if label.isdigit() and 1 <= int(label) <= len(names):
        return names[int(label) - 1]
    shown = names if len(names) <= 20 else [*names[:10], "…", *names[-5:]]
    raise ParameterError(f"label={label!r}: there is no such column; the {len(names)} are {', '.join(shown)}")


def _guess_column(name: str, array: Any) -> Column:
    kind = array.type
    if (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    ):
        return Column(name, "number")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Column(name, "date")
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return Column(name, "drop", why=f"its type is {kind}")
    values = [value for value in _as_strings(array).to_pylist() if value is not None]
    if not values:
        return Column(name, "category")
    if sum(value.count(" ") for value in values) >= 2 * len(values):
        return Column(name, "text")
    if len(values) >= 100 and len(set(values)) == len(values):
        return Column(name, "drop", why="every value is different")
    return Column(name, "category")


def _one_array(column: Any) -> Any:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


# The conversions of pyarrow itself load pandas where it is installed: that takes longer than to learn a small file.


def _present(array: Any) -> NDArray[np.bool_]:
    """Where the array has a value."""
    if not array.null_count:
        return np.ones(len(array), bool)
    if array.null_count == len(array):
        return np.zeros(len(array), bool)
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), bitorder="little")
    return bits[array.offset : array.offset + len(array)].astype(bool)


def _values(array: Any, dtype: Any) -> NDArray[Any]:
    """The values of an array of numbers of this type; anything where they are missing."""
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, array.offset + len(array))[array.offset :]


def _numbers(array: Any) -> NDArray[np.float64]:
    """The values of an array of doubles, NaN where they are missing."""
    values = _values(array, np.float64)
    return np.where(_present(array), values, np.nan) if array.null_count else values


def _as_strings(array: Any) -> Any:
    return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())


def _converted(array: Any, column: Column) -> Any:
    """The array in the type of the column's kind."""
    try:
        if column.kind == "number":
            return array if pa.types.is_float64(array.type) else pc.cast(array, pa.float64(), safe=False)
        if column.kind == "date":
            return pc.cast(array, pa.timestamp("us"), safe=False)
        return _as_strings(array)
    except pa.ArrowInvalid as error:
        raise DataError(f"column {column.name!r}: {str(error).splitlines()[0]}") from None


def _categories(array: Any, column: Column) -> list[tuple[str, Any]]:
    """The parts of a category or a date, each named, as strings."""
    if column.kind == "category":
        return [(column.name, array)]
    return [(f"{column.name}.{part}", pc.cast(getattr(pc, part)(array), pa.string())) for part in _DATE_PARTS]


def _check_sizes(values: NDArray[np.float64], name: str) -> None:
    sizes = np.abs(values)
    if (sizes > _LARGEST).any():
        row = int(np.flatnonzero(sizes > _LARGEST)[0])
        raise DataError(f"column {name!r} has {values[row]:g} in row {row}: a number must be finite and at most 1e100")


def _strings(array: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The buffer and the offsets of a string array."""
    array = pc.cast(array, pa.large_string())
    _, offsets, data = array.buffers()
    begins = (
        np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
        if offsets
        else np.zeros(1, np.int64)
    )
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8), begins


def _seed(name: str) -> int:
    text = np.frombuffer(name.encode(), np.uint8) if name else np.empty(0, np.uint8)
    return int(engine.hash_strings(text, np.array([0, len(text)], np.int64), seed=0, bits=30)[0])


def _plain_matrix(numbers: list[NDArray[np.float64]], missing: NDArray[np.bool_]) -> Any:
    """Numbers and missing indicators as CSR: every number that is there is stored, a 0 too."""
    count, width = missing.shape
    if numbers and not missing.any():
        values = np.column_stack(numbers)
        each = np.arange(len(numbers), dtype=np.int32)
        starts = np.arange(count + 1, dtype=np.int32) * np.int32(len(numbers))
        return sp.csr_array((values.ravel(), np.tile(each, count), starts), shape=(count, len(numbers) + width))
    values = np.column_stack([*numbers, np.ones((count, width))]) if numbers else np.ones((count, width))
    there = np.column_stack([~np.isnan(values[:, : len(numbers)]), missing])
    starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return sp.csr_array((values[there], np.nonzero(there)[1], starts), shape=values.shape)


def _sum_of(matrices: list[Any], shape: tuple[int, int]) -> Any:
    total = sp.csr_array(shape)
    for matrix in matrices:
        total = total + matrix
    total.sort_indices()
    return total
