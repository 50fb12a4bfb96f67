"""How far to step, by name and numbers.

Invariant: a `Rule` that exists can be run; the engine never sees a number out of range.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rosenblatt.errors import ParameterError
from rosenblatt.recipe.parameters import check_number
from rosenblatt.recipe.penalty import NO_PENALTY, Penalty

RuleName = Literal["perceptron", "normalised", "PA", "PA-I", "PA-II", "AROW"]


@dataclass(frozen=True)
class Traits:
    """What the rest of the library needs to know of a rule."""

    moves_without_mistake: bool = True  # may it update on a correct answer?
    second_order: bool = False  # does it keep a variance beside every weight?
    # What each of two classes gets of a binary weight row when a third one appears: +share·w and -share·w. The joint
    # perceptron would have taken the same steps with both rows; a joint step of the others is half as long.
    joint_share: float = 0.5


RULES: dict[str, Traits] = {
    "perceptron": Traits(moves_without_mistake=False, joint_share=1.0),
    "normalised": Traits(moves_without_mistake=False),
    "PA": Traits(),
    "PA-I": Traits(),
    "PA-II": Traits(),
    "AROW": Traits(second_order=True),
}
FIRST_ORDER = tuple(name for name, traits in RULES.items() if not traits.second_order)


@dataclass(frozen=True)
class Rule:
    """The step ``tau(margin, q)`` of an update ``w += tau y x``.

    ``perceptron``: ``eta0`` where the margin is ``<= 0`` (``<= beta`` for the margin perceptron).
    ``normalised``: ``eta0/q`` where the margin is ``<= 0``.
    ``PA``, ``PA-I``, ``PA-II``, with ``l = max(0, 1 - margin)``: ``l/q``, ``min(C, l/q)``, ``l/(q + 1/(2C))``.
    ``AROW`` steps by the variance of each feature, ``r`` against noise.
    A `penalty` shrinks all weights after every row.
    """

    name: RuleName = "perceptron"
    eta0: float = 1.0
    beta: float = 0.0
    C: float = 1.0
    r: float = 1.0
    penalty: Penalty = field(default=NO_PENALTY)

    def __post_init__(self) -> None:
        if self.name not in RULES:
            *most, last = map(repr, RULES)
            raise ParameterError(f"rule={self.name!r}: must be {', '.join(most)} or {last}")
        check_number("eta0", self.eta0, above=0.0, most=1e100)
        check_number("C", self.C, above=0.0)
        check_number("beta", self.beta, least=0.0)
        check_number("r", self.r, above=0.0)

    @property
    def traits(self) -> Traits:
        return RULES[self.name]

    @property
    def moves_without_mistake(self) -> bool:
        """May it update on a correct answer?"""
        return self.traits.moves_without_mistake or self.beta > 0

    @property
    def shrinks(self) -> bool:
        """Do weights change after every row, whatever the answer was?"""
        return self.penalty != NO_PENALTY
