"""A column in the type of its kind, and the categories that it has."""

from __future__ import annotations

import re
from typing import Any

from rosenblatt.data.cells import dates_of, numbers_of
from rosenblatt.data.deferred import pa, pc
from rosenblatt.data.vectors import as_strings, is_text
from rosenblatt.errors import DataError

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
