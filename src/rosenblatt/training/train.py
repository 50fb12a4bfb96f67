"""`train`: files in, a model out.

Invariant: the command ``rosenblatt train`` runs this code, so both give the same bytes. The data is parsed once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np

from rosenblatt.data.labels import merge_classes, values_as
from rosenblatt.data.table import Csr
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.io.dataset import Dataset, check_classes, open_dataset
from rosenblatt.learners.fit import ending_of
from rosenblatt.learners.serialization import resume_point
from rosenblatt.learners.stopping import History
from rosenblatt.learners.weights import seed_of, states_over
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Quadratic
from rosenblatt.params import Params, make_params, name_of
from rosenblatt.select.calibration import saved_calibration
from rosenblatt.select.choice import Choice, HoldoutResult, Sample
from rosenblatt.select.folds import too_few_rows
from rosenblatt.select.scaling import Scaling, find_scaling
from rosenblatt.select.scoring import make_scorer
from rosenblatt.select.search import select
from rosenblatt.training.holdout import check_split, judge_by, read_split
from rosenblatt.training.run import TrainingRun, can_resume, check_size, features_of, labels_of

EPOCHS = 10  # of a named learner
Task = Literal["classification", "regression"]
_OF_AUTO = ("max_iter", "random_state")
_OF_SOURCES = ("format", "skip_bad", "jobs", "sheet", "limits", "delimiter", "decimal", "missing", "encoding", "header",
               "day_first")  # fmt: skip
_READING = frozenset(inspect.signature(open_dataset).parameters) - {"data", "encoder", "require_label"}


@dataclass(frozen=True)
class Trained:
    """A model, and how it was trained."""

    model: Model
    params: Params
    rows: int
    history: History
    stop_reason: str
    choice: str | None = None  # the reason for this learner, if it was selected
    tried: dict[str, float] = field(default_factory=dict)  # the held-out accuracy of others
    held: HoldoutResult | None = None

    @property
    def products(self) -> bool:
        """True if the model has weights for products of columns."""
        return isinstance(self.model.parts[0], Quadratic)

    def judged(self, held: HoldoutResult) -> Self:
        """The same with an evaluation on held-out rows, and the probabilities that follow from them."""
        return replace(self, held=held, model=replace(self.model, calibrator=held.calibrator))

    def facts(self) -> dict[str, Any]:
        """The result as plain values."""
        mistakes = self.history.mistakes
        found = {
            "learner": name_of(self.params),
            "parameters": self.model.parameters,
            "choice": self.choice,
            "products": self.products,
            "rows": self.rows,
            "classes": self.model.classes.tolist(),
            "epochs": len(self.history),
            "mistakes": mistakes,
            "updates": self.history.updates,
            "progressive_error": mistakes[0] / self.rows,
            "held_out": None if self.held is None else self.held.facts(),
            "stop_reason": self.stop_reason,
            "epoch_seconds": [round(seconds, 4) for seconds in self.history.seconds],
        }
        return found | ({"tried": self.tried} if self.tried else {})


def train(data: Any, params: Any = "auto", *, products: bool = True, **options: Any) -> Model:
    """Learn a model from data of any size, as the command ``rosenblatt train`` does, to the byte.

    Parameters
    ----------
    data : path, list of paths, frame or database
        As for `rosenblatt.io.open_dataset`: svmlight, VW, labeled text, CSV, JSON lines, Parquet, Feather, .npy,
        Excel, compressed or not; globs and folders; a pandas, Polars, DuckDB or pyarrow frame; a database.
    params : Params, estimator or str, default="auto"
        How to learn: params, an estimator that has not learned, or a name of the command ("averaged", "pa1", ...).
        "auto" compares several learners on held-out rows and chooses the best; with ``task="regression"`` it predicts
        numbers, and chooses C and epsilon.
    products : bool, default=True
        True: "auto" tries products of columns.
    **options
        Options of `rosenblatt.io.open_dataset`, such as ``label="late"``; `folds`, or `validation` with more data, to
        fit probabilities; `group` or `time`, a column that splits the rows and is not a feature; `scoring`, the score
        that compares learners (these three for "auto" or with `folds`); and parameters of the learner if `params` is a
        name ("auto" has `max_iter`, `random_state` and `class_weight`).

    Returns
    -------
    Model
        Ready to predict and to be saved.

    Examples
    --------
    >>> import pathlib, tempfile, rosenblatt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "data.svm"
    >>> _ = path.write_text("+1 1:2\\n-1 1:-1 2:1\\n" * 20)
    >>> rosenblatt.train(path, "averaged", max_iter=3).predict([[0.0, 5.0, 0.0]]).tolist()
    [1]
    """
    reading = {name: options.pop(name) for name in list(options) if name in _READING}
    validation = options.pop("validation", None)
    if split := options.get("group") or options.get("time"):
        reading["drop"] = [*reading.get("drop", ()), split]
    dataset = open_dataset(data, **reading)
    trained = train_dataset(dataset, params, products=products, **options)
    if validation is None:
        return trained.model
    if trained.params.is_regression:
        raise ParameterError("validation needs classes, but a regression predicts numbers")
    how = {name: value for name, value in reading.items() if name in _OF_SOURCES}
    rows = open_dataset(validation, **how, encoder=trained.model.encoder, rewindable=True)
    return trained.judged(judge_by(trained.model, rows, "validation")).model


def train_dataset(
    dataset: Dataset,
    params: Any = "auto",
    *,
    products: bool = True,
    on_load: Callable[[], None] = lambda: None,
    on_choice: Callable[[str], None] = lambda why: None,
    on_run: Callable[[TrainingRun], None] = TrainingRun.run,
    task: Task | None = None,
    class_weight: Any = None,
    folds: int = 0,
    group: str | None = None,
    time: str | None = None,
    scoring: Any = None,
    **parameters: Any,
) -> Trained:
    """Learn from a dataset; `on_run` may run the training in its own way.

    With `folds`, a model of the other folds also scores each row. `group` and `time` name the column
    that rows are split by; `scoring` is what learners are compared by. `task` says what "auto" predicts.
    """
    check_split(dataset, group, time)
    is_auto = isinstance(params, str) and params == "auto"
    if is_auto:
        if unknown := sorted(parameters.keys() - set(_OF_AUTO)):
            raise ParameterError(f"{unknown[0]} is not an option of train, or it needs a named learner")
    else:
        params = params_of(params, parameters, class_weight)
    is_regression = task == "regression" if is_auto else params.is_regression
    if task is not None and is_regression != (task == "regression"):
        raise ParameterError(f"task={task!r} cannot be combined with {name_of(params)}")
    for option, value in (("group", group), ("time", time), ("scoring", scoring)):
        if value is not None and not is_auto and not folds:
            raise ParameterError(f"{option} needs folds or 'auto': {name_of(params)} holds out no rows by itself")
    if is_regression and (folds or class_weight is not None):
        raise ParameterError(f"{'folds' if folds else 'class_weight'} needs classes, but a regression predicts numbers")
    scorer = make_scorer(scoring, regression=is_regression)
    store = dataset.load(is_regression=is_regression)
    features = features_of(dataset, store)
    if not is_auto and _is_unscaled(dataset, store.csr(features), params):
        why = f"the sizes of the columns differ much, and {name_of(params)} uses them as they are"
        dataset.notes.append(f"{why}; --learner auto scales them")
    on_load()
    if folds and len(store) < folds:
        raise too_few_rows(folds, len(store))
    split = read_split(dataset, group, time)
    check_size(1, features)
    if not is_regression:
        known = check_classes(dataset.classes)
        class_weight = known.weights_as_written(class_weight if is_auto else params.class_weight)
    choice = Choice(params)
    if is_auto:
        how: dict[str, Any] = parameters | split
        seed = seed_of(how.pop("random_state", 0))
        sample = Sample(store.csr(features).table(), labels_of(dataset, store), seed=seed, scorer=scorer)
        sample = sample.weighed(store.weights, class_weight)
        choice = select(sample, products=products, find_names=dataset.find_names, **how)
        store.release()
        on_choice(choice.why)
    choice.params.class_weight = class_weight
    run = TrainingRun.begin(dataset, choice, store)
    trained = finish(run, on_run)
    if not folds:
        return trained
    return trained.judged(run.hold_out(folds, scorer, **split))


def _is_unscaled(dataset: Dataset, rows: Csr, params: Params) -> bool:
    """True if the choice of a learner would scale these columns. Tables are scaled already; AROW bears any scale."""
    count, features = rows.shape
    if dataset.format not in ("svmlight", "vw") or name_of(params) == "arow" or not count or features > 1 << 22:
        return False
    some = np.arange(0, count, max(1, count // 10_000))
    return find_scaling(rows.select(some).table()) is not None


def continue_training(
    model: Model,
    dataset: Dataset,
    *,
    max_iter: int = 1,
    on_run: Callable[[TrainingRun], None] = TrainingRun.run,
) -> Trained:
    """Learn on from a model, with a dataset that has the model's encoder, in the order of the data.

    One pass is exact: to learn A and then continue with B is to learn from
    one stream of A and B, to the bit, with any cut into files. New labels become classes.
    """
    if model.is_regression:
        raise ModelError("a model that predicts numbers cannot continue with files: continue in Python")
    store = dataset.load()
    begun = resume_point(model, store.columns)
    params = replace(begun.params, max_iter=max_iter, shuffle=False)
    params.check()
    found = dataset.classes
    values = values_as(found.values, model.classes.dtype.kind)
    classes = merge_classes(model.classes, values)
    store.recode(np.searchsorted(classes, values).astype(np.int32))
    dataset.classes = replace(found, values=classes)
    (state,) = states_over([begun.state], model.classes, classes, params)
    features, scaling = max(model.features, features_of(dataset, store)), None
    if begun.columns is None and begun.products is None and features > state.features:
        check_size(len(state.intercept), features)
        state = state.with_features(features)
    if begun.scale is not None:
        scaling = Scaling("mean-abs", np.zeros(model.features), begun.scale).spread(np.arange(model.features), features)
    calibration = saved_calibration(model)
    if calibration is not None:
        calibration = calibration.over(model.classes, classes, params.update_rule.joint_share)
    choice = Choice(params, scaling=scaling, products=begun.products, calibration=calibration)
    run = TrainingRun.begin(dataset, choice, store, features=features, columns=begun.columns, state=state)
    trained = finish(run, on_run)
    if calibration is None and len(classes) == len(model.classes):  # curves without scores stay
        trained = replace(trained, model=replace(trained.model, calibrator=model.calibrator))
    return trained


def finish(run: TrainingRun, on_run: Callable[[TrainingRun], None] = TrainingRun.run) -> Trained:
    """Run to the end; `on_run` may take a run that can be resumed there in its own way."""
    learn = on_run if can_resume(run.params) else TrainingRun.run
    learn(run)
    (history, reason), choice = ending_of(run.plan.tasks), run.choice
    ending = len(run.store), history, reason, choice.why or None, choice.scores, choice.held
    return Trained(run.model(), choice.params, *ending)


def params_of(params: Any, parameters: dict[str, Any], class_weight: Any = None) -> Params:
    """Params of a learner, by its name, an estimator or params, with a number as the seed."""
    if isinstance(params, str):
        params = make_params(params, **{"max_iter": EPOCHS, **parameters})
    elif parameters:
        raise ParameterError(f"{next(iter(parameters))}: set it in the params or the estimator that you pass")
    if isinstance(params, type) or not (isinstance(params, Params) or hasattr(params, "params")):
        raise ParameterError(f"{params!r} is not a learner or params of rosenblatt, nor 'auto'")
    given: Params = params if isinstance(params, Params) and not hasattr(params, "fit") else params.params()
    found = replace(given, random_state=seed_of(given.random_state))
    if class_weight is not None:
        found.class_weight = class_weight
    return found
