"""Shards: rows where they are learned from, cut from the parts of a source.

Invariant: which rows a shard holds, and in which order, depends on the data and the number of shards alone. A shard
that is one whole part looks into the part's arrays; any other holds a copy of its rows.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.cluster.parts import Part, as_csr, bytes_of
from rosenblatt.data.labels import PAIR, Classes, Labels, Numbers, places_in
from rosenblatt.data.table import Table
from rosenblatt.learners.targets import Targets, targets_of


@dataclass(frozen=True)
class Rows:
    """A shard: rows over the features that it has values in, and their codes among all classes, or their numbers."""

    X: Any
    codes: NDArray[np.int32]
    classes: int
    weights: NDArray[np.float64] | None = None
    columns: NDArray[np.int32] | None = None  # those that X has, where a shard has values in few of them; None: all
    numbers: NDArray[np.float64] | None = None
    epsilon: float = 0.0  # how far from its number a score is right

    def __len__(self) -> int:
        return len(self.codes)

    def __sizeof__(self) -> int:
        return bytes_of(self.X) + self.codes.nbytes + (0 if self.weights is None else self.weights.nbytes)

    def table(self) -> Table:
        """For the engine; the values were checked when the part was read."""
        if isinstance(self.X, np.ndarray):
            return Table(self.X, engine.dense_rows(self.X))
        return Table(self.X, engine.sparse_rows(self.X.data, self.X.indices, self.X.indptr, self.X.shape[1]))

    def targets(self, tie_positive: bool) -> Targets:
        labels = Labels(np.arange(self.classes), self.codes)
        if self.numbers is not None:
            labels = Numbers(PAIR, self.codes, self.numbers, self.epsilon)
        return targets_of(labels, sample_weight=self.weights, tie_positive=tie_positive)[0]

    def weight(self) -> float:
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    def checksum(self) -> int:
        """Another one for other rows."""
        found = zlib.crc32(np.ascontiguousarray(self.codes).view(np.uint8).data)
        dense = isinstance(self.X, np.ndarray)
        beside = [values for values in (self.weights, self.numbers) if values is not None]
        for values in (*((self.X,) if dense else (self.X.data, self.X.indices, self.X.indptr)), *beside):
            found = zlib.crc32(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data, found)
        return found


@dataclass(frozen=True)
class Shape:
    """What all shards of a source share."""

    classes: Any  # Classes of labels in files, or the sorted labels
    features: int
    dtype: np.dtype[Any]
    by_class: NDArray[np.float64] | None = None  # what the rows of each class weigh
    scale: NDArray[np.float64] | None = None  # what each column is divided by
    columns: NDArray[np.int32] | None = None  # those that any row has a value in, where they are few; None: all
    apart: bool = False  # may a shard leave out columns that it has no values in?
    epsilon: float = 0.0  # of numbers

    @property
    def width(self) -> int:
        """Columns that are learned."""
        return self.features if self.columns is None else len(self.columns)

    @property
    def values(self) -> NDArray[Any]:
        """The sorted classes."""
        found: NDArray[Any] = self.classes.values if isinstance(self.classes, Classes) else self.classes
        return found

    def places(self, labels: Any) -> NDArray[np.int32]:
        """The code of each label of a part; -1 for none."""
        if isinstance(self.classes, Classes):
            return np.array([*(self.classes.code_of(label) for label in labels), -1], np.int32)
        return np.append(places_in(self.classes, labels), -1).astype(np.int32)


def cut_shards(sizes: Sequence[int], shards: int) -> list[list[tuple[int, int, int]]]:
    """For each shard the parts that it is cut from: which one, and its rows from where to where.

    With no more shards than parts, parts stay whole; else rows are shared out evenly.

    >>> cut_shards([10, 20, 30], 2)
    [[(0, 0, 10), (1, 0, 20)], [(2, 0, 30)]]
    >>> cut_shards([4, 2], 3)
    [[(0, 0, 2)], [(0, 2, 4)], [(1, 0, 2)]]
    """
    ends = np.cumsum([0, *sizes])
    total = int(ends[-1])
    bounds = [shard * total // shards for shard in range(shards + 1)]
    filled = [place for place, size in enumerate(sizes) if size]
    if shards <= len(filled):
        firsts = [0]
        for shard in range(1, shards):
            # The nearest beginning of a part that leaves at least one part to this shard and to each one after it.
            room = range(firsts[-1] + 1, len(filled) - (shards - shard) + 1)
            firsts.append(min(room, key=lambda place: abs(int(ends[filled[place]]) - bounds[shard])))
        bounds = [*(int(ends[filled[place]]) for place in firsts), total]
    cuts = []
    for begin, end in itertools.pairwise(bounds):
        overlaps = [(max(begin, int(ends[p])), min(end, int(ends[p + 1])), p) for p in range(len(sizes))]
        cuts.append([(p, low - int(ends[p]), high - int(ends[p])) for low, high, p in overlaps if low < high])
    return cuts


def assemble(parts: list[Part], cuts: list[tuple[int, int]], shape: Shape) -> Rows:
    """A shard of these rows of these parts."""
    pieces = [_piece(part, begin, end) for part, (begin, end) in zip(parts, cuts, strict=True)]
    numbers = None
    if parts[0].numbers is None:
        codes = np.concatenate(
            [shape.places(part.labels)[codes] for part, (_, codes, _) in zip(parts, pieces, strict=True)]
        )
    else:
        numbers = np.concatenate([_numbers(part)[a:b] for part, (a, b) in zip(parts, cuts, strict=True)])
        codes = np.zeros(len(numbers), np.int32)
    weights = None
    if any(found is not None for _, _, found in pieces):
        weights = np.concatenate([np.ones(len(c)) if found is None else found for _, c, found in pieces])
    if shape.by_class is not None:
        by_class = shape.by_class[codes]
        weights = by_class if weights is None else weights * by_class
    X = _joined([X for X, _, _ in pieces], shape)
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X, codes, weights = X[kept], codes[kept], weights[kept]
    if weights is not None and bool(np.all(weights == 1.0)):
        weights = None
    X, columns = _narrowed(X) if shape.apart and not isinstance(X, np.ndarray) else (X, None)
    return Rows(X, codes, len(shape.values), weights, columns, numbers, shape.epsilon)


def _numbers(part: Part) -> NDArray[np.float64]:
    assert part.numbers is not None
    return part.numbers


def _piece(part: Part, begin: int, end: int) -> tuple[Any, NDArray[np.int32], NDArray[np.float64] | None]:
    if (begin, end) == (0, len(part)):
        return part.X, part.codes, part.weights
    return part.X[begin:end], part.codes[begin:end], None if part.weights is None else part.weights[begin:end]


def _joined(pieces: list[Any], shape: Shape) -> Any:
    if isinstance(pieces[0], np.ndarray):
        X = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        X = X.astype(shape.dtype, copy=False)
        return X if shape.scale is None else X / shape.scale
    sizes = np.cumsum([0] + [X.nnz for X in pieces])
    kind = np.int32 if sizes[-1] < 2**31 and all(X.indices.dtype == np.int32 for X in pieces) else np.int64
    if len(pieces) == 1:
        data, indices, starts = pieces[0].data, pieces[0].indices, pieces[0].indptr
    else:
        data, indices = (np.concatenate([getattr(X, name) for X in pieces]) for name in ("data", "indices"))
        begins = [X.indptr[:-1].astype(kind) + kind(size) for X, size in zip(pieces, sizes[:-1], strict=True)]
        starts = np.concatenate([*begins, np.array([sizes[-1]], kind)])
    data = data.astype(shape.dtype, copy=False)
    if shape.scale is not None:
        data = data / shape.scale[indices]
    if shape.columns is not None:
        indices = np.searchsorted(shape.columns, indices)
    return as_csr(data, indices.astype(kind, copy=False), starts.astype(kind, copy=False), shape.width)


def _narrowed(X: Any) -> tuple[Any, NDArray[np.int32] | None]:
    """Rows over the columns that they use, where these are less than half."""
    used = np.zeros(X.shape[1], bool)
    used[X.indices] = True
    columns = np.flatnonzero(used).astype(np.int32)
    if 2 * len(columns) > X.shape[1]:
        return X, None
    place = np.cumsum(used, dtype=X.indices.dtype) - X.indices.dtype.type(1)
    return as_csr(X.data, place[X.indices], X.indptr, max(len(columns), 1)), columns
