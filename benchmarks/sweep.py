"""Sixteen learners side by side against one after another: the time of `Sweep`, and that both give the same bits.

    python benchmarks/sweep.py [--rows 60000] [--features 784] [--classes 2]

The rows are random, float32, with labels by a noisy linear rule; three epochs each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, Sweep

EPOCHS: dict[str, Any] = {"max_iter": 3, "tol": None}


def learners() -> list[Any]:
    """Sixteen of the family."""
    return [
        *(PassiveAggressive(C=C, keep="average", **EPOCHS) for C in (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)),
        *(PassiveAggressive(variant="PA-II", C=C, **EPOCHS) for C in (1e-3, 1e-2, 1e-1)),
        *(AROW(r=r, **EPOCHS) for r in (1.0, 10.0, 100.0)),
        AveragedPerceptron(**EPOCHS),
        *(Perceptron(eta0=eta0, **EPOCHS) for eta0 in (0.1, 1.0, 10.0)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--classes", type=int, default=2)
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((args.rows, args.features), np.float32)
    truth = generator.standard_normal((args.features, args.classes), np.float32)
    noise = generator.standard_normal((args.rows, args.classes), np.float32) * np.sqrt(args.features)
    y = np.argmax(X @ truth + noise, axis=1)

    started = time.perf_counter()
    alone = [clone(learner).fit(X, y) for learner in learners()]
    one_by_one = time.perf_counter() - started
    print(f"one after another  {one_by_one:7.2f} s")
    for n_jobs in (1, -1):
        started = time.perf_counter()
        sweep = Sweep(learners(), choose="progressive", n_jobs=n_jobs).fit(X, y)
        seconds = time.perf_counter() - started
        same = all(np.array_equal(a.coef_, b.coef_) for a, b in zip(alone, sweep.learners_, strict=True))
        threads = "one thread" if n_jobs == 1 else "all CPUs"
        print(f"Sweep, {threads:<10}  {seconds:7.2f} s  {one_by_one / seconds:.1f} times faster, same bits: {same}")


if __name__ == "__main__":
    main()
