"""Checkpoints: a training run in a file, to be resumed exactly.

Invariant: a run that is stopped at any moment and resumed from its last checkpoint ends with the same bits as one that
was not. The data is not in the checkpoint: it must still be there, unchanged. A checkpoint with a valid checksum is
refused with a sentence, or its run can continue.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.labels import Classes
from rosenblatt.errors import DataError, ModelError
from rosenblatt.io.dataset import open_dataset
from rosenblatt.io.excel import Sheet
from rosenblatt.io.limits import Limits
from rosenblatt.io.source import Spooled
from rosenblatt.learners.fit import Counters
from rosenblatt.learners.serialization import linear_from, linear_to
from rosenblatt.learners.stopping import History, StoppingCriterion
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import (
    Tensors,
    check_shapes,
    count_of,
    read_container,
    take,
    write_container,
)
from rosenblatt.models.file import encoder_from
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import params_from_json
from rosenblatt.training.run import MOST_FEATURES, Progress, TrainingRun, check_size, features_of


class Checkpoint:
    """Saves a run to a file, at most once per `every` seconds, with what the caller wants back in `extra`."""

    def __init__(self, path: str | os.PathLike[str], every: float, extra: dict[str, Any]) -> None:
        self.path, self.every, self.extra = path, every, extra
        self._last = -np.inf

    def __call__(self, run: TrainingRun) -> None:
        if time.monotonic() - self._last >= self.every:
            save_checkpoint(run, self.path, self.extra)
            self._last = time.monotonic()


def save_checkpoint(run: TrainingRun, path: str | os.PathLike[str], extra: dict[str, Any]) -> None:
    """Write everything but the data to one file."""
    dataset = run.dataset
    gone = [source.name for source in dataset.sources if source.live or isinstance(source, Spooled)]
    if gone or not dataset.sources:
        name = gone[0] if gone else "the data"
        raise DataError(f"{name} cannot be read again, so a run on it cannot be resumed: save it to a file first")
    tensors: Tensors = {}
    header = {
        "data": [os.path.abspath(source.name) for source in dataset.sources],
        "content": [source.content_key for source in dataset.sources],
        "format": dataset.format,
        "sheet": next((source.sheet for source in dataset.sources if isinstance(source, Sheet)), None),
        "encoder": dataset.encoder.to_json(),
        "skip_bad": dataset.skip_bad,
        "options": dataset.options.to_json(),
        "limits": asdict(dataset.limits),
        "params": run.params.to_json(tensors),
        "window": run.window,
        "classes": run.classes.tolist(),
        "features": run.features,
        "is_compact": run.is_compact,
        "rows": run.rows,
        "history": asdict(run.stopping.history),
        "progress": asdict(run.progress),
        "before": [run.before.mistakes, run.before.updates, run.before.weight],
        **run.stopping.to_json(),
        "state": linear_to(run.state, "state.", tensors),
        "choice": run.choice,
        "probabilities": None if run.calibrator is None else run.calibrator.to_json(),
        "extra": extra,
    }
    arrays = {"order": run.order, "scale": run.scale, "class_weights": run.class_weights, "places": run.places}
    tensors |= {name: array for name, array in arrays.items() if array is not None}
    if run.products is not None:
        run.products.to_tensors("products.", tensors)
    write_container(path, "checkpoint", header, tensors)


def load_checkpoint(path: str | os.PathLike[str], *, jobs: int = 2) -> tuple[TrainingRun, dict[str, Any]]:
    """The run of a checkpoint, with its data read again, and the `extra` of the caller."""
    header, tensors = read_container(path, "checkpoint")
    try:
        _check_header(header)
        dataset = open_dataset(
            header["data"],
            format=header["format"],
            sheet=header["sheet"],
            encoder=encoder_from(header["encoder"]),
            skip_bad=header["skip_bad"],
            jobs=jobs,
            **header["options"],
            limits=Limits(**header["limits"]),
        )
        if [source.content_key for source in dataset.sources] != header["content"]:
            raise DataError(f"{path}: the data has changed since the checkpoint was written; the run cannot be resumed")
        params = params_from_json(header["params"], tensors)
        rows, width = weight_rows(len(header["classes"])), count_of(header["state"]["features"])
        state = linear_from(header["state"], "state.", tensors, width, rows)
        stopping = StoppingCriterion.of(params)
        stopping.restore(header, History(**header["history"]))
        run = TrainingRun(
            dataset,
            dataset.load(),
            params,
            np.array(header["classes"]),
            state,
            stopping,
            count_of(header["window"]),
            count_of(header["features"]),
            bool(header["is_compact"]),
            Progress(**header["progress"]),
            tensors.get("order") if header["progress"]["place"] else None,
            Counters(*header["before"]),
            tensors.get("places"),
            tensors.get("scale"),
            header["choice"],
            Products.from_tensors("products.", tensors, MOST_FEATURES) if "products.columns" in tensors else None,
        )
        if "class_weights" in tensors:
            run.class_weights = tensors["class_weights"]
            run.params.class_weight = dict(zip(run.classes.tolist(), run.class_weights.tolist(), strict=True))
        if header.get("probabilities") is not None:
            run.calibrator = Calibrator.from_json(header["probabilities"], len(run.classes))
        _check_run(run, header["rows"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, DataError):
            raise
        why = (str(error).splitlines() or ["it cannot be read"])[0][:200]
        raise ModelError(f"{os.fspath(path)} is not a valid checkpoint: {why}") from None
    return run, header["extra"]


def _check_header(header: dict[str, Any]) -> None:
    """Raise unless the sizes that a header claims can be allocated and its fields have their types."""
    rows = weight_rows(len(header["classes"]))
    for features in (header["features"], header["state"]["features"]):
        check_size(rows, count_of(features))
    for text in (header["format"], header["sheet"] or "", *header["data"]):
        if not isinstance(text, str):
            raise ModelError("a name is not text")
    if not isinstance(header["skip_bad"], bool):
        raise ModelError("skip_bad must be a boolean")
    if not isinstance(header["choice"], str | None) or not isinstance(header["extra"], dict):
        raise ModelError("its choice or extra cannot be read")
    if header["stop_reason"] not in (None, "converged", "no_change", "max_iter"):
        raise ModelError("its stop reason is unknown")
    for limit in header["limits"].values():
        count_of(limit)


def _check_run(run: TrainingRun, rows: int) -> None:
    """Raise unless the parts of a run fit one another and the data."""
    classes, found = run.classes, run.dataset.classes
    if (
        classes.ndim != 1
        or len(classes) < 2
        or classes.dtype.kind not in "iuU"
        or not (classes[:-1] < classes[1:]).all()
    ):
        raise ModelError("its classes are not in order")
    assert found is not None
    codes = np.searchsorted(classes, found.values) if classes.dtype.kind == found.values.dtype.kind else np.empty(0)
    if len(codes) != len(found) or (codes >= len(classes)).any() or (classes[codes] != found.values).any():
        raise DataError("the data has other labels than at the time of the checkpoint")
    run.store.y[:] = codes.astype(np.int32)[run.store.y]
    run.dataset.classes = Classes(classes)
    progress = asdict(run.progress)
    weights = [progress.pop("weight"), run.before.weight]
    for count in (*progress.values(), run.before.mistakes, run.before.updates, run.window):
        count_of(count)
    if not all(isinstance(weight, float | int) and math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ModelError("a weight is negative or not finite")
    history = run.stopping.history
    if rows != run.rows or len(history) != run.progress.epoch or len(history.updates) != len(history):
        raise ModelError("its epochs do not fit the rows of the data")
    for number in (*history.mistakes, *history.updates):
        count_of(number)
    if not all(isinstance(each, float | int) for each in history.seconds):
        raise ModelError("the seconds of its epochs are not numbers")
    if run.features < features_of(run.dataset, run.store) or run.features < 1:
        raise ModelError("it has fewer features than the data")
    terms = None if run.products is None else count_terms(len(run.products.columns))
    width = terms or (max(len(run.store.columns), 1) if run.is_compact else run.features)
    if run.state.features != width or (terms is not None and (run.state.stores_rows or run.is_compact)):
        raise ModelError("its weights do not fit its features")
    _check_arrays(run)


def _check_arrays(run: TrainingRun) -> None:
    if run.order is not None:
        _check_array(run.order, np.uint32, len(run.order))
        if not np.array_equal(np.sort(run.order), np.arange(len(run.order))):
            raise ModelError("its order of strips is not a permutation")
    if run.scale is not None:
        take({"scale": run.scale}, scale="f8")
        check_shapes(bool((run.scale > 0).all()))
    if run.class_weights is not None:
        take({"class_weights": run.class_weights}, class_weights="f8")
        check_shapes(run.class_weights.shape == (len(run.classes),) and bool((run.class_weights > 0).all()))
    support = run.state.remembered.rows
    stored = 0 if support is None else support.shape[0]
    if run.state.stores_rows != (run.places is not None) and run.progress.epoch + run.progress.place > 0:
        raise ModelError("it does not name the rows that it stored")
    if run.places is not None:
        _check_array(run.places, np.int64, run.rows)
        if run.places.min() < -1 or run.places.max() >= stored:
            raise ModelError("its places name a row that it has not stored")


def _check_array(values: NDArray[Any], dtype: Any, size: int) -> None:
    if values.dtype != dtype or values.shape != (size,):
        raise ModelError("an array has the wrong type or size")
