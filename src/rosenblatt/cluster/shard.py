"""What is done with one shard, where its rows are: a part of an epoch, a count of mistakes, a look at its margins.

Invariant: a pass depends on the rows, the weights it starts from and its orders alone. Orders are drawn as `fit` draws
them, by a generator of the shard's own; that of the first shard is the plain learner's.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.change import Change, Front, Packed, Tally
from rosenblatt.cluster.mixing import Mixer
from rosenblatt.cluster.rows import Rows
from rosenblatt.learners.fit import Orders, Shuffle
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.predictors import Products
from rosenblatt.params import LinearParams

MOST_ORDERS = 8  # that a process remembers


@dataclass(frozen=True)
class Pass:
    """How to learn from a shard once: which part of an epoch, and from which generator its order is drawn."""

    params: LinearParams
    mixer: Mixer
    generator: NDArray[np.uint64]  # at the beginning of the epoch
    part: int = 0
    parts: int = 1
    products: Products | None = None  # what is learned from, instead of the columns


class _Memory:
    """Orders of the epoch that is under way, so that its parts need not be drawn again; those of any run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, tuple[NDArray[np.uint32], NDArray[np.uint64]]] = OrderedDict()

    def draw(
        self, count: int, generator: NDArray[np.uint64], shuffle: Shuffle
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
        """The order of so many rows, and the generator after it."""
        key = f"{count} {shuffle} ".encode() + generator.tobytes()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        moved = generator.copy()
        found = Orders().draw(None, count, moved, shuffle), moved
        with self._lock:
            self._known[key] = found
            while len(self._known) > MOST_ORDERS:
                self._known.popitem(last=False)
        return found


_memory = _Memory()


def learn(rows: Rows, front: Front, told: Pass) -> Change:
    """What a pass over a part of the rows changes."""
    alone = front.whole is not None
    order, moved = _order(len(rows), told)
    state = _state(rows, front, told, moved)
    before = None if alone else front.start(state)
    counted = [state.counter(name) for name in ("seen", "mistakes", "updates")]
    weight_before = state.mistake_weight
    if order is None or len(order):
        _learn_order(state, rows, told, order)
    seen, mistakes, updates = (
        state.counter(name) - was for name, was in zip(("seen", "mistakes", "updates"), counted, strict=True)
    )
    learned = len(rows) if order is None else len(order)
    weight = _weight_of(rows, order)
    tally = Tally(learned, seen, mistakes, updates, state.mistake_weight - weight_before, weight, state.is_finite())
    if alone or before is None:
        state.arrays["generator"] = moved.copy()
        return Change(1.0, Packed(state.features, None, {}), {}, tally, state)
    return Change.of(before, state, float(learned), tally, front.packed.features, rows.columns)


def _state(rows: Rows, front: Front, told: Pass, generator: NDArray[np.uint64]) -> WeightState:
    order, params = "C" if isinstance(rows.X, np.ndarray) else "F", told.params
    return front.state(params.keep, bool(params.fit_intercept), generator, order, rows.columns)


def moved_generator(rows: Rows, told: Pass) -> NDArray[np.uint64]:
    """The shard's generator after an epoch."""
    return _order(len(rows), told)[1]


def _order(count: int, told: Pass) -> tuple[NDArray[np.uint32] | None, NDArray[np.uint64]]:
    """The rows of this part of the epoch, in order (None: all as they lie), and the generator after the epoch."""
    begin, end = told.part * count // told.parts, (told.part + 1) * count // told.parts
    if not told.params.shuffle:
        order = None if told.parts == 1 else np.arange(begin, end, dtype=np.uint32)
        return order, told.generator
    order, moved = _memory.draw(count, told.generator, told.params.shuffle)
    return order[begin:end], moved


def _learn_order(state: Any, rows: Rows, told: Pass, order: NDArray[np.uint32] | None) -> None:
    rule, table = told.params.update_rule, rows.table()
    targets = rows.targets(told.params.tie_positive)
    if told.products is None:
        state.learn(table, targets, rule, order=order)
        return
    for terms, part in told.products.iter_terms(table, order):
        state.learn(terms, targets.take(part), rule)


def _weight_of(rows: Rows, order: NDArray[np.uint32] | None) -> float:
    if rows.weights is None:
        return float(len(rows) if order is None else len(order))
    return float(rows.weights.sum() if order is None else rows.weights[order].sum())


def count_mistakes(rows: Rows, front: Front, told: Pass) -> float:
    """The weight of the rows that the raw weights get wrong."""
    params, table, state = told.params, rows.table(), _state(rows, front, told, told.generator)
    targets = rows.targets(params.tie_positive)
    if told.products is None:
        return state.count_mistakes(table, targets)
    parts = told.products.iter_terms(table)
    return sum(state.count_mistakes(terms, targets.take(part)) for terms, part in parts)


def rows_and_weight(rows: Rows, with_checksum: bool) -> tuple[int, float, int]:
    """How many rows, what they weigh, and a checksum of them if it is asked for."""
    return len(rows), rows.weight(), rows.checksum() if with_checksum else 0
