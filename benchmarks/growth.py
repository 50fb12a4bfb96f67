"""How time and memory grow with rows, columns, non-zeros, classes, vocabulary and support rows.

    python benchmarks/growth.py [PART ...] [--quick] [--json FILE]

Every other size is held. Time is CPU seconds of a fit of three epochs on one thread, beside scikit-learn's
`Perceptron`; for support rows, of predicting 1,000 rows by vote and with an RBF kernel. Memory is what the process held
at most during our fit beyond what it held before. The exponent is the slope of the line through the upper half of the
points on log axes: 1 is in proportion, 0 is constant; memory below 1 MB is left out of it. docs/growth.md extrapolates.
"""

from __future__ import annotations

import ctypes
import gc
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron as TheirPerceptron

from measure import Found, Row, run_script, take_turns
from rosenblatt import KernelPerceptron, Perceptron, VotedPerceptron
from rows import make_dense, make_text

EPOCHS = 3
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")

#: The data in memory, the rows of a size, and the sizes.
SWEEPS: dict[str, tuple[str, Callable[[int], Any], tuple[int, ...]]] = {
    "rows": ("20 columns", lambda n: make_dense(n, 20), (10_000, 100_000, 1_000_000, 3_000_000, 10_000_000)),
    "columns": ("5,000 rows", lambda n: make_dense(5_000, n), (10, 100, 1_000, 3_000, 10_000)),
    "non-zeros per row": (
        "20,000 rows, 100,000 columns",
        lambda n: make_text(20_000, 100_000, values=n),
        (8, 32, 128, 256, 512),
    ),
    "classes": ("20,000 rows, 100 columns", lambda n: make_dense(20_000, 100, n), (2, 8, 32, 128, 512)),
    "vocabulary": (
        "100,000 rows, 30 non-zeros",
        lambda n: make_text(100_000, n, values=30),
        (10_000, 100_000, 1_000_000, 10_000_000),
    ),
}
SUPPORT = (300, 1_000, 2_000, 4_000, 8_000)
COLUMNS = {"ours": "ours s", "scikit-learn": "scikit-learn s", "our memory": "our peak MB beyond it"}
FEW = 3  # sizes in the quick form
MOST_SECONDS = 10.0  # of a contestant, per size: then no further turn


def fit(kind: Any, X: Any, y: Any, seed: int = 0) -> Any:
    return kind(tol=None, max_iter=EPOCHS, random_state=seed).fit(X, y)


def measure_peak(run: Callable[[], Any]) -> float | None:
    """Megabytes that the process held at most while running, beyond what it held before; None if not on Linux.

    The least of three runs: the first one also holds what is loaded on first use.
    """
    if sys.platform != "linux":
        return None
    peaks = []
    for _ in range(3):
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what was freed before must not hide what is needed now
        CLEAR.write_text("5")  # the peak starts from here
        before = _kilobytes("VmRSS")
        run()
        peaks.append((_kilobytes("VmHWM") - before) * 1024 / 1e6)
    return max(min(peaks), 0.0)


def _kilobytes(name: str) -> int:
    match = re.search(rf"{name}:\s*(\d+)", STATUS.read_text())
    assert match is not None
    return int(match[1])


def grow(name: str, quick: bool) -> list[Row]:
    """A line per size, for both."""
    held, make, sizes = SWEEPS[name]
    lines = []
    for size in sizes[:FEW] if quick else sizes:
        X, y = make(size)
        contestants = {"ours": partial(fit, Perceptron, X, y), "theirs": partial(fit, TheirPerceptron, X, y)}
        peak = measure_peak(partial(fit, Perceptron, X, y))
        times = take_turns(contestants, 2 if quick else 3, limit=MOST_SECONDS)
        lines.append(
            {
                "against": name,
                "held": held,
                "size": X.nnz // X.shape[0] if name == "non-zeros per row" else size,
                "ours s": min(times["ours"].cpu),
                "scikit-learn s": min(times["theirs"].cpu),
                "data MB": (X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes) / 1e6,
                "our peak MB beyond it": peak,
            }
        )
    return lines


def grow_support(name: str, learner: Any, quick: bool) -> list[Row]:
    """Predicting against the rows that a learner stores: all that it was ever mistaken on."""
    lines = []
    for size in SUPPORT[:FEW] if quick else SUPPORT:
        X, y = make_dense(6 * size + 1_000, 50)
        new = X[-1_000:]
        fitted = learner().partial_fit(X[:-1_000], y[:-1_000], classes=[0, 1])
        times = take_turns({"ours": lambda seed, fitted=fitted, new=new: fitted.predict(new)}, 3)
        lines.append(
            {
                "against": name,
                "held": "1,000 rows to predict, 50 columns",
                "size": fitted.updates_,  # one pass: an update per stored row
                "ours s": min(times["ours"].cpu),
                "scikit-learn s": None,
                "data MB": fitted.updates_ * 50 * 8 / 1e6,
                "our peak MB beyond it": measure_peak(partial(fitted.predict, new)),
            }
        )
    return lines


def fit_exponents(points: list[Row]) -> Row:
    """The slope through the upper half of the points, on log axes."""
    upper = points[len(points) // 2 :] if len(points) > FEW else points[-2:]
    row: Row = {"against": points[0]["against"], "held": points[0]["held"]}
    for title, column in COLUMNS.items():
        # Linux counts memory in strides of a quarter of a megabyte: less than 1 MB shows no growth.
        least = 1.0 if "MB" in column else 0.0
        known = [(p["size"], p[column]) for p in upper if p[column] is not None and p[column] > least]
        sizes, values = np.log(known).T if len(known) > 1 else ([], [])
        row[title] = round(float(np.polyfit(sizes, values, 1)[0]), 3) + 0.0 if len(known) > 1 else None
    return row


def run(grow_one: Callable[[bool], list[Row]]) -> Callable[[bool], Found]:
    def part(quick: bool) -> Found:
        lines = grow_one(quick)
        return {"Exponents": [fit_exponents(lines)], "Sizes": lines}

    return part


if __name__ == "__main__":
    parts = {name: run(partial(grow, name)) for name in SWEEPS}
    parts["vote"] = run(partial(grow_support, "support rows, vote", VotedPerceptron))
    parts["kernel"] = run(partial(grow_support, "support rows, kernel", partial(KernelPerceptron, kernel="rbf")))
    run_script(__doc__, parts)
