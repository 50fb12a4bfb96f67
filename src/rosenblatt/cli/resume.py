"""A run of `train` that is saved now and then, and taken up again.

Invariant: a run that was stopped and resumed ends with the model, the verdict and the probabilities of one that was
not. A checkpoint names no file that is written.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.judging import check_judges, check_valid
from rosenblatt.cli.pasted import given_options

if TYPE_CHECKING:
    from rosenblatt.training import Trained

# What may be said of a run that goes on from a file.
MORE = (
    "output", "start", "max_iter", "shuffle", "json", "report", "quiet", "block", "cache", "checkpoint", "every",
    "valid", "jobs", "skip_bad", "format", "limit", "delimiter", "decimal", "missing", "encoding", "header",
)  # fmt: skip


def runner(args: argparse.Namespace, checkpoint: str | None, every: float) -> Callable[[Any], None]:
    """Takes a run to its end, with a bar and checkpoints."""

    def to_the_end(run: Any) -> None:
        from rosenblatt.cli.bar import FileBar
        from rosenblatt.learners.files.checkpoint import Checkpoint, save_checkpoint

        extra = {"output": args.output, "every": every, **_judges(args)}
        save_now = Checkpoint(checkpoint, every, extra) if checkpoint else None
        with FileBar(run, visible=not args.quiet) as bar:

            def on_group(run: Any) -> None:
                bar(run)
                if save_now is not None:
                    save_now(run)

            if save_now is not None:
                save_now(run)
            run.run(cache=args.cache, on_group=on_group, on_epoch=on_group)
        if checkpoint:
            save_checkpoint(run, checkpoint, extra)

    return to_the_end


def resume(args: argparse.Namespace) -> tuple[Trained, Any]:
    """Go on from a checkpoint, to the end."""
    from rosenblatt.errors import ModelError, ParameterError
    from rosenblatt.io.atomic import check_outputs
    from rosenblatt.io.source import files_of
    from rosenblatt.learners.files.checkpoint import load_checkpoint
    from rosenblatt.training.trained import finish, judged_by_folds

    known = [word for name, (word, *_) in given_options(args).items() if name not in (*MORE, "resume")]
    if known:
        raise ParameterError(f"{known[0]}: the checkpoint knows how its run goes on; leave the option out")
    run, extra = load_checkpoint(args.resume, jobs=args.jobs)
    if not args.output:  # a file must not say by itself which other file is overwritten
        raise ParameterError(
            f"name the model's file again: rosenblatt train --resume {args.resume} -o MODEL "
            f"(the run had -o {str(extra.get('output'))[:200]!r})"
        )
    outputs = {"-o": args.output, "--report": args.report, "--checkpoint": args.checkpoint}
    check_outputs(outputs, files_of([source.name for source in run.reader.sources]))
    every = extra.get("every")
    if not isinstance(every, float | int) or not every >= 0:
        raise ModelError(f"{args.resume} is not a sound checkpoint: it does not say how often it is written")
    _take_judges(args, extra)
    check_judges(args, run.params.is_regression)
    check_valid(args, run.reader.encoder)
    if args.max_iter is not None:
        run.set_epochs(args.max_iter)
    trained = finish(run, on_run=runner(args, args.checkpoint or args.resume, every))
    return judged_by_folds(trained, run.reader, args.folds, run, balanced=args.class_weight == "balanced"), run.reader


def _judges(args: argparse.Namespace) -> dict[str, Any]:
    """What is to judge the model in the end, for the checkpoint: plain values. What comes once cannot judge again."""
    from rosenblatt.io.source import Pipe

    once = [path for path in args.valid if path == "-" or (os.path.exists(path) and Pipe.is_one(path))]
    return {
        "folds": args.folds,
        "valid": [path if "://" in path else os.path.abspath(path) for path in args.valid if path not in once],
        "class_weight": "balanced" if args.class_weight == "balanced" else None,
    }


def _take_judges(args: argparse.Namespace, extra: dict[str, Any]) -> None:
    """The model is judged as the first run wanted it; other rows of --valid may be named."""
    from rosenblatt.errors import ModelError

    folds, valid, class_weight = extra.get("folds", 0), extra.get("valid", []), extra.get("class_weight")
    is_count = isinstance(folds, int) and not isinstance(folds, bool) and (folds == 0 or 2 <= folds <= 10**6)
    are_paths = isinstance(valid, list) and all(isinstance(path, str) for path in valid)
    if not is_count or not are_paths or class_weight not in (None, "balanced"):
        raise ModelError(f"{args.resume} is not a sound checkpoint: it does not say what judges the model")
    args.folds, args.valid, args.class_weight = folds, args.valid or valid, class_weight
