"""Targets that are numbers, beside labels of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels
from rosenblatt.errors import LabelError

LARGEST_NUMBER = 1e100
PAIR = np.array([0, 1])  # a number has one score, as two classes have


@dataclass(frozen=True)
class Numbers(Labels):
    """Targets that are numbers, to come within epsilon of. They tell no classes apart."""

    numbers: NDArray[np.float64]
    epsilon: float

    @classmethod
    def of(cls, y: Any, epsilon: float, *, name: str = "y") -> Numbers:
        """Numbers that can be learned from, checked."""
        if y is None:
            raise LabelError(f"requires {name} to be passed, but the target {name} is None")
        given = np.asarray(y)
        if given.ndim == 2 and given.shape[1] == 1:
            import warnings

            from sklearn.exceptions import DataConversionWarning

            warnings.warn(
                f"A column-vector {name} was passed when a 1d array was expected", DataConversionWarning, stacklevel=2
            )
            given = given[:, 0]
        if given.ndim != 1:
            raise LabelError(f"{name} should be a 1d array, one number per row; got an array of shape {given.shape}")
        if given.dtype.kind == "c":
            raise LabelError(f"{name}: Complex data not supported")
        try:
            numbers = np.ascontiguousarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            row = next((row for row, value in enumerate(given) if not _is_number(value)), 0)
            raise LabelError(f"{name} has {given[row]!r} in row {row}, which is not a number") from None
        sizes = np.abs(numbers)
        if not (sizes <= LARGEST_NUMBER).all():
            row = int(np.flatnonzero(~(sizes <= LARGEST_NUMBER))[0])
            found = "NaN" if np.isnan(numbers[row]) else "infinity" if np.isinf(numbers[row]) else f"{numbers[row]:g}"
            raise LabelError(f"{name} contains {found} in row {row}: it must be a finite number of at most 1e100")
        return cls(PAIR, np.zeros(len(numbers), np.int32), numbers, float(epsilon))

    def take(self, rows: NDArray[Any]) -> Numbers:
        return Numbers(self.classes, self.codes[rows], self.numbers[rows], self.epsilon)

    def over(self, classes: NDArray[Any]) -> Numbers:
        return self

    def like(self, y: Any, *, name: str) -> Numbers:
        return Numbers.of(y, self.epsilon, name=name)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
