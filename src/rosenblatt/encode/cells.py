"""Parse text cells: numbers (currency, percent, thousands, units), dates and missing values; Arrow arrays as NumPy.

Invariant: the value of a cell depends on the cell, the decimal mark and the format of its column alone, so a column is
read the same way in training and prediction.

pyarrow is imported on first use, since svmlight files never need it. Its own conversions import pandas if that is
installed, which takes longer than to learn a small file: the functions below go by the buffers.
"""

from __future__ import annotations

import contextlib
import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray


class LazyModule:
    """A module that is imported on the first access to an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # the next look costs nothing
        return found


pa: Any = LazyModule("pyarrow")
pc: Any = LazyModule("pyarrow.compute")


# Cells that mean a missing value, in any column.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "?", "#N/A", "<NA>", "\\N")
# A label may well be called None.
NO_LABEL = tuple(word for word in MISSING if word != "None")
# Cells that people write for a missing number; in other columns they may be words.
NO_VALUE = frozenset((
    "-", "--", "---", ".", "..", "–", "—", "*", "unknown", "unk", "missing", "n.a.", "na", "n/a", "#n/a", "null",
    "nan", "nil", "void", "blank", "empty", "tbd", "not available", "not applicable", "no data", "#value!", "#div/0!",
    "none", "#ref!", "#null!", "#num!", "#name?", "0000-00-00", "0000-00-00 00:00:00",
))  # fmt: skip
LONGEST_NUMBER = 64  # characters
LEAST_SHARE = 0.95  # of cells that are numbers, or dates, if the others differ from one another
LEAST_WITH_ONE_WORD = 0.5  # if all others are one and the same word without a digit

InvalidCells = dict[str, int]  # cells that do not fit the kind of their column, with counts

_PLAIN = {
    ".": r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    ",": r"^[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?$",
}
_MONEY = "$€£¥₹₩₽₺₪₫฿₴₱"
_SPACES = "\u00a0\u2007\u2009\u202f "
_THOUSANDS = {".": f",'’{_SPACES}", ",": f".'’{_SPACES}"}
_LOOSE = {
    decimal: re.compile(
        rf"(?:[{_MONEY}]\s*(?=\())?(?P<out>\()?\s*(?P<sign>[+\-−])?\s*[{_MONEY}]?\s*(?P<sign2>[+\-−])?"
        rf"(?P<whole>\d{{1,3}}(?P<by>[{re.escape(_THOUSANDS[decimal])}])\d{{3}}(?:(?P=by)\d{{3}})*|"
        rf"\d{{1,2}}(?:,\d\d)+,\d{{3}}|\d+|)"  # the second is India's
        rf"(?:{re.escape(decimal)}(?P<part>\d*)|(?<=\d)[,.:][\-–—]{{1,2}}|/-)?(?P<power>[eE][+\-]?\d+)?(?P<sign3>(?<=\d\d)[\-−])?"
        rf"\s*[%‰{_MONEY}]?\s*(?(out)\))"
    )
    for decimal in (".", ",")
}
# Letters beside a number: USD 12, R$ 12, Rs. 12; 12 kg, 12 zł, 12 km/h.
_UNIT_BEFORE = re.compile(rf"^([A-Z]{{3}}|[A-Za-z]{{1,3}}[.{_MONEY}])\s?(?=[\d(+\-−])")
_UNIT_BEHIND = re.compile(
    r"(?<=[\d.,)\-–—])\s*((?:sq\.?\s?)?(?:[^\W\d_]|[°²³/]){1,9}(?:(?<=m)[23]|/100\s?km)?\.?)$"
)  # the last two are m2 and l/100 km
_CODE = re.compile(r"[A-Z]{3}-\d+")  # ORD-1001 in every cell: not amounts below 0
_PLURAL = re.compile(r"(?<=[^\W\d_]{3})s$")  # 1 year, 2 years
POWERS = "k, M, B"  # the unit of a column with 350K beside 1.2M
_POWERS = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "million": 1e6, "B": 1e9, "bn": 1e9, "billion": 1e9}
_TRUTH = {"true": 1.0, "false": 0.0}
_ZONE = r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?\d*\s*(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$"
_ISO_DATE = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$"
_TIME = (
    r"(?:(?:,?[ T]+|:)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\.\d+)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s*(?:Z|UTC|GMT|Uhr|[+-]\d\d:?\d\d)?)?"
)
_NUMERIC_DATE = re.compile(
    rf"(?P<a>\d{{1,4}})(?P<by>[/.-]) ?(?P<b>\d{{1,2}})(?P=by) ?(?P<c>\d{{4}}|\d{{1,2}})\.?{_TIME}"
)
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?(\s*[AaPp]\.?[Mm]\.?)?(\s*Uhr)?")
# In six languages beside English, without accents; their first three letters, or more, are enough.
_MONTHS = (
    "january januar janvier enero gennaio janeiro", "february februar fevrier febbraio fevereiro",
    "march marz maerz mrz mars marzo marco maart mrt", "april avril abril", "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho", "july juli juillet julio luglio julho", "august aout agosto augustus",
    "september septembre settembre setembro setiembre", "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro", "december dezember decembre diciembre dicembre dezembro",
)  # fmt: skip
_WORD = r"[^\W\d_]{3,12}"
_WORD_DATE = re.compile(
    rf"(?:(?:{_WORD}|[^\W\d_]{{2}})[.,]{{1,2}} ?|{_WORD} )?"  # the day of the week
    rf"(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?[ /-](?:de )?)?(?P<month>{_WORD})\.?[ /-](?:de )?"
    rf"(?:(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,? )?(?P<year>\d{{4}}|(?<=[A-Za-z]-)\d\d){_TIME}"
)
_DATE_PARTS = ("year", "month", "day_of_week", "hour")


@lru_cache(1 << 14)  # the cells of a sample are read for the dialect, the header and the kind of each column
def read_number(text: str, decimal: str = ".", unit: str = "") -> float | None:
    """The number in a cell, with separators of thousands, currencies, percent signs or brackets for a minus.

    A `unit` may come before or after it.

    Examples
    --------
    >>> [read_number(cell) for cell in ("1,234.5", "$5.00", "(3)", "12 %", "-€2", "1,23", "unknown")]
    [1234.5, 5.0, -3.0, 12.0, -2.0, None, None]
    >>> read_number("1.234,5 €", ",")
    1234.5
    """
    text = text.strip()
    power = 1.0
    if unit == POWERS:
        letters = text.lstrip(f"0123456789.,+-− {_MONEY}")
        text, power = text.removesuffix(letters), _POWERS.get(letters, 1.0)
    elif unit:
        letters = re.escape(unit)
        ends = letters + ("s?" if _PLURAL.search(f"{unit}s") else "")
        text = re.sub(rf"^{letters}\s*(?=[\d(+.,\-−])|(?<=[\d.,)\-–—])\s*{ends}$", "", text)
    if not text or len(text) > LONGEST_NUMBER:
        return None
    if re.fullmatch(_PLAIN[decimal], text):
        return power * float(text.replace(decimal, "."))
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    found = _LOOSE[decimal].fullmatch(text)
    signs = [found[name] for name in ("sign", "sign2", "sign3")] if found else []
    if found is None or not (found["whole"] or found["part"]) or sum(map(bool, signs)) > 1:
        # Infinity is a number, for which the encoder raises with its line; NaN is missing.
        infinite = re.fullmatch(r"[+\-−]?(inf|infinity)", text.lower())
        return float(text.lower().replace("−", "-")) if infinite else None
    digits = re.sub(r"\D", "", found["whole"])
    value = float(f"{digits or 0}.{found['part'] or 0}{found['power'] or ''}")
    minus = found["out"] or any(sign not in (None, "+") for sign in signs)
    return power * (-value if minus else value)


def read_date(text: str, order: str = "") -> str | None:
    """A date in ISO 8601, without its zone; `order` is "month" if the month comes first, as in the USA.

    >>> [read_date(cell) for cell in ("31.12.2024", "2024/12/31", "31 Dec 2024", "12/31/2024")]
    ['2024-12-31', '2024-12-31', '2024-12-31', None]
    >>> read_date("12/31/24 1:05 PM", "month"), read_date("8:30")
    ('2024-12-31T13:05:00', '1970-01-01T08:30:00')
    """
    with contextlib.suppress(ValueError):
        if re.match(_ISO_DATE, text):
            return datetime.datetime.fromisoformat(text).isoformat()
    text = re.sub(r"(?<=\d)[年月년월]\s*(?=\d)", "/", re.sub(r"(?<=\d)[日일]", "", text))
    if _CLOCK.fullmatch(text):
        text = f"1970-01-01 {text}"
    if found := _NUMERIC_DATE.fullmatch(text):
        year, month, day = (int(found[name]) for name in "abc")
        if len(found["a"]) != 4:
            if len(found["a"]) > 2 or len(found["c"]) == 1:
                return None
            year, month, day = _full_year(found["c"]), *((year, month) if order == "month" else (month, year))
    else:
        found = _WORD_DATE.fullmatch(text)
        month = _month_of(found["month"]) if found else 0
        if not found or not month or (found["d1"] and found["d2"]):
            return None
        year, day = _full_year(found["year"]), int(found["d1"] or found["d2"] or 1)
    try:
        if found["hour"] is None:
            return datetime.date(year, month, day).isoformat()
        hour, half = int(found["hour"]), (found["half"] or "").lower()[:1]
        hour = hour % 12 + 12 * (half == "p") if half else hour
        return datetime.datetime(year, month, day, hour, int(found["minute"]), int(found["second"] or 0)).isoformat()
    except ValueError:
        return None


def _full_year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year < 69 else 1900)  # as POSIX has it


@cache
def _month_of(word: str) -> int:
    """The number of a month, from 1, by its name or its first letters; else 0."""
    letters = unicodedata.normalize("NFKD", word.lower())
    begin = re.escape("".join(letter for letter in letters if not unicodedata.combining(letter)))
    return next((at for at, names in enumerate(_MONTHS, 1) if re.search(rf"\b{begin}", names)), 0)


def is_month_first(cells: Sequence[str], day_first: bool | None = None) -> bool:
    """True if the month comes first in dates such as 12/31/2024: with slashes, also if none of them can tell.

    `day_first` holds unless it leaves too many cells without a date.
    """
    votes = Counter[str]()
    for cell in cells:
        if (found := _NUMERIC_DATE.fullmatch(cell)) and len(found["a"]) <= 2:
            first, second = int(found["a"]), int(found["b"])
            slash = "month" if found["by"] == "/" else "day"
            votes["day" if first > 12 else "month" if second > 12 else f"maybe {slash}"] += 1
    if day_first is not None and votes["month" if day_first else "day"] <= (1 - LEAST_SHARE) * votes.total():
        return not day_first
    is_sure = votes["day"] or votes["month"]
    return votes["month"] > votes["day"] if is_sure else votes["maybe month"] > votes["maybe day"]


def infer_unit(cells: Sequence[str]) -> str:
    """The letters that nearly all cells have beside a number, such as kg or USD; else empty.

    >>> infer_unit(["18.4 kg", "3 kg"]), infer_unit(["Rs. 12", "Rs. 7"]), infer_unit(["1.2M", "350K"])
    ('kg', 'Rs.', 'k, M, B')
    """
    found = Counter[str]()
    if all(map(_CODE.fullmatch, cells)):
        return ""
    for cell, count in Counter(cells).items():
        if match := _UNIT_BEFORE.match(cell) or _UNIT_BEHIND.search(cell):
            found[_PLURAL.sub("", match[1])] += count
    if len(found) > 1 and found.keys() <= _POWERS.keys():
        return POWERS if found.total() >= LEAST_WITH_ONE_WORD * len(cells) else ""
    unit, count = found.most_common(1)[0] if found else ("", 0)
    return unit if count >= max(2, LEAST_SHARE * len(cells)) else ""


def without_unit(cell: str) -> str:
    """The cell without letters before or after its number."""
    return _UNIT_BEHIND.sub("", _UNIT_BEFORE.sub("", cell))


def clean(array: Any, missing: Sequence[str]) -> Any:
    """Strings without surrounding spaces, and null for each of the words that mean a missing value."""
    text = pc.utf8_trim_whitespace(as_strings(one_array(array)))
    return null_where(flags_of(pc.is_in(text, value_set=_array_of(tuple(missing)))), text)


def _parse_numbers(text: Any, decimal: str, missing: Sequence[str], unit: str) -> tuple[Any, InvalidCells]:
    """Strings as doubles, NaN or null if there is none; and the cells that are neither numbers nor missing."""
    if decimal == "." and all(read_number(word) is None for word in missing):
        with contextlib.suppress(pa.ArrowInvalid):  # a cell is not a plain number, or missing
            return pc.cast(text, pa.float64()), {}

    def parse(words: Any) -> tuple[Any, Any]:
        plain = flags_of(pc.match_substring_regex(words, _PLAIN[decimal]))
        values = doubles_of(pc.cast(pc.replace_substring(null_where(~plain, words), decimal, "."), pa.float64())).copy()
        rest = np.flatnonzero(~plain)
        found = [read_number(word, decimal, unit) for word in words.take(numbers_from(rest)).to_pylist()]
        values[rest] = np.array([np.nan if number is None else number for number in found], np.float64)
        return numbers_from(values), rest[[number is None for number in found]]

    return _by_distinct(clean(text, missing), parse)


def _parse_dates(text: Any, missing: Sequence[str], order: str) -> tuple[Any, InvalidCells]:
    """Strings as time stamps by the clock of their zone, null if there is none; and the cells that are not dates."""

    def parse(words: Any) -> tuple[Any, Any]:
        stamps = pa.nulls(len(words), pa.timestamp("us"))
        with contextlib.suppress(pa.ArrowInvalid):  # a date such as the 31st of February
            is_iso = flags_of(pc.match_substring_regex(words, _ISO_DATE))
            stamps = pc.cast(null_where(~is_iso, words), pa.timestamp("us"))
        rest = null_where(present(stamps), words).to_pylist()
        found = strings_from([None if word is None else read_date(word, order) for word in rest])
        stamps = pc.coalesce(stamps, pc.cast(found, pa.timestamp("us")))
        return stamps, np.flatnonzero(~present(stamps))

    return _by_distinct(pc.replace_substring_regex(clean(text, missing), _ZONE, r"\1\2"), parse)


def is_missing(cell: Any) -> bool:
    """True if a cell of a Python row is None, NaN, NaT or pandas' NA."""
    try:
        return cell is None or bool(cell != cell)
    except (TypeError, ValueError):  # the truth of NA is unknown, and that of an array
        return not hasattr(cell, "shape")


def text_of_cell(cell: Any) -> str | None:
    """A cell of a Python row as it is written in a file."""
    if is_missing(cell):
        return None
    if isinstance(cell, np.generic) and not isinstance(cell, np.datetime64):
        cell = cell.item()
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat())
    return text_of_number(cell) if isinstance(cell, float) else str(cell)


def _by_distinct(text: Any, parse: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, InvalidCells]:
    """The cells, each distinct one parsed once, and the invalid ones; `parse` gives values and invalid places."""
    words = text.dictionary_encode()
    values, invalid = parse(words.dictionary)
    counts = np.bincount(values_of(words.indices.drop_null(), np.int32), minlength=len(words.dictionary))
    return values.take(words.indices), {words.dictionary[int(at)].as_py(): int(counts[at]) for at in invalid}


def mostly(right: int, invalid: InvalidCells) -> bool:
    """True if so many cells are valid that the others can be missing values.

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


def convert(
    array: Any, kind: str, *, decimal: str = ".", missing: Sequence[str] = MISSING, format: str = ""
) -> tuple[Any, InvalidCells]:
    """The array of a column as numbers, dates or strings; and the cells that are not. Durations are seconds."""
    array = one_array(array)
    if kind == "number":
        if is_text(array.type):
            return _parse_numbers(array, decimal, missing, format)
        if pa.types.is_duration(array.type):
            array = pc.divide(pc.cast(_ticks(array, pa.duration("us")), pa.float64(), safe=False), 1e6)
        array = pc.cast(array, pa.float64(), safe=False)
        markers = [value for value in map(read_number, missing) if value is not None]
        if markers:
            array = numbers_from(np.where(np.isin(doubles_of(array), markers), np.nan, doubles_of(array)))
        return array, {}
    if kind == "date":
        if not pa.types.is_temporal(array.type):
            return _parse_dates(array, missing, format)
        if pa.types.is_time(array.type):  # of the first day, as times in text
            array = pc.cast(_ticks(array, pa.time64("us")), pa.timestamp("us"))
        return _by_the_clock(pc.cast(array, pa.timestamp("us", getattr(array.type, "tz", None)), safe=False)), {}
    return clean(array, missing), {}


def _ticks(array: Any, kind: Any) -> Any:
    return pc.cast(pc.cast(array, kind, safe=False), pa.int64())


def categories(array: Any, name: str, kind: str) -> list[tuple[str, Any]]:
    """The parts of a category or a date, each named, as strings."""
    if kind == "category":
        return [(name, array)]
    parts = {part: getattr(pc, part)(array) for part in _DATE_PARTS}
    is_day = pc.equal(pc.floor_temporal(array, unit="day"), array)  # without a time, or at midnight
    parts["hour"] = pc.if_else(is_day, None, parts["hour"])
    return [(f"{name}.{part}", pc.cast(values, pa.string())) for part, values in parts.items()]


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


# -- Arrow


def one_array(column: Any) -> Any:
    """A column as one array without a dictionary."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        return column
    if str(column.type.value_type) == "string_view":  # which PyArrow cannot decode
        column = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
    return column.dictionary_decode()


def values_of(array: Any, dtype: Any) -> NDArray[Any]:
    """The values of an array of numbers of this type; any value if one is missing."""
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, array.offset + len(array))[array.offset :]


def flags_of(array: Any) -> NDArray[np.bool_]:
    """The values of an array of booleans, false for null."""
    known = pc.and_kleene(array, pc.is_valid(array)) if array.null_count else array
    return values_of(pc.cast(known, pa.uint8()), np.uint8).view(np.bool_)


def present(array: Any) -> NDArray[np.bool_]:
    """Where the array has a value."""
    return flags_of(pc.is_valid(array)) if array.null_count else np.ones(len(array), bool)


def doubles_of(array: Any) -> NDArray[np.float64]:
    """The values of an array of doubles, NaN for missing ones."""
    values = values_of(array, np.float64)
    return np.where(present(array), values, np.nan) if array.null_count else values


def as_strings(array: Any) -> Any:
    """Any values as strings: 1.0 becomes 1, so that the spelling in the file does not matter."""
    if pa.types.is_boolean(array.type):
        return pc.if_else(array, "True", "False")
    if not pa.types.is_floating(array.type):
        return array if pa.types.is_string(array.type) else pc.cast(array, pa.string())
    encoded = pc.cast(array, pa.float64()).dictionary_encode()
    return strings_from(list(map(text_of_cell, encoded.dictionary.to_pylist()))).take(encoded.indices)


def text_of_number(value: float) -> str:
    return str(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)


def buffers_of(array: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The buffer and the offsets of a string array."""
    array = pc.cast(array, pa.large_string())
    _, offsets, data = array.buffers()
    begins = np.frombuffer(offsets, np.int64)[array.offset :][: len(array) + 1] if offsets else np.zeros(1, np.int64)
    return np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8), begins


def is_list(kind: Any) -> bool:
    return any(check(kind) for check in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def is_text(kind: Any) -> bool:
    """True for Arrow's string types."""
    return str(kind) in ("string", "large_string", "string_view")


def strings_from(texts: Sequence[str | None]) -> Any:
    """An Arrow array of strings."""
    builder = pa.lib.StringBuilder()
    builder.append_values(None if text is None else text.encode("utf-8", "replace") for text in texts)
    return builder.finish()


_array_of = cache(strings_from)


def numbers_from(values: NDArray[Any]) -> Any:
    """An Arrow array of numbers or booleans; NaN stays NaN."""
    own = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if own.dtype == bool:
        return pc.cast(numbers_from(own.view(np.uint8)), pa.bool_())
    return pa.Array.from_buffers(pa.from_numpy_dtype(own.dtype), len(own), [None, pa.py_buffer(own)])


def null_where(mask: NDArray[np.bool_], array: Any) -> Any:
    """The array with null where the mask is true."""
    return pc.if_else(numbers_from(mask), pa.nulls(len(mask), array.type), array) if mask.any() else array
