"""Arrow bodies as tables, rows and examples.

Invariant: a body that came whole cannot grow: what is compressed, nested or in a dictionary is refused before it is
unpacked, and every batch is validated before it is used.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from rosenblatt.service.limits import Limits
from rosenblatt.service.refusals import Refused, too_many_cells

_RECORD_BATCH = 3  # among the kinds of messages of Arrow's format


def read_table(body: bytes, limits: Limits) -> Any:
    """The table of an Arrow stream."""
    try:
        _check_messages(body, limits)
        reader = pa.ipc.open_stream(pa.py_buffer(body))
        schema = reader.schema
        if len(schema) > limits.values:
            raise Refused(413, f"there are {len(schema):,} columns; the limit is {limits.values:,}")
        for field in schema:
            if not (_is_number(field.type) or _is_text(field.type)):
                what = f"column {field.name!r} is of the type {field.type}"
                raise Refused(422, f"{what}: send numbers, truth values and texts, without dictionaries")
        if len(set(schema.names)) < len(schema):
            raise Refused(422, "two columns have the same name")
        batches, count = [], 0
        for batch in reader:
            count += batch.num_rows
            if count > limits.rows:
                raise Refused(413, f"there are more than {limits.rows:,} rows, the limit per request")
            batch.validate(full=True)
            batches.append(batch)
        table = pa.Table.from_batches(batches, schema)
    except Refused:
        raise
    except (pa.ArrowException, struct.error, ValueError, TypeError, OSError, OverflowError, IndexError) as error:
        why = (str(error).strip().splitlines() or ["it cannot be read"])[0][:200]
        raise Refused(400, f"the body is not a sound Arrow stream: {why}") from None
    if not table.num_rows or not table.num_columns:
        raise Refused(422, "there are no rows")
    if table.num_rows * table.num_columns > limits.cells:
        raise too_many_cells("the rows have", "values", limits.cells)
    return table


def dense(table: Any) -> NDArray[np.float64] | None:
    """The table as a matrix, if every cell is a number."""
    found = np.empty((table.num_rows, table.num_columns))
    for at, column in enumerate(table.columns):
        if not _is_number(column.type) or column.null_count:
            return None
        values = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        found[:, at] = values if values.type == pa.float64() else values.cast(pa.float64(), safe=False)
    return found


def rows_of(table: Any, raw: bool) -> list[dict[str, Any]]:
    """Maps of names; a cell that is missing is not among them."""
    found: list[dict[str, Any]] = table.to_pylist()
    if raw:
        return found
    rows = []
    for at, row in enumerate(found):
        for name, cell in row.items():
            if isinstance(cell, str | bool):
                raise Refused(422, f"row {at}: column {name!r} has {cell!r}, which is not a number")
        rows.append({name: float(cell) for name, cell in row.items() if cell is not None})
    return rows


def answers_to(published: Any, scores: NDArray[np.float64], with_scores: bool) -> bytes:
    """The answers as an Arrow stream: the label of each row, and a column of scores for each class."""
    labels, found = pa.array(published.labels), published.predictions(scores)
    if found.is_regression:
        columns = {"label": pa.array(found.labels)}
    elif found.is_multilabel:
        columns = {"label": pa.array(found.values(), pa.list_(labels.type))}
    else:
        columns = {"label": labels.take(pa.array(found.codes))}
    if with_scores:
        columns |= {f"score of {label}": found.class_scores[:, k] for k, label in enumerate(published.labels)}
    table = pa.table(columns).replace_schema_metadata({"seq": str(published.seq)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def examples_of(table: Any, label: str, weight: str | None) -> tuple[Any, list[Any], list[float] | None]:
    """The table without label and weight, the labels and the weights."""
    for name in (label, *([] if weight is None else [weight])):
        if name not in table.schema.names:
            raise Refused(422, f"there is no column {name!r}")
    labels = table.column(label).to_pylist()
    for at, found in enumerate(labels):
        if not isinstance(found, str | int):
            raise Refused(422, f"row {at}: {found!r} is no label: labels are texts, whole numbers or truth values")
    weights = None
    if weight is not None:
        weights = table.column(weight).to_pylist()
        for at, found in enumerate(weights):
            if not isinstance(found, int | float) or not 0 <= found < float("inf"):
                raise Refused(422, f"row {at}: the weight {found!r} must be a number from 0")
        weights = [float(found) for found in weights]
    rest = table.drop_columns([label] if weight is None or weight == label else [label, weight])
    if not rest.num_columns:
        raise Refused(422, "there are no columns beside the label")
    return rest, labels, weights


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))


def _check_messages(body: bytes, limits: Limits) -> None:
    """Raise for a body whose buffers are compressed: what they grow to is not known beforehand."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
        if message.type == "dictionary":
            raise Refused(422, "a column is a dictionary: send plain columns")
        metadata = message.metadata.to_pybytes()
        root = struct.unpack_from("<I", metadata)[0]
        kind = _field(metadata, root, 1)
        if not kind or metadata[kind] != _RECORD_BATCH:
            continue
        header = _field(metadata, root, 2)
        header += struct.unpack_from("<I", metadata, header)[0]
        if _field(metadata, header, 3):
            raise Refused(422, "the Arrow stream is compressed: send it as it is")


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field of a table lies in Arrow's flat metadata; 0 if it is not there."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    place = 4 + 2 * number
    if place >= struct.unpack_from("<H", data, vtable)[0]:
        return 0
    offset: int = struct.unpack_from("<H", data, vtable + place)[0]
    return table + offset if offset else 0
