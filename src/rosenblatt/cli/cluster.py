"""`--cluster`: the same verbs, done in shards by the workers of a cluster."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

MIXINGS = ("momentum", "mean", "mistakes")


def add_cluster_arguments(parser: argparse.ArgumentParser, *, training: bool) -> None:
    """Where the work is done, and for training how it is shared out."""
    group = parser.add_argument_group("more than one machine, or more than one core")
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="let workers do it: tcp://HOST:PORT, file:SCHEDULER.json, local[:N] processes or threads[:N]",
    )
    if not training:
        return
    group.add_argument("--shards", type=int, metavar="N", help="parts that learn side by side (default by the files)")
    group.add_argument("--mixing", choices=MIXINGS, help="how their weights are mixed (default momentum)")
    group.add_argument("--mixes", type=int, metavar="N", help="how often per epoch (default 10 for momentum, else 1)")


@contextmanager
def connected(args: argparse.Namespace) -> Iterator[tuple[Any, int | None]]:
    """The client of the cluster, or None and so many threads."""
    from rosenblatt.cluster.address import connect, threads_of

    with connect(args.cluster) as client:
        yield client, threads_of(args.cluster)


def check_no_cluster(args: argparse.Namespace) -> None:
    """Refuse options that have a meaning on a cluster only."""
    from rosenblatt.errors import ParameterError

    for name in ("shards", "mixing", "mixes"):
        if getattr(args, name) is not None:
            raise ParameterError(f"--{name} is an option of --cluster: add --cluster local, or an address")


def train_on_cluster(args: argparse.Namespace, conclude: Any) -> int:
    """The verb train."""
    from rosenblatt import cluster
    from rosenblatt.cli.bar import ShardBar
    from rosenblatt.errors import ParameterError
    from rosenblatt.models.file import save, sha256_of

    started = time.perf_counter()
    if args.cache or args.block is not None:
        raise ParameterError("--cache and --block have no meaning with --cluster: workers hold their shards")
    data, told = _from_checkpoint(args) if args.resume else _from_arguments(args)
    if not args.output:
        raise ParameterError("name the model's file with -o MODEL")
    if not args.quiet:
        told["on_choice"] = lambda why: print(f"rosenblatt: chose {why}", file=sys.stderr)
    with connected(args) as (client, n_jobs), ShardBar(visible=not args.quiet) as bar:
        told |= {"on_run": bar.on_run, "on_shard": bar.on_shard if bar.visible else None}
        trained = cluster.train(client, data, n_jobs=n_jobs, **told)
    save(trained.model, args.output)
    facts = trained.facts() | {"model": args.output, "seconds": round(time.perf_counter() - started, 3)}
    facts |= {"sha256": sha256_of(args.output), "bad_lines": trained.bad_lines}
    if not args.quiet:
        _say(trained, facts["cluster"])
    conclude(args, trained, facts, _reader(args, data, trained.model))
    return 0


def _from_arguments(args: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    from rosenblatt.cli.parameters import params_of
    from rosenblatt.cli.reading import _COLUMNS, data_options
    from rosenblatt.errors import ParameterError

    if not args.data:
        raise ParameterError("name the data: rosenblatt train DATA -o MODEL --cluster ADDRESS")
    columns = {name: getattr(args, name) for name in _COLUMNS if hasattr(args, name)}
    told: dict[str, Any] = {"reading": data_options(args) | columns, "shards": args.shards, "mixes": args.mixes}
    told |= {"mixing": args.mixing or "momentum", "checkpoint": args.checkpoint, "every": args.every}
    if args.learner == "auto":
        auto = {name: getattr(args, name) for name in ("max_iter", "random_state", "class_weight")}
        told |= {"params": "auto", "products": args.products, **auto}
    else:
        auto, told["params"] = None, params_of(args)
    told["extra"] = {"auto": auto, "products": args.products, "every": args.every}
    return args.data, told


def _from_checkpoint(args: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """The data and the options that a checkpoint knows."""
    from rosenblatt.cli.pasted import given_options
    from rosenblatt.cli.reading import data_options
    from rosenblatt.cli.resume import MORE
    from rosenblatt.cluster.checkpoint import read_about
    from rosenblatt.errors import DataError, ModelError, ParameterError
    from rosenblatt.io.atomic import check_outputs
    from rosenblatt.io.source import files_of
    from rosenblatt.params import params_from_json

    known = [word for name, (word, *_) in given_options(args).items() if name not in (*MORE, "resume", "cluster")]
    if known:
        raise ParameterError(f"{known[0]}: the checkpoint knows how its run goes on; leave the option out")
    about = read_about(args.resume)
    try:
        if not about["source"]:
            raise DataError(f"{args.resume}: the rows did not come from files: resume it in Python, with the same rows")
        limits = {name: value for name, value in data_options(args).items() if name in ("limits", "jobs")}
        told: dict[str, Any] = {"reading": dict(about["reading"]) | limits}
        told |= {name: about["told"][name] for name in ("shards", "mixing", "mixes")}
        extra = about["extra"]
        told |= {"checkpoint": args.checkpoint or args.resume, "resume": True, "every": extra["every"], "extra": extra}
        more = {} if args.max_iter is None else {"max_iter": args.max_iter}
        if extra["auto"] is not None:
            told |= {"params": "auto", "products": extra["products"], **extra["auto"], **more}
        else:
            told["params"] = params_from_json({**about["params"], **more})
        data = list(about["source"]["data"])
        outputs = {"-o": args.output, "--report": args.report, "--checkpoint": args.checkpoint}
        check_outputs(outputs, files_of(data))
        return data, told
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, (DataError, ModelError, ParameterError)):
            raise
        raise ModelError(f"{args.resume} is not a sound checkpoint: {error}") from None


def _reader(args: argparse.Namespace, data: list[str], model: Any) -> Any:
    """The rows once more, for a report; without one nothing is read, and the client need not have the files."""
    from rosenblatt.cli.reading import data_options
    from rosenblatt.io.dataset import Dataset, open_dataset

    if not args.report:
        return Dataset(None, "", model.encoder, [])
    return open_dataset(data, encoder=model.encoder, **data_options(args))


def _say(trained: Any, facts: dict[str, Any]) -> None:
    shards = f"{trained.shards} shard{'s' if trained.shards > 1 else ''}"
    mixes = f"{trained.mixes} mix{'es' if trained.mixes > 1 else ''} per epoch by {trained.mixing}"
    print(
        f"rosenblatt: {shards}, {mixes}, {facts['bytes_per_epoch']:,} bytes per epoch"
        + (f"; work was done again {trained.losses} times, since workers were lost" if trained.losses else ""),
        file=sys.stderr,
    )
    if trained.bad_lines:
        print(f"rosenblatt: skipped {trained.bad_lines:,} bad lines", file=sys.stderr)
    if trained.bound is not None and not trained.bound.holds:
        print("rosenblatt: the mistake bound does not hold, which cannot be: please report it", file=sys.stderr)


def evaluate_on_cluster(args: argparse.Namespace, model: Any, encoder: Any) -> Any:
    """The figures of the verb evaluate."""
    from dataclasses import replace

    from rosenblatt import cluster
    from rosenblatt.cli.reading import data_options

    with connected(args) as (client, n_jobs):
        readable = replace(model, encoder=encoder)
        return cluster.evaluate(client, args.data, readable, n_jobs=n_jobs, reading=data_options(args))


def answers_on_cluster(args: argparse.Namespace, model: Any, encoder: Any, kind: str) -> Iterator[Any]:
    """The columns of the verb predict, batch after batch, in the order of the lines."""
    from dataclasses import replace

    from rosenblatt.cli.reading import data_options
    from rosenblatt.cluster.answers import iter_parts

    wanted = {name: getattr(args, name) for name in ("probabilities", "top", "threshold", "scores", "passing")}
    with connected(args) as (client, n_jobs):
        readable = replace(model, encoder=encoder, kept=None)
        function = partial(answer_part, wanted, kind)
        for part in iter_parts(client, args.data, readable, function, n_jobs=n_jobs, reading=data_options(args)):
            yield from part


def answer_part(wanted: dict[str, Any], kind: str, model: Any, reader: Any, part: Any) -> list[Any]:
    """The answers to the lines of one part."""
    from rosenblatt.cli.answers import with_gaps
    from rosenblatt.cli.predict import _answers
    from rosenblatt.cluster.sources import over

    args = argparse.Namespace(**wanted)
    one = over(reader, part)
    one.gaps, one.passing = True, tuple(wanted["passing"])
    return [with_gaps(_answers(model, batch, args, kind), batch.gaps) for batch in one]
