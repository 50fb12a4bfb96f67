"""From what the user holds to rows and labels that the engine reads."""

from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.data.table import Table, as_table

__all__ = ["Labels", "Table", "as_table", "encode_labels"]
