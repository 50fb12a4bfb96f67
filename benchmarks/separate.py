"""How soon a separating hyperplane is found: `separate` beside plain cycling and scikit-learn.

    python benchmarks/separate.py [--quick] [--json FILE]

200,000 rows of 50 normal features, those within 0.02 of a random hyperplane left out, drawn anew in each turn. Each
contestant learns until its weights get every row right. scikit-learn does not stop there: it learns an epoch at a time
and is checked after each, and the checks are not in its time. `updates` are those of the last turn.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron as TheirPerceptron

from measure import Found, Row, Times, as_rows, count_turns, run_script
from rosenblatt import Perceptron
from rosenblatt.theory import separate

LIMIT = 60.0  # seconds after which scikit-learn is stopped


def make_rows(rows: int, features: int, margin: float, seed: int) -> tuple[Any, Any]:
    """Normal rows that a hyperplane through the origin separates with the given margin."""
    rng = np.random.default_rng(seed)
    plane = rng.normal(size=features)
    plane /= np.linalg.norm(plane)
    X = rng.normal(size=(round(1.2 * rows), features))
    X = X[np.abs(X @ plane) >= margin][:rows]
    return X, np.where(X @ plane > 0, 1, -1)


def run_cycling(X: Any, y: Any, shuffle: bool) -> str:
    learner = Perceptron(shuffle=shuffle, tol=None, max_iter=100_000).fit(X, y)
    assert learner.converged_
    return f"{learner.n_iter_} epochs, {learner.updates_:,} updates"


def run_separate(X: Any, y: Any) -> str:
    plane = separate(X, y)
    assert plane.converged
    return f"{plane.passes} passes, {plane.updates:,} updates, {plane.support:,} rows ever mistaken"


def run_theirs(X: Any, y: Any, runs: Times) -> str:
    """An epoch at a time; adds the seconds of the epochs alone."""
    learner = TheirPerceptron(max_iter=1, tol=None, warm_start=True)
    wall = cpu = 0.0
    epochs, wrong = 0, len(y)
    while wrong and wall < LIMIT:
        started, used = time.perf_counter(), time.process_time()
        learner.fit(X, y)
        wall, cpu = wall + time.perf_counter() - started, cpu + time.process_time() - used
        epochs += 1
        wrong = int((learner.predict(X) != y).sum())
    runs.wall.append(wall)
    runs.cpu.append(cpu)
    return f"{epochs} epochs, {f'still {wrong} errors' if wrong else 'no errors'}"


def compare(quick: bool) -> Found:
    rows, turns = (20_000, 2) if quick else (200_000, 3)
    lines: list[Row] = []
    for name, convert in {
        "dense float64": np.asarray,
        "dense float32": np.float32,
        "CSR float64": sparse.csr_array,
    }.items():
        contestants = {
            "rosenblatt.theory.separate": run_separate,
            "rosenblatt Perceptron, in order": lambda X, y: run_cycling(X, y, False),
            "rosenblatt Perceptron, shuffled": lambda X, y: run_cycling(X, y, True),
        }
        times = {who: Times() for who in [*contestants, "scikit-learn Perceptron"]}
        how = {}
        for turn in range(count_turns(turns)):
            X, y = make_rows(rows, 50, 0.02, turn)
            X = convert(X)
            for who, contestant in contestants.items():
                started, used = time.perf_counter(), time.process_time()
                how[who] = contestant(X, y)
                times[who].cpu.append(time.process_time() - used)
                times[who].wall.append(time.perf_counter() - started)
            if turn == 0:
                how["scikit-learn Perceptron"] = run_theirs(X, y, times["scikit-learn Perceptron"])
        data = f"{name}, {rows:,} x 50"
        lines += [{**row, "how": how[row["who"]]} for row in as_rows(times, {"data": data})]
    return {"Until no row is wrong": lines}


if __name__ == "__main__":
    run_script(__doc__, {"separate": compare})
