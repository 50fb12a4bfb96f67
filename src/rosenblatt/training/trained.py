"""`train`: files in, a model out.

Invariant: the command ``rosenblatt train`` does what is written here, so both give the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rosenblatt.data.readers import Reader, scan
from rosenblatt.errors import ParameterError
from rosenblatt.learners.epochs.judge import History
from rosenblatt.learners.files.run import BLOCK, FileRun
from rosenblatt.models.linear import Linear
from rosenblatt.models.model import Model, model_of
from rosenblatt.recipe.family import make_recipe, name_of
from rosenblatt.recipe.recipe import Recipe

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
        As for `rosenblatt.data.scan`: svmlight, VW, labelled text, CSV, JSON lines, Parquet, Feather, compressed or
        not; globs and folders; or a pandas, Polars, DuckDB or pyarrow frame.
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
        Options of `rosenblatt.data.scan`, such as ``{"label": "late"}``.
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
    reader = scan(data, **(reading or {}))
    return train_reader(reader, recipe, products=products, block=block, cache=cache, **parameters).model


def train_reader(
    reader: Reader,
    recipe: Any = "auto",
    *,
    products: bool = True,
    block: int = BLOCK,
    cache: str | None = None,
    on_choice: Callable[[str], None] = lambda why: None,
    on_run: Callable[[FileRun], None] | None = None,
    **parameters: Any,
) -> Trained:
    """Learn from a reader's rows; `on_run` may take a run to its end in its own way."""
    if isinstance(recipe, str) and recipe == "auto":
        run, tried = _chosen(reader, products, block, on_choice, **parameters)
        return finish(run, cache=cache, on_run=on_run, tried=tried)
    if isinstance(recipe, str):
        recipe = make_recipe(recipe, **{"max_iter": EPOCHS, **parameters})
    elif parameters:
        raise ParameterError(f"{next(iter(parameters))}: a recipe has its parameters already")
    if not isinstance(recipe, Recipe):
        recipe = recipe.recipe()
    if recipe.needs_all_rows:
        return _in_memory(reader, recipe)
    return finish(FileRun.begin(reader, recipe, block=block), cache=cache, on_run=on_run)


def finish(
    run: FileRun,
    *,
    cache: str | None = None,
    on_run: Callable[[FileRun], None] | None = None,
    tried: dict[str, float] | None = None,
) -> Trained:
    """Take a run to its end."""
    if on_run is None:
        run.run(cache=cache)
    else:
        on_run(run)
    reason, products = run.judge.stop_reason or "unfinished", run.products is not None
    return Trained(run.model(), run.recipe, run.rows, run.judge.history, reason, run.choice, tried or {}, products)


def _chosen(
    reader: Reader,
    products: bool,
    block: int,
    on_choice: Callable[[str], None],
    *,
    max_iter: int | None = None,
    random_state: int = 0,
) -> tuple[FileRun, dict[str, float]]:
    from rosenblatt.training.choice import choose_learner

    chosen = choose_learner(reader, products=products, max_iter=max_iter, random_state=random_state)
    on_choice(chosen.why)
    how: dict[str, Any] = {"scale": chosen.scale, "products": chosen.products, "choice": chosen.why}
    return FileRun.begin(reader, chosen.recipe, block=block, **how), chosen.scores


def _in_memory(reader: Reader, recipe: Recipe) -> Trained:
    """By the Python class of the learner, with all rows in memory."""
    from rosenblatt import learners
    from rosenblatt.training.rows import read_rows

    kind = getattr(learners, recipe.learner)
    learner = kind(**{each.name: getattr(recipe, each.name) for each in fields(recipe)})
    rows = read_rows(reader)
    features = reader.encoder.features or rows.features
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `stop_reason` says how it stopped
        learner.fit(rows.matrix(features), rows.y, sample_weight=rows.weights)
    model = model_of(learner, reader.encoder, {}, state=True)
    part = model.parts[0]
    if isinstance(part, Linear):
        model = replace(model, names=reader.find_names(part.columns()))
    return Trained(model, recipe, len(rows), learner.history_, learner.stop_reason_)
