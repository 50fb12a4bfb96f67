"""From what the user holds to rows and labels that the engine reads."""

from rosenblatt.data.batches import Batch, Classes
from rosenblatt.data.labels import Labels, encode_labels
from rosenblatt.data.readers import Reader, iter_batches, read, scan
from rosenblatt.data.table import Table, as_table

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
