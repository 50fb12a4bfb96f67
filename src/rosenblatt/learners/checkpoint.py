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
import scipy.sparse as sp
from numpy.typing import NDArray

from rosenblatt.data.batches import Classes
from rosenblatt.data.readers import scan
from rosenblatt.data.sources import Spooled
from rosenblatt.errors import DataError, ModelError
from rosenblatt.learners.files import FileRun, Options, Progress
from rosenblatt.learners.history import History
from rosenblatt.learners.penalty import Penalty
from rosenblatt.learners.state import State
from rosenblatt.models.container import Tensors, read_container, write_container
from rosenblatt.models.file import MOST_FEATURES, encoder_from
from rosenblatt.models.linear import Linear
from rosenblatt.models.parts import products_from, products_to
from rosenblatt.models.voted import Updates

_ARRAYS = (
    "intercept",
    "counters",
    "generator",
    "mistake_weight",
    "intercept_sums",
    "pocket_intercept",
    "pocket_mistakes",
    "intercept_variances",
    "as_of",
)
_BEGUN = {"variances": 1.0}  # what a column of a matrix begins with, where it is not 0
_UPDATES = ("which", "steps", "gains", "loses", "survived")


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
    if any(source.live or isinstance(source, Spooled) for source in run.reader.sources):
        raise DataError(
            "standard input cannot be read again, so a run on it cannot be resumed: save it to a file first"
        )
    tensors: Tensors = {}
    header = {
        "data": [os.path.abspath(source.name) for source in run.reader.sources],
        "stamps": [source.stamp for source in run.reader.sources],
        "format": run.reader.format,
        "encoder": run.reader.encoder.to_json(),
        "skip_bad": run.reader.skip_bad,
        "options": asdict(run.options),
        "classes": run.classes.values.tolist(),
        "features": run.features,
        "rows": run.rows,
        "history": asdict(run.history),
        "progress": asdict(run.progress),
        "before": list(run.before),
        "weight_before": run.weight_before,
        "best": None if np.isinf(run.best) else run.best,
        "waited": run.waited,
        "stop_reason": run.stop_reason,
        "state": _state_to(run.state, tensors),
        "places": sorted(run.places),
        "choice": run.choice,
        "extra": extra,
    }
    if run.order is not None:
        tensors["order"] = run.order
    if run.scale is not None:
        tensors["scale"] = run.scale
    if run.products is not None:
        products_to(run.products, "products.", tensors)
    for k, places in run.places.items():
        tensors[f"places.{k}"] = places
    write_container(path, "checkpoint", header, tensors)


def load_checkpoint(path: str | os.PathLike[str], *, jobs: int = 2) -> tuple[FileRun, dict[str, Any]]:
    """The run that a checkpoint holds, and what the caller had put beside it."""
    header, tensors = read_container(path, "checkpoint")
    try:
        reader = scan(
            header["data"],
            format=header["format"],
            encoder=encoder_from(header["encoder"]),
            skip_bad=header["skip_bad"],
            jobs=jobs,
        )
        if [source.stamp for source in reader.sources] != header["stamps"]:
            raise DataError(
                f"{path}: the data has changed since the checkpoint was written, so the run cannot be resumed"
            )
        run = FileRun(
            reader,
            Options(**header["options"]),
            Classes(np.array(header["classes"])),
            _state_from(header["state"], tensors),
            header["features"],
            History(**header["history"]),
            Progress(**header["progress"]),
            tensors.get("order"),
            (header["before"][0], header["before"][1]),
            header["weight_before"],
            -np.inf if header["best"] is None else header["best"],
            header["waited"],
            header["rows"],
            {k: tensors[f"places.{k}"] for k in header["places"]},
            header["stop_reason"],
            tensors.get("scale"),
            header["choice"],
            products_from("products.", tensors, MOST_FEATURES) if "products.columns" in tensors else None,
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, DataError):
            raise
        raise ModelError(f"{os.fspath(path)} is not a sound checkpoint: {error}") from None
    return run, header["extra"]


def _state_to(state: State, tensors: Tensors) -> dict[str, Any]:
    """The arrays of a state; only columns that are not to the bit what a new feature begins with."""
    matrices = {"weights": state.weights, "sums": state.sums, "pocket": state.pocket, "variances": state.variances}
    if state.start is not None:
        matrices["start"] = state.start.weights
        tensors["start_intercept"] = state.start.intercept
    for name, matrix in matrices.items():
        if matrix is not None:
            bits = f"i{matrix.itemsize}"
            begun = np.array(_BEGUN.get(name, 0.0), matrix.dtype).view(bits)
            columns = np.flatnonzero((np.ascontiguousarray(matrix).view(bits) != begun).any(axis=0))
            tensors[f"{name}.columns"] = columns
            tensors[name] = np.ascontiguousarray(matrix[:, columns])
    for name in _ARRAYS:
        if getattr(state, name) is not None:
            tensors[name] = getattr(state, name)
    if state.log is not None:
        for name in _UPDATES:
            tensors[f"log.{name}"] = getattr(state.log, name)
    if state.support is not None:
        for name in ("data", "indices", "indptr"):
            tensors[f"support.{name}"] = getattr(state.support, name)
    return {
        "keep": state.keep,
        "fit_intercept": state.fit_intercept,
        "features": state.features,
        "penalty": None if state.penalty is None else asdict(state.penalty),
        "support": None if state.support is None else int(state.support.shape[0]),
    }


def _state_from(header: dict[str, Any], tensors: Tensors) -> State:
    features = header["features"]

    def matrix(name: str) -> NDArray[Any] | None:
        if name not in tensors:
            return None
        stored = tensors[name]
        full = np.full((stored.shape[0], features), _BEGUN.get(name, 0.0), stored.dtype, order="F")
        full[:, tensors[f"{name}.columns"]] = stored
        return full

    weights, start = matrix("weights"), matrix("start")
    assert weights is not None
    support = None
    if header["support"] is not None:
        arrays = tuple(tensors[f"support.{name}"] for name in ("data", "indices", "indptr"))
        support = sp.csr_array(arrays, shape=(header["support"], features))
    others: dict[str, Any] = {name: tensors[name] for name in _ARRAYS if name in tensors}
    return State(
        keep=header["keep"],
        fit_intercept=header["fit_intercept"],
        weights=weights,
        sums=matrix("sums"),
        pocket=matrix("pocket"),
        variances=matrix("variances"),
        start=None if start is None else Linear(start, tensors["start_intercept"]),
        support=support,
        log=Updates(*(tensors[f"log.{name}"] for name in _UPDATES)) if "log.which" in tensors else None,
        penalty=None if header["penalty"] is None else Penalty(**header["penalty"]),
        **others,
    )
