"""One online pass over MNIST, beside the figures of Crammer et al. (2006): (0.5 + x·z)^5, PA-I with C = 100.

    python benchmarks/crammer.py [--quick] [--json FILE]

Columns are centered, then all rows scaled so that the mean of their squared norms is 1; the rows come in the order of
the file. A wrong class that scores as high as the right one is a mistake; the highest wrong class pays for it.
`--quick` runs the perceptron alone.
"""

from __future__ import annotations

import time

import numpy as np

from fetch import read_mnist
from measure import Found, run_script
from rosenblatt import KernelPerceptron

PAPER = {"perceptron": 2782, "PA-I": 1623}


def compare(quick: bool) -> Found:
    X, y, held = read_mnist()
    X = X[:-held].astype(np.float64)
    X -= X.mean(axis=0)
    X /= np.sqrt((X**2).sum(axis=1).mean())
    lines = []
    for rule, published in list(PAPER.items())[: 1 if quick else None]:
        learner = KernelPerceptron(
            kernel="poly", gamma=1.0, coef0=0.5, degree=5, fit_intercept=False, rule=rule, C=100.0
        )
        used = time.process_time()
        learner.partial_fit(X, y[:-held])
        figures = {"mistakes": learner.mistakes_, "updates": learner.updates_, "CPU s": time.process_time() - used}
        lines.append({"rule": rule, "mistakes in the paper": published, **figures})
    return {"One pass": lines}


if __name__ == "__main__":
    run_script(__doc__, {"crammer": compare})
