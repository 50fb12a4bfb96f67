"""Averaging: from the updates of all shards to the weights that they start from next.

Invariant: the sums of an averaging keep are exact for any `mixing`: the answer is the mean of the weights after every
row of every shard. An update holds only the columns that a shard has changed, unless these are most of them, and one
order of additions gives one result.

With ``w`` the weights that all shards start from, a shard that has seen ``n`` rows and ends with ``v`` sends

    n (v - w)                its step
    n (v - w) - u            for an average: its sum of the weights after each row, less n w; u as in `Average`
    n (q v - p w), n (q - p) instead of the first, for a rule with variances: q and p are the precisions, 1/variance

``mean`` is iterative parameter mixing (McDonald, Hall and Mann 2010): shards count by their rows; the perceptron keeps
its mistake bound. ``momentum`` is block momentum (Chen and Huo 2016): ``step = eta step + mean``, with ``eta =
1 - 1/shards``, so that in the long run a shard's step counts in full. No bound is known for it. Weights with variances
are averaged in proportion to their precisions, without momentum: precisions control the size of a step already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.executor import Sized
from rosenblatt.learners.stopping import Epoch
from rosenblatt.learners.weights import Arrays, WeightState
from rosenblatt.params import NO_PENALTY

Names = tuple[str, str, str]  # of the arrays of weights, of their variances and of their sums
WEIGHTS = ("weights", "variances", "sums")
INTERCEPT = ("intercept", "intercept_variances", "intercept_sums")
NO_ROWS = Epoch(0, 0, 0.0, 0.0, 0)


def add_stats(first: Epoch, later: Epoch) -> Epoch:
    """The statistics of both passes together."""
    sums = [a + b for a, b in zip(first[:5], later[:5], strict=True)]
    return Epoch._make([*sums, first.finite and later.finite, first.seconds + later.seconds, None])


@dataclass(frozen=True)
class SparseColumns:
    """Sums per column, for all columns or some of them."""

    features: int
    columns: NDArray[np.int32] | None  # None: all
    values: Arrays  # of shape (K, columns)

    def __add__(self, other: SparseColumns) -> SparseColumns:
        if self.columns is None or other.columns is None:
            columns, width = None, self.features
        else:
            columns = np.union1d(self.columns, other.columns)
            width = len(columns)
        sums: Arrays = {}
        for name, values in self.values.items():
            sums[name] = np.zeros((values.shape[0], width), values.dtype)
            for part in (self, other):
                places: Any = slice(None) if part.columns is None else part.columns
                if part.columns is not None and columns is not None:
                    places = np.searchsorted(columns, part.columns)
                sums[name][:, places] += part.values[name]
        return SparseColumns(self.features, columns, sums)


@dataclass(frozen=True)
class ShardUpdate(Sized):
    """The sum of the updates of some shards."""

    weights: SparseColumns
    intercept: Arrays
    stats: Epoch

    @classmethod
    def between(cls, start: Arrays, state: WeightState, stats: Epoch) -> ShardUpdate:
        """The update of a state that began with the weights of `start`, and with sums and counters of 0."""
        state = state.settled()
        columns = _changed_columns(start, state)
        weights = _sums(start, state, WEIGHTS, stats.rows, columns)
        weights |= {name: weights[name].astype(state.dtype) for name in weights.keys() - {"totals"}}
        intercept = _sums(start, state, INTERCEPT, stats.rows, None)
        return cls(SparseColumns(state.features, columns, weights), intercept, stats)

    def __add__(self, other: ShardUpdate) -> ShardUpdate:
        intercept = {name: values + other.intercept[name] for name, values in self.intercept.items()}
        return ShardUpdate(self.weights + other.weights, intercept, add_stats(self.stats, other.stats))


def add_updates(updates: Sequence[ShardUpdate]) -> ShardUpdate:
    """The sum of updates."""
    return reduce(add, updates)


def _changed_columns(start: Arrays, state: WeightState) -> NDArray[np.int32] | None:
    changed = (state.weights != start["weights"]).any(axis=0)
    if "sums" in state.arrays:
        changed |= (state.arrays["sums"] != 0).any(axis=0)
    if "variances" in state.arrays:
        changed |= (state.arrays["variances"] != start["variances"]).any(axis=0)
    columns = np.flatnonzero(changed)
    return None if 2 * len(columns) > state.features else columns.astype(np.int32)


def _sums(start: Arrays, state: WeightState, names: Names, rows: int, columns: NDArray[np.int32] | None) -> Arrays:
    """The terms of the equations above."""
    where: Any = slice(None) if columns is None else columns
    weights, variances, sums = names

    def some(arrays: Arrays, name: str) -> NDArray[np.float64]:
        return np.asarray(arrays[name][..., where], np.float64)

    w, v = some(start, weights), some(state.arrays, weights)
    found = {"steps": rows * (v - w)}
    if variances in state.arrays:
        p, q = 1.0 / some(start, variances), 1.0 / some(state.arrays, variances)
        found = {"steps": rows * (q * v - p * w), "precisions": rows * (q - p)}
    if sums in state.arrays:
        u = some(state.arrays, sums)
        found["totals"] = u - rows * w if _shrinks(state, names) else rows * (v - w) - u
    return found


def _shrinks(state: WeightState, names: Names) -> bool:
    """True if a penalty shrinks these weights between updates. The sums are those of the weights themselves then."""
    return state.penalty != NO_PENALTY and names == WEIGHTS


@dataclass(frozen=True)
class GlobalState(Sized):
    """The state that all shards have learned together, and the step that led to it."""

    state: WeightState
    steps: Arrays | None = None  # of weights and intercept, for momentum
    stats: Epoch = NO_ROWS  # since the average before


def broadcast(current: GlobalState) -> Arrays:
    """The arrays that a shard starts from."""
    state = current.state.settled()
    names = (*WEIGHTS[:2], *INTERCEPT[:2])
    return {name: state.arrays[name] for name in names if name in state.arrays}


def stats_of(current: GlobalState) -> Epoch:
    """The statistics since the average before."""
    return current.stats


def average(current: GlobalState, update: ShardUpdate, eta: float) -> GlobalState:
    """The state after the update of all shards; `eta` is the momentum."""
    stats = update.stats
    if not stats.rows:
        return replace(current, stats=stats)
    state = current.state.settled().copy()
    steps = None
    # Without an update the weights stay, so that the next passes show whether they separate.
    if stats.updates or _shrinks(state, WEIGHTS):
        updates = {WEIGHTS: update.weights, INTERCEPT: SparseColumns(1, None, update.intercept)}
        momentum = {name: eta * step for name, step in (current.steps or {}).items()}
        taken = {names[0]: _step(state, names, sums, stats.rows, momentum) for names, sums in updates.items()}
        steps = taken if eta else None
    counts = {"seen": stats.rows, "survived": stats.rows, "mistakes": stats.mistakes, "updates": stats.updates}
    for name, count in counts.items():
        state.set_counter(name, state.counter(name) + count)
    state.arrays["mistake_weight"] = state.arrays["mistake_weight"] + stats.mistake_weight
    state.mark_settled()
    return GlobalState(state, steps, stats._replace(finite=stats.finite and state.is_finite()))


def _step(state: WeightState, names: Names, update: SparseColumns, rows: int, momentum: Arrays) -> NDArray[np.float64]:
    """Take the mean step of the shards and the momentum; on exit the sums count every row of every shard."""
    where: Any = slice(None) if update.columns is None else update.columns
    weights, variances, sums = names
    arrays, w = state.arrays, state.arrays[names[0]].astype(np.float64)
    mean = update.values["steps"].astype(np.float64) / rows
    if variances in arrays:
        p = 1.0 / arrays[variances][..., where].astype(np.float64)
        q = p + update.values["precisions"].astype(np.float64) / rows
        mean = (p * w[..., where] + mean) / q - w[..., where]
        arrays[variances][..., where] = 1.0 / q
    step = momentum.get(weights, np.zeros_like(w))
    step[..., where] += mean
    arrays[weights] = (w + step).astype(arrays[weights].dtype)
    if sums in arrays and _shrinks(state, names):
        arrays[sums] += rows * w
        arrays[sums][..., where] += update.values["totals"]
    elif sums in arrays:  # so that weights - sums/seen is the mean
        arrays[sums] += (state.counter("seen") + rows) * (arrays[weights].astype(np.float64) - w)
        arrays[sums][..., where] -= update.values["totals"]
    return step
