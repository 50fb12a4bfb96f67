"""Predict the label of every row: one output line per input line, at once.

A blank line, or one that --skip-bad skips, has an empty prediction, so that predictions and lines stay aligned. DATA
is stdin by default.

    rosenblatt predict spam.model new.tsv
    rosenblatt predict spam.model new.csv -o predictions.csv --probabilities --pass id
    tail -f messages | rosenblatt predict spam.model --scores
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Any, BinaryIO

import click

from rosenblatt.cli import options as o
from rosenblatt.errors import ModelError, ParameterError

FORMATS = ("text", "csv", "tsv", "json", "parquet")
_EXTENSIONS = {"csv": "csv", "tsv": "tsv", "parquet": "parquet", "jsonl": "json", "ndjson": "json"}
_UNSUPPORTED = ("xlsx", "xls", "ods", "feather", "arrow", "json", "gz", "bz2", "xz", "zst", "zip")
_PLURALS = {"score": "scores", "probability": "probabilities"}
_THRESHOLD = (
    "binary: predict the class that sorts last (1, yes, spam) at or above X; otherwise: leave the label empty below X. "
    "X is a probability if the model has them, else a score, as in the table of evaluate"
)
_PASS = "copy this input column to the output; * is all of them, or the whole line; tag is VW's (repeatable)"
Columns = dict[str, list[Any]]


@click.command("predict", cls=o.Verb, help=__doc__)
@o.model_argument()
@o.data_argument(default=("-",))
@o.option("-o --output FILE", "output file (default: stdout)", type=o.OutputFile())
@o.option("--to", "output format (default: from FILE's extension, else text)", type=click.Choice(FORMATS))
@o.json_option("same as --to json --scores", without="to")
@o.option("--scores", "also print the scores", is_flag=True, group="show")
@o.option("--probabilities", "also print the probability of each class", is_flag=True, group="show")
@o.option("--top K", "print the K most likely classes", type=o.COUNT, group="show", without="scores explain threshold")
@o.option("--threshold X", _THRESHOLD, type=float, group="show")
@o.option("--explain K", "also print the K features that count most for the prediction", type=o.COUNT, group="show")
@o.option("--pass COLUMN", _PASS, name="passed", multiple=True)
@o.reading_options()
@o.cluster_option()
def command(
    model: str, data: Any, output: Any, to: Any, as_json: bool, show: Any, passed: Any, reading: Any, cluster: Any
) -> None:
    from rosenblatt.cli.console import say
    from rosenblatt.cli.load import encoder_for, open_for, report_skipped
    from rosenblatt.io.atomic import writing
    from rosenblatt.models.file import load

    extension = (output or "").lower().rsplit(".")[-1]
    loaded, kind = load(model), "json" if as_json else to or _EXTENSIONS.get(extension, "text")
    how = PredictOptions(kind, **show)
    how.check(loaded, model)
    if as_json and not how.probabilities:
        how = replace(how, scores=True)
    if extension in _UNSUPPORTED and to is None:
        raise ParameterError(f"-o {output}: use .csv, .tsv, .jsonl, .parquet or another name for text, or pass --to")
    if how.threshold is not None:
        say(f"--threshold {how.threshold:g} is a {'score' if loaded.calibrator is None else 'probability'}")
    with writing(output or "-") as out:
        write = _write_parquet if kind == "parquet" else partial(_write_lines, kind)
        if cluster:
            from rosenblatt.cluster.prediction import map_pieces

            loaded = replace(loaded, encoder=encoder_for(loaded, data, reading), state=None)
            pieces = map_pieces(cluster, list(data), loaded, partial(_predict_piece, how, passed), reading=reading)
            write(out, chain.from_iterable(pieces))
        else:
            dataset = open_for(loaded, data, reading, require_label=False)
            dataset.keep_blank, dataset.passthrough = True, passed
            write(out, _iter_columns(loaded, dataset, how))
            report_skipped(dataset)


def _predict_piece(how: PredictOptions, passed: tuple[str, ...], model: Any, reader: Any, piece: Any) -> list[Columns]:
    """The columns of a piece of the data, by a worker of a cluster."""
    from rosenblatt.cluster.dataset import read_piece

    dataset = read_piece(reader, piece)
    dataset.keep_blank, dataset.passthrough = True, passed
    return [how.columns(model, batch) for batch in dataset]


def _iter_columns(model: Any, dataset: Any, how: PredictOptions) -> Iterator[Columns]:
    """The columns of each batch; documents with their names."""
    names = iter(dataset.documents or ())
    for batch in (part for whole in dataset for part in whole.split(len(model.classes))):
        columns = how.columns(model, batch)
        if dataset.documents:
            columns = {"document": list(islice(names, len(next(iter(columns.values()))))), **columns}
        yield columns


@dataclass(frozen=True)
class PredictOptions:
    """Which columns the predictions have."""

    format: str
    scores: bool
    probabilities: bool
    top: int | None
    threshold: float | None
    explain: int | None

    def check(self, model: Any, path: str) -> None:
        """Raise unless the model can predict this."""
        for name in ("top", "probabilities", "threshold", "scores") if model.is_regression else ():
            if getattr(self, name) is not None and getattr(self, name) is not False:  # a threshold of 0 is one
                raise ParameterError(f"--{name} needs classes, and {path} predicts numbers")
        if self.probabilities and model.calibrator is None:
            raise ModelError(f"{path} has no probabilities: train it with --folds 5 or --validation FILE")
        if self.threshold is not None and model.calibrator is not None and not 0 <= self.threshold <= 1:
            raise ParameterError(f"--threshold {self.threshold:g}: a probability is from 0 to 1")

    def columns(self, model: Any, batch: Any) -> Columns:
        """The columns of the predictions, one cell per line."""
        passed = {name: cells if len(batch) else [] for name, cells in (batch.passthrough or {}).items()}
        return with_gaps(passed | self._predict(model, batch), batch.blank)

    def _predict(self, model: Any, batch: Any) -> Columns:
        found = model.predictions(model.batch_scores(batch))
        if found.is_regression:
            return {"prediction": found.values()} | self._contributions(model, batch, [None] * len(batch))
        classes, is_json = model.classes.tolist(), self.format == "json"
        name, measure = ("probability", found.probabilities) if self.probabilities else ("score", found.class_scores)
        if self.top is not None:
            return self._ranked(classes, name, *found.top(self.top, by_probability=self.probabilities))
        labels, codes = found.values(), found.codes
        cut = found.class_scores if model.calibrator is None else found.probabilities
        if self.threshold is not None and len(classes) == 2:
            codes = (cut[:, 1] >= self.threshold).astype(int)
            labels = [classes[code] for code in codes]
        elif self.threshold is not None:
            sure = cut.max(axis=1) >= self.threshold
            labels = [label if row else None for label, row in zip(labels, sure, strict=True)]
        columns = {"label": labels} | self._contributions(model, batch, codes)
        tables = {"probability": measure} if self.probabilities else {}
        if self.scores:  # text has one score for two classes, that of the larger
            tables["score"] = found.scores if self.format == "text" else found.class_scores
        for name, table in tables.items():
            names = classes[-table.shape[1] :]
            if is_json:
                rows = table.tolist()
                columns[_PLURALS[name]] = [dict(zip(map(str, names), row, strict=True)) for row in rows]
            else:
                columns |= {f"{name} of {label}": table[:, k].tolist() for k, label in enumerate(names)}
        return columns

    def _ranked(self, classes: list[Any], name: str, order: Any, best: Any) -> Columns:
        labels = [[classes[code] for code in row] for row in order]
        if self.format == "json":
            rows = (zip(*row, strict=True) for row in zip(labels, best.tolist(), strict=True))
            return {"top": [[{"label": label, name: value} for label, value in row] for row in rows]}
        columns: Columns = {}
        for place in range(order.shape[1]):
            columns[f"label {place + 1}"] = [row[place] for row in labels]
            columns[f"{name} {place + 1}"] = best[:, place].tolist()
        return columns

    def _contributions(self, model: Any, batch: Any, codes: Any) -> Columns:
        """The features that add most to the score of the predicted label, or move a number most, as text or JSON."""
        if self.explain is None:
            return {}
        import numpy as np

        cells: list[Any] = []
        for row, code in zip(np.arange(len(batch))[:, None], codes, strict=True):
            best = model.explain_table(model.batch_table(batch.take(row)), code)[: self.explain]
            if self.format == "json":
                cells.append([{"feature": b.feature, "value": b.value, "contribution": b.share} for b in best])
            else:
                cells.append(", ".join(f"{b.feature} {b.share:+.4g}" for b in best))
        return {"contributions": cells}


def with_gaps(columns: Columns, gaps: Sequence[int]) -> Columns:
    """Add an empty prediction for every line without a row.

    >>> with_gaps({"label": ["a", "b"]}, [0, 1, 1])
    {'label': [None, 'a', None, None, 'b']}
    """
    full = {name: list(cells) for name, cells in columns.items()}
    for cells in full.values():
        for gap in reversed(gaps):
            cells.insert(gap, None)
    return full


def _write_lines(kind: str, out: BinaryIO, tables: Iterator[Columns]) -> None:
    """Text, CSV, TSV or JSON lines, flushed after each batch; control characters are escaped on a terminal."""
    from rosenblatt.cli.console import escape

    delimiter = {"csv": ",", "tsv": "\t"}.get(kind)
    for number, columns in enumerate(tables):
        rows, file = zip(*columns.values(), strict=True), io.StringIO()
        if kind == "text":
            file.writelines("\t".join(map(_one_line, row)) + "\n" for row in rows)
        elif delimiter is None:
            lines = (dict(zip(columns, row, strict=True)) for row in rows)
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        else:
            header = [tuple(columns)] if number == 0 else []
            csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([*header, *rows])
        text = escape(file.getvalue()) if out.isatty() else file.getvalue()
        out.write(text.encode("utf-8", "replace"))
        out.flush()


def _one_line(cell: Any) -> str:
    text = "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)
    return text if text.isprintable() else text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _write_parquet(out: BinaryIO, tables: Iterator[Columns]) -> None:
    """One row group per batch."""
    import pyarrow as pa
    from pyarrow import parquet

    writer: Any = None
    for columns in tables:
        if writer is None:
            found = pa.table(columns).schema
            schema = pa.schema([(each.name, pa.string() if each.type == pa.null() else each.type) for each in found])
            writer = parquet.ParquetWriter(out, schema)
        writer.write_table(pa.table(columns, schema=writer.schema))
    if writer is not None:
        writer.close()
