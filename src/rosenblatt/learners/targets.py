"""What examples ask for, how much each weighs and which are held out: the seam between a task and the loops.

Invariant: loops know targets only; which task they belong to, and how its classes are told apart, is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers, label_values
from rosenblatt.errors import DataError, ParameterError


@dataclass(frozen=True)
class Targets:
    """What each row should be: a sign (two classes), a code (more) or a number, and how much the row weighs."""

    y: NDArray[Any]  # int8 signs, int32 codes or float64 numbers
    weight_rows: int  # that one problem has
    sample_weight: NDArray[np.float64] | None = None
    tie_positive: bool = False
    epsilon: float = 0.0  # how far from its number a score is right

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

    @property
    def measured(self) -> bool:
        """Are they numbers?"""
        return bool(self.y.dtype.kind == "f")

    def __getstate__(self) -> dict[str, Any]:
        return {name: found for name, found in vars(self).items() if name != "view"}

    def take(self, index: NDArray[Any]) -> Targets:
        """Those of some rows."""
        weights = None if self.sample_weight is None else self.sample_weight[index]
        return replace(self, y=self.y[index], sample_weight=weights)

    def total(self, rows: NDArray[np.uint32] | None) -> float:
        """What the rows weigh together."""
        if self.sample_weight is None:
            return float(len(self.y) if rows is None else len(rows))
        return float((self.sample_weight if rows is None else self.sample_weight[rows]).sum())

    def wrong(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which rows are mistakes at these scores, of shape (rows, K); a score of 0 is one, a tie too."""
        if self.measured:
            return ~self.right(scores)
        if self.weight_rows == 1:
            if self.tie_positive:
                return np.not_equal(scores[:, 0] >= 0, self.y > 0)
            return np.less_equal(self.y * scores[:, 0], 0)
        every = np.arange(len(self.y))
        others = scores.copy()
        others[every, self.y] = -np.inf
        wrong: NDArray[np.bool_] = scores[every, self.y] <= others.max(axis=1)
        return wrong

    def right(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which rows are predicted right at these scores."""
        if self.measured:
            return np.less_equal(np.abs(self.y - scores[:, 0]), self.epsilon)
        if self.weight_rows == 1:
            return np.equal(scores[:, 0] >= 0, self.y > 0)
        right: NDArray[np.bool_] = np.argmax(scores, axis=1) == self.y
        return right

    def quality(self, scores: NDArray[np.float64]) -> float:
        """How good the scores are: the share of the rows that are right, or for numbers R², which has no unit."""
        if not self.measured:
            return float(np.average(self.right(scores), weights=self.sample_weight))
        mean = np.average(self.y, weights=self.sample_weight)
        away, spread = ((self.y - other) ** 2 for other in (scores[:, 0], mean))
        left, most = (float(np.average(each, weights=self.sample_weight)) for each in (away, spread))
        return 1.0 - left / most if most > 0 else -left

    def weigh(self, chosen: NDArray[np.bool_]) -> float:
        """What some of the rows weigh together."""
        if self.sample_weight is None:
            return float(np.count_nonzero(chosen))
        return float(self.sample_weight[chosen].sum())


def targets_of(
    labels: Labels,
    *,
    ovr: bool = False,
    sample_weight: NDArray[np.float64] | None = None,
    tie_positive: bool = False,
) -> list[Targets]:
    """The problems that labels pose: one, or one per class against the rest."""
    if isinstance(labels, Numbers):
        return [Targets(labels.numbers, 1, sample_weight, epsilon=labels.epsilon)]
    classes = len(labels.classes)

    def problem(y: NDArray[Any], rows: int) -> Targets:
        return Targets(y, rows, sample_weight, tie_positive)

    if labels.is_multilabel or (ovr and classes > 2):
        return [problem(labels.signs(k), 1) for k in range(classes)]
    return [problem(labels.signs(), 1) if classes <= 2 else problem(labels.codes, classes)]


def target_units(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """The median of the different targets, and their mean distance from it: 1 if there is only one."""
    different = np.unique(numbers)
    center = float(np.median(different))
    with np.errstate(over="ignore"):
        spread = float(np.abs(different - center).mean())
    return center, spread if 0 < spread < np.inf else 1.0


def weight_rows(classes: int) -> int:
    """How many weight rows a joint problem has: one for two classes, else one each."""
    return 1 if classes <= 2 else classes


def row_weights(
    sample_weight: Any, class_weight: Any, labels: Labels, *, more_to_come: bool = False
) -> NDArray[np.float64] | None:
    """The product of both, or None where every row weighs 1.

    A weight of 0 is a row that is not there. Negative or not finite is an error that names the row. With
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


def are_absent(sample_weight: Any, labels: Labels) -> bool:
    """Have all rows the weight 0, so that they are as if absent?"""
    weights = None if sample_weight is None else _checked(sample_weight, len(labels.codes))
    return weights is not None and not weights.any()


def class_weights(
    class_weight: Any, labels: Labels, weights: NDArray[np.float64] | None, *, more_to_come: bool = False
) -> NDArray[np.float64]:
    """One weight per class, from a dict or 'balanced': ``n / (K n_k)``, rows counted with their sample weights."""
    classes = labels.classes
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(f"class_weight={class_weight!r}: must be 'balanced', a dict of label: weight, or None")
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
    result = np.array([float(given.pop(label, 1.0)) for label in label_values(classes)])
    if given and not more_to_come:
        raise ParameterError(f"class_weight: {next(iter(given))!r} is not among the classes {classes.tolist()}")
    if not (np.isfinite(result) & (result >= 0)).all():
        raise ParameterError("class_weight: a weight must be finite and at least 0")
    return result


def weight_of_class(class_weight: Any, label: Any) -> float:
    """The weight of one class, from a dict; 1 where it is not named."""
    if class_weight is None:
        return 1.0
    weight = float(dict(class_weight).get(label, 1.0))
    if not (np.isfinite(weight) and weight >= 0):
        raise ParameterError("class_weight: a weight must be finite and at least 0")
    return weight


def _checked(sample_weight: Any, rows: int) -> NDArray[np.float64]:
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


def check_online(params: Any) -> None:
    """Raise for what needs all rows at once."""
    if isinstance(params.class_weight, str):
        raise ParameterError(
            f"class_weight={params.class_weight!r} needs all labels at once and has no meaning in partial_fit: "
            "write class_weight={label: weight, ...}"
        )


def check_weight(weight: float) -> float:
    """The weight of one example."""
    if not (np.isfinite(weight) and weight >= 0):
        raise DataError(f"weight={weight!r}: must be finite and at least 0")
    return float(weight)


def hold_out(
    labels: Labels, rows: NDArray[np.uint32] | None, fraction: float, generator: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Rows to learn from and rows to validate on, in order: the same share of every class, and never all of one.

    Where a share of each class is less than half a row, single rows of as many classes are held out, and one at least.
    """
    everything = np.arange(len(labels.codes), dtype=np.uint32) if rows is None else rows
    codes = labels.codes[everything]
    held = np.zeros(len(labels.codes), bool)
    firsts = []  # of the classes with more than one row, in the order of the draw
    for k in range(len(labels.classes)):
        members = everything[codes == k].copy()
        engine.shuffle(members, generator)
        if len(members) > 1:
            firsts.append(members[0])
            held[members[: min(round(fraction * len(members)), len(members) - 1)]] = True
    if not held.any():
        single = np.array(firsts, np.uint32)
        engine.shuffle(single, generator)
        held[single[: max(1, round(fraction * len(everything)))]] = True
    validation, training = everything[held[everything]], everything[~held[everything]]
    if not len(validation):
        raise DataError(
            f"validation_fraction={fraction} of {len(everything)} rows leaves no row to validate on: "
            "no class has two of them; pass X_val and y_val"
        )
    return training, validation
