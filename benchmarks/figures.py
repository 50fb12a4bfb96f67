"""The figures of README.md and docs by name, read from the results; and the goals, met or missed.

    python benchmarks/figures.py    the goals, by benchmarks/results

A figure whose result is not there raises KeyError.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from measure import Found, Row, render_cell, show

Results = dict[str, Found]
STREAM = "20,000 dicts of 60 out of {} features"
TEXT = "text 200,000 x 200,000"


def pick(rows: list[Row], **about: Any) -> Row:
    """The one row that has these values."""
    for row in rows:
        if all(row.get(name) == value for name, value in about.items()):
            return row
    raise KeyError(str(about))


def ratio(results: Results, script: str, table: str, data: str, who: str, **about: Any) -> float:
    """The time of a peer over that of our first row on the same data."""
    return float(pick(results[script][table], data=data, who=who, **about)["ratio"])


def beside_vw(results: Results, table: str) -> float:
    """The time of VW over ours, from a file to a model, one pass."""
    rows = [row for row in results["files"][f"{table}, by wall time"] if row["data"].endswith("one pass")]
    return float(pick(rows, who="VW")["ratio"])


PEER, OVR = "scikit-learn Perceptron", "scikit-learn Perceptron, one-vs-rest"
SHUFFLED = {"order": "shuffled", "type": "float64"}
SHUFFLED_32 = {"order": "shuffled", "type": "float32"}
#: The least ratio that the project aims at. It stands here alone.
GOALS: list[tuple[float, str, Callable[[Results], float]]] = [
    (9, "1,000,000 x 20 float64", lambda r: narrow(r, **SHUFFLED)),
    (11, "1,000,000 x 20 float32", lambda r: narrow(r, **SHUFFLED_32)),
    (3, "60,000 x 784 float64", lambda r: ratio(r, "linear", "Two classes", "dense 60,000 x 784", PEER, **SHUFFLED)),
    (
        5.5,
        "60,000 x 784 float32",
        lambda r: ratio(r, "linear", "Two classes", "dense 60,000 x 784", PEER, **SHUFFLED_32),
    ),
    (4, TEXT, lambda r: ratio(r, "linear", "Two classes", TEXT, PEER, **SHUFFLED)),
    (9, "MNIST, joint", lambda r: mnist(r)),
    (15, "river, known names", lambda r: stream(r, "1,000")),
    (4, "323 MB of text, one pass, VW", lambda r: beside_vw(r, "From a file to a model")),
    (1, "44 MB of text, whole process, VW", lambda r: beside_vw(r, "The whole process")),
]


def narrow(results: Results, **about: Any) -> float:
    return ratio(results, "linear", "Two classes", "dense 1,000,000 x 20", PEER, **about)


def mnist(results: Results) -> float:
    return ratio(results, "linear", "Ten classes", "MNIST", OVR, type="float64")


def stream(results: Results, names: str) -> float:
    return ratio(results, "linear", "One example at a time", STREAM.format(names), "river Perceptron")


def tell_speed(results: Results) -> str:
    ours = pick(
        results["linear"]["Ten classes"], data="MNIST", type="float64", who="rosenblatt Perceptron, one-vs-rest"
    )
    joint, known, new = mnist(results), stream(results, "1,000"), stream(results, "100,000")
    return (
        f"{narrow(results, **SHUFFLED):.1f}x scikit-learn's `Perceptron` on 1,000,000 x 20 numbers; on MNIST "
        f"{joint:.1f}x jointly beside its one-vs-rest, {joint / ours['ratio']:.1f}x with one-vs-rest in both; "
        f"{known:.0f}x river on dicts of known names, {new:.1f}x with many new ones"
    )


def tell_stream(results: Results) -> str:
    about = {"data": STREAM.format("1,000"), "who": "rosenblatt Perceptron"}
    return f"{pick(results['linear']['One example at a time'], **about)['ns per row'] / 1000:.1f} µs"


def tell_kernels(results: Results) -> list[Row]:
    columns = ("error %", "±", "CPU s", "support rows")
    return [{"": row["who"], **{key: row[key] for key in columns}} for row in results["support_vectors"]["Kernels"]]


def tell_papers(results: Results) -> list[Row]:
    lines = []
    for degree in (2, 3, 4, 5):
        table = results["freund_schapire"][f"Degree {degree}"]
        votes, mistakes = (pick(table, **{"the paper / ours": name}) for name in ("vote", "Mistake"))
        for epoch in (1, 10, 30):
            if (column := f"T = {epoch}") in votes:
                figures = {"mistakes": mistakes[column], "voted test error in %": votes[column]}
                lines.append({"d": degree, "T": epoch, **figures})
    return lines


def tell_crammer(results: Results) -> list[Row]:
    return [
        {"rule": row["rule"], "mistakes": f"{row['mistakes in the paper']:,} / {row['mistakes']:,}"}
        for row in results["crammer"]["One pass"]
    ]


#: What docs/growth.md extrapolates to.
ROWS, VALUES, WEIGHTS, MACHINES, CORES = 10**9, 1_000, 10**6, 100, 8


def constants(results: Results) -> dict[str, float]:
    """Seconds and rates of one core, of one step of a mix and of the scheduler, as measured."""
    wide = pick(results["linear"]["Two classes"], data="dense 60,000 x 784", who="rosenblatt Perceptron", **SHUFFLED_32)
    text = next(
        row
        for row in results["files"]["From a file to a model, by wall time"]
        if row["who"] == "rosenblatt, in order" and row["data"].endswith("one pass")
    )
    by_weights = np.array([[row["weights"], row["ms per mix"]] for row in results["cluster"]["A mix by weights"]])
    by_shards = np.array([[row["shards"], row["ms per mix"]] for row in results["cluster"]["A mix by shards"]])
    return {
        "pace": 784 / (wide["ns per row"] * 1e-9),
        "reading": float(text["data"].split()[0]) * 1e6 / text["CPU s"],
        "per weight": np.polyfit(*by_weights.T, 1)[0] / 1000,
        "per shard": np.polyfit(*by_shards.T, 1)[0] / 1000,
    }


def tell_constants(results: Results) -> list[Row]:
    found = constants(results)
    return [
        {"constant": "pace, float32 values per second and core", "measured": found["pace"], "by": "`linear.py`"},
        {"constant": "reading, bytes of text per CPU second", "measured": found["reading"], "by": "`files.py`"},
        {"constant": "a mix, ns per weight and level", "measured": 1e9 * found["per weight"], "by": "`cluster.py`"},
        {"constant": "a mix, ms per shard", "measured": 1e3 * found["per shard"], "by": "`cluster.py`"},
    ]


def tell_billion(results: Results) -> list[Row]:
    found, cores = constants(results), MACHINES * CORES
    learning = ROWS * VALUES / (found["pace"] * cores)
    scheduling, levels = found["per shard"] * cores, math.ceil(math.log2(MACHINES))
    moving = levels * WEIGHTS * found["per weight"]
    mix = scheduling + moving

    def line(figure: str, source: str, seconds: float) -> Row:
        return {"figure": figure, "from": source, "seconds": f"{seconds:,.1f}"}

    return [
        line("reading 10 TB of text, once", "values x 10 bytes / (reading x cores)", 1e13 / (found["reading"] * cores)),
        line("learning, per epoch", "rows x values / (pace x cores)", learning),
        line("the scheduler, per mix", "per shard x shards", scheduling),
        line("weights on their way, per mix", f"per weight x weights x {levels} levels", moving),
        line('an epoch with `mixing="mean"`, 1 mix', "learning + mix", learning + mix),
        line('an epoch with `mixing="momentum"`, 10 mixes', "learning + 10 x mix", learning + 10 * mix),
    ]


def tell_limits(results: Results) -> str:
    found = constants(results)
    values = ROWS * VALUES / found["pace"]
    shards, weights = math.sqrt(values / (10 * found["per shard"])), 0.1 / found["per weight"]
    levels = math.ceil(math.log2(MACHINES))
    return (
        f"With ten mixes per epoch the scheduler takes as long as the learning from {render_cell(float(shards))} "
        f"shards on; with one mix, from {render_cell(shards * math.sqrt(10))}. More cores than that make an epoch "
        f"slower. A mix takes 0.1 s per level of the tree with {render_cell(float(weights))} weights, and "
        f"{render_cell(1e8 * found['per weight'] * levels)} s over {levels} levels with 10^8."
    )


FIGURES: dict[str, Callable[[Results], str | list[Row]]] = {
    "speed": tell_speed,
    "stream": tell_stream,
    "kernels": tell_kernels,
    "papers": tell_papers,
    "crammer": tell_crammer,
    "exponents": lambda results: results["growth"]["Exponents"],
    "constants": tell_constants,
    "billion": tell_billion,
    "limits": tell_limits,
}


def main() -> None:
    folder = Path(__file__).parent / "results"
    results = {path.stem: json.loads(path.read_text())["found"] for path in folder.glob("*.json")}
    lines = []
    for least, name, figure in GOALS:
        found = figure(results)
        lines.append({"goal": name, "at least": least, "found": found, "state": "met" if found >= least else "missed"})
    show("Goals: times as fast as the peer", lines)


if __name__ == "__main__":
    main()
