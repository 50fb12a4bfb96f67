"""Try rules and their parameters by cross-validation, and say which one to take.

A table of accuracies with standard errors, the best first. The last line is the command that learns the best one; with
-o it is learned at once.

    rosenblatt tune data.csv
    rosenblatt tune data.csv --folds 10 --json
    rosenblatt tune data.csv -o best.model
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

HELP = "try rules and parameters by cross-validation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.counts import add_fold_arguments
    from rosenblatt.cli.reading import DATA, add_column_arguments, add_data_arguments

    parser.usage = "rosenblatt tune DATA [DATA ...] [-o MODEL] [options]"
    parser.add_argument("data", metavar="DATA", nargs="+", help=DATA)
    parser.add_argument("-o", "--output", metavar="MODEL", help="learn the best one from all rows, and write it here")
    add_fold_arguments(parser, "the folds and the shuffles")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    add_data_arguments(parser)
    add_column_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0: tuned."""
    import json

    from rosenblatt.cli.bar import waiting
    from rosenblatt.cli.pasted import command_to_paste, params_words
    from rosenblatt.cli.reading import open_labelled, say_bad
    from rosenblatt.io.dataset import check_classes
    from rosenblatt.training.tuned import tune_reader

    reader = open_labelled(args)
    check_classes(reader.scan_classes())
    with waiting("trying rules and their parameters", visible=True):
        found = tune_reader(reader, folds=args.folds, random_state=args.seed)
    say_bad(reader)
    words = params_words(found[0].params) + ([] if args.seed == 0 else ["--seed", str(args.seed)])
    output = args.output or "MODEL"
    if not args.output:
        words = ["-o", output, *words]
    command = command_to_paste(args, words, without=("json", "folds", "seed"))
    if args.output:
        _learn(reader, found[0].params, args.output)
    if args.json:
        table = [tried.facts() for tried in found]
        print(json.dumps({"tried": table, "command": command}, ensure_ascii=False))
        return 0
    width = max(len(tried.params.written()) for tried in found)
    print("\n".join(f"{tried.params.written():<{width}}  {tried}" for tried in found))
    print(f"\n{command}")
    return 0


def _learn(reader: Any, params: Any, path: str) -> None:
    from rosenblatt.models.file import save
    from rosenblatt.training import train_reader

    save(train_reader(reader, params).model, path)
    print(f"rosenblatt: wrote {path}", file=sys.stderr)
