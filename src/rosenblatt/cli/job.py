"""A run of `train`: one frozen value with all options, and the ways to start it.

Invariant: options that cannot work raise before anything is learned. A resumed run ends with the model, the summary and
the probabilities of an uninterrupted one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rosenblatt.cli import options as o
from rosenblatt.cli.console import is_quiet, say
from rosenblatt.cli.load import open_labeled
from rosenblatt.cli.summary import finish_job
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.io.dataset import Dataset, ReadReport, open_dataset
from rosenblatt.learners.fit import epoch_bar
from rosenblatt.models.file import load, save
from rosenblatt.params import Params
from rosenblatt.select.scoring import make_scorer
from rosenblatt.training import Trained, checkpoint, train_dataset
from rosenblatt.training.holdout import judge_by
from rosenblatt.training.run import can_resume
from rosenblatt.training.train import continue_training


@dataclass(frozen=True)
class TrainJob:
    """All options of `train`."""

    data: tuple[str, ...]
    reading: dict[str, Any]  # how the data is read: options of `open_dataset`
    columns: dict[str, Any]  # what columns become: options of `open_dataset`
    learner: str | None
    params: dict[str, Any]  # the options of the learner that were given
    max_iter: int | None
    task: str | None
    no_products: bool
    seed: int
    start: str | None  # a model to continue from
    validation: tuple[str, ...]
    folds: int | None
    split: dict[str, Any]  # how rows are held out: options of `train_dataset`
    checkpoint: str | None
    checkpoint_every: float
    resume: bool  # continue from the checkpoint
    cluster: str | None
    sharding: dict[str, Any]  # options of `cluster.train`
    output: str
    report: str | None
    quiet: bool
    as_json: bool

    def make_params(self) -> Params | None:
        """The parameters of the learner; None: choose one, by `auto_options`."""
        own = sorted(set(self.params) - {"class_weight"})  # auto has class weights too
        by_task = "pa1-regression" if self.task == "regression" else "averaged"
        learner = self.learner or (by_task if own else "auto")
        if learner == "auto" and own:
            raise ParameterError(f"{o.option_name(own[0])} cannot be combined with --learner auto: name a learner")
        if learner == "auto":
            return None
        if self.no_products:
            raise ParameterError(f"--no-products needs --learner auto: {learner} never multiplies columns")
        return o.make_params(learner, self.params, max_iter=self.max_iter or 10, random_state=self.seed)

    def auto_options(self) -> dict[str, Any]:
        """How a learner is chosen."""
        common = {"max_iter": self.max_iter, "random_state": self.seed, "products": not self.no_products}
        return common | {"class_weight": self.params.get("class_weight")}


def run_job(job: TrainJob) -> None:
    """Learn, validate, save and summarize."""
    started = time.perf_counter()
    if job.resume and not os.path.exists(str(job.checkpoint)):
        say(f"{job.checkpoint} does not exist: a new run begins")
        job = replace(job, resume=False)
    learn: Any = _on_cluster if job.cluster else _continue if job.start else _start
    dataset, trained = learn(job)
    save(trained.model, job.output)
    finish_job(job, trained, dataset, time.perf_counter() - started)


def _on_cluster(job: TrainJob) -> tuple[None, Any]:
    from rosenblatt import cluster

    params = job.make_params()
    trained = cluster.train(
        job.cluster,
        list(job.data),
        params or "auto",
        **({} if params else job.auto_options()),
        **job.sharding,
        reading=job.reading | job.columns,
        checkpoint=job.checkpoint,
        every=job.checkpoint_every,
        resume=job.resume,
        on_choice=lambda why: say(f"chose {why}"),
        on_run=_run_with_progress,
    )
    say(f"shards: {trained.shards}, averages per epoch: {trained.mixes}, by {trained.mixing}")
    if trained.retries:
        say(f"{trained.retries} passes were repeated after worker failures")
    if trained.bad_lines:
        say(f"skipped {trained.bad_lines:,} bad lines")
    return None, trained


def _start(job: TrainJob) -> tuple[Dataset, Trained]:
    params = job.make_params()
    is_regression = job.task == "regression" or (params is not None and params.is_regression)
    if job.checkpoint and (is_regression or (params is not None and not can_resume(params))):
        raise ParameterError("--checkpoint: this learner, or one of its options, cannot be resumed")
    dataset = open_labeled(job.data, job.reading, job.columns, job.split)
    validation = _before_learning(job, dataset, is_regression)
    known = len(dataset.notes)
    is_of_validation = params is not None and not job.folds and job.validation
    split = job.split | ({"scoring": None} if is_of_validation else {})
    trained = train_dataset(
        dataset,
        params or "auto",
        task=job.task,  # type: ignore[arg-type]  # of click's choice
        folds=job.folds or 0,
        **split,
        on_load=lambda: say(*dataset.notes[known:]),
        on_choice=lambda why: say(f"chose {why}"),
        on_run=partial(_run_to_end, job),
        **({} if params else job.auto_options()),
    )
    return dataset, _validate(job, trained, validation)


def _continue(job: TrainJob) -> tuple[Dataset, Trained]:
    assert job.start is not None
    model = load(job.start)
    if model.encoder is None:
        raise ModelError(f"{job.start} was trained on rows, not on files: continue it in Python")
    dataset = open_dataset(list(job.data), **job.reading, encoder=model.encoder)
    validation = _before_learning(job, dataset, model.is_regression)
    say(f"continues from {job.start}, {model.learner}")
    trained = continue_training(model, dataset, max_iter=job.max_iter or 1, on_run=partial(_run_to_end, job))
    lineage = {} if model.sha256 is None else {"parent": model.sha256}
    trained = replace(trained, model=replace(trained.model, lineage=lineage))
    return dataset, _validate(job, trained, validation)


def _run_to_end(job: TrainJob, run: Any) -> None:
    """Finish a run, with a progress bar and checkpoints."""
    path, saved = job.checkpoint, float("-inf")
    if path is None:
        _run_with_progress(run)
        return
    if job.resume:
        checkpoint.restore(run, path)

    def save_if_due(run: Any) -> None:
        nonlocal saved
        if time.monotonic() - saved >= job.checkpoint_every:
            checkpoint.save_checkpoint(run, path)
            saved = time.monotonic()

    save_if_due(run)
    _run_with_progress(run, save_if_due)
    checkpoint.save_checkpoint(run, path)


def _run_with_progress(run: Any, on_epoch: Callable[[Any], None] = lambda run: None) -> None:
    """Finish a run; on a terminal, a bar shows the epochs that are left."""
    left = run.params.max_iter - len(run.stopping.history)
    with epoch_bar(run.params, left, shown=sys.stderr.isatty() and not is_quiet()) as advance:

        def after_epoch(run: Any) -> None:
            advance(run.stopping.history)
            on_epoch(run)

        run.run(on_epoch=after_epoch)


def _before_learning(job: TrainJob, dataset: Dataset, is_regression: bool) -> Dataset | None:
    """Raise early for errors that would come after learning; return the rows of --validation, if any."""
    if job.resume:
        checkpoint.check_data(dataset, str(job.checkpoint))
    if is_regression and (job.validation or job.folds):
        raise ParameterError("--validation and --folds need classes, and this learner predicts numbers")
    if not job.validation:
        return None
    reading = job.reading | {"query": None}  # which is of the training data
    rows = open_dataset(list(job.validation), **reading, encoder=dataset.encoder, rewindable=True)
    if next(iter(rows), None) is None:
        raise DataError(f"--validation {', '.join(job.validation)}: no rows")
    return rows


def _validate(job: TrainJob, trained: Trained, rows: Dataset | None) -> Trained:
    if rows is None:
        return trained
    rows = replace(rows, encoder=trained.model.encoder, report=ReadReport())
    held = judge_by(trained.model, rows, ", ".join(job.validation), make_scorer(job.split["scoring"]))
    return trained.judged(held)
