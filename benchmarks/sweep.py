"""Sixteen learners side by side against one after another: the time of `Sweep`, and that both give the same bits.

    python benchmarks/sweep.py [--rows 60000] [--features 784] [--classes 2] [--quick] [--json FILE]

The rows are random, float32, with labels by a noisy linear rule; three epochs each. Seconds by the clock, by turns.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from measure import Times, compare, save, show, take_turns
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


#: The least ratio that the project promises, on all CPUs.
BAR = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="2 turns instead of 7")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    generator = np.random.default_rng(0)
    X = generator.standard_normal((args.rows, args.features), np.float32)
    truth = generator.standard_normal((args.features, args.classes), np.float32)
    noise = generator.standard_normal((args.rows, args.classes), np.float32) * np.sqrt(args.features)
    y = np.argmax(X @ truth + noise, axis=1)

    fitted: dict[str, list[Any]] = {}

    def run_alone() -> None:
        fitted["one after another"] = [clone(learner).fit(X, y) for learner in learners()]

    def run_sweep(name: str, n_jobs: int) -> None:
        fitted[name] = Sweep(learners(), choose="progressive", n_jobs=n_jobs).fit(X, y).learners_

    times = take_turns(
        {
            "one after another": run_alone,
            "Sweep, one thread": partial(run_sweep, "Sweep, one thread", 1),
            "Sweep, all CPUs": partial(run_sweep, "Sweep, all CPUs", -1),
        },
        2 if args.quick else 7,
    )
    alone = fitted["one after another"]
    lines = []
    for name, each in times.items():
        same = all(np.array_equal(a.coef_, b.coef_) for a, b in zip(alone, fitted[name], strict=True))
        assert same, f"{name}: other weights than alone"
        ratio = compare(Times(cpu=each.wall), Times(cpu=times["one after another"].wall)).columns()
        lines.append(
            {
                "16 learners": name,
                "best s": min(each.wall),
                "median s": float(np.median(each.wall)),
                **(dict.fromkeys(ratio) if name == "one after another" else ratio),
                "bar": BAR if name == "Sweep, all CPUs" else None,
                "same bits": same,
            }
        )
    title = f"{args.rows:,} x {args.features}, float32, {args.classes} classes"
    show(title, lines)
    if args.json:
        save(args.json, {title: lines})


if __name__ == "__main__":
    main()
