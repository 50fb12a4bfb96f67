"""Compare the family with scikit-learn on real data, and prove whether a plane separates it.

The data are 569 tumors with 30 measurements each, from scikit-learn; columns are standardized. One screen shows the
cross-validated accuracy of every learner, the mistakes of the perceptron per epoch, and a proof.
"""

from __future__ import annotations

from itertools import pairwise

import click

from rosenblatt.cli import options as o
from rosenblatt.cli.console import echo

HEIGHTS = " ▁▂▃▄▅▆▇█"
BARS = 56
_SCREEN = """\
{comparison}

Mistakes  of the perceptron: {first} in epoch 1, {last} in epoch {epochs} (a bar per {each} epochs)
          {bars}

Verdict   {verdict}

Next      rosenblatt train YOUR.csv -o YOUR.model   learn from your own table
          rosenblatt play                           watch a perceptron learn"""


@click.command("demo", cls=o.Verb, help=__doc__)
@o.seed_option("seed of the shuffles")
def command(seed: int) -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    from rosenblatt import Perceptron
    from rosenblatt.select import compare
    from rosenblatt.theory import Separable, certify

    data = load_breast_cancer()
    X, y = scale(data.data), data.target_names[data.target]
    perceptron, certificate = Perceptron(random_state=seed).fit(X, y), certify(X, y)
    mistakes, verdict = perceptron.history_.mistakes, str(certificate)
    end = "and converged"
    if not perceptron.converged_:
        end = f"before it stopped: no epoch was better than epoch {1 + mistakes.index(min(mistakes))}"
    if isinstance(certificate, Separable) and certificate.check(X, y):
        verdict = (
            f"separable, and proved: a plane has all {len(y)} rows right, with a margin\n"
            f"          of {certificate.gamma.lower:.2g}. "
            f"No run makes more than {certificate.mistake_bound:,} mistakes; this one made\n"
            f"          {perceptron.mistakes_:,} {end}."
        )
    facts = {"first": mistakes[0], "last": mistakes[-1], "epochs": len(mistakes), "bars": render_bars(mistakes)}
    facts |= {"each": max(1, round(len(mistakes) / BARS)), "verdict": verdict}
    echo(_SCREEN.format(**facts, comparison=compare(data.data, y, random_state=seed)))


def render_bars(mistakes: list[int]) -> str:
    """A row of bars; with more epochs than bars, each shows the mean of consecutive epochs.

    >>> render_bars([4, 2, 0])
    '█▄ '
    """
    bars = min(BARS, len(mistakes))
    cuts = [round(bar * len(mistakes) / bars) for bar in range(bars + 1)]
    means = [sum(mistakes[begin:end]) / (end - begin) for begin, end in pairwise(cuts)]
    steps, highest = len(HEIGHTS) - 1, max(means) or 1.0
    return "".join(HEIGHTS[max(round(steps * mean / highest), 1 if mean else 0)] for mean in means)
