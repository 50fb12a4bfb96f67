"""The report of `train` after learning: a verdict, a page, and the written file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.cli.console import print_json, say
from rosenblatt.cli.load import report_skipped
from rosenblatt.io.atomic import write_atomic
from rosenblatt.io.dataset import Dataset, open_dataset
from rosenblatt.models.file import sha256_of
from rosenblatt.models.predictions import labels_to_json

if TYPE_CHECKING:
    from rosenblatt.cli.job import TrainJob
    from rosenblatt.training import Trained


def finish_job(job: TrainJob, trained: Trained, dataset: Dataset | None, seconds: float) -> None:
    """Print the summary and write the report; `dataset` is None if a cluster read it."""
    facts = trained.facts() | {
        "model": job.output,
        "sha256": sha256_of(job.output),
        "seconds": round(seconds, 3),
        "bad_lines": dataset.report.bad if dataset is not None else getattr(trained, "bad_lines", 0),
        "classes": labels_to_json(trained.model.classes),
    }
    facts["verdict"] = _verdict(facts, trained)
    if dataset is not None:
        report_skipped(dataset)
    epochs, classes = f"{facts['epochs']} epoch{'s' if facts['epochs'] > 1 else ''}", len(facts["classes"])
    speed = facts["rows"] * facts["epochs"] / max(facts["seconds"], 1e-9)
    what = f"{facts['rows']:,} rows, {f'{classes} classes, ' if classes else ''}{epochs}"
    say(f"{what} in {facts['seconds']:.2f} s ({speed:,.0f} rows/s)", facts["verdict"])
    if trained.held is not None:
        say(trained.held.sentence())
    say(f"wrote {facts['model']}" + (f" (SHA-256 {facts['sha256']})" if facts["sha256"] else ""))
    if job.report:
        dataset = dataset or open_dataset(list(job.data), encoder=trained.model.encoder, **job.reading)
        _write_report(job.report, trained, facts, dataset)
    if job.as_json:
        print_json(facts)


def _verdict(facts: dict[str, Any], trained: Trained) -> str:
    """One sentence on the mistakes, and on why learning stopped."""
    last = facts["mistakes"][-1] / facts["rows"]
    mistakes = "of rows off by more than epsilon" if trained.model.is_regression else "mistakes"
    first = f"{facts['progressive_error']:.2%} {mistakes} in the first pass, predicting each row before learning it"
    if facts["stop_reason"] == "converged":
        return f"converged: an epoch without a mistake, so {_meaning(trained)}. {first}."
    why = "no improvement for several epochs" if facts["stop_reason"] == "no_change" else "all epochs done"
    then = "" if facts["epochs"] == 1 else "; none in the last" if last == 0 else f"; {last:.2%} in the last"
    return f"{first}{then}. Stopped: {why}."


def _meaning(trained: Trained) -> str:
    """The conclusion from an epoch without a mistake."""
    params: Any = trained.params
    if params.is_regression:
        return f"every training row is predicted within epsilon ({params.epsilon:g}) of its target"
    if hasattr(params, "kernel") and params.kernel != "linear":
        return f"a curve of the {params.kernel} kernel separates the training rows"
    return f"a hyperplane{' over products of columns' if trained.products else ''} separates the training rows"


def _write_report(path: str, trained: Trained, facts: dict[str, Any], dataset: Dataset) -> None:
    """Held-out rows and the first pass come first; the training rows are a footnote."""
    from rosenblatt.evaluation import evaluate_batches
    from rosenblatt.report import render_html

    model, held = trained.model, trained.held
    on_training = evaluate_batches(model, dataset)
    footnote = (
        f"On the training rows: {on_training.verdict()} That says how well they were learned, not how the model will "
        "do on new rows."
    )
    headline = [facts["verdict"]] if held is None else [f"{held.sentence()}.", facts["verdict"]]
    found, on = (on_training, "training rows") if held is None else (held.found, "")
    page = render_html(facts["model"], found, model, headline=headline, footnote=footnote, on=on)
    write_atomic(path, page.encode("utf-8", "replace"))
