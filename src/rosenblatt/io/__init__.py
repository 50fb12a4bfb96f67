"""Files, streams and frames as batches of rows."""

from rosenblatt.encode.options import Limits
from rosenblatt.io.dataset import Dataset, open_dataset, read

__all__ = ["Dataset", "Limits", "open_dataset", "read"]
