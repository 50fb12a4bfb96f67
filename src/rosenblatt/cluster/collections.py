"""What Dask collections, delayed objects and futures are, and handles on what they give.

Invariant: what is in the workers' memory already stays where it is.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt.cluster.hands import Hands, Threads
from rosenblatt.errors import DataError, ParameterError


def row_blocks(hands: Hands, arrays: Sequence[Any]) -> list[list[Any]]:
    """Handles on the blocks of rows of X, y and weights, which are cut alike."""
    columns: list[list[Any]] = []
    for name, values in zip(("X", "y", "sample_weight"), arrays, strict=False):
        if not is_collection(values):
            raise ParameterError(f"{name} is in this process's memory: make it a Dask array, or say client=None")
        values = values.to_dask_array() if hasattr(values, "to_dask_array") and name != "X" else values
        if name == "X" and hasattr(values, "rechunk") and values.numblocks[1] > 1:
            values = values.rechunk({1: -1})
        delayed = values.to_delayed()
        columns.append(computed(hands, delayed.ravel().tolist() if isinstance(delayed, np.ndarray) else delayed))
        if len(columns[-1]) != len(columns[0]):
            raise DataError(f"X has {len(columns[0])} parts and {name} {len(columns[-1])}: rechunk them alike")
    return columns


def computed(hands: Hands, lazy: Sequence[Any]) -> list[Any]:
    """Handles on what delayed objects give; what is a handle already stays one, so nothing persisted is copied."""
    if isinstance(hands, Threads):
        return [each if _is_handle(each) else hands.submit(_compute, each) for each in lazy]
    waiting = [each for each in lazy if not _is_handle(each)]
    futures = iter(hands.client.compute(waiting) if waiting else [])  # type: ignore[attr-defined]
    return [each if _is_handle(each) else next(futures) for each in lazy]


def _compute(each: Any) -> Any:
    return each.compute(scheduler="synchronous") if is_lazy(each) else each


def are_paths(source: Any) -> bool:
    """Is it a path, or a list of paths?"""
    if isinstance(source, (str, os.PathLike)):
        return True
    return (
        isinstance(source, (list, tuple))
        and len(source) > 0
        and all(isinstance(each, (str, os.PathLike)) for each in source)
    )


def as_columns(source: Any) -> Any:
    """X, y and weights as a tuple, also where they are the list that `client.persist` gives; all else as it is."""
    lists = isinstance(source, list) and len(source) in (2, 3)
    return tuple(source) if lists and all(map(is_collection, source)) else source


def _is_handle(each: Any) -> bool:
    """Is it a future, of Dask or of a thread?"""
    return callable(getattr(type(each), "result", None))


def is_lazy(each: Any) -> bool:
    """Is it a Dask object, or a handle on a result? A Delayed has any attribute, so its class is asked."""
    return hasattr(type(each), "__dask_graph__") or _is_handle(each)


def is_collection(values: Any) -> bool:
    """Is it a Dask array, DataFrame or Series?"""
    return is_lazy(values) and hasattr(type(values), "to_delayed")


def is_frame(source: Any) -> bool:
    """Is it a Dask DataFrame?"""
    return is_collection(source) and hasattr(type(source), "to_dask_array") and hasattr(source, "columns")
