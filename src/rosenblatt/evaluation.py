"""How often a model is right, and how well it knows: figures over rows that come batch after batch.

Invariant: a row counts with its weight in every figure. Memory does not grow with the square of the classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batches import Batch, Classes
from rosenblatt.data.several import settle_labels
from rosenblatt.errors import DataError, ModelError
from rosenblatt.interval import interval_of
from rosenblatt.models.model import Model

if TYPE_CHECKING:
    from rosenblatt.select.probability import Reliability

Floats = NDArray[np.float64]
MOST_CONFUSED = 200  # classes with a whole confusion matrix; of more, the most frequent confusions are kept
MOST_PAIRS = 100_000
MOST_SCORES = 20_000_000  # rows for the area under the curve
MOST_UNKNOWN = 1000
BINS = 10


@dataclass(frozen=True)
class Evaluation:
    """Counts of true against predicted labels; a true label that the model does not know counts as an error.

    Attributes
    ----------
    classes : array
    confusion : array of shape (n_classes, n_classes), or None where there are too many classes
        Rows (or their weights) of the true class i that were predicted as j.
    unknown : number of rows (or their weight) whose true label is none of the classes
    reliability : Reliability or None
        How sure the answers were and how often they were right, where there are probabilities.
    brier, log_loss : float or None
        The mean squared distance of the probabilities from what happened; the mean of ``-log p`` of what happened.
    auc : float or None
        The area under the curve of true against false positives, for two classes.
    there, named, right : arrays of shape (n_classes,)
        The rows of each class, those that were predicted as it, and those of them that were right.
    count, effective : the number of rows, and how many rows of equal weight are as good
    strangers : labels that the model does not know, and how many rows have each
    pairs : (true, predicted, rows) of the most frequent confusions
    """

    classes: NDArray[Any]
    confusion: NDArray[Any] | None
    unknown: float = 0
    reliability: Reliability | None = None
    brier: float | None = None
    log_loss: float | None = None
    auc: float | None = None
    there: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    named: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    right: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    count: int = 0
    effective: float = 0.0
    strangers: dict[str, int] = field(default_factory=dict)
    pairs: tuple[tuple[int, int, float], ...] = ()

    def __post_init__(self) -> None:
        if self.confusion is not None and not len(self.there):
            object.__setattr__(self, "there", self.confusion.sum(axis=1))
            object.__setattr__(self, "named", self.confusion.sum(axis=0))
            object.__setattr__(self, "right", np.diag(self.confusion))
        if not self.count:
            object.__setattr__(self, "count", int(self.rows))
        if not self.effective:
            object.__setattr__(self, "effective", float(self.rows))

    @property
    def rows(self) -> float:
        """The rows, or their weight."""
        weight: float = _plain(self.there.sum() + self.unknown)
        return weight

    @property
    def errors(self) -> float:
        weight: float = _plain(self.rows - self.right.sum())
        return weight

    @property
    def weighted(self) -> bool:
        return self.rows != self.count or self.effective != self.count

    @property
    def accuracy(self) -> float:
        return float(self.right.sum() / self.rows)

    @property
    def majority(self) -> float:
        """The accuracy of always naming the most frequent class."""
        return float(self.there.max() / self.rows)

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy, for rows drawn independently."""
        return interval_of(self.accuracy, self.effective)

    def by_class(self) -> list[tuple[Any, float, float, float, float]]:
        """For each class: label, rows, precision, recall and F1; 0 where there is nothing to divide by."""
        figures = []
        for k, label in enumerate(self.classes.tolist()):
            right, named, there = _plain(self.right[k]), _plain(self.named[k]), _plain(self.there[k])
            precision, recall = right / named if named else 0.0, right / there if there else 0.0
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            figures.append((label, there, precision, recall, f1))
        return figures

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over the classes, each counting alike."""
        return float(np.mean([f1 for *_, f1 in self.by_class()]))

    def verdict(self) -> str:
        """One sentence."""
        low, high = self.interval()
        unsure = "below" if high < self.majority else "not told apart, on so few rows, from"
        gain = "well above" if low > self.majority else unsure
        weight = f" of weight {self.rows:,.6g}" if self.weighted else ""
        return (
            f"{self.accuracy:.2%} of {self.count:,} rows{weight} right (95 % interval {low:.2%} to {high:.2%}), {gain} "
            f"the {self.majority:.2%} of always naming the most frequent class."
        )

    def to_json(self) -> dict[str, Any]:
        keys = ("label", "rows", "precision", "recall", "f1")
        found = {
            "rows": self.count,
            "weight": self.rows if self.weighted else None,
            "errors": self.errors,
            "accuracy": self.accuracy,
            "interval": list(self.interval()),
            "majority": self.majority,
            "macro_f1": self.macro_f1,
            "auc": self.auc,
            "log_loss": self.log_loss,
            "brier": self.brier,
            "ece": None if self.reliability is None else self.reliability.ece,
            "unknown_labels": _plain(self.unknown),
            "strangers": self.strangers,
            "classes": self.classes.tolist(),
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "confusions": [
                {"true": self.classes[i].item(), "predicted": self.classes[j].item(), "rows": _plain(n)}
                for i, j, n in self.pairs[:100]
            ],
            "by_class": [dict(zip(keys, each, strict=True)) for each in self.by_class()],
            "verdict": self.verdict(),
        }
        optional = ("weight", "auc", "log_loss", "brier", "ece", "strangers", "confusion")
        return {name: value for name, value in found.items() if name not in optional or value not in (None, {})}


def evaluate_batches(model: Model, batches: Iterable[Batch]) -> Evaluation:
    """Predict every row of the batches and count."""
    sums = Sums(model)
    for batch in batches:
        sums.add(model, batch)
    return sums.result(model)


def _settled(model: Model, batch: Batch) -> Batch:
    """A row for each line with several labels: an answer is right if it is one of them."""
    answers = model.answer(model.batch_scores(batch))
    return replace(batch.take(settle_labels(batch, answers, Classes(model.classes).codes(batch))), weights=None)


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

    def add(self, model: Model, batch: Batch) -> None:
        if batch.of_line is not None:
            batch = _settled(model, batch)
        true = self.classes.codes(batch)
        weights = np.ones(len(batch)) if batch.weights is None else batch.weights
        scores = model.batch_scores(batch)
        answers = model.answer(scores)
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
            self._add_probabilities(model.probabilities(scores)[known], true, answers, w)

    def _add_strangers(self, batch: Batch, known: NDArray[np.bool_]) -> None:
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
            _plain(self.unknown),
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


def _plain(value: Any) -> Any:
    """A whole number as one."""
    number = float(value)
    return int(number) if number == int(number) else number
