"""A trained model: weights, classes, and how raw data becomes rows. It predicts and never learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import label_values
from rosenblatt.data.table import Table, as_table, column_names
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import SavedState
from rosenblatt.models.predictions import Contribution, Predictions, contributions
from rosenblatt.models.predictors import Dual, Linear, Predictor, Products, Quadratic, VotedDual
from rosenblatt.models.rows import Name, check_names, encode_rows, example_table, names_of
from rosenblatt.params import values_to_json


@dataclass(frozen=True, repr=False)
class Model:
    """What `load` returns.

    Attributes
    ----------
    learner : str
        The name of the learner that made it.
    parameters : dict
        What the learner was told.
    classes : array
        Sorted; with two classes a score ``>= 0`` is the larger. Empty for a regression, whose score is the answer.
    parts : tuple of answers
        What scores rows; more than one only for a one-vs-rest vote.
    features : int
        Columns of a row. Columns beyond, which were never seen in training, weigh nothing.
    encoder : LineEncoder, TableEncoder or None
        From raw data to rows; None for a model that was trained on rows.
    names : dict
        Names of columns, as far as they are known.
    history : dict
        Mistakes and updates an epoch, and why it stopped.
    calibrator : Calibrator or None
        From scores to probabilities, if the learner had them.
    state : SavedState or None
        What a learner needs to go on from here.
    is_multilabel : bool
        Can a row have several labels, a score for each?
    lineage : dict
        Where it comes from: facts given to `save`, and ``parent``, the SHA-256 of the file it learned on from.

    Examples
    --------
    >>> import os, tempfile, rosenblatt
    >>> path = os.path.join(tempfile.mkdtemp(), "sign.model")
    >>> rosenblatt.save(rosenblatt.Perceptron().fit([[-1.0], [1.0]], ["no", "yes"]), path)
    >>> model = rosenblatt.load(path)
    >>> model.learner, model.classes_.tolist(), model.predict_one({0: -2.0})
    ('Perceptron', ['no', 'yes'], 'no')
    """

    learner: str
    parameters: dict[str, Any]
    classes: NDArray[Any]
    parts: tuple[Predictor, ...]
    features: int
    encoder: Any = None
    names: Mapping[int, Name] = field(default_factory=dict)
    history: dict[str, Any] = field(default_factory=dict)
    calibrator: Calibrator | None = None
    state: SavedState | None = None
    is_multilabel: bool = False
    lineage: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        kind = "numbers" if self.is_regression else f"{len(self.classes)} classes"
        return f"<model of {self.learner}: {kind}, {self.features} features>"

    @property
    def is_regression(self) -> bool:
        """Does it predict numbers instead of classes?"""
        return len(self.classes) == 0

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, by the name that they have in a learner."""
        if self.is_regression:
            raise AttributeError("the model predicts numbers: it has no classes")
        return self.classes

    @property
    def n_features_in_(self) -> int:
        """Columns of a row, by the name that they have in a learner."""
        return self.features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of all columns, for a model that was trained on rows with names."""
        if self._ordered is None:
            raise AttributeError("the model was trained on rows whose columns have no names")
        return np.array(self._ordered, dtype=object)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores: of shape (n_rows,) with two classes, above or at 0 for the larger; else (n_rows, n_classes)."""
        scores = self.scores(self._table(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row, or its number."""
        return self.predictions(self.scores(self._table(X))).labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class, of shape (n_rows, n_classes), for a model that has probabilities."""
        return self.predictions(self.scores(self._table(X))).probabilities

    def predict_one(self, row: Any) -> Any:
        """The label of one row: a dict from names to numbers, or, as in training, from columns to cells, or a text.

        Names that training never saw count for nothing. A model that was trained on rows without names has the numbers
        of its columns as names.
        """
        return self.predictions(self.scores(self._row(row))).one

    def predict_proba_one(self, row: Any) -> dict[Any, float]:
        """The probability of each class for one row, for a model that has probabilities."""
        found = self.predictions(self.scores(self._row(row))).probabilities[0].tolist()
        return dict(zip(label_values(self.classes), found, strict=True))

    def explain(self, row: Any, count: int = 10) -> list[Contribution]:
        """The features of one row that add most to the score of its prediction, or to the number of a regression.

        With products of columns these are the terms. A vote and a kernel model have no such contributions.

        >>> from rosenblatt import Perceptron
        >>> model = model_of(Perceptron().learn_one({"win": 1.0}, "spam").learn_one({"lunch": 2.0}, "ham"))
        >>> model.explain({"lunch": 1.0, "never seen": 1.0})
        [Contribution(feature='lunch', value=1.0, share=2.0)]
        """
        table = self._row(row)
        code = 0 if self.is_regression else int(self.predictions(self.scores(table)).codes[0])
        linear, products = self.weights()
        if products is not None:
            table, names = products.apply(table), products.names([self.name_of(j) for j in products.columns.tolist()])
        values = np.asarray(table.values.toarray() if table.sparse else table.values)[0]
        used = np.flatnonzero(values).tolist()
        features = [(at, names[at] if products else self.name_of(at), float(values[at])) for at in used]
        return contributions([linear], features, code, is_regression=self.is_regression)[:count]

    def predictions(self, scores: NDArray[np.float64]) -> Predictions:
        """What scores of shape (rows, K) mean."""
        return Predictions(self.classes, scores, self.is_multilabel, self.calibrator)

    def scores(self, table: Table) -> NDArray[np.float64]:
        """Scores of shape (rows, K)."""
        if table.features != max(self.features, 1):
            raise DataError(f"X has {table.features} features, but the model is expecting {self.features}")
        return np.hstack([part.scores(table) for part in self.parts])

    def batch_scores(self, batch: Any) -> NDArray[np.float64]:
        """Scores of a reader's batch. Features that training never saw weigh nothing."""
        if batch.features > self.features:
            matrix = batch.matrix(batch.features)[:, : self.features]
            return self.scores(as_table(matrix))
        return self.scores(batch.table(self.features))

    @property
    def support_rows(self) -> int | None:
        """The rows of the training data that a vote or a kernel model holds; None for one that is only weights."""
        counts = [part.support_rows for part in self.parts]
        return None if None in counts else sum(count for count in counts if count is not None)

    def weights(self) -> tuple[Linear, Products | None]:
        """The weights, and the products that they weigh; None: they weigh columns."""
        if self.is_multilabel:
            raise ModelError("a model of several labels per row is for rosenblatt itself: export one for each label")
        part = self.parts[0]
        if isinstance(part, Quadratic):
            return part.linear, part.products
        if isinstance(part, Dual | VotedDual):
            raise ModelError(
                "a kernel model has support rows instead of weights: only rosenblatt itself can predict with it"
            )
        if len(self.parts) != 1 or not isinstance(part, Linear):
            raise ModelError("a vote has no single weight vector; a model with keep='average' comes closest")
        return part, None

    def linear(self) -> Linear:
        """The weights, if one weight a column and class is all there is."""
        linear, products = self.weights()
        if products is not None:
            raise ModelError("a model of products has weights for products of columns: see weights()")
        return linear

    @property
    def weighted(self) -> int | None:
        """The columns, or products of columns, with a weight; None for a vote or a kernel model."""
        part = self.parts[0]
        if not isinstance(part, Linear | Quadratic):
            return None
        return len(self.weights()[0].columns())

    def top_features(self, count: int = 10) -> dict[str, list[tuple[str, float]]]:
        """The features, or products of features, that speak most for each class, with their weights.

        For a regression, those that raise its number most, and those that lower it most.
        """
        linear, products = self.weights()
        # Most hashed columns have no weight: to sort them too would take memory and time for nothing.
        used = linear.columns()
        weights, terms = linear.weights[:, used], None
        if products is not None:
            terms = products.names([self.name_of(j) for j in products.columns.tolist()])
        classes = ["lower", "higher"] if self.is_regression else self.classes.tolist()
        if len(classes) == 2:
            weights = np.vstack([-weights, weights])
        tops = {}
        for label, row in zip(classes, weights, strict=True):
            best = [k for k in np.argsort(-row, kind="stable")[:count].tolist() if row[k] > 0]
            columns = used[best].tolist()
            named = [terms[j] if terms else self.name_of(j) for j in columns]
            tops[str(label)] = list(zip(named, row[best].tolist(), strict=True))
        return tops

    def name_of(self, column: int) -> str:
        return str(self.names.get(column, column))

    @cached_property
    def _ordered(self) -> list[Name] | None:
        """The names of all columns, if they all have one that is a text."""
        if len(self.names) != self.features or not all(isinstance(name, str) for name in self.names.values()):
            return None
        return [self.names[column] for column in range(self.features)]

    @cached_property
    def _columns(self) -> dict[Any, int]:
        """The column of each name."""
        if self.names:
            return {name: column for column, name in self.names.items()}
        return {column: column for column in range(self.features)}

    def _row(self, row: Any) -> Table:
        """One row as a table."""
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


def model_of(
    learner: Any, encoder: Any = None, names: Mapping[int, Name] | None = None, *, state: bool = False
) -> Model:
    """The model that a fitted learner holds, with the probabilities of the one around it, and with its state."""
    if isinstance(learner, Model):
        return learner
    if hasattr(learner, "as_model"):
        found: Model = learner.as_model()
        return found
    outer = learner
    if encoder is None and getattr(learner, "encoder_", None) is not None:
        encoder = learner.encoder_
        names = encoder.plain_names()
    if not hasattr(learner, "predictors"):  # a learner around others answers with one of them
        learner = getattr(learner, "learner_", getattr(learner, "best_", learner))
    ours = type(outer).__module__.startswith("rosenblatt.")
    if ours and hasattr(outer, "fit") and not hasattr(outer, "n_features_in_"):
        raise ModelError(f"{type(outer).__name__} has learned nothing yet: call fit first")
    if not hasattr(learner, "predictors"):
        raise ModelError(f"{type(outer).__name__} cannot be saved: it is not a learner of rosenblatt")
    with getattr(getattr(learner, "learned", None), "lock", nullcontext()):  # another thread may be learning
        return _model_of(outer, learner, encoder, names_of(learner) if names is None else names, state)


def _model_of(outer: Any, learner: Any, encoder: Any, names: Mapping[int, Name], state: bool) -> Model:
    history = {
        "mistakes": [int(m) for m in learner.history_.mistakes],
        "updates": [int(u) for u in learner.history_.updates],
        "stop_reason": learner.stop_reason_,
    }
    return Model(
        type(learner).__name__,
        _writable(learner.get_params()),
        getattr(learner, "classes_", np.empty(0)),
        tuple(learner.predictors()),
        int(learner.n_features_in_),
        encoder,
        names,
        history,
        outer.calibrator() if hasattr(outer, "calibrator") else None,
        outer.saved_state() if state and hasattr(outer, "saved_state") else None,
        bool(getattr(getattr(learner, "learned", None), "is_multilabel", False)),
    )


def _writable(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a learner, without functions and learners inside, which a file cannot hold."""
    found = {}
    for name, value in sorted(parameters.items()):
        try:
            values_to_json({name: value})
        except ParameterError:
            continue
        found[name] = value
    return found
