"""Rows to share out, and one small cluster of real processes for all tests."""

import numpy as np
import pytest

from rosenblatt import cluster


@pytest.fixture(scope="session")
def rows():
    """Rows of four classes, not separable."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 12))
    y = (X @ rng.standard_normal((12, 4))).argmax(axis=1)
    y[rng.random(len(y)) < 0.05] = 0
    return X, y


@pytest.fixture(scope="session")
def write_svmlight(rows):
    """Writes the rows into four files of a folder."""
    X, y = rows

    def write(folder):
        for k, part in enumerate(np.split(np.arange(len(y)), 4)):
            lines = [
                f"{label} " + " ".join(f"{j + 1}:{v:.5g}" for j, v in enumerate(x))
                for x, label in zip(X[part], y[part], strict=True)
            ]
            (folder / f"{k}.svm").write_text("\n".join(lines) + "\n")

    return write


@pytest.fixture(scope="session")
def client():
    """A client of two workers, each a process of its own."""
    with cluster.connect("local:2") as client:
        yield client
