"""Follow the perceptron step by step: what it met, what it answered, what became of the weights.

Text by default; a page with a slider and an animation where there are two features and two classes. Rows are counted
from 1. A long run is shown by its first steps and counted to its end; --json and --csv write each step as it is made.

    rosenblatt trace data.csv
    rosenblatt trace data.csv --ledger
    rosenblatt trace data.csv --json > steps.jsonl
    rosenblatt trace data.csv --html steps.html
    rosenblatt trace data.csv --plot steps.gif
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rosenblatt.theory.trace import Trace

HELP = "follow the perceptron step by step"
MOST_HELD = 20_000  # steps of a page or an animation, and those that the textbook makes only to count them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.counts import seed, whole_number
    from rosenblatt.cli.table import add_table_arguments

    add_table_arguments(parser)
    parser.add_argument("--max-iter", type=whole_number(1), default=1000, metavar="N", help="epochs at most (1000)")
    parser.add_argument(
        "--no-intercept", action="store_true", help="keep the offset at 0: only hyperplanes through the origin"
    )
    parser.add_argument("--shuffle", action="store_true", help="another order each epoch, instead of the file's")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the shuffling (0)")
    parser.add_argument("--most", type=whole_number(0), default=100, metavar="N", help="lines of text at most (100)")
    parser.add_argument("--ledger", action="store_true", help="a line per mistake, with the proof of the mistake bound")
    parser.add_argument("--json", action="store_true", help="one JSON object per step; its row is an index, from 0")
    parser.add_argument("--csv", action="store_true", help="one line per step, a column for each number")
    parser.add_argument("--html", metavar="FILE", help="also write a page: two features with a slider, else text")
    parser.add_argument("--plot", metavar="FILE", help="also draw: a .gif of the steps, or mistakes (ledger) by epoch")


def run(args: argparse.Namespace) -> int:
    """0, whether the run converged or not."""
    from rosenblatt.cli.picture import check_picture
    from rosenblatt.cli.table import read_table
    from rosenblatt.params import PerceptronParams

    check_picture(args.plot, also=() if args.ledger else ("gif",))
    X, y, _ = read_table(args)
    params = PerceptronParams(
        fit_intercept=not args.no_intercept,
        shuffle=args.shuffle,
        random_state=args.seed,
        max_iter=args.max_iter,
        tol=None,
    )
    params.check()
    if args.ledger:
        _keep_ledger(args, X, y, params)
    elif (args.json or args.csv) and not (args.html or args.plot):
        from rosenblatt.theory.trace import begin_trace

        found, steps = begin_trace(X, y, params)
        _print_records(args, found.iter_records(steps))
    else:
        _show_steps(args, X, y, params)
    return 0


def _keep_ledger(args: argparse.Namespace, X: Any, y: Any, params: Any) -> None:
    from rosenblatt.cli.bar import waiting
    from rosenblatt.theory import ledger

    with waiting("keeping the ledger", visible=True):
        book = ledger(X, y, params)
    if args.plot:
        from rosenblatt.cli.picture import save_picture
        from rosenblatt.plot import ledger as draw_ledger

        save_picture(draw_ledger(book), args.plot)
    table, verdict = book.render_table(args.most), book.verdict()
    if args.html:
        from rosenblatt.cli.page import write_page

        write_page(args.html, f"{', '.join(args.data)}: the mistake bound's proof", f"{table}\n{verdict}")
    print(f"{table}\n{verdict}")


def _print_records(args: argparse.Namespace, records: Iterable[dict[str, Any]]) -> None:
    """Each as soon as it is made."""
    from rosenblatt.theory.trace import csv_lines, json_line

    for line in map(json_line, records) if args.json else csv_lines(records):
        print(line, end="")


def _show_steps(args: argparse.Namespace, X: Any, y: Any, params: Any) -> None:
    from dataclasses import replace
    from itertools import islice

    from rosenblatt.cli.bar import waiting
    from rosenblatt.errors import DataError
    from rosenblatt.theory.trace import begin_trace

    empty, coming = begin_trace(X, y, params)
    with waiting("following the steps", visible=True):
        steps = replace(empty, steps=list(islice(coming, MOST_HELD + 1)))
    whole = len(steps) <= MOST_HELD
    if not whole and (args.html or args.plot or args.json or args.csv):
        raise DataError(
            f"the run has more than {MOST_HELD:,} steps, too many for a page or a picture: give it fewer rows, or "
            "fewer epochs with --max-iter"
        )
    counts, last = (steps.mistakes, len(steps)) if whole else _count_mistakes(X, y, params)
    end = "the last without a mistake" if counts[-1] == 0 else "the last one still with mistakes"
    table = replace(steps, steps=steps.steps[: args.most]).render_table()
    more = f"\n… {last - args.most:,} more steps" if last > args.most else ""
    text = f"{table}{more}\n{sum(counts):,} mistakes in {len(counts):,} epochs, {end}"
    if args.html:
        _write_page(args.html, ", ".join(args.data), steps, text)
    if args.plot:
        _draw(args.plot, steps)
    if args.json or args.csv:
        _print_records(args, steps.records())
    else:
        print(text)


def _count_mistakes(X: Any, y: Any, params: Any) -> tuple[list[int], int]:
    """The mistakes of each epoch and the number of steps, by the engine: the textbook would take too long."""
    from rosenblatt.cli.bar import waiting
    from rosenblatt.data.labels import encode_labels
    from rosenblatt.data.table import as_table
    from rosenblatt.learners.fitting import ending_of, prepare_params
    from rosenblatt.learners.spaces import LINEAR

    table = as_table(X)
    with waiting("counting the mistakes of all epochs", visible=True):
        history, _ = ending_of(prepare_params(params, LINEAR, table, encode_labels(y)).run())
    return history.mistakes, len(history) * table.count


def _draw(path: str, steps: Trace) -> None:
    from rosenblatt.cli.picture import save_picture
    from rosenblatt.plot import animate, mistakes

    if Path(path).suffix.lower() == ".gif":
        animate(steps, path)
    else:
        save_picture(mistakes(steps), path)


def _write_page(path: str, data: str, steps: Trace, text: str) -> None:
    """With a slider where there is a plane to show, else the steps as text."""
    if len(steps.X[0]) == 2 and len(steps.classes) == 2:
        from rosenblatt.io.atomic import write_atomic
        from rosenblatt.plot.animation import render_html

        write_atomic(path, render_html(steps, steps.steps, 0.7).encode())
    else:
        from rosenblatt.cli.page import write_page

        write_page(path, f"{data}: step by step", text)
