"""The harness: contestants take turns on one thread, and everything recorded about them comes from here.

Invariant: the same threads, CPU and wall time, and seeds for all. A turn lets every contestant run once before any runs
again, so that a busy moment affects them all, and the number of the turn is everybody's seed. Seconds are CPU seconds
of this process: on a quiet machine they are wall seconds, on a busy one they leave out other programs' time.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SEEDS = 10

_limits = {"turns": math.inf}  # set by --turns

Row = dict[str, Any]
Found = dict[str, list[Row]]


class MissingError(Exception):
    """A data set or a program is not there: the part that needs it is left out."""


@dataclass
class Times:
    """The seconds of each run of one contestant, and the error of each if there is one."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)


def take_turns(
    contestants: Mapping[str, Callable[[int], Any]],
    turns: int,
    score: Callable[[Any], float] | None = None,
    limit: float = math.inf,
) -> dict[str, Times]:
    """Call every contestant with the number of the turn, in alternating order; `score` is not timed.

    A contestant that has taken `limit` CPU seconds in all does not run again.
    """
    times = {name: Times() for name in contestants}
    for turn in range(count_turns(turns)):
        for name in sorted(contestants, key=list(contestants).index, reverse=turn % 2 == 1):
            runs = times[name]
            if sum(runs.cpu) > limit:
                continue
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            result = contestants[name](turn)
            runs.cpu.append(time.process_time() - cpu)
            runs.wall.append(time.perf_counter() - wall)
            if score:
                runs.errors.append(score(result))
    return times


def count_turns(turns: int) -> int:
    """So many turns, or the fewer that --turns asks for."""
    return int(min(turns, _limits["turns"]))


def as_rows(times: Mapping[str, Times], about: Row, *, visits: int = 0, clock: str = "cpu") -> list[Row]:
    """A row per contestant: medians, and `ratio`, its time over that of the first.

    `least` and `most` are the ratio of the single turns, and `±` the half of the error's 95 % interval over seeds.
    """
    ours = getattr(next(iter(times.values())), clock)
    rows = []
    for name, runs in times.items():
        theirs = getattr(runs, clock)
        same = ours[: len(theirs)]  # the same turns
        each = [their / our for their, our in zip(theirs, same, strict=True)]
        row = {**about, "who": name, "CPU s": statistics.median(runs.cpu), "wall s": statistics.median(runs.wall)}
        if visits:
            row["ns per row"] = 1e9 * statistics.median(theirs) / visits
        row |= {"ratio": statistics.median(theirs) / statistics.median(same), "least": min(each), "most": max(each)}
        if runs.errors:
            row |= {"error %": statistics.mean(runs.errors), "±": half_interval(runs.errors)}
        rows.append({**row, "runs": len(runs.cpu)})
    return rows


def half_interval(values: list[float]) -> float | None:
    """Half of the 95 % interval of the mean, by Student's t; None with fewer than three values."""
    from scipy.stats import t

    if len(values) < 3:
        return None
    return float(t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))


def run_script(doc: str | None, parts: Mapping[str, Callable[[bool], Found]]) -> None:
    """The command line of a benchmark: `[PART ...] [--quick] [--json FILE]`; each part is called with `quick`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts)} (all)")
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer turns")
    parser.add_argument("--turns", type=int, metavar="N", help="at most so many turns")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(parts):
        parser.error(f"there is no part {unknown.pop()!r}: choose from {', '.join(parts)}")
    if not os.environ.items() >= ONE_THREAD.items():  # libraries read it when they are imported: begin again
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ONE_THREAD)
    from threadpoolctl import threadpool_limits

    _limits["turns"] = args.turns or math.inf
    found: Found = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of epochs is given, and some classes are deprecated
        for name in args.parts or parts:
            started = time.perf_counter()
            try:
                tables = parts[name](args.quick)
            except MissingError as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
                continue
            for title, rows in tables.items():
                found[title] = found.get(title, []) + rows
                show(title, rows)
            if tables:
                print(f"({name}: {time.perf_counter() - started:.0f} s)", flush=True)
    save(args.json, found)


def save(path: str | None, found: Any) -> None:
    """Write the result as JSON, if a file was named."""
    if path:
        Path(path).write_text(json.dumps(found, indent=1) + "\n")


def show(title: str, rows: list[Row]) -> None:
    """Print rows as a table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([render_cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(names))]
    print(f"\n{title}")
    for line in cells:
        print("  " + "  ".join(map(str.ljust, line, widths)).rstrip(), flush=True)


def render_cell(value: Any) -> str:
    """A figure with three digits, or all of them before the point."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return "" if value is None else str(value)
