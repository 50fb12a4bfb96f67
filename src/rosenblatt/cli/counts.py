"""Options that are numbers within bounds, so that nothing else is learned or read before they are refused."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """A parser of whole numbers from `least` to `most`.

    >>> whole_number(1)("12")
    12
    """
    bounds = f"{least} or more" if most is None else f"from {least} to {most}"

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number, {bounds}")
        return number

    return parse


seed = whole_number(0, 2**64 - 1)


def add_fold_arguments(parser: argparse.ArgumentParser, seeded: str) -> None:
    """How a verb that validates cuts the rows; `seeded` says what the seed is of."""
    told = "parts; each is judged by what was learned from the others (5)"
    parser.add_argument("--folds", type=whole_number(2), default=5, metavar="N", help=told)
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help=f"seed of {seeded} (0)")


def not_negative(text: str) -> float:
    """A number from 0 on."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number, 0 or more")
    return number
