"""A run of `train`: one frozen value that says everything, and the four ways to start it.

Invariant: what cannot work raises before anything is learned. A run that was stopped and resumed ends with the model,
the summary and the probabilities of an undisturbed one. A checkpoint never names a file that is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import click

from rosenblatt.cli.console import Progress, say, waiting
from rosenblatt.cli.load import open_labeled
from rosenblatt.cli.options import given_options
from rosenblatt.cli.summary import finish_job
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.io.atomic import check_outputs
from rosenblatt.io.dataset import Dataset, ReadReport, open_dataset
from rosenblatt.io.source import Pipe, expand_sources, local_files
from rosenblatt.models.file import load, save, sha256_of
from rosenblatt.params import Params
from rosenblatt.training import Trained, train_dataset
from rosenblatt.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from rosenblatt.training.run import WINDOW
from rosenblatt.training.train import continue_training, finish, runs_by_windows, with_folds

MANY_KERNEL_ROWS = 20_000
MANY_NUMBERS = 50  # values of a label that looks like a quantity
MANY_WEIGHTS = 1 << 26  # of all classes together: half a gigabyte
# The options that --from and --resume accept; everything else is fixed by the model or the checkpoint.
RESUMABLE_OPTIONS = (
    "output", "start", "resume", "max_iter", "shuffle", "as_json", "report", "quiet", "block", "checkpoint",
    "checkpoint_every", "validation", "jobs", "skip_bad", "format", "read_limit", "delimiter", "decimal", "missing",
    "encoding", "header", "sheet", "query",
)  # fmt: skip


@dataclass(frozen=True)
class TrainJob:
    """Everything that `train` was told."""

    data: list[str]
    reading: dict[str, Any]  # how the data is read: options of `open_dataset`
    columns: dict[str, Any]  # what columns become: options of `open_dataset`
    params: Params | None  # None: choose a learner, by `auto`
    auto: dict[str, Any] | None  # max_iter, random_state, class_weight and products of the choice
    start: str | None  # a model to continue from
    resume: str | None  # a checkpoint to continue from
    max_iter: int | None  # epochs, if given
    shuffle: bool
    validation: tuple[str, ...]
    folds: int | None
    cluster: str | None
    shards: int | None
    mixing: str | None
    mixes: int | None
    checkpoint: str | None
    checkpoint_every: float
    block: int | None
    output: str | None
    report: str | None
    quiet: bool
    class_weight: str | None = None  # "balanced" of a resumed run, for its folds

    @property
    def is_balanced(self) -> bool:
        weight = self.params.class_weight if self.params else (self.auto or {}).get("class_weight", self.class_weight)
        return isinstance(weight, str)


Start = tuple[TrainJob, Dataset, Callable[[], Trained]]


def run_job(job: TrainJob, ctx: click.Context, *, as_json: bool) -> None:
    """Learn, validate, save and summarize."""
    started = time.perf_counter()
    if job.cluster:
        from rosenblatt.cli.cluster import start_on_cluster

        job, dataset, learn = start_on_cluster(job, ctx)
    elif job.resume:
        job, dataset, learn = _resume(job, ctx)
    elif job.start:
        job, dataset, learn = _continue(job, ctx)
    else:
        job, dataset, learn = _start(job)
    validation = _open_validation(job, dataset)
    trained = _validate(job, learn(), validation)
    assert job.output is not None
    save(trained.model, job.output)
    facts = trained.facts() | {
        "model": job.output,
        "sha256": sha256_of(job.output),
        "seconds": round(time.perf_counter() - started, 3),
        "bad_lines": getattr(trained, "bad_lines", dataset.report.bad),
    }
    finish_job(job, ctx, trained, facts, dataset, as_json=as_json)


def check_fixed(ctx: click.Context, reason: str, *more: str) -> None:
    """Raise for an option that the model or the checkpoint decides."""
    for each in given_options(ctx):
        if each.name not in (*RESUMABLE_OPTIONS, *more):
            raise ParameterError(f"{each.opts[-1]} cannot be combined with {reason}")


def _start(job: TrainJob) -> Start:
    is_regression = job.params is not None and job.params.is_regression
    _check_validation(job, is_regression)
    dataset = open_labeled(job.data, job.reading, job.columns, quiet=job.quiet)

    def learn() -> Trained:
        common: dict[str, Any] = {"block": job.block or WINDOW, "folds": job.folds or 0}
        known = len(dataset.notes)

        def on_load() -> None:
            if dataset.notes[known:]:
                say(*dataset.notes[known:], quiet=job.quiet)
            if dataset.classes is not None:
                _warn_of_classes(job, dataset.classes.values, dataset.encoder.features or 0)
            _warn_of_kernel(job, dataset.report.lines)

        common["on_load"] = on_load
        if job.params is None:
            with waiting("choosing a learner", visible=not job.quiet) as choosing:

                def on_choice(why: str) -> None:
                    if choosing is not None:
                        choosing.stop()
                    say(f"chose {why}", quiet=job.quiet)

                return train_dataset(dataset, on_choice=on_choice, on_run=_runner(job), **common, **(job.auto or {}))
        if runs_by_windows(job.params):
            return train_dataset(dataset, job.params, on_run=_runner(job), **common)
        if job.checkpoint:
            raise ParameterError("--checkpoint: this learner, or one of its options, cannot be resumed")
        with waiting("learning", visible=not job.quiet):
            return train_dataset(dataset, job.params, **common)

    return job, dataset, learn


def _continue(job: TrainJob, ctx: click.Context) -> Start:
    assert job.start is not None
    model = load(job.start)
    if model.encoder is None:
        raise ModelError(f"{job.start} was trained on rows, not on files: continue it in Python")
    check_fixed(ctx, f"--from: {job.start} fixes it")
    _check_validation(job, model.is_regression)
    dataset = open_dataset(job.data, **job.reading, encoder=model.encoder)
    say(f"continues from {job.start}, {model.learner}", quiet=job.quiet)
    how: dict[str, Any] = {"max_iter": job.max_iter or 1, "shuffle": job.shuffle, "block": job.block or WINDOW}
    parent = sha256_of(job.start)

    def learn() -> Trained:
        trained = continue_training(model, dataset, on_run=_runner(job), **how)
        found = trained.model
        return replace(trained, model=replace(found, history=found.history | {"parent": parent}))

    return job, dataset, learn


def _resume(job: TrainJob, ctx: click.Context) -> Start:
    assert job.resume is not None
    check_fixed(ctx, "--resume: the checkpoint fixes it")
    run, extra = load_checkpoint(job.resume, jobs=job.reading["jobs"])
    if not job.output:  # a file must not decide which other file is overwritten
        raise ParameterError(
            f"name the model file again: rosenblatt train --resume {job.resume} -o MODEL "
            f"(the run had -o {str(extra.get('output'))[:200]!r})"
        )
    outputs = {"-o": job.output, "--report": job.report, "--checkpoint": job.checkpoint}
    check_outputs(outputs, local_files([source.name for source in run.dataset.sources]))
    job = replace(job, checkpoint=job.checkpoint or job.resume, **_saved_options(job, extra))
    _check_validation(job, run.params.is_regression)
    if job.max_iter is not None:
        run.set_epochs(job.max_iter)

    def learn() -> Trained:
        trained = finish(run, on_run=_runner(job))
        if job.class_weight == "balanced" and run.choice is None:  # each fold counts its own classes
            trained = replace(trained, params=copy(trained.params))
            trained.params.class_weight = "balanced"
        return with_folds(trained, run.store, run.classes, job.folds or 0, run.products)

    return job, run.dataset, learn


def _saved_options(job: TrainJob, extra: dict[str, Any]) -> dict[str, Any]:
    """The options of the run that a checkpoint keeps, checked; other validation files may be given."""
    every, folds, class_weight = extra.get("every"), extra.get("folds", 0), extra.get("class_weight")
    files = extra.get("validation", [])
    sound = isinstance(every, float | int) and not isinstance(every, bool) and every >= 0
    sound = sound and isinstance(folds, int) and not isinstance(folds, bool) and (folds == 0 or 2 <= folds <= 10**6)
    sound = sound and isinstance(files, list) and all(isinstance(path, str) for path in files)
    if not sound or class_weight not in (None, "balanced"):
        raise ModelError(f"{job.resume} is not a valid checkpoint: it has wrong options")
    validation = job.validation or tuple(files)
    return {"checkpoint_every": every, "folds": folds, "validation": validation, "class_weight": class_weight}


def _options_to_save(job: TrainJob) -> dict[str, Any]:
    """The options that a checkpoint keeps; pipes cannot be read again."""
    pipes = [path for path in job.validation if path == "-" or (os.path.exists(path) and Pipe.is_pipe(path))]
    files = [path if "://" in path else os.path.abspath(path) for path in job.validation if path not in pipes]
    return {
        "output": job.output,
        "every": job.checkpoint_every,
        "folds": job.folds or 0,
        "validation": files,
        "class_weight": "balanced" if job.is_balanced else None,
    }


def _runner(job: TrainJob) -> Callable[[Any], None]:
    """Takes a run to its end, with progress and checkpoints."""

    def run_to_end(run: Any) -> None:
        extra = _options_to_save(job)
        checkpoint = Checkpoint(job.checkpoint, job.checkpoint_every, extra) if job.checkpoint else None
        with Progress(visible=not job.quiet) as progress:
            progress.start_files(run)

            def on_step(run: Any) -> None:
                progress.show_files(run)
                if checkpoint is not None:
                    checkpoint(run)

            if checkpoint is not None:
                checkpoint(run)
            run.run(on_step=on_step)
        if job.checkpoint:
            save_checkpoint(run, job.checkpoint, extra)

    return run_to_end


def _check_validation(job: TrainJob, is_regression: bool) -> None:
    for name, given in (("--validation", job.validation), ("--folds", job.folds)):
        if is_regression and given:
            raise ParameterError(f"{name} needs classes, and this learner predicts numbers: use rosenblatt evaluate")
    if not job.validation:
        return
    expand_sources(list(job.validation))  # raises if a file is missing
    learned = {os.path.realpath(path) for path in local_files(job.data)}
    both = [path for path in local_files(list(job.validation)) if os.path.realpath(path) in learned]
    if both:
        say(f"{both[0]} is also training data: its accuracy says little about new rows", quiet=job.quiet)


def _open_validation(job: TrainJob, dataset: Dataset) -> Dataset | None:
    if not job.validation:
        return None
    # An encoder counts what it reads, so this is a copy.
    encoder = deepcopy(dataset.encoder)
    reading = job.reading | {"query": None}  # which is of the training data
    rows = open_dataset(list(job.validation), **reading, encoder=encoder, rewindable=True)
    if next(iter(rows), None) is None:
        raise DataError(f"--validation {', '.join(job.validation)}: no rows")
    return rows


def _validate(job: TrainJob, trained: Trained, rows: Dataset | None) -> Trained:
    if rows is None:
        return trained
    from rosenblatt.training.holdout import judge_by

    rows = replace(rows, encoder=trained.model.encoder, report=ReadReport())
    held, calibrator = judge_by(trained.model, rows, ", ".join(job.validation))
    return replace(trained, held=held, model=replace(trained.model, calibrator=calibrator))


def _warn_of_classes(job: TrainJob, classes: Any, features: int) -> None:
    if classes.dtype.kind in "if" and len(classes) > MANY_NUMBERS:
        say(
            f"the label is a number with {len(classes):,} values, and each becomes a class: to predict the number, use "
            "--learner pa1-regression; for another label, use --label",
            quiet=job.quiet,
        )
    elif len(classes) * features > MANY_WEIGHTS:
        say(
            f"{len(classes):,} classes and {features:,} columns take {8 * len(classes) * features / 1e9:,.1f} GB of "
            "weights: is the label another column (--label)? --bits 14 takes less memory",
            quiet=job.quiet,
        )


def _warn_of_kernel(job: TrainJob, rows: int) -> None:
    if getattr(job.params, "budget", 0) is None and rows > MANY_KERNEL_ROWS:
        say(
            f"a kernel compares every row with every mistake: {rows:,} rows may take long; --budget N limits it",
            quiet=job.quiet,
        )
