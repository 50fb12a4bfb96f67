"""Follow the perceptron step by step: the row, the prediction, and how the weights change.

Text by default; a page with a slider and an animation for two features and two classes. Rows are counted from 1. A
long run shows its first steps, and counts all mistakes; --json and --csv write each step as it is made.

    rosenblatt trace data.csv
    rosenblatt trace data.csv --ledger
    rosenblatt trace data.csv --json > steps.jsonl
    rosenblatt trace data.csv --html steps.html
    rosenblatt trace data.csv --plot steps.gif
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.console import save_figure, waiting, write_page
from rosenblatt.errors import DataError, ParameterError

MAX_STEPS = 20_000  # of a page or an animation; beyond that the engine counts the mistakes


@dataclass(frozen=True)
class _Outputs:
    title: str
    max_lines: int
    as_json: bool
    csv: bool
    html: str | None
    plot: str | None


@click.command("trace", cls=o.Verb, help=__doc__)
@o.data_argument()
@o.option("--max-iter", type=click.IntRange(1), default=1000, metavar="N", help="epochs at most (default 1000)")
@o.option("--no-intercept", is_flag=True, help="keep the intercept at 0: only hyperplanes through the origin")
@o.option("--shuffle", is_flag=True, help="another order in each epoch, instead of the file's")
@o.option("--seed", type=o.SEED, default=0, metavar="N", help="seed of the shuffles (default 0)")
@o.option("--max-lines", type=click.IntRange(0), default=100, metavar="N", help="print at most N steps (default 100)")
@o.option("--ledger", is_flag=True, help="one line per mistake, with the proof of the mistake bound")
@o.json_option("one JSON object per step; its row is an index, from 0")
@o.option("--csv", is_flag=True, help="one line per step, one column per number")
@o.option("--html", metavar="FILE", type=o.OutputFile(), help="also write a page: a slider for two features, else text")
@o.option(
    "--plot", metavar="FILE", type=o.PictureFile("gif"), help="also draw: a .gif of the steps, or mistakes per epoch"
)
@o.reading_options
@o.column_options(hashing=False)
def command(
    data: o.Files,
    max_iter: int,
    no_intercept: bool,
    shuffle: bool,
    seed: int,
    ledger: bool,
    reading: o.Settings,
    columns: o.Settings,
    **outputs: Any,
) -> None:
    from rosenblatt.cli.load import read_matrix
    from rosenblatt.params import PerceptronParams
    from rosenblatt.theory.trace import begin_trace

    out = _Outputs(", ".join(data), **outputs)
    if ledger and (out.plot or "").lower().endswith(".gif"):
        raise ParameterError(f"--plot {out.plot}: the ledger is a picture, not an animation")
    X, y, _ = read_matrix(data, reading, columns, raw=True)
    how: dict[str, Any] = {"shuffle": shuffle, "random_state": seed, "max_iter": max_iter}
    params = PerceptronParams(fit_intercept=not no_intercept, tol=None, **how)
    params.check()
    if ledger:
        _show_ledger(out, X, y, params)
    elif (out.as_json or out.csv) and not (out.html or out.plot):
        found, steps = begin_trace(X, y, params)
        _print_records(out, found.iter_records(steps))
    else:
        _show_steps(out, X, y, params)


def _show_ledger(out: _Outputs, X: Any, y: Any, params: Any) -> None:
    from rosenblatt.theory import ledger

    with waiting("writing the ledger"):
        book = ledger(X, y, params)
    if out.plot:
        from rosenblatt.plot import ledger as draw_ledger

        save_figure(draw_ledger(book), out.plot)
    text = f"{book.render_table(out.max_lines)}\n{book.verdict()}"
    if out.html:
        write_page(out.html, f"{out.title}: the proof of the mistake bound", text)
    print(text)


def _print_records(out: _Outputs, records: Any) -> None:
    """Each as soon as it is made."""
    from rosenblatt.theory.trace import csv_lines, json_line

    for line in map(json_line, records) if out.as_json else csv_lines(records):
        print(line, end="")


def _show_steps(out: _Outputs, X: Any, y: Any, params: Any) -> None:
    from rosenblatt.theory.trace import begin_trace

    empty, coming = begin_trace(X, y, params)
    with waiting("following the steps"):
        steps = replace(empty, steps=list(islice(coming, MAX_STEPS + 1)))
    whole = len(steps) <= MAX_STEPS
    if not whole and (out.html or out.plot or out.as_json or out.csv):
        raise DataError(
            f"the run has more than {MAX_STEPS:,} steps, too many for a page or a picture: use fewer rows, or fewer "
            "epochs with --max-iter"
        )
    counts, last = (steps.mistakes, len(steps)) if whole else _count_mistakes(X, y, params)
    end = "the last without a mistake" if counts[-1] == 0 else "the last still with mistakes"
    table = replace(steps, steps=steps.steps[: out.max_lines]).render_table()
    more = f"\n… {last - out.max_lines:,} more steps" if last > out.max_lines else ""
    text = f"{table}{more}\n{sum(counts):,} mistakes in {len(counts):,} epochs, {end}"
    if out.html:
        _write_html(out.html, f"{out.title}: step by step", steps, text)
    if out.plot:
        from rosenblatt.plot import animate, mistakes

        if out.plot.lower().endswith(".gif"):
            animate(steps, out.plot)
        else:
            save_figure(mistakes(steps), out.plot)
    if out.as_json or out.csv:
        _print_records(out, steps.records())
    else:
        print(text)


def _count_mistakes(X: Any, y: Any, params: Any) -> tuple[list[int], int]:
    """The mistakes of each epoch and the number of steps, by the engine: the textbook would take too long."""
    from rosenblatt.data.labels import encode_labels
    from rosenblatt.data.table import as_table
    from rosenblatt.learners.fit import ending_of, prepare_params
    from rosenblatt.learners.weights import LINEAR

    table = as_table(X)
    with waiting("counting the mistakes of all epochs"):
        history, _ = ending_of(prepare_params(params, LINEAR, table, encode_labels(y)).run())
    return history.mistakes, len(history) * table.count


def _write_html(path: str, title: str, steps: Any, text: str) -> None:
    """With a slider if there is a plane to show, otherwise the steps as text."""
    if len(steps.X[0]) == 2 and len(steps.classes) == 2:
        from rosenblatt.io.atomic import write_atomic
        from rosenblatt.plot.animation import render_html

        write_atomic(path, render_html(steps, steps.steps, 0.7).encode())
    else:
        write_page(path, title, text)
