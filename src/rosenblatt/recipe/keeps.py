"""Which weights may be the answer, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rosenblatt.errors import ParameterError
from rosenblatt.recipe.rules import Rule

KeepName = Literal["last", "average", "tail", "vote", "pocket"]


@dataclass(frozen=True)
class Traits:
    """What the rest of the library needs to know of a keep."""

    needs_updates_alone: bool = False  # weights may change by updates along rows, and by nothing else
    votes: bool = False  # the answer is a vote, which has no single weight vector
    checks_all_rows: bool = False  # it has to see all rows at once


KEEPS: dict[str, Traits] = {
    "last": Traits(),
    "average": Traits(),
    "tail": Traits(needs_updates_alone=True),
    "vote": Traits(needs_updates_alone=True, votes=True),
    "pocket": Traits(needs_updates_alone=True, checks_all_rows=True),
}
NAMES = tuple(KEEPS)
OF_SECOND_ORDER = tuple(name for name, traits in KEEPS.items() if not traits.needs_updates_alone)


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
        raise ParameterError(f"keep={keep!r}: {rule.name} keeps {' or '.join(map(repr, OF_SECOND_ORDER))}")
