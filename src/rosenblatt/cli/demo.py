"""Train and evaluate the whole family on real data that ships with scikit-learn.

The data: 569 tumours, 30 measurements each, malignant or benign. Every third row is kept for the test; columns
are scaled to mean 0 and variance 1. Shows mistakes an epoch, what each learner found, and whether the training
rows can be separated.
"""

from __future__ import annotations

import argparse
from typing import Any

HELP = "train and evaluate the family on real data that ships with scikit-learn"
BAR = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the shuffles (default: 0)")


def run(args: argparse.Namespace) -> int:
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
        f"[bold]Tumours[/bold]: {len(y)} rows to learn from, {len(y_test)} to test on, {X.shape[1]} features\n"
    )

    perceptron = Perceptron(tol=None, random_state=args.seed)
    family: list[Any] = [
        perceptron,
        AveragedPerceptron(tol=None, random_state=args.seed),
        VotedPerceptron(tol=None, random_state=args.seed),
        PocketPerceptron(tol=None, random_state=args.seed),
        PassiveAggressive(tol=None, random_state=args.seed),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says how each one stopped
        for learner in family:
            learner.fit(X, y)

    _print_epochs(console, perceptron.history_.mistakes)
    _print_table(console, family, X, y, X_test, y_test)
    _print_verdict(console, perceptron, len(y))
    return 0


def _print_epochs(console: Any, mistakes: list[int]) -> None:
    console.print("[bold]Mistakes an epoch[/bold] (Perceptron)")
    epochs = len(mistakes)
    shown = list(range(epochs)) if epochs <= 20 else [*range(10), *range(epochs - 10, epochs)]
    for before, epoch in zip([-1, *shown], shown, strict=False):
        if epoch != before + 1:
            console.print("    ⋮")
        bar = "█" * max(round(BAR * mistakes[epoch] / max(mistakes)), 1 if mistakes[epoch] else 0)
        console.print(f"{epoch + 1:5d}  {mistakes[epoch]:4d} {bar}")
    console.print()


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
    console.print("wrong: training rows that the answer gets wrong; test: share of the test rows that it gets right\n")


def _print_verdict(console: Any, perceptron: Any, rows: int) -> None:
    if perceptron.converged_:
        console.print(
            f"[bold]Verdict[/bold]: separable. Epoch {perceptron.n_iter_} passed without a mistake, so its weights "
            f"have all {rows} training rows on the right side."
        )
    else:
        console.print(
            f"[bold]Verdict[/bold]: open. {perceptron.n_iter_} epochs without convergence prove nothing; the training "
            "rows may or may not be separable."
        )
