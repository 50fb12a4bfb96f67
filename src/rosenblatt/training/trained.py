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
from rosenblatt.learners.epochs.judge import History
from rosenblatt.learners.files.run import BLOCK, FileRun
from rosenblatt.learners.fitting import ending_of, prepare_recipe
from rosenblatt.learners.kept.learner import keep_states
from rosenblatt.learners.spaces import LINEAR, seed_of, space_of
from rosenblatt.models.kept import plain_values
from rosenblatt.models.linear import Linear
from rosenblatt.models.model import Model, model_of
from rosenblatt.recipe.family import make_recipe, name_of
from rosenblatt.recipe.recipe import Recipe
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
    recipe: Recipe
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
            "learner": name_of(self.recipe),
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
    recipe: Any = "auto",
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
    recipe : Recipe, estimator or str, default="auto"
        How to learn: a recipe, an estimator that has not learned, or a name of the command ("averaged", "pa1", ...).
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
        Parameters of the learner, where `recipe` is a name; `max_iter` and `random_state` for "auto" too.

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
    return train_reader(reader, recipe, products=products, block=block, cache=cache, **parameters).model


def train_reader(
    reader: Dataset,
    recipe: Any = "auto",
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
    seed = parameters.get("random_state") if isinstance(recipe, str) else getattr(recipe, "random_state", None)
    if isinstance(seed, int):
        seed_of(seed)  # which raises before anything is learned
    if isinstance(recipe, str) and recipe == "auto":
        run, chosen = _chosen(reader, products, block, on_choice, class_weight, **parameters)
        run.calibrator = chosen.calibrator
        trained = replace(finish(run, cache=cache, on_run=on_run), tried=chosen.scores, held=chosen.held)
        return judged_by_folds(trained, reader, folds, run)
    if isinstance(recipe, str):
        recipe = make_recipe(recipe, **{"max_iter": EPOCHS, **parameters})
    elif parameters:
        raise ParameterError(
            f"{next(iter(parameters))}: a recipe has its parameters already; "
            "how to read the data is said by reading={...}"
        )
    if not isinstance(recipe, Recipe):
        recipe = recipe.recipe()
    if class_weight is not None:
        recipe = copy(recipe)
        recipe.class_weight = class_weight
    if not learns_as_read(recipe):
        return judged_by_folds(_in_memory(reader, recipe), reader, folds)
    weights = None if recipe.class_weight is None else count_class_weights(reader, recipe.class_weight)
    run = FileRun.begin(reader, recipe, block=block, class_weights=weights)
    return judged_by_folds(replace(finish(run, cache=cache, on_run=on_run), recipe=recipe), reader, folds)


def learns_as_read(recipe: Recipe) -> bool:
    """Can rows be learned so as they are read? Weights of classes can be counted beforehand."""
    told = copy(recipe)
    told.class_weight = None
    return not told.needs_all_rows


def judged_by_folds(
    trained: Trained, reader: Dataset, folds: int, run: FileRun | None = None, *, balanced: bool = False
) -> Trained:
    """With the accuracy and the probabilities of folds, if they are asked for.

    `balanced`: are the classes of each fold weighed anew, as a recipe asks for that had no run yet?
    """
    if not folds:
        return trained
    from rosenblatt.training.held import judge_by_folds

    recipe = copy(trained.recipe)
    if recipe.measures:
        raise ParameterError("folds: they judge classes, and this learner predicts numbers")
    if balanced and trained.choice is None:
        recipe.class_weight = "balanced"
    scale, products = (None, None) if run is None else (run.scale, run.products)
    held, calibrator = judge_by_folds(reader, recipe, folds, scale=scale, products=products)
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
    reason, products = run.judge.stop_reason or "unfinished", run.products is not None
    scaled = run.scale is not None and not products
    return Trained(
        run.model(), run.recipe, run.rows, run.judge.history, reason, run.choice, products=products, scaled=scaled
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
    return FileRun.begin(reader, chosen.recipe, block=block, class_weights=weights, **how), chosen


def _in_memory(reader: Dataset, recipe: Recipe) -> Trained:
    """As the Python class of the learner does it, with all rows in memory."""
    rows = read_rows(reader)
    if recipe.measures:
        return _of_numbers(reader, recipe, rows)
    features = max(reader.encoder.features or rows.features, 1)
    fitting = prepare_recipe(
        recipe, space_of(recipe), _table(rows, features, recipe), encode_labels(rows.y), rows.weights
    )
    outcomes = fitting.run()
    history, reason = ending_of(outcomes)
    states = [outcome.state for outcome in outcomes]
    answers = fitting.space.make_answers(states)
    names = reader.find_names(answers[0].columns()) if isinstance(answers[0], Linear) else {}
    told = {each.name: getattr(recipe, each.name) for each in fields(recipe)}
    model = Model(
        recipe.learner,
        plain_values(told),
        fitting.classes,
        answers,
        features,
        reader.encoder,
        names,
        {"mistakes": history.mistakes, "updates": history.updates, "stop_reason": reason},
        None,
        partial(keep_states, recipe.learner, told, states, history, epochs=len(history), stop_reason=reason),
    )
    return Trained(model, recipe, len(rows), history, reason)


def _table(rows: RowBatch, features: int, recipe: Recipe) -> Table:
    """The rows for a learner; those of a kernel are arrays where they are small."""
    if space_of(recipe) is LINEAR:
        return rows.table(features)
    return as_table(rows.csr(features).dense() if len(rows) * features <= DENSE else rows.matrix(features))


def _of_numbers(reader: Dataset, recipe: Recipe, rows: RowBatch) -> Trained:
    """By the Python class of a learner of numbers."""
    from rosenblatt import learners

    learner = getattr(learners, recipe.learner)(**{each.name: getattr(recipe, each.name) for each in fields(recipe)})
    measures = Measures.of(rows.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `stop_reason` says how it stopped
        features = reader.encoder.features or rows.features
        learner.fit(rows.matrix(features), measures.values[measures.codes(rows)], sample_weight=rows.weights)
    model = model_of(learner, reader.encoder, {}, state=True)
    part = model.parts[0]
    assert isinstance(part, Linear)
    model = replace(model, names=reader.find_names(part.columns()))
    return Trained(model, recipe, len(rows), learner.history_, learner.stop_reason_)
