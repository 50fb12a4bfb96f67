"""From what the user holds to rows and labels that the engine reads. The names load when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.data.batches import Batch, Classes
    from rosenblatt.data.labels import Labels, encode_labels
    from rosenblatt.data.readers import Reader, iter_batches, read, scan
    from rosenblatt.data.table import Table, as_table

_HOMES = {
    "Batch": "batches",
    "Classes": "batches",
    "Labels": "labels",
    "Reader": "readers",
    "Table": "table",
    "as_table": "table",
    "encode_labels": "labels",
    "iter_batches": "readers",
    "read": "readers",
    "scan": "readers",
}

__all__ = [
    "Batch",
    "Classes",
    "Labels",
    "Reader",
    "Table",
    "as_table",
    "encode_labels",
    "iter_batches",
    "read",
    "scan",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.data.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.data' has no attribute {name!r}")
