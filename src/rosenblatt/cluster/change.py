"""What shards' passes have changed, as sums that can be added up in any cut of a tree, and the weights they start from.

Invariant: only features that a pass has touched travel, unless they are so many that all of them take fewer bytes; the
values have the precision of the state. One order of additions, by the numbers of the shards, gives one result.

With ``w`` the weights that all shards started from, a shard that has seen ``n`` rows and ended with ``v`` sends

    c (v - w)                for its share c of the mix
    n (v - w) - u            for an average: its sum of the weights after each row, less n w; u as in `Average`
    c (q v - p w), c (q - p) instead of the first, for a rule with variances: q and p are the precisions, 1/variance
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.learners.weights import WeightState
from rosenblatt.params import NO_PENALTY

Values = dict[str, NDArray[Any]]
INDEX = np.dtype(np.int32)


@dataclass(frozen=True)
class Tally:
    """What happened in passes, counted."""

    rows: int = 0
    seen: int = 0
    mistakes: int = 0
    updates: int = 0
    mistake_weight: float = 0.0
    weight: float = 0.0  # of the rows
    finite: bool = True
    bytes: int = 0  # that the changes take on their way up the tree
    widest: int = 0  # the largest of them

    def plus(self, other: Tally) -> Tally:
        return Tally(
            self.rows + other.rows,
            self.seen + other.seen,
            self.mistakes + other.mistakes,
            self.updates + other.updates,
            self.mistake_weight + other.mistake_weight,
            self.weight + other.weight,
            self.finite and other.finite,
            self.bytes + other.bytes,
            max(self.widest, other.widest),
        )


@dataclass(frozen=True)
class Packed:
    """Matrices of shape (K, features), of which only some columns are anything but what a new feature begins with."""

    features: int
    columns: NDArray[np.int32] | None  # None: all
    values: Values

    @classmethod
    def of(cls, matrices: Values, begins: dict[str, float]) -> Packed:
        """Without the columns in which nothing is to be said, where that is shorter."""
        first = next(iter(matrices.values()))
        said = np.zeros(first.shape[1], bool)
        for name, matrix in matrices.items():
            said |= (matrix != begins.get(name, 0.0)).any(axis=0)
        columns = np.flatnonzero(said).astype(INDEX)
        each = sum(matrix.itemsize * matrix.shape[0] for matrix in matrices.values())
        if len(columns) * (each + INDEX.itemsize) >= first.shape[1] * each:
            return cls(first.shape[1], None, {name: np.ascontiguousarray(m) for name, m in matrices.items()})
        return cls(first.shape[1], columns, {name: np.ascontiguousarray(m[:, columns]) for name, m in matrices.items()})

    def matrix(
        self, name: str, begin: float = 0.0, order: Any = "F", only: NDArray[np.int32] | None = None
    ) -> NDArray[Any]:
        """One of the matrices, or some of its columns, as an array of the caller's own."""
        values = self.values[name]
        if only is not None:
            part = np.full((values.shape[0], max(len(only), 1)), begin, values.dtype, order)
            if self.columns is None:
                part[:, : len(only)] = values[:, only]
            elif len(self.columns):
                places = np.minimum(np.searchsorted(self.columns, only), len(self.columns) - 1)
                there = np.flatnonzero(self.columns[places] == only)
                part[:, there] = values[:, places[there]]
            return part
        if self.columns is None:
            return np.array(values, order=order)
        shape = (values.shape[0], self.features)
        if begin:
            whole = np.full(shape, begin, values.dtype, order)
        else:
            whole = np.zeros(shape, values.dtype, order)
        whole[:, self.columns] = values
        return whole

    def plus(self, other: Packed) -> Packed:
        """The sums, column by column."""
        if self.columns is None or other.columns is None:
            dense, rest = (self, other) if self.columns is None else (other, self)
            summed = {name: values.copy() for name, values in dense.values.items()}
            for name, values in rest.values.items():
                # Adding is commutative, so it does not matter which of the two was dense.
                summed[name][:, slice(None) if rest.columns is None else rest.columns] += values
            return replace(dense, values=summed)
        columns = np.union1d(self.columns, other.columns)
        places = [np.searchsorted(columns, own) for own in (self.columns, other.columns)]
        summed = {}
        for name, values in self.values.items():
            summed[name] = np.zeros((values.shape[0], len(columns)), values.dtype)
            for each, where in zip((self, other), places, strict=True):
                summed[name][:, where] += each.values[name]
        return Packed(self.features, columns.astype(INDEX), summed)

    @property
    def nbytes(self) -> int:
        index = 0 if self.columns is None else self.columns.nbytes
        return index + sum(values.nbytes for values in self.values.values())


@dataclass(frozen=True)
class Change:
    """The sum of what some shards' passes have changed."""

    share: float  # the sum of their shares
    matrices: Packed
    intercepts: Values
    tally: Tally
    whole: WeightState | None = None  # instead of all this, where there is one shard only

    @classmethod
    def of(
        cls,
        before: Values,
        after: WeightState,
        share: float,
        tally: Tally,
        features: int,
        among: NDArray[np.int32] | None = None,
    ) -> Change:
        """Of one pass, whose state began with these weights, and with sums and counters of 0.

        The state may be over some columns only, those `among` all features.
        """
        if not tally.seen:
            share = 0.0
        after = after.settled()
        columns = _touched(before, after)
        where: Any = slice(None) if columns is None else columns

        def some(values: NDArray[Any]) -> NDArray[np.float64]:
            return np.asarray(values[:, where], np.float64)

        seen, dtype, intercept = tally.seen, after.dtype, after.intercept
        old, new = some(before["weights"]), some(after.weights)
        moved, moved_intercept = new - old, intercept - before["intercept"]
        matrices, small = {"weights": share * moved}, {"weights": share * moved_intercept}
        if "variances" in after.arrays:
            p, q = 1.0 / some(before["variances"]), 1.0 / some(after.arrays["variances"])
            matrices = {"weights": share * (q * new - p * old), "precisions": share * (q - p)}
            p, q = 1.0 / before["intercept_variances"], 1.0 / after.arrays["intercept_variances"]
            small = {"weights": share * (q * intercept - p * before["intercept"]), "precisions": share * (q - p)}
        matrices = {name: values.astype(dtype) for name, values in matrices.items()}
        if "sums" in after.arrays:
            sums = some(after.arrays["sums"])
            # With a penalty the sums are those of the weights themselves.
            matrices["totals"] = seen * moved - sums if after.penalty == NO_PENALTY else sums - seen * old
            small["totals"] = seen * moved_intercept - after.arrays["intercept_sums"]
        if among is not None:
            columns = among if columns is None else among[columns]
            matrices = {name: values[:, : len(columns)] for name, values in matrices.items()}
        packed = Packed(features, columns, matrices)
        return cls(share, packed, small, replace(tally, bytes=packed.nbytes, widest=packed.nbytes))

    def plus(self, other: Change) -> Change:
        matrices = self.matrices.plus(other.matrices)
        intercepts = {name: values + other.intercepts[name] for name, values in self.intercepts.items()}
        return Change(self.share + other.share, matrices, intercepts, self.tally.plus(other.tally))

    def __sizeof__(self) -> int:
        return 1000 + self.matrices.nbytes + (0 if self.whole is None else size_of(self.whole))


def _touched(before: Values, after: WeightState) -> NDArray[np.int32] | None:
    """The columns in which a pass has changed anything; None where these are most of them."""
    said = (after.weights != before["weights"]).any(axis=0)
    if "sums" in after.arrays:
        said |= (after.arrays["sums"] != 0).any(axis=0)
    if "variances" in after.arrays:
        said |= (after.arrays["variances"] != before["variances"]).any(axis=0)
    columns = np.flatnonzero(said)
    return None if 2 * len(columns) > after.features else columns.astype(INDEX)


def total_of(changes: Sequence[Change]) -> Change:
    """All of them, neighbors first: in the same order whether they are added here, or in groups of 2, 4 or 8."""
    level = list(changes)
    while len(level) > 1:
        pairs = [left.plus(right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, *level[len(level) - len(level) % 2 :]]
    return level[0]


def add(changes: Sequence[Change]) -> Change:
    """All of them, to be sent on."""
    found = total_of(changes)
    size = found.matrices.nbytes
    return replace(
        found, tally=replace(found.tally, bytes=found.tally.bytes + size, widest=max(found.tally.widest, size))
    )


def size_of(state: WeightState) -> int:
    """Bytes of a state's arrays."""
    return sum(values.nbytes for values in state.arrays.values())


@dataclass(frozen=True)
class Front:
    """What a shard starts from: the weights, and nothing of what is only needed to mix."""

    packed: Packed
    small: Values
    whole: WeightState | None = field(default=None)

    @classmethod
    def of(cls, state: WeightState, *, alone: bool) -> Front:
        """The whole state for a shard that is alone, so that it goes on as if there were no shards."""
        if alone:
            return cls(Packed(state.features, None, {}), {}, state)
        state = state.settled()
        names = [name for name in ("weights", "variances") if name in state.arrays]
        begins = {"variances": 1.0}
        small: dict[str, NDArray[Any]] = {
            n: state.arrays[n] for n in ("intercept", "intercept_variances") if n in state.arrays
        }
        return cls(Packed.of({name: state.arrays[name] for name in names}, begins), small)

    def state(
        self,
        keep: str,
        fit_intercept: bool,
        generator: NDArray[np.uint64],
        order: Any,
        only: NDArray[np.int32] | None = None,
    ) -> WeightState:
        """A state of the shard's own, that has seen nothing yet, over all features or over some columns only."""
        if self.whole is not None:
            return self.whole.copy()
        state = WeightState.begin(
            self.packed.matrix("weights", order=order, only=only),
            self.small["intercept"].copy(),
            keep=keep,
            fit_intercept=fit_intercept,
            generator=generator.copy(),
            second_order="variances" in self.packed.values,
        )
        if "variances" in state.arrays:
            state.arrays["variances"] = self.packed.matrix("variances", 1.0, order, only)
            state.arrays["intercept_variances"] = self.small["intercept_variances"].copy()
        return state

    def start(self, state: WeightState) -> Values:
        """Copies of what a state of this front begins with, to tell later what has changed."""
        names = ("weights", "intercept", "variances", "intercept_variances")
        return {name: state.arrays[name].copy(order="K") for name in names if name in state.arrays}

    @property
    def nbytes(self) -> int:
        return self.packed.nbytes + sum(values.nbytes for values in self.small.values())

    def __sizeof__(self) -> int:
        return 1000 + self.nbytes + (0 if self.whole is None else size_of(self.whole))
