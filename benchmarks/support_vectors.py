"""KernelPerceptron beside scikit-learn's SVC: the same polynomial kernel on the 60,000 rows of MNIST.

    python benchmarks/support_vectors.py                  SVC alone takes several minutes
    python benchmarks/support_vectors.py --epochs 4 --degree 3
    python benchmarks/support_vectors.py --quick          the first 6,000 rows

Pixels in [0, 1], (1 + gamma x·z)^4 with scikit-learn's gamma="scale", four epochs of ours, both CPUs where ours can.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from freund_schapire import find_mnist, read_mnist
from rosenblatt import KernelPerceptron


def measure(name: str, learner: Any, train: Any, y: Any, test: Any, expected: Any) -> dict[str, Any]:
    """Error in % and seconds; processor time counts what this program used, whatever else the machine did."""
    started, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is given
        learner.fit(train, y)
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    started = time.perf_counter()
    error = 100.0 * float(np.mean(learner.predict(test) != expected))
    support = len(learner.support_vectors_)
    result = {
        "name": name,
        "error": error,
        "fit_seconds": seconds,
        "fit_processor_seconds": processor,
        "predict_seconds": time.perf_counter() - started,
        "support": support,
    }
    print(
        f"{name:34} error {error:5.2f} %   fit {seconds:6.1f} s ({processor:6.1f} s of processor)   "
        f"predict {result['predict_seconds']:5.1f} s   {support:6d} support rows",
        flush=True,
    )
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="KernelPerceptron beside SVC on MNIST.")
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--without-svc", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the first 6,000 rows")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows = 6_000
    train_table, y, test_table, expected = read_mnist(find_mnist())
    train, test = train_table.values[: arguments.rows] / 255, test_table.values / 255
    y = y[: arguments.rows]
    kernel: dict[str, Any] = {"kernel": "poly", "degree": arguments.degree, "gamma": "scale", "coef0": 1.0}
    found = [
        measure(
            f"KernelPerceptron, {multiclass}, vote",
            KernelPerceptron(
                **kernel,
                keep="vote",
                multiclass=multiclass,
                max_iter=arguments.epochs,
                tol=None,
                n_jobs=arguments.jobs,
            ),
            train,
            y,
            test,
            expected,
        )
        for multiclass in ("joint", "ovr")
    ]
    if not arguments.without_svc:
        found.append(measure("SVC", SVC(**kernel, cache_size=1000), train, y, test, expected))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
