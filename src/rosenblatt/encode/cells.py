"""Parse text cells: numbers (currency, percent, thousands), dates and missing values.

Invariant: the value of a cell depends on the cell and the decimal mark alone, so a column is read the same way in
training and prediction.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
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

# A cell that says that there is no value, in any column.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "#N/A", "<NA>", "\\N")
# A label may well be called None.
NO_LABEL = tuple(word for word in MISSING if word != "None")
# A cell of a number column that people write where they have no value; in other columns it may be a word.
NO_VALUE = frozenset((
    "-", "--", "---", ".", "..", "–", "—", "*", "unknown", "unk", "missing", "n.a.", "na", "n/a", "#n/a", "null",
    "nan", "nil", "void", "blank", "empty", "tbd", "not available", "not applicable", "no data", "#value!", "#div/0!",
    "none", "#ref!", "#null!", "#num!", "#name?",
))  # fmt: skip
LONGEST_NUMBER = 64  # characters
LEAST_SHARE = 0.95  # of the cells that must be numbers, or dates, where the others differ from one another
LEAST_WITH_ONE_WORD = 0.5  # where all others are one and the same word without a digit

Strange = dict[str, int]  # cells that are not what their column is, and how many of each

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
_TRUTH = {"true": 1.0, "false": 0.0}
_ZONE = r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*\s*(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$"
# Day, month and year with points between them, as no country writes them in another order.
_POINTED = r"^(\d\d)\.(\d\d)\.(\d{4})(?:,? +(\d\d:\d\d(?::\d\d)?))?$"
_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"


def read_number(text: str, decimal: str = ".") -> float | None:
    """The number that a cell says, with separators of thousands, currencies, percent signs or brackets for a minus.

    Examples
    --------
    >>> [read_number(cell) for cell in ("1,234.5", "$5.00", "(3)", "12 %", "-€2", "1,23", "unknown")]
    [1234.5, 5.0, -3.0, 12.0, -2.0, None, None]
    >>> read_number("1.234,5", ",")
    1234.5
    """
    text = text.strip()
    if not text or len(text) > LONGEST_NUMBER:
        return None
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    found = _LOOSE[decimal].fullmatch(text)
    if found is None or not (found["whole"] or found["part"]) or (found["sign"] and found["sign2"]):
        return _nothing_finite(text)
    digits = re.sub(r"\D", "", found["whole"])
    value = float(f"{digits or 0}.{found['part'] or 0}{found['power'] or ''}")
    minus = (found["sign"] or found["sign2"] or "+") != "+"
    return -value if minus != bool(found["out"]) else value


def _nothing_finite(text: str) -> float | None:
    """Infinity is a number, which the reader then refuses with its line; NaN is a missing one."""
    return float(text.lower().replace("−", "-")) if re.fullmatch(r"[+-]?(inf|infinity)", text.lower()) else None


def trimmed(array: Any) -> Any:
    """Strings without the spaces around them."""
    return pc.utf8_trim_whitespace(array)


def without(array: Any, words: Sequence[str]) -> Any:
    """Strings with null where they are one of the words."""
    array = one_array(array)
    return null_where(bits_of(pc.is_in(array, value_set=strings_from(words))), array)


def numbers_of(array: Any, decimal: str = ".", missing: Sequence[str] = MISSING) -> tuple[Any, Strange]:
    """Strings as doubles, NaN where there is none; and what was neither a number nor a word for a missing one."""
    text = trimmed(one_array(array))
    plain = bits_of(pc.match_substring_regex(text, _PLAIN[decimal]))
    kept = null_where(~plain, text)
    if decimal == ",":
        kept = pc.replace_substring(kept, ",", ".")
    values = doubles_of(pc.cast(kept, pa.float64())).copy()
    strange: Strange = {}
    rest = np.flatnonzero(~plain & present(text))
    if len(rest):
        words = text.take(places_from(rest)).dictionary_encode()
        said = words.dictionary.to_pylist()
        places = values_of(words.indices, np.int32)
        counts = np.bincount(places, minlength=len(said)).tolist()
        found = [None if word in missing else read_number(word, decimal) for word in said]
        values[rest] = np.array([np.nan if number is None else number for number in found])[places]
        strange = {
            word: count
            for word, count, number in zip(said, counts, found, strict=True)
            if number is None and word not in missing
        }
    return doubles_from(values), strange


def dates_of(array: Any, missing: Sequence[str] = MISSING) -> tuple[Any, Strange]:
    """Strings as time stamps, as the clock stood there (the zone is left out), null where there is none."""
    text = pc.replace_substring_regex(trimmed(one_array(array)), _ZONE, r"\1\2")
    kept = _with_year_first(text)
    kept = null_where(~bits_of(pc.match_substring_regex(kept, _DATE)), kept)
    try:
        stamps = pc.cast(kept, pa.timestamp("us"))
    except pa.ArrowInvalid:  # such as the 31st of February
        words = kept.dictionary_encode()
        sound = np.array([_is_date(word) for word in words.dictionary.to_pylist()], bool)
        stamps = pc.cast(null_where(~sound, words.dictionary), pa.timestamp("us")).take(words.indices)
    strange: Strange = {}
    rest = np.flatnonzero(present(text) & ~present(stamps))
    if len(rest):
        words = text.take(places_from(rest)).dictionary_encode()
        counts = np.bincount(values_of(words.indices, np.int32)).tolist()
        found = zip(words.dictionary.to_pylist(), counts, strict=True)
        strange = {word: count for word, count in found if word not in missing}
    return stamps, strange


def _with_year_first(text: Any) -> Any:
    """Dates such as 31.12.2024 as 2024-12-31; a day or month may have one digit."""
    if not pc.any(pc.match_substring_regex(text, r"^\d?\d\.\d?\d\.\d{4}")).as_py():
        return text
    text = pc.replace_substring_regex(text, r"^(\d\.\d?\d\.\d{4})", r"0\1")
    text = pc.replace_substring_regex(text, r"^(\d\d\.)(\d\.\d{4})", r"\1" + r"0\2")  # a reference has one digit here
    return pc.utf8_rtrim_whitespace(pc.replace_substring_regex(text, _POINTED, r"\3-\2-\1 \4"))


def _is_date(word: str) -> bool:
    try:
        datetime.datetime.fromisoformat(word)
    except ValueError:
        return False
    return True


def mostly(right: int, strange: Strange) -> bool:
    """Are so many cells right that the others can be taken as missing?

    Few of them, or all of them one word without a digit, which then is how the file says "missing". Words that people
    commonly write for it may be as many as the numbers.
    """
    if not right or right < LEAST_WITH_ONE_WORD * (right + sum(strange.values())):
        return False
    strange = {word: count for word, count in strange.items() if word.lower() not in NO_VALUE}
    wrong = sum(strange.values())
    if len(strange) == 1 and not any(c.isdigit() for word in strange for c in word):
        return right >= LEAST_WITH_ONE_WORD * (right + wrong)
    return right >= LEAST_SHARE * (right + wrong)


def merge_strange(into: Strange, more: Strange, most: int = 1000) -> None:
    """Add up counts; words beyond the first thousand count as one."""
    for word, count in more.items():
        key = word if word in into or len(into) < most else "…"
        into[key] = into.get(key, 0) + count


_DATE_PARTS = ("year", "month", "day_of_week", "hour")


def converted(array: Any, name: str, kind: str) -> Any:
    """The array of a column as numbers, dates or strings."""
    found = array.type
    try:
        if kind == "number":
            if is_text(found):
                return numbers_of(as_strings(array))[0]
            return array if pa.types.is_float64(found) else pc.cast(array, pa.float64(), safe=False)
        if kind == "date":
            if is_text(found):
                return dates_of(as_strings(array))[0]
            return _by_the_clock(pc.cast(array, pa.timestamp("us", getattr(found, "tz", None)), safe=False))
        return as_strings(array)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"column {name!r}: {str(error).splitlines()[0]}") from None


def categories(array: Any, name: str, kind: str) -> list[tuple[str, Any]]:
    """The parts of a category or a date, each named, as strings."""
    if kind == "category":
        return [(name, array)]
    return [(f"{name}.{part}", pc.cast(getattr(pc, part)(array), pa.string())) for part in _DATE_PARTS]


def _by_the_clock(dates: Any) -> Any:
    """Dates with a zone that is a mere distance, such as +02:00, as its clock shows them; others as they are.

    PyArrow 16, the oldest that is allowed, takes the hour of named zones alone.
    """
    distance = re.fullmatch(r"([+-])(\d\d):?(\d\d)", dates.type.tz or "")
    if not distance:
        return dates
    sign, hours, minutes = distance.groups()
    ahead = (1 if sign == "+" else -1) * (60 * int(hours) + int(minutes)) * 60_000_000
    return pc.cast(pc.add(pc.cast(dates, pa.int64()), pa.scalar(ahead, pa.int64())), pa.timestamp("us"))
