"""Follow the perceptron step by step: the row, the prediction, and how the weights change.

Text by default; a page with a slider and an animation for two features and two classes. Rows are counted from 1. A
long run shows its first steps; --json writes each step as it is made. --ledger counts the mistakes k: with the best
weights u of length 1, each adds at least gamma to w·u and at most R² to ‖w‖².

    rosenblatt trace data.csv
    rosenblatt trace data.csv --ledger
    rosenblatt trace data.csv --json > steps.jsonl
    rosenblatt trace data.csv --html steps.html
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.console import echo, say
from rosenblatt.errors import DataError

MAX_STEPS = 20_000  # that are shown, drawn and counted
_NO_INTERCEPT = "keep the intercept at 0: only hyperplanes through the origin"
_param = partial(o.option, group="perceptron")


@click.command("trace", cls=o.Verb, help=__doc__)
@o.data_argument(required=True)
@_param("--max-iter N", "epochs at most", type=o.COUNT, default=1000)
@_param("--no-intercept", _NO_INTERCEPT, name="fit_intercept", flag_value=False, default=True, show_default=False)
@_param("--shuffle", "another order in each epoch, instead of the file's", is_flag=True)
@_param("--seed N", "seed of the shuffles", name="random_state", type=o.SEED, default=0)
@o.option("--max-lines N", "print at most N steps", type=click.IntRange(0), default=100)
@o.option("--ledger", "one line per mistake, with the proof of the mistake bound", is_flag=True, without="as_json html")
@o.json_option("one JSON object per step; its row is an index, from 0", without="max_lines")
@o.option("--html FILE", "write a page with a slider (2 columns, 2 classes)", type=o.OutputFile())
@o.reading_options()
@o.column_options(hashing=False)
def command(data: Any, perceptron: Any, max_lines: int, ledger: bool, as_json: bool, html: Any, **how: Any) -> None:
    from rosenblatt.cli.load import open_labeled, read_rows
    from rosenblatt.params import PerceptronParams
    from rosenblatt.theory import ledger as make_ledger
    from rosenblatt.theory.trace import begin_trace

    X, y, *_ = read_rows(open_labeled(data, **how, raw=True))
    params = PerceptronParams(tol=None, **perceptron)
    if ledger:
        book = make_ledger(X, y, params)
        echo(f"{book.render_table(max_lines)}\n{book.verdict()}")
        return
    run, steps = begin_trace(X, y, params)
    if html or not as_json:
        run = replace(run, steps=list(islice(steps, MAX_STEPS + 1)))
        steps = iter(run.steps)
    if html:
        from rosenblatt.io.atomic import write_atomic
        from rosenblatt.plot.animation import render_html

        if len(run) > MAX_STEPS:
            raise DataError(f"more than {MAX_STEPS:,} steps are too many for a page: use --max-iter")
        write_atomic(html, render_html(run).encode())
        say(f"wrote {html}")
    if as_json:
        for step in steps:
            echo(json.dumps(run.record(step)))
    else:
        echo(_describe(run, max_lines, table=html is None))
        if run.mistakes[-1]:
            say("not converged, which proves nothing about the data: `rosenblatt certify` decides")


def _describe(run: Any, max_lines: int, table: bool) -> str:
    """The first steps as a table, and the mistakes of all."""
    counts, last = run.mistakes, len(run)
    end = f"{counts[-1] or 'none'} in the last"
    if last > MAX_STEPS:
        end = f"which are its first {MAX_STEPS:,} steps"
    summary = f"{sum(counts):,} mistakes in {len(counts):,} epochs, {end}"
    if not table:
        return summary
    return f"{run.render_table(max_lines)}\n{summary}"
