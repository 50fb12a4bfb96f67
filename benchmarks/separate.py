"""How soon a separating hyperplane is found: `separate` against plain cycling and against scikit-learn.

200,000 rows of 50 normal features, those within 0.02 of a random hyperplane left out. Each contestant learns until
its weights get every row right; scikit-learn, which does not stop there, is asked after every epoch, and the time of
asking is not counted. CPU seconds of one core, the best of a few runs, taken by turns; `times` is how many times as
long as `separate` it took. `--quick` takes a tenth of the rows and asks scikit-learn for five seconds only.

    python benchmarks/separate.py [--quick] [--json FILE]
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

from measure import save, show
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20,000 rows, 2 repeats, a limit of 5 seconds")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--margin", type=float, default=0.02)
    parser.add_argument("--repeats", type=int, help="runs of each of ours, the best counts")
    parser.add_argument("--limit", type=float, help="seconds after which scikit-learn is stopped")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    rows = args.rows or (20_000 if args.quick else 200_000)
    repeats = args.repeats or (2 if args.quick else 3)
    limit = args.limit or (5.0 if args.quick else 300.0)
    X, y = make_rows(rows, args.features, args.margin)
    found = []
    for name, table in (
        ("dense float64", X),
        ("dense float32", X.astype(np.float32)),
        ("CSR float64", sparse.csr_array(X)),
    ):
        contestants = {
            "separate": run_separate,
            "Perceptron, in order": run_cycling(False),
            "Perceptron, shuffled": run_cycling(True),
        }
        runs: dict[str, list[tuple[float, str]]] = {title: [] for title in contestants}
        for _ in range(repeats):
            for title, run in contestants.items():
                runs[title].append(run(table, y))
        runs["scikit-learn's Perceptron"] = [run_theirs(limit)(table, y)]
        base = min(seconds for seconds, _ in runs["separate"])
        for title, results in runs.items():
            seconds = min(s for s, _ in results)
            found.append(
                {
                    "data": f"{name}, {len(y):,} x {args.features}, margin {args.margin}",
                    "who": title,
                    "best s": seconds,
                    "times": seconds / base,
                    "how": results[0][1],
                }
            )
        show(name, found[-len(runs) :])
    save(args.json, {"separate": found})


if __name__ == "__main__":
    main()
