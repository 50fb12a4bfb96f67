"""What will take long, said before it begins."""

from __future__ import annotations

import argparse
import sys
from typing import Any

MANY_KERNEL_ROWS = 20_000
SMALL = 2 * MANY_KERNEL_ROWS  # bytes that cannot hold so many rows
MANY_WEIGHTS = 1 << 26  # of all classes together: half a gigabyte


def warn_of_classes(args: argparse.Namespace, classes: int, features: int) -> None:
    """Many weights take memory and time."""
    if classes * features > MANY_WEIGHTS and not args.quiet:
        print(
            f"rosenblatt: {classes:,} classes and {features:,} columns make {8 * classes * features / 1e9:,.1f} GB of "
            "weights: this may take long; is the label the right column (--label)? --bits 14 takes fewer",
            file=sys.stderr,
        )


def warn_of_kernel(args: argparse.Namespace, reader: Any) -> None:
    """A kernel compares rows with rows."""
    if args.quiet or args.learner != "kernel" or args.budget is not None or 0 < reader.size < SMALL:
        return
    rows = sum(len(batch) for batch in reader)
    if rows > MANY_KERNEL_ROWS:
        print(
            f"rosenblatt: a kernel compares every row with every mistake: {rows:,} rows may take long; "
            "--budget N bounds it",
            file=sys.stderr,
        )
