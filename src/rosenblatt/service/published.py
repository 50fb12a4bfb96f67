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
from rosenblatt.models.answer import Answer as Scorer
from rosenblatt.models.linear import Linear, predict_codes
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
    several: bool = False  # may a row have several labels?
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
    def measures(self) -> bool:
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

    def codes(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Places among the labels."""
        return np.minimum(predict_codes(scores), len(self.labels) - 1)

    def answers(self, scores: NDArray[np.float64], rows: Sequence[Features] | None, asked: Any) -> list[Answer]:
        """The answers, with what was asked for beside the labels."""
        if self.measures:
            return self._measured(scores, rows, asked)
        if self.several and asked.because:
            raise Refused(422, "of a row with several labels it cannot be said which features spoke for all of them")
        labels, two = self.labels, scores.shape[1] == 1 and len(self.labels) == 2
        texts = [label if isinstance(label, str) else str(label) for label in labels]
        if two:
            no, yes = labels
            low, high = texts
            flat = scores[:, 0].tolist()
            if asked.scores:
                found = [Answer(yes if s >= 0 else no, {low: -s, high: s}) for s in flat]
            else:
                found = [Answer(yes if s >= 0 else no) for s in flat]
        else:
            plain = self.labels_of(scores) if self.several else [labels[code] for code in self.codes(scores).tolist()]
            found = [Answer(label) for label in plain]
            if asked.scores:
                for answer, row in zip(found, scores.tolist(), strict=True):
                    answer.scores = dict(zip(texts, row, strict=False))
        if not (asked.probabilities or asked.top or asked.because):
            return found
        listed = [[-row[0], row[0]] for row in scores.tolist()] if two else scores.tolist()
        P = self._probabilities(scores).tolist() if asked.probabilities else None
        for at, answer in enumerate(found):
            if P is not None:
                answer.probabilities = dict(zip(texts, P[at], strict=False))
            if asked.top:
                answer.top = self._top(listed[at], None if P is None else P[at], asked.top)
            if asked.because and rows is not None:
                answer.because = self._because(rows[at], labels.index(answer.label), asked.because)
        return found

    def labels_of(self, scores: NDArray[np.float64]) -> list[list[Any]]:
        """Of each row all labels that hold, where a row may have several."""
        return [[label for label, holds in zip(self.labels, row, strict=True) if holds] for row in scores >= 0]

    def _measured(self, scores: NDArray[np.float64], rows: Sequence[Features] | None, asked: Any) -> list[Answer]:
        """The answers of a regression: numbers, and the features that raised them most."""
        if asked.scores or asked.probabilities or asked.top:
            raise Refused(422, "the model predicts a number, which is the label: it has no classes to score or rank")
        found = [Answer(value) for value in scores[:, 0].tolist()]
        if asked.because and rows is not None:
            for answer, row in zip(found, rows, strict=True):
                answer.because = self._because(row, 0, asked.because)
        return found

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.calibrator is None:
            raise Refused(422, "the model has scores but no probabilities: ask for scores")
        return self.calibrator.probabilities(scores)

    def _top(self, row: list[float], P: list[float] | None, count: int) -> list[Ranked]:
        places = range(min(len(row), len(self.labels)))
        order = sorted(places, key=lambda k: -(row if P is None else P)[k])[:count]
        if P is None:
            return [Ranked(self.labels[k], row[k]) for k in order]
        return [Ranked(self.labels[k], row[k], P[k]) for k in order]

    def _because(self, row: Features, code: int, count: int) -> list[Reason]:
        only = self.parts[0]
        if len(self.parts) != 1 or not isinstance(only, Linear):
            raise Refused(422, "only a model with one weight per feature and class can say which features spoke")
        if len(only.weights) == 1:
            weights, sign = only.weights[0], 1.0 if code == 1 or self.measures else -1.0
        else:
            weights, sign = only.weights[code], 1.0
        reasons = []
        for name, value in row.items():
            at = self.names.get(name, self.features)
            if at < self.features and (share := sign * float(weights[at]) * value):
                reasons.append(Reason(self.shown.get(at, str(name)), value, share))
        return sorted(reasons, key=lambda reason: -reason.share)[:count]


def nothing() -> Published:
    """Before anything was learned."""
    return Published(np.empty(0, dtype="U1"), (), {}, 0)
