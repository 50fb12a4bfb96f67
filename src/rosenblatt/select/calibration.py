"""From scores to probabilities: curves fitted on scores of rows that the learner had not learned from.

Invariant: rows count with their sample weights; class weights, which move the decision, do not count. Curves have the
same bits on every CPU, which exp, log and solvers of other libraries do not give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import as_counts, effective_rows
from rosenblatt.data.labels import places_in
from rosenblatt.errors import ModelError
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.calibrator import Calibrator, Curve, leads
from rosenblatt.models.container import Part, Spec, check_shapes, count_of
from rosenblatt.models.model import Model

Floats = NDArray[np.float64]
Method = Literal["auto", "sigmoid", "isotonic"]
ENOUGH = 400  # rows from which on "auto" trusts the shape of an isotonic curve
PLENTY = 2_000  # rows from which on more of them hardly change that shape
WINDOW = 10_000  # rows to fit curves on: enough for them, and the latest follow a drift
REFIT = 20  # with each twentieth more rows of a stream, curves are fitted again
SAME = float(np.finfo(np.float64).resolution)  # scores that differ by less are equal
FLAT = Curve((0.0, 0.0))  # if there are no rows


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None) -> Curve:
    """Platt's ``p = 1 / (1 + exp(-(a s + b)))``, ``a >= 0``: two numbers, good from a few hundred rows on.

    Newton's method on the log loss, with Platt's smoothed targets, which keep a and b finite. If high scores are rarer
    in the class, ``a`` is 0 and every row gets the share of the class.
    J. Platt (1999), Probabilistic outputs for support vector machines; H.-T. Lin, C.-J. Lin, R. Weng (2007).
    """
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


def isotonic_thresholds(
    scores: Floats, positive: NDArray[np.bool_], weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """The scores at which the steps of the weighted least-squares fit begin and end, and their levels, from 0 to 1.

    The curve is linear between steps; good from a few thousand rows on.
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
    method: Literal["sigmoid", "isotonic", "blend"],
    weights: Floats | None = None,
) -> Calibrator:
    """One curve for two classes, else one per class against the rest; "blend" is the mean of sigmoid and isotonic."""

    def fit(scores: Floats, positive: NDArray[np.bool_]) -> Curve:
        if not len(scores):
            return FLAT
        sigmoid = None if method == "isotonic" else fit_sigmoid(scores, positive, weights).sigmoid
        steps = () if method == "sigmoid" else isotonic_thresholds(scores, positive, weights)
        return Curve(sigmoid, *steps)

    if scores.shape[1] == 1:
        return Calibrator((fit(scores[:, 0], codes == 1),))
    margins = leads(scores)
    return Calibrator(tuple(fit(margins[:, k], codes == k) for k in range(scores.shape[1])))


@dataclass(frozen=True)
class Calibration(Part):
    """Scores of rows that had not been learned from, and the curves, fitted on them when they are first needed."""

    specs: ClassVar = {
        "scores": Spec("<f8", ("rows", "K")),
        "codes": Spec("<i4", ("rows",), least=0, below="classes"),
    }

    method: Method
    scores: Floats  # of shape (rows, K): one column for two classes
    codes: NDArray[np.int32]  # of the classes of the rows
    weights: Floats | None = None  # sample weights; None: each row counts as one
    fitted: int | None = None  # the curves are fitted on so many of the rows, the first ones; None: on all

    @classmethod
    def empty(cls, method: Method, classes: int) -> Self:
        """A calibration without rows, for a number of classes."""
        return cls(method, np.empty((0, weight_rows(classes))), np.empty(0, np.int32))

    @classmethod
    def of(cls, method: Method, scores: Floats, codes: NDArray[np.int32], weights: Floats | None = None) -> Self:
        """Calibrate by these rows; by a sample of `WINDOW` of them, evenly from each class, if there are more."""
        found, count = cls(method, scores, codes, weights), len(codes)
        if count <= WINDOW:
            return found
        by_class = np.argsort(codes, kind="stable")
        return found.take(np.sort(by_class[np.arange(WINDOW) * count // WINDOW]))

    @cached_property
    def calibrator(self) -> Calibrator:
        """The curves."""
        known, method = self if self.fitted is None else self.take(slice(self.fitted)), self.method
        if method == "auto":
            is_enough = effective_rows(known.weights, len(known.codes)) >= ENOUGH
            return fit_calibrator(known.scores, known.codes, "blend" if is_enough else "sigmoid", known.weights)
        return fit_calibrator(known.scores, known.codes, method, known.weights)

    def probabilities(self, scores: Floats) -> Floats:
        """One column for each class."""
        return self.calibrator.probabilities(scores)

    def take(self, index: Any) -> Self:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[index]
        return replace(self, scores=self.scores[index], codes=self.codes[index], weights=weights)

    def extend(self, scores: Floats, codes: NDArray[np.int32], weights: Floats | None) -> Self:
        """Append the next rows of a stream, and drop the oldest beyond `WINDOW`.

        The curves follow when a share of `REFIT` has come: when that is does not depend on how the stream is cut.
        """
        if self.weights is not None or weights is not None:
            known = [np.ones(len(self.codes)) if self.weights is None else self.weights]
            weights = np.concatenate([*known, np.ones(len(codes)) if weights is None else weights])
        every = np.vstack([self.scores, scores]), np.concatenate([self.codes, codes])
        fitted = before = len(self.codes) if self.fitted is None else self.fitted
        left, count = 0, len(every[1])
        while (more := max(1, fitted // REFIT)) <= count - left - fitted:
            left += max(0, fitted + more - WINDOW)
            fitted = min(WINDOW, fitted + more)
        found = type(self)(self.method, *every, weights, fitted).take(slice(left, None))
        if (left, fitted) == (0, before) and "calibrator" in vars(self):
            vars(found)["calibrator"] = self.calibrator
        return found

    def over(self, old: NDArray[Any], new: NDArray[Any], share: float) -> Self:
        """The scores over more classes: as `states_over` continues the weights, a new class has the score 0.

        Two classes get `share` times their one score, with either sign.
        """
        if len(old) == len(new):
            return self
        places, scores = places_in(new, old), self.scores
        if weight_rows(len(new)) > 1:
            own = scores * [-share, share] if len(old) == 2 else scores
            scores = np.zeros((len(scores), len(new)))
            scores[:, places] = own
        return replace(self, scores=scores, codes=places[self.codes].astype(np.int32))

    def check(self, classes: int) -> None:
        """Raise unless the scores are of so many classes."""
        sizes = self.check_arrays(rows=len(self.codes), K=weight_rows(classes), classes=classes)
        if self.weights is not None:
            Spec("<f8", ("rows",), least=0).check("weights", self.weights, sizes)
        check_shapes(self.fitted is None or 0 < count_of(self.fitted) <= len(self.codes))
        if self.method not in get_args(Method):
            raise ModelError("its probabilities cannot be read")


def saved_calibration(model: Model) -> Calibration | None:
    """The calibration in the state of a model; None for one that has none, or curves whose scores are not known."""
    assert model.state is not None
    if (saved := model.state.get("calibration")) is None:
        return None
    found = Calibration.read(saved, len(model.classes))
    if model.calibrator is not None:
        vars(found)["calibrator"] = model.calibrator  # the same bits as when it was saved
    return found
