"""Rows for a model that was trained on files: frames, raw columns and texts go through the encoder that read the files.

Invariant: a row is encoded as the command `predict` encodes a file with the same columns or lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from rosenblatt.data.batch import RowBatch
from rosenblatt.encode.table import ColumnEncoder
from rosenblatt.errors import DataError
from rosenblatt.io.dataset import open_dataset


def encoded_rows(X: Any, encoder: Any, features: int) -> Any:
    """A frame, or a list of dicts or texts, as a CSR array; rows that are encoded already stay as they are."""
    if encoder is not None and isinstance(X, list) and X and isinstance(X[0], dict | str):
        batch = encode_raw(encoder, X)
        return batch.matrix(max(features, batch.features))[:, :features]
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


def encode_raw(encoder: Any, rows: Sequence[Any]) -> RowBatch:
    """Rows as dicts of raw columns, or as lines of text, whichever the encoder reads."""
    if isinstance(encoder, ColumnEncoder):
        return _encode_columns(encoder, rows)
    lines = []
    for at, row in enumerate(rows):
        if not isinstance(row, str) or "\n" in row or "\r" in row or not row.strip():
            raise DataError(f"row {at} must be one line of text")
        lines.append(row.replace("\t", " ") if encoder.format in ("tabbed", "fasttext") else row)
    found = encoder.encode(("\n".join(lines) + "\n").encode(), require_label=False)
    if found.bad:
        raise DataError(f"row {found.bad[0][0] - 1}: {found.bad[0][1]}")
    if len(found.batch) != len(rows):
        raise DataError("a row has no features")
    return cast("RowBatch", found.batch)


def _encode_columns(encoder: ColumnEncoder, rows: Sequence[Any]) -> RowBatch:
    """Raw columns by name, as a file has them: every column of the model must be there, others are ignored."""
    import pyarrow as pa

    arrays = {}
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f"row {at} is text, but the model reads columns by name")
        if absent := [column.name for column in encoder.used if column.name not in row]:
            raise DataError(f"row {at} lacks the column {absent[0]!r} (null is a missing value)")
    for column in encoder.used:
        cells = [row[column.name] for row in rows]
        if column.kind == "number":
            arrays[column.name] = pa.array(
                [_number(cell, column.name, at) for at, cell in enumerate(cells)], pa.float64()
            )
        else:
            arrays[column.name] = pa.array([_text(cell) for cell in cells], pa.string())
    table = pa.table(arrays)
    for at, why in encoder.faults(table, require_label=False).items():
        raise DataError(f"row {at}: {why}")
    return encoder.encode(table, require_label=False)


def _number(cell: Any, column: str, at: int) -> float | None:
    if cell is None or cell == "":
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        raise DataError(f"row {at}: column {column!r} has {cell!r}, which is not a number") from None


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return ("true" if cell else "false") if isinstance(cell, bool) else repr(cell)
