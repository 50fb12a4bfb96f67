"""How far to step, what shrinks the weights, and which weights are the answer: by name and numbers.

Invariant: a `Rule` that exists can be run; the engine never sees a number out of range. A penalty of 0 is none at all:
learning then takes the same path, with the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from rosenblatt.errors import ParameterError
from rosenblatt.params.parameters import check_number

PenaltyName = Literal["l2", "l1", "elasticnet"]


@dataclass(frozen=True)
class Penalty:
    """After every row ``|w_j|`` becomes ``shrink·|w_j| - cut``, or 0 where that is not above 0; the sign stays."""

    shrink: float = 1.0
    cut: float = 0.0


NO_PENALTY = Penalty()


def penalty_of(name: Any, alpha: Any, l1_ratio: Any, eta0: float = 1.0) -> Penalty:
    """The penalty by scikit-learn's names, for steps of `eta0`.

    >>> penalty_of("elasticnet", alpha=0.5, l1_ratio=0.5)
    Penalty(shrink=0.75, cut=0.25)
    >>> penalty_of(None, alpha=0.5, l1_ratio=0.5) == NO_PENALTY
    True
    """
    if name is None:
        return NO_PENALTY
    shares = {"l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}
    if not isinstance(name, str) or name not in shares:
        raise ParameterError(f"penalty={name!r}: must be None, 'l2', 'l1' or 'elasticnet'")
    rate = eta0 * check_number("alpha", alpha, least=0.0)
    if not rate < math.inf:
        raise ParameterError(f"alpha={alpha!r}: must be finite, also times eta0={eta0!r}")
    ratio = check_number("l1_ratio", l1_ratio, least=0.0, most=1.0)
    share = ratio if name == "elasticnet" else shares[name]
    return Penalty(max(0.0, 1.0 - (1.0 - share) * rate), share * rate)


RuleName = Literal["perceptron", "normalized", "PA", "PA-I", "PA-II", "AROW"]


@dataclass(frozen=True)
class RuleTraits:
    """What the rest of the library needs to know of a rule."""

    moves_without_mistake: bool = True  # may it update on a correct answer?
    second_order: bool = False  # does it keep a variance beside every weight?
    # What each of two classes gets of a binary weight row when a third one appears: +share·w and -share·w. The joint
    # perceptron would have taken the same steps with both rows; a joint step of the others is half as long.
    joint_share: float = 0.5


RULES: dict[str, RuleTraits] = {
    "perceptron": RuleTraits(moves_without_mistake=False, joint_share=1.0),
    "normalized": RuleTraits(moves_without_mistake=False),
    "PA": RuleTraits(),
    "PA-I": RuleTraits(),
    "PA-II": RuleTraits(),
    "AROW": RuleTraits(second_order=True),
}
FIRST_ORDER = tuple(name for name, traits in RULES.items() if not traits.second_order)


@dataclass(frozen=True)
class Rule:
    """The step ``tau(margin, q)`` of an update ``w += tau y x``.

    ``perceptron``: ``eta0`` where the margin is ``<= 0`` (``<= beta`` for the margin perceptron).
    ``normalized``: ``eta0/q`` where the margin is ``<= 0``.
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
        if (self.eta0, self.beta, self.C, self.r) == (1.0, 0.0, 1.0, 1.0):
            return  # as most are, and small fits make many of them
        check_number("eta0", self.eta0, above=0.0, most=1e100)
        check_number("C", self.C, above=0.0)
        check_number("beta", self.beta, least=0.0)
        check_number("r", self.r, above=0.0)

    @property
    def traits(self) -> RuleTraits:
        return RULES[self.name]

    @property
    def moves_without_mistake(self) -> bool:
        """May it update on a correct answer?"""
        return self.traits.moves_without_mistake or self.beta > 0

    @property
    def shrinks(self) -> bool:
        """Do weights change after every row, whatever the answer was?"""
        return self.penalty != NO_PENALTY


KeepName = Literal["last", "average", "tail", "vote", "pocket"]


@dataclass(frozen=True)
class KeepTraits:
    """What the rest of the library needs to know of a keep."""

    needs_updates_alone: bool = False  # weights may change by updates along rows, and by nothing else
    votes: bool = False  # the answer is a vote, which has no single weight vector
    checks_all_rows: bool = False  # it has to see all rows at once


KEEPS: dict[str, KeepTraits] = {
    "last": KeepTraits(),
    "average": KeepTraits(),
    "tail": KeepTraits(needs_updates_alone=True),
    "vote": KeepTraits(needs_updates_alone=True, votes=True),
    "pocket": KeepTraits(needs_updates_alone=True, checks_all_rows=True),
}
KEEP_NAMES = tuple(KEEPS)
KEPT_BY_SECOND_ORDER = tuple(name for name, traits in KEEPS.items() if not traits.needs_updates_alone)


def check_keep(keep: str, rule: Rule) -> None:
    """Refuse a keep that has no meaning with the rule."""
    if not KEEPS[keep].needs_updates_alone:
        return
    if rule.shrinks:
        raise ParameterError(
            f"keep={keep!r} needs weights that change by updates alone, and a penalty changes them after every row: "
            "use keep='last' or keep='average' with it"
        )
    if rule.traits.second_order:
        raise ParameterError(f"keep={keep!r}: {rule.name} keeps {' or '.join(map(repr, KEPT_BY_SECOND_ORDER))}")
