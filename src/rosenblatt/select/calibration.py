"""Probabilities kept up to date while a learner learns on.

Invariant: a row is scored before it is learned from, so that the probabilities are fitted out of sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import effective_rows
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.probability import Calibrator
from rosenblatt.select.probability import CurveName, fit_calibrator

Floats = NDArray[np.float64]
Kind = Literal["auto", "sigmoid", "isotonic"]
ENOUGH = 400  # rows for "auto" to trust the shape of an isotonic curve
PLENTY = 2_000  # rows from which on more of them hardly change that shape
WINDOW = 10_000  # rows that the curves are fitted on: enough for them, and the latest follow a drift


@dataclass(frozen=True)
class Judged:
    """Scores of rows that had not been learned from, the codes of their classes, and their sample weights."""

    scores: Floats
    codes: NDArray[np.int32]
    weights: Floats | None  # None: each row counts as one

    @classmethod
    def none(cls, classes: int) -> Judged:
        """No row yet, of so many classes."""
        return cls(np.empty((0, weight_rows(classes))), np.empty(0, np.int32), None)

    def take(self, index: Any) -> Judged:
        """Those of some rows."""
        return Judged(self.scores[index], self.codes[index], None if self.weights is None else self.weights[index])

    def spread(self) -> Judged:
        """At most `WINDOW` of them, from all over the rows, as many of each class as is its share, in their order."""
        count = len(self.codes)
        if count <= WINDOW:
            return self
        by_class = np.argsort(self.codes, kind="stable")
        return self.take(np.sort(by_class[np.arange(WINDOW) * count // WINDOW]))

    def followed_by(self, later: Judged) -> Judged:
        """With more rows; the oldest leave."""
        weights = None
        if self.weights is not None or later.weights is not None:
            known = [np.ones(len(each.codes)) if each.weights is None else each.weights for each in (self, later)]
            weights = np.concatenate(known)
        both = Judged(np.vstack([self.scores, later.scores]), np.concatenate([self.codes, later.codes]), weights)
        return both.take(slice(max(0, len(both.codes) - WINDOW), None))


class Calibration:
    """The curves from scores to probabilities, fitted on rows that were scored before they were learned."""

    def __init__(self, kind: Kind, judged: Judged, classes: int) -> None:
        self.kind = kind
        self.classes = classes
        self.judged = judged.spread()

    @cached_property
    def calibrator(self) -> Calibrator:
        """Fitted when probabilities are first asked for."""
        scores, codes, weights = self.judged.scores, self.judged.codes, self.judged.weights
        kind: CurveName = "sigmoid"
        if self.kind != "auto":
            kind = self.kind
        elif effective_rows(weights, len(codes)) >= ENOUGH:
            kind = "blend"
        return fit_calibrator(scores, codes, self.classes, kind, weights)

    def followed_by(self, judged: Judged) -> Calibration:
        """With more rows; the oldest leave."""
        return Calibration(self.kind, self.judged.followed_by(judged.spread()), self.classes)


@dataclass(frozen=True)
class VoteShares:
    """Shares of votes, with nothing to fit."""

    calibrator: Calibrator
