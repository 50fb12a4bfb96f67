"""The options of every verb that reads data."""

from __future__ import annotations

import argparse
import sys
from typing import Any

# As in rosenblatt.io.formats and .lines, which take too long to load for --help; tests/cli/test_files.py compares
# them.
FORMATS = ("svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "json", "parquet", "feather", "npy")
GRAMS = ("words", "pairs", "characters")
BITS = 20
DATA = "files, globs, folders, addresses; - is a pipe"
_TEXT = ("delimiter", "decimal", "missing", "encoding", "header")
_COLUMNS = ("label", "weight", "drop", "text", "category", "number", "bits", "grams", "interactions")


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Format, how text is written, bad lines, limits and threads."""
    parser.add_argument("--format", choices=FORMATS, help="what the data is; found out by default")
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="pass over lines that cannot be read, and count them, instead of stopping",
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="threads that parse (default 2)")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=SIZE",
        help="raise a limit of what is read: line=1G; also columns, classes, documents, expansion, spool",
    )
    group = parser.add_argument_group("how text is written; found out by default")
    group.add_argument("--delimiter", metavar="CHARACTER", help="what stands between cells: , ; | or tab")
    group.add_argument("--decimal", choices=(".", ","), help="what stands before decimals: 1.5 or 1,5")
    group.add_argument(
        "--missing", action="append", metavar="WORD", help="a word that stands for no value; may be repeated"
    )
    group.add_argument("--encoding", metavar="NAME", help="utf-8, latin-1, cp1252, utf-16, …")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the first line names the columns, or is a row",
    )


def add_column_arguments(parser: argparse.ArgumentParser, *, hashing: bool = True) -> None:
    """What columns and words become."""
    group = parser.add_argument_group("columns and text" if hashing else "columns")
    group.add_argument("--label", metavar="COLUMN", help="the column of the labels, by name or number (from 1)")
    if hashing:
        group.add_argument("--weight", metavar="COLUMN", help="the column that says how much each row counts")
    kinds = [("drop", "leave this column out"), ("number", "take this column as numbers")]
    kinds += [("text", "take this column as text"), ("category", "take this column as categories")] if hashing else []
    for kind, what in kinds:
        group.add_argument(f"--{kind}", action="append", default=[], metavar="COLUMN", help=f"{what}; may be repeated")
    if hashing:
        group.add_argument(
            "--bits", type=int, default=BITS, metavar="N", help=f"hash words and names to 2^N columns (default {BITS})"
        )
        group.add_argument(
            "--grams",
            choices=GRAMS,
            default="pairs",
            help="cut texts into words, words and pairs of words, or 3 to 5 characters (default pairs)",
        )
        group.add_argument(
            "-q",
            "--interactions",
            action="append",
            default=[],
            metavar="AB",
            help="vw: multiply the namespaces that begin with these letters, : being any; may be repeated",
        )


def data_options(args: argparse.Namespace) -> dict[str, Any]:
    """What the arguments say of the data, as options of `open_dataset`."""
    from rosenblatt.errors import ParameterError
    from rosenblatt.io.limits import Limits

    if args.jobs < 1:
        raise ParameterError(f"--jobs {args.jobs}: must be at least 1")
    plain = {name: getattr(args, name) for name in ("format", "skip_bad", "jobs", *_TEXT)}
    return plain | {"limits": Limits.of(args.limit)}


def open_data(args: argparse.Namespace, **options: Any) -> Any:
    """The reader of the data that the arguments name."""
    from rosenblatt.io.dataset import open_dataset

    return open_dataset(args.data, **data_options(args), **options)


def open_labelled(args: argparse.Namespace, *, quiet: bool = False) -> Any:
    """The reader of data to learn from; says what it takes the data for."""
    from rosenblatt.cli.bar import waiting

    columns = {name: getattr(args, name) for name in _COLUMNS if hasattr(args, name)}
    with waiting("looking at the data", visible=not quiet):
        reader = open_data(args, **columns)
    if not quiet:
        how = f" with {reader.notes[0]}" if reader.notes and reader.order is not None else ""
        print(f"rosenblatt: {reader.format}{how}; {reader.encoder.describe()}", file=sys.stderr)
        for note in reader.notes[1 if how else 0 :]:
            print(f"rosenblatt: {note}", file=sys.stderr)
    return reader


def say_bad(reader: Any) -> None:
    """Report the bad lines that were skipped."""
    if reader.tally.bad:
        many = "1 bad line" if reader.tally.bad == 1 else f"{reader.tally.bad:,} bad lines, the first of them"
        print(f"rosenblatt: skipped {many}:", file=sys.stderr)
        for sentence in reader.tally.first_bad[:3]:
            print(f"  {sentence}", file=sys.stderr)


def say_strange(reader: Any) -> None:
    """Report the cells that were taken as missing because they are not what their column is."""
    for name, words in reader.tally.strange.items():
        shown = ", ".join(repr(word[:40]) for word in list(words)[:3]) + (", …" if len(words) > 3 else "")
        count = sum(words.values())
        cells = "1 cell was" if count == 1 else f"{count:,} cells were"
        print(f"rosenblatt: {name}: {cells} taken as missing: {shown}", file=sys.stderr)
