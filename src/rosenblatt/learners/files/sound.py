"""Checks of a run that comes from a file: nothing in it may lead learning outside of its arrays.

Invariant: a checkpoint under a right checksum is refused with a sentence, or its run can be learned on. Whether it is
the run that it says it is, nobody can tell: checkpoints are to be one's own.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ModelError
from rosenblatt.learners.files.parts import MOST_WEIGHTS
from rosenblatt.learners.files.run import FileRun
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.container import count_of
from rosenblatt.models.predictors import count_terms


def check_header(header: dict[str, Any]) -> None:
    """Raise unless the sizes that a header claims are those of something that can be learned."""
    learner = str(header.get("params", {}).get("learner"))
    rows = 1 if learner.endswith("-regression") else weight_rows(len(header["classes"]))
    for features in (header["features"], header["state"]["features"]):
        if rows * count_of(features) > MOST_WEIGHTS:
            raise ModelError(f"it has {features:,} features, more than can be learned")
    for text in (header["format"], *header["data"]):
        if not isinstance(text, str):
            raise ModelError("it names something that is no text")
    if not isinstance(header["skip_bad"], bool):
        raise ModelError("skip_bad must be a boolean")
    if not isinstance(header["choice"], str | None) or header["stop_reason"] not in _REASONS:
        raise ModelError("what it says of its training cannot be read")
    if not isinstance(header["extra"], dict):
        raise ModelError("it does not say where its run was to end")
    for limit in header.get("limits", {}).values():
        count_of(limit)
    for name, wish in header.get("wishes", {}).items():
        kind = {"header": bool, "missing": list}.get(name, str)
        if wish is not None and not (isinstance(wish, kind) and all(isinstance(each, str) for each in _listed(wish))):
            raise ModelError(f"its {name!r} cannot be read")


def _listed(wish: Any) -> list[Any]:
    return wish if isinstance(wish, list) else []


_REASONS = (None, "converged", "no_change", "max_iter")


def check_run(run: FileRun) -> None:
    """Raise unless the parts of a run fit one another."""
    classes = run.classes.values
    if (
        classes.ndim != 1
        or len(classes) < (1 if run.params.is_regression else 2)
        or classes.dtype.kind not in "iuUf"
        or not (classes[:-1] < classes[1:]).all()
    ):
        raise ModelError("its classes are not in order")
    progress = asdict(run.progress)
    weights = [progress.pop("weight"), run.before.weight]
    for count in (*progress.values(), run.before.mistakes, run.before.updates, run.rows, run.block, run.features):
        count_of(count)
    if not all(isinstance(weight, float | int) and math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ModelError("it has a weight that is none")
    if (run.progress.epoch and not run.rows) or len(run.stopping.history) != run.progress.epoch:
        raise ModelError("it has learned epochs of no rows, or has no record of them")
    history = run.stopping.history
    for number in (*history.mistakes, *history.updates):
        count_of(number)
    if len(history.updates) != len(history) or not all(isinstance(each, float | int) for each in history.seconds):
        raise ModelError("what it says of its epochs cannot be read")
    wide = run.state.features
    if run.products is not None and (wide != count_terms(len(run.products.columns)) or run.state.stores_rows):
        raise ModelError("its weights do not fit its products")
    _check_arrays(run)


def _check_arrays(run: FileRun) -> None:
    if run.order is not None:
        _check_array(run.order, np.uint32, len(run.order))
        if not np.array_equal(np.sort(run.order), np.arange(len(run.order))):
            raise ModelError("its order of blocks is none")
    if run.scale is not None:
        _check_array(run.scale, np.float64, len(run.scale))
        if not (np.isfinite(run.scale).all() and (run.scale > 0).all()):
            raise ModelError("its scales are no positive numbers")
    support = run.state.remembered.rows
    stored = 0 if support is None else support.shape[0]
    for places in run.places.values():
        _check_array(places, np.int64, len(places))
        if len(places) and (places.min() < -1 or places.max() >= stored):
            raise ModelError("its places name a row that is not there")


def _check_array(values: NDArray[Any], dtype: Any, size: int) -> None:
    if values.dtype != dtype or values.shape != (size,):
        raise ModelError("an array has another type or size than it should")
