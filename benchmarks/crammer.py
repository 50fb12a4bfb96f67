"""One online pass over MNIST, beside the figures of Crammer et al. (2006): (0.5 + x·z)^5, PA-I with C = 100.

    python benchmarks/crammer.py
    python benchmarks/crammer.py --quick    the perceptron alone

Columns are centered, then all rows scaled so that the mean of their squared norms is 1; the rows come in the order of
the file. A wrong class that scores as high as the right one is a mistake; the highest wrong class pays for it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from freund_schapire import find_mnist, read_mnist
from rosenblatt import KernelPerceptron

PAPER = {"perceptron": 2782, "PA-I": 1623}


def main() -> None:
    parser = argparse.ArgumentParser(description="Crammer et al. (2006) on MNIST: the paper / this run.")
    parser.add_argument("--quick", action="store_true", help="the perceptron alone")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    table, y, _, _ = read_mnist(find_mnist())
    X = table.values.astype(np.float64)
    X -= X.mean(axis=0)
    X /= np.sqrt((X**2).sum(axis=1).mean())
    found: dict[str, dict[str, Any]] = {}
    for rule, published in list(PAPER.items())[: 1 if arguments.quick else None]:
        learner = KernelPerceptron(
            kernel="poly", gamma=1.0, coef0=0.5, degree=5, fit_intercept=False, rule=rule, C=100.0
        )
        started = time.perf_counter()
        learner.partial_fit(X, y)
        seconds = time.perf_counter() - started
        mistakes = learner.mistakes_
        found[rule] = {"paper": published, "mistakes": mistakes, "updates": learner.updates_, "seconds": seconds}
        print(
            f"{rule:>10}   online mistakes {published} / {mistakes} ({100 * mistakes / published - 100:+.1f} %)   "
            f"{learner.updates_} updates   {seconds:.0f} s",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
