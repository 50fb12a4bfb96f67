"""Schema inference: the kind of each column, from a sample of rows.

Invariant: an inferred kind has a reason of one line, and gives way to the options of the user.
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

from rosenblatt.encode.arrow_numpy import as_strings, doubles_of, is_list, is_text, one_array, present
from rosenblatt.encode.cells import (
    MISSING,
    InvalidCells,
    infer_date_order,
    infer_unit,
    mostly,
    parse_dates,
    parse_numbers,
    read_number,
)
from rosenblatt.encode.lines import BITS, Grams
from rosenblatt.encode.options import ReadOptions
from rosenblatt.encode.table import Column, TableEncoder, listed
from rosenblatt.errors import DataError, ParameterError

LABEL_NAMES = ("label", "labels", "class", "target", "y", "category")
FEW = 100  # rows that are too few to say that every value is different
# Names of columns that may count the rows.
INDEX_NAMES = frozenset((
    "id", "index", "idx", "row", "rows", "rownum", "rownumber", "rowid", "rowname", "rownames", "no", "nr", "#", "num",
    "number", "obs", "seq", "serialno", "sno", "slno", "recordid", "sampleid", "passengerid", "customerid", "userid",
))  # fmt: skip


_NO_VALUE = "it has no value"


def infer_encoder(
    sample: Any,
    *,
    label: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    bits: int = BITS,
    grams: Grams = "pairs",
    options: ReadOptions = ReadOptions(),
) -> TableEncoder:
    """An unfitted encoder for columns like those of an Arrow sample; named columns override the inference."""
    names = list(sample.schema.names)
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise DataError(f"the column name {twice!r} occurs twice")
    if options.decimal is None:
        texts = [array for name in names if is_text((array := one_array(sample.column(name))).type)]
        cells = (cell for array in texts for cell in array[:1000].to_pylist() if cell)
        options = replace(options, decimal=infer_decimal(cells))
    if not names:
        raise DataError("there is no column to learn from")
    ys = [name for name in names if name.lower() == "y"]
    measured = bool(ys) and _infer_column(ys[0], sample.column(ys[0]), options).kind == "number"
    chosen = choose_label(names, label, measured=measured)
    if label is None and chosen == names[-1] and chosen.lower() not in LABEL_NAMES:
        chosen = _last_that_can_be(sample, names, options)
    weighs = None if weight is None else _find(names, weight)
    if weight is not None and (weighs is None or weighs == chosen):
        why = "there is no such column" if weighs is None else "it is the column of the labels"
        raise ParameterError(f"weight={weight!r}: {why}; there are {listed(names)}")
    told: dict[str, Any] = {}
    for kind, option in (("drop", drop), ("text", text), ("category", category), ("number", number)):
        for given in option:
            name = _find(names, given)
            if name is None:
                raise ParameterError(f"{kind}: there is no column {given!r}; there are {listed(names)}")
            if name == chosen:
                raise ParameterError(f"{kind}: {given!r} is the column of the labels; --label names another")
            told[name] = kind
    columns = [
        _with_format(Column(name, told[name]), sample.column(name), options)
        if name in told
        else _infer_column(name, sample.column(name), options)
        for name in names
        if name not in (chosen, weighs)
    ]
    if all(column.kind == "drop" for column in columns):
        why = next((f": {column.name} is left out, {column.why}" for column in columns if column.why), "")
        raise DataError(f"there is no column to learn from besides the label{why}")
    saved = replace(options, decimal="," if options.decimal == "," else None)
    return TableEncoder(tuple(columns), chosen, bits, grams, order=tuple(names), weight=weighs, options=saved)


def infer_decimal(cells: Iterable[str], default: str = ".") -> str:
    """The decimal mark with which more cells are numbers; the default if no cell can tell.

    >>> infer_decimal(["1,5", "2,25", "1.400"]), infer_decimal(["1,400", "x"])
    (',', '.')
    """
    votes = 0
    for cell in cells:
        if "," in cell or "." in cell:
            comma, point = (read_number(cell, mark) is not None for mark in ",.")
            votes += comma - point
    return default if votes == 0 else "," if votes > 0 else "."


def _last_that_can_be(sample: Any, names: list[str], options: ReadOptions) -> str:
    """The last column that can hold labels: it has a name, a value, and is no text whose lines mostly differ."""
    for name in reversed(names):
        if _is_unnamed(name):
            continue
        array = one_array(sample.column(name))
        column = _infer_column(name, array, options)
        if column.why == _NO_VALUE:
            continue
        there = array.drop_null()
        if column.kind != "text" or 2 * pc.count_distinct(there).as_py() <= len(there):
            return name
    return names[-1]


def choose_label(names: Sequence[str], label: str | None, *, measured: bool = True) -> str:
    """The column of the labels: the one that is named, else one with a telling name, else the last.

    A y of numbers (`measured`) beside an x is a coordinate, unless it is the last column.

    >>> choose_label(["x", "y", "kind"], None), choose_label(["x", "y"], None), choose_label(["y", "age"], None)
    ('kind', 'y', 'y')
    """
    if label is None:
        lower = {name.lower(): name for name in names}
        if measured and "x" in lower and names[-1] != lower.get("y"):
            lower.pop("y", None)
        return next((lower[known] for known in LABEL_NAMES if known in lower), names[-1])
    found = _find(names, label)
    if found is not None:
        return found
    raise ParameterError(f"label={label!r}: there is no such column; the {len(names)} are {listed(names)}")


def _find(names: Sequence[str], given: str) -> str | None:
    """A column by its name or its number, from 1."""
    if given in names:
        return given
    return names[int(given) - 1] if given.isdecimal() and 1 <= int(given) <= len(names) else None


def _infer_column(name: str, array: Any, options: ReadOptions) -> Column:
    array = one_array(array)
    kind = array.type
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    if any(check(kind) for check in numeric):
        if _counts_rows(name, array):
            return Column(name, "drop", why="it counts the rows")
        return Column(name, "number")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Column(name, "date")
    if not is_text(kind) and not pa.types.is_null(kind):
        return Column(name, "drop", why="it holds lists" if is_list(kind) else f"its type is {kind}")
    strings = as_strings(array)
    decimal, missing = options.decimal or ".", MISSING if options.missing is None else options.missing
    numbers, invalid = parse_numbers(strings, decimal, missing)
    there = int((~np.isnan(doubles_of(numbers))).sum())
    if mostly(there, invalid):
        if _counts_rows(name, numbers):
            return Column(name, "drop", why="it counts the rows")
        return Column(name, "number")
    for guess in (_with_format(Column(name, each), strings, options) for each in ("number", "date")):
        if guess.kind == "number" and guess.format:
            numbers, odd = parse_numbers(strings, decimal, missing, guess.format)
            if mostly(int((~np.isnan(doubles_of(numbers))).sum()), odd):
                return replace(guess, why=f"in {guess.format}")
        if guess.kind == "date":
            dates, odd = parse_dates(strings, missing, guess.format)
            if mostly(int(present(dates).sum()), odd):
                return replace(guess, why="month first" if guess.format else "")
    return _infer_words(name, strings, there, invalid)


def _with_format(column: Column, array: Any, options: ReadOptions) -> Column:
    """With the unit of a number, or the order of a date."""
    array = one_array(array)
    if column.kind not in ("number", "date") or not is_text(array.type):
        return column
    missing = MISSING if options.missing is None else options.missing
    cells = [cell for cell in as_strings(array)[:1000].to_pylist() if cell not in (None, *missing)]
    if column.kind == "number":
        return replace(column, format=infer_unit(cells))
    return replace(column, format="month" if infer_date_order(cells) == "month" else "")


def _infer_words(name: str, strings: Any, numbers: int, invalid: InvalidCells) -> Column:
    there = strings.drop_null()
    count = len(there)
    if not count:
        return Column(name, "drop" if _is_unnamed(name) else "category", why=_NO_VALUE)
    if pc.sum(pc.count_substring(there, " ")).as_py() >= 2 * count:
        return Column(name, "text")
    if count >= FEW and pc.count_distinct(there).as_py() == count:
        return Column(name, "drop", why="every value is different")
    if numbers >= count / 2:
        example = next(iter(invalid))
        return Column(
            name, "category", why=f"{numbers:,} of {count:,} cells are numbers, but not {example!r}: --number {name}?"
        )
    return Column(name, "category")


def _is_unnamed(name: str) -> bool:
    return name == "" or name.startswith("Unnamed: ")


def _counts_rows(name: str, array: Any) -> bool:
    """Is it the index of a frame: without a name, or with one that says so, and 0, 1, 2, … or 1, 2, 3, …?"""
    if not _is_unnamed(name) and re.sub(r"[\s_.-]", "", name.lower()) not in INDEX_NAMES:
        return False
    values = doubles_of(pc.cast(array, pa.float64(), safe=False))
    least = 2 if _is_unnamed(name) else 10
    return len(values) >= least and bool((np.diff(values) == 1).all()) and values[0] in (0.0, 1.0)
