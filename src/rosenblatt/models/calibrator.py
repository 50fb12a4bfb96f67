"""From the scores of a model to probabilities, by curves that were fitted on held-out rows.

Invariant: probabilities rise with the score of their class, and those of a row sum to 1. They are those of the data:
the threshold of the decision does not change them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import ModelError
from rosenblatt.models.container import Part, Spec, check_part, check_shapes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve(Part):
    """A rising function from a score to a probability: a sigmoid, steps, or the mean of both."""

    specs: ClassVar = {
        "scores": Spec("<f8", ("points",)),
        "levels": Spec("<f8", ("points",), least=0.0, most=1.0),
    }

    sigmoid: tuple[float, float] | None  # a, b of 1 / (1 + exp(-(a s + b)))
    scores: Floats = field(default_factory=lambda: np.empty(0))
    levels: Floats = field(default_factory=lambda: np.empty(0))

    def __call__(self, scores: Floats) -> Floats:
        parts = []
        if self.sigmoid is not None:
            a, b = self.sigmoid
            parts.append(engine.sigmoid(a * scores + b))
        if len(self.scores):
            parts.append(np.interp(scores, self.scores, self.levels))
        return np.mean(parts, axis=0)

    def check(self) -> None:
        """Raise unless the curve rises."""
        check_shapes(self.check_arrays()["points"] > 0 or self.sigmoid is not None)
        check_shapes(self.sigmoid is None or len(self.sigmoid) == 2)
        check_shapes(all(isinstance(number, float) and math.isfinite(number) for number in self.sigmoid or ()))
        if (np.diff(self.scores) < 0).any() or (np.diff(self.levels) < 0).any():
            raise ModelError("its probabilities do not increase with the score")


@dataclass(frozen=True)
class Calibrator(Part):
    """One curve for two classes, else one for each class against the rest.

    With more classes a curve starts from the lead of its class over the best other one.
    """

    curves: tuple[Curve, ...]

    def probabilities(self, scores: Floats) -> Floats:
        """One column for each class."""
        if scores.shape[1] == 1:
            p = self.curves[0](scores[:, 0])
            return np.column_stack([1.0 - p, p])
        seen = leads(scores)
        found = np.column_stack([curve(seen[:, k]) for k, curve in enumerate(self.curves)])
        total = found.sum(axis=1, keepdims=True)
        found[total[:, 0] == 0] = 1.0  # no class has any: nothing is known
        return found / np.where(total == 0, scores.shape[1], total)

    def check(self, classes: int) -> None:
        """Raise unless there is a curve for each class."""
        if len(self.curves) != (1 if classes <= 2 else classes):
            raise ModelError("its probabilities do not fit its classes")
        for curve in self.curves:
            check_part(curve, Curve)


def leads(scores: Floats) -> Floats:
    """Each class's score less the highest other score: a common shift of all scores cancels."""
    top = np.sort(scores, axis=1)[:, -2:]
    return scores - np.where(scores == top[:, 1:], top[:, :1], top[:, 1:])
