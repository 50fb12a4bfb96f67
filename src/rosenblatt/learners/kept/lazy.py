"""Penalized weights as files of version 0.1 hold them: those of feature j as they were after ``as_of[j]`` examples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learners.state.state import State


def catch_up(state: State, as_of: NDArray[np.int64]) -> None:
    """Bring all weights, and sums, up to date with the examples seen, in blocks of powers of two."""
    arrays, penalty = state.arrays, state.penalty
    weights = state.weights
    left = np.broadcast_to(np.maximum(state.counter("seen") - as_of, 0), weights.shape).copy()
    size, total = np.abs(weights.astype(np.float64)), np.zeros(weights.shape)
    ended = np.zeros(weights.shape, bool)
    blocks = [(penalty.shrink, penalty.cut, penalty.shrink, penalty.cut)]
    while 2 ** len(blocks) <= left.max(initial=0):
        a, b, c, d = blocks[-1]
        blocks.append((a * a, b + a * b, c + c * a, d + d + c * b))
    for bit in range(len(blocks) - 1, -1, -1):
        factor, less, factor_of_sum, less_of_sum = blocks[bit]
        asked, after = left >> bit & 1 == 1, factor * size - less
        lives = asked & (after > 0)
        total[lives] += factor_of_sum * size[lives] - less_of_sum
        size[lives] = after[lives]
        dies = asked & ~lives
        ended |= dies
        left[dies] = 2**bit - 1
    if "sums" in arrays:
        arrays["sums"] = arrays["sums"] + np.copysign(total, weights)
    arrays["weights"] = np.where(ended, 0, np.copysign(size, weights)).astype(weights.dtype)
    for array in state.declared:
        if array.name not in arrays:
            arrays[array.name] = array.new(arrays)
    state.mark_settled()
