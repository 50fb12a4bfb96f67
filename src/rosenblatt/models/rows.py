"""Rows for a model: arrays, frames, raw rows as dicts, and texts.

Invariant: raw rows are encoded as the command ``predict`` and the service encode them. A name in a file is the
name of the learner: text stays text and a number stays a number. Rows whose columns have other names, or the same
in another order, are an error.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rosenblatt.data.batch import RowBatch, join_batches
from rosenblatt.data.table import collected
from rosenblatt.encode.cells import NO_VALUE, doubles_of, is_missing, numbers_from, text_of_cell
from rosenblatt.encode.table import Column, TableEncoder
from rosenblatt.errors import DataError, ModelError
from rosenblatt.io.dataset import describe_invalid, open_dataset

Name = str | int | float


def names_of(learner: Any) -> dict[int, Name]:
    """The name of each column that a fitted learner has seen; nothing for rows without names."""
    if not hasattr(learner, "columns_by_name"):  # a meta-estimator has the columns of its learner
        learner = getattr(learner, "learner_", learner)
    if (columns := getattr(learner, "column_names", None)) is not None:
        return dict(zip(columns.values(), plain_names(columns), strict=True))
    known = getattr(learner, "feature_names_in_", None)
    return {} if known is None else dict(enumerate(plain_names(known)))


def plain_names(names: Iterable[Any]) -> list[Name]:
    """Names as a file can hold them."""
    listed = list(names)  # of texts and whole numbers, most often: there can be millions
    return listed if set(map(type, listed)) <= {str, int} else list(map(_plain_name, listed))


def _plain_name(name: Any) -> Name:
    found = name.item() if isinstance(name, np.generic) else name
    if isinstance(found, str):
        return str(found)
    if isinstance(found, int) or (isinstance(found, float) and math.isfinite(found)):
        return found
    raise ModelError(f"a feature has the name {name!r}: only strings and numbers can be saved as names")


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
        f"X has the column {given[at]!r} at position {at}, but the model was trained on {known[at]!r}: "
        "pass X[model.feature_names_in_]"
    )


def encode_rows(X: Any, encoder: Any, features: int) -> Any:
    """Frames, dicts and texts as a CSR array of `features` columns; encoded rows stay as they are."""
    if isinstance(X, str | Mapping):
        raise DataError("X is one row: pass a list of rows, or use predict_one")
    is_table, X = isinstance(encoder, TableEncoder), collected(X)
    if hasattr(X, "to_pylist") and len(np.shape(X)) == 1:  # an array of PyArrow
        X = X.to_pylist()
    is_frame = hasattr(X, "__arrow_c_stream__") and not are_texts(X)
    if is_frame and not is_table:
        X = _only_column(X, encoder)
    if is_frame and is_table:
        dataset = open_dataset(X, encoder=encoder, require_label=False)
        batch = join_batches(list(dataset))
        for column in encoder.used:
            found: Mapping[str, int] = dataset.report.invalid.get(column.name, {})
            if odd := {cell: count for cell, count in found.items() if cell.lower() not in _no_values(column)}:
                warnings.warn(describe_invalid(column.name, odd), stacklevel=2)
    elif np.ndim(X) == 1 and (first := next((row for row in X if isinstance(row, str | Mapping)), None)) is not None:
        if isinstance(first, Mapping) and not is_table:
            raise DataError(f"row 0 is a dict, but the model reads {encoder.describe()}")
        batch = encode_raw(encoder, list(X))
    else:
        shape = np.shape(X)
        if is_table and len(shape) == 2 and shape[1] != features:
            shown = ", ".join(repr(column.name) for column in encoder.used[:3])
            more = ", ..." if len(encoder.used) > 3 else ""
            raise DataError(
                f"X has {shape[1]} columns without names, but the model reads columns by name: pass a frame with "
                f"the columns {shown}{more}"
            )
        return X
    return batch.matrix(max(features, batch.features))[:, :features]


def _only_column(frame: Any, encoder: Any) -> list[Any]:
    """The cells of a frame with one column, for a model that reads texts."""
    import pyarrow as pa

    from rosenblatt.io.arrow import without_index

    table = pa.table(without_index(frame))
    if table.num_columns != 1:
        raise DataError(f"X is a frame of {table.num_columns} columns, but the model reads {encoder.describe()}")
    return table.column(0).to_pylist()


def _no_values(column: Column) -> set[str]:
    """The words, in lower case, that mean a missing value in a column of numbers or dates."""
    return {*NO_VALUE, column.no_value.lower()}


def one_row(row: Any) -> Any:
    """A row of a frame as a dict: a series by its index, a named tuple by its fields; everything else as it is."""
    if hasattr(row, "_asdict"):
        return row._asdict()
    return row.to_dict() if hasattr(row, "to_dict") and len(getattr(row, "shape", ())) == 1 else row


def are_texts(X: Any) -> bool:
    """True if X is a list, an array or a series of strings."""
    is_flat = isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 1
    return is_flat and len(X) > 0 and isinstance(next(iter(X)), str)


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
    return found.batch


def _encode_columns(encoder: TableEncoder, rows: Sequence[Any]) -> RowBatch:
    """Raw columns by name, as in a file: every column of the model must be present, others are ignored."""
    import pyarrow as pa

    arrays = {}
    if len(encoder.used) == 1:  # a text alone is its cell
        rows = [{encoder.used[0].name: row} if isinstance(row, str) or is_missing(row) else row for row in rows]
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            what = "text" if isinstance(row, str) else type(row).__name__
            raise DataError(f"row {at} is {what}, but the model reads columns by name")
        absent = [column.name for column in encoder.used if column.name not in row]
        if absent and encoder.zeros is None:
            raise DataError(f"row {at} lacks the column {absent[0]!r} (null is a missing value)")
    for column in encoder.used:
        cells = [row.get(column.name, 0.0 if column.name in (encoder.zeros or ()) else None) for row in rows]
        # Text is read as in the training file: units, decimal mark, missing markers.
        is_number = column.kind == "number"
        texts = [cell if isinstance(cell, str) else None if is_number else text_of_cell(cell) for cell in cells]
        array, invalid = encoder.convert(pa.array(texts, pa.string()), column)
        odd = {text for text in invalid if text.lower() not in _no_values(column)}
        wrong = next((at for at, text in enumerate(texts) if text in odd), None)
        if is_number:
            numbers = doubles_of(array).copy()
            for at, cell in enumerate(cells):
                try:
                    if not isinstance(cell, str) and not is_missing(cell):
                        numbers[at] = cell.total_seconds() if hasattr(cell, "total_seconds") else float(cell)
                except (TypeError, ValueError, OverflowError):
                    wrong = at if wrong is None else min(wrong, at)
            array = numbers_from(numbers)
        if wrong is not None:
            raise DataError(f"row {wrong}: column {column.name!r} has {cells[wrong]!r}, which is not a {column.kind}")
        arrays[column.name] = array
    return encoder.encode(pa.table(arrays))
