"""A simulation of a large cluster: what slow workers and lost workers cost an epoch, event by event.

Shards are queued at workers; a pass takes the time of its rows at the worker's own pace, times a random hindrance. A
mix begins when the last shard is through. A worker that is lost comes back after a while; its shards are read and
learned again by the others. Pace, bytes and delays are those that were measured, and can be given.
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
    rng = np.random.default_rng(seed)
    slots = machines.workers * machines.cores
    pace = np.repeat(rng.lognormal(0.0, machines.spread, machines.workers), machines.cores)
    home = np.arange(machines.shards) % slots
    rate = machines.failures / 3600
    clock = 0.0
    lost_until = np.zeros(machines.workers)
    next_loss = rng.exponential(1 / rate, machines.workers) if rate else np.full(machines.workers, np.inf)
    for _ in range(epochs * machines.mixes):
        clock = _one_mix(machines, rng, pace, home, clock, next_loss, lost_until, rate) + machines.mix
    return clock / epochs


def _one_mix(
    machines: Machines, rng: Any, pace: Any, home: Any, clock: float, next_loss: Any, lost_until: Any, rate: float
) -> float:
    """When the last shard is through; shards of lost workers move to where there is time."""
    slots, order = len(pace), itertools.count()
    free = np.maximum(np.full(slots, clock), np.repeat(lost_until, machines.cores))
    events: list[tuple[float, int, str, int, int]] = []
    waiting: list[list[int]] = [[] for _ in range(slots)]
    moved: set[int] = set()
    for shard in range(machines.shards):
        waiting[home[shard]].append(shard)

    def begin(slot: int, now: float) -> None:
        if not waiting[slot]:
            return
        shard = waiting[slot].pop(0)
        seconds = machines.passing * pace[slot] * (3.0 if rng.random() < machines.hindrance else 1.0)
        if shard in moved:
            seconds += machines.loading
            moved.discard(shard)
        worker = slot // machines.cores
        start = max(now, lost_until[worker])
        if next_loss[worker] < start + seconds:
            heapq.heappush(events, (float(max(next_loss[worker], start)), next(order), "loss", slot, shard))
        else:
            heapq.heappush(events, (start + seconds, next(order), "done", slot, shard))

    for slot in range(slots):
        begin(slot, float(free[slot]))
    left, last = machines.shards, clock
    while left:
        now, _, kind, slot, shard = heapq.heappop(events)
        worker = slot // machines.cores
        if kind == "done" and now <= next_loss[worker]:
            left, last = left - 1, max(last, now)
            begin(slot, now)
            continue
        if now >= next_loss[worker]:
            lost_until[worker] = next_loss[worker] + machines.comeback
            next_loss[worker] = lost_until[worker] + rng.exponential(1 / rate)
        # Its rows are gone with it: this shard, and those that wait here, go to the machine that is free first.
        others = [k for k in range(slots) if k // machines.cores != worker] or [slot]
        for each in [shard, *waiting[slot]]:
            target = min(others, key=lambda k: (len(waiting[k]), k))
            idle = not waiting[target]
            waiting[target].append(each)
            moved.add(each)
            home[each] = target
            if idle:
                begin(target, now)
        waiting[slot] = []
    return last


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pace", type=float, default=Machines.pace, help="values per second and core")
    args = parser.parse_args()
    seeds = range(3 if args.quick else 10)
    rows = []
    kinds: dict[str, dict[str, Any]] = {
        "all alike": {"spread": 0.0, "hindrance": 0.0},
        "machines differ by 10 %": {"hindrance": 0.0},
        "and 2 % of passes take 3 times as long": {},
        "and a worker is lost every 1,000 hours": {"failures": 0.001},
        "and every 10 hours": {"failures": 0.1},
    }
    for shards in (800, 1600, 3200):
        for name, told in kinds.items():
            machines = Machines(shards=shards, pace=args.pace, **told)
            found = [simulate(machines, seed, epochs=20) for seed in seeds]
            formula = machines.formula()
            row = {"shards": shards, "what happens": name, "formula, s": formula, "simulated, s": float(np.mean(found))}
            rows.append(row | {"times the formula": float(np.mean(found)) / formula})
    title = "an epoch over 10^9 rows x 1,000 values on 100 machines of 8 cores"
    show(title, rows)
    save(args.json, {title: rows})


if __name__ == "__main__":
    main()
