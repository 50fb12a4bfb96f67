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
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import DataError
from rosenblatt.theory import exact
from rosenblatt.theory.proof import Facts, describe, joined, numbered, rational, shortened, squared_length
from rosenblatt.theory.rows import SignedRows, signed_rows
from rosenblatt.theory.written import READ, Interval, as_dict


class Claim:
    """A verdict that can be proved from the data again."""

    fit_intercept: bool
    seal: str

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
        return self._fault(rows)

    def as_dict(self) -> dict[str, Any]:
        """Everything, in values that JSON can hold exactly."""
        return as_dict(self)

    def _fault(self, rows: SignedRows) -> str | None:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Separable(Claim):
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

    Examples
    --------
    >>> from rosenblatt.theory import certify
    >>> verdict = certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> bool(verdict), verdict.mistake_bound, verdict.check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    (True, 51, True)
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

    def _fault(self, rows: SignedRows) -> str | None:
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

    def __str__(self) -> str:
        return (
            f"separable\n"
            f"  best margin gamma   {self.gamma.lower:.6g} to {self.gamma.upper:.6g}\n"
            f"  longest row R       {self.radius:.6g}\n"
            f"  mistakes at most    {self.mistake_bound}"
        )


@dataclass(frozen=True, eq=False)
class NotSeparable(Claim):
    """The data are not separable: a convex combination of the signed rows is exactly 0 (Gordan's theorem).

    If some weights gave every signed row a positive margin, the combination would have one too; but it is 0.

    Attributes
    ----------
    rows, wrong : the rows of the combination and, with more than two classes, the wrong class of each.
    weights : positive whole numbers without a common divisor; divided by their sum they are the convex weights. At most
        d + 2 of them with an offset.

    Examples
    --------
    >>> from rosenblatt.theory import certify
    >>> verdict = certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> bool(verdict), verdict.weights, verdict.check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    (False, (1, 1, 1, 1), True)
    """

    kind: ClassVar[str] = "not separable"
    rows: tuple[int, ...]
    wrong: tuple[int, ...] | None
    weights: tuple[int, ...]
    fit_intercept: bool
    seal: str = field(default="", repr=False)

    def __bool__(self) -> bool:
        return False

    def _fault(self, rows: SignedRows) -> str | None:
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

    def __str__(self) -> str:
        lines = [f"not separable: these {len(self.rows)} signed rows, so weighted, sum to exactly 0"]
        for place, (row, weight) in enumerate(zip(self.rows, self.weights, strict=True)):
            against = "" if self.wrong is None else f" against class number {self.wrong[place]}"
            lines.append(f"  {shortened(weight)} x row {row + 1}{against}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Unknown:
    """No verdict within the budget. `gamma` encloses the best margin (which is 0 if the data are not separable).

    >>> print(Unknown(Interval(-0.1, 0.2), "the budget was used up", fit_intercept=True))
    unknown: the budget was used up
      best margin gamma   -0.1 to 0.2
    """

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


_Sealable = TypeVar("_Sealable", Separable, NotSeparable)


def sealed(certificate: _Sealable, rows: SignedRows) -> _Sealable:
    """The certificate with the seal that binds it to these rows."""
    return replace(certificate, seal=seal(certificate, rows))


def seal(certificate: Claim, rows: SignedRows) -> str:
    claims = {name: value for name, value in as_dict(certificate).items() if name != "seal"}
    return hashlib.sha256(f"{rows.digest()} {claims!r}".encode()).hexdigest()


def from_dict(values: dict[str, Any]) -> Certificate:
    """The certificate that ``as_dict`` described; it is as good as its ``check``.

    >>> from rosenblatt.theory import certify
    >>> told = certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).as_dict()
    >>> from_dict(told).check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    True
    """
    kinds: tuple[type[Separable], type[NotSeparable], type[Unknown]] = (Separable, NotSeparable, Unknown)
    cls = next((c for c in kinds if c.kind == values.get("kind")), None)
    if cls is None or set(values) != {"kind", *(f.name for f in fields(cls))}:
        raise DataError("not a certificate: its fields are not those of one")
    try:
        return cls(**{name: READ[name](value) for name, value in values.items() if name != "kind"})
    except (TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise DataError(f"not a certificate: {error}") from None
