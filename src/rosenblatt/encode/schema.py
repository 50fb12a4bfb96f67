"""What the columns of a table are, by the look of many rows.

Invariant: what is guessed can be said in one line for each column, and gives way to what the user says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rosenblatt.encode.arrow_numpy import as_strings, doubles_of, is_text, one_array, present
from rosenblatt.encode.cells import MISSING, Strange, dates_of, mostly, numbers_of
from rosenblatt.encode.lines import BITS, Grams
from rosenblatt.encode.table import Column, ColumnEncoder, listed
from rosenblatt.errors import DataError, ParameterError

LABEL_NAMES = ("label", "class", "target", "y", "category")
FEW = 100  # rows that are too few to say that every value is different
# Names of columns that may count the rows.
INDEX_NAMES = frozenset((
    "id", "index", "idx", "row", "rows", "rownum", "rownumber", "rowid", "rowname", "rownames", "no", "nr", "#", "num",
    "number", "obs", "seq", "serialno", "sno", "slno", "recordid", "sampleid", "passengerid", "customerid", "userid",
))  # fmt: skip
_OTHER_DATE = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}([ T]\d{1,2}:\d\d.*)?")


_NO_VALUE = "it has no value"


def guess_columns(
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
    decimal: str = ".",
    missing: Sequence[str] = MISSING,
) -> ColumnEncoder:
    """An encoder for columns like those of an Arrow sample; what is named overrides what is guessed."""
    names = list(sample.schema.names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"the column name {twice!r} stands twice")
    if not names:
        raise DataError("there is no column to learn from")
    ys = [name for name in names if name.lower() == "y"]
    measured = bool(ys) and _guess_column(ys[0], one_array(sample.column(ys[0])), decimal, missing).kind == "number"
    chosen = choose_label(names, label, measured=measured)
    if label is None and chosen == names[-1] and chosen.lower() not in LABEL_NAMES:
        chosen = _last_that_can_be(sample, names, decimal, missing)
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
        Column(name, told[name])
        if name in told
        else _guess_column(name, one_array(sample.column(name)), decimal, missing)
        for name in names
        if name not in (chosen, weighs)
    ]
    if all(column.kind == "drop" for column in columns):
        why = next((f": {column.name} is left out, {column.why}" for column in columns if column.why), "")
        raise DataError(f"there is no column to learn from besides the label{why}")
    return ColumnEncoder(tuple(columns), chosen, bits, grams, order=tuple(names), weight=weighs)


def _last_that_can_be(sample: Any, names: list[str], decimal: str, missing: Sequence[str]) -> str:
    """The last column that can hold labels: it has a name, a value, and is no text whose lines mostly differ."""
    for name in reversed(names):
        if _is_unnamed(name):
            continue
        array = one_array(sample.column(name))
        column = _guess_column(name, array, decimal, missing)
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


def _guess_column(name: str, array: Any, decimal: str, missing: Sequence[str]) -> Column:
    kind = array.type
    numeric = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    if any(check(kind) for check in numeric):
        if _counts_rows(name, array):
            return Column(name, "drop", why="it counts the rows")
        return Column(name, "number")
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Column(name, "date")
    if not is_text(kind) and not pa.types.is_null(kind):
        return Column(name, "drop", why="it holds lists" if _is_list(kind) else f"its type is {kind}")
    strings = as_strings(array)
    numbers, strange = numbers_of(strings, decimal, missing)
    there = int((~np.isnan(doubles_of(numbers))).sum())
    if mostly(there, strange):
        if _counts_rows(name, numbers):
            return Column(name, "drop", why="it counts the rows")
        return Column(name, "number")
    dates, odd = dates_of(strings, missing)
    if mostly(int(present(dates).sum()), odd):
        return Column(name, "date")
    return _guess_words(name, strings, there, strange)


def _guess_words(name: str, strings: Any, numbers: int, strange: Strange) -> Column:
    there = strings.drop_null()
    count = len(there)
    if not count:
        return Column(name, "drop" if _is_unnamed(name) else "category", why=_NO_VALUE)
    if pc.sum(pc.count_substring(there, " ")).as_py() >= 2 * count:
        return Column(name, "text")
    if count >= FEW and pc.count_distinct(there).as_py() == count:
        return Column(name, "drop", why="every value is different")
    if numbers >= count / 2:
        example = next(iter(strange))
        return Column(
            name, "category", why=f"{numbers:,} of {count:,} cells are numbers, but not {example!r}: --number {name}?"
        )
    example = there[0].as_py()
    if _OTHER_DATE.fullmatch(example) and all(_OTHER_DATE.fullmatch(each) for each in there[:100].to_pylist()):
        return Column(name, "category", why=f"dates are read as 2024-12-31, not {example!r}")
    return Column(name, "category")


def _is_list(kind: Any) -> bool:
    return any(check(kind) for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _is_unnamed(name: str) -> bool:
    return name == "" or name.startswith("Unnamed: ")


def _counts_rows(name: str, array: Any) -> bool:
    """Is it the index of a frame: without a name, or with one that says so, and 0, 1, 2, … or 1, 2, 3, …?"""
    if not _is_unnamed(name) and re.sub(r"[\s_.-]", "", name.lower()) not in INDEX_NAMES:
        return False
    values = doubles_of(pc.cast(array, pa.float64(), safe=False))
    least = 2 if _is_unnamed(name) else 10
    return len(values) >= least and bool((np.diff(values) == 1).all()) and values[0] in (0.0, 1.0)
