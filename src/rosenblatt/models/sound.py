"""Checks of what a file holds, so that the engine is never led outside of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import as_table, is_sparse
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.container import Tensors


def check_types(tensors: list[NDArray[Any]], types: list[str]) -> None:
    """Raise unless the tensors have these types."""
    if [tensor.dtype.str for tensor in tensors] != types:
        raise ModelError("its tensors have other types than those of a model")


def check_shapes(fits: bool) -> None:
    """Raise unless the shapes fit one another."""
    if not fits:
        raise ModelError("its tensors have other shapes than those of a model")


def check_finite(*tensors: NDArray[Any]) -> None:
    """Raise for a weight that is not a finite number."""
    if not all(np.isfinite(tensor).all() for tensor in tensors):
        raise ModelError("its weights are not finite")


def check_columns(columns: NDArray[Any], features: int) -> None:
    """Raise unless the columns rise and are there."""
    if len(columns) and (columns[0] < 0 or columns[-1] >= features or (np.diff(columns) <= 0).any()):
        raise ModelError("its columns are out of order")


def count_of(value: Any) -> int:
    """A number of things."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise ModelError(f"it counts {value!r} of something")
    return value


def rows_to(rows: Any, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """Support rows, dense or sparse, as tensors."""
    if rows is None:
        return {"storage": "none", "rows": 0}
    if is_sparse(rows):
        for name in ("data", "indices", "indptr"):
            tensors[f"{prefix}support.{name}"] = getattr(rows, name)
        return {"storage": "sparse", "rows": int(rows.shape[0])}
    tensors[f"{prefix}support"] = np.asarray(rows)
    return {"storage": "dense", "rows": int(rows.shape[0])}


def rows_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> tuple[Any, int]:
    """The support rows and their number."""
    storage, count = header["storage"], count_of(header["rows"])
    if storage == "none":
        return None, 0
    try:
        if storage == "sparse":
            import scipy.sparse as sp

            arrays = tuple(tensors[f"{prefix}support.{name}"] for name in ("data", "indices", "indptr"))
            import scipy.sparse as sp

            support: Any = sp.csr_array(arrays, shape=(count, features))
        else:
            support = tensors[f"{prefix}support"]
            check_shapes(support.shape == (count, features))
        if support.dtype not in (np.float32, np.float64):
            raise ModelError("its tensors have other types than those of a model")
        as_table(support, name="its support")
    except (DataError, ValueError) as error:
        raise ModelError(str(error)) from None
    return support, count


def places_from(header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> tuple[Any, int]:
    """The places of support rows among the columns of a precomputed kernel, and their number."""
    count = count_of(header["rows"])
    if header["storage"] == "none":
        return None, 0
    columns = tensors[f"{prefix}support"]
    check_shapes(columns.dtype == np.int64 and columns.shape == (count,))
    if len(columns) and (columns.min() < 0 or columns.max() >= features):
        raise ModelError("its support names a column that is not there")
    return columns, count


def support_count(rows: Any) -> int:
    """How many support rows there are."""
    return 0 if rows is None else int(rows.shape[0])
