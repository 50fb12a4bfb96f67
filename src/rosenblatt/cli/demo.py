"""Train and evaluate the whole family on real data that ships with scikit-learn.

One screen tells the story: the data (569 tumors, 30 measurements each; every third row is kept for the test, and
columns are scaled to mean 0 and variance 1), the mistakes of the perceptron per epoch, what each learner found, the
verdict with its proof, and what to type next.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import click

from rosenblatt.cli.options import SEED, Verb, option

HEIGHTS = " ▁▂▃▄▅▆▇█"
BARS = 56


@click.command("demo", cls=Verb, help=__doc__)
@option("--seed", type=SEED, default=0, metavar="N", help="seed of the shuffles (default 0)")
def command(seed: int) -> None:
    import warnings

    import numpy as np
    from rich.console import Console
    from sklearn.datasets import load_breast_cancer
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import StandardScaler

    from rosenblatt.learners import (
        AveragedPerceptron,
        PassiveAggressive,
        Perceptron,
        PocketPerceptron,
        VotedPerceptron,
    )

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # as for any other verb; rich would exit with 1

    console = Output(highlight=False)
    data = load_breast_cancer()
    labels = data.target_names[data.target]
    test = np.arange(len(labels)) % 3 == 2
    scaler = StandardScaler().fit(data.data[~test])
    X, y = scaler.transform(data.data[~test]), labels[~test]
    X_test, y_test = scaler.transform(data.data[test]), labels[test]
    console.print(
        f"[bold]Data[/bold]      {len(labels)} tumors, {X.shape[1]} measurements each: malignant or benign?\n"
        f"          {len(y)} rows to learn from, {len(y_test)} to test on\n"
    )

    perceptron = Perceptron(tol=None, random_state=seed)
    family: list[Any] = [
        perceptron,
        AveragedPerceptron(tol=None, random_state=seed),
        VotedPerceptron(tol=None, random_state=seed),
        PocketPerceptron(tol=None, random_state=seed),
        PassiveAggressive(tol=None, random_state=seed),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says how each one stopped
        for learner in family:
            learner.fit(X, y)

    _print_epochs(console, perceptron.history_.mistakes)
    _print_table(console, family, X, y, X_test, y_test)
    _print_verdict(console, perceptron, X, y)
    _print_next(console)


def _print_epochs(console: Any, mistakes: list[int]) -> None:
    console.print(f"[bold]Mistakes[/bold]  per epoch of the perceptron: {mistakes[0]} at first, {mistakes[-1]} at last")
    console.print(f"          {_bars(mistakes)}  {len(mistakes)} epochs\n")


def _bars(mistakes: list[int]) -> str:
    """A row of bars; with more epochs than bars, each shows the mean of those that follow one another."""
    bars = min(BARS, len(mistakes))
    cuts = [round(bar * len(mistakes) / bars) for bar in range(bars + 1)]
    means = [sum(mistakes[begin:end]) / (end - begin) for begin, end in pairwise(cuts)]
    highest = max(means) or 1.0
    steps = len(HEIGHTS) - 1
    return "".join(HEIGHTS[max(round(steps * mean / highest), 1 if mean else 0)] for mean in means)


def _print_table(console: Any, family: list[Any], X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("learner", "stopped", "epochs", "mistakes", "updates", "wrong", "test", "ms"):
        table.add_column(heading, justify="left" if heading in ("learner", "stopped") else "right", no_wrap=True)
    for learner in family:
        table.add_row(
            type(learner).__name__,
            learner.stop_reason_,
            f"{learner.n_iter_}",
            f"{learner.mistakes_:,}",
            f"{learner.updates_:,}",
            f"{int((learner.predict(X) != y).sum())}",
            f"{learner.score(X_test, y_test):.1%}",
            f"{1000 * sum(learner.history_.seconds):.1f}",
        )
    console.print(table)
    console.print("wrong: training rows answered wrong; test: share of test rows answered right\n")


def _print_verdict(console: Any, perceptron: Any, X: Any, y: Any) -> None:
    from rosenblatt.theory import Separable, certify

    verdict = certify(X, y)
    if isinstance(verdict, Separable) and verdict.check(X, y):
        console.print(
            f"[bold]Verdict[/bold]   separable, and proved: a plane has all {len(y)} training rows on the\n"
            f"          right side, with a margin of {verdict.gamma.lower:.3f}. No run makes more than "
            f"{verdict.mistake_bound:,}\n          mistakes; this one made {perceptron.mistakes_:,}.\n"
        )
    else:
        console.print(f"[bold]Verdict[/bold]   {verdict}\n")


def _print_next(console: Any) -> None:
    console.print(
        "[bold]Next[/bold]      rosenblatt train YOUR.csv -o YOUR.model   [dim]learn from your own table[/dim]\n"
        "          rosenblatt play                           [dim]watch a perceptron learn[/dim]"
    )
