"""A trained model: weights, classes, and how raw data becomes rows.

Invariant: a model that was loaded predicts and learns with the bits of the learner that was saved, and a prediction
never mixes the states before and after the learning of another thread.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import as_label_array
from rosenblatt.data.table import Table, as_table, column_names, example_table
from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.predictions import Contribution, PredictionMethods, Predictions, contributions
from rosenblatt.models.predictors import Dual, Linear, Predictor, Products, Quadratic, Voted, score_rows
from rosenblatt.models.rows import Name, check_names, encode_rows, names_of, one_row
from rosenblatt.params import values_to_json


def _fact(default: Any = None) -> Any:
    """A field without a value on the class, so that `Model.__getattr__` finds out when it is out of date."""
    return field(default_factory=lambda: default)


@dataclass(frozen=True, eq=False, repr=False)
class Model(PredictionMethods):
    """The model that `load` and `train` return: it predicts and explains, and continues learning if it has its state.

    Learning changes it in place: later predictions and the attributes below follow.

    Attributes
    ----------
    learner : str
        The name of the learner that made it.
    parameters : dict
        The learner's parameters.
    classes : array
        Sorted; with two classes a score ``>= 0`` predicts the larger. Empty for a regression.
    parts : tuple of predictors
        They score rows; more than one only for a one-vs-rest vote.
    features : int
        The number of columns of a row. Further columns, unknown in training, are ignored.
    encoder : LineEncoder, TableEncoder or None
        From raw data to rows; None for a model that was trained on rows.
    names : dict
        Names of columns, as far as they are known.
    history : dict
        Mistakes and updates per epoch, and why it stopped.
    calibrator : Calibrator or None
        From scores to probabilities, if the learner had them.
    state : dict or None
        The learning state, to continue from.
    is_multilabel : bool
        True if a row can have several labels, with one score each.
    lineage : dict
        The facts passed to `save`, and ``parent``, the SHA-256 of the file from which it continued learning.

    Examples
    --------
    >>> import os, tempfile, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "sign.model")
    >>> rosenblatt.save(rosenblatt.Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> model = rosenblatt.load(path)
    >>> model.learner, model.classes_.tolist(), model.predict_one({0: -2.0})
    ('Perceptron', ['no', 'yes'], 'no')
    >>> model.partial_fit([[-3.0], [2.0]], ["no", "yes"]).predict([[5.0]]).tolist()
    ['yes']
    """

    learner: str
    parameters: dict[str, Any]
    classes: NDArray[Any]
    parts: tuple[Predictor, ...]
    features: int
    encoder: Any = _fact()
    names: Mapping[int, Name] = field(default_factory=dict)
    history: dict[str, Any] = field(default_factory=dict)
    calibrator: Calibrator | None = _fact()
    state: dict[str, Any] | None = _fact()
    is_multilabel: bool = _fact(False)
    lineage: dict[str, str] = field(default_factory=dict)
    sha256: str | None = _fact()  # of its file, which becomes the parent of what learns on

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order; they are as for `predict`."""
        with self._learning() as learner:
            more = {} if classes is None else {"classes": classes}  # a regression has none
            encoded = self.encoder is None or hasattr(learner, "encoder_")  # by the learner itself
            rows = X if encoded else encode_rows(X, self.encoder, learner.n_features_in_)
            learner.partial_fit(rows, y, sample_weight=sample_weight, **more)
        return self

    def learn_one(self, row: Any, label: Any, weight: float = 1.0) -> Self:
        """Learn from one row; it is as for `predict_one`."""
        if self.encoder is not None:
            return self.partial_fit([row], [label], sample_weight=None if weight == 1.0 else [weight])
        with self._learning() as learner:
            learner.learn_one(row, label, weight)
        return self

    @property
    def learner_(self) -> Any:
        """The learner that continues: a scikit-learn estimator of rosenblatt."""
        with self._lock:
            if "_learner" not in vars(self):  # `models` never imports what learns
                made = import_module("rosenblatt.select.loading").revive(self)
                vars(self).update(_begun=replace(self), _learner=made)
            return vars(self)["_learner"]

    def snapshot(self) -> Model:
        """A copy of the current model, ready to be saved or exported; later learning does not change it."""
        with self._lock:
            known = vars(self)
            if "_now" not in known:
                known["_now"] = self._learned() if "_learner" in known else replace(self)
            return known["_now"]

    def _learned(self) -> Model:
        begun: Model = vars(self)["_begun"]
        model = model_of(self.learner_, self.encoder, None if self.encoder is None else begun.names, state=True)
        if model.calibrator is None and len(model.classes) == len(begun.classes):  # curves without scores stay
            model = replace(model, calibrator=begun.calibrator)
        return replace(model, lineage={} if begun.sha256 is None else {"parent": begun.sha256})

    @contextmanager
    def _learning(self) -> Iterator[Any]:
        """The learner, locked for one thread; at the end, also after an error, the facts are updated from it."""
        with self._lock:
            learner = self.learner_
            try:
                yield learner
            finally:
                kept = {name: vars(self)[name] for name in ("encoder", "_own_lock", "_begun", "_learner")}
                object.__setattr__(self, "__dict__", kept)

    @property
    def _lock(self) -> threading.RLock:
        return vars(self).setdefault("_own_lock", threading.RLock())

    def __getattr__(self, name: str) -> Any:
        if name not in FACTS or "_learner" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.snapshot(), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *FACTS})

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self.snapshot(), name) for name in FACTS}

    def __repr__(self) -> str:
        kind = "numbers" if self.is_regression else f"{len(self.classes)} classes"
        return f"<model of {self.learner}: {kind}, {self.features} features>"

    @property
    def is_regression(self) -> bool:
        """True if the model predicts numbers instead of classes."""
        return len(self.classes) == 0

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, by the name that they have in a learner."""
        if self.is_regression:
            raise AttributeError("the model predicts numbers: it has no classes")
        return self.classes

    @property
    def n_features_in_(self) -> int:
        """The number of columns of X: of a table before it is encoded."""
        return len(self.encoder.columns) if isinstance(self.encoder, TableEncoder) else self.features

    @cached_property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns of X, if all of them have names."""
        if self._ordered is None:
            raise AttributeError("the model was trained on rows whose columns have no names")
        return np.array(self._ordered, dtype=object)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose labels are predicted, or R² of a regression."""
        if self.is_regression:
            from sklearn.metrics import r2_score

            return float(r2_score(y, self.predict(X), sample_weight=sample_weight))
        predicted, labels = self.predict(X), np.asarray(y) if self.is_multilabel else as_label_array(y)
        if predicted.shape != labels.shape:
            raise DataError(f"X has predictions of shape {predicted.shape}, but y has the shape {labels.shape}")
        right = predicted == labels
        return float(np.average(right.all(axis=1) if self.is_multilabel else right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        kind = "regressor" if self.is_regression else "classifier"
        return Tags(estimator_type=kind, target_tags=TargetTags(required=True))

    def predict_one(self, row: Any) -> Any:
        """As `PredictionMethods.predict_one`; while examples are learned, without a snapshot of all weights."""
        learner = vars(self).get("_learner")
        if learner is not None and self.encoder is None and hasattr(learner, "predict_one"):
            return learner.predict_one(row)
        return super().predict_one(row)

    def explain(self, row: Any, count: int = 10) -> list[Contribution]:
        """The features of one row that add most to the score of its prediction, or move its number most.

        With products of columns these are the terms. A vote and a kernel model have no such contributions.

        >>> from rosenblatt import Perceptron
        >>> model = model_of(Perceptron().learn_one({"win": 1.0}, "spam").learn_one({"lunch": 2.0}, "ham"))
        >>> model.explain({"lunch": 1.0, "never seen": 1.0})
        [Contribution(feature='lunch', value=1.0, share=2.0)]
        """
        model = self.snapshot()
        return model.explain_table(model._row(row))[:count]

    def explain_table(self, table: Table, code: int | None = None) -> list[Contribution]:
        """The contributions of the features of one row to the score of a class, by default the predicted one."""
        linear, products = self.weights()
        if code is None:
            code = 0 if self.is_regression else int(self.predictions(self.scores(table)).codes[0])
        table = table if products is None else products.apply(table)
        rows = table.values
        columns, values = (rows.indices, rows.data) if table.sparse else (np.arange(table.features), rows[0])
        pairs = zip(columns.tolist(), values.tolist(), strict=True)
        features = [(at, str(self.terms.get(at, at)), float(x)) for at, x in pairs if x]
        return contributions([linear], features, code, is_regression=self.is_regression)

    def _predict(self, X: Any) -> Predictions:
        model = self.snapshot()
        return model.predictions(model.scores(model._table(X)))

    def _predict_row(self, row: Any) -> Predictions:
        model = self.snapshot()
        return model.predictions(model.scores(model._row(row)))

    def predictions(self, scores: NDArray[np.float64]) -> Predictions:
        """The predictions for scores of shape (rows, K)."""
        return Predictions(self.classes, scores, self.is_multilabel, self.calibrator)

    def scores(self, table: Table) -> NDArray[np.float64]:
        """Scores of shape (rows, K)."""
        if table.features != max(self.features, 1):
            raise DataError(f"X has {table.features} features, but the model is expecting {self.features}")
        return score_rows(self.parts, table)

    def batch_scores(self, batch: Any) -> NDArray[np.float64]:
        """Scores of a reader's batch. Unknown features are ignored."""
        return self.scores(self.batch_table(batch))

    def batch_table(self, batch: Any) -> Table:
        """The rows of a reader's batch over the features of the model."""
        if batch.features > self.features:
            return as_table(batch.matrix(batch.features)[:, : self.features])
        return batch.csr(self.features).table()

    @property
    def support_rows(self) -> int | None:
        """The rows of the training data that a vote or a kernel model holds; None for one that is only weights."""
        found = [part.support for part in self.parts if isinstance(part, Dual | Voted)]
        return sum(0 if rows is None else rows.shape[0] for rows in found) if found else None

    def weights(self) -> tuple[Linear, Products | None]:
        """The weights, and the products that they weigh; None: they weigh columns."""
        if self.is_multilabel:
            raise ModelError("a multilabel model has weights for each label: use one model per label")
        part = self.parts[0]
        if isinstance(part, Quadratic):
            return part.linear, part.products
        if isinstance(part, Linear) and len(self.parts) == 1:
            return part, None
        if isinstance(part, Dual):
            raise ModelError("a kernel model has support rows instead of weights to export or explain")
        raise ModelError("a vote has no single weight vector; a model with keep='average' comes closest")

    def top_features(self, count: int = 10) -> dict[str, list[tuple[str, float]]]:
        """The features, or products of features, that contribute most to each class, with their weights.

        For a regression, the features that raise its number most, and that lower it most.
        """
        model = self.snapshot()
        linear = model.weights()[0]
        # Most hashed columns have no weight: to sort them too would take memory and time for nothing.
        used = linear.columns()
        weights = linear.at(used)
        classes = ["lower", "higher"] if model.is_regression else model.classes.tolist()
        if len(classes) == 2:
            weights = np.vstack([-weights, weights])
        tops = {}
        for label, row in zip(classes, weights, strict=True):
            best = [k for k in np.argsort(-row, kind="stable")[:count].tolist() if row[k] > 0]
            named = [str(model.terms.get(column, column)) for column in used[best].tolist()]
            tops[str(label)] = list(zip(named, row[best].tolist(), strict=True))
        return tops

    @cached_property
    def terms(self) -> Mapping[int, Name]:
        """The name of each weight: columns, or columns and their products."""
        products = self.weights()[1]
        if products is None:
            return self.names
        return dict(enumerate(products.names([str(self.names.get(j, j)) for j in products.columns.tolist()])))

    @cached_property
    def _ordered(self) -> list[Name] | None:
        """The names of the columns of X, if all of them are strings."""
        if isinstance(self.encoder, TableEncoder):
            return [column.name for column in self.encoder.columns]
        if len(self.names) != self.features or not all(isinstance(name, str) for name in self.names.values()):
            return None
        return [self.names[column] for column in range(self.features)]

    @cached_property
    def _columns(self) -> dict[Any, int]:
        """The column of each name."""
        if self.names:
            return dict(zip(self.names.values(), self.names, strict=True))
        return {column: column for column in range(self.features)}

    def _row(self, row: Any) -> Table:
        """One row as a table."""
        row = one_row(row)
        if self.encoder is not None and not isinstance(row, str | Mapping):
            raise DataError("one row must be a dict of columns to cells, or a text; for several rows use predict")
        return self._examples([row]) if self.encoder is None else self._table([row])

    def _examples(self, examples: Sequence[Any]) -> Table:
        bits = self.parameters.get("hash_bits")
        hashed = bits if isinstance(bits, int) and self.features == 1 << bits else None
        return example_table(examples, {} if hashed else self._columns, self.features, hashed)

    def _table(self, X: Any) -> Table:
        if self.encoder is not None:
            X = encode_rows(X, self.encoder, self.features)
        elif isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
            return self._examples(X)
        check_names(column_names(X), self._ordered)
        return as_table(X)


FACTS = tuple(each.name for each in fields(Model))


def model_of(
    learner: Any, encoder: Any = None, names: Mapping[int, Name] | None = None, *, state: bool = False
) -> Model:
    """The model that a fitted learner holds, with its probabilities if it has them, and with its state."""
    if isinstance(learner, Model):
        return learner.snapshot()
    name = type(learner).__name__
    if not hasattr(learner, "predictors"):
        raise ModelError(
            f"{name} cannot be saved: it is not a learner of rosenblatt; save the learner inside: pipeline[-1], "
            "search.best_estimator_, or the learner_ of a river adapter"
        )
    if not hasattr(learner, "n_features_in_"):
        raise ModelError(f"{name} has learned nothing yet: call fit first")
    if encoder is None and getattr(learner, "encoder_", None) is not None:
        encoder, names = learner.encoder_, learner.encoded_names_
    with getattr(learner, "lock", nullcontext()):  # another thread may be learning
        if hasattr(learner, "lock"):
            learner = copy(learner)  # a stream learns without the lock: all facts below are of one moment
        history = {
            "mistakes": [int(count) for count in learner.history_.mistakes],
            "updates": [int(count) for count in learner.history_.updates],
            "stop_reason": learner.stop_reason_,
        }
        return Model(
            name,
            _writable(learner.get_params()),
            getattr(learner, "classes_", np.empty(0)),
            tuple(learner.predictors()),
            int(getattr(learner, "encoded_width_", learner.n_features_in_)),
            encoder,
            names_of(learner) if names is None else names,
            history,
            learner.calibrator() if hasattr(learner, "calibrator") else None,
            learner.saved_state() if state else None,
            bool(getattr(learner, "is_multilabel", False)),
        )


def _writable(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a learner, without functions and learners inside, which a file cannot hold."""
    found = {}
    for name, value in sorted(parameters.items()):
        with suppress(ParameterError):
            values_to_json({name: value})
            found[name] = value
    return found
