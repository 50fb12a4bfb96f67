"""Kernels by name and numbers, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.data.table import Table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.models.predictors import Kernel
from rosenblatt.params import check_count, check_number

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def make_kernel(kernel: Any, gamma: Any, degree: Any, coef0: Any, table: Table) -> Kernel:
    """A `Kernel` for this table, whose numbers are in range."""
    if callable(kernel):
        return Kernel("function", function=kernel)
    if not isinstance(kernel, str) or kernel not in KERNELS:
        raise ParameterError(
            f"kernel={kernel!r}: must be 'linear', 'poly', 'rbf', 'sigmoid', 'precomputed' or a function of two tables"
        )
    number = check_number("coef0", coef0, least=-np.inf)
    if kernel == "precomputed" and table.sparse:
        raise DataError("X is sparse: a precomputed kernel matrix must be dense")
    return Kernel(kernel, _gamma(gamma, table), number, check_count("degree", degree))  # type: ignore[arg-type]


def check_square(table: Table) -> None:
    """A precomputed matrix holds the kernel of every training row with every other."""
    if table.count != table.features:
        raise DataError(
            f"X must be a square matrix with kernel='precomputed', a row and a column for each training row; "
            f"its shape is ({table.count}, {table.features})"
        )


def _gamma(gamma: Any, table: Table) -> float:
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / table.features
        if gamma == "scale":
            variance = _variance(table)
            return 1.0 / (table.features * variance) if variance > 0 else 1.0
        raise ParameterError(f"gamma={gamma!r}: must be 'auto', 'scale' or a number above 0")
    return check_number("gamma", gamma, above=0.0)


def _variance(table: Table) -> float:
    if not table.sparse:
        return float(np.var(table.values, dtype=np.float64))
    values, size = table.values.data.astype(np.float64), table.count * table.features
    mean = float(values.sum()) / size  # the zeros that are not stored count too
    return (float(((values - mean) ** 2).sum()) + (size - len(values)) * mean**2) / size
