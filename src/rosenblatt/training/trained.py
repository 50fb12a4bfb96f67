"""`train`: files in, a model out.

Invariant: the command ``rosenblatt train`` does what is written here, so both give the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rosenblatt.data.batch import Measures, RowBatch
from rosenblatt.data.labels import encode_labels
from rosenblatt.data.table import Table, as_table
from rosenblatt.errors import ParameterError
from rosenblatt.io.dataset import Dataset, open_dataset
from rosenblatt.learners.files.run import BLOCK, FileRun
from rosenblatt.learners.fit import ending_of, prepare_params
from rosenblatt.learners.serialization import states_to_tensors
from rosenblatt.learners.stopping import History
from rosenblatt.learners.support import space_of
from rosenblatt.learners.weights import LINEAR, seed_of
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Linear
from rosenblatt.params import Params, make_params, name_of
from rosenblatt.training.rows import DENSE, read_rows
from rosenblatt.training.weights import count_class_weights

if TYPE_CHECKING:
    from rosenblatt.training.choice import Choice
    from rosenblatt.training.held import Held

EPOCHS = 10  # of a learner with a name, where none are given


@dataclass(frozen=True)
class Trained:
    """A model, and how it came about."""

    model: Model
    params: Params
    rows: int
    history: History
    stop_reason: str
    choice: str | None = None  # why this learner, if it was chosen
    tried: dict[str, float] = field(default_factory=dict)  # the held-out accuracy of others
    products: bool = False  # does it weigh products of columns?
    held: Held | None = None  # how it did on rows that it had not learned from
    scaled: bool = False  # are columns divided by a scale that was chosen?

    def facts(self) -> dict[str, Any]:
        """What happened, as plain values."""
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


def train(
    data: Any,
    params: Any = "auto",
    *,
    products: bool = True,
    block: int = BLOCK,
    cache: str | None = None,
    reading: dict[str, Any] | None = None,
    **parameters: Any,
) -> Model:
    """Learn a model from files of any size, as the command ``rosenblatt train`` does, to the byte.

    Parameters
    ----------
    data : path, list of paths, or frame
        As for `rosenblatt.io.open_dataset`: svmlight, VW, labelled text, CSV, JSON lines, Parquet, Feather, .npy,
        compressed or not; globs and folders; or a pandas, Polars, DuckDB or pyarrow frame.
    params : Params, estimator or str, default="auto"
        How to learn: params, an estimator that has not learned, or a name of the command ("averaged", "pa1", ...).
        "auto" tries several learners on some of the rows and takes the best.
    products : bool, default=True
        May "auto" take products of columns?
    block : int
        Rows that are shuffled together.
    cache : path, optional
        A folder where the parsed data is kept for later runs.
    reading : dict, optional
        Options of `rosenblatt.io.open_dataset`, such as ``{"label": "late"}``.
    **parameters
        Parameters of the learner, where `params` is a name; `max_iter` and `random_state` for "auto" too.

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
    reader = open_dataset(data, **(reading or {}))
    return train_reader(reader, params, products=products, block=block, cache=cache, **parameters).model


def train_reader(
    reader: Dataset,
    params: Any = "auto",
    *,
    products: bool = True,
    block: int = BLOCK,
    cache: str | None = None,
    on_choice: Callable[[str], None] = lambda why: None,
    on_run: Callable[[FileRun], None] | None = None,
    class_weight: Any = None,
    folds: int = 0,
    **parameters: Any,
) -> Trained:
    """Learn from a reader's rows; `on_run` may take a run to its end in its own way.

    With `folds`, each row is also judged by what was learned from the other folds.
    """
    if folds:
        from rosenblatt.training.held import check_fold_count  # which loads much that a plain run does not need

        check_fold_count(reader, folds)
    seed = parameters.get("random_state") if isinstance(params, str) else getattr(params, "random_state", None)
    if isinstance(seed, int):
        seed_of(seed)  # which raises before anything is learned
    if isinstance(params, str) and params == "auto":
        run, chosen = _chosen(reader, products, block, on_choice, class_weight, **parameters)
        run.calibrator = chosen.calibrator
        trained = replace(finish(run, cache=cache, on_run=on_run), tried=chosen.scores, held=chosen.held)
        return judged_by_folds(trained, reader, folds, run)
    if isinstance(params, str):
        params = make_params(params, **{"max_iter": EPOCHS, **parameters})
    elif parameters:
        raise ParameterError(
            f"{next(iter(parameters))}: params have its parameters already; "
            "how to read the data is said by reading={...}"
        )
    if not isinstance(params, Params):
        params = params.params()
    if class_weight is not None:
        params = copy(params)
        params.class_weight = class_weight
    if not learns_as_read(params):
        return judged_by_folds(_in_memory(reader, params), reader, folds)
    weights = None if params.class_weight is None else count_class_weights(reader, params.class_weight)
    run = FileRun.begin(reader, params, block=block, class_weights=weights)
    return judged_by_folds(replace(finish(run, cache=cache, on_run=on_run), params=params), reader, folds)


def learns_as_read(params: Params) -> bool:
    """Can rows be learned so as they are read? Weights of classes can be counted beforehand."""
    told = copy(params)
    told.class_weight = None
    return not told.needs_all_rows


def judged_by_folds(
    trained: Trained, reader: Dataset, folds: int, run: FileRun | None = None, *, balanced: bool = False
) -> Trained:
    """With the accuracy and the probabilities of folds, if they are asked for.

    `balanced`: are the classes of each fold weighed anew, as params ask for that had no run yet?
    """
    if not folds:
        return trained
    from rosenblatt.training.held import judge_by_folds

    params = copy(trained.params)
    if params.is_regression:
        raise ParameterError("folds: they judge classes, and this learner predicts numbers")
    if balanced and trained.choice is None:
        params.class_weight = "balanced"
    scale, products = (None, None) if run is None else (run.scale, run.products)
    held, calibrator = judge_by_folds(reader, params, folds, scale=scale, products=products)
    return replace(trained, held=held, model=replace(trained.model, calibrator=calibrator))


def finish(
    run: FileRun,
    *,
    cache: str | None = None,
    on_run: Callable[[FileRun], None] | None = None,
) -> Trained:
    """Take a run to its end."""
    if on_run is None:
        run.run(cache=cache)
    else:
        on_run(run)
    reason, products = run.stopping.stop_reason or "unfinished", run.products is not None
    scaled = run.scale is not None and not products
    return Trained(
        run.model(), run.params, run.rows, run.stopping.history, reason, run.choice, products=products, scaled=scaled
    )


def _chosen(
    reader: Dataset,
    products: bool,
    block: int,
    on_choice: Callable[[str], None],
    class_weight: Any,
    *,
    max_iter: int | None = None,
    random_state: int = 0,
) -> tuple[FileRun, Choice]:
    from rosenblatt.training.choice import choose_learner

    told = {"products": products, "max_iter": max_iter, "random_state": random_state, "class_weight": class_weight}
    weights = None if class_weight is None else count_class_weights(reader, class_weight)
    chosen = choose_learner(reader, **told)
    on_choice(chosen.why)
    how: dict[str, Any] = {"scale": chosen.scale, "products": chosen.products, "choice": chosen.why}
    return FileRun.begin(reader, chosen.params, block=block, class_weights=weights, **how), chosen


def _in_memory(reader: Dataset, params: Params) -> Trained:
    """As the Python class of the learner does it, with all rows in memory."""
    rows = read_rows(reader)
    if params.is_regression:
        return _of_numbers(reader, params, rows)
    features = max(reader.encoder.features or rows.features, 1)
    fitting = prepare_params(
        params, space_of(params), _table(rows, features, params), encode_labels(rows.y), rows.weights
    )
    outcomes = fitting.run()
    history, reason = ending_of(outcomes)
    states = [outcome.state for outcome in outcomes]
    answers = fitting.space.make_predictors(states)
    names = reader.find_names(answers[0].columns()) if isinstance(answers[0], Linear) else {}
    told = params.values()
    model = Model(
        params.learner,
        told,
        fitting.classes,
        answers,
        features,
        reader.encoder,
        names,
        {"mistakes": history.mistakes, "updates": history.updates, "stop_reason": reason},
        None,
        partial(states_to_tensors, params.learner, told, states, history, epochs=len(history), stop_reason=reason),
    )
    return Trained(model, params, len(rows), history, reason)


def _table(rows: RowBatch, features: int, params: Params) -> Table:
    """The rows for a learner; those of a kernel are arrays where they are small."""
    if space_of(params) is LINEAR:
        return rows.table(features)
    return as_table(rows.csr(features).dense() if len(rows) * features <= DENSE else rows.matrix(features))


def _of_numbers(reader: Dataset, params: Params, rows: RowBatch) -> Trained:
    """By the Python class of a learner of numbers."""
    from rosenblatt import learners

    learner = getattr(learners, params.learner)(**{each.name: getattr(params, each.name) for each in fields(params)})
    measures = Measures.of(rows.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `stop_reason` says how it stopped
        features = reader.encoder.features or rows.features
        learner.fit(rows.matrix(features), measures.values[measures.codes(rows)], sample_weight=rows.weights)
    model = model_of(learner, reader.encoder, {}, state=True)
    part = model.parts[0]
    assert isinstance(part, Linear)
    model = replace(model, names=reader.find_names(part.columns()))
    return Trained(model, params, len(rows), learner.history_, learner.stop_reason_)
