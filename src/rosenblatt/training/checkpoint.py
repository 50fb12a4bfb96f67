"""Checkpoints: what a training run has learned, in a file, to be resumed exactly.

Invariant: a checkpoint is written after an epoch. The same run, begun again with the same data and options, takes it
over and ends with the same bits as one that was never stopped. A checkpoint with a valid checksum raises a ModelError,
or its run can continue.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import numpy as np

from rosenblatt.errors import DataError, ModelError, first_line
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.targets import weight_rows
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.container import INVALID, check_shapes, read_container, write_container
from rosenblatt.training.run import TrainingRun


def save_checkpoint(run: TrainingRun, path: str | os.PathLike[str]) -> None:
    """Write what a run has learned."""
    sources = run.dataset.sources
    if gone := [source.name for source in sources if source.content_key is None]:
        raise DataError(f"{gone[0]} cannot be read again, so a run on it cannot be resumed: save it to a file first")
    header = {
        "content": [source.content_key for source in sources],
        "about": _about(run),
        "stopping": run.stopping.to_json(),
        "state": run.task.state.to_tree(),
        "places": run.task.state.log.places,
    }
    write_container(path, "checkpoint", header)


def _about(run: TrainingRun) -> dict[str, Any]:
    """What a resumed run must have in common with the first one."""
    params = run.params.to_json()
    params.pop("max_iter")  # there may be more epochs
    about = {"params": params, "classes": run.plan.labels.classes.tolist(), "encoder": run.dataset.encoder.to_json()}
    plain: dict[str, Any] = json.loads(json.dumps(about))
    return plain


def check_data(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Raise if the data has changed since the checkpoint was written."""
    if [source.content_key for source in dataset.sources] != read_container(path, "checkpoint").get("content"):
        raise DataError("the data has changed since the checkpoint was written; the run cannot be resumed")


def restore(run: TrainingRun, path: str | os.PathLike[str]) -> None:
    """Let a run that has learned nothing continue from a checkpoint; it may have another number of epochs."""
    header = read_container(path, "checkpoint")
    try:
        if header["about"] != _about(run):
            raise ModelError("its run has other data or parameters")
        new, classes = run.task.state, run.plan.labels.classes
        state = WeightState.from_tree(header["state"], new.features, weight_rows(len(classes)), run.params)
        places = header["places"]
        if places is not None:
            check_shapes(places.dtype == np.int64 and places.shape == (run.table.count,))
            stored = 0 if state.log.rows is None else state.log.rows.shape[0]
            if places.min() < -1 or places.max() >= stored:
                raise ModelError("its places name a row that it has not stored")
            state.log = replace(state.log, table=run.task.table, places=places)
        run.stopping.restore(header["stopping"])
        run.task.state = state
    except (*INVALID, MemoryError) as error:
        raise ModelError(f"{os.fspath(path)} is not a valid checkpoint: {first_line(error)}") from None
    run.stopping.set_epochs(run.params.max_iter, within=False)
