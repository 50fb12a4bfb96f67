"""From the scores of a model to probabilities, by what was learned from rows that it had not learned from.

Invariant: probabilities rise with the score of their class, and those of a row sum to 1. They are those of the data: no
threshold of a decision shapes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.errors import ModelError

Floats = NDArray[np.float64]
MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Curve:
    """A rising function from a score to a probability: a sigmoid, steps, or the mean of both."""

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
        mean: Floats = np.mean(parts, axis=0)
        return mean


@dataclass(frozen=True)
class Calibrator:
    """One curve for two classes, else one for each class against the rest.

    With more classes a curve starts from the lead of its class over the best other one, or, for shares of votes, from
    the score itself.
    """

    curves: tuple[Curve, ...]
    of_votes: bool = False

    @classmethod
    def from_votes(cls, classes: int, *, signed: bool) -> Calibrator:
        """The probability is the share of the votes; scores are from -1 to 1 if `signed`, else from 0 to 1."""
        curve = Curve(None, np.array([-1.0 if signed else 0.0, 1.0]), np.array([0.0, 1.0]))
        return cls((curve,) * (1 if classes <= 2 else classes), of_votes=True)

    def probabilities(self, scores: Floats) -> Floats:
        """One column for each class."""
        if scores.shape[1] == 1:
            p = self.curves[0](scores[:, 0])
            return np.column_stack([1.0 - p, p])
        seen = scores if self.of_votes else leads(scores)
        found = np.column_stack([curve(seen[:, k]) for k, curve in enumerate(self.curves)])
        total = found.sum(axis=1, keepdims=True)
        found[total[:, 0] == 0] = 1.0  # no class has any: nothing is known
        shares: Floats = found / np.where(total == 0, scores.shape[1], total)
        return shares

    def to_json(self) -> Any:
        curves = [
            [None if c.sigmoid is None else list(c.sigmoid), c.scores.tolist(), c.levels.tolist()] for c in self.curves
        ]
        return {"votes": curves} if self.of_votes else curves

    @classmethod
    def from_json(cls, header: Any, count: int) -> Calibrator:
        """The curves of a model with so many classes, checked."""
        of_votes, curves = isinstance(header, dict), []
        for sigmoid, scores, levels in header["votes"] if of_votes else header:
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
        return cls(tuple(curves), of_votes)


def leads(scores: Floats) -> Floats:
    """Each class's score less the highest of the others: what decides, and free of any common shift."""
    top = np.sort(scores, axis=1)[:, -2:]
    return scores - np.where(scores == top[:, 1:], top[:, :1], top[:, 1:])
