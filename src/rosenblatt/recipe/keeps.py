"""Which weights may be the answer, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rosenblatt.errors import ParameterError
from rosenblatt.recipe.rules import Rule

KeepName = Literal["last", "average", "vote", "pocket"]


@dataclass(frozen=True)
class Traits:
    """What the rest of the library needs to know of a keep."""

    holds_vectors: bool = False  # weight vectors that lived for some examples, each changed by updates alone
    votes: bool = False  # the answer is a vote, which has no single weight vector
    checks_all_rows: bool = False  # it has to see all rows at once


KEEPS: dict[str, Traits] = {
    "last": Traits(),
    "average": Traits(),
    "vote": Traits(holds_vectors=True, votes=True),
    "pocket": Traits(holds_vectors=True, checks_all_rows=True),
}
NAMES = tuple(KEEPS)
OF_SECOND_ORDER = tuple(name for name, traits in KEEPS.items() if not traits.holds_vectors)


def check_keep(keep: str, rule: Rule) -> None:
    """Refuse a keep that has no meaning with the rule."""
    if not KEEPS[keep].holds_vectors:
        return
    if rule.shrinks:
        raise ParameterError(
            f"keep={keep!r} holds weight vectors, and a penalty changes them after every row: "
            "use keep='last' or keep='average' with it"
        )
    if rule.traits.second_order:
        raise ParameterError(f"keep={keep!r}: {rule.name} keeps {' or '.join(map(repr, OF_SECOND_ORDER))}")
