"""What weights and combinations of rows prove, exactly.

Invariant: only integers and fractions; nothing here rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.theory import exact
from rosenblatt.theory.rows import SignedRows


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
