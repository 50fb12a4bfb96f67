"""Shared by all pictures: lazy import of matplotlib, colors and shapes.

Invariant: figures are made without pyplot, so none is kept alive or shown behind the caller's back.
"""

from __future__ import annotations

from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The language of all pictures, here and on the playground's page: the classes with their shapes, a mistake, the proof.
NEGATIVE, POSITIVE = "#b54d0a", "#1f66b0"
SHAPES = ("s", "o")
INK, FAINT, MISTAKE, PROOF = "#1c2230", "#bbbbbb", "#a61b2b", "#6b3fa0"
# Last, average, vote and pocket: none of them is a class, so none has its color.
SERIES = ("#545d6c", INK, PROOF, "#1a6b3c")


def new_figure(columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with `columns` axes side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    figure = Figure(figsize=(5.5 * columns, 4.0), dpi=120, layout="constrained")
    axes: Any = figure.subplots(1, columns, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    # Jupyter draws figures only after pyplot was used; until then it asks this method.
    setattr(figure, "_repr_png_", partial(_to_png, figure))  # noqa: B010 (no attribute of Figure)
    return figure, list(axes)


def _to_png(figure: Figure) -> bytes:
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
