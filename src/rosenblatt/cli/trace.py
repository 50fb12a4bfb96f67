"""Follow the perceptron step by step: what it met, what it answered, what became of the weights.

Text by default; a page with a slider and an animation where there are two features and two classes.

    rosenblatt trace data.csv
    rosenblatt trace data.csv --ledger
    rosenblatt trace data.csv --json > steps.jsonl
    rosenblatt trace data.csv --html steps.html
    rosenblatt trace data.csv --plot steps.gif
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rosenblatt.theory import Trace

HELP = "follow the perceptron step by step"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from rosenblatt.cli.table import add_table_arguments

    add_table_arguments(parser)
    parser.add_argument("--max-iter", type=int, default=1000, metavar="N", help="epochs at most (1000)")
    parser.add_argument("--no-intercept", action="store_true", help="through the origin")
    parser.add_argument("--shuffle", action="store_true", help="another order each epoch, instead of the file's")
    parser.add_argument("--seed", type=int, default=0, help="of the shuffling (0)")
    parser.add_argument("--most", type=int, default=100, metavar="N", help="lines of text at most (100)")
    parser.add_argument("--ledger", action="store_true", help="a line a mistake, with the proof of the mistake bound")
    parser.add_argument("--json", action="store_true", help="one JSON object a step")
    parser.add_argument("--csv", action="store_true", help="one line a step, a column a number")
    parser.add_argument("--html", metavar="FILE", help="also write a page: two features with a slider, else text")
    parser.add_argument("--plot", metavar="FILE", help="also draw: a .gif of the steps, or mistakes (ledger) by epoch")


def run(args: argparse.Namespace) -> int:
    """0, whether the run converged or not."""
    from rosenblatt.cli.picture import check_picture, save_picture
    from rosenblatt.cli.table import read_table
    from rosenblatt.learners import Perceptron
    from rosenblatt.theory import ledger, trace

    check_picture(args.plot, also=() if args.ledger else ("gif",))
    X, y, _ = read_table(args)
    title = ", ".join(args.data)
    learner = Perceptron(
        fit_intercept=not args.no_intercept,
        shuffle=args.shuffle,
        random_state=args.seed,
        max_iter=args.max_iter,
        tol=None,
    )
    if args.ledger:
        book = ledger(X, y, learner)
        if args.plot:
            from rosenblatt.plot import ledger as draw_ledger

            save_picture(draw_ledger(book), args.plot)
        lines = str(book).splitlines()
        table, verdict = book.render_table(args.most), lines[-1]
        if args.html:
            from rosenblatt.cli.page import write_page

            write_page(args.html, f"{title}: the mistake bound's proof", f"{table}\n{verdict}")
        print(f"{table}\n{verdict}")
        return 0
    steps = trace(X, y, learner)
    counts = steps.mistakes
    end = "the last without a mistake" if counts[-1] == 0 else "the last one still with mistakes"
    text = f"{steps.render_table(args.most)}\n{sum(counts)} mistakes in {len(counts)} epochs, {end}"
    if args.html:
        _write_page(args.html, title, steps, text)
    if args.plot:
        from rosenblatt.plot import animate, mistakes

        if Path(args.plot).suffix.lower() == ".gif":
            animate(steps, args.plot)
        else:
            save_picture(mistakes(steps), args.plot)
    if args.json:
        print(steps.render_jsonl(), end="")
    elif args.csv:
        print(steps.render_csv(), end="")
    else:
        print(text)
    return 0


def _write_page(path: str, data: str, steps: Trace, text: str) -> None:
    """With a slider where there is a plane to show, else the steps as text."""
    if len(steps.X[0]) == 2 and len(steps.classes) == 2:
        from rosenblatt.data.output import write_whole
        from rosenblatt.plot.animation import render_html

        write_whole(path, render_html(steps, steps.steps, 0.7).encode())
    else:
        from rosenblatt.cli.page import write_page

        write_page(path, f"{data}: step by step", text)
