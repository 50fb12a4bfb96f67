"""Files, streams and frames as batches of rows. The names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.io.dataset import Dataset, iter_batches, open_dataset, read
    from rosenblatt.io.limits import Limits

_HOMES = {
    "Dataset": "dataset",
    "Limits": "limits",
    "iter_batches": "dataset",
    "open_dataset": "dataset",
    "read": "dataset",
}

__all__ = ["Dataset", "Limits", "iter_batches", "open_dataset", "read"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.io.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.io' has no attribute {name!r}")
