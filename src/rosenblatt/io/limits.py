"""How much of anything is taken from outside before it is refused.

Invariant: every size that a file can claim is bounded here, by a limit with a name that the user can change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from rosenblatt.errors import ParameterError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Limits:
    """The limits of reading.

    Attributes
    ----------
    line : bytes of a line, of a record of a table, of a document
    columns : of a table
    expansion : decompressed bytes for each byte of a file, once there are more than a gigabyte of them
    documents : files in a folder of documents
    spool : bytes of standard input, or of a download, that are kept on disk
    classes : different labels

    Examples
    --------
    >>> Limits(columns=2).columns, Limits().columns
    (2, 100000)
    """

    line: int = 64 << 20
    columns: int = 100_000
    expansion: int = 1000
    documents: int = 10_000_000
    spool: int = 64 << 30
    classes: int = 65_536

    @classmethod
    def of(cls, words: Sequence[str]) -> Limits:
        """The usual limits but for those that are given as ``name=size``.

        Examples
        --------
        >>> Limits.of(["line=1G", "classes=100000"]).line
        1073741824
        >>> Limits.of(["lines=1G"])
        Traceback (most recent call last):
            ...
        rosenblatt.errors.ParameterError: limit 'lines=1G': write line=, columns=, expansion=, documents=, spool= or \
classes= and a size such as 500, 64K, 10M or 2G
        """
        found: Limits = parse_limits(cls(), words)
        return found


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


def shown(size: int) -> str:
    """A size as people write it.

    >>> shown(64 << 20), shown(1500)
    ('64 MB', '1500 bytes')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} bytes"
