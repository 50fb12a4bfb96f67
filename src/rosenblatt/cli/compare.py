"""Compare the learners of the family, and scikit-learn's linear classifiers, on your data.

Every classifier learns from the same folds of the same rows: accuracy with its standard error, smallest margin, time to
learn and to predict a row, size of the model, and what it offers.

    rosenblatt compare data.csv
    rosenblatt compare data.csv --folds 10 --html comparison.html
"""

from __future__ import annotations

import argparse

HELP = "compare the learners, and scikit-learn's, on your data"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.counts import add_fold_arguments
    from rosenblatt.cli.reading import DATA, add_column_arguments, add_data_arguments

    parser.usage = "rosenblatt compare DATA [DATA ...] [options]"
    parser.add_argument("data", metavar="DATA", nargs="+", help=DATA)
    add_fold_arguments(parser, "the folds")
    parser.add_argument("--json", action="store_true", help="the measurements as JSON")
    parser.add_argument("--html", metavar="FILE", help="also write a page with the table")
    add_data_arguments(parser)
    add_column_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """0: measured."""
    import json

    from rosenblatt.cli.labelled import read_labelled
    from rosenblatt.select import compare

    X, y = read_labelled(args)
    found = compare(X, y, folds=args.folds, random_state=args.seed)
    if args.html:
        from rosenblatt.io.atomic import write_atomic
        from rosenblatt.report import render_comparison

        write_atomic(args.html, render_comparison(f"{', '.join(args.data)}: classifiers compared", found).encode())
    print(json.dumps(found.as_dict()) if args.json else found)
    return 0
