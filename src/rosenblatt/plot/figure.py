"""What all pictures share: matplotlib when first needed, and two colours that everyone can tell apart.

Invariant: figures are made without pyplot, so none is kept alive or shown behind the caller's back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEGATIVE, POSITIVE, INK, FAINT = "#0072B2", "#D55E00", "#222222", "#BBBBBB"
SERIES = ("#999999", "#0072B2", "#009E73", "#D55E00")


def new_figure(columns: int = 1, *, width: float = 5.5, height: float = 4.0) -> tuple[Figure, list[Axes]]:
    """A figure with `columns` axes side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    figure = Figure(figsize=(width * columns, height), dpi=120, layout="constrained")
    axes: Any = figure.subplots(1, columns, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)
