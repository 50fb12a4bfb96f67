"""The published model: made between two examples, never changed, replaced as a whole.

Invariant: any number of requests read it without a lock. Features that came later have no column in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.labels import label_values
from rosenblatt.data.table import as_table
from rosenblatt.errors import DataError, ModelError
from rosenblatt.models.file import load, sha256_of
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import Predictions, contributions
from rosenblatt.models.predictors import Linear
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.decoding import Features, RowSchema
from rosenblatt.service.errors import HTTPError
from rosenblatt.service.schemas import FeatureContribution, Prediction, PredictRequest, RankedClass

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Predictor:
    """What scores rows, up to which example it has learned, and the columns of its features."""

    schema: RowSchema
    classes: NDArray[Any]
    parts: tuple[Any, ...]  # of the model: what scores rows
    names: Mapping[Any, int]
    features: int
    seq: int = 0
    columns_aligned: bool = False  # is feature j in column j?
    calibrator: Any = None
    display_names: dict[int, str] = field(default_factory=dict)  # of columns, if features are hashed
    is_multilabel: bool = False
    labels: list[Any] = field(init=False)
    label_names: list[str] = field(init=False)
    is_plain_binary: bool = field(init=False)
    # Weights and intercepts as the engine reads them: feature-major for sparse rows, row-major for dense ones.
    _sparse: tuple[NDArray[Any], Scores] | None = field(init=False, default=None)
    _dense: tuple[NDArray[Any], Scores] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.classes.dtype.kind in "mM":
            raise ModelError("a model whose classes are dates cannot be served: JSON has no dates")
        put = object.__setattr__
        put(self, "labels", label_values(self.classes))
        put(self, "label_names", [label if isinstance(label, str) else str(label) for label in self.labels])
        put(self, "is_plain_binary", len(self.labels) == 2 and not self.is_multilabel)
        only = self.parts[0] if len(self.parts) == 1 else None
        if isinstance(only, Linear) and only.weights.dtype == np.float64:
            put(self, "_sparse", (np.asfortranarray(only.weights).ravel(order="K"), only.intercept))
            if self.columns_aligned:
                put(self, "_dense", (np.ascontiguousarray(only.weights).ravel(), only.intercept))

    @property
    def is_regression(self) -> bool:
        return bool(self.parts) and not self.labels

    def predict(self, rows: list[Any], options: PredictRequest[Any]) -> tuple[list[Prediction], list[Any]]:
        """The predictions, and the rows as they would be stored for feedback."""
        self._check_size(len(rows), options)
        if not options.contributions and (values := self._aligned(rows)) is not None:
            return self._predictions(self._score_dense(values), None, options), rows
        features = self.schema.features(rows)
        if not self.parts:
            found = [Prediction(None) for _ in rows]
        else:
            found = self._predictions(self._score(features), features, options)
        return found, self.schema.to_store(rows, features)

    def _check_size(self, rows: int, options: PredictRequest[Any]) -> None:
        limits, classes = self.schema.limits, max(1, len(self.labels))
        if rows * classes > limits.cells and rows > 1:
            raise HTTPError(413, f"the predictions have more than {limits.cells:,} scores: send fewer rows per request")
        names = sum(map(len, self.label_names)) if options.scores or options.probabilities or options.top else 0
        ranked = min(options.top or 0, classes)
        longest = max(map(len, self.label_names), default=0)
        per_row = (options.scores + options.probabilities) * (names + 30 * classes) + ranked * (longest + 80)
        reasons = 100 * min(rows * (options.contributions or 0), limits.cells)
        if rows * (per_row + longest + 60) + reasons > limits.reply:
            raise HTTPError(413, f"the reply would have more than {limits.reply:,} bytes: send fewer rows per request")

    def _aligned(self, rows: list[Any]) -> Scores | None:
        """The rows as one matrix, if they are arrays and the model has its columns in the same order."""
        width = self.features
        if not (width and self.parts and self.columns_aligned) or {*map(type, rows)} != {list}:
            return None
        if {*map(len, rows)} != {width}:
            return None
        if len(rows) == 1:
            return np.array(rows, np.float64)
        return np.fromiter(chain.from_iterable(rows), np.float64, width * len(rows)).reshape(-1, width)

    def _score(self, rows: Sequence[Features]) -> Scores:
        """Scores of shape (rows, K)."""
        if not self.features:  # nothing but intercepts is learned
            return np.tile(np.concatenate([part.intercept for part in self.parts]), (len(rows), 1))
        columns: list[int] = []
        values: list[float] = []
        starts, find, width = [0], self.names.get, self.features
        for row in rows:
            known = sorted([(at, value) for name, value in row.items() if (at := find(name, width)) < width])
            columns += [at for at, _ in known]
            values += [value for _, value in known]
            starts.append(len(columns))
        arrays = np.array(values, np.float64), np.array(columns, np.int64), np.array(starts, np.int64)
        if self._sparse is not None:
            found: Scores = engine.scores(engine.sparse_rows(*arrays, width), *self._sparse)
            return found
        import scipy.sparse as sp

        return self._score_table(sp.csr_array(arrays, shape=(len(rows), width)))

    def _score_dense(self, values: Scores) -> Scores:
        if self._dense is not None:
            rows = engine.dense_rows(values)
            if engine.find_unusable(rows)[0] < 0:
                found: Scores = engine.scores(rows, *self._dense)
                return found
        try:
            return self._score_table(values)
        except DataError as error:
            raise HTTPError(422, str(error)) from None

    def _score_table(self, rows: Any) -> Scores:
        table = as_table(rows, name="rows")
        return np.hstack([part.scores(table) for part in self.parts])

    def _predictions(
        self, scores: Scores, rows: list[Features] | None, options: PredictRequest[Any]
    ) -> list[Prediction]:
        if self.is_plain_binary and not (options.probabilities or options.top or options.contributions):
            (no, yes), (low, high) = self.labels, self.label_names  # most requests: the same as below, quicker
            if options.scores:
                return [Prediction(yes if s >= 0 else no, {low: -s, high: s}) for s in scores[:, 0].tolist()]
            return [Prediction(yes if s >= 0 else no) for s in scores[:, 0].tolist()]
        found = Predictions(self.classes, scores, self.is_multilabel, self.calibrator)
        listed = options.scores or options.probabilities or options.top
        if listed and self.is_regression:
            raise HTTPError(422, "the model predicts a number: it has no classes to score or rank")
        if options.contributions and self.is_multilabel:
            raise HTTPError(422, "contributions need one label per row, and this model predicts several")
        if self.is_regression or self.is_multilabel:
            predictions = [Prediction(label) for label in found.values()]
        else:
            labels = self.labels
            predictions = [Prediction(labels[code]) for code in found.codes.tolist()]
        if not (listed or options.contributions):
            return predictions
        try:
            self._add_details(predictions, found, rows, options)
        except ModelError as error:
            raise HTTPError(422, str(error)) from None
        return predictions

    def _add_details(
        self,
        predictions: list[Prediction],
        found: Predictions,
        rows: list[Features] | None,
        options: PredictRequest[Any],
    ) -> None:
        names, labels = self.label_names, self.labels
        S = found.class_scores.tolist() if options.scores or options.top else None
        P = found.probabilities.tolist() if options.probabilities else None
        ranks = found.top(options.top, by_probability=P is not None)[0].tolist() if options.top else None
        for at, each in enumerate(predictions):
            if options.scores and S is not None:
                each.scores = dict(zip(names, S[at], strict=False))
            if P is not None:
                each.probabilities = dict(zip(names, P[at], strict=False))
            if ranks is not None and S is not None:
                each.top = [
                    RankedClass(labels[k], S[at][k]) if P is None else RankedClass(labels[k], S[at][k], P[at][k])
                    for k in ranks[at][: len(labels)]
                ]
            if options.contributions and rows is not None:
                each.contributions = self._contributions(rows[at], each.label)[: options.contributions]

    def _contributions(self, row: Features, label: Any) -> list[FeatureContribution]:
        find, width = self.names.get, self.features
        known = [(at, name, value) for name, value in row.items() if (at := find(name, width)) < width]
        code = 0 if self.is_regression else self.labels.index(label)
        found = contributions(self.parts, known, code, is_regression=self.is_regression)
        shown = self.display_names
        return [
            FeatureContribution(shown.get(find(each.feature, width), str(each.feature)), each.value, each.share)
            for each in found
        ]


class FixedModel:
    """A model file that is served and does not learn."""

    def __init__(self, path: str, limits: ServiceLimits) -> None:
        self.path, self.limits = path, limits
        self.reload()

    def reload(self) -> None:
        """Read the file again; if that fails, the old model stays."""
        model = load(self.path)
        self.predictor = fixed_predictor(model, self.limits)
        self.model, self.lineage = model, {**model.lineage, "sha256": sha256_of(self.path)}


def fixed_predictor(model: Model, limits: ServiceLimits) -> Predictor:
    """The predictor of a model that does not learn."""
    encoder, bits = model.encoder, model.parameters.get("hash_bits")
    if encoder is not None or not model.names:  # columns by position, or by hash
        names: dict[Any, int] = {column: column for column in range(model.features)}
    else:
        names = {name: column for column, name in model.names.items()}
    width = None if encoder is not None or bits else model.features
    return Predictor(
        RowSchema(names, limits, encoder, width, bits),
        model.classes,
        model.parts,
        names,
        model.features,
        columns_aligned=encoder is None and not model.names,
        calibrator=model.calibrator,
        display_names={column: str(name) for column, name in model.names.items()},
        is_multilabel=model.is_multilabel,
    )
