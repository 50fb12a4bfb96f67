"""Predict the label of every row: one line out per line in, as the lines come.

A blank line, or one that --skip-bad skips, has an empty prediction, so that predictions and lines stay aligned. DATA
is stdin by default.

    rosenblatt predict spam.model new.tsv
    rosenblatt predict spam.model new.csv -o predictions.csv --probabilities --pass id
    tail -f messages | rosenblatt predict spam.model --scores
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.errors import ModelError, ParameterError

FORMATS = ("text", "csv", "tsv", "json", "parquet")
# File extensions that promise another format.
_UNSUPPORTED = ("xlsx", "xls", "ods", "feather", "arrow", "ipc", "json", "gz", "bz2", "xz", "zst", "zip")


@click.command("predict", cls=o.Verb, help=__doc__)
@o.model_argument()
@o.data_argument(required=False, default=("-",))
@o.option("-o", "--output", metavar="FILE", type=o.OutputFile(), help="output file (default: stdout)")
@o.option("--to", type=click.Choice(FORMATS), help="output format (default: from FILE's extension, else text)")
@o.option("--json", "as_json", is_flag=True, help="same as --to json --scores")
@o.option("--scores", is_flag=True, help="also print the scores")
@o.option("--probabilities", is_flag=True, help="also print the probability of each class")
@o.option("--top", type=click.IntRange(1), metavar="K", help="print the K most likely classes")
@o.option(
    "--threshold",
    type=float,
    metavar="X",
    help="binary: predict the larger class at or above X; otherwise: leave the label empty below X. X is a score, or "
    "with --probabilities a probability",
)
@o.option("--explain", type=click.IntRange(1), metavar="K", help="also print the K features that add most to the score")
@o.option(
    "--pass",
    "passed",
    multiple=True,
    metavar="COLUMN",
    help="copy this input column to the output; * is all of them, or the whole line (repeatable)",
)
@o.reading_options
@o.cluster_option
def command(
    model: str,
    data: o.Files,
    output: o.Text,
    to: o.Text,
    as_json: bool,
    scores: bool,
    probabilities: bool,
    top: int | None,
    threshold: float | None,
    explain: int | None,
    passed: o.Files,
    reading: o.Settings,
    cluster: o.Text,
) -> None:
    from dataclasses import replace

    from rosenblatt.cli.console import say
    from rosenblatt.cli.load import encoder_for, report_skipped
    from rosenblatt.cli.predictions import open_writer
    from rosenblatt.io.atomic import writing
    from rosenblatt.io.dataset import open_dataset
    from rosenblatt.models.file import load

    loaded, files = load(model), list(data)
    kind = "json" if as_json else to or _format_of(output)
    how = PredictOptions(kind, scores or kind == "json", probabilities, top, threshold, explain)
    how.check(loaded, model)
    if threshold is not None:
        say(f"--threshold {threshold:g} is a {'probability' if probabilities else 'score'}")
    encoder = encoder_for(loaded, files, reading)
    with writing(output or "-") as out:
        writer = open_writer(kind, out)
        if cluster:
            from rosenblatt.cli.cluster import predict_on_cluster

            loaded = replace(loaded, encoder=encoder, state=None)
            for columns in predict_on_cluster(cluster, files, loaded, reading, how.columns, list(passed)):
                writer.write(columns)
        else:
            dataset = open_dataset(files, **reading, encoder=encoder, require_label=False, sort_documents=True)
            dataset.keep_blank, dataset.passthrough = True, passed
            names = iter(dataset.documents or ())
            for batch in (part for whole in dataset for part in whole.split(len(loaded.classes))):
                columns = how.columns(loaded, batch)
                if dataset.documents:
                    count = len(next(iter(columns.values())))
                    columns = {"document": [next(names) for _ in range(count)], **columns}
                writer.write(columns)
        writer.close()
    if not cluster:
        report_skipped(dataset)


def _format_of(path: str | None) -> str:
    extension = (path or "").lower().rsplit(".", 1)[-1]
    if extension in _UNSUPPORTED:
        raise ParameterError(f"-o {path}: use .csv, .tsv, .jsonl, .parquet or another name for text, or pass --to")
    return {"csv": "csv", "tsv": "tsv", "parquet": "parquet", "jsonl": "json", "ndjson": "json"}.get(extension, "text")


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
        """Raise unless the model can answer so."""
        for name in ("top", "probabilities", "threshold"):
            if model.is_regression and getattr(self, name) is not None and getattr(self, name) is not False:
                raise ParameterError(f"--{name} needs classes, and {path} predicts numbers")
        if self.threshold is not None and math.isnan(self.threshold):
            raise ParameterError("--threshold nan: must be a number")
        if self.top is not None and self.threshold is not None:
            raise ParameterError("--top and --threshold cannot be combined")
        if self.probabilities and model.calibrator is None:
            raise ModelError(
                f"{path} has scores but no probabilities: train it with --folds 5 or --validation FILE, or use --scores"
            )
        if self.probabilities and self.threshold is not None and not 0 <= self.threshold <= 1:
            raise ParameterError(f"--threshold {self.threshold:g}: a probability is between 0 and 1")

    def columns(self, model: Any, batch: Any) -> Any:
        """The columns of the predictions, one cell per line."""
        from rosenblatt.cli.predictions import with_gaps

        return with_gaps(self._columns(model, batch), batch.blank)

    def _columns(self, model: Any, batch: Any) -> Any:
        found = model.predictions(model.batch_scores(batch))
        columns: dict[str, list[Any]] = {
            name: cells if len(batch) else [] for name, cells in (batch.passthrough or {}).items()
        }
        if found.is_regression:
            return columns | {"prediction": found.values()}
        classes = model.classes.tolist()
        name, measure = ("probability", found.probabilities) if self.probabilities else ("score", found.class_scores)
        if self.top is not None:
            order, best = found.top(self.top, by_probability=self.probabilities)
            for place in range(order.shape[1]):
                columns[f"label {place + 1}"] = [classes[code] for code in order[:, place]]
                columns[f"{name} {place + 1}"] = best[:, place].tolist()
            return columns
        labels = found.values()
        if self.threshold is not None and len(classes) == 2:
            labels = [classes[int(row)] for row in measure[:, 1] >= self.threshold]
        elif self.threshold is not None:
            sure = measure.max(axis=1) >= self.threshold
            labels = [label if row else None for label, row in zip(labels, sure, strict=True)]
        columns["label"] = labels
        if self.explain is not None:
            columns["contributions"] = [self._explain(model, batch, row, code) for row, code in enumerate(found.codes)]
        if self.scores and not (self.format == "json" and self.probabilities):
            # Text has one score for two classes, that of the larger; the other formats have both.
            shown = found.scores if self.format == "text" else found.class_scores
            columns |= {f"score of {label}": shown[:, k].tolist() for k, label in enumerate(classes[-shown.shape[1] :])}
        if self.probabilities:
            columns |= {f"probability of {label}": measure[:, k].tolist() for k, label in enumerate(classes)}
        return columns

    def _explain(self, model: Any, batch: Any, row: int, code: int) -> Any:
        """The features that add most to the score of the predicted class, as text or JSON."""
        from rosenblatt.models.predictions import contributions

        at = slice(batch.starts[row], batch.starts[row + 1])
        known = zip(batch.indices[at].tolist(), batch.values[at].tolist(), strict=True)
        features = [(column, model.name_of(column), value) for column, value in known if column < model.features]
        best = contributions(model.parts, features, int(code), is_regression=model.is_regression)[: self.explain]
        if self.format == "json":
            return [{"feature": each.feature, "value": each.value, "contribution": each.share} for each in best]
        return ", ".join(f"{each.feature} {each.share:+.4g}" for each in best)
