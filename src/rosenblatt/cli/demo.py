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
FAMILY = ("Perceptron", "AveragedPerceptron", "VotedPerceptron", "PocketPerceptron", "PassiveAggressive")


@click.command("demo", cls=Verb, help=__doc__)
@option("--seed", type=SEED, default=0, metavar="N", help="seed of the shuffles (default 0)")
def command(seed: int) -> None:
    import warnings

    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.preprocessing import StandardScaler

    from rosenblatt import learners

    data = load_breast_cancer()
    labels = data.target_names[data.target]
    test = np.arange(len(labels)) % 3 == 2
    scaler = StandardScaler().fit(data.data[~test])
    X, y = scaler.transform(data.data[~test]), labels[~test]
    X_test, y_test = scaler.transform(data.data[test]), labels[test]
    print(f"Data      {len(labels)} tumors, {X.shape[1]} measurements each: malignant or benign?")
    print(f"          {len(y)} rows to learn from, {len(y_test)} to test on\n")
    family: list[Any] = [getattr(learners, name)(tol=None, random_state=seed) for name in FAMILY]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table says how each one stopped
        for learner in family:
            learner.fit(X, y)
    mistakes = family[0].history_.mistakes
    print(f"Mistakes  per epoch of the perceptron: {mistakes[0]} at first, {mistakes[-1]} at last")
    print(f"          {_bars(mistakes)}  {len(mistakes)} epochs\n")
    print(f"{'learner':<20}{'stopped':<11}{'epochs':>6}{'mistakes':>10}{'updates':>9}{'wrong':>7}{'test':>7}{'ms':>7}")
    for learner in family:
        wrong, right = int((learner.predict(X) != y).sum()), learner.score(X_test, y_test)
        print(
            f"{type(learner).__name__:<20}{learner.stop_reason_:<11}{learner.n_iter_:>6}{learner.mistakes_:>10,}"
            f"{learner.updates_:>9,}{wrong:>7}{right:>7.1%}{1000 * sum(learner.history_.seconds):>7.1f}"
        )
    print("wrong: training rows predicted wrong; test: share of test rows predicted right\n")
    _print_verdict(family[0], X, y)
    print("Next      rosenblatt train YOUR.csv -o YOUR.model   learn from your own table")
    print("          rosenblatt play                           watch a perceptron learn")


def _bars(mistakes: list[int]) -> str:
    """A row of bars; with more epochs than bars, each shows the mean of consecutive epochs."""
    bars = min(BARS, len(mistakes))
    cuts = [round(bar * len(mistakes) / bars) for bar in range(bars + 1)]
    means = [sum(mistakes[begin:end]) / (end - begin) for begin, end in pairwise(cuts)]
    highest = max(means) or 1.0
    steps = len(HEIGHTS) - 1
    return "".join(HEIGHTS[max(round(steps * mean / highest), 1 if mean else 0)] for mean in means)


def _print_verdict(perceptron: Any, X: Any, y: Any) -> None:
    from rosenblatt.theory import Separable, certify

    verdict = certify(X, y)
    if not isinstance(verdict, Separable) or not verdict.check(X, y):
        print(f"Verdict   {verdict}\n")
        return
    print(
        f"Verdict   separable, and proved: a plane has all {len(y)} training rows on the\n"
        f"          right side, with a margin of {verdict.gamma.lower:.3f}. No run makes more than "
        f"{verdict.mistake_bound:,}\n          mistakes; this one made {perceptron.mistakes_:,}.\n"
    )
