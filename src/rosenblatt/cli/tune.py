"""Try rules and their parameters by cross-validation, and say which one to take.

A table of accuracies with standard errors; the learner to take is the last line, ready to be written in Python.

    rosenblatt tune data.csv
    rosenblatt tune data.csv --folds 10 --json
"""

from __future__ import annotations

import argparse

HELP = "try rules and parameters by cross-validation"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.reading import add_column_arguments, add_data_arguments

    parser.usage = "rosenblatt tune DATA [DATA ...] [options]"
    parser.add_argument("data", metavar="DATA", nargs="+", help="files, globs, folders; - is a pipe")
    parser.add_argument("--folds", type=int, default=5, help="parts to validate on (5)")
    parser.add_argument("--seed", type=int, default=0, help="of the folds (0)")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    add_data_arguments(parser)
    add_column_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0: tuned."""
    import json

    from rosenblatt.cli.labelled import read_labelled
    from rosenblatt.select import tune

    X, y = read_labelled(args)
    found = tune(X, y, folds=args.folds, random_state=args.seed)
    print(json.dumps(found.as_dict()) if args.json else found)
    return 0
