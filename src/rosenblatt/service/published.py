"""The answer that predictions come from: made between two examples, never changed, replaced as a whole.

Invariant: any number of requests read it without a lock. Features that came later have no column here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import label_values
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.linear import Linear
from rosenblatt.models.predictions import Predictions, contributions
from rosenblatt.models.predictor import Predictor as Scorer
from rosenblatt.models.probability import Calibrator
from rosenblatt.service.messages import Answer, Ranked, Reason
from rosenblatt.service.refusals import Refused
from rosenblatt.service.rows import Features, Names, arrays_of


@dataclass(frozen=True)
class Published:
    """What answers, up to which number it has learned, and the columns of its features."""

    classes: NDArray[Any]
    parts: tuple[Scorer, ...]
    names: Names
    features: int
    seq: int = 0
    in_order: bool = False  # is the feature with the number j in column j?
    calibrator: Calibrator | None = None
    shown: dict[int, str] = field(default_factory=dict)  # names of columns for people, where features are hashed
    is_multilabel: bool = False  # may a row have several labels?
    labels: list[Any] = field(init=False)
    # Weights and intercepts as the engine reads them: feature after feature beside sparse rows, row after row beside
    # dense ones.
    _flat: tuple[NDArray[Any], NDArray[np.float64]] | None = field(init=False, default=None)
    _level: tuple[NDArray[Any], NDArray[np.float64]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.classes.dtype.kind in "mM":
            raise ModelError("classes that are dates cannot be served: there is no such thing in JSON")
        put = object.__setattr__
        put(self, "labels", label_values(self.classes))
        only = self.parts[0] if len(self.parts) == 1 else None
        if isinstance(only, Linear) and only.weights.dtype == np.float64:
            put(self, "_flat", (np.asfortranarray(only.weights).ravel(order="K"), only.intercept))
            if self.in_order:
                put(self, "_level", (np.ascontiguousarray(only.weights).ravel(), only.intercept))

    @property
    def width(self) -> int:
        """The columns that a row needs to be scored at all."""
        return max(self.features, 1)

    @property
    def is_regression(self) -> bool:
        """Is the answer a number instead of a class?"""
        return bool(self.parts) and not self.labels

    @property
    def scores_per_row(self) -> int:
        return max(1, len(self.labels))

    def scores(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        """Scores of shape (rows, K)."""
        if not self.features:  # nothing but intercepts was learned
            return np.tile(np.concatenate([part.intercept for part in self.parts]), (len(rows), 1))  # type: ignore[attr-defined]
        arrays = arrays_of(rows, self.names, self.width)
        if self._flat is not None:
            found: NDArray[np.float64] = engine.scores(engine.sparse_rows(*arrays, self.width), *self._flat)
            return found
        import scipy.sparse as sp

        return self._scores_of(as_table(sp.csr_array(arrays, shape=(len(rows), self.width))))

    def scores_in_order(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of dense rows, whose columns are those of the model in their order."""
        if self._level is not None:
            rows = engine.dense_rows(values)
            if engine.find_unusable(rows)[0] < 0:
                found: NDArray[np.float64] = engine.scores(rows, *self._level)
                return found
        try:
            return self._scores_of(as_table(values, name="rows"))
        except DataError as error:
            raise Refused(422, str(error)) from None

    def _scores_of(self, table: Table) -> NDArray[np.float64]:
        return np.hstack([part.scores(table) for part in self.parts])

    def predictions(self, scores: NDArray[np.float64]) -> Predictions:
        """What scores of shape (rows, K) mean."""
        return Predictions(self.classes, scores, self.is_multilabel, self.calibrator)

    def answers(self, scores: NDArray[np.float64], rows: Sequence[Features] | None, asked: Any) -> list[Answer]:
        """The answers, with what was asked for beside the labels."""
        found = self.predictions(scores)
        if found.is_regression and (asked.scores or asked.probabilities or asked.top):
            raise Refused(422, "the model predicts a number, which is the label: it has no classes to score or rank")
        if asked.probabilities and self.calibrator is None:
            raise Refused(422, "the model has scores but no probabilities: ask for scores")
        if self.is_multilabel and asked.because:
            raise Refused(422, "of a row with several labels it cannot be said which features spoke for all of them")
        answers = [Answer(label) for label in found.values()]
        texts = [label if isinstance(label, str) else str(label) for label in self.labels]
        if asked.scores:
            for answer, row in zip(answers, found.class_scores.tolist(), strict=True):
                answer.scores = dict(zip(texts, row, strict=True))
        if asked.probabilities:
            for answer, row in zip(answers, found.probabilities.tolist(), strict=True):
                answer.probabilities = dict(zip(texts, row, strict=True))
        if asked.top:
            order, _ = found.top(asked.top, by_probability=asked.probabilities)
            for at, answer in enumerate(answers):
                answer.top = [
                    Ranked(
                        self.labels[k],
                        float(found.class_scores[at, k]),
                        *([float(found.probabilities[at, k])] if asked.probabilities else []),
                    )
                    for k in order[at]
                ]
        if asked.because and rows is not None:
            codes = [0] * len(rows) if found.is_regression else found.codes.tolist()
            for answer, row, code in zip(answers, rows, codes, strict=True):
                answer.because = self._because(row, code, asked.because)
        return answers

    def _because(self, row: Features, code: int, count: int) -> list[Reason]:
        places = ((self.names.get(name, self.features), name, value) for name, value in row.items())
        known = ((at, self.shown.get(at, str(name)), value) for at, name, value in places if at < self.features)
        try:
            found = contributions(self.parts, known, code, is_regression=self.is_regression)
        except ModelError as error:
            raise Refused(422, str(error)) from None
        return [Reason(*each) for each in found[:count]]


def nothing() -> Published:
    """Before anything was learned."""
    return Published(np.empty(0, dtype="U1"), (), {}, 0)
