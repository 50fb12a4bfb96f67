"""Rows for a model: arrays, frames, raw rows as dicts, and texts.

Invariant: raw rows are encoded as the command ``predict`` and the service encode them. A name in a file is the name
that the learner knew: text stays text and a number stays a number. Rows whose columns have other names, or the same
in another order, are an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rosenblatt import engine
from rosenblatt.data.batch import RowBatch
from rosenblatt.data.table import Table, as_table
from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import DataError, ModelError
from rosenblatt.io.dataset import open_dataset

Name = str | int | float


def names_of(learner: Any) -> dict[int, Name]:
    """The name of each column that a fitted learner has seen; nothing for rows without names."""
    if not hasattr(learner, "learned"):  # one around another has its columns
        learner = getattr(learner, "learner_", learner)
    stream = getattr(getattr(learner, "learned", None), "stream", None)
    if stream is not None:
        return {column: plain_name(name) for name, column in stream.names.items()}
    own = vars(learner).get("_stream_names", {})
    if own and len(own) == learner.n_features_in_:
        return {column: plain_name(name) for name, column in own.items()}
    known = getattr(learner, "feature_names_in_", None)
    return {} if known is None else {column: plain_name(name) for column, name in enumerate(known)}


def plain_name(name: Any) -> Name:
    """A name as a file can hold it."""
    found = name.item() if isinstance(name, np.generic) else name
    if isinstance(found, str):
        return str(found)
    if isinstance(found, int) or (isinstance(found, float) and math.isfinite(found)):
        return found
    raise ModelError(f"a feature has the name {name!r}: only texts and numbers can be saved as names")


def check_names(given: tuple[str, ...] | None, known: list[Any] | None) -> None:
    """Raise unless a frame has the columns that the model was trained on, in their order."""
    if given is None or known is None or list(given) == known:
        return
    unknown = [name for name in given if name not in set(known)]
    missing = [name for name in known if name not in set(given)]
    if unknown:
        raise DataError(f"X has the column {unknown[0]!r}, which the model was not trained on")
    if missing:
        raise DataError(f"X lacks the column {missing[0]!r}, which the model was trained on")
    at = next(j for j, (left, right) in enumerate(zip(given, known, strict=False)) if left != right)
    raise DataError(
        f"X has the column {given[at]!r} at place {at}, where the model was trained on {known[at]!r}: "
        "give it X[model.feature_names_in_]"
    )


def example_table(
    examples: Sequence[Mapping[Any, float]], columns: Mapping[Any, int], count: int, hash_bits: int | None = None
) -> Table:
    """Examples of a stream as a table of `count` columns; features that the model does not know are left out."""
    import scipy.sparse as sp

    starts, places, values = [0], list[int](), list[float]()
    for features in examples:
        engine.Stream.check(features)
        if hash_bits:
            hashed, found = engine.Stream.hashed(features, hash_bits)
            places += hashed.tolist()
            values += found.tolist()
        else:
            known = {columns[name]: value for name, value in features.items() if name in columns}
            places += sorted(known)
            values += [known[at] for at in sorted(known)]
        starts.append(len(places))
    shape = len(examples), max(count, 1)  # a stream without features yet has one column of zeros
    return as_table(sp.csr_array((np.array(values, np.float64), places, starts), shape=shape))


def encode_rows(X: Any, encoder: Any, features: int) -> Any:
    """Frames, dicts and texts as a CSR array of so many features; rows that are encoded already as they are."""
    if isinstance(X, str | Mapping):
        raise DataError("X is one row: give a list of rows, or use predict_one")
    is_table = isinstance(encoder, TableEncoder)
    if is_table and hasattr(X, "__arrow_c_stream__"):
        batches = list(open_dataset(X, encoder=encoder, require_label=False, sort_documents=True))
    elif np.ndim(X) == 1 and len(X) and isinstance(first := next(iter(X)), str | Mapping):
        if isinstance(first, Mapping) and not is_table:
            raise DataError(f"row 0 is a dict, but the model reads {encoder.describe()}")
        batches = [encode_raw(encoder, list(X))]
    else:
        shape = np.shape(X)
        if is_table and len(shape) == 2 and shape[1] != features:
            shown = ", ".join(repr(column.name) for column in encoder.used[:3])
            more = ", ..." if len(encoder.used) > 3 else ""
            raise DataError(
                f"X has {shape[1]} columns without names, and the model reads columns by name: give it a frame with "
                f"the columns {shown}{more}"
            )
        return X
    import scipy.sparse as sp

    parts = [batch.matrix(max(features, batch.features))[:, :features] for batch in batches]
    return sp.vstack(parts, format="csr") if parts else sp.csr_array((0, features))


def encode_raw(encoder: Any, rows: Sequence[Any]) -> RowBatch:
    """Rows as dicts of raw columns, or as lines of text, whichever the encoder reads."""
    if isinstance(encoder, TableEncoder):
        return _encode_columns(encoder, rows)
    lines = []
    for at, row in enumerate(rows):
        if not isinstance(row, str) or "\n" in row or "\r" in row or not row.strip():
            raise DataError(f"row {at} must be one line of text")
        lines.append(row.replace("\t", " ") if encoder.format in ("tabbed", "fasttext") else row)
    found = encoder.transform(("\n".join(lines) + "\n").encode(), require_label=False)
    if found.bad:
        raise DataError(f"row {found.bad[0][0] - 1}: {found.bad[0][1]}")
    if len(found.batch) != len(rows):
        raise DataError("a row has no features")
    batch: RowBatch = found.batch
    return batch


def _encode_columns(encoder: TableEncoder, rows: Sequence[Any]) -> RowBatch:
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
    return encoder.encode(table)


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
