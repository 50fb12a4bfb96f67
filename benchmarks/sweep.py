"""Sixteen learners side by side against one after another: the time of `Sweep`, and that both give the same bits.

    python benchmarks/sweep.py [--quick] [--json FILE]

The rows are random, 60,000 x 784 float32, with labels by a noisy linear rule; three epochs each. Wall seconds, since
the last row uses all CPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from measure import Found, as_rows, run_script, take_turns
from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, Sweep
from rows import make_dense

EPOCHS: dict[str, Any] = {"max_iter": 3, "tol": None}


def make_learners() -> list[Any]:
    """Sixteen of the family."""
    return [
        *(PassiveAggressive(C=C, keep="average", **EPOCHS) for C in (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)),
        *(PassiveAggressive(variant="PA-II", C=C, **EPOCHS) for C in (1e-3, 1e-2, 1e-1)),
        *(AROW(r=r, **EPOCHS) for r in (1.0, 10.0, 100.0)),
        AveragedPerceptron(**EPOCHS),
        *(Perceptron(eta0=eta0, **EPOCHS) for eta0 in (0.1, 1.0, 10.0)),
    ]


def compare(quick: bool) -> Found:
    rows = 6_000 if quick else 60_000
    X, y = make_dense(rows, 784)
    X = X.astype(np.float32)
    fitted: dict[int, list[Any]] = {}

    def run_alone(seed: int) -> None:
        fitted[0] = [clone(learner).set_params(early_stopping=True).fit(X, y) for learner in make_learners()]

    def run_sweep(n_jobs: int) -> None:
        fitted[n_jobs] = Sweep(make_learners(), n_jobs=n_jobs).fit(X, y).learners_

    contestants = {
        "rosenblatt Sweep, one thread": lambda seed: run_sweep(1),
        "rosenblatt Sweep, all CPUs": lambda seed: run_sweep(-1),
        "rosenblatt, one after another": run_alone,
    }
    times = take_turns(contestants, 2 if quick else 7)
    for n_jobs in (1, -1):
        for alone, beside in zip(fitted[0], fitted[n_jobs], strict=True):
            assert np.array_equal(alone.coef_, beside.coef_), "other weights than alone"
    return {"16 learners, by wall time": as_rows(times, {"data": f"{rows:,} x 784 float32"}, clock="wall")}


if __name__ == "__main__":
    run_script(__doc__, {"sweep": compare})
