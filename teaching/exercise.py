"""Marks an exercise: right, wrong with the case that shows it, or still to be written.

    check(answer, ((1, 2), 3), ((0, 0), 0))

calls ``answer(1, 2)`` and ``answer(0, 0)`` and compares with 3 and 0. Numbers may differ by rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Case = tuple[tuple[Any, ...], Any]

# Every exercise that was marked, with its cases: the tests put the solutions to the same questions.
ASKED: list[tuple[str, tuple[Case, ...]]] = []


def check(answer: Callable[..., Any], *cases: Case) -> bool:
    """Call `answer` with the arguments of each case, print the first that differs, and say whether all agree."""
    name = answer.__name__
    ASKED.append((name, cases))
    for arguments, expected in cases:
        found = answer(*arguments)
        if found is None:
            print(f"… {name}: yours to write")
            return False
        if not same(found, expected):
            print(f"✗ {name}{arguments} is {found}, and should be {expected}")
            return False
    print(f"✓ {name}: right in {len(cases)} cases")
    return True


def same(found: Any, expected: Any) -> bool:
    """Equal up to rounding, also inside lists and tuples."""
    if isinstance(expected, list | tuple):
        alike = isinstance(found, list | tuple) and len(found) == len(expected)
        return alike and all(map(same, found, expected))
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
    return bool(found == expected)
