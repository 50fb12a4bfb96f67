"""`Sweep`: many learners trained side by side on one reading of the rows, and the best of them chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt.data.labels import Numbers
from rosenblatt.data.table import as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.accuracy import Accurate
from rosenblatt.learners.epochs.run import Orders, best_restart
from rosenblatt.learners.fitting import Fitting, conclude, prepare, remember_columns, warn_if_unfinished
from rosenblatt.learners.linear import WeightLearner
from rosenblatt.learners.regression import Measuring
from rosenblatt.models.kept import Kept
from rosenblatt.models.predictor import Predictor
from rosenblatt.select.around import Around
from rosenblatt.select.referee import Referee
from rosenblatt.select.together import Course, run_together


@dataclass(kw_only=True, eq=False, repr=False)
class Sweep(Around, Accurate, BaseEstimator):  # type: ignore[misc]
    """Train many learners in one pass over the same rows, each row read once, and choose the best.

    Every learner becomes exactly what its own ``fit`` would have made of it. Choose it to compare rules and their
    parameters on large data, where reading the rows is what costs; for a good answer without a list there is
    `AutoPerceptron`.

    Parameters
    ----------
    learners : list of linear learners
        Any of the family, with any parameters; all of them classifiers, or all of them regressions. Those with the
        same `random_state` meet the rows in the same order and share their reading.
    choose : {"holdout", "progressive"}, default="holdout"
        "holdout": by accuracy on a held-out part, as `early_stopping` holds it out, each learner at its best epoch.
        "progressive": by mistakes on arrival in the first epoch, each row being new then; all rows are learned from.
        Rows count with their sample weights, and with the class weights, if all learners have the same.
    scoring : str, function or None, default=None
        What to choose by: the name of a score of scikit-learn ("balanced_accuracy", "f1", "roc_auc", ...), or a
        function of true and predicted labels. None is accuracy, and R² for regressions.
    validation_fraction : float, default=0.1
        The part to hold out.
    n_jobs : int, default=-1
        Threads over the learners; all CPUs by default. The result is the same for any number.

    Attributes
    ----------
    learners_ : list
        The fitted learners.
    scores_ : array
        What each was judged by: the accuracy, or the score asked for.
    best_index_, best_ : int, learner
        The choice: the highest score, the first of equals.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron, PassiveAggressive, Sweep
    >>> learners = [AveragedPerceptron(), *(PassiveAggressive(C=C, keep="average") for C in (0.01, 1.0))]
    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> Sweep(learners, choose="progressive").fit(rows, labels).predict([[5.0]]).tolist()
    ['high']
    """

    learners: Sequence[WeightLearner] = field(kw_only=False)
    choose: Literal["holdout", "progressive"] = "holdout"
    scoring: Any = None
    validation_fraction: float = 0.1
    n_jobs: int | None = -1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train all learners side by side and choose one."""
        learners = self._clones()
        table, labels = as_table(X), learners[0].labels_of(y).weighed(sample_weight)
        if sum(learner.params().update_rule.name.startswith("PA") for learner in learners) > 1:
            table = table.with_squared_norms()
        known: list[NDArray[np.uint32]] = []
        fittings = [
            _shared(prepare(learner, table, learner.labels_of(y).weighed(sample_weight), sample_weight), known)
            for learner in learners
        ]
        class_weights = [learner.params().class_weight for learner in learners]
        referee = Referee.of(table, labels, sample_weight, class_weights, self.scoring)
        orders = Orders()
        courses = [[Course(*task, orders) for task in fitting.tasks()] for fitting in fittings]
        begun = [referee.first_states(fitting) if self.choose == "progressive" else [] for fitting in fittings]
        run_together([course for group in courses for course in group], orders, n_jobs=self.n_jobs)
        scores = []
        for learner, fitting, group, states in zip(learners, fittings, courses, begun, strict=True):
            outcomes = [course.outcome for course in group if course.outcome is not None]
            best = best_restart(outcomes, fitting.problems)
            conclude(learner, X, fitting, best)
            if self.choose == "holdout":
                scores.append(referee.held_out(learner.learned.reading(), fitting))
            else:
                restart = next(k for k, outcome in enumerate(outcomes) if outcome is best[0]) // len(fitting.problems)
                scores.append(referee.on_arrival(fitting, restart, group, states))
        self.learners_ = learners
        self.__dict__.pop("classes_", None)
        if not isinstance(labels, Numbers):
            self.classes_ = learners[0].classes_
        remember_columns(self, X)
        self.scores_ = np.array(scores)
        self.best_index_ = int(np.argmax(self.scores_))
        self.best_ = learners[self.best_index_]
        for learner in learners:
            warn_if_unfinished(learner, stacklevel=3)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels by the best learner."""
        check_is_fitted(self, "best_")
        labels: NDArray[Any] = self.best_.predict(X)
        return labels

    @available_if(lambda sweep: not sweep.is_regression)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The scores by the best learner."""
        check_is_fitted(self, "best_")
        scores: NDArray[np.float64] = self.best_.decision_function(X)
        return scores

    def predictors(self) -> tuple[Predictor, ...]:
        """What scores rows by the best learner, ready to be saved."""
        check_is_fitted(self, "best_")
        answers: tuple[Predictor, ...] = self.best_.predictors()
        return answers

    def kept(self) -> Kept | None:
        """What a file needs so that the best learner can go on from it; None if it cannot."""
        kept: Kept | None = self.best_.kept()
        return kept

    def _inside(self) -> Any:
        return self.best_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.is_regression:
            tags.estimator_type, tags.classifier_tags, tags.regressor_tags = "regressor", None, RegressorTags()
        return tags

    @property
    def is_regression(self) -> bool:
        """Are its learners regressions?"""
        return isinstance(next(iter(self.learners), None), Measuring)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the best learner, or R² for regressions."""
        found: float = (RegressorMixin if self.is_regression else Accurate).score(self, X, y, sample_weight)
        return found

    def _clones(self) -> list[Any]:
        if self.choose not in ("holdout", "progressive"):
            raise ParameterError(f"choose={self.choose!r}: must be 'holdout' or 'progressive'")
        learners = list(self.learners)
        if not learners:
            raise ParameterError("learners: the list is empty")
        for place, learner in enumerate(learners):
            if isinstance(learner, WeightLearner) and isinstance(learner, Measuring) != self.is_regression:
                raise ParameterError(
                    f"learners: entry {place}, {type(learner).__name__}, is of another kind than the first"
                )
            if not isinstance(learner, WeightLearner):
                raise ParameterError(f"learners: entry {place}, {type(learner).__name__}, is not a linear learner")
        clones = [clone(learner) for learner in learners]
        if self.choose == "holdout":
            for each in clones:
                each.set_params(early_stopping=True, validation_fraction=self.validation_fraction)
        return clones


def _shared(fitting: Fitting, known: list[NDArray[np.uint32]]) -> Fitting:
    """The same fitting, with rows that an earlier one learns from too as one array, so that they share an order."""
    problems = []
    for problem in fitting.problems:
        rows = problem.rows
        if rows is not None:
            same = next((each for each in known if np.array_equal(each, rows)), None)
            if same is None:
                known.append(rows)
            else:
                problem = replace(problem, rows=same)
        problems.append(problem)
    return replace(fitting, problems=problems)
