"""Classes that come later: the same learning, with more weight rows.

Invariant: what was learned for the old classes is kept; a class that was never seen has weights of 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import places_in
from rosenblatt.learners.state import State


def weight_rows(classes: int) -> int:
    """How many weight rows a joint problem has: one for two classes, else one each."""
    return 1 if classes <= 2 else classes


def joint_with_classes(state: State, old: NDArray[Any], new: NDArray[Any], share: float) -> State:
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


def ovr_with_classes(states: list[State], old: NDArray[Any], new: NDArray[Any]) -> list[State]:
    """One-vs-rest states over more classes: one binary problem each, new ones from 0."""
    if weight_rows(len(new)) == 1:
        return states
    places = places_in(new, old)
    result = [_fresh(states[0]) for _ in new]
    if len(old) == 2:
        result[places[0]], result[places[1]] = states[0].with_classes(np.array([[-1.0]])).copy(), states[0]
    elif len(old) > 2:
        for place, state in zip(places, states, strict=True):
            result[place] = state
    return result


def _fresh(like: State) -> State:
    return State.begin(
        np.zeros((1, like.features), like.dtype),
        np.zeros(1),
        keep=like.keep,
        fit_intercept=like.fit_intercept,
        generator=engine.seed_generator(0),
        second_order=like.variances is not None,
    )
