"""Measure a model on labeled data: accuracy with its interval, F1, area under the curve, confusions, probabilities.

A row counts with its weight. For a regression: how far off its numbers are.

    rosenblatt evaluate spam.model held-out.tsv
    rosenblatt evaluate spam.model held-out.tsv --report spam.html
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli import options as o


@click.command("evaluate", cls=o.Verb, help=__doc__)
@o.model_argument()
@o.data_argument()
@o.option("--label", metavar="COLUMN", help="label column, for a model that was trained in Python")
@o.option("--against", metavar="MODEL", type=o.InputFile(), help="compare with this model on the same rows")
@o.json_option("print the figures as one JSON object")
@o.option("--report", metavar="FILE.html", type=o.OutputFile(), help="write a self-contained page")
@o.reading_options
@o.cluster_option
def command(
    model: str,
    data: o.Files,
    label: o.Text,
    against: o.Text,
    as_json: bool,
    report: o.Text,
    reading: o.Settings,
    cluster: o.Text,
) -> None:
    from dataclasses import asdict, replace

    from rosenblatt.cli.console import print_json, say, write_page
    from rosenblatt.cli.load import encoder_for, report_skipped
    from rosenblatt.errors import ParameterError
    from rosenblatt.evaluation import evaluate_batches, evaluate_regression
    from rosenblatt.io.atomic import write_atomic
    from rosenblatt.io.dataset import open_dataset
    from rosenblatt.models.file import load
    from rosenblatt.report import render_html, render_text

    loaded = load(model)
    encoder = encoder_for(loaded, data, reading, label)
    title = f"{', '.join(data)} by {model}"
    if cluster and loaded.is_regression:
        raise ParameterError(f"--cluster needs classes, and {model} predicts numbers")
    if cluster:
        from rosenblatt.cli.cluster import evaluate_on_cluster

        result: Any = evaluate_on_cluster(cluster, list(data), replace(loaded, encoder=encoder), reading)
    else:
        dataset = open_dataset(list(data), **reading, encoder=encoder)
        result = (evaluate_regression if loaded.is_regression else evaluate_batches)(loaded, dataset)
        report_skipped(dataset)
    text = render_text(result)
    if report:
        if loaded.is_regression:
            write_page(report, title, text)
        else:
            write_atomic(report, render_html(title, result, loaded).encode())
        say(f"wrote {report}")
    paired = _compare(loaded, load(against), data, reading, label) if against else None
    if as_json:
        print_json(result.to_json() | ({} if paired is None else {"against": asdict(paired)}))
    else:
        print(text if paired is None else f"{text}\n\n{model} and {against}: {paired.verdict()}")


def _compare(model: Any, other: Any, data: tuple[str, ...], reading: dict[str, Any], label: str | None) -> Any:
    """Two models on the same rows, each read by its own encoder."""
    from rosenblatt.cli.load import encoder_for
    from rosenblatt.evaluation import compare_models
    from rosenblatt.io.dataset import open_dataset

    encoders = [encoder_for(each, data, reading, label) for each in (model, other)]
    return compare_models(model, other, *(open_dataset(list(data), **reading, encoder=each) for each in encoders))
