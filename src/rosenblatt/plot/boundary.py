"""The plane of two features: rows, boundary, weight vector and margin band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, LabelError
from rosenblatt.learners.fit import check_lengths
from rosenblatt.plot.figure import FAINT, INK, NEGATIVE, POSITIVE, SHAPES, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def boundary(X: Any, y: Any, w: ArrayLike, b: ArrayLike = 0.0) -> Figure:
    """Draw two features with the boundary ``w·x + b = 0``, the weight vector on it, and the margin band.

    The band reaches to the closest row on either side and is drawn only if the weights separate the rows; rows on the
    wrong side are hollow. If one feature varies more than four times as much as the other, each axis has a scale of
    its own; the arrow then still points to the positive side, but is not square on the boundary in the features' units.

    Parameters
    ----------
    X, y : rows of two features, labels of two classes
    w, b : the weights and the offset, for example ``learner.coef_`` and ``learner.intercept_``

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
    weights, offset = np.asarray(w, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if weights.shape != (2,):
        raise DataError(f"w has {weights.size} weights; two features have two")
    if offset.shape != (1,):
        raise DataError(f"b has {offset.size} numbers; a boundary has one offset")
    figure, (ax,) = new_figure()
    draw(ax, points, labels, weights, float(offset[0]))
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return figure


def plane(X: Any, y: Any) -> tuple[Floats, Labels]:
    """Check that there are two features and two classes; the error names the actual numbers."""
    table, labels = as_table(X), encode_labels(y)
    if table.features != 2:
        raise DataError(f"X has {table.features} features; a plane has two features")
    if len(labels.classes) != 2:
        raise LabelError(f"y has {len(labels.classes)} classes; this picture is of two")
    check_lengths(table, labels)
    return (table.values.toarray() if table.sparse else table.values).astype(np.float64), labels


def limits(points: Floats) -> tuple[Floats, Floats]:
    """The corners of the view with some room around the rows: square, unless the features' units differ too much."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = high - low
    if not 0 < 4 * span.min() < span.max():  # else one scale for both features would flatten the rows
        span = np.full(2, max(float(span.max()), 1e-9))
    middle = (low + high) / 2
    return middle - 0.62 * span, middle + 0.62 * span


def draw(ax: Axes, points: Floats, labels: Labels, w: Floats, b: float) -> None:
    """The rows, each class with its color and shape, wrong ones hollow; both sides, boundary, vector and band."""
    (low, high), size = limits(points), 60 if len(points) <= 30 else 18
    span = high - low
    aspect = "auto" if span.max() > 4 * span.min() else "equal"
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect=aspect, xlabel="$x_1$", ylabel="$x_2$")
    margins = labels.signs() * (points @ w + b)
    looks = list(enumerate(zip((NEGATIVE, POSITIVE), SHAPES, strict=True)))
    for code, (color, marker) in looks:
        chosen, name = points[labels.codes == code], f"{'−+'[code]}1: {labels.classes[code]}"
        ax.scatter(chosen[:, 0], chosen[:, 1], c=color, marker=marker, s=size, zorder=3, label=name, linewidths=0)
    label = "wrong, or on the line"
    for code, (color, marker) in looks:
        wrong = points[(margins <= 0) & (labels.codes == code)]
        if len(wrong):
            hollow: dict[str, Any] = {"facecolors": "white", "edgecolors": color, "linewidths": 1.6, "zorder": 4}
            ax.scatter(wrong[:, 0], wrong[:, 1], label=label, marker=marker, s=1.3 * size, **hollow)
            label = "_more of them"  # one line in the legend is enough
    length = float(np.linalg.norm(w))
    if length == 0:
        return
    reach = 3 * float(span.max())
    normal, tangent = w / length, np.array([-w[1], w[0]]) / length
    foot = (low + high) / 2
    # The point of the boundary nearest to the middle, measured in shares of the view.
    slope = w * span
    foot = foot - span * slope * (foot @ w + b) / float(slope @ slope)
    ends = np.stack([foot - reach * tangent, foot + reach * tangent])
    for sign, color in ((-1, NEGATIVE), (+1, POSITIVE)):
        side = np.vstack([ends, ends[::-1] + sign * 2 * reach * normal])
        ax.fill(*side.T, color=color, alpha=0.08, zorder=0, linewidth=0)
    ax.plot(*ends.T, color=INK, linewidth=1.6, zorder=2)
    if margins.min() > 0:
        gap = float(margins.min()) / length
        band = np.vstack([ends + gap * normal, (ends - gap * normal)[::-1]])
        ax.fill(*band.T, color=FAINT, alpha=0.45, zorder=1, label=f"margin {gap:.3g}")
    # The arrow shows the direction; the length of w cannot be drawn in the plane of the features.
    arrow = 0.16 * span * slope / float(np.linalg.norm(slope))
    head = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=tuple(foot + arrow), xytext=tuple(foot), arrowprops=head, zorder=5)
    ax.annotate("$w$", xy=tuple(foot + 1.25 * arrow), ha="center", va="center", zorder=5)
