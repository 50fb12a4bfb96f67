"""From scores to probabilities: curves fitted on scores of rows that the learner had not learned from.

Invariant: rows count with their sample weights; class weights, which move the decision, do not count. Curves have the
same bits on every CPU, which exp, log and solvers of other libraries do not give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import as_counts, effective_rows
from rosenblatt.errors import ModelError
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.calibrator import Calibrator, Curve, leads
from rosenblatt.models.container import Tensors, check_shapes, take

Floats = NDArray[np.float64]
Method = Literal["auto", "sigmoid", "isotonic"]
ENOUGH = 400  # rows from which on "auto" trusts the shape of an isotonic curve
PLENTY = 2_000  # rows from which on more of them hardly change that shape
WINDOW = 10_000  # rows to fit curves on: enough for them, and the latest follow a drift
SAME = float(np.finfo(np.float64).resolution)  # scores that differ by less are equal
FLAT = Curve((0.0, 0.0))  # if there are no rows


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> Curve:
    """Platt's ``p = 1 / (1 + exp(-(a s + b)))``, ``a >= 0``: two numbers, good from a few hundred rows on.

    Newton's method on the log loss, with Platt's smoothed targets, which keep a and b finite. If high scores are rarer
    in the class, ``a`` is 0 and every row gets the share of the class.
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
        step = _newton_step(counts * (p - target), counts * np.maximum(p * (1.0 - p), 1e-12), s)
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


def _log_loss(z: Floats, target: Floats, counts: Floats) -> float:
    return float(np.sum(counts * (engine.softplus(z) - target * z)))


def _newton_step(slack: Floats, curvature: Floats, s: Floats) -> tuple[float, float]:
    """The gradient over the Hessian of the log loss in a and b, by Cramer's rule."""
    ga, gb = float(np.sum(slack * s)), float(np.sum(slack))
    aa, ab, bb = (float(np.sum(each)) for each in (curvature * s * s, curvature * s, curvature))
    aa, bb = aa + 1e-10, bb + 1e-10
    determinant = aa * bb - ab * ab
    if determinant <= 1e-14 * aa * bb:  # all scores are equal: nothing to learn about a
        return 0.0, gb / bb
    return (bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant


def _log(ratio: float) -> float:
    return float(engine.log(np.array([ratio]))[0])


def fit_isotonic(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> Curve:
    """The rising step function with the least squared error, linear between steps; from a few thousand rows on."""
    return Curve(None, *isotonic_thresholds(scores, positive, weights)) if len(scores) else FLAT


def isotonic_thresholds(
    scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """The scores at which the steps of the weighted least-squares fit begin and end, and their levels, from 0 to 1.

    Pool adjacent violators: M. J. Best, N. Chakravarti (1990), Active set algorithms for isotonic regression.

    Examples
    --------
    >>> at, levels = isotonic_thresholds(np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True]))
    >>> at.tolist(), levels.tolist()
    ([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 0.5, 1.0])
    """
    weights = np.ones(len(scores)) if weights is None else weights
    present = np.flatnonzero(weights > 0)
    order = present[np.argsort(scores[present], kind="stable")]
    at = scores[order]
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(at) >= SAME)])
    sums = np.add.reduceat(np.where(positive[order], weights[order], 0.0), starts).tolist()
    totals = np.add.reduceat(weights[order], starts).tolist()
    pools: list[tuple[float, float, int]] = []  # positive weight, weight and number of scores of each level
    for share, total in zip(sums, totals, strict=True):
        pool = share, total, 1
        while pools and pools[-1][0] * pool[1] >= pool[0] * pools[-1][1]:
            last = pools.pop()
            pool = last[0] + pool[0], last[1] + pool[1], last[2] + pool[2]
        pools.append(pool)
    levels = np.repeat([min(share / total, 1.0) for share, total, _ in pools], [count for *_, count in pools])
    ends = np.ones(len(levels), bool)
    ends[1:-1] = (levels[1:-1] != levels[:-2]) | (levels[1:-1] != levels[2:])
    return at[starts][ends], levels[ends]


def fit_calibrator(
    scores: Floats,
    codes: NDArray[np.int32],
    classes: int,
    method: Literal["sigmoid", "isotonic", "blend"],
    weights: Floats | None = None,
) -> Calibrator:
    """One curve for two classes, else one per class against the rest; "blend" is the mean of sigmoid and isotonic."""

    def fit(scores: Floats, positive: NDArray[np.bool_]) -> Curve:
        if method == "isotonic":
            return fit_isotonic(scores, positive, weights)
        sigmoid = fit_sigmoid(scores, positive, weights)
        if method == "sigmoid":
            return sigmoid
        steps = fit_isotonic(scores, positive, weights)
        return Curve(sigmoid.sigmoid, steps.scores, steps.levels)

    if scores.shape[1] == 1:
        return Calibrator((fit(scores[:, 0], codes == 1),))
    margins = leads(scores)
    return Calibrator(tuple(fit(margins[:, k], codes == k) for k in range(classes)))


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of rows that had not been learned from, the codes of their classes, and their sample weights."""

    scores: Floats
    codes: NDArray[np.int32]
    weights: Floats | None  # None: each row counts as one

    @classmethod
    def empty(cls, classes: int) -> HeldOutScores:
        """No row yet, of so many classes."""
        return cls(np.empty((0, weight_rows(classes))), np.empty(0, np.int32), None)

    def take(self, index: Any) -> HeldOutScores:
        """Those of some rows."""
        weights = None if self.weights is None else self.weights[index]
        return HeldOutScores(self.scores[index], self.codes[index], weights)

    def thin(self) -> HeldOutScores:
        """At most `WINDOW` of them, evenly from each class, in their order."""
        count = len(self.codes)
        if count <= WINDOW:
            return self
        by_class = np.argsort(self.codes, kind="stable")
        return self.take(np.sort(by_class[np.arange(WINDOW) * count // WINDOW]))

    def append(self, later: HeldOutScores) -> HeldOutScores:
        """With more rows; the oldest leave."""
        weights = None
        if self.weights is not None or later.weights is not None:
            known = [np.ones(len(each.codes)) if each.weights is None else each.weights for each in (self, later)]
            weights = np.concatenate(known)
        scores, codes = np.vstack([self.scores, later.scores]), np.concatenate([self.codes, later.codes])
        return HeldOutScores(scores, codes, weights).take(slice(max(0, len(codes) - WINDOW), None))


class Calibration:
    """Held-out scores, and the curves fitted on them when probabilities are first computed."""

    def __init__(self, method: Method, scores: HeldOutScores, classes: int) -> None:
        self.method, self.classes, self.scores = method, classes, scores.thin()

    @cached_property
    def calibrator(self) -> Calibrator:
        """The curves."""
        scores, codes, weights = self.scores.scores, self.scores.codes, self.scores.weights
        if self.method != "auto":
            return fit_calibrator(scores, codes, self.classes, self.method, weights)
        blend = effective_rows(weights, len(codes)) >= ENOUGH
        return fit_calibrator(scores, codes, self.classes, "blend" if blend else "sigmoid", weights)

    def append(self, later: HeldOutScores) -> Calibration:
        """With more rows; the oldest leave."""
        return Calibration(self.method, self.scores.append(later.thin()), self.classes)

    def to_tensors(self, tensors: Tensors) -> str:
        """Add the scores; returns the method."""
        tensors |= {"held_out.scores": self.scores.scores, "held_out.codes": self.scores.codes}
        if self.scores.weights is not None:
            tensors["held_out.weights"] = self.scores.weights
        return self.method

    @classmethod
    def from_tensors(cls, method: Any, tensors: Tensors, classes: int, calibrator: Calibrator | None) -> Calibration:
        """What `to_tensors` wrote, checked; `calibrator` holds the curves that were fitted on the scores."""
        scores, codes = take(tensors, "held_out.", scores="f8:2", codes="i4")
        weights = take(tensors, "held_out.", weights="f8")[0] if "held_out.weights" in tensors else None
        check_shapes(scores.shape == (len(codes), weight_rows(classes)))
        check_shapes(weights is None or weights.shape == codes.shape)
        fits = not len(codes) or (codes.min() >= 0 and codes.max() < classes)
        if method not in get_args(Method) or not fits or (weights is not None and (weights < 0).any()):
            raise ModelError("its probabilities cannot be read")
        calibration = cls(method, HeldOutScores(scores, codes, weights), classes)
        if calibrator is not None:
            vars(calibration)["calibrator"] = calibrator  # the same bits as when it was saved
        return calibration
