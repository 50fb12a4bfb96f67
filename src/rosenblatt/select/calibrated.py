"""`Calibrated`: probabilities for learners that only have scores; and what it shares with `AutoPerceptron`.

Invariant: a prediction comes from one immutable snapshot. A thread that reads beside one that learns never gets a mix.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.labels import Labels, encode_labels, label_values, merge_classes, one_label_of
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.base import ClassifierMixin, Estimator, check_columns
from rosenblatt.learners.fit import check_lengths, warn_if_unfinished
from rosenblatt.learners.serialization import learner_from_tree
from rosenblatt.learners.streaming import ModelSnapshot
from rosenblatt.learners.targets import are_absent, row_weights
from rosenblatt.learners.weights import seed_of
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import to_tree
from rosenblatt.models.model import Model
from rosenblatt.models.predictions import PredictionMethods, Predictions
from rosenblatt.models.predictors import Predictor
from rosenblatt.params import values_from_json, values_to_json, weight_of_class
from rosenblatt.select.calibration import Calibration, saved_calibration
from rosenblatt.select.choice import Choice, Sample
from rosenblatt.select.folds import check_learner

MOST_PENDING = 1000  # examples of `learn_one` that wait to be counted


class ProbabilisticClassifier(PredictionMethods, ClassifierMixin, Estimator):
    """Base of classifiers that wrap a learner: with scores and probabilities, and able to learn on."""

    class_weight: Any  # of the learner
    classes_: NDArray[Any]
    _predictor: ModelSnapshot  # with its calibration

    _inside: ClassVar[Any]  # the fitted learner; an AttributeError before the first fit
    _begin: Callable[..., None]  # the first fit, of X, labels and sample weights; `groups` or `time` split the rows
    history_ = property(attrgetter("_inside.history_"), doc="Mistakes and updates of the learner, epoch by epoch.")
    stop_reason_ = property(attrgetter("_inside.stop_reason_"), doc="Why the learner stopped.")

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Score the rows, learn from them once, and calibrate by the latest scores; the first call is `fit`.

        Rows that bring a new label are scored after they were learned; rows before them count with a score of 0 for it.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`; labels may be new.
        classes : array-like, optional
            Labels that may come. Not needed: new labels are added when they first come.
        """
        with self.lock:
            labels = one_label_of(y, type(self).__name__).weighed(sample_weight)
            if are_absent(sample_weight, labels):
                return self
            known = labels.classes
            if classes is not None:
                known = merge_classes(known, encode_labels(classes, name="classes").classes)
            labels = labels.over(known)
            if hasattr(self, "classes_"):
                self._learn_on(X, self._table(X), labels, sample_weight)
            else:
                self._begin(X, labels, sample_weight, more_to_come=True)
        return self

    def predictors(self) -> tuple[Predictor, ...]:
        """The predictors, ready to be saved; more than one only for a one-vs-rest vote."""
        check_is_fitted(self, "_predictor")
        return self._predictor.predictors

    def calibrator(self) -> Calibrator | None:
        """From scores to probabilities, ready to be saved; None for one that was trained on files without them."""
        check_is_fitted(self, "_predictor")
        calibration = self._predictor.calibration
        return None if calibration is None else calibration.calibrator

    def saved_state(self) -> dict[str, Any] | None:
        """The learner, the latest scores that the curves are fitted on, and more; None if learning cannot continue."""
        if (inner := self._inside.saved_state()) is None:
            return None
        params = {name: value for name, value in self.get_params(deep=False).items() if name != "learner"}
        return {
            "wrapper": type(self).__name__,
            "parameters": values_to_json(params, arrays=True),
            "calibration": to_tree(self._predictor.calibration),
            "inner": inner,
        }

    def _learn_more(self, X: Any, table: Table, labels: Labels, sample_weight: Any) -> None:
        """Continue with the learner; `table` holds the rows of X."""
        self._inside.partial_fit(X, labels.classes[labels.codes], labels.classes, sample_weight)

    def _snapshot(self) -> ModelSnapshot:
        """The snapshot of the learner, for unscaled rows."""
        return self._inside.snapshot()

    def _learn_on(self, X: Any, table: Table, labels: Labels, sample_weight: Any) -> None:
        """Score rows, learn from them, and add the scores to the calibrator's sample."""
        known = merge_classes(self.classes_, labels.classes)
        labels = labels.over(known)
        check_lengths(table, labels)
        weights = row_weights(sample_weight, self.class_weight, labels, more_to_come=True)
        counted = row_weights(sample_weight, None, labels, more_to_come=True)
        before = self._predictor
        scores = before.scores(table)

        def follow(scored: NDArray[np.intp]) -> None:
            after = self._followed(before)
            # Nothing was known of new classes before.
            found = after.scores(table) if len(after.classes) > len(before.classes) else scores
            held = found[scored], labels.codes[scored], None if counted is None else counted[scored]
            if after.calibration is not None:
                after = replace(after, calibration=after.calibration.extend(*held))
            self.classes_, self._predictor = after.classes, after

        try:
            self._learn_more(X, table, labels, sample_weight)
            follow(np.arange(table.count) if weights is None else np.flatnonzero(weights > 0))
        except BaseException:  # an interrupted call has learned whole rows, and nobody knows how many: none is scored
            follow(np.empty(0, np.intp))
            raise

    def _followed(self, before: ModelSnapshot) -> ModelSnapshot:
        """The snapshot after more learning, with the calibration of the one before over classes that may be new."""
        after, params = self._snapshot(), self._inside.params()
        if before.calibration is None:
            return after
        share = 1.0 if params.is_ovr(len(after.classes)) else params.update_rule.joint_share
        return replace(after, calibration=before.calibration.over(before.classes, after.classes, share))

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            known = {name: value for name, value in super().__getstate__().items() if not name.startswith("_lock")}
            # Another thread may learn before these are read: they are copied now.
            return known | {name: copy(known[name]) for name in ("learner_", "_pending") if name in known}

    def _table(self, X: Any) -> Table:
        """The rows, if they have the columns of the first fit."""
        table = as_table(X)
        check_columns(self, X)
        return table

    def _predict(self, X: Any) -> Predictions:
        check_is_fitted(self, "_predictor")
        table, predictor = self._table(X), self._predictor
        return predictor.predictions(predictor.scores(table))

    def _predict_row(self, row: Any) -> Predictions:
        check_is_fitted(self, "_predictor")
        predictor = self._predictor
        return predictor.predictions(predictor.scores_one(row)[None])


@dataclass(kw_only=True, eq=False, repr=False)
class Calibrated(ProbabilisticClassifier):
    """Adds probabilities to a learner, by a calibrator that is fitted on out-of-sample scores.

    `fit` trains once on all rows, for predictions, and once per fold, for out-of-sample scores; of more than 10,000
    scores, a sample from all over the rows counts. `partial_fit` scores new rows before it learns from them; after
    every 5 % more scores, the curves are fitted again on the latest 10,000, so probabilities follow a stream.

    Sample weights count for the probabilities. Class weights only move the decision: if
    they favor a rare class, `predict` may choose it at a probability below one half.

    Parameters
    ----------
    learner : linear or kernel learner
        Any of the family.
    calibrate : {"sigmoid", "isotonic"}, default="sigmoid"
        "sigmoid" (Platt) has two numbers per class and needs few rows; "isotonic" takes any rising shape and needs
        thousands.
    folds : int, default=5
        The number of folds for the out-of-sample scores.
    n_jobs : int, default=-1
        Threads over the folds.

    Attributes
    ----------
    learner_ : learner
        Fitted on all rows.
    classes_, n_features_in_, history_, stop_reason_
        The attributes of `learner_`.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, Calibrated
    >>> rows, labels = [[0.0], [1.0], [5.0], [6.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> calibrated = Calibrated(AveragedPerceptron()).fit(rows, labels)
    >>> calibrated.classes_.tolist(), calibrated.predict_proba([[9.0]]).argmax(axis=1).tolist()
    (['high', 'low'], [0])
    """

    learner: Any = field(kw_only=False)
    calibrate: Literal["sigmoid", "isotonic"] = "sigmoid"
    folds: int = 5
    n_jobs: int | None = -1

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
        """Learn, and fit the curves from scores to probabilities.

        Parameters
        ----------
        X, y, sample_weight
            As for the learner.
        groups : array-like, optional
            One value per row; rows of one group share a fold, as in `cross_validate`.
        time : array-like, optional
            One value per row that can be sorted; a learner of earlier rows gives the out-of-sample scores.
        """
        self._check()
        with self.lock:
            labels = one_label_of(y, "Calibrated").weighed(sample_weight)
            self._begin(X, labels, sample_weight, groups=groups, time=time)
        return self

    def learn_one(self, features: dict[Any, float], label: Any, weight: float = 1.0) -> Self:
        """Score one example and learn from it; after every 5 % more scores, the curves are fitted again.

        It may be the first call: probabilities are equal until there are scores.

        Parameters
        ----------
        features, label, weight
            As for `learn_one` of the learner.
        """
        with self.lock:
            learner = vars(self).get("learner_")
            if learner is None:
                self._check()
                learner = clone(self.learner)
            known = len(learner.classes_) if learner.has_learned else 0
            scores = learner.scores_one(features) if known > 1 else None
            learner.learn_one(features, label, weight)
            if not learner.has_learned or weight == 0:
                return self  # an example of weight 0 is ignored
            self.learner_, self.classes_ = learner, learner.classes_
            if len(self.classes_) > known:  # a new label, of which nothing was known when the example was scored
                self._settle()
            elif scores is not None and weight * weight_of_class(self.class_weight, label) > 0:
                pending = self.__dict__.setdefault("_pending", [])
                pending.append((scores, label, weight))
                if len(pending) == MOST_PENDING:
                    self._settle()
        return self

    def predict_one(self, features: dict[Any, float]) -> Any:
        """The label of one example, a dict from names to numbers; unknown features are ignored."""
        check_is_fitted(self, "learner_")
        return self.learner_.predict_one(features)

    @property
    def _predictor(self) -> ModelSnapshot:
        """Predictors and curves, up to date with the examples that `learn_one` took."""
        if vars(self).get("_pending"):
            self._settle()
        return self._settled

    @_predictor.setter
    def _predictor(self, snapshot: ModelSnapshot) -> None:
        self.__dict__.pop("_pending", None)
        self._settled = snapshot

    def _settle(self) -> None:
        """Count the examples that `learn_one` took since the last prediction, each with its scores before that."""
        with self.lock:
            before = vars(self).get("_settled")
            if before is None:
                before = replace(self._snapshot(), calibration=Calibration.empty(self.calibrate, len(self.classes_)))
            if pending := vars(self).get("_pending"):
                scores, known, weights = zip(*pending, strict=True)
                places = {label: code for code, label in enumerate(label_values(before.classes))}
                codes = np.array([places[label] for label in known], np.int32)
                more = before.calibration.extend(np.array(scores), codes, np.array(weights, np.float64))
                before = replace(before, calibration=more)
            self._predictor = self._followed(before)

    class_weight = property(
        attrgetter("learner.class_weight"), doc="Those of the learner, which move the decision and not probabilities."
    )
    n_features_in_ = property(attrgetter("learner_.n_features_in_"), doc="The number of columns of the learner.")
    feature_names_in_ = property(attrgetter("learner_.feature_names_in_"), doc="The names of the columns, if any.")
    _inside = property(attrgetter("learner_"))

    @classmethod
    def from_model(cls, model: Model, saved: dict[str, Any]) -> Self:
        """The estimator whose state was saved, checked."""
        inner = learner_from_tree(saved["inner"], model.classes, model.features, model.names)
        like = type(inner)(**inner.get_params(deep=False))
        calibrated = cls(like, **values_from_json(saved["parameters"]))
        calibrated._check()
        calibrated.learner_, calibrated.classes_ = inner, model.classes
        calibration = saved_calibration(model) or Calibration.empty(calibrated.calibrate, len(model.classes))
        calibrated._predictor = replace(inner.snapshot(), calibration=calibration)
        return calibrated

    def _begin(self, X: Any, labels: Labels, sample_weight: Any, *, more_to_come: bool = False, **split: Any) -> None:
        """Learn from all rows, and from all but each fold."""
        self._check()
        table, learner = as_table(X), clone(self.learner)
        told = learner.class_weight
        if more_to_come and told is not None and not isinstance(told, str):  # it may name classes that have not come
            come = set(label_values(labels.classes))
            learner.class_weight = {label: weight for label, weight in dict(told).items() if label in come}
        learner.fit_labels(X, table, labels, sample_weight)
        warn_if_unfinished(learner, stacklevel=4)
        sample = Sample(table, labels, n_jobs=self.n_jobs, seed=seed_of(learner.random_state))
        sample = sample.weighed(sample_weight, learner.class_weight, more_to_come=True)
        held = Choice(learner.params()).hold_out(sample.split(self.folds, **split))
        learner.class_weight = told
        self.learner_, self.classes_ = learner, labels.classes
        self._predictor = replace(learner.snapshot(), calibration=held.calibration(self.calibrate))

    def _check(self) -> None:
        check_learner(self.learner)
        if self.learner.params().is_regression:
            raise ParameterError("learner: Calibrated needs a classifier, not a regression")
        if self.calibrate not in ("sigmoid", "isotonic"):
            raise ParameterError(f"calibrate={self.calibrate!r}: must be 'sigmoid' or 'isotonic'")
