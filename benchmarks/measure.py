"""Timing by turns: every contestant runs once before any runs again, so that a busy moment hits them all.

Invariant: seconds are CPU seconds of this process. Every contestant uses one thread, so on a quiet machine they are
wall seconds, and on a busy one the time that other programs took is not counted; wall seconds are kept beside them.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Times:
    """The seconds of each repeat of one contestant."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.cpu)

    @property
    def median(self) -> float:
        return statistics.median(self.cpu)

    @property
    def best_wall(self) -> float:
        return min(self.wall)


@dataclass(frozen=True)
class Ratio:
    """How many times as long the peer took: of the medians, and of the luckiest and unluckiest single turn."""

    median: float
    least: float
    most: float

    def columns(self) -> dict[str, float]:
        return {"ratio": self.median, "least": self.least, "most": self.most}


def take_turns(contestants: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Times]:
    """Time every contestant `repeats` times, by turns, in alternating order."""
    times = {name: Times() for name in contestants}
    for turn in range(repeats):
        names = list(contestants)
        for name in names if turn % 2 == 0 else reversed(names):
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            contestants[name]()
            times[name].cpu.append(time.process_time() - cpu)
            times[name].wall.append(time.perf_counter() - wall)
    return times


def compare(ours: Times, theirs: Times) -> Ratio:
    """The ratio of the medians, with the spread of the turns."""
    turns = [their / our for their, our in zip(theirs.cpu, ours.cpu, strict=True)]
    return Ratio(theirs.median / ours.median, min(turns), max(turns))


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of the same keys as a table."""
    if not rows:
        return
    cells = [[str(key) for key in rows[0]], *([render_cell(value) for value in row.values()] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    print(f"\n{title}")
    for line in cells:
        print(
            "  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip(), flush=True
        )


def render_cell(value: Any) -> str:
    """A figure with as many digits as it deserves."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return "" if value is None else str(value)


def save(path: str | None, result: Any) -> None:
    """Write the result as JSON, if a file was asked for."""
    if path:
        Path(path).write_text(json.dumps(result, indent=1) + "\n")
