"""The published model: made between two examples, never changed, replaced as a whole.

Invariant: any number of requests read it without a lock. Features that came later have no column in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from rosenblatt.data.labels import label_values
from rosenblatt.data.table import Csr, Table, as_table
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.file import load, sha256_of
from rosenblatt.models.predictions import Predictions, contributions
from rosenblatt.models.predictors import score_rows
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.decoding import Features, RowSchema
from rosenblatt.service.errors import HTTPError
from rosenblatt.service.schemas import FeatureContribution, Prediction, PredictRequest, RankedClass

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Predictor:
    """A model that scores rows, and the number of the last example that it learned."""

    schema: RowSchema
    classes: NDArray[Any]
    parts: tuple[Any, ...]  # of the model: what scores rows; none before anything is learned
    features: int
    seq: int = 0
    columns_aligned: bool = False  # is feature j in column j?
    calibrator: Any = None
    display_names: Mapping[int, Any] = field(default_factory=dict)  # of columns, if rows have other names for them
    is_multilabel: bool = False

    @cached_property
    def labels(self) -> list[Any]:
        return label_values(self.classes)

    @cached_property
    def label_names(self) -> list[str]:
        return [str(label) for label in self.labels]

    @property
    def is_regression(self) -> bool:
        return bool(self.parts) and not self.labels

    def predict(self, rows: list[Any], options: PredictRequest[Any]) -> list[Prediction]:
        self._check_size(len(rows), options)
        if not options.contributions and (table := self._dense_table(rows)) is not None:
            return self._predictions(score_rows(self.parts, table), [], options)
        features = self.schema.features(rows)
        if not self.parts:
            return [Prediction(None) for _ in rows]
        return self._predictions(score_rows(self.parts, self._sparse_table(features)), features, options)

    def _check_size(self, rows: int, options: PredictRequest[Any]) -> None:
        limits, classes = self.schema.limits, max(1, len(self.labels))
        if rows > 1 and rows * classes > limits.cells:
            raise HTTPError(413, f"the predictions have more than {limits.cells:,} scores: send fewer rows per request")
        longest = max(map(len, self.label_names), default=0)
        named = 1 + (options.scores + options.probabilities) * classes + min(options.top or 0, classes)
        reasons = min(rows * (options.contributions or 0), limits.cells)
        if rows * named * (longest + 80) + 100 * reasons > limits.reply:
            raise HTTPError(413, f"the reply would have more than {limits.reply:,} bytes: send fewer rows per request")

    def _dense_table(self, rows: list[Any]) -> Table | None:
        """The rows as one matrix, if they are arrays and the model has its columns in the same order."""
        width = self.features
        if not (width and self.parts and self.columns_aligned) or {*map(type, rows)} != {list}:
            return None
        if {*map(len, rows)} != {width}:
            return None
        matrix = np.fromiter(chain.from_iterable(rows), np.float64, width * len(rows)).reshape(-1, width)
        try:
            return as_table(matrix, name="rows")
        except DataError as error:
            raise HTTPError(422, str(error)) from None

    def _sparse_table(self, rows: Sequence[Features]) -> Table:
        columns: list[int] = []
        values: list[float] = []
        starts, find, width = [0], self.schema.names.get, self.features
        for row in rows:
            known = sorted([(at, value) for name, value in row.items() if (at := find(name, width)) < width])
            columns += [at for at, _ in known]
            values += [value for _, value in known]
            starts.append(len(columns))
        arrays = np.array(values, np.float64), np.array(columns, np.int32), np.array(starts, np.int64)
        return Csr(*arrays, (len(rows), width)).table()

    def _predictions(self, scores: Scores, rows: list[Features], options: PredictRequest[Any]) -> list[Prediction]:
        listed = options.scores or options.probabilities or options.top
        if listed and self.is_regression:
            raise HTTPError(422, "the model predicts a number: it has no classes to score or rank")
        if options.contributions and self.is_multilabel:
            raise HTTPError(422, "contributions need one label per row, and this model predicts several")
        labels = self.labels
        more = self.is_multilabel or options.probabilities or options.top or options.contributions
        if len(labels) == 2 and not more:  # as below, quicker
            (no, yes), signed = self.label_names, scores[:, 0].tolist()
            return [Prediction(labels[s >= 0], {no: -s, yes: s} if options.scores else UNSET) for s in signed]
        found = Predictions(self.classes, scores, self.is_multilabel, self.calibrator)
        predictions = [Prediction(label) for label in found.values()]
        if not (listed or options.contributions):
            return predictions
        try:
            P = found.probabilities.tolist() if options.probabilities else None
            ranks = found.top(options.top, by_probability=P is not None)[0].tolist() if options.top else []
            S = found.class_scores.tolist()
            for at, each in enumerate(predictions):
                if options.scores:
                    each.scores = dict(zip(self.label_names, S[at], strict=True))
                if P is not None:
                    each.probabilities = dict(zip(self.label_names, P[at], strict=True))
                if options.top:
                    each.top = [RankedClass(labels[k], S[at][k], UNSET if P is None else P[at][k]) for k in ranks[at]]
                if options.contributions:
                    each.contributions = self._contributions(rows[at], each.label)[: options.contributions]
        except ModelError as error:
            raise HTTPError(422, str(error)) from None
        return predictions

    def _contributions(self, row: Features, label: Any) -> list[FeatureContribution]:
        find, width, shown = self.schema.names.get, self.features, self.display_names
        known = [(at, shown.get(at, name), value) for name, value in row.items() if (at := find(name, width)) < width]
        code = 0 if self.is_regression else self.labels.index(label)
        found = contributions(self.parts, known, code, is_regression=self.is_regression)
        return [FeatureContribution(str(each.feature), each.value, each.share) for each in found]


class FixedModel:
    """A served model file that does not learn."""

    learning = "off"

    def __init__(self, path: str, limits: ServiceLimits) -> None:
        self.path, self.limits = path, limits
        model = load(path)
        if model.classes.dtype.kind in "mM":
            raise ModelError("a model whose classes are dates cannot be served: JSON has no dates")
        encoder, bits = model.encoder, model.parameters.get("hash_bits")
        if encoder is not None or not model.names:  # columns by position, or by hash
            names: dict[Any, int] = {column: column for column in range(model.features)}
        else:
            names = {name: column for column, name in model.names.items()}
        self.predictor = Predictor(
            RowSchema(names, limits, encoder, bits),
            model.classes,
            model.parts,
            model.features,
            columns_aligned=encoder is None and not model.names,
            calibrator=model.calibrator,
            display_names=model.names,
            is_multilabel=model.is_multilabel,
        )
        self.model, self.lineage = model, {**model.lineage, "sha256": sha256_of(path)}
