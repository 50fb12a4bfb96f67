"""A run over shards, saved so that it can be taken up again exactly, on the same cluster or another.

Invariant: a run that was stopped at any moment and resumed from its last checkpoint ends with the bytes of one that was
not. The rows are not in the checkpoint: they must be the same, which their checksums tell.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from rosenblatt.cluster.change import Packed, Tally
from rosenblatt.cluster.mixing import Mixed
from rosenblatt.cluster.run import ClusterRun, Traffic
from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.learners.stopping import History
from rosenblatt.models.container import Tensors, read_container, write_container

KIND = "cluster checkpoint"


class Keeper:
    """Saves a run to a file, now and then; the file is replaced as a whole each time."""

    def __init__(self, path: str | os.PathLike[str], every: float, about: dict[str, Any]) -> None:
        self._path, self._every, self._about = path, every, about
        self._last = -np.inf

    def __call__(self, run: ClusterRun, *, now: bool = False) -> None:
        """To be called when the client holds the state of the latest mix."""
        if now or time.monotonic() - self._last >= self._every:
            _save(run, self._path, self._about)
            self._last = time.monotonic()


def save_run(path: str | os.PathLike[str], every: float, about: dict[str, Any]) -> Callable[..., None]:
    """What saves a run, at most once in so many seconds."""
    return Keeper(path, every, about)


def _save(run: ClusterRun, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
    state = run.mixed.state
    tensors: Tensors = {f"state.{name}": values for name, values in state.arrays.items()}
    step = run.mixed.step
    if step is not None and run.mixed.intercept_step is not None:
        tensors |= {"step.weights": step.values["weights"], "step.intercept": run.mixed.intercept_step}
        if step.columns is not None:
            tensors["step.columns"] = step.columns
    tensors["generators"] = np.stack(run.generators)
    header = {
        "told": _told(run),
        "params": run.params.to_json(),
        "about": about,
        "history": asdict(run.stopping.history),
        "judge": run.stopping.to_json(),
        "place": run.place,
        "tallies": [asdict(tally) for tally in run.tallies],
        "seconds": run.seconds,
        "traffic": asdict(run.traffic),
        "losses": run.losses,
    }
    write_container(path, KIND, header, tensors)


def read_about(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What the caller had put beside a run, the params and the mixing: enough to open the data again."""
    header, _ = read_container(path, KIND)
    try:
        return {**header["about"], "told": header["told"], "params": header["params"]}
    except (KeyError, TypeError) as error:
        raise ModelError(f"{os.fspath(path)} is not a valid checkpoint: {error}") from None


def restore(run: ClusterRun, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
    """Let a run that has just begun go on where the checkpoint was written."""
    header, tensors = read_container(path, KIND)
    name = os.fspath(path)
    try:
        if header["about"]["checksums"] != about["checksums"]:
            raise DataError(f"{name}: the data has changed since the checkpoint was written, so it cannot be resumed")
        told = _told(run)
        for key, value in told.items():
            if header["told"][key] != value:
                raise ParameterError(f"{name} was written with {key}={header['told'][key]!r}, not {value!r}")
        state = run.mixed.state
        arrays = {n.removeprefix("state."): v for n, v in tensors.items() if n.startswith("state.")}
        if set(arrays) != set(state.arrays) or any(arrays[n].shape != v.shape for n, v in state.arrays.items()):
            raise ModelError(f"{name} is not a valid checkpoint: its arrays are not those of the state")
        state.arrays = {n: np.array(v, order="F") for n, v in arrays.items()}
        step = None
        if "step.weights" in tensors:
            step = Packed(state.features, tensors.get("step.columns"), {"weights": tensors["step.weights"]})
        run.mixed = Mixed(state, step, tensors.get("step.intercept"))
        run.generators = [np.array(each) for each in tensors["generators"]]
        run.stopping.restore(header["judge"], History(**header["history"]))
        run.place, run.seconds = int(header["place"]), float(header["seconds"])
        run.stopping.set_epochs(run.stopping.max_iter, within=run.place > 0)  # there may be more of them now
        run.tallies = [Tally(**each) for each in header["tallies"]]
        run.losses = int(header["losses"])
        run.traffic = Traffic(**header["traffic"])
    except (KeyError, TypeError, ValueError, IndexError) as error:
        if isinstance(error, (DataError, ParameterError, ModelError)):
            raise
        raise ModelError(f"{name} is not a valid checkpoint: {error}") from None


def _told(run: ClusterRun) -> dict[str, Any]:
    """What must be the same for a run to go on; more epochs, or another patience, are welcome."""
    stopping = ("max_iter", "tol", "n_iter_no_change")
    return {
        **{name: value for name, value in run.params.to_json().items() if name not in stopping},
        "shards": len(run.sizes),
        "mixing": run.mixer.mixing,
        "mixes": run.parts,
    }
