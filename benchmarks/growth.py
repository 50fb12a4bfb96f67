"""How time and memory grow with rows, features, values a row, classes and support rows.

    python benchmarks/growth.py [--quick] [--json FILE]

Every other size is held. Time is CPU seconds of a fit of three epochs, one thread, the best of turns with
scikit-learn's `Perceptron`; for support rows, of predicting 1,000 rows by vote and with an RBF kernel. Memory is what
the process held at most during our fit beyond what it held before. The exponent is the slope of the line through the
upper half of the points on log axes: 1 is in proportion, 0 is not at all; memory below 1 MB is left out of it.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import re
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron

from measure import save, show, take_turns
from rosenblatt import KernelPerceptron, Perceptron, VotedPerceptron
from rows import make_dense, make_text

EPOCHS = 3
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def grow_rows(n: int) -> tuple[Any, Any]:
    return make_dense(n, 20)


def grow_features(n: int) -> tuple[Any, Any]:
    return make_dense(5_000, n)


def grow_values(n: int) -> tuple[Any, Any]:
    return make_text(20_000, 100_000, values=n)


def grow_classes(n: int) -> tuple[Any, Any]:
    return make_dense(20_000, 100, classes=n)


SWEEPS: dict[str, tuple[str, Callable[[int], tuple[Any, Any]], tuple[int, ...], tuple[int, ...]]] = {
    "rows": ("20 features", grow_rows, (1_000, 10_000, 100_000, 300_000, 1_000_000), (1_000, 10_000, 100_000)),
    "features": ("5,000 rows", grow_features, (10, 100, 1_000, 3_000, 10_000), (10, 100, 1_000)),
    "values a row": ("20,000 rows, 100,000 features", grow_values, (8, 32, 128, 256, 512), (8, 32, 128)),
    "classes": ("20,000 rows, 100 features", grow_classes, (2, 8, 32, 64, 128), (2, 8, 32)),
}
SUPPORT = (300, 1_000, 2_000, 4_000, 8_000), (300, 1_000, 3_000)


def fit(kind: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kind(tol=None, max_iter=EPOCHS).fit(X, y)


def measure_peak(run: Callable[[], Any]) -> float | None:
    """Bytes that the process held at most while running, beyond what it held before; None where Linux is not.

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
        peaks.append(1024.0 * (_kilobytes("VmHWM") - before))
    return max(min(peaks), 0.0)


def _kilobytes(name: str) -> int:
    match = re.search(rf"{name}:\s*(\d+)", STATUS.read_text())
    assert match is not None
    return int(match[1])


def grow(name: str, quick: bool, repeats: int) -> list[dict[str, Any]]:
    """One line a size, for both."""
    held, make, full, few = SWEEPS[name]
    lines = []
    for size in few if quick else full:
        X, y = make(size)
        peak = measure_peak(partial(fit, Perceptron, X, y))
        times = take_turns(
            {
                "theirs": partial(fit, TheirPerceptron, X, y),
                "ours": partial(fit, Perceptron, X, y),
            },
            repeats,
        )
        lines.append(
            {
                "against": name,
                "held": held,
                "size": X.nnz // X.shape[0] if name == "values a row" else size,
                "ours s": times["ours"].best,
                "scikit-learn s": times["theirs"].best,
                "data MB": (X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes) / 1e6,
                "our peak MB beyond it": None if peak is None else peak / 1e6,
            }
        )
    return lines


def grow_support(name: str, make: Callable[[], Any], quick: bool, repeats: int) -> list[dict[str, Any]]:
    """Predicting against the rows that a learner stores: all that it was ever mistaken on."""
    lines = []
    for size in SUPPORT[1] if quick else SUPPORT[0]:
        X, y = make_dense(6 * size + 1_000, 50)
        asked = X[-1_000:]
        learner = make().partial_fit(X[:-1_000], y[:-1_000], classes=[0, 1])
        seconds = take_turns({"ours": partial(learner.predict, asked)}, repeats)["ours"].best
        peak = measure_peak(partial(learner.predict, asked))
        lines.append(
            {
                "against": name,
                "held": "1,000 rows to predict, 50 features",
                "size": learner.updates_,  # one pass: an update a stored row
                "ours s": seconds,
                "scikit-learn s": None,
                "data MB": learner.updates_ * 50 * 8 / 1e6,
                "our peak MB beyond it": None if peak is None else peak / 1e6,
            }
        )
    return lines


def fit_exponents(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The slope through the upper half of the points, on log axes."""
    found = []
    for name in dict.fromkeys(line["against"] for line in lines):
        points = [line for line in lines if line["against"] == name]
        upper = points[len(points) // 2 :] if len(points) > 3 else points[-2:]
        row: dict[str, Any] = {"against": name, "held": points[0]["held"]}
        for column in ("ours s", "scikit-learn s", "our peak MB beyond it"):
            # Linux counts memory in strides of a quarter of a megabyte: less than 1 MB shows no growth.
            least = 1.0 if "MB" in column else 0.0
            known = [(p["size"], p[column]) for p in upper if p[column] is not None and p[column] > least]
            title = column.removesuffix(" s").replace("our peak MB beyond it", "our memory")
            sizes, values = np.log(known).T if len(known) > 1 else ([], [])
            row[title] = round(float(np.polyfit(sizes, values, 1)[0]), 3) + 0.0 if len(known) > 1 else None
        found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three sizes each, and two turns")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    args = parser.parse_args()
    repeats = 2 if args.quick else 3
    lines: list[dict[str, Any]] = []
    for name in SWEEPS:
        lines += grow(name, args.quick, repeats)
    lines += grow_support("support rows, vote", VotedPerceptron, args.quick, repeats)
    lines += grow_support("support rows, kernel", lambda: KernelPerceptron(kernel="rbf"), args.quick, repeats)
    show("Growth", lines)
    exponents = fit_exponents(lines)
    show("Exponents", exponents)
    save(args.json, {"exponents": exponents, "sizes": lines})


if __name__ == "__main__":
    main()
