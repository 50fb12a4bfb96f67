"""What judges a model: rows of their own (--valid), or parts that are not learned from (--folds).

Invariant: what cannot be done is said before anything is learned.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.training import Trained


def check_judges(args: argparse.Namespace, is_regression: bool) -> None:
    """Raise, before the data is read, unless there is something to judge by, and something to be judged."""
    from rosenblatt.errors import ParameterError
    from rosenblatt.io.source import expand_sources, files_of

    for name, word in (("valid", "--valid"), ("folds", "--folds")):
        if is_regression and getattr(args, name):
            raise ParameterError(
                f"{word} judges classes, and this learner predicts numbers: judge it by rosenblatt evaluate"
            )
    if not args.valid:
        return
    expand_sources(args.valid)  # which raises for a file that is not there
    learned = {os.path.realpath(path) for path in files_of(args.data)}
    both = [path for path in files_of(args.valid) if os.path.realpath(path) in learned]
    if both and not args.quiet:
        print(
            f"rosenblatt: {both[0]} is learned from and judges as well: its accuracy says little of new rows",
            file=sys.stderr,
        )


def check_valid(args: argparse.Namespace, encoder: Any) -> None:
    """Raise, before anything is learned, unless the rows of --valid can be read as the others were."""
    if not args.valid:
        return
    from copy import deepcopy

    from rosenblatt.cli.reading import data_options
    from rosenblatt.errors import DataError
    from rosenblatt.io.dataset import open_dataset

    # An encoder takes note of what it meets, so this one is a copy.
    args.valid_rows = open_dataset(args.valid, **data_options(args), encoder=deepcopy(encoder), often=True)
    if next(iter(args.valid_rows), None) is None:
        raise DataError(f"--valid {', '.join(args.valid)}: there are no rows")


def judge_by_valid(args: argparse.Namespace, trained: Trained) -> Trained:
    """With the accuracy and the probabilities of rows of their own, if they are given."""
    if not args.valid:
        return trained
    from dataclasses import replace

    from rosenblatt.io.dataset import Tally
    from rosenblatt.training.held import judge_by

    reader = replace(args.valid_rows, encoder=trained.model.encoder, tally=Tally())
    held, calibrator = judge_by(trained.model, reader, ", ".join(args.valid))
    return replace(trained, held=held, model=replace(trained.model, calibrator=calibrator))
