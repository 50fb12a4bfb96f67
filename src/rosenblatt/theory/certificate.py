"""Certificates of separability: claims about data that anyone can check again, exactly.

Invariant: ``check`` proves a claim from the data alone, in integer arithmetic on the rationals that the floats are.
It uses nothing of the search that found the certificate, and no library for exact arithmetic but Python's integers.

A certificate is also sealed: a SHA-256 of the data and of everything that it claims. The seal is no proof of
anything; it makes a claim about *these* rows and labels and no others, and shows a changed digit at once.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import DataError
from rosenblatt.theory import exact
from rosenblatt.theory.rows import SignedRows, signed_rows


class Interval(NamedTuple):
    """Two floats that enclose a real number."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """The width relative to the upper end."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Separable:
    """The data are separable, and here is why.

    ``(w, b)`` gives every row a margin above 0. The best margin any weights can have is ``gamma``: the margin of
    ``(w, b)`` is its lower end, and the length of the convex combination of the signed rows `rows` with `weights` is
    its upper end. With an offset all of this is measured in the space of the rows extended by 1, as the theorem is.

    Attributes
    ----------
    w, b : the separating weights and offset: with K > 2 classes a weight row and an offset a class.
        Floats; fractions in the rare case that no floats of their size separate the rows.
    gamma : an enclosure of the best margin.
    radius : ``R``, the length of the longest (extended) row, rounded up.
    mistake_bound : the largest whole number of mistakes that ``R²/gamma²`` allows with the lower end of gamma;
        ``2R²/gamma²`` with more than two classes.
    rows, wrong, weights : the combination behind the upper end: rows, their wrong classes (with K > 2), weights.
    """

    kind: ClassVar[str] = "separable"
    w: NDArray[Any]
    b: Any
    gamma: Interval
    radius: float
    mistake_bound: int
    rows: tuple[int, ...]
    wrong: tuple[int, ...] | None
    weights: tuple[exact.Number, ...]
    fit_intercept: bool
    seal: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return True

    def check(self, X: Any, y: ArrayLike) -> bool:
        """Prove every claim for these data in exact arithmetic; False if one is not proved."""
        return self.fault(X, y) is None

    def fault(self, X: Any, y: ArrayLike) -> str | None:
        """The first claim that is not proved for these data, as a sentence; None if all are."""
        try:
            rows = signed_rows(X, y, self.fit_intercept)
        except DataError as error:
            return str(error)
        if self.seal != seal(self, rows):
            return "the certificate or the data were changed since it was sealed"
        vector = joined(self.w, self.b, rows)
        if vector is None:
            return "the weights are not numbers in the shape of the data"
        facts = Facts.of(rows, vector)
        if facts.lowest <= 0:
            return f"{describe(rows, facts.at)} has a margin of 0 or less"
        if self.gamma.lower != exact.sqrt_down(facts.squared_margin):
            return "the lower end of gamma is not the margin of the weights"
        demands = numbered(rows, self.rows, self.wrong)
        if demands is None:
            return "the combination names a row or a class that is not there"
        weights = rational(self.weights)
        if weights is None or len(weights) != len(demands) or not weights or min(weights) <= 0:
            return "the combination has a weight that is not positive"
        if self.gamma.upper != exact.sqrt_up(squared_length(rows, demands, weights)):
            return "the upper end of gamma is not the length of the combination"
        if self.radius != exact.sqrt_up(facts.squared_radius):
            return "R is not the length of the longest row"
        if self.mistake_bound != facts.mistake_bound:
            return "the mistake bound is not R²/gamma²"
        return None

    def as_dict(self) -> dict[str, Any]:
        """Everything, in values that JSON can hold exactly."""
        return as_dict(self)

    def __str__(self) -> str:
        return (
            f"separable\n"
            f"  best margin gamma   {self.gamma.lower:.6g} to {self.gamma.upper:.6g}\n"
            f"  longest row R       {self.radius:.6g}\n"
            f"  mistakes at most    {self.mistake_bound}"
        )


@dataclass(frozen=True, eq=False)
class NotSeparable:
    """The data are not separable: a convex combination of the signed rows is exactly 0 (Gordan's theorem).

    If some weights gave every signed row a positive margin, the combination would have one too; but it is 0.

    Attributes
    ----------
    rows, wrong : the rows of the combination and, with more than two classes, the wrong class of each.
    weights : positive whole numbers without a common divisor; divided by their sum they are the convex weights. At most
        d + 2 of them with an offset.
    """

    kind: ClassVar[str] = "not separable"
    rows: tuple[int, ...]
    wrong: tuple[int, ...] | None
    weights: tuple[int, ...]
    fit_intercept: bool
    seal: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return False

    def check(self, X: Any, y: ArrayLike) -> bool:
        """Prove the claim for these data in exact arithmetic; False if it is not proved."""
        return self.fault(X, y) is None

    def fault(self, X: Any, y: ArrayLike) -> str | None:
        """Why the claim is not proved for these data, as a sentence; None if it is."""
        try:
            rows = signed_rows(X, y, self.fit_intercept)
        except DataError as error:
            return str(error)
        if self.seal != seal(self, rows):
            return "the certificate or the data were changed since it was sealed"
        demands = numbered(rows, self.rows, self.wrong)
        if demands is None:
            return "the combination names a row or a class that is not there"
        if len(self.weights) != len(demands) or not all(isinstance(n, int) and n > 0 for n in self.weights):
            return "the weights are not positive whole numbers, one a row"
        if math.gcd(*self.weights) != 1:
            return "the weights have a common divisor"
        if len(demands) > rows.dimension + 1:
            return f"the combination has more than {rows.dimension + 1} rows"
        if squared_length(rows, demands, exact.fractions(np.array(self.weights, dtype=object))) != 0:
            return "the combination is not 0"
        return None

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        """The convex weights: positive, and their sum is 1."""
        return tuple(Fraction(n, sum(self.weights)) for n in self.weights)

    def as_dict(self) -> dict[str, Any]:
        """Everything, in values that JSON can hold exactly."""
        return as_dict(self)

    def __str__(self) -> str:
        lines = [f"not separable: these {len(self.rows)} signed rows, so weighted, sum to exactly 0"]
        for place, (row, weight) in enumerate(zip(self.rows, self.weights, strict=True)):
            against = "" if self.wrong is None else f" against class number {self.wrong[place]}"
            lines.append(f"  {shortened(weight)} x row {row + 1}{against}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Unknown:
    """No verdict within the budget. `gamma` encloses the best margin (which is 0 if the data are not separable)."""

    kind: ClassVar[str] = "unknown"
    gamma: Interval
    reason: str
    fit_intercept: bool

    def __bool__(self) -> bool:
        raise ValueError(f"whether the data are separable is unknown: {self.reason}")

    def as_dict(self) -> dict[str, Any]:
        """Everything, in values that JSON can hold exactly."""
        return as_dict(self)

    def __str__(self) -> str:
        return f"unknown: {self.reason}\n  best margin gamma   {self.gamma.lower:.6g} to {self.gamma.upper:.6g}"


Certificate = Separable | NotSeparable | Unknown


@dataclass(frozen=True)
class Facts:
    """What a separating vector proves about the rows, all exact."""

    lowest: int
    at: int
    squared_margin: Fraction
    squared_radius: Fraction
    mistake_bound: int

    @classmethod
    def of(cls, rows: SignedRows, vector: list[int]) -> Facts:
        margins = rows.exact_margins(vector)
        at = int(np.argmin(margins))
        lowest = int(margins[at])
        unit = 1 << 2 * rows.shift
        squared_norm = sum(v * v for v in vector)
        squared_margin = Fraction(lowest * lowest, squared_norm * unit) if squared_norm else Fraction(0)
        squared_radius = Fraction(rows.exact_squared_radius(), unit)
        reach = squared_radius * (1 if rows.two else 2)
        bound = math.floor(reach / squared_margin) if lowest > 0 else 0
        return cls(lowest, at, squared_margin, squared_radius, bound)


def joined(w: Any, b: Any, rows: SignedRows) -> list[int] | None:
    """Weights and offsets as one vector in coprime integers; None if the shapes do not fit."""
    table = np.array(w, dtype=object, ndmin=2)
    offset = np.array(b, dtype=object, ndmin=1)
    shape = (1 if rows.two else len(rows.classes), rows.X.shape[1])
    if table.shape != shape or offset.shape != (shape[0],):
        return None
    if rows.fit_intercept:
        table = np.hstack([table, offset[:, None]])
    elif any(offset):
        return None
    values = rational(table)
    return None if values is None else exact.whole(values)


def rational(values: Any) -> list[Fraction] | None:
    """The values as fractions; None if one is no finite number."""
    try:
        return exact.fractions(values)
    except (TypeError, ValueError, OverflowError):
        return None


def numbered(rows: SignedRows, chosen: tuple[int, ...], wrong: tuple[int, ...] | None) -> list[int] | None:
    """The demands' numbers; None if one does not exist or comes twice."""
    if (wrong is None) != rows.two or not all(0 <= i < rows.X.shape[0] for i in chosen):
        return None
    if wrong is None:
        demands = list(chosen)
    else:
        if len(wrong) != len(chosen) or not all(
            0 <= k < len(rows.classes) and k != rows.label[i] for i, k in zip(chosen, wrong, strict=True)
        ):
            return None
        demands = [rows.demand(i, k) for i, k in zip(chosen, wrong, strict=True)]
    return demands if len(set(demands)) == len(demands) else None


def squared_length(rows: SignedRows, demands: list[int], weights: list[Fraction]) -> Fraction:
    """``‖sum λ_i z_i‖² / (sum λ_i)²``, exact."""
    whole = np.array(exact.whole(weights), dtype=object)
    _, values = rows.exact_take(np.array(demands, dtype=np.int64))
    combined = (whole @ values).tolist()
    return Fraction(sum(c * c for c in combined), sum(whole.tolist()) ** 2 << 2 * rows.shift)


def describe(rows: SignedRows, demand: int) -> str:
    number = np.array([demand])
    row = f"row {rows.row(number)[0] + 1}"
    return row if rows.two else f"{row} against class {rows.classes[rows.wrong(number)[0]]!r}"


def shortened(number: int) -> str:
    """A whole number in at most about 30 characters."""
    if number < 10**24:
        return str(number)
    digits = int((number.bit_length() - 1) * math.log10(2))
    lead = number // 10 ** (digits - 5)
    return f"{lead / 10 ** (len(str(lead)) - 1):.5f}e{digits - 6 + len(str(lead))} (exact in .weights)"


_Sealable = TypeVar("_Sealable", Separable, NotSeparable)


def sealed(certificate: _Sealable, rows: SignedRows) -> _Sealable:
    """The certificate with the seal that binds it to these rows."""
    return replace(certificate, seal=seal(certificate, rows))


def seal(certificate: Separable | NotSeparable, rows: SignedRows) -> str:
    claims = {name: value for name, value in as_dict(certificate).items() if name != "seal"}
    return hashlib.sha256(f"{rows.digest()} {claims!r}".encode()).hexdigest()


def as_dict(certificate: Certificate) -> dict[str, Any]:
    values = {f.name: plain(getattr(certificate, f.name)) for f in fields(certificate)}
    return {"kind": certificate.kind, **values}


def from_dict(values: dict[str, Any]) -> Certificate:
    """The certificate that ``as_dict`` described; it is as good as its ``check``."""
    kinds: tuple[type[Separable], type[NotSeparable], type[Unknown]] = (Separable, NotSeparable, Unknown)
    cls = next((c for c in kinds if c.kind == values.get("kind")), None)
    if cls is None or set(values) != {"kind", *(f.name for f in fields(cls))}:
        raise DataError("not a certificate: its fields are not those of one")
    try:
        return cls(**{name: _READ[name](value) for name, value in values.items() if name != "kind"})
    except (TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise DataError(f"not a certificate: {error}") from None


def _expect(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{value!r} stands where something else belongs")
    return value


def _indices(values: Any) -> tuple[int, ...]:
    return tuple(_expect(v, int) for v in _expect(values, list))


def _number(value: Any) -> exact.Number:
    number: exact.Number = _expect(numbers(value), (int, float, Fraction))
    return number


_READ: dict[str, Any] = {
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
