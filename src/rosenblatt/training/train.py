"""`train`: files in, a model out.

Invariant: the command ``rosenblatt train`` runs this code, so both give the same bytes. The data is parsed once.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Labels, merge_classes
from rosenblatt.data.row_store import RowStore
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import LabelError, ModelError, ParameterError
from rosenblatt.io.dataset import Dataset, check_classes, open_dataset
from rosenblatt.learners.fit import Counters, ending_of, prepare_params
from rosenblatt.learners.serialization import resume_point, states_to_tensors
from rosenblatt.learners.stopping import History, StoppingCriterion
from rosenblatt.learners.support import space_of
from rosenblatt.learners.targets import class_weights
from rosenblatt.learners.weights import LINEAR, seed_of, states_over
from rosenblatt.models.model import Model, model_of
from rosenblatt.params import Params, make_params, name_of
from rosenblatt.training.rows import DENSE
from rosenblatt.training.run import WINDOW, TrainingRun, check_size, column_names, features_of

if TYPE_CHECKING:
    from rosenblatt.training.holdout import HoldoutResult

EPOCHS = 10  # of a named learner
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
    products: bool = False  # does it weigh products of columns?
    held: HoldoutResult | None = None
    scaled: bool = False  # are columns divided by a scale that was selected?

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


def train(data: Any, params: Any = "auto", *, products: bool = True, block: int = WINDOW, **options: Any) -> Model:
    """Learn a model from data of any size, as the command ``rosenblatt train`` does, to the byte.

    Parameters
    ----------
    data : path, list of paths, frame or database
        As for `rosenblatt.io.open_dataset`: svmlight, VW, labelled text, CSV, JSON lines, Parquet, Feather, .npy,
        Excel, compressed or not; globs and folders; a pandas, Polars, DuckDB or pyarrow frame; a database.
    params : Params, estimator or str, default="auto"
        How to learn: params, an estimator that has not learned, or a name of the command ("averaged", "pa1", ...).
        "auto" tries several learners on some of the rows and takes the best.
    products : bool, default=True
        May "auto" take products of columns?
    block : int
        Rows that are shuffled together.
    **options
        Options of `rosenblatt.io.open_dataset`, such as ``label="late"``; `folds`; and parameters of the learner if
        `params` is a name, of which "auto" has `max_iter`, `random_state` and `class_weight`.

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
    return train_dataset(open_dataset(data, **reading), params, products=products, block=block, **options).model


def train_dataset(
    dataset: Dataset,
    params: Any = "auto",
    *,
    products: bool = True,
    block: int = WINDOW,
    on_load: Callable[[], None] = lambda: None,
    on_choice: Callable[[str], None] = lambda why: None,
    on_run: Callable[[TrainingRun], None] = TrainingRun.run,
    class_weight: Any = None,
    folds: int = 0,
    **parameters: Any,
) -> Trained:
    """Learn from a dataset; `on_run` may run the training in its own way.

    With `folds`, each row is also scored by what was learned from the other folds.
    """
    seed = parameters.get("random_state", 0) if isinstance(params, str) else getattr(params, "random_state", 0)
    if isinstance(seed, int):
        seed_of(seed)  # raises before anything is read
    chosen = None
    if params != "auto" or not isinstance(params, str):
        params = _make(params, parameters, class_weight)
    is_regression = isinstance(params, Params) and params.is_regression
    store = dataset.load(is_regression=is_regression)
    on_load()
    if folds and len(store) < folds:
        from rosenblatt.select.folds import too_few_rows

        raise too_few_rows(folds, len(store))
    if is_regression:
        if folds:
            raise ParameterError("folds: they score classes, and this learner predicts numbers")
        return _regression(dataset, store, params)
    classes = check_classes(dataset.read_classes()).values
    check_size(1, features_of(dataset, store))
    if isinstance(params, str):
        from rosenblatt.training.select import SAMPLE_BYTES, choose

        rows, step = store.sample(SAMPLE_BYTES)
        chosen = choose(
            rows, step, classes, dataset.encoder.features, products=products, class_weight=class_weight, **parameters
        )
        on_choice(chosen.why)
        params = copy(chosen.params)
        params.class_weight = class_weight
    elif not runs_by_windows(params):
        return with_folds(_fit(dataset, store, params, classes), store, classes, folds)
    weights = None if params.class_weight is None else _class_weights(store, params.class_weight, classes)
    run = TrainingRun.begin(
        dataset,
        params,
        store,
        window=block,
        scale=None if chosen is None else chosen.scale,
        products=None if chosen is None else chosen.products,
        choice=None if chosen is None else chosen.why,
        class_weights=weights,
    )
    if chosen is not None:
        run.calibrator = chosen.calibrator
    trained = finish(run, on_run)
    if chosen is not None:
        trained = replace(trained, tried=chosen.scores, held=chosen.held)
    else:
        trained = replace(trained, params=params)
    return with_folds(trained, store, classes, folds, run.products)


def continue_training(
    model: Model,
    dataset: Dataset,
    *,
    max_iter: int = 1,
    shuffle: bool = False,
    block: int = WINDOW,
    on_run: Callable[[TrainingRun], None] = TrainingRun.run,
) -> Trained:
    """Learn on from a model, with a dataset that has the model's encoder.

    One pass in the order of the data, without shuffling, is exact: to learn A and then continue with B is to learn from
    one stream of A and B, to the bit, with any cut into files. New labels become classes.
    """
    begun = resume_point(model)
    params = copy(begun.params)
    if params.is_regression:
        raise ModelError("a model that predicts numbers cannot continue with files: continue in Python")
    params.max_iter, params.shuffle = max_iter, shuffle
    params.check()
    store = dataset.load()
    found = dataset.read_classes()
    classes = merge_classes(model.classes, found.values)
    codes = np.searchsorted(classes, found.values).astype(np.int32)
    store.y[:] = codes[store.y]
    dataset.classes = replace(found, values=classes)
    (state,) = states_over([begun.state], model.classes, classes, params)
    features = max(model.features, features_of(dataset, store))
    if begun.products is None and features > state.features:
        check_size(len(state.intercept), features)
        state = state.with_features(features)
    run = TrainingRun(dataset, store, params, classes, state, StoppingCriterion.of(params), block, features)
    run.scale, run.products, run.before = begun.scale, begun.products, Counters.of(state)
    if len(classes) == len(model.classes):
        run.calibrator = model.calibrator
    if params.class_weight is not None:
        run.class_weights = _class_weights(store, params.class_weight, classes)
    return finish(run, on_run)


def runs_by_windows(params: Params) -> bool:
    """Is one linear state trained in windows, which can be saved and resumed?"""
    plain = copy(params)
    plain.class_weight = None
    return not plain.needs_all_rows and not params.is_regression


def finish(run: TrainingRun, on_run: Callable[[TrainingRun], None] = TrainingRun.run) -> Trained:
    """Run to the end."""
    on_run(run)
    reason, products = run.stopping.stop_reason or "unfinished", run.products is not None
    scaled = run.scale is not None and not products
    return Trained(
        run.model(), run.params, run.rows, run.stopping.history, reason, run.choice, products=products, scaled=scaled
    )


def with_folds(trained: Trained, store: RowStore, classes: NDArray[Any], folds: int, products: Any = None) -> Trained:
    """With the accuracy and the probabilities of folds, if they are requested."""
    if not folds:
        return trained
    from rosenblatt.training.holdout import judge_by_folds

    held, calibrator = judge_by_folds(store, classes, trained.params, folds, products=products)
    return replace(trained, held=held, model=replace(trained.model, calibrator=calibrator))


def _make(params: Any, parameters: dict[str, Any], class_weight: Any) -> Params:
    if isinstance(params, str):
        params = make_params(params, **{"max_iter": EPOCHS, **parameters})
    elif parameters:
        raise ParameterError(f"{next(iter(parameters))}: set it in the params or the estimator that you pass")
    params = copy(params if isinstance(params, Params) and not hasattr(params, "fit") else params.params())
    if params.random_state is None:
        params.random_state = seed_of(None)
    if class_weight is not None:
        params.class_weight = class_weight
    made: Params = params
    return made


def _class_weights(store: RowStore, class_weight: Any, classes: NDArray[Any]) -> NDArray[np.float64]:
    """One weight per class, counted in the rows for 'balanced'."""
    counts = np.bincount(store.y, store.weights, len(classes))
    # Each class as one row of its weight: all that 'balanced' needs.
    labels = Labels(classes, np.arange(len(classes), dtype=np.int32))
    weights = class_weights(class_weight, labels, counts.astype(np.float64))
    if not weights.all():
        raise ParameterError("class_weight: a class of weight 0 is as if absent: leave its rows out of the data")
    return weights


def _fit(dataset: Dataset, store: RowStore, params: Params, classes: NDArray[Any]) -> Trained:
    """As the Python class of the learner fits."""
    features = features_of(dataset, store)
    table = _table(store, features, params)
    fitting = prepare_params(params, space_of(params), table, Labels(classes, store.y), store.weights)
    outcomes = fitting.run()
    history, reason = ending_of(outcomes)
    states = [outcome.state for outcome in outcomes]
    predictors = fitting.space.make_predictors(states)
    told = params.values()
    model = Model(
        params.learner,
        told,
        fitting.classes,
        predictors,
        features,
        dataset.encoder,
        column_names(dataset, predictors[0]),
        {"mistakes": history.mistakes, "updates": history.updates, "stop_reason": reason, "rows": len(store)},
        None,
        states_to_tensors(params.learner, told, states, history, epochs=len(history), stop_reason=reason),
    )
    return Trained(model, params, len(store), history, reason)


def _table(store: RowStore, features: int, params: Params) -> Table:
    """The rows for a learner; those of a kernel are dense if they are few."""
    if space_of(params) is LINEAR:
        return store.table(features)
    rows = store.csr(features)
    return as_table(rows.dense() if len(store) * features <= DENSE else rows.matrix())


def _regression(dataset: Dataset, store: RowStore, params: Params) -> Trained:
    """By the Python class of a regression."""
    from rosenblatt import learners

    if len(np.unique(store.y[:1000])) < 1:
        raise LabelError("the data has no labels")
    told = {each.name: getattr(params, each.name) for each in fields(params)}
    learner = getattr(learners, params.learner)(**told)
    features = features_of(dataset, store)
    check_size(1, features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `stop_reason` says how it stopped
        learner.fit(store.csr(features).matrix(), store.y, sample_weight=store.weights)
    model = model_of(learner, dataset.encoder, {}, state=True)
    history = model.history | {"rows": len(store)}
    model = replace(model, names=column_names(dataset, model.parts[0]), history=history)
    return Trained(model, params, len(store), learner.history_, learner.stop_reason_)
