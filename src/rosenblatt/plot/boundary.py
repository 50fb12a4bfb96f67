"""The plane of two features: rows, boundary, weight vector and margin band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.errors import DataError, LabelError
from rosenblatt.plot.figure import FAINT, INK, NEGATIVE, POSITIVE, SHAPES, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def boundary(X: Any, y: Any, w: ArrayLike, b: float = 0.0) -> Figure:
    """Draw two features with the boundary ``w·x + b = 0``, the weight vector on it, and the margin band.

    The band reaches to the closest row on either side and is drawn only if the weights separate the rows; rows on the
    wrong side are hollow. Where one feature varies more than four times as much as the other, each axis has a scale of
    its own; the arrow then still points to the positive side, but is not square on the boundary in the features' units.

    Parameters
    ----------
    X, y : rows of two features, labels of two classes
    w, b : the weights and the offset, for example ``learner.coef_[0]`` and ``learner.intercept_[0]``

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> figure = boundary([[0, 0], [1, 1]], [0, 1], w=[1.0, 1.0], b=-1.0)
    >>> figure.axes[0].get_xlabel()
    '$x_1$'
    """
    points, labels = plane(X, y)
    weights, offset = np.asarray(w, dtype=np.float64).ravel(), float(b)
    if weights.shape != (2,):
        raise DataError(f"w has {weights.size} weights; two features have two")
    figure, (ax,) = new_figure()
    draw_rows(ax, points, labels)
    draw_weights(ax, points, labels.signs(), weights, offset)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def plane(X: Any, y: Any) -> tuple[Floats, Labels]:
    """Two features and two classes, or an error that says what there is instead."""
    points = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise DataError(f"X has the shape {points.shape}; a plane has two features")
    labels = encode_labels(y)
    if len(labels.classes) != 2:
        raise LabelError(f"y has {len(labels.classes)} classes; this picture is of two")
    if len(labels.codes) != len(points):
        raise DataError(f"X has {len(points)} rows and y has {len(labels.codes)} labels")
    return points, labels


def limits(points: Floats) -> tuple[Floats, Floats]:
    """The corners of the view with some room around the rows: square, unless the features' units differ too much."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    largest = max(float(span.max()), 1e-9)
    half = 0.62 * (span if has_own_units(points) else np.full(2, largest))
    middle = (low + high) / 2
    return middle - half, middle + half


def has_own_units(points: Floats) -> bool:
    """Would one scale for both features flatten the rows?"""
    span = points.max(axis=0) - points.min(axis=0)
    return bool(span.min() > 0 and span.max() > 4 * span.min())


def draw_rows(ax: Axes, points: Floats, labels: Labels) -> None:
    """The rows, each class with its color and shape."""
    for code, (color, marker) in enumerate(zip((NEGATIVE, POSITIVE), SHAPES, strict=True)):
        chosen = points[labels.codes == code]
        name = f"{'−+'[code]}1: {labels.classes[code]}"
        ax.scatter(
            chosen[:, 0], chosen[:, 1], c=color, marker=marker, s=_size(points), zorder=3, label=name, linewidths=0
        )
    low, high = limits(points)
    aspect = "auto" if has_own_units(points) else "equal"
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect=aspect, xlabel="$x_1$", ylabel="$x_2$")


def _size(points: Floats) -> int:
    return 60 if len(points) <= 30 else 18


def draw_weights(ax: Axes, points: Floats, signs: NDArray[np.int8], w: Floats, b: float) -> list[Any]:
    """Sides, boundary, vector, band and hollow rows; returns what was drawn, so that it can be taken away again."""
    low, high = limits(points)
    margins = signs * (points @ w + b)
    drawn: list[Any] = []
    label = "wrong, or on the line"
    for sign, color, marker in zip((-1, +1), (NEGATIVE, POSITIVE), SHAPES, strict=True):
        wrong = points[(margins <= 0) & (signs == sign)]
        if len(wrong):
            hollow: dict[str, Any] = {
                "s": 1.3 * _size(points),
                "facecolors": "white",
                "edgecolors": color,
                "zorder": 4,
            }
            drawn.append(ax.scatter(wrong[:, 0], wrong[:, 1], label=label, marker=marker, linewidths=1.6, **hollow))
            label = "_more of them"  # one line in the legend is enough
    length = float(np.linalg.norm(w))
    if length == 0:
        return drawn
    reach = 3 * float((high - low).max())
    normal, tangent = w / length, np.array([-w[1], w[0]]) / length
    foot = (low + high) / 2
    # The point of the boundary nearest to the middle, measured in shares of the view.
    span = high - low
    slope = w * span
    foot = foot - span * slope * (foot @ w + b) / float(slope @ slope)
    ends = np.stack([foot - reach * tangent, foot + reach * tangent])
    for sign, color in ((-1, NEGATIVE), (+1, POSITIVE)):
        side = np.vstack([ends, ends[::-1] + sign * 2 * reach * normal])
        drawn += ax.fill(*side.T, color=color, alpha=0.08, zorder=0, linewidth=0)
    drawn += ax.plot(*ends.T, color=INK, linewidth=1.6, zorder=2)
    if margins.min() > 0:
        gap = float(margins.min()) / length
        band = np.vstack([ends + gap * normal, (ends - gap * normal)[::-1]])
        drawn += ax.fill(*band.T, color=FAINT, alpha=0.45, zorder=1, label=f"margin {gap:.3g}")
    # The arrow shows the direction; the length of w has no meaning in the plane of the features.
    arrow = 0.16 * span * slope / float(np.linalg.norm(slope))
    head = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    drawn.append(ax.annotate("", xy=tuple(foot + arrow), xytext=tuple(foot), arrowprops=head, zorder=5))
    drawn.append(ax.annotate("$w$", xy=tuple(foot + 1.25 * arrow), ha="center", va="center", zorder=5))
    return drawn
