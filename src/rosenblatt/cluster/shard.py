"""Shards: rows cut from the partitions of a source, and the passes over them.

Invariant: the rows of a shard, and their order, depend on the data and the number of shards alone. A pass depends on
the rows, the weights it starts from and its task alone. A shard that is one whole partition shares the partition's
arrays.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.cluster.averaging import GlobalState, ShardUpdate
from rosenblatt.cluster.dataset import Partition, class_codes
from rosenblatt.cluster.executor import Sized
from rosenblatt.data.batch import RowBatch
from rosenblatt.data.labels import PAIR, Classes, Labels, Numbers
from rosenblatt.data.table import Table, csr_rows
from rosenblatt.learners.stopping import Counters, Epoch
from rosenblatt.learners.targets import Shuffle, Targets, draw_order, targets_of
from rosenblatt.learners.weights import Arrays, WeightState
from rosenblatt.models.predictors import Products
from rosenblatt.params import LinearParams

STREAM = 1 << 62  # random streams of shards; lower ones are those of restarts


@dataclass(frozen=True)
class ShardSchema:
    """The properties that all shards of a source share."""

    classes: Classes
    features: int
    dtype: np.dtype[Any]
    params: LinearParams
    class_weights: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None  # of the columns, which are divided by it
    columns: NDArray[np.int32] | None = None  # those with a value in any row, if they are few; None: all

    @property
    def width(self) -> int:
        """The number of columns to learn from."""
        return self.features if self.columns is None else len(self.columns)


@dataclass(frozen=True)
class Shard(Sized):
    """Rows and their targets."""

    X: Any
    targets: Targets

    def __len__(self) -> int:
        return len(self.targets.y)

    def table(self) -> Table:
        """For the engine; the values were checked when the partition was loaded."""
        if isinstance(self.X, np.ndarray):
            return Table(self.X, engine.dense_rows(self.X))
        return Table(self.X, csr_rows(self.X.data, self.X.indices, self.X.indptr, self.X.shape[1]))

    def checksum(self) -> int:
        arrays = [self.X] if isinstance(self.X, np.ndarray) else [self.X.data, self.X.indices, self.X.indptr]
        arrays += [self.targets.y, *([] if self.targets.sample_weight is None else [self.targets.sample_weight])]
        return reduce(lambda crc, array: zlib.crc32(np.ascontiguousarray(array).tobytes(), crc), arrays, 0)


def shard_info(shard: Shard, with_checksum: bool) -> tuple[int, int]:
    """The number of rows and, if it is needed, a checksum."""
    return len(shard), shard.checksum() if with_checksum else 0


def cut_shards(sizes: Sequence[int], shards: int) -> list[list[tuple[int, int, int]]]:
    """For each shard the number of each partition that it is cut from, and its first and last row.

    With no more shards than partitions, partitions stay whole; else rows are distributed evenly.

    >>> cut_shards([10, 20, 30], 2)
    [[(0, 0, 10), (1, 0, 20)], [(2, 0, 30)]]
    >>> cut_shards([4, 2], 3)
    [[(0, 0, 2)], [(0, 2, 4)], [(1, 0, 2)]]
    """
    ends = np.cumsum([0, *sizes]).tolist()
    bounds = [shard * ends[-1] // shards for shard in range(shards + 1)]
    if shards <= len(sizes):
        firsts = [0]
        for shard in range(1, shards):
            # The nearest beginning of a partition that leaves at least one to this shard and to each one after it.
            free = range(firsts[-1] + 1, len(sizes) - (shards - shard) + 1)
            firsts.append(min(free, key=lambda place: abs(ends[place] - bounds[shard])))
        bounds = [*(ends[first] for first in firsts), ends[-1]]
    cuts = []
    for begin, end in itertools.pairwise(bounds):
        overlaps = [(p, max(begin, low), min(end, high)) for p, (low, high) in enumerate(itertools.pairwise(ends))]
        cuts.append([(p, low - ends[p], high - ends[p]) for p, low, high in overlaps if low < high])
    return cuts


def join_shard(partitions: list[Partition], cuts: list[tuple[int, int]], schema: ShardSchema) -> Shard:
    """The shard of these rows of these partitions."""
    pieces = [
        partition if (begin, end) == (0, len(partition)) else partition.take(slice(begin, end))
        for partition, (begin, end) in zip(partitions, cuts, strict=True)
    ]
    labels, weights = _join_labels(pieces, schema), None
    if any(piece.weights is not None for piece in pieces):
        weights = np.concatenate([np.ones(len(piece)) if piece.weights is None else piece.weights for piece in pieces])
    if schema.class_weights is not None:
        by_class = schema.class_weights[labels.codes]
        weights = by_class if weights is None else weights * by_class
    X = _join_rows([piece.X for piece in pieces], schema)
    if weights is not None and not weights.all():
        present = np.flatnonzero(weights)
        X, labels, weights = X[present], labels.take(present), weights[present]
    if weights is not None and bool(np.all(weights == 1.0)):
        weights = None
    return Shard(X, targets_of(labels, weights, schema.params)[0])


def _join_labels(pieces: Sequence[Partition], schema: ShardSchema) -> Labels:
    if schema.params.is_regression:
        numbers = np.concatenate([piece.labels.numbers for piece in pieces if isinstance(piece.labels, Numbers)])
        epsilon = float(getattr(schema.params, "epsilon", 0.0))
        return Numbers(PAIR, np.zeros(len(numbers), np.int32), numbers, epsilon)
    codes = [class_codes(schema.classes, piece.labels.classes)[piece.labels.codes] for piece in pieces]
    return Labels(schema.classes.values, np.concatenate(codes))


def _join_rows(pieces: Sequence[Any], schema: ShardSchema) -> Any:
    if isinstance(pieces[0], np.ndarray):
        X = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        X = X.astype(schema.dtype, copy=False)
        return X if schema.scale is None else X / schema.scale
    import scipy.sparse as sp

    wide = [sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], schema.features)) for X in pieces]
    X = (wide[0] if len(wide) == 1 else sp.vstack(wide, format="csr")).astype(schema.dtype, copy=False)
    data, indices = X.data, X.indices
    if schema.scale is not None:
        data = data / schema.scale[indices]
    if schema.columns is not None:
        indices = np.searchsorted(schema.columns, indices).astype(X.indptr.dtype)
    return sp.csr_array((data, indices, X.indptr), shape=(X.shape[0], schema.width))


def used_columns(partition: Partition) -> NDArray[np.int32]:
    """The columns in which a partition has values."""
    used = np.zeros(partition.X.shape[1], bool)
    used[partition.X.indices] = True
    return np.flatnonzero(used).astype(np.int32)


def join_columns(columns: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """The columns of any of the partitions."""
    return reduce(np.union1d, columns)


def sample_rows(partition: Partition, classes: Classes, step: int, first: int) -> RowBatch:
    """Every `step`-th row of a partition from the `first` on, with codes among all classes."""
    import scipy.sparse as sp

    part = partition.take(np.arange(first, len(partition), step))
    X = sp.csr_array(part.X)
    codes = class_codes(classes, part.labels.classes)[part.labels.codes]
    starts, indices = X.indptr.astype(np.int32), X.indices.astype(np.int32)
    labels = [str(code).encode() for code in range(len(classes))]  # the same in all samples, so that codes stay
    return RowBatch(starts, indices, X.data.astype(np.float64), codes, labels, part.weights)


# -- passes


@dataclass(frozen=True)
class ShardTask:
    """One pass over a part of a shard's rows, `part` of `parts` of an epoch."""

    params: LinearParams
    products: Products | None  # the terms to learn from, instead of the columns
    seed: int
    stream: int  # one per shard and epoch
    part: int
    parts: int


def learn_shard(shard: Shard, start: Arrays, task: ShardTask) -> ShardUpdate:
    """The update of a pass that starts from the weights of all shards."""
    generator = engine.seed_generator(task.seed, task.stream)
    state = WeightState.of(task.params, start["weights"].copy(), start["intercept"].copy(), generator)
    state.arrays |= {name: start[name].copy() for name in ("variances", "intercept_variances") if name in start}
    rows = slice(task.part * len(shard) // task.parts, (task.part + 1) * len(shard) // task.parts)
    if task.params.shuffle:
        order = _epoch_order(len(shard), task.params.shuffle, task.seed, task.stream)[rows]
    else:
        order = np.arange(rows.start, rows.stop, dtype=np.uint32)
    stats = _learn(state, shard, task, order)
    return ShardUpdate.between(start, state, stats)


@lru_cache(maxsize=8)
def _epoch_order(rows: int, shuffle: Shuffle, seed: int, stream: int) -> NDArray[np.uint32]:
    """The order of an epoch, cached for its parts."""
    return draw_order(rows, engine.seed_generator(seed, stream), shuffle)


def learn_alone(shard: Shard, current: GlobalState, task: ShardTask) -> GlobalState:
    """The state after an epoch of the only shard: to the bit that of the plain learner."""
    state, order = current.state.copy(), None
    if task.params.shuffle:
        order = draw_order(len(shard), state.generator, task.params.shuffle)
    stats = _learn(state, shard, task, order)
    return GlobalState(state, stats=stats)


def _learn(state: WeightState, shard: Shard, task: ShardTask, order: NDArray[np.uint32] | None) -> Epoch:
    before, rule, table, targets = Counters.of(state), task.params.update_rule, shard.table(), shard.targets
    if task.products is not None:
        for terms, part in task.products.iter_terms(table, order):
            state.learn(terms, targets.take(part), rule)
    elif order is None or len(order):
        state.learn(table, targets, rule, order=order)
    rows = len(shard) if order is None else len(order)
    return Counters.of(state).since(before, targets.total(order), rows, finite=state.is_finite())


def count_mistakes(shard: Shard, current: GlobalState, products: Products | None) -> float:
    """The weight of the rows that the raw weights get wrong."""
    state, table = current.state, shard.table()
    if products is None:
        return state.count_mistakes(table, shard.targets)
    return sum(state.count_mistakes(terms, shard.targets.take(part)) for terms, part in products.iter_terms(table))
