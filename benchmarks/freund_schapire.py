"""Voted perceptrons with polynomial kernels on MNIST, beside the figures of Freund and Schapire (1999).

    python benchmarks/freund_schapire.py [PART ...] [--quick] [--json FILE]

Ten one-vs-rest problems, K(x, z) = (1 + x·z)^d on raw pixels, one permutation, the same order of the rows in every
epoch. An epoch of 0.1 is the first 6,000 rows. Every cell reads: the paper / this run, errors in %. SupVec counts the
rows ever mistaken, over all classes.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fetch import read_mnist
from measure import Found, Row, run_script
from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.support import Support, SupportState
from rosenblatt.learners.targets import Targets
from rosenblatt.models.predictors import Kernel, Updates, Voted
from rosenblatt.params import Rule

CHECKPOINTS = (0.1, 1, 2, 3, 4, 10, 30)
MEASURES = ("vote", "average", "last", "SupVec", "Mistake")
FIRST_ROWS = 6_000
EPOCHS = {1: 3, 2: 30}  # 10 for the others; an epoch of degree 1 takes the longest

# Freund and Schapire (1999), table 1, for the checkpoints above; None if it has no figure.
PAPER: dict[int, dict[str, tuple[float | None, ...]]] = {
    1: {
        "vote": (10.7, 8.5, 8.3, 8.2, 8.2, 8.1, None),
        "average": (10.9, 8.7, 8.5, 8.4, 8.3, 8.3, None),
        "last": (16.0, 14.7, 13.6, 13.9, 13.7, 13.5, None),
        "SupVec": (2489, 19795, 24263, 26704, 28322, 32994, None),
        "Mistake": (3342, 25461, 48431, 70915, 93090, 223657, None),
    },
    2: {
        "vote": (6.0, 2.8, 2.4, 2.2, 2.1, 1.8, 1.8),
        "average": (6.0, 2.8, 2.4, 2.2, 2.1, 1.9, 1.8),
        "last": (8.6, 4.0, 3.4, 3.0, 2.7, 2.3, 2.0),
        "SupVec": (1639, 8190, 9888, 10818, 11424, 12963, 13861),
        "Mistake": (2150, 10201, 15290, 19093, 22100, 32451, 41614),
    },
    3: {
        "vote": (5.4, 2.3, 1.9, 1.8, 1.7, 1.6, 1.6),
        "average": (5.3, 2.3, 1.9, 1.8, 1.7, 1.6, 1.5),
        "Mistake": (1937, 8475, 11739, 13757, 15129, 18422, 19473),
    },
    4: {
        "vote": (5.7, 2.2, 1.8, 1.7, 1.6, 1.6, 1.6),
        "Mistake": (1882, 7977, 10543, 11933, 12780, 14375, 14538),
    },
    5: {"vote": (5.7, 2.3, 2.0, 1.9, 1.8, 1.8, None)},
    6: {"vote": (6.0, 2.5, 2.2, 2.0, 2.0, 1.9, None)},
}


@dataclass
class Digit:
    """One class against the others: test scores by each keep and the rows mistaken so far, at every checkpoint."""

    scores: dict[str, list[NDArray[np.float64]]]
    mistakes: list[int]
    mistaken: list[NDArray[np.int64]]


def learn_digit(
    digit: int, train: Table, y: NDArray[np.uint8], test: Table, degree: int, order: NDArray[np.uint32], epochs: int
) -> Digit:
    kernel = Kernel("poly", gamma=1.0, coef0=1.0, degree=degree)
    state = SupportState(kernel, False, 1, {}, "vote", Support(), 0).fresh(engine.seed_generator(0))
    targets = Targets(np.where(y == digit, 1, -1).astype(np.int8), 1)
    lengths, survived, mistakes = [], [], []
    for epoch in range(epochs):
        for part, now in ((order[:FIRST_ROWS], 0.1), (order[FIRST_ROWS:], 1)) if epoch == 0 else ((order, epoch + 1),):
            state.learn(train, targets, Rule(), order=part)
            if now in CHECKPOINTS:
                lengths.append(len(state.recent))
                survived.append(state.counter("survived"))
                mistakes.append(state.counter("mistakes"))
    mistaken = [np.unique(state.recent.which[:length]) for length in lengths]
    SupportState.unbind([state])
    # The model at a checkpoint is the beginning of the list of updates; one kernel matrix serves all of them.
    logs = tuple(state.log.first(length) for length in lengths)
    averaged = tuple(weigh_by_survival(log, last) for log, last in zip(logs, survived, strict=True))
    run_of = partial(Voted, kernel, state.support.rows, K=1, fit_intercept=False)
    found = run_of((*logs, *averaged), (*survived, *survived)).replay(test, votes=False)
    votes = run_of(logs, tuple(survived)).replay(test, votes=True)
    columns = [scores[:, 0] for scores in (*found, *votes)]
    count = len(logs)
    scores = {name: columns[at * count : (at + 1) * count] for at, name in enumerate(("last", "average", "vote"))}
    return Digit(scores, mistakes, mistaken)


def weigh_by_survival(log: Updates, survived_last: int) -> Updates:
    """The updates whose last scores are the sums of the scores of all weight vectors, as often as each survived."""
    survived = np.append(log.survived[1:], survived_last)[: len(log)]
    return replace(log, steps=log.steps * np.cumsum(survived[::-1])[::-1])


def run(
    degree: int, seed: int, epochs: int, jobs: int, data: tuple[Table, NDArray[np.uint8], Table, NDArray[np.uint8]]
) -> dict[str, list[float]]:
    """Each measure at each checkpoint."""
    train, y, test, expected = data
    order = np.random.default_rng(seed).permutation(train.count).astype(np.uint32)
    with ThreadPoolExecutor(jobs) as pool:
        learn = partial(learn_digit, train=train, y=y, test=test, degree=degree, order=order, epochs=epochs)
        digits = list(pool.map(learn, range(10)))
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for at in range(len(digits[0].mistakes)):
        for name in ("vote", "average", "last"):
            answer = np.argmax(np.stack([digit.scores[name][at] for digit in digits]), axis=0)
            found[name].append(100.0 * float(np.mean(answer != expected)))
        found["SupVec"].append(float(len(np.unique(np.concatenate([digit.mistaken[at] for digit in digits])))))
        found["Mistake"].append(float(sum(digit.mistakes[at] for digit in digits)))
    return found


def compare(degree: int, quick: bool) -> Found:
    """The paper's table and ours."""
    X, y, held = read_mnist()
    X = X.astype(np.float32)
    data = as_table(X[:-held]), y[:-held], as_table(X[-held:]), y[-held:]
    epochs = 1 if quick else EPOCHS.get(degree, 10)
    found = run(degree, 0, epochs, os.cpu_count() or 1, data)
    lines = []
    for measure in MEASURES:
        line: Row = {"the paper / ours": measure}
        for at, value in enumerate(found[measure]):
            published = PAPER[degree].get(measure, (None,) * len(CHECKPOINTS))[at]
            paper = "-" if published is None else f"{published:,}"
            line[f"T = {CHECKPOINTS[at]}"] = f"{paper} / {value:,.0f}" if value > 100 else f"{paper} / {value:.2f}"
        lines.append(line)
    return {f"Degree {degree}": lines}


if __name__ == "__main__":
    run_script(__doc__, {f"d{degree}": partial(compare, degree) for degree in PAPER})
