"""Schema inference: the kind of each column, from a sample of rows.

Invariant: the options of the user override an inferred kind, and an unclear one gets a note of one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rosenblatt.encode.cells import (
    MISSING,
    InvalidCells,
    as_strings,
    clean,
    convert,
    doubles_of,
    infer_unit,
    is_list,
    is_month_first,
    is_text,
    mostly,
    one_array,
    present,
    read_number,
    without_unit,
)
from rosenblatt.encode.options import ReadOptions
from rosenblatt.encode.table import Column, Mark, TableChunk, TableEncoder, listed
from rosenblatt.errors import DataError, ParameterError

LABEL_NAMES = ("label", "labels", "class", "target", "y", "category")
SAMPLE = 20_000  # rows that are looked at
FEW = 100  # rows that are too few to say that every value is different
# Names of columns that may count the rows.
INDEX_NAMES = frozenset((
    "id", "index", "idx", "row", "rows", "rownum", "rownumber", "rowid", "rowname", "rownames", "no", "nr", "#", "num",
    "number", "obs", "seq", "serialno", "sno", "slno", "recordid", "sampleid", "passengerid", "customerid", "userid",
))  # fmt: skip


_NO_VALUE = "it has no value"
_FRACTION = re.compile(r"[+-]?0([.,])\d")  # thousands do not begin with 0
_CLEAR = re.compile(r"[+-]?\d{1,30}([.,])(\d\d?|\d{4,30})")  # one mark, and not three digits behind it
_UNCLEAR = re.compile(r"[+-]?\d{1,3}[.,]\d{3}")


def infer_encoder(
    chunk: TableChunk,
    options: ReadOptions,
    hashing: dict[str, Any],
    *,
    label: str | None,
    weight: str | None,
    one_decimal: bool,
    **requested: Sequence[str],
) -> tuple[TableEncoder, list[str]]:
    """An unfitted encoder for columns like those of the first rows of a chunk, and notes on unclear columns.

    Parameters
    ----------
    hashing : options of the encoder
    one_decimal : True if all columns have the decimal mark of the options
    requested : for each kind, the names of the columns that have it whatever their cells are
    """
    names, table = list(chunk.table.schema.names), chunk.table.slice(0, SAMPLE)
    if not names:
        raise DataError("there is no column to learn from")
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataError(f"the column name {twice[0]!r} occurs twice")
    sample = {name: one_array(table.column(name)) for name in names}
    if chunk.options is not None:
        sample = {name: clean(array, options.missing or MISSING) for name, array in sample.items()}
    texts = {name: array[:1000].drop_null().to_pylist() for name, array in sample.items() if is_text(array.type)}
    commas = {} if one_decimal else {name: _count_commas(cells) for name, cells in texts.items()}
    default = options.decimal or _mark(sum(commas.values()), ".")
    options = replace(options, decimal=default)
    chosen = _choose_label(names, label, sample, options)
    weighs = None if weight is None else _find(names, weight, "weight=")
    if weighs == chosen:
        raise ParameterError(f"weight={weight!r}: it is the column of the labels; there are {listed(names)}")
    named: dict[str, Column] = {}
    for kind, option in requested.items():
        for given in option:
            name = _find(names, given)
            if name == chosen:
                why = "dropped or split by" if kind == "drop" else f"read as {kind}"
                raise ParameterError(f"{given!r} is the label column and cannot be {why}; set another with --label")
            named[name] = Column(name, kind, format=infer_format(sample[name], kind, options))  # type: ignore[arg-type]
    features = [name for name in names if name not in (chosen, weighs)]
    are_mixed = any(votes < 0 for votes in commas.values()) and any(votes > 0 for votes in commas.values())
    marks = {name: _mark(votes, default) for name, votes in commas.items()} if are_mixed else {}
    columns = [named.get(name) or _infer_column(name, sample[name], options, marks.get(name)) for name in features]
    columns = [replace(c, decimal=marks.get(c.name, "")) if c.kind == "number" else c for c in columns]
    if all(column.kind == "drop" for column in columns):
        why = next((f": {column.name} is left out, {column.why}" for column in columns if column.why), "")
        raise DataError(f"there is no column to learn from besides the label{why}")
    saved = replace(options, decimal="," if options.decimal == "," else None)
    target = (infer_format(sample[chosen], "number", options), marks.get(chosen, ""))
    encoder = TableEncoder(
        tuple(columns),
        chosen,
        order=tuple(names),
        weight=weighs,
        target=target,
        is_fitted=False,
        options=saved,
        **hashing,
    )
    is_unclear = not one_decimal and sum(commas.values()) == 0
    return encoder, _note_unclear_decimals(texts, encoder) if is_unclear else []


def infer_decimal(cells: Iterable[str], default: str = ".") -> str:
    """The decimal mark with which more cells are numbers; the default if no cell can tell.

    >>> infer_decimal(["1,5", "2,25", "1.400"]), infer_decimal(["1,400", "x"]), infer_decimal(["0,400", "-0,250"])
    (',', '.', ',')
    """
    return _mark(_count_commas(cells), default)


def _count_commas(cells: Iterable[str]) -> int:
    """The number of cells with a decimal comma less the number with a decimal point."""
    votes = 0
    for cell in cells:
        if clear := _CLEAR.fullmatch(cell):
            votes += 1 if clear[1] == "," else -1
        elif "," in cell or "." in cell:
            comma, point = (read_number(without_unit(cell), mark) is not None for mark in ",.")
            if comma and point and (fraction := _FRACTION.match(cell)):
                comma, point = fraction[1] == ",", fraction[1] == "."
            votes += comma - point
    return votes


def _mark(votes: int, default: Any) -> Mark:
    return default if votes == 0 else "," if votes > 0 else "."


def _note_unclear_decimals(texts: dict[str, list[str]], encoder: TableEncoder) -> list[str]:
    """A note for each column of numbers such as 1.234, of which no cell tells thousands from fractions."""
    notes = []
    for name in (*(column.name for column in encoder.numbers), encoder.label):
        cell = next(filter(_UNCLEAR.fullmatch, texts.get(str(name), ())), None)
        if cell is not None:
            meant = "the point separates thousands" if "." in cell else "the comma is a decimal mark"
            notes.append(f"{name}: {cell} is read as {read_number(cell):g}; if {meant}, use --decimal ,")
    return notes


def _choose_label(names: Sequence[str], label: str | None, sample: Any, options: ReadOptions) -> str:
    """The column of the labels: the named one, else one with a name such as label or class, else the last that can be.

    A y of numbers beside an x is a coordinate, unless it is the last column. A column without a name or a value, and
    text whose lines mostly differ, cannot hold labels.
    """
    if label is not None:
        return _find(names, label, "label=")
    lower = {name.lower(): name for name in names}
    y = lower.get("y", names[-1])
    if y != names[-1] and "x" in lower and _infer_column(y, sample[y], options).kind == "number":
        del lower["y"]
    if known := [lower[name] for name in LABEL_NAMES if name in lower]:
        return known[0]
    for name in reversed(names):
        column, there = _infer_column(name, sample[name], options), sample[name].drop_null()
        mostly_differs = column.kind == "text" and 2 * pc.count_distinct(there).as_py() > len(there)
        if not _is_unnamed(name) and column.why != _NO_VALUE and not mostly_differs:
            return name
    return names[-1]


def _find(names: Sequence[str], given: str, option: str = "") -> str:
    """A column by its name or its number, from 1."""
    if given in names:
        return given
    if given.isdecimal() and 1 <= int(given) <= len(names):
        return names[int(given) - 1]
    raise ParameterError(f"{option}{given!r}: there is no such column; the {len(names)} are {listed(names)}")


def _infer_column(name: str, array: Any, options: ReadOptions, mark: str | None = None) -> Column:
    kind = array.type
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        return Column(name, "date")
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return _number_column(name, array)
    if not is_text(kind) and not pa.types.is_null(kind):
        return Column(name, "drop", why="it holds lists" if is_list(kind) else f"its type is {kind}")
    strings, missing = as_strings(array), options.missing or MISSING
    unit = infer_format(strings, "number", options)
    decimal = mark or options.decimal or "."
    numbers, invalid = convert(strings, "number", decimal=decimal, missing=missing, format=unit)
    count = int((~np.isnan(doubles_of(numbers))).sum())
    if mostly(count, invalid):
        # The one word among cells that are not numbers means a missing one.
        column = _number_column(name, numbers, unit, next(iter(invalid)) if len(invalid) == 1 else "")
        codes = column.kind == "number" and _may_be_codes(strings.drop_null())
        return replace(column, why=f"leading zeros: --category {name} if they are codes") if codes else column
    order = infer_format(strings, "date", options)
    dates, odd = convert(strings, "date", missing=missing, format=order)
    if mostly(int(present(dates).sum()), odd):
        return Column(name, "date", why="month first" if order else "", format=order)
    return _infer_words(name, strings, count, invalid)


def _may_be_codes(cells: Any) -> bool:
    """True for digits of one length, some with a leading zero, such as 01067."""
    codes = pc.match_substring_regex(cells, r"^\d{2,}$")
    return (
        pc.all(codes).as_py() is True
        and pc.any(pc.starts_with(cells, "0")).as_py() is True
        and len(pc.utf8_length(cells).unique()) == 1
    )


def _number_column(name: str, array: Any, unit: str = "", no_value: str = "") -> Column:
    if _counts_rows(name, array):
        return Column(name, "drop", why="it counts the rows")
    return Column(name, "number", why=f"in {unit}" if unit else "", format=unit, no_value=no_value)


def infer_format(array: Any, kind: str, options: ReadOptions) -> str:
    """The unit of a number, or "month" if that comes first in a date."""
    if kind not in ("number", "date") or not is_text(array.type):
        return ""
    missing = options.missing or MISSING
    cells = [cell for cell in as_strings(array)[:1000].to_pylist() if cell not in (None, *missing)]
    if kind == "number":
        return infer_unit(cells)
    return "month" if is_month_first(cells, options.day_first) else ""


def _infer_words(name: str, strings: Any, numbers: int, invalid: InvalidCells) -> Column:
    there = strings.drop_null()
    count = len(there)
    if not count:
        return Column(name, "drop" if _is_unnamed(name) else "category", why=_NO_VALUE)
    if pc.sum(pc.count_substring(there, " ")).as_py() >= 2 * count:
        return Column(name, "text")
    if count >= FEW and pc.count_distinct(there).as_py() == count:
        return Column(name, "drop", why="every value is different")
    why = ""
    if numbers >= count / 2:
        why = f"{numbers:,} of {count:,} cells are numbers, but not {next(iter(invalid))!r}: --number {name}?"
    return Column(name, "category", why=why)


def _is_unnamed(name: str) -> bool:
    return name == "" or name.startswith("Unnamed: ")


def _counts_rows(name: str, array: Any) -> bool:
    """True for the index of a frame: distinct whole numbers without a name, or 0, 1, 2, … with a name such as id."""
    if not _is_unnamed(name) and re.sub(r"[\s_.-]", "", name.lower()) not in INDEX_NAMES:
        return False
    values = doubles_of(convert(array, "number")[0])
    if name in ("", "Unnamed: 0"):  # rows of a frame that was split, sorted or sampled keep their numbers
        return len(values) > 1 and len(np.unique(values)) == len(values) and bool((values == np.floor(values)).all())
    least = 2 if _is_unnamed(name) else 10
    return len(values) >= least and bool((np.diff(values) == 1).all()) and values[0] in (0.0, 1.0)
