"""What will take long, said before it begins."""

from __future__ import annotations

import argparse
import sys
from typing import Any

SLOW_KERNEL = 20 << 20  # bytes of data
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
    if args.learner == "kernel" and args.budget is None and reader.size > SLOW_KERNEL and not args.quiet:
        print(
            f"rosenblatt: a kernel compares every row with every mistake: {reader.size / 1e6:,.0f} MB may take long; "
            "--budget N bounds it",
            file=sys.stderr,
        )
