"""Rows and labels as they are, for the verbs that look at every one: numbers are not scaled, and none may be missing.

Invariant: the data are read as `train` reads them: the same formats, the same label, the same header.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGE = 100_000  # rows that take their time


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of every verb that reads a table."""
    from rosenblatt.cli.reading import DATA, add_column_arguments, add_data_arguments

    parser.usage = f"{parser.prog} DATA [DATA ...] [options]"
    parser.add_argument("data", metavar="DATA", nargs="+", help=DATA)
    add_data_arguments(parser)
    add_column_arguments(parser, hashing=False)


def read_table(args: argparse.Namespace) -> tuple[Any, NDArray[Any], list[str]]:
    """Rows, labels and the names of the feature columns."""
    from dataclasses import replace

    from rosenblatt.cli.reading import open_labelled, say_bad
    from rosenblatt.encode.lines import LineEncoder
    from rosenblatt.training.rows import Compact, read_rows

    reader = open_labelled(args)
    if not isinstance(reader.encoder, LineEncoder):
        reader.encoder = replace(reader.encoder.plain(), complete=True)
    rows = read_rows(reader)
    say_bad(reader)
    if reader.tally.bad:
        print("rosenblatt: rows are counted without them", file=sys.stderr)
    if rows.weights is not None:
        print("rosenblatt: the weights of the rows are left aside here", file=sys.stderr)
    if len(rows) > LARGE:
        print(f"rosenblatt: {len(rows):,} rows, all of them in memory: this may take a while", file=sys.stderr)
    compact = Compact.of(rows, reader.encoder.features)
    known = reader.find_names(compact.columns)
    return compact.matrix, rows.y, [known.get(int(column), f"x{int(column)}") for column in compact.columns]
