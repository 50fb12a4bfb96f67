"""Strips of rows beside a full shuffle: is what is learned as accurate, however the rows were sorted?

    python benchmarks/orders.py [SET ...] [--quick] [--json FILE]

The training rows of each set are sorted by label, and by the column that varies most. Both orders learn the same rows
from ten seeds each; the difference of their mean test accuracies is given in standard errors. A window is a 16th of
the rows, or what the library takes where that is less, so that small sets are cut into windows too.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import Any

import numpy as np

from accuracy import SETS
from measure import save, show
from rosenblatt import AveragedPerceptron, Perceptron, engine

WINDOW, WINDOWS = engine.WINDOW, 16
LEARNERS = {
    "Perceptron": lambda **told: Perceptron(max_iter=5, tol=None, **told),
    "averaged": lambda **told: AveragedPerceptron(max_iter=5, tol=None, **told),
    "averaged, one epoch": lambda **told: AveragedPerceptron(max_iter=1, tol=None, **told),
}


def sorted_by(X: Any, y: Any, by: str) -> Any:
    """The places of the rows in their order by label or by the column that varies most."""
    if by == "label":
        return np.argsort(y, kind="stable")
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X.multiply(X) if hasattr(X, "multiply") else X * X).mean(axis=0)).ravel()
    column = int(np.argmax(square - mean**2))
    values = X[:, [column]].toarray() if hasattr(X, "toarray") else X[:, [column]]
    return np.argsort(np.asarray(values).ravel(), kind="stable")


def compare(name: str, seeds: int) -> list[dict[str, Any]]:
    """A line for each way to sort and each learner."""
    X, X_test, y, y_test = SETS[name]()
    lines = []
    window = engine.WINDOW = min(WINDOW, max(64, len(y) // WINDOWS))
    for by in ("label", "column"):
        order = sorted_by(X, y, by)
        for learner, make in LEARNERS.items():
            scores = {
                shuffle: [
                    float(
                        np.mean(make(random_state=s, shuffle=shuffle).fit(X[order], y[order]).predict(X_test) == y_test)
                    )
                    for s in range(seeds)
                ]
                for shuffle in (True, "rows")
            }
            strips, rows = scores[True], scores["rows"]
            error = math.sqrt((np.var(strips, ddof=1) + np.var(rows, ddof=1)) / seeds)
            lines.append(
                {
                    "set": name,
                    "rows": len(y),
                    "window": window,
                    "sorted by": by,
                    "learner": learner,
                    "strips %": 100 * float(np.mean(strips)),
                    "full %": 100 * float(np.mean(rows)),
                    "difference in errors": (float(np.mean(strips)) - float(np.mean(rows))) / error if error else 0.0,
                }
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=list(SETS), metavar="SET", help="all by default")
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name in args.sets:
        lines = compare(name, 2 if args.quick else 10)
        show(name, lines)
        found += lines
    save(args.json, {"lines": found})


if __name__ == "__main__":
    main()
