"""`Sweep`: many learners trained side by side, each row read once for all of them, and the best of them chosen.

Invariant: a learner among others gives the same bits as alone, with any number of threads. One scorer compares all
learners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.table import as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.base import LinearLearner, remember_columns
from rosenblatt.learners.fit import warn_if_unfinished
from rosenblatt.learners.targets import row_weights
from rosenblatt.models.predictors import Predictor
from rosenblatt.select.passes import SharedRun, run_epoch
from rosenblatt.select.scoring import check_defined, make_scorer, nan_last


@dataclass(kw_only=True, eq=False, repr=False)
class Sweep(BaseEstimator):  # type: ignore[misc]
    """Train many learners in one pass over the same rows, each row read once, and choose the best.

    The results are bit-identical to separate fits. Choose it to compare rules and their parameters on large data; for a
    good classifier without a list use `AutoPerceptron`.

    Parameters
    ----------
    learners : list of linear learners
        Any of the family, with any parameters; all of them classifiers, or all of them regressions. Those with the
        same `random_state` meet the rows in the same order and share their reading.
    scoring : str, function or None, default=None
        The score that decides: the name of a score of scikit-learn ("balanced_accuracy", "f1", "roc_auc", ...), or a
        function of true and predicted labels. None is accuracy, and R² for regressions. NaN never wins. A part of the
        rows is held out as by `early_stopping`, and each learner is compared at its best epoch. Rows count with their
        sample weights, and with class weights that all learners share.
    validation_fraction : float, default=0.1
        The share of the rows to hold out.
    n_jobs : int, default=-1
        Threads over the learners; all CPUs by default. The result is the same for any number.

    Attributes
    ----------
    learners_ : list
        The fitted learners.
    scores_ : array
        The score of each learner.
    best_index_ : int
        The index of the choice in `learners`: the highest score, the first if several are equal.
    best_ : learner
        The choice. Its `classes_`, `n_features_in_`, `history_` and `stop_reason_` are those of the sweep.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, PassiveAggressive, Sweep
    >>> learners = [AveragedPerceptron(), *(PassiveAggressive(C=C, keep="average") for C in (0.01, 1.0))]
    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]] * 10, ["low", "low", "high", "high"] * 10
    >>> Sweep(learners).fit(rows, labels).predict([[5.0]]).tolist()
    ['high']
    """

    learners: Sequence[LinearLearner] = field(kw_only=False)
    scoring: Any = None
    validation_fraction: float = 0.1
    n_jobs: int | None = -1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train all learners side by side and choose one.

        Parameters
        ----------
        X, y, sample_weight
            As for the learners.
        """
        learners = self._clones()
        table, labels = as_table(X), learners[0].labels_of(y).weighed(sample_weight)
        scorer = make_scorer(self.scoring, regression=self.is_regression)
        # Rows that several learn from are one array, so that these share an order.
        known: dict[bytes, NDArray[np.uint32]] = {}
        plans, runs = [], []
        for learner in learners:
            plan = learner.plan_fit(table, learner.labels_of(y).weighed(sample_weight), sample_weight)
            for task in plan.tasks:
                if task.rows is not None:
                    task.rows = known.setdefault(task.rows.tobytes(), task.rows)
            plans.append(plan)
            runs += [SharedRun(task) for task in plan.tasks]
        weighted = [learner.class_weight for learner in learners]
        shared = all(each == weighted[0] for each in weighted)
        while active := [run for run in runs if not run.is_over]:
            run_epoch(active, self.n_jobs)
        # Class weights count if they are the same for all: otherwise no two learners would be compared alike.
        weights = row_weights(sample_weight, weighted[0] if shared else None, labels)
        scores = []
        for learner, plan in zip(learners, plans, strict=True):
            best = plan.best_restart()
            learner.finish_fit(X, plan, best)
            held = np.ones(table.count, bool) if weights is None else weights > 0
            held[best[0].rows] = False
            rows = np.flatnonzero(held).astype(np.uint32)
            found = learner.snapshot().scores(table, rows)
            scores.append(scorer(found, labels.take(rows), None if weights is None else weights[rows]))
        best_index = int(np.argmin([nan_last(score) for score in scores]))
        check_defined(scorer, scores[best_index])
        self.learners_ = learners
        remember_columns(self, X)
        self.scores_ = np.array(scores)
        self.best_index_, self.best_ = best_index, learners[best_index]
        for learner in learners:
            warn_if_unfinished(learner, stacklevel=3)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels by the best learner."""
        check_is_fitted(self, "best_")
        return self.best_.predict(X)

    @available_if(lambda sweep: not sweep.is_regression)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The scores by the best learner."""
        check_is_fitted(self, "best_")
        scores: NDArray[np.float64] = self.best_.decision_function(X)
        return scores

    def predictors(self) -> tuple[Predictor, ...]:
        """The predictors of the best learner, ready to be saved."""
        check_is_fitted(self, "best_")
        return self.best_.predictors()

    def saved_state(self) -> dict[str, Any] | None:
        """The state of the best learner for a file; None if it cannot continue."""
        return self.best_.saved_state()

    classes_ = property(attrgetter("best_.classes_"), doc="The sorted labels; an AttributeError for regressions.")
    history_ = property(attrgetter("best_.history_"), doc="Mistakes and updates of the best learner, epoch by epoch.")
    stop_reason_ = property(attrgetter("best_.stop_reason_"), doc="Why the best learner stopped.")

    def __sklearn_tags__(self) -> Any:
        return self.learners[0].__sklearn_tags__() if self.learners else super().__sklearn_tags__()

    @property
    def is_regression(self) -> bool:
        """True if the learners are regressions."""
        return hasattr(self.learners, "__iter__") and isinstance(next(iter(self.learners), None), RegressorMixin)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the best learner, or R² for regressions."""
        check_is_fitted(self, "best_")
        return self.best_.score(X, y, sample_weight)

    def _clones(self) -> list[Any]:
        if not hasattr(self.learners, "__iter__") or not self.learners:
            raise ParameterError("learners: must be a list of one learner or more")
        for place, learner in enumerate(self.learners):
            if not isinstance(learner, LinearLearner):
                raise ParameterError(f"learners: entry {place}, {type(learner).__name__}, is not a linear learner")
            if isinstance(learner, RegressorMixin) != self.is_regression:
                raise ParameterError(
                    f"learners: entry {place}, {type(learner).__name__}, is of another kind than the first"
                )
        held = {"early_stopping": True, "validation_fraction": self.validation_fraction}
        return [clone(each).set_params(**held) for each in self.learners]
