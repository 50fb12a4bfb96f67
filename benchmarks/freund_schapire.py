"""Voted perceptrons with polynomial kernels on MNIST, beside the figures of Freund and Schapire (1999).

    python benchmarks/freund_schapire.py                  d = 1..6, one permutation, 10 epochs, 30 for d = 2
    python benchmarks/freund_schapire.py --degrees 4 --epochs 30
    python benchmarks/freund_schapire.py --quick          d = 2, one epoch
    python benchmarks/freund_schapire.py --runs 10        the mean of ten permutations, as in the paper

Ten one-vs-rest problems, K(x, z) = (1 + x·z)^d on raw pixels, the same order of the rows in every epoch. An epoch of
0.1 is the first 6,000 rows. Every cell reads: the paper / this run. SupVec counts the rows ever mistaken, over all
classes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.table import Table, as_table
from rosenblatt.learners.support import Support, SupportState
from rosenblatt.learners.targets import Targets
from rosenblatt.models.predictors import Kernel, walk
from rosenblatt.params import Rule

CHECKPOINTS = (0.1, 1, 2, 3, 4, 10, 30)
MEASURES = ("vote", "average", "last", "SupVec", "Mistake")
FIRST_ROWS = 6_000

# Freund and Schapire (1999), table 1, for the checkpoints above; None where it has no figure.
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


def find_mnist() -> Path:
    root = os.environ.get("ROSENBLATT_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(root) / "mnist"
    if not folder.is_dir():
        print(f"left out: MNIST is not in {folder}; set ROSENBLATT_DATA to the folder that holds mnist/")
        raise SystemExit(0)
    return folder


def read_mnist(folder: Path) -> tuple[Table, NDArray[np.uint8], Table, NDArray[np.uint8]]:
    def images(name: str) -> Table:
        with gzip.open(folder / f"{name}-images-idx3-ubyte.gz") as file:
            return as_table(np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32))

    def labels(name: str) -> NDArray[np.uint8]:
        with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz") as file:
            return np.frombuffer(file.read(), np.uint8, offset=8)

    return images("train"), labels("train"), images("t10k"), labels("t10k")


def learn_digit(
    digit: int, train: Table, y: NDArray[np.uint8], test: Table, degree: int, order: NDArray[np.uint32], epochs: int
) -> Digit:
    kernel = Kernel("poly", gamma=1.0, coef0=1.0, degree=degree)
    state = SupportState.begin(
        1,
        keep="vote",
        kernel=kernel,
        fit_intercept=False,
        support=Support(precomputed=False),
        cache_bytes=0,
        generator=engine.seed_generator(0),
    )
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
    SupportState.leave([state])
    # What was known at a checkpoint is the beginning of the list of updates; one kernel matrix serves all of them.
    logs = tuple(state.log.first(length) for length in lengths)
    walked = walk(kernel, test, state.support.rows, logs, tuple(survived), 1, False, with_sums=True, with_votes=True)
    scores = {name: [each[at][:, 0] for each in walked] for at, name in enumerate(("last", "average", "vote"))}
    return Digit(scores, mistakes, mistaken)


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


def render(degree: int, found: dict[str, list[float]], seconds: float) -> str:
    times = CHECKPOINTS[: len(found["vote"])]
    lines = [f"d = {degree}    {seconds:.0f} s a run", f"{'T':>9}" + "".join(f"{t:>18}" for t in times)]
    for name in MEASURES:
        cells = []
        for at, value in enumerate(found[name]):
            published = PAPER[degree].get(name, (None,) * len(CHECKPOINTS))[at]
            digits = 0 if name in ("SupVec", "Mistake") else 2
            paper = "-" if published is None else f"{published:.{1 if digits else 0}f}"
            cells.append(f"{f'{paper} / {value:.{digits}f}':>18}")
        lines.append(f"{name:>9}" + "".join(cells))
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Freund and Schapire (1999) on MNIST: the paper / this run.")
    parser.add_argument("--degrees", type=int, nargs="+", default=sorted(PAPER), choices=sorted(PAPER))
    parser.add_argument("--epochs", type=int, help="10 by default, and 30 for d = 2; 30 fills the last column")
    parser.add_argument("--runs", type=int, default=1, help="permutations to take the mean of")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--quick", action="store_true", help="d = 2 and one epoch")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.degrees, arguments.epochs = [2], 1
    data = read_mnist(find_mnist())
    report: list[dict[str, Any]] = []
    for degree in arguments.degrees:
        started = time.perf_counter()
        epochs = arguments.epochs or (30 if degree == 2 else 10)
        runs = [run(degree, seed, epochs, arguments.jobs, data) for seed in range(arguments.runs)]
        seconds = (time.perf_counter() - started) / arguments.runs
        found = {name: np.mean([r[name] for r in runs], axis=0).tolist() for name in MEASURES}
        print(render(degree, found, seconds), flush=True)
        times = CHECKPOINTS[: len(found["vote"])]
        report.append({"degree": degree, "epochs": times, "seconds": seconds, "runs": arguments.runs, "found": found})
    if arguments.json:
        arguments.json.write_text(json.dumps({"paper": PAPER, "checkpoints": CHECKPOINTS, "results": report}, indent=1))


if __name__ == "__main__":
    main()
