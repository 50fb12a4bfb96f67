"""Published figures on MNIST: Freund and Schapire (1999) and Crammer et al. (2006)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rosenblatt import KernelPerceptron


def read(folder: Path, name: str) -> tuple[Any, Any]:
    with (
        gzip.open(folder / "mnist" / f"{name}-images-idx3-ubyte.gz") as images,
        gzip.open(folder / "mnist" / f"{name}-labels-idx1-ubyte.gz") as labels,
    ):
        X = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
        return X, np.frombuffer(labels.read(), np.uint8, offset=8)


@pytest.mark.slow
def test_one_epoch_of_freund_and_schapire(real_data: Path) -> None:
    """Degree 2, T = 1: 10,201 mistakes over the ten classes, 8,190 support rows, a voted error of 2.8 %."""
    X, y = read(real_data, "train")
    order = np.random.default_rng(0).permutation(len(X))
    learner = KernelPerceptron(
        kernel="poly", gamma=1.0, coef0=1.0, degree=2, fit_intercept=False, keep="vote", multiclass="ovr"
    )
    learner.partial_fit(X[order], y[order])
    assert learner.mistakes_ == pytest.approx(10_201, rel=0.03)
    assert len(learner.support_vectors_) == pytest.approx(8_190, rel=0.03)
    X_test, y_test = read(real_data, "t10k")
    assert 100 * np.mean(learner.predict(X_test) != y_test) == pytest.approx(2.8, abs=0.3)


@pytest.mark.slow
def test_the_online_mistakes_of_crammer_et_al(real_data: Path) -> None:
    """Perceptron with (0.5 + x·z)^5, one pass: 2,782 mistakes."""
    X, y = read(real_data, "train")
    X = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    X /= np.sqrt((X**2).sum(axis=1).mean())
    learner = KernelPerceptron(kernel="poly", gamma=1.0, coef0=0.5, degree=5, fit_intercept=False)
    learner.partial_fit(X, y)
    assert learner.mistakes_ == pytest.approx(2_782, rel=0.03)
