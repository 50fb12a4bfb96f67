"""Held-out scores of a model, the probabilities that follow from them, and the column that splits rows.

Invariant: no row is scored by weights that were learned from it.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import RowStore
from rosenblatt.data.labels import Classes, Labels, Numbers, places_in, values_as
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.evaluation import evaluate_batches
from rosenblatt.io.dataset import Dataset
from rosenblatt.models.model import Model
from rosenblatt.select.calibration import WINDOW, Calibration
from rosenblatt.select.choice import HeldOut, HoldoutResult
from rosenblatt.select.folds import take_rows
from rosenblatt.select.scoring import ACCURACY, Scorer


def judge_by(model: Model, dataset: Dataset, name: str, scorer: Scorer = ACCURACY) -> HoldoutResult:
    """The evaluation of a model on rows of their own, and the probabilities that they give it."""
    found = evaluate_batches(model, dataset)
    classes, sample = Classes(model.classes), Calibration.empty("auto", len(model.classes))
    by, seen = math.ceil(found.count / WINDOW), 0
    for batch in dataset:
        codes = classes.codes(batch)
        known = np.flatnonzero(codes >= 0)
        rows, seen = known[-seen % by :: by], seen + len(known)  # every by-th row, however the data are cut
        sample = sample.extend(model.batch_scores(batch)[rows], codes[rows], take_rows(batch.weights, rows))
    held = HeldOut(Labels(model.classes, sample.codes), sample.scores, sample.weights, sample.weights, scorer)
    if found.thresholds:  # as predict cuts, by probability
        again = evaluate_batches(replace(model, calibrator=held.calibrator), dataset)
        found = replace(found, thresholds=again.thresholds)
    return HoldoutResult(found, held.calibrator, held.other_scores(), f"the {found.count:,} rows of {name}")


@dataclass(frozen=True)
class PartScore:
    """A score of some of the rows."""

    part: str
    rows: int
    score: float


def score_parts(
    model: Model, dataset: Dataset, scorer: Scorer, *, group: str | None = None, time: str | None = None, parts: int = 5
) -> list[PartScore]:
    """A score of a model on all rows; then on each group, or on so many parts one after another in time.

    Rows whose label the model does not know are left out.
    """
    store = dataset.load(is_regression=model.is_regression)
    split = read_split(dataset, group, time)
    labels, known = _labels_for(model, store, dataset)
    scores, weights = model.batch_scores(store.batch()), store.weights

    def measure(part: str, chosen: NDArray[Any]) -> PartScore:
        rows = chosen[known[chosen]]
        score = scorer(scores[rows], labels.take(rows), take_rows(weights, rows), model.calibrator)
        return PartScore(part, len(rows), score)

    found = [measure("all", np.arange(len(store)))]
    if group:
        groups = split["groups"]
        found += [measure(str(each), np.flatnonzero(groups == each)) for each in np.unique(groups)]
    if time:
        order = np.array_split(np.argsort(split["time"], kind="stable"), min(parts, len(store)))
        found += [measure(f"{split['time'][part[0]]} to {split['time'][part[-1]]}", part) for part in order]
    return found


def _labels_for(model: Model, store: RowStore, dataset: Dataset) -> tuple[Any, NDArray[np.bool_]]:
    """The labels of rows over the classes of a model, and which of them it knows."""
    if model.is_regression:
        return Numbers.of(store.y, 0.0), np.ones(len(store), bool)
    places = places_in(model.classes, values_as(dataset.classes.values, model.classes.dtype.kind))[store.y]
    return Labels(model.classes, np.maximum(places, 0).astype(np.int32)), places >= 0


def check_split(dataset: Dataset, group: str | None, time: str | None) -> None:
    """Raise unless rows can be split by these columns."""
    if group is not None and time is not None:
        raise ParameterError("group and time cannot be combined: rows are split by one of them")
    column = group or time
    if column and isinstance(dataset.encoder, LineEncoder):
        raise ParameterError(f"{column}: rows can be split by a column only, and {dataset.format} lines have none")


def read_split(dataset: Dataset, group: str | None, time: str | None) -> dict[str, NDArray[Any]]:
    """The `groups` or the `time` of every row, by a pass over the data; numbers and dates are compared as such."""
    check_split(dataset, group, time)
    column = group or time
    if not column:
        return {}
    reader = replace(dataset, passthrough=(column,))
    cells = [cell for batch in reader for cell in (batch.passthrough or {})[column]]
    if None in cells or "" in cells:
        raise DataError(f"the column {column!r} splits the rows, but is missing in some rows")
    values = np.array(cells)
    if time and any(isinstance(cell, str) for cell in cells):
        values = _read_times(time, list(map(str, cells)), dataset)
    elif values.dtype.kind == "U":
        with suppress(ValueError):
            values = values.astype(np.float64)
    return {"groups" if group else "time": values}


def _read_times(name: str, cells: list[str], dataset: Dataset) -> NDArray[Any]:
    """The cells of a column as numbers, or as dates of one format, which the model may know."""
    from rosenblatt.encode.cells import convert, doubles_of, present, strings_from, values_of
    from rosenblatt.encode.schema import infer_decimal, infer_format

    text, saved = strings_from(cells), dataset.encoder.options
    day_first = saved.day_first if dataset.options.day_first is None else dataset.options.day_first
    options = replace(dataset.options, day_first=day_first)
    decimal = options.decimal or infer_decimal(cells, saved.decimal or ".")
    known = {column.name: column.format for column in dataset.encoder.columns if column.kind == "date"}
    unit, order = (infer_format(text.unique(), kind, options) for kind in ("number", "date"))
    numbers, words = convert(text, "number", decimal=decimal, format=unit)
    dates, odd = convert(text, "date", format=known.get(name, order))
    if invalid := min(words, odd, key=lambda cells: sum(cells.values())):
        raise DataError(f"the column {name!r} has neither numbers nor dates of one format: {next(iter(invalid))!r}")
    found = doubles_of(numbers)
    missing = np.isnan(found)
    if words:
        missing, stamps = ~present(dates), values_of(dates, np.int64).view("M8[us]")
        found = days if (stamps == (days := stamps.astype("M8[D]"))).all() else stamps.astype("M8[s]")
    if missing.any():
        raise DataError(f"the column {name!r} splits the rows, but is missing in some rows")
    return found
