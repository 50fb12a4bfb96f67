"""A run over files, saved so that it can be taken up again exactly.

Invariant: a run that is stopped at any moment and resumed from its last checkpoint ends with the same bits as one
that was not. The data is not in the checkpoint: it must still be where it was, unchanged.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batch import Classes, Measures
from rosenblatt.errors import DataError, ModelError
from rosenblatt.io.dataset import open_dataset
from rosenblatt.io.limits import Limits
from rosenblatt.io.source import Spooled
from rosenblatt.learners.files.parts import Progress, with_class_weights
from rosenblatt.learners.files.run import FileRun
from rosenblatt.learners.files.sound import check_header, check_run
from rosenblatt.learners.fit import Counters
from rosenblatt.learners.serialization import linear_from, linear_to
from rosenblatt.learners.stopping import History, StoppingCriterion
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.calibrator import Calibrator
from rosenblatt.models.container import (
    Tensors,
    check_finite,
    check_shapes,
    check_types,
    count_of,
    read_container,
    write_container,
)
from rosenblatt.models.file import MOST_FEATURES, encoder_from
from rosenblatt.models.predictors import Products
from rosenblatt.params import params_from_json


class Checkpoint:
    """Saves a run to a file, now and then.

    Parameters
    ----------
    path : path
        Replaced as a whole each time.
    every : float
        Seconds from one time to the next.
    extra : dict
        What the caller wants back when the run is resumed.
    """

    def __init__(self, path: str | os.PathLike[str], every: float, extra: dict[str, Any]) -> None:
        self.path, self.every, self.extra = path, every, extra
        self._last = -np.inf

    def __call__(self, run: FileRun) -> None:
        """To be called between groups."""
        now = time.monotonic()
        if now - self._last >= self.every:
            save_checkpoint(run, self.path, self.extra)
            self._last = time.monotonic()


def save_checkpoint(run: FileRun, path: str | os.PathLike[str], extra: dict[str, Any]) -> None:
    """Write everything but the data to one file."""
    gone = [source.name for source in run.reader.sources if source.live or isinstance(source, Spooled)]
    if gone:
        raise DataError(f"{gone[0]} cannot be read again, so a run on it cannot be resumed: save it to a file first")
    tensors: Tensors = {}
    header = {
        "data": [os.path.abspath(source.name) for source in run.reader.sources],
        "stamps": [source.stamp for source in run.reader.sources],
        "format": run.reader.format,
        "encoder": run.reader.encoder.to_json(),
        "skip_bad": run.reader.skip_bad,
        "wishes": asdict(run.reader.wishes),
        "limits": asdict(run.reader.limits),
        "params": run.params.to_json(tensors),
        "block": run.block,
        "classes": run.classes.values.tolist(),
        "features": run.features,
        "rows": run.rows,
        "history": asdict(run.stopping.history),
        "progress": asdict(run.progress),
        "before": [run.before.mistakes, run.before.updates],
        "weight_before": run.before.weight,
        **run.stopping.to_json(),
        "state": linear_to(run.state, "state.", tensors),
        "places": sorted(run.places),
        "choice": run.choice,
        "probabilities": None if run.calibrator is None else run.calibrator.to_json(),
        "extra": extra,
    }
    if run.order is not None:
        tensors["order"] = run.order
    if run.scale is not None:
        tensors["scale"] = run.scale
    if run.class_weights is not None:
        tensors["class_weights"] = run.class_weights
    if run.products is not None:
        run.products.to_tensors("products.", tensors)
    for k, places in run.places.items():
        tensors[f"places.{k}"] = places
    write_container(path, "checkpoint", header, tensors)


def load_checkpoint(path: str | os.PathLike[str], *, jobs: int = 2) -> tuple[FileRun, dict[str, Any]]:
    """The run that a checkpoint holds, and what the caller had put beside it."""
    header, tensors = read_container(path, "checkpoint")
    try:
        check_header(header)
        reader = open_dataset(
            header["data"],
            format=header["format"],
            encoder=encoder_from(header["encoder"]),
            skip_bad=header["skip_bad"],
            jobs=jobs,
            **header.get("wishes", {}),
            limits=Limits(**header.get("limits", {})),
        )
        if [source.stamp for source in reader.sources] != header["stamps"]:
            raise DataError(
                f"{path}: the data has changed since the checkpoint was written, so the run cannot be resumed"
            )
        params, block = params_from_json(header["params"], tensors), count_of(header["block"])
        stopping = StoppingCriterion.of(params)
        stopping.restore(header, History(**header["history"]))
        rows = 1 if params.is_regression else weight_rows(len(header["classes"]))
        state = linear_from(header["state"], "state.", tensors, count_of(header["state"]["features"]), rows)
        run = FileRun(
            reader,
            params,
            (Measures if params.is_regression else Classes)(np.array(header["classes"])),
            state,
            stopping,
            block,
            header["features"],
            Progress(**header["progress"]),
            tensors.get("order") if header["progress"]["place"] else None,
            Counters(header["before"][0], header["before"][1], header["weight_before"]),
            header["rows"],
            {k: tensors[f"places.{k}"] for k in header["places"]},
            tensors.get("scale"),
            header["choice"],
            Products.from_tensors("products.", tensors, MOST_FEATURES) if "products.columns" in tensors else None,
        )
        if "class_weights" in tensors:
            run.class_weights = _class_weights_from(tensors["class_weights"], run)
            run.params = with_class_weights(run.params, run.classes.values, run.class_weights)
        if header.get("probabilities") is not None:
            run.calibrator = Calibrator.from_json(header["probabilities"], len(run.classes))
        check_run(run)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, MemoryError) as error:
        if isinstance(error, DataError):
            raise
        why = (str(error).splitlines() or ["it cannot be read"])[0][:200]
        raise ModelError(f"{os.fspath(path)} is not a sound checkpoint: {why}") from None
    return run, header["extra"]


def _class_weights_from(weights: NDArray[Any], run: FileRun) -> NDArray[np.float64]:
    """The weights of the classes."""
    check_types([weights], ["<f8"])
    check_shapes(weights.shape == (len(run.classes),))
    check_finite(weights)
    if not (weights > 0).all():
        raise ModelError("the weight of a class is not above 0")
    return weights
