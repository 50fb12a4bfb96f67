"""Tasks and targets: the target and the weight of each row, and the held-out rows.

Invariant: loops know targets only. A new task is a value of `Task`, and a branch in `Targets` and in `targets_of`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers, label_values
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.params import Params, weight_of_class

Floats = NDArray[np.float64]
GeneratorState = NDArray[np.uint64]
Order = NDArray[np.uint32] | None  # the rows to go over, in this order; None: all, as they are stored
Shuffle = bool | Literal["rows"]  # "rows": every row by itself, not strips of them


class Task(Enum):
    """The kind of target that one problem has; several labels per row are a binary problem each."""

    BINARY = "binary"
    MULTICLASS = "multiclass"
    REGRESSION = "regression"


@dataclass(frozen=True)
class Targets:
    """The targets of the rows of one problem, and their weights."""

    y: NDArray[Any]  # int8 signs (binary), int32 codes (multiclass) or float64 numbers (regression)
    weight_rows: int
    sample_weight: Floats | None = None
    tie_positive: bool = False
    epsilon: float = 0.0  # a regression's score within this distance of its target is right

    @property
    def task(self) -> Task:
        """The kind of the problem."""
        if self.y.dtype.kind == "f":
            return Task.REGRESSION
        return Task.BINARY if self.weight_rows == 1 else Task.MULTICLASS

    @cached_property
    def view(self) -> engine.Targets:
        """The targets as the engine sees them."""
        return engine.Targets(
            self.y,
            rows=self.weight_rows,
            sample_weight=self.sample_weight,
            tie_positive=self.tie_positive,
            epsilon=self.epsilon,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: found for name, found in vars(self).items() if name != "view"}

    def take(self, index: NDArray[Any] | None) -> Targets:
        """The targets of some rows; None: of all."""
        if index is None:
            return self
        weights = None if self.sample_weight is None else self.sample_weight[index]
        return replace(self, y=self.y[index], sample_weight=weights)

    def total(self, rows: Order) -> float:
        """The weight of the rows together."""
        part = self.take(rows)
        return float(len(part.y) if part.sample_weight is None else part.sample_weight.sum())

    def wrong(self, scores: Floats) -> NDArray[np.bool_]:
        """A mask of the mistaken rows for scores of shape (rows, K); a score of 0 is a mistake, and so is a tie."""
        if self.task is Task.REGRESSION or (self.task is Task.BINARY and self.tie_positive):
            return ~self.right(scores)
        if self.task is Task.BINARY:
            return np.less_equal(self.y * scores[:, 0], 0)
        every = np.arange(len(self.y))
        others = scores.copy()
        others[every, self.y] = -np.inf
        wrong: NDArray[np.bool_] = scores[every, self.y] <= others.max(axis=1)
        return wrong

    def right(self, scores: Floats) -> NDArray[np.bool_]:
        """A mask of the rows that these scores predict right."""
        if self.task is Task.REGRESSION:
            return np.less_equal(np.abs(self.y - scores[:, 0]), self.epsilon)
        if self.task is Task.BINARY:
            return np.equal(scores[:, 0] >= 0, self.y > 0)
        right: NDArray[np.bool_] = np.argmax(scores, axis=1) == self.y
        return right

    def quality(self, scores: Floats) -> float:
        """The share of the rows that are right; for a regression R², which has no unit."""
        if self.task is not Task.REGRESSION:
            return float(np.average(self.right(scores), weights=self.sample_weight))
        mean = np.average(self.y, weights=self.sample_weight)
        away, spread = ((self.y - other) ** 2 for other in (scores[:, 0], mean))
        left, most = (float(np.average(each, weights=self.sample_weight)) for each in (away, spread))
        return 1.0 - left / most if most > 0 else -left

    def mistakes(self, scores: Floats) -> float:
        """The weight of the rows that are mistakes at these scores."""
        wrong = self.wrong(scores)
        return float(np.count_nonzero(wrong) if self.sample_weight is None else self.sample_weight[wrong].sum())


def targets_of(labels: Labels, sample_weight: Floats | None = None, params: Params | None = None) -> list[Targets]:
    """The problems for these labels: one, or one per class if the params learn one against the rest."""
    classes = len(labels.classes)
    tie_positive, ovr = (params.tie == "positive", params.is_ovr(classes)) if params is not None else (False, False)
    if isinstance(labels, Numbers):
        return [Targets(labels.numbers, 1, sample_weight, epsilon=labels.epsilon)]
    if labels.is_multilabel or ovr:
        return [Targets(labels.signs(k), 1, sample_weight, tie_positive) for k in range(classes)]
    if classes <= 2:
        return [Targets(labels.signs(), 1, sample_weight, tie_positive)]
    return [Targets(labels.codes, classes, sample_weight, tie_positive)]


def target_units(numbers: Floats) -> tuple[float, float]:
    """The median of the different targets, and their mean distance from it: 1 if there is only one."""
    different = np.unique(numbers)
    center = float(np.median(different))
    with np.errstate(over="ignore"):
        spread = float(np.abs(different - center).mean())
    return center, spread if 0 < spread < np.inf else 1.0


def problem_shape(params: Params, classes: int, is_multilabel: bool = False) -> tuple[int, int]:
    """The number of independent problems, and of weight rows that each has."""
    return (classes, 1) if is_multilabel or params.is_ovr(classes) else (1, weight_rows(classes))


def weight_rows(classes: int) -> int:
    """How many weight rows a joint problem has: one for two classes, else one each."""
    return 1 if classes <= 2 else classes


def row_weights(sample_weight: Any, class_weight: Any, labels: Labels, *, more_to_come: bool = False) -> Floats | None:
    """The product of both, or None if every row weighs 1.

    A row of weight 0 is ignored. A weight that is negative or not finite is an error that names the row. With
    `more_to_come`, a class weight may name a class that has not come yet, and all rows may weigh 0.
    """
    weights = None if sample_weight is None else _checked(sample_weight, len(labels.codes))
    if class_weight is not None:
        by_class = class_weights(class_weight, labels, weights, more_to_come=more_to_come)[labels.codes]
        weights = by_class if weights is None else weights * by_class
    if weights is None or bool(np.all(weights == 1.0)):
        return None
    if not weights.any() and not more_to_come:
        raise DataError("every sample_weight is zero: there is nothing to learn from")
    return weights


def rows_with_weight(weights: Floats | None) -> Order:
    """The rows with a weight above 0; None: all."""
    return None if weights is None or weights.all() else np.flatnonzero(weights).astype(np.uint32)


def are_absent(sample_weight: Any, labels: Labels) -> bool:
    """True if all rows have the weight 0, so that they are ignored."""
    return sample_weight is not None and not _checked(sample_weight, len(labels.codes)).any()


def class_weights(class_weight: Any, labels: Labels, weights: Floats | None, *, more_to_come: bool = False) -> Floats:
    """One weight per class, from a dict or 'balanced': ``n / (K n_k)``, rows counted with their sample weights."""
    classes = labels.classes
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(labels.codes, weights, minlength=len(classes))
        balanced = np.ones(len(classes))
        np.divide(counts.sum() / len(classes), counts, out=balanced, where=counts > 0)
        return balanced
    try:
        given = dict(class_weight)
    except (TypeError, ValueError):
        raise ParameterError(
            f"class_weight={class_weight!r}: must be 'balanced', a dict of label: weight, or None"
        ) from None
    result = np.array([weight_of_class(given, label) for label in label_values(classes)])
    unknown = [label for label in given if label not in label_values(classes)]
    if unknown and not more_to_come:
        raise ParameterError(f"class_weight: {unknown[0]!r} is not among the classes {classes.tolist()}")
    return result


def _checked(sample_weight: Any, rows: int) -> Floats:
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight must be numbers, one per row") from None
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise DataError(f"Sample weights must be 1D array or scalar, one weight per row; got shape {weights.shape}")
    if len(weights) != rows:
        raise DataError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}: one weight per row")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(f"sample_weight has {weights[row]:g} in row {row}: must be finite and at least 0")
    return np.ascontiguousarray(weights)


def draw_order(
    rows: NDArray[np.uint32] | int, generator: GeneratorState, shuffle: Shuffle = "rows", out: Order = None
) -> NDArray[np.uint32]:
    """A shuffled order of the rows, or of so many, written to `out`; advances the generator."""
    named, count = (None, rows) if isinstance(rows, int) else (rows, len(rows))
    order = np.empty(count, np.uint32) if out is None else out  # fresh pages cost time
    engine.draw_order(order, generator, named, max(count, 1) if shuffle == "rows" else engine.WINDOW)
    return order


def hold_out(
    labels: Labels, rows: Order, fraction: float, generator: GeneratorState
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Rows to learn from and rows to validate on, in order: the same share of every class, and never all of one.

    If a share of each class is less than half a row, single rows of as many classes are held out, at least one.
    """
    everything = np.arange(len(labels.codes), dtype=np.uint32) if rows is None else rows
    codes = labels.codes[everything]
    held = np.zeros(len(labels.codes), bool)
    firsts = []  # of the classes with more than one row, in the order of the draw
    for k in range(max(len(labels.classes), 1)):  # a regression has no classes, and codes of 0
        members = draw_order(everything[codes == k], generator)
        if len(members) > 1:
            firsts.append(members[0])
            held[members[: min(round(fraction * len(members)), len(members) - 1)]] = True
    if not held.any():
        single = draw_order(np.array(firsts, np.uint32), generator)
        held[single[: max(1, round(fraction * len(everything)))]] = True
    validation, training = everything[held[everything]], everything[~held[everything]]
    if not len(validation):
        raise DataError(
            f"validation_fraction={fraction} of {len(everything)} rows leaves no row to validate on: "
            "no class has two of them; pass X_val and y_val"
        )
    return training, validation
