"""What `train` reports when a model has been learned: a verdict, a page, and the command that repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rosenblatt.cli.console import print_json, say, write_page
from rosenblatt.cli.load import report_skipped
from rosenblatt.cli.reproduce import params_words, train_command
from rosenblatt.io.atomic import write_atomic
from rosenblatt.io.dataset import Dataset, open_dataset
from rosenblatt.models.predictions import labels_to_json

if TYPE_CHECKING:
    from rosenblatt.cli.job import TrainJob
    from rosenblatt.training import Trained


def finish_job(
    job: TrainJob, ctx: click.Context, trained: Trained, facts: dict[str, Any], dataset: Dataset, *, as_json: bool
) -> None:
    """Print the summary and write the report."""
    facts["verdict"] = _verdict(facts, trained)
    facts["command"] = _command(job, ctx, trained)
    facts["classes"] = labels_to_json(trained.model.classes)
    if not job.quiet:
        report_skipped(dataset)
        say(*_lines(facts, trained))
    if job.report:
        if job.cluster:
            dataset = open_dataset(job.data, encoder=trained.model.encoder, **job.reading)
        _write_report(job.report, trained, facts, dataset)
    if as_json:
        print_json(facts)


def _verdict(facts: dict[str, Any], trained: Trained) -> str:
    """How learning went and why it stopped."""
    last = facts["mistakes"][-1] / facts["rows"]
    first = f"{facts['progressive_error']:.2%} mistakes in the first pass, predicting each row before learning it"
    if facts["stop_reason"] == "converged":
        return f"converged: an epoch without a mistake, so {_meaning(trained)}. {first}."
    why = "no improvement for several epochs" if facts["stop_reason"] == "no_change" else "all epochs done"
    then = "" if facts["epochs"] == 1 else "; none in the last" if last == 0 else f"; {last:.2%} in the last"
    return f"{first}{then}. Stopped: {why}."


def _meaning(trained: Trained) -> str:
    """What an epoch without a mistake shows."""
    params: Any = trained.params
    if params.is_regression:
        return f"every training row is predicted within epsilon ({params.epsilon:g}) of its target"
    separator = "a hyperplane over products of columns" if trained.products else "a hyperplane"
    if hasattr(params, "kernel") and params.kernel != "linear":
        support = trained.model.support_rows
        separator = f"a curve of the {params.kernel} kernel over {support:,} support rows (not a hyperplane)"
    return f"{separator} separates the training rows"


def _lines(facts: dict[str, Any], trained: Trained) -> list[str]:
    speed = facts["rows"] * facts["epochs"] / max(facts["seconds"], 1e-9)
    epochs = f"{facts['epochs']} epoch{'s' if facts['epochs'] > 1 else ''}"
    classes = f"{len(facts['classes'])} classes, " if facts["classes"] else ""
    lines = [f"{facts['rows']:,} rows, {classes}{epochs} in {facts['seconds']:.2f} s ({speed:,.0f} rows/s)"]
    lines.append(facts["verdict"])
    if trained.held is not None and trained.held.found is not None:
        lines.append(trained.held.sentence())
    lines.append(f"wrote {facts['model']}" + (f" (SHA-256 {facts['sha256']})" if facts["sha256"] else ""))
    if facts["command"] is not None:
        lines.append(f"the same weights again: {facts['command']}")
    return lines


def _command(job: TrainJob, ctx: click.Context, trained: Trained) -> str | None:
    """The command that learns the same without a search; None if there was none."""
    searched = trained.choice is not None and job.start is None
    if job.resume or not (searched or job.folds or job.validation):
        return None
    aside = ["quiet", "as_json", "report", "checkpoint", "checkpoint_every"] + (["learner"] if searched else [])
    if not searched or trained.products or trained.scaled:  # no option says how columns are scaled or multiplied
        return train_command(ctx, [], without=aside)
    return train_command(ctx, params_words(trained.params), without=[*aside, "max_iter", "products"])


def _write_report(path: str, trained: Trained, facts: dict[str, Any], dataset: Dataset) -> None:
    """Held-out rows and the first pass come first; the training rows are a footnote."""
    from rosenblatt.evaluation import evaluate_batches, evaluate_regression, wilson_interval
    from rosenblatt.report import render_html, render_text

    model, held, title = trained.model, trained.held, facts["model"]
    if model.is_regression:
        text = render_text(evaluate_regression(model, dataset))
        write_page(path, title, f"{facts['verdict']}\n\nOn the training rows: {text}")
        return
    right, rows = 1 - facts["progressive_error"], facts["rows"]
    low, high = wilson_interval(right, rows)
    first = (
        f"{right:.2%} of {rows:,} rows right in the first pass, each predicted before it was learned "
        f"(95 % interval {low:.2%} to {high:.2%})."
    )
    headline = [first] if held is None else [f"{held.sentence()}.", first]
    on_training = evaluate_batches(model, dataset)
    footnote = (
        f"On the training rows {on_training.accuracy:.2%} are right. That says how well they were learned, "
        "not how the model will do on new rows."
    )
    if held is not None and held.found is not None:
        page = render_html(title, held.found, model, headline=headline, footnote=footnote)
    else:
        page = render_html(title, on_training, model, headline=headline, footnote=footnote, on="training rows")
    write_atomic(path, page.encode())
