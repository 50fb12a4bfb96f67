"""What a penalty does to the weights after every row.

Invariant: a penalty of 0 is none at all: learning then takes the same path, with the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rosenblatt.errors import ParameterError
from rosenblatt.recipe.parameters import check_number

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
    ratio = check_number("l1_ratio", l1_ratio, least=0.0, most=1.0)
    share = ratio if name == "elasticnet" else shares[name]
    return Penalty(max(0.0, 1.0 - (1.0 - share) * rate), share * rate)
