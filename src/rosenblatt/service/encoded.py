"""Raw columns and lines of text as features, by the encoder that a model was trained with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rosenblatt.data.batch import RowBatch
from rosenblatt.encode.table import ColumnEncoder
from rosenblatt.errors import DataError


def encode(encoder: Any, rows: Sequence[Any]) -> RowBatch:
    """The features of raw rows: maps of columns for an encoder of tables, texts for one of lines."""
    if isinstance(encoder, ColumnEncoder):
        return _of_columns(encoder, rows)
    lines = []
    for at, row in enumerate(rows):
        if not isinstance(row, str):
            raise DataError(f"row {at} is no text, but the model reads lines of {encoder.describe()}")
        if "\n" in row or "\r" in row or not row.strip():
            raise DataError(f"row {at} must be one line that is not empty")
        lines.append(row.replace("\t", " ") if encoder.format in ("tabbed", "fasttext") else row)
    found = encoder.encode(("\n".join(lines) + "\n").encode(), require_label=False)
    if found.bad:
        line, why = found.bad[0]
        raise DataError(f"row {line - 1}: {why}")
    if len(found.batch) != len(rows):
        raise DataError("a row has no features")
    batch: RowBatch = found.batch
    return batch


def _of_columns(encoder: ColumnEncoder, rows: Sequence[Any]) -> RowBatch:
    import pyarrow as pa

    columns: dict[str, list[Any]] = {column.name: [] for column in encoder.used}
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f"row {at} is a text, but the model reads columns by name")
        for name, cells in columns.items():
            cells.append(row.get(name))
        unknown = row.keys() - columns.keys() - {column.name for column in encoder.columns} - {encoder.label}
        if unknown:
            raise DataError(f"row {at} has the column {min(unknown)!r}, which the model was not trained on")
    arrays = {}
    for column in encoder.used:
        cells = columns[column.name]
        if column.kind == "number":
            cells = [_number(cell, column.name, at) for at, cell in enumerate(cells)]
            arrays[column.name] = pa.array(cells, pa.float64())
        else:
            arrays[column.name] = pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())
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


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else ("true" if cell else "false") if isinstance(cell, bool) else f"{cell!r}"
