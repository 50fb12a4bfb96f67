"""Measure a model on labeled data: accuracy with its interval, F1, area under the curve, confusions, probabilities.

Rows count with their weights. For a regression: mean absolute error, RMSE, R² and bias.

    rosenblatt evaluate spam.model held-out.tsv
    rosenblatt evaluate spam.model held-out.tsv --report spam.html
    rosenblatt evaluate late.model flights.csv --group carrier --scoring f1
"""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.errors import ParameterError


@click.command("evaluate", cls=o.Verb, help=__doc__)
@o.model_argument()
@o.data_argument(required=True)
@o.option("--label COLUMN", "label column, for a model that was trained in Python")
@o.option("--against MODEL", "compare with this model on the same rows", type=o.InputFile())
@o.json_option("print the figures as one JSON object")
@o.option("--report FILE.html", "write a self-contained page", type=o.OutputFile())
@o.split_options("also measure this score", "measure each group", "measure five parts, from early to late")
@o.reading_options()
@o.cluster_option(without="split")
def command(
    model: str, data: Any, against: Any, as_json: bool, report: Any, split: Any, cluster: Any, **how: Any
) -> None:
    from dataclasses import asdict, replace

    from rosenblatt.cli.console import echo, print_json, say
    from rosenblatt.cli.load import encoder_for, open_for, report_skipped
    from rosenblatt.evaluation import compare_models, evaluate_batches
    from rosenblatt.io.atomic import write_atomic
    from rosenblatt.io.source import expand_sources
    from rosenblatt.models.file import load
    from rosenblatt.report import render_html, render_text

    loaded, files = load(model), list(data)
    if how["label"] and loaded.encoder is not None:
        raise ParameterError(f"--label {how['label']}: {model} knows its label column")
    if against and any(source.live for source in expand_sources(files)):
        raise ParameterError("--against reads the data twice: pass a file instead of a pipe")
    title = f"{', '.join(files)} by {model}"
    if cluster:
        from rosenblatt import cluster as on_cluster

        if loaded.is_regression:
            raise ParameterError(f"--cluster needs classes, and {model} predicts numbers")
        loaded = replace(loaded, encoder=encoder_for(loaded, files, **how))
        result: Any = on_cluster.evaluate(cluster, files, loaded, reading=how["reading"])
    else:
        dataset = open_for(loaded, files, **how, rewindable=any(split.values()))
        result = evaluate_batches(loaded, dataset)
        report_skipped(dataset)
    text, facts = render_text(result), result.to_json()
    if report:
        write_atomic(report, render_html(title, result, loaded).encode("utf-8", "replace"))
        say(f"wrote {report}")
    if any(split.values()):
        from rosenblatt.select.scoring import make_scorer
        from rosenblatt.training.holdout import score_parts

        scorer = make_scorer(split.pop("scoring"), regression=loaded.is_regression)
        parts = score_parts(loaded, dataset, scorer, **split)
        facts["parts"] = [asdict(each) for each in parts]
        text += "\n\n" + "\n".join(f"{scorer.name} {each.score:.4f}: {each.part}, {each.rows:,} rows" for each in parts)
    if against:
        other = load(against)
        paired = compare_models(loaded, other, open_for(loaded, files, **how), open_for(other, files, **how))
        facts["against"] = asdict(paired)
        text += f"\n\n{model} and {against}: {paired.verdict()}"
    print_json(facts) if as_json else echo(text)
