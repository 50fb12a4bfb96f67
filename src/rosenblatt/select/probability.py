"""The curves from scores to probabilities, fitted; and how well such probabilities hold.

Invariant: a curve is fitted on scores of rows that the learner had not learned from, or it would be too sure. Rows
count with their sample weights; class weights, which move the decision, do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import as_counts
from rosenblatt.models.probability import Calibrator, Curve, leads
from rosenblatt.select.isotonic import rising_steps

Floats = NDArray[np.float64]
CurveName = Literal["sigmoid", "isotonic", "blend"]
FLAT = Curve((0.0, 0.0))  # where no row was seen


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> Curve:
    """Platt's ``p = 1 / (1 + exp(-(a s + b)))``, ``a >= 0``: two numbers, good from a few hundred rows on.

    Newton's method on the log loss, with Platt's smoothed targets, which keep a and b finite. Scores that point the
    wrong way say nothing: a is 0 then, and every row gets the share of the class.
    J. Platt (1999), Probabilistic outputs for support vector machines; H.-T. Lin, C.-J. Lin, R. Weng (2007).
    """
    if not len(scores):
        return FLAT
    counts = np.ones(len(scores)) if weights is None else as_counts(weights)
    yes, no = float(counts[positive].sum()), float(counts[~positive].sum())
    target = np.where(positive, (yes + 1.0) / (yes + 2.0), 1.0 / (no + 2.0))
    scale = float(np.abs(scores).max()) or 1.0  # Newton's steps do not depend on units then
    s = scores / scale
    a, b = 0.0, _log((yes + 1.0) / (no + 1.0))
    loss = _log_loss(a * s + b, target, counts)
    for _ in range(100):
        p = engine.sigmoid(a * s + b)
        slack, curvature = counts * (p - target), counts * np.maximum(p * (1.0 - p), 1e-12)
        step = _newton_step(slack, curvature, s)
        size = 1.0
        while size > 1e-10:
            tried = _log_loss((a - size * step[0]) * s + b - size * step[1], target, counts)
            if tried <= loss:
                break
            size /= 2.0
        a, b = a - size * step[0], b - size * step[1]
        if loss - tried < 1e-10 * max(loss, 1.0):
            break
        loss = tried
    if a < 0:  # the loss is convex: at a = 0 it is the lowest with a >= 0
        share = float(np.sum(counts * target) / np.sum(counts))
        return Curve((0.0, _log(share / (1.0 - share))))
    return Curve((a / scale, b))


def fit_isotonic(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> Curve:
    """The rising step function closest to what was seen: no shape assumed; from a few thousand rows on.

    Where no row was seen, nothing is known.
    """
    if not len(scores):
        return FLAT
    return Curve(None, *rising_steps(scores, positive.astype(float), weights))


def fit_blend(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> Curve:
    """The mean of both: the sigmoid calms the steps of the isotonic curve, which bend it to what was seen."""
    steps = fit_isotonic(scores, positive, weights)
    return Curve(fit_sigmoid(scores, positive, weights).sigmoid, steps.scores, steps.levels)


_FITS = {"sigmoid": fit_sigmoid, "isotonic": fit_isotonic, "blend": fit_blend}


def fit_calibrator(
    scores: Floats, codes: NDArray[np.int32], classes: int, kind: CurveName, weights: Floats | None = None
) -> Calibrator:
    """One curve for two classes, else one per class against the rest; each row counts with its weight."""
    fit = _FITS[kind]
    if scores.shape[1] == 1:
        return Calibrator((fit(scores[:, 0], codes == 1, weights),))
    found = leads(scores)
    return Calibrator(tuple(fit(found[:, k], codes == k, weights) for k in range(classes)))


def brier_score(P: Floats, codes: NDArray[np.int32]) -> float:
    """The mean squared distance of the probabilities from what happened: of the larger class if there are two.

    >>> import numpy as np
    >>> brier_score(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 1]))
    0.125
    """
    if P.shape[1] == 2:
        return float(np.mean((P[:, 1] - codes) ** 2))
    happened = np.eye(P.shape[1])[codes]
    return float(np.mean(np.sum((P - happened) ** 2, axis=1)))


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: in each bin of confidence, how sure the answers were and how often they were right.

    >>> import numpy as np
    >>> found = reliability(np.array([[0.9, 0.1], [0.7, 0.3]]), np.array([0, 1]))
    >>> int(found.count.sum()), round(found.ece, 6)
    (2, 0.4)
    """

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


# What follows has the same bits on every CPU, which NumPy's exp and log and LAPACK have not.


def _log_loss(z: Floats, target: Floats, counts: Floats) -> float:
    return float(np.sum(counts * (engine.softplus(z) - target * z)))


def _newton_step(slack: Floats, curvature: Floats, s: Floats) -> tuple[float, float]:
    """The gradient over the Hessian of the log loss in a and b, by Cramer's rule."""
    ga, gb = float(np.sum(slack * s)), float(np.sum(slack))
    aa, ab, bb = (float(np.sum(each)) for each in (curvature * s * s, curvature * s, curvature))
    aa, bb = aa + 1e-10, bb + 1e-10
    determinant = aa * bb - ab * ab
    if determinant <= 1e-14 * aa * bb:  # all scores are one: nothing to learn about a
        return 0.0, gb / bb
    return (bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant


def _log(ratio: float) -> float:
    return float(engine.log(np.array([ratio]))[0])
