"""Rows and labels as the engine reads them. The names load on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.data.batch import RowBatch
    from rosenblatt.data.labels import Classes, Labels, encode_labels
    from rosenblatt.data.table import Table, as_table

_HOMES = {
    "Classes": "labels",
    "Labels": "labels",
    "RowBatch": "batch",
    "Table": "table",
    "as_table": "table",
    "encode_labels": "labels",
}

__all__ = ["Classes", "Labels", "RowBatch", "Table", "as_table", "encode_labels"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rosenblatt.data.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rosenblatt.data' has no attribute {name!r}")
