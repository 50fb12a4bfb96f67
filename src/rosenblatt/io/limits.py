"""Limits on sizes that a file can claim.

Invariant: every such size is bounded here, by a limit with a name that the user can raise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from rosenblatt.errors import DataError, ParameterError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
FREE_GROWTH = 1 << 30  # bytes that any compressed file may grow to
MOST_COLUMNS = 100_000  # of a table
MOST_DOCUMENTS = 10_000_000  # files in a folder of documents


@dataclass(frozen=True)
class Limits:
    """The limits of reading.

    Attributes
    ----------
    line : bytes of a line, of a record of a table, of a document
    expansion : decompressed bytes per byte of a file, beyond the first gigabyte
    classes : different labels

    Examples
    --------
    >>> Limits(classes=2).classes, Limits().classes
    (2, 65536)
    """

    line: int = 64 << 20
    expansion: int = 1000
    classes: int = 65_536

    @classmethod
    def parse(cls, words: Sequence[str]) -> Limits:
        """The default limits, but for those given as ``name=size``.

        Examples
        --------
        >>> Limits.parse(["line=1G", "classes=100000"]).line
        1073741824
        >>> Limits.parse(["lines=1G"])
        Traceback (most recent call last):
            ...
        rosenblatt.errors.ParameterError: limit 'lines=1G': write line=, expansion= or classes= and a size such as \
500, 64K, 10M or 2G
        """
        found: Limits = parse_limits(cls(), words)
        return found

    def check_columns(self, count: int, name: str) -> None:
        """Raise if a table has too many columns."""
        if count > MOST_COLUMNS:
            raise DataError(f"{name} has {count:,} columns, and the limit is {MOST_COLUMNS:,}")


def parse_limits(limits: Any, words: Sequence[str]) -> Any:
    """A dataclass of limits, changed by ``name=size``."""
    names = [each.name for each in fields(limits)]
    for word in words:
        match = re.fullmatch(r"(\w+)=(\d{1,15})([KMGT]?)", word)
        if match is None or match[1] not in names or int(match[2]) == 0:
            known = "=, ".join(names[:-1]) + f"= or {names[-1]}="
            raise ParameterError(f"limit {word!r}: write {known} and a size such as 500, 64K, 10M or 2G")
        limits = replace(limits, **{match[1]: int(match[2]) * _UNITS[match[3]]})
    return limits


DEFAULT_LIMITS = Limits()


def format_size(size: int) -> str:
    """A size with its unit.

    >>> format_size(64 << 20), format_size(1500)
    ('64 MB', '1500 bytes')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"
