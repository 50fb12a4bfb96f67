"""`Sweep`: many learners trained side by side, each row read once for all of them, and the best of them chosen.

Invariant: a learner among others does exactly what it would do alone, bit for bit; the number of threads changes
nothing. All learners are judged by one scorer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.utils import RegressorTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rosenblatt import engine
from rosenblatt.data.labels import Labels, Numbers
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import ParameterError
from rosenblatt.learners.accuracy import Accurate
from rosenblatt.learners.fit import (
    Fitting,
    Orders,
    Outcome,
    Problem,
    best_restart,
    conclude,
    count_threads,
    iter_epochs,
    prepare,
    remember_columns,
    run_threads,
    warn_if_unfinished,
)
from rosenblatt.learners.linear import WeightLearner
from rosenblatt.learners.regression import Measuring
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.targets import row_weights
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.container import SavedState
from rosenblatt.models.predictors import Predictor
from rosenblatt.select.scoring import Scorer, index_of_best, make_scorer
from rosenblatt.select.search import VALUES_A_THREAD
from rosenblatt.select.wrapper import Wrapper


@dataclass(kw_only=True, eq=False, repr=False)
class Sweep(Wrapper):
    """Train many learners in one pass over the same rows, each row read once, and choose the best.

    Every learner becomes exactly what its own ``fit`` would have made of it. Choose it to compare rules and their
    parameters on large data, if reading the rows is what costs; for a good answer without a list there is
    `AutoPerceptron`.

    Parameters
    ----------
    learners : list of linear learners
        Any of the family, with any parameters; all of them classifiers, or all of them regressions. Those with the
        same `random_state` meet the rows in the same order and share their reading.
    choose : {"holdout", "progressive"}, default="holdout"
        "holdout": by the score on a held-out part, as `early_stopping` holds it out, each learner at its best epoch.
        "progressive": by mistakes on arrival in the first epoch, each row being new then; all rows are learned from.
        It takes classifiers with the same class weights that learn all classes jointly, and no `scoring`.
        Rows count with their sample weights, and with class weights that all learners share.
    scoring : str, function or None, default=None
        What to choose by: the name of a score of scikit-learn ("balanced_accuracy", "f1", "roc_auc", ...), or a
        function of true and predicted labels. None is accuracy, and R² for regressions. NaN never wins.
    validation_fraction : float, default=0.1
        The part to hold out.
    n_jobs : int, default=-1
        Threads over the learners; all CPUs by default. The result is the same for any number.

    Attributes
    ----------
    learners_ : list
        The fitted learners.
    scores_ : array
        The score of each learner.
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
        """Train all learners side by side and choose one.

        Parameters
        ----------
        X, y, sample_weight
            As for the learners.
        """
        learners = self._clones()
        table, labels = as_table(X), learners[0].labels_of(y).weighed(sample_weight)
        scorer = make_scorer(self.scoring, regression=isinstance(labels, Numbers))
        if sum(learner.params().update_rule.name.startswith("PA") for learner in learners) > 1:
            table = table.with_squared_norms()
        known: list[NDArray[np.uint32]] = []
        fittings = [
            _share_rows(prepare(learner, table, learner.labels_of(y).weighed(sample_weight), sample_weight), known)
            for learner in learners
        ]
        told = [learner.params().class_weight for learner in learners]
        shared = all(each == told[0] for each in told)
        joint = all(len(fitting.problems) == 1 for fitting in fittings)
        if self.choose == "progressive" and not (shared and joint and scorer.is_accuracy):
            raise ParameterError(
                "choose='progressive' counts mistakes on arrival: the learners must be joint classifiers with the same "
                "class_weight, without scoring; use choose='holdout'"
            )
        # Class weights count if they are the same for all: otherwise no two learners would be compared alike.
        weights = row_weights(sample_weight, told[0] if shared else None, labels)
        orders = Orders()
        runs = [[TrainingRun(*task, orders) for task in fitting.tasks()] for fitting in fittings]
        run_together([run for group in runs for run in group], orders, n_jobs=self.n_jobs)
        scores = []
        for learner, fitting, group in zip(learners, fittings, runs, strict=True):
            outcomes = [run.outcome for run in group if run.outcome is not None]
            best = best_restart(outcomes, fitting.problems)
            conclude(learner, X, fitting, best)
            if self.choose == "holdout":
                scores.append(_held_out_score(learner, fitting, table, labels, weights, scorer))
            else:
                run = next(run for run in group if run.outcome is best[0])
                scores.append(1.0 - run.first_mistakes / run.problem.targets.total(run.problem.rows))
        self.learners_ = learners
        self.__dict__.pop("classes_", None)
        if not isinstance(labels, Numbers):
            self.classes_ = learners[0].classes_
        remember_columns(self, X)
        self.scores_ = np.array(scores)
        self.best_index_ = index_of_best(self.scores_)
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
        """The predictors of the best learner, ready to be saved."""
        check_is_fitted(self, "best_")
        answers: tuple[Predictor, ...] = self.best_.predictors()
        return answers

    def saved_state(self) -> SavedState | None:
        """What a file needs so that the best learner can go on from it; None if it cannot."""
        state: SavedState | None = self.best_.saved_state()
        return state

    def _inside(self) -> Any:
        return self.best_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
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
            if not isinstance(learner, WeightLearner):
                raise ParameterError(f"learners: entry {place}, {type(learner).__name__}, is not a linear learner")
            if isinstance(learner, Measuring) != self.is_regression:
                raise ParameterError(
                    f"learners: entry {place}, {type(learner).__name__}, is of another kind than the first"
                )
        clones = [clone(learner) for learner in learners]
        if self.choose == "holdout":
            for each in clones:
                each.set_params(early_stopping=True, validation_fraction=self.validation_fraction)
        return clones


def _share_rows(fitting: Fitting, known: list[NDArray[np.uint32]]) -> Fitting:
    """The same fitting, with rows that an earlier one learns from too as one array, so that they share an order."""
    problems = []
    for problem in fitting.problems:
        if problem.rows is not None:
            same = next((each for each in known if np.array_equal(each, problem.rows)), None)
            if same is None:
                known.append(problem.rows)
            else:
                problem = replace(problem, rows=same)
        problems.append(problem)
    return replace(fitting, problems=problems)


def _held_out_score(
    learner: Any, fitting: Fitting, table: Table, labels: Labels, weights: NDArray[np.float64] | None, scorer: Scorer
) -> float:
    """The score of a fitted learner on the rows that were not learned from."""
    free = np.ones(table.count, bool) if weights is None else weights > 0
    free[fitting.problems[0].rows] = False
    rows = np.flatnonzero(free).astype(np.uint32)
    scores = learner.learned.reading().scores(table, rows)
    return scorer(scores, labels.take(rows), None if weights is None else weights[rows])


class TrainingRun:
    """One problem being learned: it advances an epoch at a time, beside others, until it is over."""

    def __init__(self, state: WeightState, problem: Problem, stopping: StoppingCriterion, orders: Orders) -> None:
        self.state, self.problem = state, problem
        self.outcome: Outcome | None = None
        self.order: NDArray[np.uint32] | None = None
        self.one: Any = None  # the engine's pass, made for the first epoch
        self.first_mistakes = -1.0  # the weight of the rows that were mistakes in the first epoch
        self._weight_before = state.mistake_weight
        self._places = np.full(problem.table.count, -1) if state.stores_rows else None
        self._epochs = iter_epochs(state, problem, stopping, orders, lambda history: None)

    def prepare(self) -> None:
        """Have the next pass ready, or the outcome."""
        self.order = None
        try:
            self.order = next(self._epochs)
        except StopIteration as end:
            self.outcome = end.value
            return
        if self.one is None:
            problem = self.problem
            self.one = self.state.begin_pass(problem.table, problem.targets, problem.rule, ratchet=True)
        self.one.set_order(self.order)

    def finish_pass(self) -> None:
        """After the pass was run: count, validate, and prepare the next one."""
        self.state.end_pass(self.one, self.problem.table, self._places)
        if self.first_mistakes < 0:
            self.first_mistakes = self.state.mistake_weight - self._weight_before
        self.prepare()


def run_together(runs: Sequence[TrainingRun], orders: Orders, *, n_jobs: int | None = None) -> None:
    """Train every run to its end; those with the same order share the reading of the rows."""
    for run in runs:
        run.prepare()
    while active := [run for run in runs if run.outcome is None]:
        groups: dict[int, list[TrainingRun]] = {}
        for run in active:
            groups.setdefault(id(run.order), []).append(run)
        orders.forget()
        for group in groups.values():
            values = len(group) * group[0].problem.table.stored
            threads = max(1, min(count_threads(n_jobs), len(group), values // VALUES_A_THREAD))
            parts = [group[at::threads] for at in range(threads)]
            run_threads([partial(_run_part, part) for part in parts], threads)


def _run_part(part: list[TrainingRun], cancel: NDArray[np.uint8]) -> None:
    engine.run_passes([run.one for run in part], cancel)
    if not cancel[0]:
        for run in part:
            run.finish_pass()
