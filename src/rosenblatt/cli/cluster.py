"""`--cluster`: train, predict and evaluate in shards, by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import click

from rosenblatt import cluster
from rosenblatt.cli.console import Progress, say
from rosenblatt.cli.job import Start, TrainJob, check_fixed
from rosenblatt.cluster.address import connect, threads_of
from rosenblatt.cluster.checkpoint import read_about
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.io.atomic import check_outputs
from rosenblatt.io.dataset import Dataset
from rosenblatt.io.source import local_files
from rosenblatt.params import params_from_json


@contextmanager
def connected(address: str) -> Iterator[dict[str, Any]]:
    """The client, and how many threads if there is none."""
    with connect(address) as client:
        yield {"client": client, "n_jobs": threads_of(address)}


def start_on_cluster(job: TrainJob, ctx: click.Context) -> Start:
    """The verb train."""
    for name, given in (("--folds", job.folds), ("--validation", job.validation), ("--from", job.start)):
        if given:
            raise ParameterError(f"{name} cannot be combined with --cluster")
    if job.block is not None:
        raise ParameterError("--block cannot be combined with --cluster: workers hold their shards")
    job, how = _from_checkpoint(job, ctx) if job.resume else (job, _from_job(job))
    if not job.output:
        raise ParameterError("name the model file with -o MODEL")

    def learn() -> Any:
        assert job.cluster is not None
        with connected(job.cluster) as where, Progress(visible=not job.quiet) as progress:
            if progress.visible:
                how.update(on_run=progress.show_shards, on_shard=progress.add_shard)
            trained = cluster.train(
                where["client"],
                job.data,
                n_jobs=where["n_jobs"],
                on_choice=lambda why: say(f"chose {why}", quiet=job.quiet),
                **how,
            )
        if not job.quiet:
            _report(trained)
        return trained

    return job, Dataset(None, "", None, []), learn


def _from_job(job: TrainJob) -> dict[str, Any]:
    how: dict[str, Any] = {"reading": job.reading | job.columns, "shards": job.shards, "mixes": job.mixes}
    how |= {"mixing": job.mixing or "momentum", "checkpoint": job.checkpoint, "every": job.checkpoint_every}
    how |= {"params": "auto", **(job.auto or {})} if job.params is None else {"params": job.params}
    return how | {"extra": {"auto": job.auto, "every": job.checkpoint_every}}


def _from_checkpoint(job: TrainJob, ctx: click.Context) -> tuple[TrainJob, dict[str, Any]]:
    """The data and the options that a checkpoint keeps."""
    assert job.resume is not None
    check_fixed(ctx, "--resume: the checkpoint fixes it", "cluster")
    about = read_about(job.resume)
    try:
        if not about["source"]:
            raise DataError(f"{job.resume}: the rows did not come from files: resume it in Python, with the same rows")
        limits = {name: job.reading[name] for name in ("limits", "jobs")}
        extra, more = about["extra"], {} if job.max_iter is None else {"max_iter": job.max_iter}
        how: dict[str, Any] = {"reading": dict(about["reading"]) | limits, "resume": True, "extra": extra}
        how |= {name: about["told"][name] for name in ("shards", "mixing", "mixes")}
        how |= {"checkpoint": job.checkpoint or job.resume, "every": extra["every"]}
        if extra["auto"] is not None:
            how |= {"params": "auto", **extra["auto"], **more}
        else:
            how["params"] = params_from_json({**about["params"], **more})
        job = replace(job, data=list(about["source"]["data"]))
        outputs = {"-o": job.output, "--report": job.report, "--checkpoint": job.checkpoint}
        check_outputs(outputs, local_files(job.data))
        return job, how
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, (DataError, ModelError, ParameterError)):
            raise
        raise ModelError(f"{job.resume} is not a valid checkpoint: {error}") from None


def _report(trained: Any) -> None:
    shards = f"{trained.shards} shard{'s' if trained.shards > 1 else ''}"
    mixes = f"{trained.mixes} average{'s' if trained.mixes > 1 else ''} per epoch by {trained.mixing}"
    say(f"{shards}, {mixes}")
    if trained.losses:
        say(f"{trained.losses} passes were repeated after worker failures")
    if trained.bad_lines:
        say(f"skipped {trained.bad_lines:,} bad lines")


def evaluate_on_cluster(address: str, data: list[str], model: Any, reading: dict[str, Any]) -> Any:
    """The figures of the verb evaluate."""
    with connected(address) as where:
        return cluster.evaluate(where["client"], data, model, n_jobs=where["n_jobs"], reading=reading)


def predict_on_cluster(
    address: str, data: list[str], model: Any, reading: dict[str, Any], predict: Callable[..., Any], passed: list[str]
) -> Iterator[Any]:
    """The batches of the verb predict, in the order of the lines."""
    from rosenblatt.cluster.answers import iter_parts

    function = partial(_predict_part, predict, tuple(passed))
    with connected(address) as where:
        for part in iter_parts(where["client"], data, model, function, n_jobs=where["n_jobs"], reading=reading):
            yield from part


def _predict_part(predict: Callable[..., Any], passed: tuple[str, ...], model: Any, reader: Any, part: Any) -> Any:
    from rosenblatt.cluster.sources import over

    dataset = over(reader, part)
    dataset.keep_blank, dataset.passthrough = True, passed
    return [predict(model, batch) for batch in dataset]
