"""Epochs over shards: learn everywhere, mix up a tree, and let the judge decide.

Invariant: the state after every mix depends on the shards, the params and the mixing alone: not on who did the work,
how many there were, who died meanwhile, or whether the run was stopped and resumed. The client holds a copy of the
state from time to time; what is lost with workers is made again from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster import shard
from rosenblatt.cluster.change import Tally, add, size_of
from rosenblatt.cluster.hands import Hands, Lost
from rosenblatt.cluster.mixing import Mixed, Mixer, front_of, mix, tally_of
from rosenblatt.errors import ClusterError, DataError
from rosenblatt.learners.stopping import Epoch, StoppingCriterion
from rosenblatt.models.predictors import Products
from rosenblatt.params import LinearParams

SAFE_SECONDS = 20.0  # of work that may have to be done again
SAFE_EPOCHS = 16  # after which the scheduler may forget how a state was made
SMALL, SMALL_WIDTH = 1 << 18, 8  # bytes of a state up to which steps cost more than bytes; added at once, then
MOST_LOSSES = 10  # at least, in a row, without getting any further


@dataclass
class Traffic:
    """Bytes that mixes have moved: up the tree, and down to the workers; `measured` is what workers sent each other."""

    mixes: int = 0
    up: int = 0
    down: int = 0  # once; it goes to each worker
    widest: int = 0  # the largest message
    measured: int = 0
    seconds: float = 0.0


@dataclass
class ClusterRun:
    """A run over shards, from the first pass to the stop; all of it but the rows can be saved and taken up again."""

    params: LinearParams
    mixer: Mixer
    parts: int  # mixes per epoch
    mixed: Mixed
    stopping: StoppingCriterion
    generators: list[NDArray[np.uint64]]  # of each shard, at the beginning of this epoch
    sizes: list[int]  # rows of each shard
    weight: float  # of all rows
    place: int = 0  # mixes of this epoch that are done
    tallies: list[Tally] = field(default_factory=list)  # of these mixes
    seconds: float = 0.0  # that they took
    traffic: Traffic = field(default_factory=Traffic)
    losses: int = 0  # how often work had to be done again
    products: Products | None = None

    @property
    def alone(self) -> bool:
        return len(self.sizes) == 1

    def run(
        self,
        hands: Hands,
        rows: Sequence[Any],
        *,
        on_mix: Callable[[ClusterRun], None] | None = None,
        on_epoch: Callable[[ClusterRun], None] = lambda run: None,
        on_shard: Callable[[], None] | None = None,
    ) -> None:
        """Go on until a stopping rule holds.

        With `on_mix` the state comes to the client after every mix, to be saved; else from time to time. `on_shard` is
        called from another thread when a shard is through with its part.
        """
        sent, failures, moved = hands.traffic(), 0, time.monotonic()
        handles: tuple[Any, Any] | None = None
        age, held = 0, time.monotonic()  # mixes since the client's copy went out to the workers, and when it did
        while self.stopping.stop_reason is None:
            known = self._snapshot()
            try:
                if handles is None or age >= SAFE_EPOCHS * self.parts or time.monotonic() - held > SAFE_SECONDS:
                    mixed = hands.hold(self.mixed)
                    handles, age, held = (mixed, hands.submit(front_of, mixed, self.alone)), 0, time.monotonic()
                before = self.traffic.mixes
                if on_mix is None:
                    handles = self._advance(hands, rows, handles, on_epoch, on_shard)
                else:
                    handles = self._run_part(hands, rows, handles, self.place + 1, on_shard)
                self.mixed = hands.results([handles[0]])[0]
                age, failures, moved = age + self.traffic.mixes - before, 0, time.monotonic()
            except Lost as error:
                self._restore(known)
                if hands.are_lost(rows):
                    raise ClusterError(
                        "a lost worker was the only one with some of the rows, and they cannot be made again: name "
                        "files, or collections that Dask can compute, rather than scattered data"
                    ) from None
                self.losses, failures, handles = self.losses + 1, failures + 1, None
                if failures >= MOST_LOSSES and time.monotonic() - moved > hands.patience:
                    raise ClusterError(
                        f"workers were lost {failures} times in a row at the same work, the last time with: "
                        f"{' '.join(str(error).split())[:300]}"
                    ) from None
                time.sleep(min(0.1 * 2**failures, 1.0))
                continue
            if on_mix is not None:
                on_mix(self)
            if self.place == 0:
                on_epoch(self)
        self.traffic.measured += max(0, hands.traffic() - sent)

    def _advance(
        self,
        hands: Hands,
        rows: Sequence[Any],
        handles: tuple[Any, Any],
        on_epoch: Callable[[ClusterRun], None],
        on_shard: Callable[[], None] | None,
    ) -> tuple[Any, Any]:
        """Epochs up to where the client should have the state."""
        started = time.monotonic()
        for epoch in range(SAFE_EPOCHS):
            if epoch:
                on_epoch(self)
            handles = self._run_part(hands, rows, handles, self.parts, on_shard)
            if self.stopping.stop_reason is not None or time.monotonic() - started > SAFE_SECONDS:
                break
        return handles

    def _run_part(
        self,
        hands: Hands,
        rows: Sequence[Any],
        handles: tuple[Any, Any],
        end: int,
        on_shard: Callable[[], None] | None,
    ) -> tuple[Any, Any]:
        """The mixes of this epoch up to the `end`-th; nobody waits for the client between them."""
        began, waiting, moved = time.perf_counter(), [], []
        for part in range(self.place, end):
            handles = self._mix(hands, rows, *handles, part, on_shard)
            waiting.append(hands.submit(tally_of, *handles))
        if end == self.parts:
            moved = [hands.submit(shard.moved_generator, each, self._told(k, 0)) for k, each in enumerate(rows)]
        for found in hands.results(waiting):
            self._hear(*found)
        self.seconds += time.perf_counter() - began
        if end == self.parts:
            self.generators = hands.results(moved)
            self._end_epoch(hands, rows, handles[1])
        return handles

    def _mix(
        self,
        hands: Hands,
        rows: Sequence[Any],
        mixed: Any,
        front: Any,
        part: int,
        on_shard: Callable[[], None] | None,
    ) -> tuple[Any, Any]:
        changes = [hands.submit(shard.learn, each, front, self._told(k, part)) for k, each in enumerate(rows)]
        if on_shard is not None:
            for change in changes:
                change.add_done_callback(lambda _: on_shard())
        width = SMALL_WIDTH if size_of(self.mixed.state) <= SMALL else 2
        mixed = hands.submit(mix, mixed, _climb(hands, changes, width), self.mixer)
        return mixed, hands.submit(front_of, mixed, self.alone)

    def _told(self, k: int, part: int) -> shard.Pass:
        return shard.Pass(self.params, self.mixer, self.generators[k], part, self.parts, self.products)

    def _hear(self, tally: Tally, down: int) -> None:
        self.tallies.append(tally)
        self.place += 1
        traffic = self.traffic
        traffic.mixes, traffic.up, traffic.down = traffic.mixes + 1, traffic.up + tally.bytes, traffic.down + down
        traffic.widest = max(traffic.widest, tally.widest, down)

    def _end_epoch(self, hands: Hands, rows: Sequence[Any], front: Any) -> None:
        total = Tally()
        for tally in self.tallies:
            total = total.plus(tally)
        if not total.rows:
            raise DataError("the data has no rows")
        self.traffic.seconds += self.seconds
        epoch = Epoch(
            total.mistakes,
            total.updates,
            total.mistake_weight,
            total.weight,
            total.rows,
            finite=total.finite,
            seconds=self.seconds,
        )
        self.stopping.update(epoch, lambda: self._separates(hands, rows, front))
        self.place, self.tallies, self.seconds = 0, [], 0.0

    def _separates(self, hands: Hands, rows: Sequence[Any], front: Any) -> bool:
        """Do the weights at the end of the epoch get every row right?"""
        found = [hands.submit(shard.count_mistakes, each, front, self._told(k, 0)) for k, each in enumerate(rows)]
        return not any(hands.results(found))

    def _snapshot(self) -> dict[str, Any]:
        stopping = replace(self.stopping, history=replace(self.stopping.history))
        for name in ("mistakes", "updates", "seconds", "validation_score"):
            setattr(stopping.history, name, list(getattr(self.stopping.history, name)))
        kept = {name: getattr(self, name) for name in ("mixed", "place", "seconds")}
        return kept | {
            "stopping": stopping,
            "generators": list(self.generators),
            "tallies": list(self.tallies),
            "traffic": replace(self.traffic),
        }

    def _restore(self, known: dict[str, Any]) -> None:
        """Back to where the client had the state."""
        for name, value in known.items():
            setattr(self, name, value)


def _climb(hands: Hands, changes: Sequence[Any], width: int) -> list[Any]:
    """Changes added in groups, up to the last one; the groups, of 2, 4 or 8, say nothing about the sum."""
    level = list(changes)
    while len(level) > width:
        groups = [level[at : at + width] for at in range(0, len(level), width)]
        level = [hands.submit(add, group) if len(group) > 1 else group[0] for group in groups]
    return level


def tree(hands: Hands, join: Callable[[Any, Any], Any], handles: Sequence[Any]) -> Any:
    """All of them joined, neighbors first: the order depends on how many there are, and on nothing else."""
    level = list(handles)
    while len(level) > 1:
        pairs = [hands.submit(join, *level[at : at + 2]) for at in range(0, len(level) - 1, 2)]
        level = [*pairs, *level[len(level) - len(level) % 2 :]]
    return level[0]
