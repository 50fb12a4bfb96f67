"""Small data sets that the docs, lessons and tests use: logic gates, walk-throughs by hand, and shapes in the plane.

Invariant: every function returns ``(X, y)``, the same bits for the same arguments on every machine and NumPy: random
numbers come from the engine's generator.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import ParameterError

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
GATES = {"and": (0, 0, 0, 1), "or": (0, 1, 1, 1), "nand": (1, 1, 1, 0), "nor": (1, 0, 0, 0), "xor": (0, 1, 1, 0)}


def load_gate(name: str = "and") -> Rows:
    """The truth table of a logic gate: and, or, nand, nor, or xor, which no line separates.

    >>> X, y = load_gate("and")
    >>> y.tolist()
    [0, 0, 0, 1]
    """
    if name not in GATES:
        raise ParameterError(f"name={name!r}: must be one of {', '.join(GATES)}")
    return np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array(GATES[name])


def load_walkthrough() -> Rows:
    """Four rows that a perceptron without shuffling separates in a few steps that can be followed by hand.

    >>> from rosenblatt import Perceptron
    >>> Perceptron(shuffle=False).fit(*load_walkthrough()).converged_
    True
    """
    return np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 0.5]]), np.array([1, 1, -1, -1])


def make_blobs(rows: int = 200, *, classes: int = 2, spread: float = 1.0, seed: int = 0) -> Rows:
    """Round clouds of points, their centers on a circle of radius 3.

    >>> from rosenblatt import Perceptron
    >>> X, y = make_blobs(90, classes=3, spread=0.5)
    >>> Perceptron().fit(X, y).converged_
    True
    """
    y = np.arange(rows) % classes
    angle = 2 * math.pi * y / classes
    centers = 3.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centers + spread * _normal((rows, 2), seed), y


def make_moons(rows: int = 200, *, noise: float = 0.1, seed: int = 0) -> Rows:
    """Two half circles, one inside the other: a curve separates them, a line does not.

    >>> from rosenblatt import KernelPerceptron
    >>> X, y = make_moons(100, noise=0.05)
    >>> KernelPerceptron(gamma=4.0).fit(X, y).score(X, y)
    1.0
    """
    y = np.arange(rows) % 2
    angle = math.pi * (np.arange(rows) // 2) / max((rows - 1) // 2, 1)
    X = np.column_stack(
        [np.where(y, 1 - np.cos(angle), np.cos(angle)), np.where(y, 0.5 - np.sin(angle), np.sin(angle))]
    )
    return X + noise * _normal((rows, 2), seed), y


def make_ring(rows: int = 200, *, noise: float = 0.1, seed: int = 0) -> Rows:
    """A disk inside a ring, which products of columns separate.

    >>> from rosenblatt import AutoPerceptron
    >>> X, y = make_ring(400)
    >>> AutoPerceptron().fit(X, y).score(X, y)
    1.0
    """
    y = np.arange(rows) % 2
    angle = 2 * math.pi * _uniform(rows, seed)
    radius = 1.0 + 1.5 * y
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + noise * _normal((rows, 2), seed + 1), y


def make_separable(rows: int = 200, features: int = 5, *, margin: float = 0.1, seed: int = 0) -> Rows:
    """Rows of length at most 1 that a hyperplane through 0 separates with at least this margin: at most 1/margin²
    mistakes, whatever the order.

    >>> from rosenblatt import Perceptron
    >>> X, y = make_separable(margin=0.2)
    >>> Perceptron(fit_intercept=False).fit(X, y).mistakes_ <= 25
    True
    """
    if not 0 < margin < 1:
        raise ParameterError(f"margin={margin!r}: must be above 0 and below 1")
    drawn = _normal((rows, features), seed)
    drawn[:, 0] = 0.0
    length = np.sqrt((drawn**2).sum(axis=1, keepdims=True))
    y = np.where(np.arange(rows) % 2, 1, -1)
    X = drawn / np.where(length > 0, length, 1.0) * math.sqrt(1 - margin**2)
    X[:, 0] = margin * y
    return X, y


def _uniform(count: int, seed: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = engine.symmetric_uniform(count, engine.seed_generator(seed))
    return (found + 1) / 2


def _normal(shape: tuple[int, int], seed: int) -> NDArray[np.float64]:
    """About normal: the sum of twelve uniform numbers."""
    drawn = _uniform(12 * shape[0] * shape[1], seed).reshape(12, *shape)
    normal: NDArray[np.float64] = drawn.sum(axis=0) - 6.0
    return normal
