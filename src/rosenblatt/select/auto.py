"""`AutoPerceptron`: scales if needed, tries the family side by side, keeps the best, says what it chose and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.labels import Labels, label_values, merge_classes, one_label_of, sorted_classes
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import DataError, LabelError, ParameterError
from rosenblatt.learners.arow import AROW
from rosenblatt.learners.base import check_columns
from rosenblatt.learners.fit import Outcome, check_lengths, count_threads, remember_columns, run_both, take_over
from rosenblatt.learners.learned import Reading
from rosenblatt.learners.passive_aggressive import PassiveAggressive
from rosenblatt.learners.perceptron import AveragedPerceptron
from rosenblatt.learners.serialization import inner_state, learner_from_tensors, learner_to_tensors, wrap_state
from rosenblatt.learners.streaming import known_row
from rosenblatt.learners.targets import are_absent, check_online, row_weights
from rosenblatt.learners.weights import seed_of
from rosenblatt.models.container import SavedState
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Linear, Products, Quadratic, count_terms
from rosenblatt.models.rows import encode_rows
from rosenblatt.params import values_from_json, values_to_json
from rosenblatt.select.calibration import Calibration, HeldOutScores, Method, fit_calibrator
from rosenblatt.select.scaling import Scaling
from rosenblatt.select.scoring import make_scorer
from rosenblatt.select.search import MOST_EPOCHS, Sample, Scoring, Selection, find_leak, select
from rosenblatt.select.wrapper import CalibratedPredictor, ProbabilisticClassifier

VISITS_BESIDE = 50_000  # of rows; below it, a thread for the scores to calibrate by costs more than it saves

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class AutoPerceptron(ProbabilisticClassifier):
    """A good classifier without options: scaling, rule, parameters, epochs and products are chosen by held-out rows.

    Averaged PA-I and AROW, from cautious to bold, learn side by side, each row read once for all; the two best after
    the first epoch go on, the better of them for as long as its held-out accuracy rises, and it is then learned again
    from all rows. PA-I comes first where rows are dense, AROW where they are sparse; another is taken only if it
    answers clearly more held-out rows right, since few rows would otherwise choose by chance. The steps of the
    candidates are set by the length of the rows, so nothing depends on units. Where there are few columns, products of
    any two of them are tried as well, and taken if they clearly answer more rows right: the boundary is then curved,
    and `coef_` is not there. Use a named learner where you want to know the algorithm beforehand.

    Parameters
    ----------
    max_iter : int, default=100
        The most epochs.
    class_weight : dict, "balanced" or None, default=None
        As for `Perceptron`. It counts in every comparison and moves the decision, but not the probabilities.
    products : bool, default=True
        Try products of columns, if there are at most 89 of them. False: the answer is linear in the columns.
    calibrate : {"auto", "sigmoid", "isotonic"}, default="auto"
        How the held-out scores become the probabilities of `predict_proba`; "auto" is the sigmoid, and from 400 scores
        on the mean of both.
    scoring : str, function or None, default=None
        What to choose by, on the held-out rows: a score of scikit-learn by its name ("balanced_accuracy", "f1",
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
        What was chosen, and why, in one line.
    scores_ : dict
        The held-out score of every candidate: accuracy, or what `scoring` asks for.
    scaling_ : Scaling or None
        What was done to the columns.
    products_ : Products or None
        How the columns were multiplied; ``products_.names(columns)`` says what ``best_.coef_`` weighs.
    encoder_ : encoder or None
        How a frame of other columns than numbers becomes rows.
    coef_, intercept_
        The weights for unscaled rows; not where products were taken.

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
            As for `Perceptron`. A frame may also hold text, categories, dates and missing values: it is encoded as
            `rosenblatt.train` encodes a file, by `encoder_`, which predictions and saved models use too.
        sample_weight : array-like, optional
            Weighs the learning and every comparison.
        groups : array-like, optional
            One value per row, such as a patient or a user; rows of one group are held out together, so that learners
            are compared as they will be used, on new groups.
        time : array-like, optional
            One value per row that can be sorted; the latest rows are held out.
        """
        labels = one_label_of(y, "AutoPerceptron").weighed(sample_weight)
        self._begin(X, labels, sample_weight, groups=groups, time=time)
        return self

    def fit_learner(self, learner: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Scale the columns and fit this learner, with probabilities, instead of choosing one; `tune` ends so.

        Parameters
        ----------
        learner : PassiveAggressive, AROW or AveragedPerceptron
            With the number of epochs in `max_iter`.
        X, y, sample_weight
            As for `fit`.
        """
        self._begin(X, one_label_of(y, "AutoPerceptron").weighed(sample_weight), sample_weight, learner=learner)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on with the chosen learner on more rows, scaled as before; the first call chooses, as `fit` does.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; labels may be new.
        classes : array-like, optional
            Labels that may come. Not needed: new labels are taken as they come.
        """
        if not hasattr(self, "best_"):
            labels = one_label_of(y, "AutoPerceptron").weighed(sample_weight)
            if are_absent(sample_weight, labels):
                return self
            known = labels.classes if classes is None else merge_classes(labels.classes, sorted_classes(classes))
            self._begin(X, Labels(known, labels.among(known)), sample_weight, more_to_come=True)
            return self
        return self._go_on(X, y, classes, sample_weight)

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, named: bool = True) -> Self:
        check_online(self)
        labels = one_label_of(y, "AutoPerceptron").weighed(sample_weight)
        known = merge_classes(self.classes_, labels.classes)
        if classes is not None:
            known = merge_classes(known, sorted_classes(classes))
        labels = Labels(known, labels.among(known))
        X = self._encoded(X)
        table = as_table(X)
        if named:
            check_columns(self, X)
        check_lengths(table, labels)
        weights = row_weights(sample_weight, self.class_weight, labels, more_to_come=True)
        if weights is not None and not weights.any():
            return self  # rows of weight 0 are as if absent
        rows = np.arange(table.count) if weights is None else np.flatnonzero(weights)
        counted = row_weights(sample_weight, None, labels, more_to_come=True)
        before = self._predictor
        scores = before.reading.scores(table)
        try:
            self._learn_more(table, labels, weights)
            judged = HeldOutScores(scores, labels.codes, counted)
            self.classes_, self._predictor = known, before.followed_by(self._read(), table, judged, rows)
        except BaseException:  # an interrupted call has learned whole rows
            self.classes_, self._predictor = self.best_.classes_, before.interrupted(self._read())
            raise
        return self

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Go on with the chosen learner on one example, a dict from the names or numbers of the columns to numbers.

        It costs as much as `partial_fit` with one row. The first rows have to come together: see `fit`.
        """
        if not hasattr(self, "best_"):
            raise NotFittedError("AutoPerceptron chooses by comparing learners: call fit with some rows first")
        weights = None if weight == 1.0 else [weight]
        row = [features] if vars(self).get("encoder_") is not None else known_row(self, features)
        return self._go_on(row, [label], None, weights, named=False)

    def saved_state(self) -> SavedState | None:
        """The learner, scaling, products, held-out scores and choice; None if learning cannot go on."""
        inner, tensors = learner_to_tensors(self.best_), dict[str, NDArray[Any]]()
        if inner is None:
            return None
        calibration, scaling = self._predictor.calibration, self.scaling_
        header = {
            "wrapper": "AutoPerceptron",
            "parameters": values_to_json(self.get_params(deep=False), tensors),
            "choice": self.choice_,
            "scores": self.scores_,
            "calibration": calibration.to_tensors(tensors) if isinstance(calibration, Calibration) else None,
        }
        scaled = None if scaling is None else (scaling.kind, scaling.center, scaling.scale)
        return wrap_state(header, tensors, inner, scaled, self.products_)

    @classmethod
    def from_model(cls, model: Model, saved: SavedState) -> Self:
        """The estimator whose state was saved, checked."""
        header, tensors, seen = saved.header, saved.tensors, model.features
        auto = cls(**values_from_json(header["parameters"], tensors))
        scaled, method = header["scaling"], header["calibration"]
        auto.scaling_ = None if scaled is None else Scaling.from_tensors(scaled, tensors, seen)
        auto.products_ = None
        if "products.columns" in tensors:
            auto.products_ = Products.from_tensors("products.", tensors, model.features)
            seen = count_terms(len(auto.products_.columns))
        auto.best_ = learner_from_tensors(inner_state(saved), model.classes, seen, {})
        auto.classes_, auto.n_iter_ = model.classes, auto.best_.n_iter_
        auto.choice_ = str(header["choice"])
        auto.scores_ = {str(name): float(score) for name, score in header["scores"].items()}
        auto.n_features_in_, auto.encoder_ = model.features, model.encoder
        if model.encoder is None and hasattr(model, "feature_names_in_"):
            auto.feature_names_in_ = model.feature_names_in_
        calibration = None
        if method is not None:
            calibration = Calibration.from_tensors(method, tensors, len(model.classes), model.calibrator)
        auto._predictor = CalibratedPredictor(auto._read(), calibration)
        return auto

    def _inside(self) -> Any:
        return self.best_

    @property
    def coef_(self) -> NDArray[Any]:
        """The weights for unscaled rows; none where products were taken: see `best_`."""
        return self._linear("coef_").weights

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The intercepts for unscaled rows; none where products were taken: see `best_`."""
        return self._linear("intercept_").intercept

    def _begin(
        self,
        X: Any,
        labels: Labels,
        sample_weight: Any,
        *,
        more_to_come: bool = False,
        groups: Any = None,
        time: Any = None,
        learner: Any = None,
    ) -> None:
        """Choose, learn from all rows, and calibrate."""
        if self.calibrate not in ("auto", "sigmoid", "isotonic"):
            raise ParameterError(f"calibrate={self.calibrate!r}: must be 'auto', 'sigmoid' or 'isotonic'")
        encoder = None
        try:
            table = as_table(X)
        except DataError:
            if not hasattr(X, "__arrow_c_stream__"):
                raise
            encoder = _fit_encoder(X, labels)
            X = encode_rows(X, encoder, encoder.features)
            table = as_table(X)
        check_lengths(table, labels)
        if len(labels.classes) < 2:
            raise LabelError(
                f"y has one class only, {label_values(labels.classes)[0]!r}: a classifier needs at least 2 classes"
            )
        weights = row_weights(sample_weight, self.class_weight, labels, more_to_come=more_to_come)
        if weights is not None and not weights.any():
            raise DataError("every row has the weight 0: there is nothing to learn from")
        seed = seed_of(self.random_state)
        selection = select(
            Sample(table, labels, weights, row_weights(sample_weight, None, labels)),
            products=self.products,
            seed=seed,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            scoring=self._scoring(),
            groups=groups,
            time=time,
            only=None if learner is None else (learner.params(), _changed(learner)),
        )
        outcome, calibration = self._learn(selection)
        params = selection.params
        kind: Any = {each.__name__: each for each in (AROW, AveragedPerceptron, PassiveAggressive)}[params.learner]
        learner = kind(**selection.best.changed, max_iter=selection.epochs, tol=None, random_state=seed)
        learner.n_features_in_ = selection.prepared.table.features
        take_over(learner, labels.classes, [outcome])
        remember_columns(self, X)
        self.classes_, self.best_, self.encoder_ = labels.classes, learner, encoder
        self.scaling_, self.products_ = selection.scaling, selection.products
        self.scores_, self.choice_ = selection.scores, selection.sentence
        leak = None if encoder is not None else find_leak(selection)
        if leak is not None:
            name = repr(self.feature_names_in_[leak]) if hasattr(self, "feature_names_in_") else leak
            self.choice_ += f"; column {name} alone tells the label: make sure that it is known when you predict"
        self.n_iter_ = learner.n_iter_
        self._predictor = CalibratedPredictor(self._read(), calibration)
        if self.verbose:
            print(self.choice_)

    def _scoring(self) -> Scoring | None:
        """The user's score and its name; None for accuracy, which the search counts itself."""
        if self.scoring is None or (scorer := make_scorer(self.scoring)).is_accuracy:
            return None

        def score(scores: Floats, labels: Labels, weights: Floats | None) -> float:
            calibrator = fit_calibrator(scores, labels.codes, len(labels.classes), "sigmoid", weights)
            return scorer.share(scorer(scores, labels, weights, calibrator))

        return scorer.name, score

    def _learn(self, selection: Selection) -> tuple[Outcome, Calibration]:
        """The chosen learner, learned from all rows; and its calibration, side by side if that pays."""
        visits = selection.sample.table.count * selection.epochs
        few = selection.contest is not None and selection.best.held < selection.enough_scores(self.calibrate)
        if few and visits > VISITS_BESIDE and count_threads(self.n_jobs) > 1:
            outcome, calibration = run_both(selection.learn, partial(selection.calibrate, self.calibrate))
        else:
            outcome, calibration = selection.learn(), selection.calibrate(self.calibrate)
        if calibration is None:
            prepared = selection.prepared
            scores = outcome.state.predictor().scores(prepared.table)
            held = HeldOutScores(scores, prepared.labels.codes, prepared.sample_weights)
            calibration = Calibration(self.calibrate, held, len(prepared.labels.classes))
        return outcome, calibration

    def _learn_more(self, table: Table, labels: Labels, weights: Floats | None) -> None:
        """Go on with the chosen learner; the terms of many rows are not held all at once."""
        y, known = labels.classes[labels.codes], labels.classes
        if weights is not None and not weights.any():
            self.best_.add_classes(known)
        elif self.products_ is None:
            scaled = table if self.scaling_ is None else self.scaling_.apply(table)
            self.best_.partial_fit(scaled.values, y, known, weights)
        else:
            for terms, part in self.products_.iter_terms(table):
                some = None if weights is None else weights[part]
                if some is None or some.any():
                    self.best_.partial_fit(terms.values, y[part], known, some)

    def _encoded(self, X: Any) -> Any:
        """Rows of numbers: a frame of other columns goes through the encoder."""
        encoder = vars(self).get("encoder_")
        return X if encoder is None else encode_rows(X, encoder, self.n_features_in_)

    def _scored(self, X: Any) -> tuple[CalibratedPredictor, Floats]:
        check_is_fitted(self, "_predictor")
        return super()._scored(self._encoded(X))

    def _scored_one(self, features: dict[Any, Any]) -> tuple[CalibratedPredictor, Floats]:
        if vars(self).get("encoder_") is None:
            return super()._scored_one(features)
        return self._scored([features])

    def _linear(self, name: str) -> Linear:
        if "best_" not in vars(self):
            raise AttributeError("AutoPerceptron has no weights yet: call fit first")
        model = self._predictor.reading.predictors[0]
        if not isinstance(model, Linear):
            raise AttributeError(f"{name} is for answers without products of columns: see best_.{name}")
        return model

    def _read(self) -> Reading:
        """The chosen learner's weights, for the user's rows."""
        learned = Linear(self.best_.coef_, self.best_.intercept_)
        model: Linear | Quadratic = learned if self.scaling_ is None else self.scaling_.folded(learned)
        if self.products_ is not None:
            model = Quadratic(self.products_, learned)
        return Reading(self.best_.classes_, (model,))


def _changed(learner: Any) -> dict[str, Any]:
    """The parameters that are not at their defaults, but for the number of epochs."""
    defaults = type(learner)().get_params()
    told = {name: value for name, value in learner.get_params().items() if value != defaults[name]}
    return {name: value for name, value in told.items() if name not in ("max_iter", "tol", "random_state")}


def _fit_encoder(frame: Any, labels: Labels) -> Any:
    """The encoder that `train` would make of a file with these columns and labels."""
    import pyarrow as pa

    from rosenblatt.io.dataset import open_dataset

    table = pa.table(frame)
    if table.num_rows != len(labels.codes):
        raise DataError(f"X has {table.num_rows} rows, y has {len(labels.codes)} labels")
    coded = [name for name in table.column_names if not pa.types.is_floating(table.schema.field(name).type)]
    distinct = sum(len(table.column(name).unique()) for name in coded)
    bits = min(20, max(8, math.ceil(math.log2(16 * distinct + 1))))  # few of the names share a column
    name = "label" + "_" * (1 + max(map(len, table.column_names), default=0))
    table = table.append_column(name, pa.array(labels.codes.astype(str)))
    return open_dataset(table, label=name, bits=bits).encoder
