"""`AutoPerceptron`: scales if needed, trains the family side by side, chooses the best, and reports the reason."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from rosenblatt import learners
from rosenblatt.data.labels import MANY_NUMBERS, Labels, one_label_of
from rosenblatt.data.table import Table, as_table, collected
from rosenblatt.encode.cells import is_missing, one_array, text_of_cell
from rosenblatt.encode.table import TableEncoder
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.learners.base import remember_columns
from rosenblatt.learners.fit import check_lengths
from rosenblatt.learners.serialization import learner_from_tree
from rosenblatt.learners.streaming import ModelSnapshot, columns_of, known_row
from rosenblatt.learners.targets import row_weights
from rosenblatt.learners.weights import seed_of
from rosenblatt.models.container import to_tree
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import Predictions
from rosenblatt.models.predictors import Linear, Products, Quadratic, count_terms
from rosenblatt.models.rows import are_texts, encode_rows, one_row
from rosenblatt.params import PerceptronParams, values_from_json
from rosenblatt.select.calibrated import ProbabilisticClassifier
from rosenblatt.select.calibration import Calibration, Method, saved_calibration
from rosenblatt.select.choice import MOST_EPOCHS, Choice, Sample
from rosenblatt.select.folds import take_rows
from rosenblatt.select.scaling import Scaling
from rosenblatt.select.scoring import make_scorer
from rosenblatt.select.search import select

MOST_NAMES = 1 << 17  # of columns
Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class AutoPerceptron(ProbabilisticClassifier):
    """A good classifier without options: held-out rows choose scaling, rule, parameters, epochs and products.

    Averaged PA-I and AROW, each with small and large steps, learn side by side. After one epoch the best two continue,
    after three only the better, until its held-out accuracy stops rising. The winner then learns from all rows. If
    chance may explain a lead, the winner is PA-I for dense rows and AROW for sparse rows. The lengths of the rows set
    the sizes of the steps, so units do not matter. With few columns, products of any two of them are tried too, and
    chosen if they get clearly more rows right: the boundary is then curved, and there is no `coef_`. Use a named
    learner to fix the algorithm yourself.

    Parameters
    ----------
    max_iter : int, default=100
        The maximum number of epochs.
    class_weight : dict, "balanced" or None, default=None
        As for `Perceptron`. It counts in every comparison and moves the decision, but not the probabilities.
    products : bool, default=True
        Try products of columns if there are at most 89 columns, or, in sparse rows, at most 89 columns with a value in
        most rows. False: the model is linear in the columns.
    calibrate : {"auto", "sigmoid", "isotonic"}, default="auto"
        How the held-out scores become the probabilities of `predict_proba`; "auto" is the sigmoid, and from 400 scores
        on the mean of both.
    scoring : str, function or None, default=None
        The score on held-out rows that decides: a score of scikit-learn by its name ("balanced_accuracy", "f1",
        "roc_auc", "neg_log_loss", ...), or a function of true and predicted labels. None is accuracy. Scores of
        probabilities are of a sigmoid fitted on the same rows.
    random_state : int, default=0
        The seed of the held-out part and of the shuffling; the same seed gives the same bits.
    n_jobs : int, default=-1
        Threads over the candidates; the result is the same for any number.
    verbose : int, default=0
        1 prints `choice_`.

    Attributes
    ----------
    best_ : learner
        The chosen learner, fitted on the scaled rows or on the products.
    choice_ : str
        The chosen learner and the reason, in one line.
    scores_ : dict
        The held-out score of every candidate: accuracy, or that of `scoring`.
    scaling_ : Scaling or None
        How the columns were scaled.
    products_ : Products or None
        How the columns were multiplied; ``products_.names(columns)`` names the columns of ``best_.coef_``.
    encoder_ : encoder or None
        Encodes frames with text, categories or dates; None for rows of numbers.
    encoded_width_ : int
        The number of columns after encoding.
    encoded_names_ : dict
        The names of the columns after encoding, by column; empty without `encoder_`.
    coef_ : array
        The weights for unscaled rows; absent if products were chosen.
    intercept_ : array
        The offsets for unscaled rows; absent if products were chosen.
    classes_ : array
        The sorted labels. With two classes, the larger one is +1.
    n_features_in_ : int
        The number of columns of X.
    n_iter_ : int
        The number of epochs of the last fit.
    feature_names_in_ : array
        The names of the columns of X, if X had names.
    history_ : History
        Mistakes, updates and seconds per epoch of the last fit.
    stop_reason_ : str
        Why the last fit stopped.

    Examples
    --------
    >>> from rosenblatt import AutoPerceptron
    >>> rows, labels = [[0.0], [1.0], [5.0], [6.0]] * 5, ["low", "low", "high", "high"] * 5
    >>> AutoPerceptron().fit(rows, labels).predict([[0.5], [7.0]]).tolist()
    ['low', 'high']
    """

    max_iter: int = MOST_EPOCHS
    class_weight: Any = None
    products: bool = True
    calibrate: Method = "auto"
    scoring: Any = None
    random_state: Any = 0
    n_jobs: int | None = -1
    verbose: int = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
        """Choose a learner and fit it on all rows.

        Parameters
        ----------
        X, y : rows and labels
            As for `Perceptron`. A frame may also hold text, categories, dates and missing values, and X may be a list
            of texts or dicts: they are encoded as `rosenblatt.train` encodes a file, by `encoder_`, which predictions
            and saved models use too. In dicts, an absent key of numbers is 0, another absent key a missing value.
        sample_weight : array-like, optional
            Weights for learning and for every comparison.
        groups : array-like, optional
            One value per row, such as a patient or a user; rows of one group are held out together, so that learners
            are compared as they will be used, on new groups.
        time : array-like, optional
            One value per row that can be sorted; the latest rows are held out.
        """
        labels = one_label_of(y, "AutoPerceptron").weighed(sample_weight)
        if len(labels.classes) > MANY_NUMBERS and labels.classes.dtype.kind in "iuf":
            warnings.warn(
                f"y has {len(labels.classes):,} different numbers, and each becomes a class: for a regression use "
                "tune(task='regression')",
                stacklevel=2,
            )
        self._begin(X, labels, sample_weight, groups=groups, time=time)
        return self

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Continue with the chosen learner on one example, a dict from the names or numbers of the columns to numbers.

        It costs as much as `partial_fit` with one row. The first rows have to come together: see `fit`.
        """
        if not hasattr(self, "best_"):
            raise NotFittedError("AutoPerceptron is not fitted yet: call fit with some rows, to compare learners")
        encoded = vars(self).get("encoder_") is not None
        table = self._table([one_row(features)]) if encoded else as_table(known_row(self, features))
        with self.lock:
            self._learn_on(None, table, one_label_of([label], "AutoPerceptron"), [weight])
        return self

    def saved_state(self) -> dict[str, Any] | None:
        """The learner, what it is given, and more; None if learning cannot continue."""
        saved, own = super().saved_state(), {"choice": self.choice_, "scores": self.scores_}
        own |= {"scaling": to_tree(self.scaling_), "products": to_tree(self.products_)}
        return saved and saved | own

    @classmethod
    def from_model(cls, model: Model, saved: dict[str, Any]) -> Self:
        """The estimator whose state was saved, checked."""
        auto, seen, products = cls(**values_from_json(saved["parameters"])), model.features, None
        scaling = None if saved["scaling"] is None else Scaling.read(saved["scaling"], seen)
        if saved["products"] is not None:
            products = Products.read(saved["products"], seen)
            seen = count_terms(len(products.columns))
        best = learner_from_tree(saved["inner"], model.classes, seen, {})
        scores = {str(name): float(score) for name, score in saved["scores"].items()}
        auto._remember(np.empty((0, model.features)), model.encoder, model.names)
        if model.encoder is None and hasattr(model, "feature_names_in_"):
            auto.feature_names_in_ = model.feature_names_in_
        choice = Choice(best.params(), str(saved["choice"]), scaling, products, scores)
        auto._begin_with(best, choice, saved_calibration(model))
        return auto

    _inside = property(attrgetter("best_"))

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights for unscaled rows; absent if products were chosen: see `best_`."""
        return self._linear("coef_").weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts for unscaled rows; absent if products were chosen: see `best_`."""
        return self._linear("intercept_").intercept

    def _begin(self, X: Any, labels: Labels, sample_weight: Any, *, more_to_come: bool = False, **how: Any) -> None:
        """Choose, learn from all rows, and calibrate; `groups` or `time` split the rows, `params` leave no choice."""
        if self.calibrate not in get_args(Method):
            raise ParameterError(f"calibrate={self.calibrate!r}: must be 'auto', 'sigmoid' or 'isotonic'")
        if self.products not in (True, False):
            raise ParameterError(f"products={self.products!r}: must be True or False")
        X, table, encoder, names = table_of(X, labels)
        check_lengths(table, labels)
        seed, scorer = seed_of(self.random_state), make_scorer(self.scoring)
        sample = Sample(table, labels, seed=seed, n_jobs=self.n_jobs, scorer=scorer)
        sample = sample.weighed(sample_weight, self.class_weight, more_to_come=more_to_come)
        if sample.weights is not None and not sample.weights.any():
            raise DataError("every row has the weight 0: there is nothing to learn from")
        how |= {"products": self.products, "max_iter": self.max_iter}
        choice = select(sample, find_names=lambda columns: names, **how)
        plan = choice.plan(sample.scaled(choice.scaling).table, labels, sample.weights)
        (task,) = plan.run()
        held = choice.held_out
        if held is None:  # of the rows that were learned from: there are no others
            held = sample.held_out(slice(None), task.state.predictor().scores(task.table))
        learner = getattr(learners, plan.params.learner)(**plan.params.values())
        learner.finish_fit(np.empty((0, task.state.features)), plan, [task])
        self._remember(X, encoder, names)
        self._begin_with(learner, choice, held.calibration(self.calibrate))
        if self.verbose:
            print(self.choice_)

    def _begin_with(self, best: Any, choice: Choice, calibration: Calibration | None) -> None:
        """Set the chosen learner, what led to it, and the predictor."""
        self.best_, self.classes_, self.n_iter_ = best, best.classes_, best.n_iter_
        self.scaling_, self.products_ = choice.scaling, choice.products
        self.scores_, self.choice_ = choice.scores, choice.why
        self._predictor = replace(self._snapshot(), calibration=calibration)

    def _remember(self, X: Any, encoder: Any, names: Mapping[int, Any]) -> None:
        """Set scikit-learn's attributes of the columns: with an encoder, of its columns; X is encoded."""
        remember_columns(self, X)
        self.encoder_, self.encoded_width_ = encoder, self.n_features_in_
        self.encoded_names_ = {} if encoder is None else names
        if isinstance(encoder, TableEncoder):
            columns = np.array([column.name for column in encoder.columns], dtype=object)
            self.__dict__.update(feature_names_in_=columns, n_features_in_=len(columns))

    def _learn_more(self, X: Any, table: Table, labels: Labels, sample_weight: Any) -> None:
        """Continue with the chosen learner; the terms of many rows are not held all at once."""
        PerceptronParams(class_weight=self.class_weight).check_online()
        weights = row_weights(sample_weight, self.class_weight, labels, more_to_come=True)
        y, known = labels.classes[labels.codes], labels.classes
        if self.scaling_ is not None:
            table = self.scaling_.apply(table)
        parts = [(table, np.arange(table.count))] if self.products_ is None else self.products_.iter_terms(table)
        for terms, part in parts:
            some = take_rows(weights, part)
            if some is None or some.any():  # rows of weight 0 are ignored
                self.best_.partial_fit(terms.values, y[part], known, some)

    def _table(self, X: Any) -> Table:
        """The rows as numbers: a frame of other columns goes through the encoder."""
        encoder = vars(self).get("encoder_")
        rows = X if encoder is None else encode_rows(X, encoder, self.encoded_width_)
        return as_table(rows) if isinstance(encoder, TableEncoder) else super()._table(rows)

    def _predict_row(self, row: Any) -> Predictions:
        return super()._predict_row(row) if vars(self).get("encoder_") is None else self._predict([one_row(row)])

    def _linear(self, name: str) -> Linear:
        if "best_" not in vars(self):
            raise AttributeError("AutoPerceptron has no weights yet: call fit first")
        model = self._predictor.predictors[0]
        if not isinstance(model, Linear):
            raise AttributeError(f"there is no {name} with products of columns: see best_.{name}")
        return model

    def _snapshot(self) -> ModelSnapshot:
        linear = Linear(self.best_.coef_, self.best_.intercept_)
        if self.scaling_ is not None:
            linear = self.scaling_.folded(linear)
        model = linear if self.products_ is None else Quadratic(self.products_, linear)
        return ModelSnapshot(self.best_.classes_, (model,), self.n_features_in_, columns_of(self))


def table_of(X: Any, labels: Labels) -> tuple[Any, Table, Any, Mapping[int, Any]]:
    """Rows, table, encoder and names of columns.

    Texts, dicts or a frame of other columns than numbers are encoded as `train` encodes a file.
    """
    X = collected(X)
    texts, dicts = are_texts(X), isinstance(X, list) and bool(X) and all(isinstance(row, dict) for row in X)
    try:
        plain = as_table(X)
        return X, plain, None, dict(enumerate(plain.names or ()))
    except (TypeError, ValueError):  # cells that are not numbers
        if not (texts or dicts or hasattr(X, "__arrow_c_stream__")):
            raise
    import pyarrow as pa

    from rosenblatt.io.arrow import without_index
    from rosenblatt.io.dataset import open_dataset

    zeros, table = _columns_of(X) if dicts else (None, pa.table({"text": list(X)} if texts else without_index(X)))
    if table.num_rows != len(labels.codes):
        raise DataError(f"X has {table.num_rows} rows, y has {len(labels.codes)} labels")
    distinct = sum(
        len(one_array(table.column(field.name)).unique())
        for field in table.schema
        if not pa.types.is_floating(field.type) and not pa.types.is_nested(field.type)
    )
    bits = 20 if texts else min(20, max(8, math.ceil(math.log2(16 * distinct + 1))))  # few names share a column
    name = "label" + "_" * (1 + max(map(len, table.column_names), default=0))
    table = table.append_column(name, pa.array(labels.codes.astype(str)))
    dataset = open_dataset(table, label=name, bits=bits, text=["text"] if texts else [])
    dataset.encoder = replace(dataset.encoder, zeros=zeros)
    store = dataset.load()
    rows = store.csr(dataset.encoder.features).matrix()
    return rows, as_table(rows), dataset.encoder, dataset.find_names(np.unique(rows.indices)[:MOST_NAMES])


def _columns_of(rows: list[dict[Any, Any]]) -> tuple[tuple[str, ...], Any]:
    """The columns in which an absent key is 0, those of numbers, and the table of all columns."""
    import pyarrow as pa

    columns, zeros = dict[str, Any](), []
    for name in dict.fromkeys(name for row in rows for name in row):
        if not isinstance(name, str):
            raise DataError(f"X has the key {name!r}: the keys of dicts must be strings")
        there = [row[name] for row in rows if name in row and not is_missing(row[name])]
        is_number = all(isinstance(cell, (bool, int, float, np.number, np.bool_)) for cell in there)
        zeros += [name] * is_number
        cells: list[Any] = [row.get(name, 0.0 if is_number else None) for row in rows]
        cells = [None if is_missing(cell) else float(cell) if is_number else cell for cell in cells]
        try:
            columns[name] = pa.array(cells, pa.float64() if is_number else None)
        except (pa.ArrowException, TypeError):  # of several types
            columns[name] = pa.array([text_of_cell(cell) for cell in cells], pa.string())
    return tuple(zeros), pa.table(columns)
