"""How soon a separating hyperplane is found: `separate` against plain cycling and against scikit-learn.

200,000 rows of 50 normal features, those within 0.02 of a random hyperplane left out. Each contestant learns until
its weights get every row right; scikit-learn, which does not stop there, is asked after every epoch, and the time of
asking is not counted. CPU seconds of one core, the best of a few runs. Run it with ``python benchmarks/separate.py``.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron as TheirPerceptron

from rosenblatt.learners import Perceptron
from rosenblatt.theory import separate


def make_rows(n: int, d: int, margin: float, seed: int = 0) -> tuple[Any, Any]:
    """Normal rows that a hyperplane through the origin separates with the given margin."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(round(1.2 * n), d))
    X = X[np.abs(X @ u) >= margin][:n]
    return X, np.where(X @ u > 0, 1, -1)


def run_separate(X: Any, y: Any) -> tuple[float, str]:
    started = time.process_time()
    plane = separate(X, y)
    seconds = time.process_time() - started
    assert plane.converged
    return seconds, f"{plane.passes} passes, {plane.updates:,} updates, {plane.support:,} rows ever mistaken"


def run_cycling(shuffle: bool) -> Callable[[Any, Any], tuple[float, str]]:
    def run(X: Any, y: Any) -> tuple[float, str]:
        learner = Perceptron(shuffle=shuffle, tol=None, max_iter=100_000)
        started = time.process_time()
        learner.fit(X, y)
        seconds = time.process_time() - started
        assert learner.converged_
        return seconds, f"{learner.n_iter_} epochs, {learner.updates_:,} updates"

    return run


def run_theirs(limit: float) -> Callable[[Any, Any], tuple[float, str]]:
    def run(X: Any, y: Any) -> tuple[float, str]:
        learner = TheirPerceptron(max_iter=1, tol=None, warm_start=True)
        seconds, epochs, wrong = 0.0, 0, len(y)
        while wrong and seconds < limit:
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                learner.fit(X, y)
            seconds += time.process_time() - started
            epochs += 1
            wrong = int((learner.predict(X) != y).sum())
        state = "no errors" if not wrong else f"still {wrong} errors"
        return seconds, f"{epochs} epochs, {state}"

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--margin", type=float, default=0.02)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each of ours, the best counts")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which scikit-learn is stopped")
    args = parser.parse_args()
    X, y = make_rows(args.rows, args.features, args.margin)
    for name, table in (
        ("dense float64", X),
        ("dense float32", X.astype(np.float32)),
        ("CSR float64", sparse.csr_array(X)),
    ):
        print(f"{name}, {len(y):,} x {args.features}, margin {args.margin}")
        base = 0.0
        contestants = [
            ("separate", run_separate, args.repeats),
            ("Perceptron, in order", run_cycling(False), args.repeats),
            ("Perceptron, shuffled", run_cycling(True), args.repeats),
            ("scikit-learn's Perceptron", run_theirs(args.limit), 1),
        ]
        for title, run, repeats in contestants:
            results = [run(table, y) for _ in range(repeats)]
            seconds = min(s for s, _ in results)
            base = base or seconds
            print(f"  {title:26} {seconds:9.3f} s  {seconds / base:7.1f} x   {results[0][1]}", flush=True)


if __name__ == "__main__":
    main()
