"""Certificates of separability: claims about data that anyone can check again, exactly.

Invariant: ``check`` proves a claim from the data alone, in integer arithmetic on the rationals that the floats are. It
uses nothing of the search that found the certificate. :func:`certify` makes its certificates by the same proofs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import DataError
from rosenblatt.theory import exact
from rosenblatt.theory.margin import Constraints, make_constraints

LONG_WEIGHT = 10**24  # longer ones are printed with six digits


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


class _Verdict:
    kind: ClassVar[str]
    fit_intercept: bool

    def as_dict(self) -> dict[str, Any]:
        """Everything, in values that JSON can hold exactly."""
        return {"kind": self.kind} | {f.name: _to_json(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def check(self, X: Any, y: ArrayLike) -> bool:
        """Prove every claim for these data in exact arithmetic; False if one is not proved."""
        return self.fault(X, y) is None

    def fault(self, X: Any, y: ArrayLike) -> str | None:
        """The first claim that is not proved for these data, as a sentence; None if all are."""
        try:
            if not isinstance(self.fit_intercept, bool):
                raise DataError("fit_intercept must be True or False")
            self._prove_again(make_constraints(X, y, self.fit_intercept))
        except (TypeError, ValueError, ArithmeticError, IndexError) as error:
            return str(error)
        return None

    def _prove_again(self, constraints: Constraints) -> None:
        """Raise DataError if a claim is not proved."""
        raise DataError("there is no proof: the verdict is unknown")


@dataclass(frozen=True, eq=False)
class Separable(_Verdict):
    """The data are separable, and here is why.

    ``(w, b)`` gives every row a margin above 0. ``gamma`` encloses the best margin that any weights can have: its lower
    end is the margin of ``(w, b)``, its upper end the length of the convex combination of the signed rows `rows` with
    `weights`. With an offset, margins and lengths are those of the rows extended by 1, as in the theorem.

    Attributes
    ----------
    w, b : the separating weights and offset; with K > 2 classes, one weight row and one offset per class.
        Floats; fractions in the rare case that no floats of their size separate the rows.
    gamma : an enclosure of the best margin.
    radius : ``R``, the length of the longest (extended) row, rounded up.
    mistake_bound : ``floor(R²/gamma²)`` with the lower end of gamma; ``floor(2R²/gamma²)`` with more than two classes.
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

    @classmethod
    def prove(
        cls, constraints: Constraints, vector: Sequence[exact.Number], combination: list[int], weights: Sequence[Any]
    ) -> Separable:
        """The certificate of a vector that separates the rows; raises DataError if it does not.

        `combination` and `weights` are constraints and their weights, for the upper end of gamma.
        """
        V = np.array(vector, dtype=object).reshape(constraints.shape)
        lowest, at, squared_margin, squared_radius, bound = measure(constraints, exact.fractions(vector))
        if lowest <= 0:
            (row,), classes = _named(constraints, [at])
            against = "" if classes is None else f" against class {constraints.classes[classes[0]]!r}"
            raise DataError(f"row {row + 1}{against} has a margin of 0 or less")
        if all(isinstance(v, float) for v in vector):
            V = V.astype(np.float64)
        w, b = (V[:, :-1], V[:, -1]) if constraints.fit_intercept else (V, np.zeros(len(V)))
        rows, wrong = _named(constraints, combination)
        if constraints.is_binary:
            w, b = w[0], b[0]
        upper = exact.sqrt_up(squared_length(constraints, combination, weights))
        gamma, radius = Interval(exact.sqrt_down(squared_margin), upper), exact.sqrt_up(squared_radius)
        return cls(w, b, gamma, radius, bound, rows, wrong, tuple(weights), constraints.fit_intercept)

    def _prove_again(self, constraints: Constraints) -> None:
        W, b = np.array(self.w, dtype=object, ndmin=2), np.array(self.b, dtype=object, ndmin=1)
        W = np.hstack([W, b[:, None]]) if constraints.fit_intercept else W
        if W.shape != constraints.shape or b.shape != W.shape[:1] or not (constraints.fit_intercept or not any(b)):
            raise DataError("the weights do not have the shape of the data")
        combination = _numbered(constraints, self.rows, self.wrong)
        proved = Separable.prove(constraints, W.ravel().tolist(), combination, self.weights)
        for name in ("gamma", "radius", "mistake_bound"):
            found, claimed = getattr(proved, name), getattr(self, name)
            if found != claimed or type(found) is not type(claimed):
                raise DataError(f"{name} is {found}, not {claimed}")

    def __str__(self) -> str:
        return (
            f"separable\n"
            f"  best margin gamma   {self.gamma.lower:.6g} to {self.gamma.upper:.6g}\n"
            f"  longest row R       {self.radius:.6g}{', with its constant 1' if self.fit_intercept else ''}\n"
            f"  mistakes at most    {self.mistake_bound:,}"
        )


@dataclass(frozen=True, eq=False)
class NotSeparable(_Verdict):
    """The data are not separable: a convex combination of the signed rows is exactly 0 (Gordan's theorem).

    If some weights gave every signed row a positive margin, the combination would have one too; but it is 0.

    Attributes
    ----------
    rows, wrong : the rows of the combination and, with more than two classes, the wrong class of each.
    weights : positive integers without a common divisor; divided by their sum they are the convex weights. At most
        d + 2 of them with an offset. They can have many digits, because floats such as 5.1 are fractions with a
        denominator of 2^50; only their ratios matter.

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

    @classmethod
    def prove(cls, constraints: Constraints, combination: list[int], weights: Sequence[Fraction]) -> NotSeparable:
        """The certificate of a combination; raises DataError if it is not exactly 0."""
        if squared_length(constraints, combination, weights) != 0:
            raise DataError("the combination is not 0")
        pairs = sorted(zip(combination, exact.whole(weights), strict=True))
        rows, wrong = _named(constraints, [i for i, _ in pairs])
        return cls(rows, wrong, tuple(n for _, n in pairs), constraints.fit_intercept)

    def __bool__(self) -> bool:
        return False

    def _prove_again(self, constraints: Constraints) -> None:
        combination = _numbered(constraints, self.rows, self.wrong)
        proved = NotSeparable.prove(constraints, combination, exact.fractions(list(self.weights)))
        if proved.as_dict() != self.as_dict() or any(type(n) is not int for n in self.weights):
            raise DataError("the weights must be integers without a common divisor, in the order of the rows")

    def __str__(self) -> str:
        signed = "" if self.wrong is not None else " y (x, 1)" if self.fit_intercept else " y x"
        lines = [f"not separable: this weighted sum of {len(self.rows)} signed rows{signed} is exactly 0"]
        for place, (row, n) in enumerate(zip(self.rows, self.weights, strict=True)):
            against = "" if self.wrong is None else f" against class number {self.wrong[place]}"
            weight = str(n) if n < LONG_WEIGHT else f"{Decimal(n):.5e}"
            lines.append(f"  {weight} x row {row + 1}{against}")
        if max(self.weights) >= LONG_WEIGHT:
            lines.append("only the ratios of the weights matter; .weights and --json have all digits")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Unknown(_Verdict):
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

    def __str__(self) -> str:
        return f"unknown: {self.reason}\n  best margin gamma   {self.gamma.lower:.6g} to {self.gamma.upper:.6g}"


Certificate = Separable | NotSeparable | Unknown


def measure(
    constraints: Constraints, vector: Sequence[Fraction], beta: float = 0.0
) -> tuple[int, int, Fraction, Fraction, int]:
    """Exact facts about a vector: lowest margin (up to a factor) and its constraint, gamma², R², the mistake bound."""
    integers = exact.whole(vector)
    margins = constraints.exact_margins(integers)
    at = int(np.argmin(margins))
    lowest, unit = int(margins[at]), 1 << 2 * constraints.shift
    squared_radius = Fraction(constraints.exact_squared_radius(), unit)
    if lowest <= 0:
        return lowest, at, Fraction(0), squared_radius, 0
    squared_margin = Fraction(lowest * lowest, sum(v * v for v in integers) * unit)
    bound = math.floor((squared_radius * (1 if constraints.is_binary else 2) + 2 * Fraction(beta)) / squared_margin)
    return lowest, at, squared_margin, squared_radius, bound


def squared_length(constraints: Constraints, combination: list[int], weights: Sequence[Any]) -> Fraction:
    """``‖sum λ_i z_i‖² / (sum λ_i)²``, exact; raises DataError unless there is one positive weight per constraint."""
    shares = exact.fractions(list(weights))
    if len(shares) != len(combination) or not shares or min(shares) <= 0:
        raise DataError("the combination needs one positive weight per row")
    whole = np.array(exact.whole(shares), dtype=object)
    _, values = constraints.exact_take(np.array(combination, dtype=np.int64))
    combined = (whole @ values).tolist()
    return Fraction(sum(c * c for c in combined), sum(whole.tolist()) ** 2 << 2 * constraints.shift)


def from_dict(values: dict[str, Any]) -> Certificate:
    """The certificate that ``as_dict`` described; it is as good as its ``check``.

    >>> from rosenblatt.theory import certify
    >>> saved = certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).as_dict()
    >>> from_dict(saved).check([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    True
    """
    kinds: tuple[Any, ...] = (Separable, NotSeparable, Unknown)
    cls = next((c for c in kinds if c.kind == values.get("kind")), None)
    if cls is None or set(values) != {"kind", *(f.name for f in fields(cls))}:
        raise DataError("not a certificate: its fields are not those of one")
    try:
        read: Any = {f.name: values[f.name] if f.name == "reason" else _from_json(values[f.name]) for f in fields(cls)}
        if "gamma" in read:
            read["gamma"] = Interval(*map(float, read["gamma"]))
        for name in {"w", "b"} & set(read):
            read[name] = np.array(read[name])[()]
    except (TypeError, ValueError, ArithmeticError) as error:
        raise DataError(f"not a certificate: {error}") from None
    certificate: Certificate = cls(**read)
    return certificate


def _to_json(value: Any) -> Any:
    """In JSON's types: fractions and integers that a double does not hold become hexadecimal strings."""
    if isinstance(value, np.ndarray | np.generic):
        return _to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_to_json(v) for v in value]
    if isinstance(value, Fraction):
        return f"{value.numerator:#x}/{value.denominator:#x}"
    return hex(value) if isinstance(value, int) and abs(value) > 2**53 else value


def _from_json(value: Any) -> Any:
    """The inverse of :func:`_to_json`; lists become tuples."""
    if isinstance(value, list):
        return tuple(_from_json(v) for v in value)
    if isinstance(value, str):
        numerator, slash, denominator = value.partition("/")
        return Fraction(int(numerator, 16), int(denominator, 16)) if slash else int(numerator, 16)
    return value


def _named(constraints: Constraints, combination: list[int]) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Rows and wrong classes of constraints."""
    row, terms = constraints.terms(np.array(combination, dtype=np.int64))
    return tuple(row.tolist()), None if constraints.is_binary else tuple(terms[1][0].tolist())


def _numbered(constraints: Constraints, rows: Sequence[int], wrong: Sequence[int] | None) -> list[int]:
    """The inverse of :func:`_named`; raises DataError if a constraint does not exist or comes twice."""
    classes = [0] * len(rows) if wrong is None else wrong
    combination = [
        constraints.constraint(i, k)
        for i, k in zip(rows, classes, strict=True)
        if type(i) is type(k) is int and 0 <= i < constraints.X.shape[0]
        if wrong is None or (0 <= k < len(constraints.classes) and k != constraints.label[i])
    ]
    if (wrong is None) != constraints.is_binary or len(set(combination)) != len(rows):
        raise DataError("the combination names a row or a class that does not exist, or one twice")
    return combination
