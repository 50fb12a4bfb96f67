"""From the scores of a model to probabilities, by what was learned from rows that it had not learned from.

Invariant: the class that the scores answer with has the highest probability, and the probabilities of a row sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ModelError

Floats = NDArray[np.float64]
TRIFLE = 1e-9
MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Curve:
    """A rising function from a score to a probability: a sigmoid, steps, or the mean of both."""

    sigmoid: tuple[float, float] | None
    scores: Floats
    levels: Floats

    def __call__(self, scores: Floats) -> Floats:
        parts = []
        if self.sigmoid is not None:
            a, b = self.sigmoid
            with np.errstate(over="ignore"):
                parts.append(1.0 / (1.0 + np.exp(-(a * scores + b))))
        if len(self.scores):
            parts.append(np.interp(scores, self.scores, self.levels))
        mean: Floats = np.mean(parts, axis=0)
        return mean


@dataclass(frozen=True)
class Calibrator:
    """One curve for two classes, else one for each class against the rest."""

    curves: tuple[Curve, ...]

    def probabilities(self, scores: Floats) -> Floats:
        """One column for each class."""
        if scores.shape[1] == 1:
            larger = scores[:, 0] >= 0
            p = self.curves[0](scores[:, 0])
            p = np.where(larger, np.maximum(p, 0.5 + TRIFLE), np.minimum(p, 0.5 - TRIFLE))
            return np.column_stack([1.0 - p, p])
        top = np.sort(scores, axis=1)[:, -2:]
        relative = scores - np.where(scores == top[:, 1:], top[:, :1], top[:, 1:])
        found = np.column_stack([curve(relative[:, k]) for k, curve in enumerate(self.curves)])
        every, answer = np.arange(len(found)), np.argmax(scores, axis=1)
        found[every, answer] = np.maximum(found[every, answer], found.max(axis=1) * (1.0 + TRIFLE) + TRIFLE)
        shares: Floats = found / found.sum(axis=1, keepdims=True)
        return shares

    def to_json(self) -> list[Any]:
        return [
            [None if c.sigmoid is None else list(c.sigmoid), c.scores.tolist(), c.levels.tolist()] for c in self.curves
        ]

    @classmethod
    def from_json(cls, header: list[Any], count: int) -> Calibrator:
        """The curves of a model with so many classes, checked."""
        curves = []
        for sigmoid, scores, levels in header:
            at, up = np.array(scores, np.float64), np.array(levels, np.float64)
            numbers = np.concatenate([at.ravel(), up.ravel(), np.array(sigmoid or [0.0, 0.0], np.float64).ravel()])
            if at.ndim != 1 or at.shape != up.shape or len(at) > MOST_STEPS or not np.isfinite(numbers).all():
                raise ModelError("its probabilities cannot be read")
            if (sigmoid is None and not len(at)) or (sigmoid is not None and len(sigmoid) != 2):
                raise ModelError("its probabilities cannot be read")
            if (np.diff(at) < 0).any() or (np.diff(up) < 0).any() or (len(up) and not 0 <= up[0] <= up[-1] <= 1):
                raise ModelError("its probabilities do not rise with the score")
            curves.append(Curve(None if sigmoid is None else (float(sigmoid[0]), float(sigmoid[1])), at, up))
        if len(curves) != (1 if count <= 2 else count):
            raise ModelError("its probabilities do not fit its classes")
        return cls(tuple(curves))


def calibrator_of(learner: Any) -> Calibrator | None:
    """What a fitted learner with probabilities knows of them; None for one that has only scores."""
    maps = getattr(getattr(learner, "_calibration", None), "maps", None)
    if maps is None:
        return None
    nothing: Floats = np.empty(0)
    curves = []
    for each in maps:
        sigmoid, steps = getattr(each, "sigmoid", each), getattr(each, "isotonic", each)
        ab = (float(sigmoid.a), float(sigmoid.b)) if hasattr(sigmoid, "a") else None
        known = hasattr(steps, "levels")
        curves.append(Curve(ab, steps.scores if known else nothing, steps.levels if known else nothing))
    return Calibrator(tuple(curves))
