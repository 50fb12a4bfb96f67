"""Open and read the data of a verb."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rosenblatt.cli.console import say
from rosenblatt.encode.lines import LINE_FORMATS, LineEncoder
from rosenblatt.errors import ModelError
from rosenblatt.io.dataset import Dataset, check_classes, describe_invalid, format_of, open_dataset
from rosenblatt.io.source import expand_sources

Options = dict[str, Any]


def open_labeled(
    data: Sequence[str], reading: Options, columns: Options, split: Options | None = None, *, raw: bool = False
) -> Dataset:
    """Open data to learn from, and print how it is read; `raw` does not standardize numbers."""
    if split and (column := split["group"] or split["time"]):
        columns = columns | {"drop": [*columns["drop"], column]}
    dataset = open_dataset(list(data), **reading, **columns)
    if raw and dataset.format not in LINE_FORMATS:
        dataset.encoder = replace(dataset.encoder.plain(), complete=True)
    dialect = dataset.notes[:1] if dataset.order is not None else []
    how = f" with {dialect[0]}" if dialect else ""
    kind = "table" if dataset.format == "arrow" else dataset.format  # of a database or a workbook
    say(f"{kind}{how}; {dataset.encoder.describe()}", *dataset.notes[len(dialect) :])
    return dataset


def read_rows(
    dataset: Dataset, split: Options | None = None, *, is_regression: bool = False
) -> tuple[Any, Any, Any, Options]:
    """All rows over the columns in use, their labels or numbers, these columns, and weights and splits as options."""
    from rosenblatt.training.holdout import read_split
    from rosenblatt.training.run import plain_rows

    store = dataset.load(is_regression=is_regression)
    y = store.y if is_regression else check_classes(dataset.classes).values[store.y]
    report_skipped(dataset)
    options: Options = {}
    if split is not None:
        options |= read_split(dataset, split["group"], split["time"])
        options |= {"scoring": split["scoring"], "sample_weight": store.weights}
    elif store.weights is not None:
        say("row weights are ignored here")
    rows, used = store.csr(max(store.batch().features, 1)).compact()
    return plain_rows(rows), y, used, options


def encoder_for(model: Any, data: Sequence[str], reading: Options, label: str | None = None) -> Any:
    """The model's encoder; for a model trained on plain rows, one by its column names, or svmlight's."""
    if model.encoder is not None:
        return model.encoder
    from rosenblatt.encode.table import Column, TableEncoder

    names, source = [model.names.get(j) for j in range(model.features)], expand_sources(list(data))[0]
    name = reading["format"]
    if name is None and source.live:  # to look into it would take its first lines
        name = "svmlight" if None in names else "csv"
    source.encoding = reading["encoding"]
    name = name or format_of(source)
    if name in LINE_FORMATS:
        return LineEncoder(name)
    if None in names:
        raise ModelError("the model was trained on rows without column names: pass svmlight data")
    return TableEncoder(tuple(Column(str(name), "number") for name in names), label, complete=True)


def open_for(model: Any, data: Sequence[str], reading: Options, label: str | None = None, **how: Any) -> Dataset:
    """Open data that a model predicts."""
    return open_dataset(list(data), **reading, **how, encoder=encoder_for(model, data, reading, label))


def report_skipped(dataset: Dataset) -> None:
    """Print the skipped lines, and the cells that were read as missing."""
    if bad := dataset.report.bad:
        say(f"skipped {bad:,} bad line{'s, for example' if bad > 1 else ''}:", *dataset.report.first_bad[:3])
    for name, cells in dataset.report.invalid.items():
        by_training = f"{name}: number; ", f"{name}: date; "
        if not any(note.startswith(by_training) for note in dataset.notes):
            say(describe_invalid(name, cells))
