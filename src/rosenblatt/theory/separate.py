"""A separating hyperplane, as soon as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import encode_labels
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, LabelError


@dataclass(frozen=True, eq=False)
class Separation:
    """What :func:`separate` found.

    Attributes
    ----------
    w, b : weights and offset; they separate the rows if `converged`.
    converged : did the last pass over all rows find every margin above 0?
    updates : steps taken, each on a mistake: at most ``R²/gamma²`` if the rows are separable.
    passes : over all rows, the last one to verify.
    visits : rows looked at, in all.
    support : rows that were ever mistaken.

    Examples
    --------
    >>> found = separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> found.converged, found.w.shape
    (True, (2,))
    """

    w: NDArray[Any]
    b: float
    converged: bool
    updates: int
    passes: int
    visits: int
    support: int


def separate(X: Any, y: Any, *, fit_intercept: bool = True, max_updates: int = 10_000_000) -> Separation:
    """Find a hyperplane that separates two classes, if there is one, as soon as possible.

    The perceptron with an order of its own: it cycles over the rows that were ever mistaken until all of them are
    right, and looks at all rows only to verify. The mistake bound holds for any order, so it holds here. Use it
    where any separating plane will do, and :func:`certify` where a proof or the best margin is wanted.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d), float32 or float64 without a copy
    y : n labels of two classes
    fit_intercept : with an offset, or through the origin
    max_updates : give up after so many steps. Giving up proves nothing.

    Returns
    -------
    Separation

    Notes
    -----
    Margins are those of the engine, in the precision of X: a plane found for float32 rows is verified in float32.
    Cost: a pass over n rows takes O(nnz); a cycle only as much as the rows ever mistaken, which lie side by side.

    Examples
    --------
    >>> from rosenblatt.theory import separate
    >>> plane = separate([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
    >>> plane.converged, plane.w.tolist(), plane.b
    (True, [3.0, 2.0], -4.0)
    """
    table, labels = as_table(X), encode_labels(y)
    if len(labels.codes) != table.count:
        raise DataError(f"X has {table.count} rows and y has {len(labels.codes)} labels")
    if len(labels.classes) != 2:
        raise LabelError(f"y has {len(labels.classes)} classes; a hyperplane separates two (certify decides more)")
    weights, intercept = np.zeros(table.features, table.dtype), np.zeros(1)
    converged, updates, passes, visits, support = engine.separate(
        table.rows,
        labels.signs(),
        weights=weights,
        intercept=intercept,
        fit_intercept=bool(fit_intercept),
        max_updates=int(max_updates),
    )
    return Separation(weights, float(intercept[0]), converged, updates, passes, visits, support)
