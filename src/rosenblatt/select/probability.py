"""From scores to probabilities, and how well such probabilities hold.

Invariant: a map is fitted on scores of rows that the learner had not learned from, or it would be too sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
MapName = Literal["sigmoid", "isotonic", "blend"]
TRIFLE = 1e-9


class Map(Protocol):
    """A rising function from the score of a class to its probability."""

    def __call__(self, scores: Floats) -> Floats: ...


@dataclass(frozen=True)
class Sigmoid:
    """Platt's map ``p = 1 / (1 + exp(-(a s + b)))``: two numbers, good from a few hundred rows on."""

    a: float
    b: float

    def __call__(self, scores: Floats) -> Floats:
        found: Floats = expit(self.a * scores + self.b)
        return found

    @classmethod
    def fit(cls, scores: Floats, positive: NDArray[np.bool_]) -> Sigmoid:
        """Newton's method on the log loss, with Platt's smoothed targets, which keep a and b finite.

        J. Platt (1999), Probabilistic outputs for support vector machines; H.-T. Lin, C.-J. Lin, R. Weng (2007).
        """
        yes, no = float(positive.sum()), float((~positive).sum())
        target = np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
        scale = float(np.abs(scores).max()) or 1.0  # Newton's steps do not depend on units then
        s = scores / scale
        a, b = 0.0, float(np.log((yes + 1.0) / (no + 1.0)))
        loss = _log_loss(a * s + b, target)
        for _ in range(100):
            p = expit(a * s + b)
            slack, curvature = p - target, np.maximum(p * (1.0 - p), 1e-12)
            gradient = np.array([slack @ s, slack.sum()])
            hessian = np.array([[curvature @ (s * s), curvature @ s], [curvature @ s, curvature.sum()]])
            step = np.linalg.solve(hessian + 1e-10 * np.eye(2), gradient)
            size = 1.0
            while size > 1e-10:
                tried = _log_loss((a - size * step[0]) * s + b - size * step[1], target)
                if tried <= loss:
                    break
                size /= 2.0
            a, b = a - size * float(step[0]), b - size * float(step[1])
            if loss - tried < 1e-10 * max(loss, 1.0):
                break
            loss = tried
        return cls(a / scale, b)


@dataclass(frozen=True)
class Isotonic:
    """The rising step function closest to what was seen: no shape assumed; from a few thousand rows on."""

    scores: Floats
    levels: Floats

    def __call__(self, scores: Floats) -> Floats:
        return np.interp(scores, self.scores, self.levels)

    @classmethod
    def fit(cls, scores: Floats, positive: NDArray[np.bool_]) -> Isotonic:
        """Pool adjacent violators, by scikit-learn."""
        from sklearn.isotonic import IsotonicRegression

        fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(scores, positive.astype(float))
        return cls(fitted.X_thresholds_, fitted.y_thresholds_)


@dataclass(frozen=True)
class Blend:
    """The mean of both: the sigmoid calms the steps of the isotonic map, which bend the sigmoid to what was seen."""

    sigmoid: Sigmoid
    isotonic: Isotonic

    def __call__(self, scores: Floats) -> Floats:
        mean: Floats = (self.sigmoid(scores) + self.isotonic(scores)) / 2
        return mean

    @classmethod
    def fit(cls, scores: Floats, positive: NDArray[np.bool_]) -> Blend:
        return cls(Sigmoid.fit(scores, positive), Isotonic.fit(scores, positive))


_MAPS: dict[MapName, type[Sigmoid] | type[Isotonic] | type[Blend]] = {
    "sigmoid": Sigmoid,
    "isotonic": Isotonic,
    "blend": Blend,
}


def fit_maps(scores: Floats, codes: NDArray[np.int32], classes: int, kind: MapName) -> list[Map]:
    """One map for two classes, else one a class against the rest."""
    chosen = _MAPS[kind]
    if scores.shape[1] == 1:
        return [chosen.fit(scores[:, 0], codes == 1)]
    relative = _relative(scores)
    return [chosen.fit(relative[:, k], codes == k) for k in range(classes)]


def probabilities(scores: Floats, maps: list[Map]) -> Floats:
    """One column a class, each row summing to 1; the class that the scores answer with has the highest.

    A map may cross one half a little beside a score of 0. Between the two the answer gets one half and a trifle.
    """
    if scores.shape[1] == 1:
        larger = scores[:, 0] >= 0
        p = maps[0](scores[:, 0])
        p = np.where(larger, np.maximum(p, 0.5 + TRIFLE), np.minimum(p, 0.5 - TRIFLE))
        return np.column_stack([1.0 - p, p])
    relative = _relative(scores)
    found = np.column_stack([each(relative[:, k]) for k, each in enumerate(maps)])
    every, answer = np.arange(len(found)), np.argmax(scores, axis=1)
    found[every, answer] = np.maximum(found[every, answer], found.max(axis=1) * (1.0 + TRIFLE) + TRIFLE)
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


def brier_score(P: Floats, codes: NDArray[np.int32]) -> float:
    """The mean squared distance of the probabilities from what happened: of the larger class if there are two."""
    if P.shape[1] == 2:
        return float(np.mean((P[:, 1] - codes) ** 2))
    happened = np.eye(P.shape[1])[codes]
    return float(np.mean(np.sum((P - happened) ** 2, axis=1)))


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: in each bin of confidence, how sure the answers were and how often they were right."""

    count: NDArray[np.int64]
    confidence: Floats
    accuracy: Floats

    @property
    def ece(self) -> float:
        """The expected calibration error: ``sum n_b/n |accuracy_b - confidence_b|``."""
        gaps = np.abs(self.accuracy - self.confidence)
        return float(np.sum(self.count * gaps) / self.count.sum())


def reliability(P: Floats, codes: NDArray[np.int32], bins: int = 10) -> Reliability:
    """Bins of equal width of the highest probability; empty ones are left out.

    >>> P = np.array([[0.2, 0.8], [0.2, 0.8], [0.2, 0.8], [0.2, 0.8], [0.9, 0.1]])
    >>> round(reliability(P, np.array([1, 1, 1, 0, 0])).ece, 12)
    0.06
    """
    confidence = P.max(axis=1)
    right = np.argmax(P, axis=1) == codes
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    count = np.bincount(place, minlength=bins)
    used = count > 0
    return Reliability(
        count[used],
        np.bincount(place, confidence, bins)[used] / count[used],
        np.bincount(place, right, bins)[used] / count[used],
    )


def _relative(scores: Floats) -> Floats:
    """Each class's score less the highest of the others: what decides, and free of any common shift."""
    top = np.sort(scores, axis=1)[:, -2:]
    return scores - np.where(scores == top[:, 1:], top[:, :1], top[:, 1:])


def _log_loss(z: Floats, target: Floats) -> float:
    return float(np.sum(np.logaddexp(0.0, z) - target * z))
