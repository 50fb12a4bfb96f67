"""Pictures of the results: small SVG files whose ink can be read on a light and on a dark page.

Invariant: a picture shows figures of its result and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

INK, OURS, THEIRS = "#7d8590", "#2f81f7", "#9aa4ae"
SERIES = (OURS, "#d9822b", "#3fb950", "#bc6ad9", "#db5a5a")
STYLE = {
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
    rows = [(row, "scikit-learn") for row in found["fits"] if row["order"] == "shuffled"]
    rows += [(row, "scikit-learn") for row in found["digits"]] + [(row, "river") for row in found["stream"]]
    if not rows:
        return None
    figure = Figure(figsize=(6.4, 0.55 * len(rows) + 0.5), layout="constrained")
    ax = figure.subplots()
    for at, (row, peer) in enumerate(reversed(rows)):
        ax.barh(at + 0.2, 1, 0.34, color=THEIRS)
        ax.barh(at - 0.2, 1 / row["ratio"], 0.34, color=OURS)
        ax.text(0.985, at + 0.2, peer, ha="right", va="center", color="#1b1f24", fontsize=7.5)
        ax.text(
            1 / row["ratio"] + 0.01, at - 0.2, f"rosenblatt, {row['ratio']:.1f} times quicker", va="center", fontsize=8
        )
    ax.set_yticks(range(len(rows)), [_label(row) for row, _ in reversed(rows)])
    ax.set_xlim(0, 1.01)
    ax.set_xlabel("training time at the same epochs, one thread; the peer's is 1")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure


def _label(row: dict[str, Any]) -> str:
    return f"{row['data']}\n{row['type']}" if "type" in row else str(row["data"]).replace(" of ", "\nof ")


PICTURES: dict[str, dict[str, Callable[[Any], Figure | None]]] = {"linear": {"speed": draw_speed}}
