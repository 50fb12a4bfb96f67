"""Parse text cells: numbers (currency, percent, thousands, units), dates and missing values.

Invariant: the value of a cell depends on the cell, the decimal mark and the format of its column alone, so a column is
read the same way in training and prediction.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rosenblatt.encode.arrow_numpy import (
    as_strings,
    bits_of,
    doubles_from,
    doubles_of,
    is_text,
    null_where,
    one_array,
    pa,
    pc,
    places_from,
    present,
    strings_from,
    values_of,
)
from rosenblatt.errors import DataError

# Cells that mean a missing value, in any column.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "#N/A", "<NA>", "\\N")
# A label may well be called None.
NO_LABEL = tuple(word for word in MISSING if word != "None")
# Cells that people write for a missing number; in other columns they may be words.
NO_VALUE = frozenset((
    "-", "--", "---", ".", "..", "–", "—", "*", "unknown", "unk", "missing", "n.a.", "na", "n/a", "#n/a", "null",
    "nan", "nil", "void", "blank", "empty", "tbd", "not available", "not applicable", "no data", "#value!", "#div/0!",
    "none", "#ref!", "#null!", "#num!", "#name?",
))  # fmt: skip
LONGEST_NUMBER = 64  # characters
LEAST_SHARE = 0.95  # of cells that are numbers, or dates, if the others differ from one another
LEAST_WITH_ONE_WORD = 0.5  # if all others are one and the same word without a digit

InvalidCells = dict[str, int]  # cells that do not fit the kind of their column, with counts

_PLAIN = {
    ".": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    ",": r"^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$",
}
_MONEY = "$€£¥₹"
_THOUSANDS = {".": ",'’\u00a0\u202f ", ",": ".'’\u00a0\u202f "}
_LOOSE = {
    decimal: re.compile(
        rf"(?P<out>\()?\s*(?P<sign>[+\-−])?\s*[{_MONEY}]?\s*(?P<sign2>[+\-−])?"
        rf"(?P<whole>\d{{1,3}}(?P<by>[{re.escape(_THOUSANDS[decimal])}])\d{{3}}(?:(?P=by)\d{{3}})*|\d+|)"
        rf"(?:{re.escape(decimal)}(?P<part>\d*))?(?P<power>[eE][+\-]?\d+)?\s*[%{_MONEY}]?\s*(?(out)\))"
    )
    for decimal in (".", ",")
}
_UNIT_BEFORE = re.compile(r"([A-Z]{3}|[A-Z]{1,3}[$€£])\s?(?=[\d(+-])")
_UNIT_BEHIND = re.compile(r"(?<=[\d.,)])\s*([A-Za-zµ°²³/]{1,9})\.?$")
_UNITS = frozenset((
    "kg", "g", "mg", "µg", "t", "lb", "lbs", "oz", "km", "m", "cm", "mm", "mi", "ft", "in", "yd", "l", "ml", "dl", "s",
    "sec", "min", "h", "hr", "hrs", "ms", "d", "day", "days", "week", "weeks", "month", "months", "yr", "yrs", "year",
    "years", "mph", "km/h", "kmh", "m/s", "w", "kw", "mw", "wh", "kwh", "v", "kv", "a", "ma", "hz", "khz", "mhz", "ghz",
    "b", "kb", "mb", "gb", "tb", "px", "°c", "°f", "c", "f", "k", "pa", "kpa", "bar", "psi", "kcal", "cal", "j", "kj",
    "n", "nm", "m²", "m³", "km²", "ha", "ppm", "rpm", "db", "usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "sek",
    "nok", "dkk", "pln", "czk", "huf", "aud", "cad", "nzd",
))  # fmt: skip
_TRUTH = {"true": 1.0, "false": 0.0}
_ZONE = r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*\s*(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$"
_ISO_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"
_TIME = r"(?:,?[ T]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\.\d+)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?)?"
_NUMERIC_DATE = re.compile(rf"(?P<a>\d{{1,4}})(?P<by>[/.-])(?P<b>\d{{1,2}})(?P=by)(?P<c>\d{{4}}|\d{{1,2}}){_TIME}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORD_DATE = re.compile(
    rf"(?:(?P<d1>\d{{1,2}})\.?[ -])?(?P<month>[A-Za-z]{{3,9}})\.?[ -](?:(?P<d2>\d{{1,2}}),? )?(?P<year>\d{{4}}){_TIME}"
)
_DATE_PARTS = ("year", "month", "day_of_week", "hour")


def read_number(text: str, decimal: str = ".") -> float | None:
    """The number in a cell, with separators of thousands, currencies, percent signs or brackets for a minus.

    Examples
    --------
    >>> [read_number(cell) for cell in ("1,234.5", "$5.00", "(3)", "12 %", "-€2", "1,23", "unknown")]
    [1234.5, 5.0, -3.0, 12.0, -2.0, None, None]
    >>> read_number("1.234,5 €", ",")
    1234.5
    """
    text = text.strip()
    if not text or len(text) > LONGEST_NUMBER:
        return None
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    found = _LOOSE[decimal].fullmatch(text)
    if found is None or not (found["whole"] or found["part"]) or (found["sign"] and found["sign2"]):
        # Infinity is a number, which the encoder then refuses with its line; NaN is a missing one.
        infinite = re.fullmatch(r"[+-−]?(inf|infinity)", text.lower())
        return float(text.lower().replace("−", "-")) if infinite else None
    digits = re.sub(r"\D", "", found["whole"])
    value = float(f"{digits or 0}.{found['part'] or 0}{found['power'] or ''}")
    minus = (found["sign"] or found["sign2"] or "+") != "+"
    return -value if minus != bool(found["out"]) else value


def read_date(text: str, order: str = "") -> str | None:
    """A date as ISO 8601 has it, without its zone; `order` is "month" if the month comes first, as in the USA.

    >>> [read_date(cell) for cell in ("31.12.2024", "2024/12/31", "31 Dec 2024", "12/31/2024")]
    ['2024-12-31', '2024-12-31', '2024-12-31', None]
    >>> read_date("12/31/2024 1:05 PM", "month")
    '2024-12-31T13:05:00'
    """
    found = _NUMERIC_DATE.fullmatch(text)
    if found:
        a, b, c = (int(found[name]) for name in "abc")
        if len(found["a"]) == 4:
            year, month, day = a, b, c
        elif len(found["a"]) > 2 or len(found["c"]) != 4:
            return None
        else:
            year, (month, day) = c, ((a, b) if order == "month" else (b, a))
    else:
        found = _WORD_DATE.fullmatch(text)
        if not found or found["month"][:3].lower() not in _MONTHS or not (found["d1"] or found["d2"]):
            return None
        year, month, day = int(found["year"]), _MONTHS.index(found["month"][:3].lower()) + 1, 0
        day = int(found["d1"] or found["d2"])
    try:
        if found["hour"] is None:
            return datetime.date(year, month, day).isoformat()
        hour, half = int(found["hour"]), (found["half"] or "").lower()[:1]
        hour = hour % 12 + 12 * (half == "p") if half else hour
        return datetime.datetime(year, month, day, hour, int(found["minute"]), int(found["second"] or 0)).isoformat()
    except ValueError:
        return None


def infer_date_order(cells: Sequence[str]) -> str:
    """ "month" or "day": which comes first in dates such as 12/31/2024; "month" for slashes if none can tell."""
    votes = Counter[str]()
    for cell in cells:
        if (found := _NUMERIC_DATE.fullmatch(cell)) and len(found["a"]) <= 2:
            first, second = int(found["a"]), int(found["b"])
            slash = "month" if found["by"] == "/" else "day"
            votes["day" if first > 12 else "month" if second > 12 else f"maybe {slash}"] += 1
    sure = votes["day"] or votes["month"]
    best = max(("day", "month"), key=lambda order: votes[order if sure else f"maybe {order}"])
    return best if votes else ""


def infer_unit(cells: Sequence[str]) -> str:
    """The unit or currency code that nearly all cells have beside a number, such as kg or USD; else empty."""
    found = Counter[str]()
    for cell in cells:
        before, behind = _UNIT_BEFORE.match(cell), _UNIT_BEHIND.search(cell)
        unit = (before or behind or ("", ""))[1]
        if unit and (unit.lower() in _UNITS or unit[-1] in "$€£"):
            found[unit] += 1
    unit, count = found.most_common(1)[0] if found else ("", 0)
    return unit if count >= max(2, LEAST_SHARE * len(cells)) else ""


def trimmed(array: Any) -> Any:
    """Strings without surrounding spaces."""
    return pc.utf8_trim_whitespace(array)


def without(array: Any, words: Sequence[str]) -> Any:
    """Strings with null for each of the words."""
    array = one_array(array)
    return null_where(bits_of(pc.is_in(array, value_set=strings_from(words))), array)


def parse_numbers(
    array: Any, decimal: str = ".", missing: Sequence[str] = MISSING, unit: str = ""
) -> tuple[Any, InvalidCells]:
    """Strings as doubles, NaN if there is none; and the cells that are neither numbers nor missing."""
    text = trimmed(one_array(array))
    plain = bits_of(pc.match_substring_regex(text, _PLAIN[decimal]))
    if any(word in missing for word in ("0", "-1")) or any(re.fullmatch(r"[+-]?[\d.,]+", word) for word in missing):
        plain &= ~bits_of(pc.is_in(text, value_set=strings_from(missing)))
    kept = null_where(~plain, text)
    if decimal == ",":
        kept = pc.replace_substring(kept, ",", ".")
    values = doubles_of(pc.cast(kept, pa.float64())).copy()

    def number_of(word: str) -> float | None:
        if word in missing:
            return None
        if unit:
            word = re.sub(rf"^{re.escape(unit)}\s*(?=[\d(+.,-])|(?<=[\d.,)])\s*{re.escape(unit)}$", "", word)
        return read_number(word, decimal)

    rest = np.flatnonzero(~plain & present(text))
    found, invalid = _by_distinct(text, rest, number_of, missing)
    values[rest] = np.array([np.nan if number is None else number for number in found], np.float64)
    return doubles_from(values), invalid


def parse_dates(array: Any, missing: Sequence[str] = MISSING, order: str = "") -> tuple[Any, InvalidCells]:
    """Strings as time stamps by the clock of their zone, null if there is none; and the cells that are not dates."""
    text = pc.replace_substring_regex(trimmed(one_array(array)), _ZONE, r"\1\2")
    iso = bits_of(pc.match_substring_regex(text, _ISO_DATE))
    try:
        stamps = pc.cast(null_where(~iso, text), pa.timestamp("us"))
    except pa.ArrowInvalid:  # such as the 31st of February
        iso[:] = False
        stamps = pa.nulls(len(text), pa.timestamp("us"))
    rest = np.flatnonzero(present(text) & ~iso)
    if not len(rest):
        return stamps, {}

    def date_of(word: str) -> str | None:
        if re.match(_ISO_DATE, word):
            try:
                return datetime.datetime.fromisoformat(word).isoformat()
            except ValueError:
                return None
        return None if word in missing else read_date(word, order)

    found, invalid = _by_distinct(text, rest, date_of, missing)
    more = np.full(len(text), None, object)
    more[rest] = found
    return pc.coalesce(stamps, pc.cast(strings_from(more.tolist()), pa.timestamp("us"))), invalid


def _by_distinct(
    text: Any, rows: Any, parse: Callable[[str], Any], missing: Sequence[str]
) -> tuple[list[Any], InvalidCells]:
    """The parsed cells of some rows, each distinct one parsed once; and those that cannot be parsed."""
    if not len(rows):
        return [], {}
    words = text.take(places_from(rows)).dictionary_encode()
    distinct, places = words.dictionary.to_pylist(), values_of(words.indices, np.int32)
    parsed = [parse(word) for word in distinct]
    counts = np.bincount(places, minlength=len(distinct)).tolist()
    invalid = {
        word: count
        for word, count, value in zip(distinct, counts, parsed, strict=True)
        if value is None and word not in missing
    }
    return [parsed[place] for place in places.tolist()], invalid


def mostly(right: int, invalid: InvalidCells) -> bool:
    """Are so many cells right that the others can be missing values?

    Few of them, or all of them one word without a digit, which then is the file's word for "missing". Words that people
    commonly write for it may be as many as the numbers.
    """
    if not right or right < LEAST_WITH_ONE_WORD * (right + sum(invalid.values())):
        return False
    invalid = {word: count for word, count in invalid.items() if word.lower() not in NO_VALUE}
    wrong = sum(invalid.values())
    if len(invalid) == 1 and not any(c.isdigit() for word in invalid for c in word):
        return right >= LEAST_WITH_ONE_WORD * (right + wrong)
    return right >= LEAST_SHARE * (right + wrong)


def merge_invalid(into: InvalidCells, more: InvalidCells, most: int = 1000) -> None:
    """Add up counts; words beyond the first thousand count as one."""
    for word, count in more.items():
        key = word if word in into or len(into) < most else "…"
        into[key] = into.get(key, 0) + count


def convert(
    array: Any, name: str, kind: str, *, decimal: str, missing: Sequence[str], format: str
) -> tuple[Any, InvalidCells]:
    """The array of a column as numbers, dates or strings; and the cells that are not."""
    found = array.type
    try:
        if kind == "number":
            if is_text(found):
                return parse_numbers(as_strings(array), decimal, missing, format)
            array = array if pa.types.is_float64(found) else pc.cast(array, pa.float64(), safe=False)
            markers = [value for value in map(read_number, missing) if value is not None] if missing != MISSING else []
            if markers:
                array = doubles_from(np.where(np.isin(doubles_of(array), markers), np.nan, doubles_of(array)))
            return array, {}
        if kind == "date":
            if is_text(found):
                return parse_dates(as_strings(array), missing, format)
            return _by_the_clock(pc.cast(array, pa.timestamp("us", getattr(found, "tz", None)), safe=False)), {}
        return as_strings(array), {}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"column {name!r}: {str(error).splitlines()[0]}") from None


def categories(array: Any, name: str, kind: str) -> list[tuple[str, Any]]:
    """The parts of a category or a date, each named, as strings."""
    if kind == "category":
        return [(name, array)]
    return [(f"{name}.{part}", pc.cast(getattr(pc, part)(array), pa.string())) for part in _DATE_PARTS]


def _by_the_clock(dates: Any) -> Any:
    """Dates with a zone that is an offset, such as +02:00, as its clock shows them; others unchanged.

    PyArrow 16, the oldest that is allowed, takes the hour of named zones alone.
    """
    offset = re.fullmatch(r"([+-])(\d\d):?(\d\d)", dates.type.tz or "")
    if not offset:
        return dates
    sign, hours, minutes = offset.groups()
    ahead = (1 if sign == "+" else -1) * (60 * int(hours) + int(minutes)) * 60_000_000
    return pc.cast(pc.add(pc.cast(dates, pa.int64()), pa.scalar(ahead, pa.int64())), pa.timestamp("us"))
