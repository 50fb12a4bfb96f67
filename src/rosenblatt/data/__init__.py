"""Rows and labels as the engine reads them."""

from rosenblatt.data.batch import RowBatch
from rosenblatt.data.labels import Classes, Labels, encode_labels
from rosenblatt.data.table import Table, as_table

__all__ = ["Classes", "Labels", "RowBatch", "Table", "as_table", "encode_labels"]
