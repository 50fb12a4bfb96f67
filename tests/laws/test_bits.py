"""The same data, options and seed give the same bits within a minor release: hashes of scores, rule x keep x layout.

After a change that is meant to change bits: ``python tests/laws/test_bits.py`` writes tests/laws/bits.json anew; the
changelog says so.
"""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from rosenblatt import AROW, KernelPerceptron, NormalizedPerceptron, PassiveAggressive, Perceptron

RECORDED = Path(__file__).with_name("bits.json")
FEW = {"max_iter": 4, "tol": None}
RULES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "perceptron": (lambda keep: Perceptron(keep=keep, **FEW), ("last", "average", "tail", "vote", "pocket")),
    "margin": (lambda keep: Perceptron(beta=1.0, eta0=0.5, keep=keep, **FEW), ("last", "average")),
    "l2": (lambda keep: Perceptron(penalty="l2", alpha=0.01, keep=keep, **FEW), ("last", "average")),
    "normalized": (lambda keep: NormalizedPerceptron(keep=keep, **FEW), ("last",)),
    "PA": (lambda keep: PassiveAggressive(variant="PA", keep=keep, **FEW), ("last", "vote")),
    "PA-I": (lambda keep: PassiveAggressive(C=0.1, keep=keep, **FEW), ("last", "average")),
    "PA-II": (lambda keep: PassiveAggressive(variant="PA-II", C=0.1, keep=keep, **FEW), ("last", "pocket")),
    "AROW": (lambda keep: AROW(keep=keep, **FEW), ("last", "average")),
    "kernel": (lambda keep: KernelPerceptron(kernel="poly", degree=2, keep=keep, **FEW), ("last", "average", "vote")),
}
LAYOUTS: dict[str, Any] = {
    "dense float64": np.asarray,
    "dense float32": lambda X: X.astype(np.float32),
    "sparse float64": sp.csr_array,
}


def rows(classes: int) -> tuple[Any, Any]:
    """A table made of whole numbers, so that it is the same everywhere."""
    i, j = np.arange(150)[:, None], np.arange(9)[None, :]
    X = ((i * i * 7919 + i * j * 104729 + j * 1299709) % 1009 % 33 - 16) / 8.0
    X[X < -1.5] = 0
    return X, ((X @ np.arange(-4, 5) > 0).astype(int) + (X[:, 0] > 0.7)) % classes


def hashes() -> dict[str, str]:
    found = {}
    for name, (make, keeps) in RULES.items():
        for keep in keeps:
            for layout, convert in LAYOUTS.items():
                X, y = rows(2 if keep == "tail" else 3)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    learner = make(keep).fit(convert(X), y)
                scores = np.ascontiguousarray(learner.decision_function(convert(X)), dtype="<f8")
                digest = hashlib.sha256(scores.tobytes() + repr(learner.history_.mistakes).encode()).hexdigest()
                found[f"{name}, {keep}, {layout}"] = digest[:16]
    return found


def test_bits_are_as_recorded() -> None:
    assert hashes() == json.loads(RECORDED.read_text())


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(hashes(), indent=1) + "\n")
