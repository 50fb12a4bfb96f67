"""Rows and labels by integer formulas: the same on every machine and with every release of every library."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.sparse as sp

LABELS = {2: ["no", "yes"], 3: ["ant", "bee", "cat"], 4: ["ant", "bee", "cat", "dog"]}


def uniform(count, seed):
    """Numbers in [-1, 1) with full mantissas, so that sums show the order in which they were made (splitmix64)."""
    with np.errstate(over="ignore"):
        z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z += np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0


@cache
def rows(count=60, features=19, filled=0.6, seed=1):
    """Rows of which a share is not 0."""
    X = uniform(count * features, seed).reshape(count, features)
    X[(uniform(count * features, seed + 1000).reshape(count, features) + 1) / 2 >= filled] = 0.0
    X.setflags(write=False)
    return X


@cache
def labels(classes=2, count=60, features=19, filled=0.6, seed=1, noise=0.4):
    """The class with the highest score, by weights that nobody knows; noise makes classes overlap."""
    X = rows(count, features, filled, seed)
    W = uniform(classes * features, 77 + classes).reshape(classes, features)
    scores = np.zeros((count, classes))
    for j in range(features):  # not by BLAS
        scores += X[:, j : j + 1] * W[:, j]
    scores += noise * uniform(count * classes, seed + 2000).reshape(count, classes)
    return np.array(LABELS[classes])[scores.argmax(axis=1)]


def stored(X, dtype="float64", storage="dense"):
    """The same rows in another type, dense or CSR."""
    X = X.astype(dtype)
    return sp.csr_array(X) if storage == "csr" else X


def whole(count=48, features=5, seed=3):
    """Small whole numbers, on which scores of exactly 0 happen."""
    return np.round(2 * uniform(count * features, seed).reshape(count, features))


def separable(classes, count=40, features=6, seed=9):
    """Rows and labels that a hyperplane separates."""
    return rows(count, features, 1.0, seed), labels(classes, count, features, 1.0, seed, 0.0)


def ring(count=240, seed=5):
    """Inside or outside of a circle: products of columns help."""
    X = uniform(2 * count, seed).reshape(count, 2)
    inside = X[:, 0] * X[:, 0] + X[:, 1] * X[:, 1] < 0.55
    return X, np.where(inside, "in", "out")
