"""The options of every verb that reads data."""

from __future__ import annotations

import argparse
import sys
from typing import Any

# As in rosenblatt.data.formats and .lines, which take too long to load for --help; tests/cli/test_files.py compares
# them.
FORMATS = ("svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "parquet", "feather")
GRAMS = ("words", "pairs", "characters")
BITS = 20


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Format, bad lines and threads."""
    parser.add_argument("--format", choices=FORMATS, help="what the data is; found out by default")
    parser.add_argument("--skip-bad", action="store_true", help="count bad lines and go on, instead of stopping")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="threads that parse (default 2)")


def add_column_arguments(parser: argparse.ArgumentParser) -> None:
    """What columns and words become."""
    group = parser.add_argument_group("columns and text")
    group.add_argument("--label", metavar="COLUMN", help="the column of the labels, by name or number (from 1)")
    for kind, what in (("drop", "leave out"), ("text", "take as text"), ("category", "take as a category")):
        group.add_argument(f"--{kind}", action="append", default=[], metavar="COLUMN", help=f"{what}; may be repeated")
    group.add_argument("--bits", type=int, default=BITS, metavar="N", help=f"hash to 2^N columns (default {BITS})")
    group.add_argument("--grams", choices=GRAMS, default="pairs", help="what a text is made of (default pairs)")


def open_data(args: argparse.Namespace, **options: Any) -> Any:
    """The reader of the data that the arguments name."""
    from rosenblatt.data.readers import scan

    return scan(args.data, format=args.format, skip_bad=args.skip_bad, jobs=args.jobs, **options)


def open_labelled(args: argparse.Namespace, *, quiet: bool = False) -> Any:
    """The reader of data to learn from; says what it takes the data for."""
    from rosenblatt.cli.bar import waiting

    columns = {name: getattr(args, name) for name in ("label", "drop", "text", "category", "bits", "grams")}
    with waiting("looking at the data", visible=not quiet):
        reader = open_data(args, **columns)
    if not quiet:
        print(f"rosenblatt: {reader.format}; {reader.encoder.describe()}", file=sys.stderr)
    return reader


def say_bad(reader: Any) -> None:
    """Report the bad lines that were skipped."""
    if reader.tally.bad:
        print(f"rosenblatt: skipped {reader.tally.bad:,} bad lines, the first of them:", file=sys.stderr)
        for sentence in reader.tally.first_bad[:3]:
            print(f"  {sentence}", file=sys.stderr)
