"""What the laws of this folder share: rows, and everything that a learner says about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from family import KERNEL, LEARNERS, LINEAR, PROBABLE, STREAMING, SWEEP, each, rbf

__all__ = [
    "KERNEL",
    "LEARNERS",
    "LINEAR",
    "PROBABLE",
    "STREAMING",
    "SWEEP",
    "answers",
    "assert_same",
    "dicts",
    "each",
    "rbf",
    "rows",
    "same",
]


def rows(n: int = 60, d: int = 4, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    """Rows and labels with a little noise; values of few bits, so that sums are exact in any order."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(classes, d))[y]
    return np.round(X * 8) / 8, np.array([f"class {k}" for k in range(classes)])[y]


def answers(learner: Any, X: Any) -> list[Any]:
    """Everything that a learner says about these rows."""
    said = [learner.decision_function(X), learner.predict(X)]
    if hasattr(learner, "predict_proba") and getattr(learner, "calibrator", True) is not None:
        said.append(learner.predict_proba(X))
    return said


def same(a: list[Any], b: list[Any]) -> bool:
    """The same answers, bit for bit."""
    return all(left.shape == right.shape and np.array_equal(left, right) for left, right in zip(a, b, strict=True))


def assert_same(found: Any, expected: list[Any], what: str = "the answers") -> None:
    """Raise unless these are the expected answers, bit for bit; an exception in their place is raised."""
    if isinstance(found, Exception):
        raise AssertionError(f"{what}: {found!r}") from found
    if not same(found, expected):
        shapes = [one.shape for one in found], [one.shape for one in expected]
        raise AssertionError(f"{what} differ; shapes {shapes[0]}, expected {shapes[1]}")


def dicts(X: Any) -> list[dict[int, float]]:
    """The rows as examples of a stream, named by their column numbers."""
    return [dict(enumerate(row)) for row in np.asarray(X).tolist()]
