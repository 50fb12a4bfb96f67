"""The figures of an evaluation, and the sentence that is made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rosenblatt.select.probability import Reliability


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
        weight: float = plain(self.there.sum() + self.unknown)
        return weight

    @property
    def errors(self) -> float:
        weight: float = plain(self.rows - self.right.sum())
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
            right, named, there = plain(self.right[k]), plain(self.named[k]), plain(self.there[k])
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
        if not self.there.any():
            return f"None of {self.count:,} rows has a label that the model knows, so none is right."
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
            "unknown_labels": plain(self.unknown),
            "strangers": self.strangers,
            "classes": self.classes.tolist(),
            "confusion": None if self.confusion is None else self.confusion.tolist(),
            "confusions": [
                {"true": self.classes[i].item(), "predicted": self.classes[j].item(), "rows": plain(n)}
                for i, j, n in self.pairs[:100]
            ],
            "by_class": [dict(zip(keys, each, strict=True)) for each in self.by_class()],
            "verdict": self.verdict(),
        }
        optional = ("weight", "auc", "log_loss", "brier", "ece", "strangers", "confusion")
        return {name: value for name, value in found.items() if name not in optional or value not in (None, {})}


def interval_of(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many rows, drawn independently.

    >>> [round(end, 4) for end in interval_of(0.9, 100)]
    [0.8256, 0.9448]
    """
    p, n, z = share, rows, 1.959963984540054
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(max(p * (1 - p), 0.0) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def plain(value: Any) -> Any:
    """A whole number as one."""
    number = float(value)
    return int(number) if number == int(number) else number
