"""A trace in motion: a page with a slider.

Invariant: each frame shows one step as the trace holds it: the weights after it, and the row that was met.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.io.atomic import write_atomic
from rosenblatt.plot.boundary import draw, limits, plane
from rosenblatt.plot.figure import INK, MISTAKE, new_figure
from rosenblatt.textbook import Step
from rosenblatt.theory.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def animate(trace: Trace, path: str | Path | None = None) -> Figure:
    """Draw a trace of two features step by step.

    Parameters
    ----------
    trace : of rows with two features and two classes
    path : the page to write, one file with a slider; None: nothing is written

    Returns
    -------
    matplotlib.figure.Figure
        The last step.

    Examples
    --------
    >>> import os, tempfile
    >>> from rosenblatt.theory import trace
    >>> page = os.path.join(tempfile.mkdtemp(), "and.html")
    >>> figure = animate(trace([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]), page)
    >>> os.path.exists(page)
    True
    """
    points, labels = plane(trace.X, trace.y)
    if path is not None:
        write_atomic(path, render_html(trace).encode())
    last = trace.steps[-1]
    figure, (ax,) = new_figure()
    *w, b = last.after[0]
    draw(ax, points, labels, np.array(w), b)
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": MISTAKE if last.mistake else INK, "linewidths": 1.6}
    ax.scatter(points[last.row, 0], points[last.row, 1], marker="o", s=260, zorder=6, **ring)
    ax.set_title(tell(trace, last), fontsize=8)
    return figure


def tell(trace: Trace, step: Step) -> str:
    """One step in a sentence."""
    # Adding 0 turns a -0 into a 0.
    where = f"epoch {step.epoch}, row {step.row + 1}: score {step.score + 0.0:g}, margin {step.margin + 0.0:g}"
    weights = f"w = ({step.after[0][0]:g}, {step.after[0][1]:g}), b = {step.after[0][2]:g}"
    if step.update:
        return f"{where} — {'a mistake' if step.mistake else 'within the margin'}: now {weights}"
    return f"{where} — {'a mistake, no step' if step.mistake else 'right'}: {weights}"


def render_html(trace: Trace) -> str:
    """A page that needs nothing else: the numbers as JSON, the drawing in a little JavaScript."""
    points, labels = plane(trace.X, trace.y)
    low, high = limits(points)
    data: dict[str, Any] = {
        "points": points.tolist(),
        "signs": labels.signs().tolist(),
        "names": [str(name) for name in trace.classes],
        "low": low.tolist(),
        "high": high.tolist(),
        "steps": [
            {
                "row": s.row,
                "mistake": s.mistake,
                "before": s.before[0],
                "after": s.after[0],
                "update": s.update,
                "text": tell(trace, s),
            }
            for s in trace.steps
        ],
    }
    page = resources.files(__package__).joinpath("animation.html").read_text(encoding="utf-8")
    # A label with "</script" or "<!--<script" must not change where the page's script ends.
    return page.replace("{{DATA}}", json.dumps(data).replace("<", "\\u003c"))
