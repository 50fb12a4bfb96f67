"""Epochs over stored rows; a run can be saved after every epoch and resumed.

Invariant: the same rows, params and seed give the bits of `fit`, whether the rows are in memory or mapped, and whether
the run was stopped and resumed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import RowStore
from rosenblatt.data.labels import Labels, Numbers
from rosenblatt.data.table import Csr, Table, as_table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.dataset import Dataset, check_classes
from rosenblatt.learners.fit import FitPlan, FitTask, fit_epochs
from rosenblatt.learners.serialization import fitted_to_tree, over_all_columns
from rosenblatt.learners.stopping import StoppingCriterion
from rosenblatt.learners.streaming import Fitted
from rosenblatt.learners.targets import class_weights, weight_rows
from rosenblatt.learners.weights import WeightState, seed_of
from rosenblatt.models.container import to_tree
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import FEW_WEIGHTS, Linear, Quadratic
from rosenblatt.params import KernelPerceptronParams, LinearParams, Params
from rosenblatt.select.choice import Choice, HoldoutResult, Sample
from rosenblatt.select.scoring import Scorer

MOST_WEIGHTS = 1 << 30  # of all classes together
MOST_FEATURES = 1 << 28
MOST_NAMES = 1 << 17
DENSE = 1 << 20  # values of rows that are held as an array for a kernel
ONE_VALUE = {"multiclass", "init", "n_init", "hash_bits", "n_jobs", "verbose"}  # of a run that can be resumed
NOT_RESUMABLE = ONE_VALUE | {"early_stopping", "validation_fraction", "warm_start"}


@dataclass
class TrainingRun:
    """Training from the first epoch to the stop; all of it but the data can be saved."""

    dataset: Dataset
    store: RowStore
    choice: Choice
    params: Params  # of the choice, with one weight per class
    table: Table  # all rows, scaled
    plan: FitPlan  # in the end of the best restart alone
    features: int  # of the model
    columns: NDArray[Any] | None = None  # that the weights are of; None: all

    @classmethod
    def begin(
        cls,
        dataset: Dataset,
        choice: Choice,
        store: RowStore | None = None,
        *,
        features: int = 0,
        columns: NDArray[Any] | None = None,
        state: WeightState | None = None,
    ) -> TrainingRun:
        """A run that has learned nothing yet, or that continues from a `state` over some `columns`."""
        store, params = dataset.load() if store is None else store, choice.params
        features = max(features, features_of(dataset, store))
        labels = labels_of(dataset, store)
        params.check()
        rows = weight_rows(len(labels.classes))
        check_size(rows, features)
        if params.class_weight is not None:
            params = fix_class_weights(params, labels, store.weights)
        many = rows * features > FEW_WEIGHTS and 2 * len(store.columns) < features
        if state is None and many and choice.products is None and can_resume(params):
            columns = store.columns
        if choice.scaling is not None:
            store.standardize(np.zeros(len(choice.scaling.scale)), choice.scaling.scale)
        if columns is not None:
            store.compact(columns)
        table = store.csr(features if columns is None else max(len(columns), 1)).table()
        if isinstance(params, KernelPerceptronParams):
            few = len(store) * features <= DENSE
            table = as_table(store.csr(features).dense() if few else store.csr(features).matrix())
        plan = choice.plan(table, labels, store.weights, None if state is None else [state])
        return cls(dataset, store, choice, params, table, plan, features, columns)

    @property
    def task(self) -> FitTask:
        """Its only problem, if it can be resumed."""
        return self.plan.tasks[0]

    @property
    def stopping(self) -> StoppingCriterion:
        return self.task.stopping

    def run(self, *, on_epoch: Callable[[TrainingRun], None] = lambda run: None) -> None:
        """Continue until the stopping criterion holds; call `on_epoch` after each epoch that can be saved."""
        if can_resume(self.params):
            fit_epochs(self.task, callback=lambda _: on_epoch(self))
        else:
            self.plan = replace(self.plan, restarts=[self.plan.run()])

    def hold_out(self, folds: int, scorer: Scorer, *, groups: Any = None, time: Any = None) -> HoldoutResult:
        """The evaluation of each row by a learner of the other folds, and probabilities from its scores.

        With `groups`, rows of one group share a fold; with `time`, a learner of earlier rows scores each part.
        """
        sample = Sample(self.table, self.plan.labels, scorer=scorer, seed=seed_of(self.params.random_state))
        sample = sample.weighed(self.store.weights, self.choice.params.class_weight)
        held = self.choice.hold_out(sample.split(folds, groups=groups, time=time))
        of = "" if groups is None else ", of other groups"
        how = f", each predicted by a model of the other {folds - 1} of {folds} folds{of}"
        if time is not None:
            how = f", each predicted by a model of earlier rows, in {folds} steps"
        return held.result("rows", how)

    def model(self) -> Model:
        """The model, with the encoder and the names of the columns with the largest weights."""
        fitted = self.plan.fitted(self.plan.tasks, self.features)
        if self.params.is_regression:
            fitted = replace(fitted, classes=np.empty(0))
        model = build_model(fitted, len(self.store), replace(self.choice, params=self.params), self.columns)
        return replace(model, encoder=self.dataset.encoder, names=column_names(self.dataset, model.parts[0]))


def can_resume(params: Params) -> bool:
    """True for one linear state, which can be saved after every epoch and resumed."""
    if not isinstance(params, LinearParams) or params.is_regression:
        return False
    return all(getattr(params, each.name) == each.default for each in fields(params) if each.name in NOT_RESUMABLE)


def labels_of(dataset: Dataset, store: RowStore) -> Labels:
    """The classes or the numbers of all rows."""
    if store.y.dtype.kind == "f":
        return Numbers.of(store.y, 0.0)
    return Labels(check_classes(dataset.classes).values, store.y)


def build_model(fitted: Fitted, rows: int, choice: Choice, columns: NDArray[Any] | None = None) -> Model:
    """The model of states over all features or some `columns`; scaled columns or products make it an AutoPerceptron."""
    params, features = choice.params, fitted.features
    predictors, scaling, calibration = choice.predictors(fitted.states), choice.scaling, choice.calibration
    saved = fitted_to_tree(params.learner, params.values(), fitted)
    if columns is not None:
        predictors, saved = (predictors[0].spread(columns, features),), over_all_columns(saved, columns, features)
    if scaling is not None:
        predictors = (predictors[0].divided(scaling.scale),)
    if scaling is not None or choice.products is not None:
        saved = {
            "wrapper": "AutoPerceptron",
            "parameters": {},
            "choice": choice.why or None,
            "scores": choice.scores,
            "calibration": to_tree(calibration),
            "scaling": to_tree(scaling),
            "products": to_tree(choice.products),
            "inner": saved,
        }
    history = fitted.history
    facts: dict[str, Any] = {"mistakes": history.mistakes, "updates": history.updates}
    facts |= {"stop_reason": fitted.stop_reason, "rows": rows} | ({"choice": choice.why} if choice.why else {})
    return Model(
        params.learner,
        params.values(),
        fitted.classes,
        predictors,
        features,
        history=facts,
        calibrator=None if calibration is None else calibration.calibrator,
        state=saved,
    )


def fix_class_weights(params: Params, labels: Labels, sample_weight: Any) -> Params:
    """The params with one weight per class, counted in the rows for 'balanced'."""
    weights = class_weights(params.class_weight, labels, sample_weight)
    if not weights.all():
        raise ParameterError("class_weight: rows of a class of weight 0 are ignored: remove them from the data")
    return replace(params, class_weight=dict(zip(labels.classes.tolist(), weights.tolist(), strict=True)))


def features_of(dataset: Dataset, store: RowStore) -> int:
    """The columns of the model: of the encoder, or of the data."""
    seen = int(store.columns[-1]) + 1 if len(store.columns) else 1
    return max(dataset.encoder.features or 0, seen, 1)


def check_size(rows: int, features: int) -> None:
    """Raise if weights of so many rows and features are too many."""
    if rows * features > MOST_WEIGHTS or features > MOST_FEATURES:
        raise DataError(
            f"{features:,} features and {rows} weight rows would need {rows * features * 8 / 2**30:.0f} GB of weights: "
            "check the feature numbers; hashed features need fewer bits (--bits)"
        )


def column_names(dataset: Dataset, predictor: Any) -> dict[int, str]:
    """The names of the columns with the largest weights."""
    if isinstance(predictor, Quadratic):
        return dataset.find_names(predictor.products.columns)
    if not isinstance(predictor, Linear):
        return {}
    columns = predictor.columns()
    if len(columns) > MOST_NAMES:
        sizes = np.abs(predictor.at(columns)).max(axis=0)
        columns = np.sort(columns[np.argsort(-sizes, kind="stable")[:MOST_NAMES]])
    return dataset.find_names(columns)


def plain_rows(rows: Csr) -> Any:
    """The rows as an array if it takes less memory; else as a scipy CSR array."""
    values = rows.shape[0] * rows.shape[1]
    is_dense = 8 * values <= rows.data.nbytes + rows.indices.nbytes
    return rows.dense() if is_dense else rows.matrix()
