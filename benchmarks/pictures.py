"""Pictures of the results: small SVG files whose ink can be read on a light and on a dark page.

Invariant: a picture shows figures of its result and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

INK, OURS, THEIRS = "#7d8590", "#2f81f7", "#9aa4ae"
SERIES = (OURS, "#d9822b", "#3fb950", "#bc6ad9", "#db5a5a")
#: Megabytes; below this, memory cannot be distinguished from the system's own strides.
LEAST_MEMORY = 0.1
STYLE: Any = {
    "svg.fonttype": "none",  # words stay words: small files that can be searched
    "svg.hashsalt": "rosenblatt",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlesize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "savefig.transparent": True,
}


def draw(script: str, found: Any, folder: Path) -> list[str]:
    """Draw what there is to draw of a result; the names of the files."""
    names = []
    with mpl.rc_context(STYLE):
        for name, make in PICTURES.get(script, {}).items():
            figure = make(found)
            if figure is not None:
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
                names.append(f"{name}.svg")
    return names


def draw_speed(found: dict[str, Any]) -> Figure | None:
    """Pairs of bars, the peer's and ours, each pair on a scale of its own: the peer's time is 1."""
    rows = [
        row
        for table in ("Two classes", "Ten classes", "One example at a time")
        for row in found.get(table, [])
        if row["who"].startswith(("scikit-learn Perceptron", "river")) and row.get("order") != "in order"
    ]
    if not rows:
        return None
    figure = Figure(figsize=(6.4, 0.55 * len(rows) + 0.5), layout="constrained")
    ax = figure.subplots()
    for at, row in enumerate(reversed(rows)):
        ratio = row["ratio"]
        ax.barh(at + 0.2, 1, 0.34, color=THEIRS)
        ax.barh(at - 0.2, 1 / ratio, 0.34, color=OURS)
        ax.text(0.985, at + 0.2, row["who"], ha="right", va="center", color="#1c2230", fontsize=7.5)
        ax.text(1 / ratio + 0.01, at - 0.2, f"rosenblatt, {ratio:.1f}x as fast", va="center", fontsize=8)
    labels = ["\n".join(str(row[key]) for key in ("data", "type") if key in row) for row in reversed(rows)]
    ax.set_yticks(range(len(rows)), [label.replace(" of 60", "\nof 60") for label in labels])
    ax.set_xlim(0, max(1.01, *(1 / row["ratio"] for row in rows)))
    ax.set_xlabel("training time at the same epochs, one thread; the peer's is 1")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def draw_accuracy(found: dict[str, Any]) -> Figure | None:
    """A line per data set: where our error stands among the peers', with the interval over the seeds."""
    rows = found["Defaults"]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    figure = Figure(figsize=(6.4, 0.36 * len(sets) + 0.9), layout="constrained")
    ax = figure.subplots()
    for row in rows:
        at = len(sets) - 1 - sets.index(row["set"])
        who = row["who"]
        color = OURS if who == "rosenblatt AutoPerceptron" else SERIES[1] if who.startswith("rosenblatt") else THEIRS
        how = {"fmt": "o", "markersize": 4, "elinewidth": 0.8, "color": color, "zorder": 2 if color == THEIRS else 3}
        label = {OURS: "rosenblatt", THEIRS: "peers"}.get(color, "rosenblatt, products=False")
        known = label in ax.get_legend_handles_labels()[1]
        ax.errorbar(row["error %"], at, xerr=row["±"], label=None if known else label, **how)
    ax.set_yticks(range(len(sets)), list(reversed(sets)))
    ax.set_xlabel("test error at defaults, %, with the 95 % interval over seeds")
    figure.legend(fontsize=8, loc="outside upper right", ncols=3)
    return figure


def draw_growth(found: dict[str, Any]) -> Figure | None:
    """Time above, memory below, one column a sweep, on log axes; the exponent beside each line's end."""
    sweeps = {row["against"]: row for row in found["Exponents"]}
    figure = Figure(figsize=(2.3 * len(sweeps), 4.2), layout="constrained")
    axes = figure.subplots(2, len(sweeps), squeeze=False, sharey="row")
    for column, (against, exponents) in enumerate(sweeps.items()):
        points = [row for row in found["Sizes"] if row["against"] == against]
        above, below = axes[0][column], axes[1][column]
        for name, title, color in (("scikit-learn s", "scikit-learn", THEIRS), ("ours s", "ours", OURS)):
            _line(above, points, name, title, color, exponents)
        _line(below, points, "our peak MB beyond it", "our memory", OURS, exponents)
        above.set_title(exponents["held"].replace(", ", ",\n"), fontsize=8)
        below.set_xlabel(against)
        if not any((row["our peak MB beyond it"] or 0) > LEAST_MEMORY for row in points):
            below.text(0.5, 0.5, f"below {LEAST_MEMORY} MB", transform=below.transAxes, ha="center", fontsize=7)
        sizes = [row["size"] for row in points]
        for ax in (above, below):
            ax.set(xscale="log", yscale="log")
            ax.set_xticks([sizes[0], sizes[len(sizes) // 2], sizes[-1]])
            ax.xaxis.set_major_formatter(EngFormatter(places=0, sep=""))
            ax.minorticks_off()
            ax.tick_params(labelsize=7)
    axes[0][0].set_ylabel("CPU seconds")
    axes[1][0].set_ylabel("peak MB beyond the data")
    axes[1][0].set_ylim(bottom=LEAST_MEMORY)
    axes[0][0].legend(fontsize=7, loc="upper left")
    return figure


def _line(ax: Any, points: list[dict[str, Any]], name: str, title: str, color: str, exponents: dict[str, Any]) -> None:
    known = [(row["size"], row[name]) for row in points if row[name]]
    if not known:
        return
    ax.plot(*zip(*known, strict=True), "o-", color=color, markersize=3, label=title.replace("ours", "rosenblatt"))
    if exponents[title] is not None:
        ax.annotate(
            f"{exponents[title]:.2f}", known[-1], xytext=(0, 5), textcoords="offset points", ha="right", fontsize=7
        )


PICTURES: dict[str, dict[str, Callable[[Any], Figure | None]]] = {
    "linear": {"speed": draw_speed},
    "accuracy": {"accuracy": draw_accuracy},
    "growth": {"growth": draw_growth},
}
