"""Classes that come later: the same learning, with more weight rows.

Invariant: what was learned for the old classes is kept; a class that was never seen has weights of 0.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import places_in
from rosenblatt.learners.state.learning import LearningState
from rosenblatt.learners.state.state import State
from rosenblatt.learners.targets import weight_rows
from rosenblatt.params import Params

AnyState = TypeVar("AnyState", bound=LearningState)


def states_over(states: list[AnyState], old: NDArray[Any], new: NDArray[Any], params: Params) -> list[AnyState]:
    """The states over more classes: themselves if there is no new one."""
    if len(new) == len(old) or weight_rows(len(new)) == 1:
        return list(states)
    places = places_in(new, old)
    if params.is_ovr(len(new)):
        return _ovr(states, len(old), len(new), places)
    return [_joint(states[0], len(old), len(new), places, params.update_rule.traits.joint_share)]


def _joint(state: AnyState, old: int, new: int, places: NDArray[np.intp], share: float) -> AnyState:
    """Two classes share one weight row ``w``: with a third, the larger class gets ``share·w`` and the smaller
    ``-share·w``, what the joint rule would have given them.
    """
    if old > 2 and isinstance(state, State):  # as quick as copying, however many classes there are
        return state.with_classes_at(new, places)  # type: ignore[return-value]
    mix = np.zeros((new, weight_rows(old)))
    if old == 2:
        mix[places[1], 0], mix[places[0], 0] = share, -share
    elif old > 2:
        mix[places, np.arange(old)] = 1.0
    return state.with_classes(mix)


def _ovr(states: list[AnyState], old: int, new: int, places: NDArray[np.intp]) -> list[AnyState]:
    """One binary problem each, new ones from 0."""
    known: dict[int, AnyState] = {}
    if old == 2:
        known = {int(places[0]): states[0].with_classes(np.array([[-1.0]])), int(places[1]): states[0]}
    elif old > 2:
        known = dict(zip(places.tolist(), states, strict=True))
    return [known[place] if place in known else states[0].fresh() for place in range(new)]
