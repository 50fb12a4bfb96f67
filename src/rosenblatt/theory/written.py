"""Certificates as JSON holds them: every number exact, every field of the right kind."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from rosenblatt.theory import exact


class Interval(NamedTuple):
    """Two floats that enclose a real number.

    >>> found = Interval(0.5, 1.0)
    >>> found.lower, found.width
    (0.5, 0.5)
    """

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """The width relative to the upper end."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


def as_dict(certificate: Any) -> dict[str, Any]:
    """Everything, in values that JSON can hold exactly."""
    values = {f.name: plain(getattr(certificate, f.name)) for f in fields(certificate)}
    return {"kind": certificate.kind, **values}


def _expect(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{value!r} stands where something else belongs")
    return value


def _indices(values: Any) -> tuple[int, ...]:
    return tuple(_expect(v, int) for v in _expect(values, list))


def _number(value: Any) -> exact.Number:
    number: exact.Number = _expect(numbers(value), (int, float, Fraction))
    return number


READ: dict[str, Any] = {
    "w": lambda value: np.array(numbers(_expect(value, list))),
    "b": lambda value: np.array(numbers(value)) if isinstance(value, list) else _number(value),
    "gamma": lambda value: Interval(*(float(_expect(v, (int, float))) for v in _expect(value, list))),
    "radius": lambda value: _expect(value, float),
    "mistake_bound": lambda value: _expect(numbers(value), int),
    "rows": _indices,
    "wrong": lambda value: None if value is None else _indices(value),
    "weights": lambda value: tuple(_number(v) for v in _expect(value, list)),
    "fit_intercept": lambda value: _expect(value, bool),
    "seal": lambda value: _expect(value, str),
    "reason": lambda value: _expect(value, str),
}


def plain(value: Any) -> Any:
    """In JSON's types: fractions and whole numbers that a double does not hold become hexadecimal strings."""
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, Fraction):
        return f"{value.numerator:#x}/{value.denominator:#x}"
    return hex(value) if isinstance(value, int) and abs(value) > 2**53 else value


def numbers(value: Any) -> Any:
    """The inverse of :func:`plain`."""
    if isinstance(value, list):
        return [numbers(v) for v in value]
    if isinstance(value, str):
        numerator, slash, denominator = value.partition("/")
        return Fraction(int(numerator, 16), int(denominator, 16)) if slash else int(numerator, 16)
    return value
