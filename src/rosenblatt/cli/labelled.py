"""Rows and labels in memory, for verbs that look at all of them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_labelled(args: argparse.Namespace) -> tuple[Any, NDArray[Any]]:
    """Rows and labels of the data that the arguments name, for what looks at all of them."""
    from rosenblatt.cli.reading import open_labelled, say_bad
    from rosenblatt.training.rows import Compact, read_rows

    reader = open_labelled(args)
    rows = read_rows(reader)
    say_bad(reader)
    if rows.weights is not None:
        print("rosenblatt: the weights of the rows are left aside here", file=sys.stderr)
    return Compact.of(rows, reader.encoder.features).matrix, rows.y
