"""The sums behind an evaluation, batch after batch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Classes, RowBatch
from rosenblatt.encode.lines import settle_labels
from rosenblatt.errors import DataError, ModelError
from rosenblatt.evaluation.figures import Evaluation, plain
from rosenblatt.models.model import Model

Floats = NDArray[np.float64]
MOST_CONFUSED = 200  # classes with a whole confusion matrix; of more, the most frequent confusions are kept
MOST_PAIRS = 100_000
MOST_SCORES = 20_000_000  # rows for the area under the curve
MOST_UNKNOWN = 1000
BINS = 10


def evaluate_batches(model: Model, batches: Iterable[RowBatch]) -> Evaluation:
    """Predict every row of the batches and count."""
    sums = Sums(model)
    for batch in batches:
        for part in batch.cut(sums.K):
            sums.add(model, part)
    return sums.result(model)


class Sums:
    """The sums behind an evaluation; those of several parts of the rows can be joined."""

    def __init__(self, model: Model) -> None:
        if model.measures or model.several:
            kind = "a regression" if model.measures else "a model of several labels per row"
            raise ModelError(f"{kind} has no classes to count: predict with it, and compare the answers")
        K = len(model.classes)
        self.classes, self.K = Classes(model.classes), K
        self.there, self.named, self.right = np.zeros(K), np.zeros(K), np.zeros(K)
        self.confusion = np.zeros(K * K) if K <= MOST_CONFUSED else None
        self.pairs: dict[int, float] = {}
        self.count, self.weight, self.squares, self.unknown = 0, 0.0, 0.0, 0.0
        self.strangers: dict[str, int] = {}
        self.scores: list[tuple[Floats, NDArray[np.bool_], Floats]] = []
        self.loss = self.brier = self.known = 0.0
        self.bins = np.zeros((3, BINS))  # weight, confidence, right

    def add(self, model: Model, batch: RowBatch) -> None:
        if batch.of_line is not None:
            batch = _settled(model, batch)
        true = self.classes.codes(batch)
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        scores = model.batch_scores(batch)
        answers = model.predictions(scores).codes
        known = true >= 0
        self.count += int((weights > 0).sum())
        self.weight += float(weights.sum())
        self.squares += float((weights**2).sum())
        self.unknown += float(weights[~known].sum())
        self._add_strangers(batch, known)
        true, answers, w = true[known], answers[known], weights[known]
        self.there += np.bincount(true, w, self.K)
        self.named += np.bincount(answers, w, self.K)
        self.right += np.bincount(true[true == answers], w[true == answers], self.K)
        keys = true.astype(np.int64) * self.K + answers
        if self.confusion is not None:
            self.confusion += np.bincount(keys, w, self.K * self.K)
        else:
            self._add_pairs(keys[true != answers], w[true != answers])
        if self.K == 2 and self.count <= MOST_SCORES:
            self.scores.append((scores[known, 0], true == 1, w))
        if model.calibrator is not None:
            self._add_probabilities(model.predictions(scores).probabilities[known], true, answers, w)

    def _add_strangers(self, batch: RowBatch, known: NDArray[np.bool_]) -> None:
        if known.all():
            return
        codes, counts = np.unique(batch.codes[~known], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            label = batch.labels[code].decode("utf-8", "replace") if code >= 0 else ""
            if label in self.strangers or len(self.strangers) < MOST_UNKNOWN:
                self.strangers[label] = self.strangers.get(label, 0) + count

    def _add_pairs(self, keys: NDArray[np.int64], w: Floats) -> None:
        distinct, places = np.unique(keys, return_inverse=True)
        for key, weight in zip(distinct.tolist(), np.bincount(places.ravel(), w).tolist(), strict=True):
            self.pairs[key] = self.pairs.get(key, 0.0) + weight
        if len(self.pairs) > MOST_PAIRS:  # the rarest go
            kept = sorted(self.pairs.items(), key=lambda pair: -pair[1])[: MOST_PAIRS // 2]
            self.pairs = dict(kept)

    def _add_probabilities(self, P: Floats, true: NDArray[Any], answers: NDArray[Any], w: Floats) -> None:
        every = np.arange(len(true))
        self.known += float(w.sum())
        self.loss -= float(w @ np.log(np.maximum(P[every, true], 1e-15)))
        if self.K == 2:
            self.brier += float(w @ (P[:, 1] - true) ** 2)
        else:
            self.brier += float(w @ ((P**2).sum(axis=1) - 2 * P[every, true] + 1))
        sure = P.max(axis=1)
        place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
        for k, values in enumerate((w, w * sure, w * (answers == true))):
            self.bins[k] += np.bincount(place, values, BINS)

    def result(self, model: Model) -> Evaluation:
        if not self.count:
            raise DataError("the data has no rows")
        whole = self.squares == self.count == self.weight  # no weights: everything is a count
        kind = np.int64 if whole else np.float64
        reliability = None
        if self.known:
            from rosenblatt.select.probability import Reliability

            used = self.bins[0] > 0
            weight, sure, right = self.bins[:, used]
            reliability = Reliability(weight, sure / weight, right / weight)
        if self.confusion is not None:
            matrix, there = self.confusion.reshape(self.K, self.K), np.flatnonzero(self.confusion)
            wrong = {int(k): float(self.confusion[k]) for k in there if k // self.K != k % self.K}
        pairs = sorted((wrong if self.confusion is not None else self.pairs).items(), key=lambda pair: -pair[1])
        return Evaluation(
            model.classes,
            None if self.confusion is None else matrix.astype(kind),
            plain(self.unknown),
            reliability,
            self.brier / self.known if self.known else None,
            self.loss / self.known if self.known else None,
            self._auc(),
            self.there.astype(kind),
            self.named.astype(kind),
            self.right.astype(kind),
            self.count,
            self.weight**2 / self.squares,
            dict(sorted(self.strangers.items(), key=lambda pair: -pair[1])),
            tuple((key // self.K, key % self.K, weight) for key, weight in pairs[:1000]),
        )

    def _auc(self) -> float | None:
        """The weight of pairs of a larger and a smaller class that the scores put in order, ties by half."""
        if not self.scores or self.count > MOST_SCORES:
            return None
        scores, positive, w = (np.concatenate(each) for each in zip(*self.scores, strict=True))
        yes, no = float(w[positive].sum()), float(w[~positive].sum())
        if not yes or not no:
            return None
        _, places = np.unique(scores, return_inverse=True)
        above = np.bincount(places.ravel(), np.where(positive, w, 0.0))
        below = np.bincount(places.ravel(), np.where(positive, 0.0, w))
        return float(above @ (np.cumsum(below) - below / 2) / (yes * no))


def _settled(model: Model, batch: RowBatch) -> RowBatch:
    """A row for each line with several labels: an answer is right if it is one of them."""
    answers = model.predictions(model.batch_scores(batch)).codes
    return replace(batch.take(settle_labels(batch, answers, Classes(model.classes).codes(batch))), weights=None)
