"""Rows for a model that was trained on files: a frame goes through the encoder that read the files.

Invariant: a frame is encoded as the command `predict` encodes a file with the same columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.encode.table import ColumnEncoder
from rosenblatt.errors import DataError
from rosenblatt.io.dataset import open_dataset


def encoded_rows(X: Any, encoder: Any, features: int) -> Any:
    """A frame as a CSR array of so many features; rows that are encoded already, or need no encoder, as they are."""
    if not isinstance(encoder, ColumnEncoder):
        return X
    if hasattr(X, "__arrow_c_stream__"):
        import scipy.sparse as sp

        batches = open_dataset(X, encoder=encoder, require_label=False, in_order=True)
        parts = [batch.matrix(max(features, batch.features))[:, :features] for batch in batches]
        return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, features))
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != features:
        shown = ", ".join(repr(column.name) for column in encoder.used[:3]) + (", ..." if len(encoder.used) > 3 else "")
        raise DataError(
            f"X has {shape[1]} columns without names, and the model reads columns by name: give it a frame with "
            f"the columns {shown}"
        )
    return X
