"""Accuracy of classes, calibration of probabilities, errors of regressions.

Invariant: a row counts with its weight in every figure, and no figure depends on how rows are cut into batches: sums
are exact. Memory does not grow with the square of the classes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import RowBatch
from rosenblatt.data.labels import Classes, Labels, Numbers, encode_labels, numbers_of, places_in
from rosenblatt.encode.lines import settle_labels
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import Predictions, labels_to_json, predict_codes

Floats = NDArray[np.float64]
Codes = NDArray[Any]
MAX_CONFUSION = 200  # classes with a whole confusion matrix; of more, the most frequent confusions stay
MAX_PAIRS = 100_000
MAX_SCORES = 20_000_000  # rows for curves over thresholds
MAX_UNKNOWN = 1000
BINS = 10
RECALLS = (0.5, 0.8, 0.9, 0.95, 0.99)
_SCALE = 1200  # bits behind the point of an exact sum
_Z = 1.959963984540054  # standard deviations on either side of the mean that hold 95 %


class Threshold(NamedTuple):
    """The result of predicting the larger of two classes from `threshold` on."""

    threshold: float
    rows: float
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class Reliability:
    """A reliability diagram: for each bin of confidence, the mean confidence and the share of right predictions."""

    count: Floats
    confidence: Floats
    accuracy: Floats

    @property
    def ece(self) -> float:
        """The expected calibration error: ``sum n_b/n |accuracy_b - confidence_b|``."""
        return float(np.sum(self.count * np.abs(self.accuracy - self.confidence)) / self.count.sum())


@dataclass(frozen=True)
class Evaluation:
    """Counts of true against predicted labels; a true label that the model does not know counts as an error.

    Attributes
    ----------
    classes : array
    unknown : number of rows (or their weight) whose true label is not among the classes
    reliability : Reliability or None
        The probability of the most likely class, and how often it was the true one.
    brier, log_loss : float or None
        The mean squared distance of the probabilities from the outcome; the mean of ``-log p`` of the outcome.
    auc, pr_auc : float or None
        The area under the curve of true against false positives, and the average precision of the larger class, for
        two classes. Accuracy hides a rare class; the average precision shows it, beside its share in the rows.
    thresholds : tuple of Threshold
        For two classes: the thresholds that reach some recalls, and the one with the highest F1. They cut probabilities
        if the model has them, else scores.
    support, predicted, correct : lists of a number per class
        The rows of each class, those predicted as it, and the correct ones among these.
    count, effective : the number of rows, and how many rows of equal weight are as good
    unknown_labels : labels that the model does not know, and how many rows have each
    pairs : (true, predicted, rows) of the confusions, the most frequent first
    """

    classes: NDArray[Any]
    unknown: float
    support: list[float]
    predicted: list[float]
    correct: list[float]
    count: int
    effective: float
    unknown_labels: dict[str, int] = field(default_factory=dict)
    pairs: tuple[tuple[int, int, float], ...] = ()
    reliability: Reliability | None = None
    brier: float | None = None
    log_loss: float | None = None
    auc: float | None = None
    pr_auc: float | None = None
    thresholds: tuple[Threshold, ...] = ()

    @property
    def confusion(self) -> NDArray[Any] | None:
        """The rows, or their weights, of the true class i that were predicted as j; None for too many classes."""
        if len(self.classes) > MAX_CONFUSION:
            return None
        matrix = np.diag(np.array(self.correct, np.float64 if self.weighted else np.int64))
        for true, predicted, rows in self.pairs:
            matrix[true, predicted] = rows
        return matrix

    @property
    def rows(self) -> float:
        """The rows, or their weight."""
        return _whole(math.fsum(self.support) + self.unknown)

    @property
    def errors(self) -> float:
        return _whole(self.rows - math.fsum(self.correct))

    @property
    def weighted(self) -> bool:
        return self.rows != self.count or self.effective != self.count

    @property
    def accuracy(self) -> float:
        return math.fsum(self.correct) / self.rows

    @property
    def baseline(self) -> float:
        """The accuracy of always predicting the most frequent class."""
        return max(self.support) / self.rows

    @property
    def ece(self) -> float | None:
        """The expected calibration error, of a model with probabilities."""
        return None if self.reliability is None else self.reliability.ece

    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy, for rows drawn independently."""
        p, n, z = self.accuracy, self.effective, _Z
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(0.0, middle - half), min(1.0, middle + half)

    def by_class(self) -> list[tuple[Any, float, float, float, float]]:
        """For each class: label, rows, precision, recall and F1; 0 if the divisor is 0."""
        figures, counts = [], (self.correct, self.predicted, self.support)
        for label, correct, predicted, support in zip(labels_to_json(self.classes), *counts, strict=True):
            precision, recall = correct / predicted if predicted else 0.0, correct / support if support else 0.0
            f1 = 2 * correct / (predicted + support) if correct else 0.0
            figures.append((label, support, precision, recall, f1))
        return figures

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over the classes, each counting alike."""
        return float(np.mean([f1 for *_, f1 in self.by_class()]))

    def verdict(self) -> str:
        """The result in one sentence."""
        if not any(self.support):
            return f"None of {self.count:,} rows has a label that the model knows, so none is right."
        low, high = self.interval()
        unsure = "below" if high < self.baseline else "not distinguishable, with so few rows, from"
        gain = "above" if low > self.baseline else unsure
        weight = f" of weight {self.rows:,.6g}" if self.weighted else ""
        return (
            f"{self.accuracy:.2%} of {self.count:,} rows{weight} right (95% interval {low:.2%} to {high:.2%}), {gain} "
            f"the baseline of {self.baseline:.2%}, always predicting the most frequent class."
        )

    def to_json(self) -> dict[str, Any]:
        labels, keys = labels_to_json(self.classes), ("label", "rows", "precision", "recall", "f1")
        figures = ("errors", "accuracy", "baseline", "macro_f1", "auc", "pr_auc", "log_loss", "brier", "ece")
        found = {
            "rows": self.count,
            "weight": self.rows if self.weighted else None,
            **{name: getattr(self, name) for name in figures},
            "interval": list(self.interval()),
            "thresholds": [each._asdict() for each in self.thresholds] or None,
            "unknown_rows": self.unknown,
            "unknown_labels": self.unknown_labels,
            "classes": labels,
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "confusions": [{"true": labels[i], "predicted": labels[j], "rows": n} for i, j, n in self.pairs[:100]],
            "by_class": [dict(zip(keys, each, strict=True)) for each in self.by_class()],
            "verdict": self.verdict(),
        }
        return {name: value for name, value in found.items() if value not in (None, {})}


@dataclass(frozen=True)
class RegressionEvaluation:
    """Predictions beside targets; an error is the prediction less the target.

    Parameters
    ----------
    count : rows, without those of weight 0
    weight : sum of their weights
    mean_absolute_error, root_mean_squared_error : floats
    bias : the mean error: above 0 if predictions are too large
    spread : the root mean squared error of always predicting the mean of the targets
    """

    count: int
    weight: float
    mean_absolute_error: float
    root_mean_squared_error: float
    bias: float
    spread: float

    @property
    def r2(self) -> float | None:
        """The share of the targets' variance that is explained; None if they are all alike."""
        return 1.0 - (self.root_mean_squared_error / self.spread) ** 2 if self.spread else None

    def verdict(self) -> str:
        """The result in one sentence."""
        weight = "" if self.weight == self.count else f" of weight {self.weight:,.6g}"
        beside = "the targets are all alike" if self.r2 is None else f"R² {self.r2:.4f}"
        return (
            f"Mean absolute error {self.mean_absolute_error:.6g} over {self.count:,} rows{weight}, RMSE "
            f"{self.root_mean_squared_error:.6g}; RMSE of predicting the mean: {self.spread:.6g} ({beside})."
        )

    def to_json(self) -> dict[str, Any]:
        found = {"rows": self.count, **vars(self), "r2": self.r2, "verdict": self.verdict()}
        del found["count"]
        if self.weight == self.count:
            del found["weight"]
        return {name: value for name, value in found.items() if value is not None}


Result = Evaluation | RegressionEvaluation


@dataclass(frozen=True)
class PairedComparison:
    """Two models on the same rows: a positive difference means that the second is better.

    `scores` are the accuracies, or for regressions the negative mean absolute errors. `interval` holds the difference
    of the two in 95 of 100 samples of such rows; since both models predict the same rows, it is narrower than the
    intervals of either.
    """

    rows: int
    scores: tuple[float, float]
    difference: float
    interval: tuple[float, float]

    def verdict(self) -> str:
        """The result in one sentence."""
        low, high = self.interval
        winner = "the second is better" if low > 0 else "the first is better" if high < 0 else "no difference is shown"
        return (
            f"{self.scores[0]:.6g} and {self.scores[1]:.6g} on the same {self.rows:,} rows: difference "
            f"{self.difference:+.6g} (95% interval {low:+.6g} to {high:+.6g}), {winner}."
        )


def evaluate(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Evaluate a fitted learner, or a loaded model, on labeled rows: an `Evaluation`, or a `RegressionEvaluation`.

    >>> from rosenblatt import AveragedPerceptron, Calibrated
    >>> rows, labels = [[0.0], [1.0], [5.0], [6.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> found = evaluate(Calibrated(AveragedPerceptron()).fit(rows, labels), rows, labels)
    >>> found.errors, found.reliability.ece < 0.2
    (0, True)
    """
    from sklearn.base import is_regressor  # which takes longer to import than `train` to learn a small file

    if is_regressor(model):
        targets = Numbers.of(y, 0.0).numbers
        return _regression([(model.predict(X) - targets, targets, _weights(sample_weight, len(targets)))])
    evaluator = Evaluator(np.asarray(model.classes_))
    evaluator.add_rows(model, X, encode_labels(y), sample_weight)
    return evaluator.result()


def evaluate_scores(
    classes: NDArray[Any], codes: NDArray[Any], scores: Floats, weights: Any, calibrator: Calibrator
) -> Evaluation:
    """Evaluate the scores of rows with these codes; thresholds apply to the calibrated probabilities."""
    evaluator = Evaluator(classes)
    cuts = Predictions(classes, scores, False, calibrator).probabilities
    evaluator.add(codes, predict_codes(scores), weights, scores, cuts=cuts)
    return evaluator.result()


def evaluate_batches(model: Model, batches: Iterable[RowBatch]) -> Any:
    """Predict every row of the batches and compare: an `Evaluation`, or a `RegressionEvaluation`."""
    if model.is_regression:
        return _regression(_regression_errors(model, batches))
    evaluator = Evaluator.of(model)
    for batch in batches:
        for part in batch.split(len(model.classes)):
            evaluator.add_batch(model, part)
    return evaluator.result()


def compare_models(
    first: Model, second: Model, first_batches: Iterable[RowBatch], second_batches: Iterable[RowBatch]
) -> PairedComparison:
    """Compare two models on the same rows, each as its own encoder reads them.

    The interval is the adjusted Wald interval of a paired difference: A. Agresti and Y. Min (2005), Simple improved
    confidence intervals for comparing matched proportions.
    """
    if first.is_regression != second.is_regression:
        raise ModelError("the models cannot be compared: one predicts numbers, the other classes")
    (one, w), (other, w2) = _row_scores(first, first_batches), _row_scores(second, second_batches)
    if not len(one) or len(one) != len(other) or not np.array_equal(w, w2):
        raise DataError(f"the models read {len(one):,} and {len(other):,} rows: a comparison needs the same rows")
    weight = math.fsum(w)
    means = math.fsum(w * one) / weight, math.fsum(w * other) / weight
    n = weight**2 / math.fsum(w**2)
    gains = other - one
    # Two more rows, half of one for each model.
    extra = 0.0 if first.is_regression else 1.0
    mean = math.fsum(w * gains) / weight * n / (n + 2 * extra)
    square = (math.fsum(w * gains**2) / weight * n + extra) / (n + 2 * extra)
    half = _Z * math.sqrt(max(square - mean**2, 0.0) / (n + 2 * extra))
    return PairedComparison(len(one), means, means[1] - means[0], (mean - half, mean + half))


class ExactSums:
    """Sums by name and key that are the same however the values are cut: whole numbers of 2**-_SCALE."""

    def __init__(self) -> None:
        self.of: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add(self, name: str, values: Floats, keys: NDArray[Any] | None = None) -> None:
        """Add the values to the sum of each key, or of key 0.

        Values of one exponent are whole numbers of the same unit; halves of them add up in float64 without rounding.
        """
        mantissas, exponents = np.frexp(values)
        units = (mantissas * 2.0**53).astype(np.int64)
        at = (0 if keys is None else keys.astype(np.int64) << 12) + exponents.astype(np.int64) + 2048
        distinct, places = np.unique(at, return_inverse=True)
        high = np.bincount(places, units >> 27, len(distinct)).astype(np.int64).tolist()
        low = np.bincount(places, units & ((1 << 27) - 1), len(distinct)).astype(np.int64).tolist()
        for each, upper, lower in zip(distinct.tolist(), high, low, strict=True):
            self.of[name][each >> 12] += ((upper << 27) + lower) << ((each & 4095) - 2048 - 53 + _SCALE)

    def total(self, name: str, key: int = 0) -> float:
        return _whole(self.of[name][key] / (1 << _SCALE))


class Evaluator:
    """The exact sums behind an evaluation of classes; those of several parts of the rows can be merged."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes, self.K, self.count = classes, len(classes), 0
        self.sums, self.unknown_labels = ExactSums(), Counter[str]()
        self.curve: list[tuple[Floats, Floats, NDArray[np.bool_], Floats]] = []

    @classmethod
    def of(cls, model: Model) -> Evaluator:
        """For the classes of a model."""
        if model.is_regression or model.is_multilabel:
            kind = "a regression" if model.is_regression else "a model of several labels per row"
            raise ModelError(f"{kind} has no classes; evaluate needs a classifier")
        return cls(model.classes)

    def add_batch(self, model: Model, batch: RowBatch) -> None:
        """Predict the rows of a batch and count."""
        classes, scores = Classes(model.classes), model.batch_scores(batch)
        if batch.has_copies:  # a line with several labels: an answer is right if it is one of them
            keep = settle_labels(batch, model.predictions(scores).codes, classes.codes(batch))
            batch, scores = replace(batch.take(keep), weights=None), scores[keep]
        found, true = model.predictions(scores), classes.codes(batch)
        names = [*(label.decode("utf-8", "replace") for label in batch.labels), ""]
        self.count_unknown(Counter(names[code] for code in batch.codes[true < 0].tolist()))
        P = None if model.calibrator is None else found.probabilities
        self.add(true, found.codes, batch.weights, scores, P, cuts=P)

    def add_rows(self, model: Any, X: Any, labels: Labels, weights: Any = None) -> None:
        """Predict rows with a fitted classifier or a model, and count."""
        true, P, scores = places_in(self.classes, labels.classes)[labels.codes], None, None
        with suppress(AttributeError, ModelError):  # of a model with scores only
            P = np.asarray(model.predict_proba(X))
        if hasattr(model, "decision_function"):
            scores = np.asarray(model.decision_function(X))
        self.count_unknown(Counter(map(str, labels.classes[labels.codes[true < 0]].tolist())))
        self.add(true, places_in(self.classes, np.asarray(model.predict(X))), weights, scores, P, cuts=P)

    def count_unknown(self, labels: Mapping[str, int]) -> None:
        """Count labels that are not among the classes: the first `MAX_UNKNOWN` of them."""
        self.unknown_labels.update(labels)
        self.unknown_labels = Counter(dict(islice(self.unknown_labels.items(), MAX_UNKNOWN)))

    def add(
        self, true: Codes, predicted: Codes, weights: Any, scores: Any, P: Any = None, *, cuts: Floats | None
    ) -> None:
        """Count rows by the codes of their true (-1: unknown) and their predicted class.

        Thresholds apply to the probabilities `cuts`, else to scores; `P` are the probabilities that are measured.
        """
        sums, w, known = self.sums, _weights(weights, len(true)), true >= 0
        self.count += int((w > 0).sum())
        sums.add("weight", w)
        sums.add("squares", w**2)
        sums.add("unknown", w[~known])
        true, predicted, w = true[known].astype(np.int64), predicted[known], w[known]
        correct = true == predicted
        sums.add("support", w, true)
        sums.add("predicted", w, predicted)
        sums.add("correct", w[correct], true[correct])
        sums.add("confusion", w[~correct], (true * self.K + predicted)[~correct])
        if self.K > MAX_CONFUSION and len(pairs := sums.of["confusion"]) > MAX_PAIRS:  # the rarest go
            sums.of["confusion"] = Counter(dict(pairs.most_common(MAX_PAIRS // 2)))
        if self.K == 2 and scores is not None and self.count <= MAX_SCORES:
            flat = scores.reshape(len(known), -1)[known, -1]
            self.curve.append((flat, flat if cuts is None else cuts[known, 1], true == 1, w))
        if P is not None:
            self._add_probabilities(P[known], true, w)

    def merge(self, other: Evaluator) -> Evaluator:
        """Add the sums over other rows."""
        for name, sums in other.sums.of.items():
            self.sums.of[name].update(sums)
        self.count += other.count
        self.curve = self.curve + other.curve if self.count <= MAX_SCORES else []
        self.count_unknown(other.unknown_labels)
        return self

    def result(self) -> Evaluation:
        if not self.count:
            raise DataError("the data has no rows")
        total, found = self.sums.total, self.sums.of["confusion"]
        confusions = [(*divmod(key, self.K), total("confusion", key)) for key, value in found.items() if value]
        return Evaluation(
            classes=self.classes,
            unknown=total("unknown"),
            support=[total("support", k) for k in range(self.K)],
            predicted=[total("predicted", k) for k in range(self.K)],
            correct=[total("correct", k) for k in range(self.K)],
            count=self.count,
            effective=total("weight") ** 2 / total("squares"),
            unknown_labels=dict(sorted(self.unknown_labels.items(), key=lambda pair: (-pair[1], pair[0]))),
            pairs=tuple(sorted(confusions, key=lambda each: (-each[2], *each))),
            **self._probabilities(),
            **self._curves(),
        )

    def _add_probabilities(self, P: Floats, true: NDArray[np.int64], w: Floats) -> None:
        """The probability of the most likely class counts for that class, even if weights decide for another."""
        happened = P[np.arange(len(true)), true]
        self.sums.add("known", w)
        self.sums.add("loss", -w * engine.log(np.maximum(happened, 1e-15)))
        distance = (P[:, 1] - true) ** 2 if self.K == 2 else (P**2).sum(axis=1) - 2 * happened + 1
        self.sums.add("brier", w * distance)
        confidence, right = P.max(axis=1), P.argmax(axis=1) == true
        bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
        self.sums.add("bin", w, bins)
        self.sums.add("confidence", w * confidence, bins)
        self.sums.add("right", w * right, bins)

    def _probabilities(self) -> dict[str, Any]:
        """The figures of probabilities, if there are any."""
        known = self.sums.total("known")
        if not known:
            return {}
        bins = np.array([[self.sums.total(name, k) for k in range(BINS)] for name in ("bin", "confidence", "right")])
        count, confidence, right = bins[:, bins[0] > 0]
        return {
            "reliability": Reliability(count, confidence / count, right / count),
            "brier": self.sums.total("brier") / known,
            "log_loss": self.sums.total("loss") / known,
        }

    def _curves(self) -> dict[str, Any]:
        """The areas under the curves of two classes, and some thresholds."""
        no, yes = self.sums.total("support", 0), self.sums.total("support", 1)
        if not self.curve or self.count > MAX_SCORES or not yes or not no:
            return {}
        scores, cuts, positive, w = (np.concatenate(each) for each in zip(*self.curve, strict=True))
        _, hits, named = _cut(scores, positive, w)
        misses = named - hits
        auc = math.fsum(np.diff(misses, prepend=0.0) * (hits + np.append(0.0, hits[:-1]))) / (2 * yes * no)
        pr_auc = math.fsum(np.diff(hits, prepend=0.0) * hits / np.where(named > 0, named, 1.0)) / yes
        levels, hits, named = _cut(cuts, positive, w)
        precision, recall = hits / np.where(named > 0, named, 1.0), hits / yes
        f1 = 2 * hits / (named + yes)
        at = {int(np.searchsorted(recall, min(level, recall[-1]))) for level in RECALLS} | {int(np.argmax(f1))}
        table = tuple(
            Threshold(float(levels[k]), _whole(named[k]), float(precision[k]), float(recall[k]), float(f1[k]))
            for k in sorted(at)
        )
        return {"auc": auc, "pr_auc": pr_auc, "thresholds": table}


def _cut(values: Floats, positive: NDArray[np.bool_], w: Floats) -> tuple[Floats, Floats, Floats]:
    """The distinct values from the highest; the weight of the positive rows, and of all rows, from each value on."""
    levels, places = np.unique(-values, return_inverse=True)
    hits: Floats = np.cumsum(np.bincount(places, np.where(positive, w, 0.0), len(levels)))
    named: Floats = np.cumsum(np.bincount(places, w, len(levels)))
    return 0.0 - levels, hits, named


def _regression(parts: Iterable[tuple[Floats, Floats, Floats]]) -> RegressionEvaluation:
    """The evaluation from errors, targets and weights."""
    names, count, sums, origin = ("absolute", "squares", "bias", "first", "second"), 0, ExactSums(), None
    for errors, targets, w in parts:
        if origin is None and len(targets):
            origin = float(targets[0])  # near the targets, so that their squares lose no digits
        centered = targets - (origin or 0.0)
        count += int((w > 0).sum())
        sums.add("weight", w)
        for name, values in zip(names, (np.abs(errors), errors**2, errors, centered, centered**2), strict=True):
            sums.add(name, w * values)
    if not count:
        raise DataError("the data has no rows")
    weight = float(sums.total("weight"))
    absolute, squares, bias, first, second = (sums.total(name) / weight for name in names)
    spread = math.sqrt(max(0.0, second - first**2))
    return RegressionEvaluation(count, weight, absolute, math.sqrt(squares), bias, spread)


def _regression_errors(model: Model, batches: Iterable[RowBatch]) -> Iterator[tuple[Floats, Floats, Floats]]:
    """The errors, the targets and the weights of each batch."""
    targets_of = numbers_of if model.encoder is None else model.encoder.targets
    for batch in batches:
        targets = np.append(targets_of(batch.labels), np.nan)[batch.codes]
        predicted = model.predictions(model.batch_scores(batch)).labels
        yield predicted - targets, targets, _weights(batch.weights, len(batch))


def _weights(weights: Any, rows: int) -> Floats:
    return np.ones(rows) if weights is None else np.asarray(weights, np.float64)


def _row_scores(model: Model, batches: Iterable[RowBatch]) -> tuple[Floats, Floats]:
    """1 for each row that is predicted right, else 0; for a regression, less its absolute error. And the weights."""
    classes, found = Classes(model.classes), [np.empty((2, 0))]
    if model.is_regression:
        found += [np.stack([-np.abs(errors), w]) for errors, _, w in _regression_errors(model, batches)]
    else:
        for batch in batches:
            right = model.predictions(model.batch_scores(batch)).codes == classes.codes(batch)
            found.append(np.stack([right, _weights(batch.weights, len(batch))]))
    scores, weights = np.hstack(found)
    return scores, weights


def _whole(value: float) -> float:
    """A whole number as an int."""
    return int(value) if value == int(value) and abs(value) < 2**53 else float(value)
