"""How much the service takes from its clients before it refuses.

Invariant: everything that a client can make grow is bounded by a limit with a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from rosenblatt.errors import ParameterError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class Limits:
    """The limits of the service.

    Attributes
    ----------
    body : bytes of a request's body
    bodies : bytes of all bodies that are being read or waiting at one time
    rows : of a request
    values : features of a row
    cells : values of all rows of a request, and scores of all its answers
    features : that the model may come to know
    classes : that the model may come to know
    weights : features times classes
    name : bytes of a feature's name or a label
    connections : open at one time
    seconds : for a request to arrive, and for its answer to be taken
    idle : seconds for which a connection may stay open without a request
    waiting : examples that wait to be learned
    predictions : that are remembered for feedback
    retention : seconds for which a prediction is remembered
    keys : requests whose Idempotency-Key is remembered
    """

    body: int = 16 << 20
    bodies: int = 64 << 20
    rows: int = 100_000
    values: int = 100_000
    cells: int = 1_000_000
    features: int = 1 << 20
    classes: int = 1000
    weights: int = 64 << 20
    name: int = 1024
    connections: int = 2000
    seconds: int = 30
    idle: int = 75
    waiting: int = 100_000
    predictions: int = 100_000
    retention: int = 86_400
    keys: int = 1_000_000

    @classmethod
    def of(cls, words: Sequence[str]) -> Limits:
        """The usual limits but for those that are given as ``name=size``.

        >>> Limits.of(["body=1M", "classes=10"]).body
        1048576
        """
        names = [each.name for each in fields(cls)]
        limits = cls()
        for word in words:
            match = re.fullmatch(r"(\w+)=(\d{1,12})([KMG]?)", word)
            if match is None or match[1] not in names or int(match[2]) == 0:
                known = "=, ".join(names[:-1]) + f"= or {names[-1]}="
                raise ParameterError(f"limit {word!r}: write {known} and a size such as 500, 64K or 10M")
            limits = replace(limits, **{match[1]: int(match[2]) * _UNITS[match[3]]})
        return limits
