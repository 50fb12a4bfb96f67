"""Opening and reading the data that a verb was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rosenblatt.cli.console import say, waiting
from rosenblatt.errors import ModelError
from rosenblatt.io.dataset import Dataset, format_of, open_dataset
from rosenblatt.io.formats import LINE_FORMATS
from rosenblatt.io.source import expand_sources

Options = dict[str, Any]
MANY_ROWS = 100_000  # for the verbs that hold all rows in memory


def open_labeled(
    data: Sequence[str], reading: Options, columns: Options, *, raw: bool = False, quiet: bool = False
) -> Dataset:
    """Open data to learn from, and say what it was taken for; `raw` keeps numbers as they are."""
    with waiting("reading the data", visible=not quiet):
        dataset = open_dataset(list(data), **reading, **columns)
    if raw and hasattr(dataset.encoder, "plain"):
        dataset.encoder, dataset.is_fitted = replace(dataset.encoder.plain(), complete=True), True
    dialect = dataset.notes[:1] if dataset.order is not None else []
    how = f" with {dialect[0]}" if dialect else ""
    say(f"{dataset.format}{how}; {dataset.describe()}", *dataset.notes[len(dialect) :], quiet=quiet)
    return dataset


def read_matrix(
    data: Sequence[str], reading: Options, columns: Options, *, raw: bool = False
) -> tuple[Any, Any, list[str]]:
    """All rows, labels and column names; `raw` keeps numbers unscaled and rejects missing values."""
    from rosenblatt.training.rows import Compact, read_rows

    dataset = open_labeled(data, reading, columns, raw=raw)
    rows = read_rows(dataset)
    report_skipped(dataset)
    if raw and dataset.report.bad:
        say("row numbers do not count the skipped lines")
    if rows.weights is not None:
        say("row weights are ignored here")
    if raw and len(rows) > MANY_ROWS:
        say(f"{len(rows):,} rows are held in memory: this may take a while")
    compact = Compact.of(rows, dataset.encoder.features)
    names = dataset.find_names(compact.columns) if raw else {}
    return compact.matrix, rows.y, [names.get(int(column), f"x{int(column)}") for column in compact.columns]


def encoder_for(model: Any, data: Sequence[str], reading: Options, label: str | None = None) -> Any:
    """The model's encoder; for a model trained on plain rows, one by its column names, or svmlight's."""
    if model.encoder is not None:
        return model.encoder
    from rosenblatt.encode.lines import LineEncoder
    from rosenblatt.encode.table import Column, TableEncoder

    name = reading["format"] or format_of(expand_sources(list(data))[0], reading["encoding"])
    if name in LINE_FORMATS:
        return LineEncoder(name)
    names = [model.names.get(j) for j in range(model.features)]
    if None in names:
        raise ModelError("the model was trained on rows without column names: pass svmlight data")
    return TableEncoder(tuple(Column(str(name), "number") for name in names), label, complete=True)


def report_skipped(dataset: Dataset) -> None:
    """Say which lines were skipped, and which cells were read as missing."""
    bad = dataset.report.bad
    if bad:
        say(f"skipped {bad:,} bad line{'s, for example' if bad > 1 else ''}:", *dataset.report.first_bad[:3])
    for name, words in dataset.report.invalid.items():
        examples = ", ".join(repr(word[:40]) for word in list(words)[:3]) + (", …" if len(words) > 3 else "")
        count = sum(words.values())
        say(f"{name}: read {count:,} cell{'s' if count > 1 else ''} as missing: {examples}")
