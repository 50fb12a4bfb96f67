"""How far to step, by name and numbers, checked once.

Invariant: a `Rule` that exists can be run; the engine never sees a parameter out of range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rosenblatt.errors import ParameterError

if TYPE_CHECKING:
    from rosenblatt.learners.penalty import Penalty

RuleName = Literal["perceptron", "PA", "PA-I", "PA-II", "AROW"]
RULES: tuple[RuleName, ...] = ("perceptron", "PA", "PA-I", "PA-II", "AROW")


@dataclass(frozen=True)
class Rule:
    """The step ``tau(margin, q)`` of an update ``w += tau y x``.

    ``perceptron``: ``eta0`` where the margin is ``<= 0`` (``<= beta`` for the margin perceptron).
    ``PA``, ``PA-I``, ``PA-II``, with ``l = max(0, 1 - margin)``: ``l/q``, ``min(C, l/q)``, ``l/(q + 1/(2C))``.
    ``AROW`` steps by the variance of each feature, ``r`` against noise; it has a loop of its own.
    A `penalty` shrinks all weights after every row.
    """

    name: RuleName = "perceptron"
    eta0: float = 1.0
    beta: float = 0.0
    C: float = 1.0
    r: float = 1.0
    penalty: Penalty | None = None

    def __post_init__(self) -> None:
        if self.name not in RULES:
            raise ParameterError(f"rule={self.name!r}: must be 'perceptron', 'PA', 'PA-I', 'PA-II' or 'AROW'")
        check_number("eta0", self.eta0, above=0.0, most=1e100)
        check_number("C", self.C, above=0.0)
        check_number("beta", self.beta, least=0.0)
        check_number("r", self.r, above=0.0)

    @property
    def joint_share(self) -> float:
        """What each of two classes gets of a binary weight row when a third one appears: +share·w and -share·w.

        The joint perceptron would have taken the same steps with both rows; a joint step of the others is half as long.
        """
        return 1.0 if self.name == "perceptron" else 0.5

    @property
    def second_order(self) -> bool:
        """Does it keep a variance beside every weight?"""
        return self.name == "AROW"

    @property
    def moves_without_mistake(self) -> bool:
        """May it update on a correct answer?"""
        return self.name != "perceptron" or self.beta > 0


def check_number(
    name: str, value: object, *, above: float | None = None, least: float | None = None, most: float = math.inf
) -> float:
    """`value` as a float in its range, or a `ParameterError` that names it."""
    if isinstance(value, bool) or (not isinstance(value, (int, float)) and not hasattr(value, "__float__")):
        raise ParameterError(f"{name}={value!r}: must be a number")
    number = float(value)
    bad = math.isnan(number) or number > most or (math.isinf(number) and most != math.inf)
    if bad or (above is not None and number <= above) or (least is not None and number < least):
        bound = f"above {above:g}" if above is not None else f"at least {least:g}"
        limit = f" and at most {most:g}" if most != math.inf else ""
        raise ParameterError(f"{name}={value!r}: must be {bound}{limit}")
    return number
