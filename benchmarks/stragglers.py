"""A simulation of a large cluster: what slow workers and lost workers cost an epoch, event by event.

Shards are queued at cores; a pass takes the time of its rows at the machine's own pace, times a random hindrance. A
mix begins when the last shard is through. A worker that is lost comes back after a while, empty; all of its shards are
read again by others, which have more to do from then on. Pace and delay can be given, as `cluster.py` measures them.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from measure import save, show


@dataclass(frozen=True)
class Machines:
    """A cluster and the work it has."""

    workers: int = 100
    cores: int = 8  # of each; a shard is learned by one
    shards: int = 800
    rows: float = 1e9
    values: float = 1000  # per row
    pace: float = 1e9  # values per second and core, from memory
    reading: float = 200e6  # bytes per second and core, of text or Parquet, when rows are read
    bytes_per_value: float = 4.0
    weights: float = 1e6
    weight_bytes: float = 4.0
    network: float = 1.25e9  # bytes per second and machine: 10 Gb/s
    delay: float = 0.02  # seconds per step of the tree, scheduling included
    mixes: int = 10
    spread: float = 0.1  # of the pace of machines, as a share
    hindrance: float = 0.02  # the chance that a pass takes three times as long
    failures: float = 0.0  # losses per worker and hour
    comeback: float = 60.0  # seconds until a lost worker is there again

    @property
    def mix(self) -> float:
        """Seconds per mix: up a tree of the workers, and down to all of them."""
        steps = math.ceil(math.log2(max(self.workers, 2)))
        return 2 * steps * (self.weights * self.weight_bytes / self.network + self.delay)

    @property
    def passing(self) -> float:
        """Seconds of a shard's part between two mixes, undisturbed."""
        return self.rows * self.values / self.pace / self.shards / self.mixes

    @property
    def loading(self) -> float:
        """Seconds to read a shard again."""
        return self.rows * self.values * self.bytes_per_value / self.shards / self.reading

    def formula(self) -> float:
        """Seconds per epoch without slow or lost workers."""
        return self.mixes * (self.passing * math.ceil(self.shards / (self.workers * self.cores)) + self.mix)


def simulate(machines: Machines, seed: int, epochs: int = 1) -> float:
    """Seconds per epoch."""
    cluster = Simulation(machines, np.random.default_rng(seed))
    for _ in range(epochs * machines.mixes):
        cluster.mix()
    return cluster.clock / epochs


class Simulation:
    """A cluster at work. A core takes one shard at a time; a shard stays where its rows are until they are lost."""

    def __init__(self, machines: Machines, rng: np.random.Generator) -> None:
        self.machines, self.rng, self.clock = machines, rng, 0.0
        self.slots = machines.workers * machines.cores
        self.pace = np.repeat(rng.lognormal(0.0, machines.spread, machines.workers), machines.cores)
        self.home = np.arange(machines.shards) % self.slots
        self.unread: set[int] = set()  # shards whose rows have to be read before they are learned from
        self.back = np.zeros(machines.workers)  # when a lost worker is there again
        rate = machines.failures / 3600
        self.life = 1 / rate if rate else math.inf
        drawn = rng.exponential(1.0, machines.workers)
        self.next_loss = drawn * self.life if rate else np.full(machines.workers, np.inf)

    def mix(self) -> None:
        """All shards once, and the mix; on exit the clock says when it was done."""
        self.waiting: list[list[int]] = [[] for _ in range(self.slots)]
        self.running: list[int | None] = [None] * self.slots
        self.begun = [0] * self.slots  # how many passes a core has begun: an event of an earlier one is void
        self.events: list[tuple[float, int, str, int, int]] = []
        self.order = itertools.count()
        for shard, slot in enumerate(self.home):
            self.waiting[slot].append(shard)
        for worker in np.flatnonzero(np.isfinite(self.next_loss)):
            self._push(self.next_loss[worker], "loss", int(worker), 0)
        for slot in range(self.slots):
            self._begin(slot, self.clock)
        left, last = self.machines.shards, self.clock
        while left:
            now, _, kind, place, number = heapq.heappop(self.events)
            if kind == "loss":
                self._lose(place, max(now, self.clock))
            elif number == self.begun[place]:
                self.running[place] = None
                left, last = left - 1, max(last, now)
                self._begin(place, now)
        self.clock = last + self.machines.mix

    def _push(self, now: float, kind: str, place: int, number: int) -> None:
        heapq.heappush(self.events, (float(now), next(self.order), kind, place, number))

    def _begin(self, slot: int, now: float) -> None:
        """Let a core that is free take the next shard that waits for it."""
        if self.running[slot] is not None or not self.waiting[slot]:
            return
        shard = self.waiting[slot].pop(0)
        seconds = self.machines.passing * self.pace[slot] * (3.0 if self.rng.random() < self.machines.hindrance else 1)
        if shard in self.unread:
            seconds += self.machines.loading
            self.unread.discard(shard)
        self.running[slot] = shard
        self.begun[slot] += 1
        start = max(now, self.back[slot // self.machines.cores])
        self._push(start + seconds, "done", slot, self.begun[slot])

    def _lose(self, worker: int, now: float) -> None:
        """All rows of a worker are gone: its shards go to the cores that have the fewest, and are read there."""
        own = range(worker * self.machines.cores, (worker + 1) * self.machines.cores)
        undone = [shard for slot in own for shard in self.waiting[slot]]
        undone += [shard for slot in own if (shard := self.running[slot]) is not None]
        for slot in own:
            self.waiting[slot], self.running[slot] = [], None
            self.begun[slot] += 1
        self.back[worker] = now + self.machines.comeback
        self.next_loss[worker] = self.back[worker] + self.rng.exponential(1.0) * self.life
        self._push(self.next_loss[worker], "loss", worker, 0)
        held = np.bincount(self.home, minlength=self.slots)
        held[self.back[np.arange(self.slots) // self.machines.cores] > now] = self.machines.shards
        for shard in np.flatnonzero(np.isin(self.home, own)).tolist():
            target = int(held.argmin())
            held[target] += 1
            self.home[shard] = target
            self.unread.add(shard)
        for shard in undone:
            self.waiting[self.home[shard]].append(shard)
            self._begin(int(self.home[shard]), now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pace", type=float, default=Machines.pace, help="values per second and core")
    parser.add_argument("--delay", type=float, default=Machines.delay, help="seconds per step of the tree")
    args = parser.parse_args()
    seeds = range(3 if args.quick else 10)
    rows = []
    kinds: dict[str, dict[str, Any]] = {
        "all alike": {"spread": 0.0, "hindrance": 0.0},
        "machines differ by 10 %": {"hindrance": 0.0},
        "and 2 % of passes take 3 times as long": {},
        "and each worker is lost every 1,000 hours": {"failures": 0.001},
        "and each worker is lost every 10 hours": {"failures": 0.1},
        "and each worker is lost every hour": {"failures": 1.0},
    }
    for shards in (800, 1600, 3200):
        for name, told in kinds.items():
            machines = Machines(shards=shards, pace=args.pace, delay=args.delay, **told)
            found = [simulate(machines, seed, epochs=20) for seed in seeds]
            formula = machines.formula()
            row = {"shards": shards, "what happens": name, "formula, s": formula, "simulated, s": float(np.mean(found))}
            rows.append(row | {"times the formula": float(np.mean(found)) / formula})
    title = "an epoch over 10^9 rows x 1,000 values on 100 machines of 8 cores"
    show(title, rows)
    save(args.json, {title: rows})


if __name__ == "__main__":
    main()
