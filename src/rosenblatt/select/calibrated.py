"""`Calibrated`: probabilities for learners that only have scores."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rosenblatt.data.labels import Labels, label_values, merge_classes, one_label_of, sorted_classes
from rosenblatt.data.table import as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.base import check_columns
from rosenblatt.learners.fit import conclude, prepare, warn_if_unfinished
from rosenblatt.learners.learned import Reading
from rosenblatt.learners.serialization import inner_state, learner_from_tensors, learner_to_tensors, wrap_state
from rosenblatt.learners.stream import Columns
from rosenblatt.learners.targets import are_absent, row_weights, weight_of_class
from rosenblatt.learners.weights import seed_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import SavedState
from rosenblatt.models.model import Model
from rosenblatt.params import values_from_json, values_to_json
from rosenblatt.select.calibration import WINDOW, Calibration, HeldOutScores
from rosenblatt.select.folds import assign_folds, check_learner, fit_folds
from rosenblatt.select.wrapper import CalibratedPredictor, ProbabilisticClassifier

Floats = NDArray[np.float64]
_locks: WeakKeyDictionary[Any, threading.RLock] = WeakKeyDictionary()  # beside the estimators, so that these pickle
_guard = threading.Lock()


def _lock_of(estimator: Any) -> threading.RLock:
    """One lock per estimator: threads that begin or continue a stream take turns, so that no example is lost."""
    with _guard:
        return _locks.setdefault(estimator, threading.RLock())


@dataclass(kw_only=True, eq=False, repr=False)
class Calibrated(ProbabilisticClassifier):
    """A learner with probabilities, fitted on scores of rows that it had not learned from.

    `fit` learns once from all rows, for the answer, and once per fold, for out-of-sample scores; of more than 10,000
    scores as many are taken from all over the rows. `partial_fit` scores new rows before it learns from them and fits
    the curves again on the latest 10,000 scores, so the probabilities follow a stream.

    Probabilities are those of the rows, counted with their sample weights. Class weights move the decision alone: where
    they favor a rare class, `predict` may answer with it at a probability below one half.

    Parameters
    ----------
    learner : linear or kernel learner
        Any of the family. "vote" needs one with ``keep="vote"``.
    calibrate : {"sigmoid", "isotonic", "vote"}, default="sigmoid"
        "sigmoid" (Platt) has two numbers a class and needs few rows; "isotonic" takes any rising shape and needs
        thousands; "vote" is the share of the votes, with nothing to fit, not calibrated by itself, and
        not for class weights, under which votes are not those of the data.
    folds : int, default=5
        How many parts the out-of-sample scores come from.
    n_jobs : int, default=-1
        Threads over the folds.

    Attributes
    ----------
    learner_ : learner
        Fitted on all rows.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, Calibrated
    >>> rows, labels = [[0.0], [1.0], [5.0], [6.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> calibrated = Calibrated(AveragedPerceptron()).fit(rows, labels)
    >>> calibrated.classes_.tolist(), calibrated.predict_proba([[9.0]]).argmax(axis=1).tolist()
    (['high', 'low'], [0])
    """

    learner: Any = field(kw_only=False)
    calibrate: Literal["sigmoid", "isotonic", "vote"] = "sigmoid"
    folds: int = 5
    n_jobs: int | None = -1

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn, and fit the curves from scores to probabilities.

        Parameters
        ----------
        X, y, sample_weight
            As for the learner.
        groups : array-like, optional
            One value per row; rows of one group share a fold, as in `cross_validate`.
        """
        self._check()
        with _lock_of(self):
            self._begin(X, one_label_of(y, "Calibrated").weighed(sample_weight), sample_weight, groups)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Score the rows, learn from them once, and fit the curves on the latest scores; the first call is `fit`.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; labels may be new.
        classes : array-like, optional
            Labels that may come. Not needed: new labels are added when they first come.
        """
        with _lock_of(self):
            return self._partial_fit(X, y, classes, sample_weight)

    def _partial_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> Self:
        labels = one_label_of(y, "Calibrated").weighed(sample_weight)
        if are_absent(sample_weight, labels):
            return self
        if not hasattr(self, "learner_"):
            if classes is not None:
                known = merge_classes(labels.classes, sorted_classes(classes))
                labels = Labels(known, labels.among(known))
            self._begin(X, labels, sample_weight, more_to_come=True)
            return self
        table, before = as_table(X), self._predictor
        check_columns(self, X)
        scores = before.reading.scores(table)
        try:
            self.learner_.partial_fit(X, y, classes, sample_weight)
            reading = self.learner_.learned.reading()
            labels = Labels(reading.classes, labels.among(reading.classes))
            present, counted = self._weights(sample_weight, labels)
            after = before.followed_by(reading, table, HeldOutScores(scores, labels.codes, counted), present)
            if self.calibrate == "vote":
                after = replace(after, calibration=self._vote_shares(reading))
            self.classes_, self._predictor = reading.classes, after
        except BaseException:
            reading = self.learner_.learned.reading()
            if reading is not self._predictor.reading:
                self.classes_, self._predictor = reading.classes, before.interrupted(reading)
            raise
        return self

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Score one example and learn from it; the curves are fitted on the latest scores when they are next used.

        It may be the first call: probabilities are equal until there are scores.

        Parameters
        ----------
        features, label, weight
            As for `learn_one` of the learner.
        """
        with _lock_of(self):
            learner = vars(self).get("learner_")
            if learner is None:
                self._check()
                learner = clone(self.learner)
            scores, classes = None, 0
            if learner.has_learned:
                scores, classes = learner.scores_one(features), len(learner.learned.classes)
            learner.learn_one(features, label, weight)
            learned = learner.learned if learner.has_learned else None
            if learned is None or label not in learned.labels_in_order:
                return self  # an example of weight 0 is as if absent
            self.__dict__.setdefault("_pending", deque(maxlen=WINDOW)).append((scores, classes, label, weight))
            self.learner_, self.classes_ = learner, learned.classes
        return self

    @property
    def _predictor(self) -> CalibratedPredictor:
        """Predictors and curves, up to date with the examples that `learn_one` took."""
        known = self.__dict__
        if known.get("_pending"):
            with _lock_of(self):
                pending = list(known["_pending"])
                if pending:
                    known["_answer"] = self._updated(known.get("_answer"), pending)
                    known["_pending"].clear()
        if "_answer" not in known:
            raise AttributeError("Calibrated is not fitted")
        answer: CalibratedPredictor = known["_answer"]
        return answer

    @_predictor.setter
    def _predictor(self, answer: CalibratedPredictor) -> None:
        self.__dict__.pop("_pending", None)
        self.__dict__["_answer"] = answer

    def _updated(self, before: CalibratedPredictor | None, pending: list[Any]) -> CalibratedPredictor:
        """After examples were learned one by one, each with its scores before that."""
        reading: Reading = self.learner_.learned.reading()
        if self.calibrate == "vote":
            return CalibratedPredictor(reading, self._vote_shares(reading))
        count, calibration = len(reading.classes), None if before is None else before.calibration
        if not isinstance(calibration, Calibration) or calibration.classes != count:
            calibration = Calibration(self.calibrate, HeldOutScores.empty(count), count)
        told, codes = self.learner.class_weight, dict(zip(label_values(reading.classes), range(count), strict=True))
        used = [
            (scores, codes[label], weight)
            for scores, classes, label, weight in pending
            if scores is not None and classes == count and weight * weight_of_class(told, label) > 0
        ]
        if used:
            scores, places, weights = zip(*used, strict=True)
            counted = None if all(weight == 1.0 for weight in weights) else np.array(weights, np.float64)
            calibration = calibration.append(HeldOutScores(np.array(scores), np.array(places, np.int32), counted))
        return CalibratedPredictor(reading, calibration)

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the learner."""
        count: int = self.learner_.n_features_in_
        return count

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, if they have names."""
        names: NDArray[Any] = self.learner_.feature_names_in_
        return names

    def _columns(self) -> Columns:
        columns: Columns = self.learner_.feature_columns()
        return columns

    def saved_state(self) -> SavedState | None:
        """The learner, and the latest scores that the curves are fitted on; None if learning cannot go on."""
        inner, tensors = learner_to_tensors(self.learner_), dict[str, NDArray[Any]]()
        if inner is None:
            return None
        told = {name: value for name, value in self.get_params(deep=False).items() if name != "learner"}
        header: dict[str, Any] = {"wrapper": "Calibrated", "parameters": values_to_json(told, tensors)}
        calibration = self._predictor.calibration
        header["calibration"] = calibration.to_tensors(tensors) if isinstance(calibration, Calibration) else None
        return wrap_state(header, tensors, inner)

    @classmethod
    def from_model(cls, model: Model, saved: SavedState) -> Self:
        """The estimator whose state was saved, checked."""
        inner = learner_from_tensors(inner_state(saved), model.classes, model.features, model.names)
        like = type(inner)(**inner.get_params(deep=False))
        calibrated = cls(like, **values_from_json(saved.header["parameters"], saved.tensors))
        calibrated._check()
        reading, method = inner.learned.reading(), saved.header["calibration"]
        calibration: Calibration | Calibrator = (
            calibrated._vote_shares(reading)
            if method is None
            else Calibration.from_tensors(method, saved.tensors, len(model.classes), model.calibrator)
        )
        calibrated.learner_, calibrated.classes_ = inner, model.classes
        calibrated._predictor = CalibratedPredictor(reading, calibration)
        return calibrated

    def _inside(self) -> Any:
        return self.learner_

    def _begin(
        self, X: Any, labels: Labels, sample_weight: Any, groups: Any = None, *, more_to_come: bool = False
    ) -> None:
        """Learn from all rows, and from all but each fold."""
        self._check()
        table, learner = as_table(X), clone(self.learner)
        told = learner.class_weight
        if more_to_come and told is not None and not isinstance(told, str):  # it may name classes that have not come
            come = set(label_values(labels.classes))
            learner.class_weight = {label: weight for label, weight in dict(told).items() if label in come}
        fitting = prepare(learner, table, labels, sample_weight)
        present, counted = self._weights(sample_weight, labels)
        conclude(learner, X, fitting, fitting.run())
        warn_if_unfinished(learner, stacklevel=4)
        reading = learner.learned.reading()
        calibration: Calibration | Calibrator
        if self.calibrate == "vote":
            calibration = self._vote_shares(reading)
        else:
            fold_of = assign_folds(labels, present, self.folds, seed_of(learner.random_state), groups)
            parts = [(present[fold_of[present] != k], present[fold_of[present] == k]) for k in range(self.folds)]
            fitted = fit_folds(learner, table, labels, counted, parts, self.n_jobs)
            scores = np.empty((len(labels.codes), reading.scores(table, present[:1]).shape[1]))
            for (_, held), each in zip(parts, fitted, strict=True):
                scores[held] = each.learned.reading().scores(table, held)
            out_of_fold = HeldOutScores(scores, labels.codes, counted).take(present)
            calibration = Calibration(self.calibrate, out_of_fold, len(labels.classes))
        learner.class_weight = told
        self.learner_, self.classes_ = learner, labels.classes
        self._predictor = CalibratedPredictor(reading, calibration)

    def _check(self) -> None:
        check_learner(self.learner)
        if self.learner.params().is_regression:
            raise ParameterError("learner: a regression has no classes to be sure of")
        if self.calibrate not in ("sigmoid", "isotonic", "vote"):
            raise ParameterError(f"calibrate={self.calibrate!r}: must be 'sigmoid', 'isotonic' or 'vote'")
        if self.calibrate == "vote" and self.learner.params().keep != "vote":
            raise ParameterError("calibrate='vote' needs a learner with keep='vote'")
        if self.calibrate == "vote" and self.learner.class_weight is not None:
            raise ParameterError(
                "calibrate='vote' takes no class_weight, which moves the votes: use calibrate='sigmoid'"
            )

    def _weights(self, sample_weight: Any, labels: Labels) -> tuple[NDArray[np.uint32], Floats | None]:
        """The rows that are there, and what each counts for probabilities: class weights move only the decision."""
        weights = row_weights(sample_weight, self.learner.class_weight, labels, more_to_come=True)
        rows = np.arange(len(labels.codes), dtype=np.uint32)
        present = rows if weights is None else rows[weights > 0]
        return present, row_weights(sample_weight, None, labels, more_to_come=True)

    def _vote_shares(self, reading: Reading) -> Calibrator:
        """With two classes, and for each class against the rest, a score is votes for less votes against."""
        classes = len(reading.classes)
        return Calibrator.from_votes(classes, signed=classes <= 2 or self.learner.params().is_ovr(classes))
