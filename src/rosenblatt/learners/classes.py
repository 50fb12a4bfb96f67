"""Classes that come later: the same learning, with more weight rows.

Invariant: what was learned for the old classes is kept; a class that was never seen has weights of 0.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import places_in


class Growing(Protocol):
    """A state that can take more classes."""

    def with_classes(self, mix: NDArray[np.float64]) -> Self: ...
    def fresh(self) -> Self: ...
    def copy(self) -> Self: ...


AnyState = TypeVar("AnyState", bound=Growing)


def weight_rows(classes: int) -> int:
    """How many weight rows a joint problem has: one for two classes, else one each."""
    return 1 if classes <= 2 else classes


def joint_with_classes(state: AnyState, old: NDArray[Any], new: NDArray[Any], share: float) -> AnyState:
    """A joint problem's state over more classes.

    Two classes share one weight row ``w``: with a third, the larger class gets ``share·w`` and the smaller
    ``-share·w``, what the joint rule would have given them.
    """
    if weight_rows(len(new)) == 1:
        return state
    mix = np.zeros((len(new), weight_rows(len(old))))
    places = places_in(new, old)
    if len(old) == 2:
        mix[places[1], 0], mix[places[0], 0] = share, -share
    elif len(old) > 2:
        mix[places, np.arange(len(old))] = 1.0
    return state.with_classes(mix)


def ovr_with_classes(states: list[AnyState], old: NDArray[Any], new: NDArray[Any]) -> list[AnyState]:
    """One-vs-rest states over more classes: one binary problem each, new ones from 0."""
    if weight_rows(len(new)) == 1:
        return states
    places = places_in(new, old)
    result = [states[0].fresh() for _ in new]
    if len(old) == 2:
        result[places[0]], result[places[1]] = states[0].with_classes(np.array([[-1.0]])).copy(), states[0]
    elif len(old) > 2:
        for place, state in zip(places, states, strict=True):
            result[place] = state
    return result
