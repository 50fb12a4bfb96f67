"""KernelPerceptron beside scikit-learn's SVC: the same polynomial kernel on MNIST.

    python benchmarks/support_vectors.py [--quick] [--json FILE]

20,000 rows drawn anew in each of three turns, pixels in [0, 1], (1 + gamma x·z)^4 with scikit-learn's gamma="scale",
four epochs of ours, everything on one thread. The error is that on the 10,000 test rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from fetch import read_mnist
from measure import Found, as_rows, run_script, take_turns
from rosenblatt import KernelPerceptron

KERNEL: dict[str, Any] = {"kernel": "poly", "degree": 4, "gamma": "scale", "coef0": 1.0}


def compare(quick: bool) -> Found:
    rows = 2_000 if quick else 20_000
    X, y, held = read_mnist()
    X = X / 255.0

    def draw(seed: int) -> tuple[Any, Any]:
        chosen = np.random.default_rng(seed).permutation(len(y) - held)[:rows]
        return X[chosen], y[chosen]

    draws = [draw(seed) for seed in range(3)]
    ours = {"keep": "vote", "max_iter": 4, "tol": None}
    support: dict[str, int] = {}
    makers = {
        "rosenblatt KernelPerceptron, joint, vote": lambda: KernelPerceptron(**KERNEL, **ours),
        "rosenblatt KernelPerceptron, one-vs-rest, vote": lambda: KernelPerceptron(**KERNEL, **ours, multiclass="ovr"),
        "scikit-learn SVC": lambda: SVC(**KERNEL, cache_size=1000),
    }

    def score(model: Any) -> float:
        support[type(model).__name__ + str(getattr(model, "multiclass", ""))] = len(model.support_vectors_)
        return 100 * float(np.mean(model.predict(X[-held:]) != y[-held:]))

    fits = {who: lambda seed, make=make: make().fit(*draws[seed]) for who, make in makers.items()}
    table = as_rows(take_turns(fits, 1 if quick else 3, score), {"data": f"MNIST, {rows:,} rows"})
    return {"Kernels": [{**row, "support rows": n} for row, n in zip(table, support.values(), strict=True)]}


if __name__ == "__main__":
    run_script(__doc__, {"kernels": compare})
