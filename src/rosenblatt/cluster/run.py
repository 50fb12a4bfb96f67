"""Training over shards: learn in all of them, average up a tree, and let the stopping criterion decide.

Invariant: the state after every average depends on the shards, the params and the mixing alone: not on the number of
workers, on workers that were lost, or on whether the run was stopped and resumed. The client fetches the state from
time to time, and repeats from there the work that is lost with workers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.cluster import shard
from rosenblatt.cluster.averaging import NO_ROWS, GlobalState, add_stats, add_updates, average, broadcast, stats_of
from rosenblatt.cluster.executor import Executor, Retries, WorkerLost
from rosenblatt.errors import ClusterError, DataError, ModelError, ParameterError
from rosenblatt.learners.stopping import Epoch, StoppingCriterion
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.container import check_shapes, read_container, write_container
from rosenblatt.models.predictors import Products
from rosenblatt.params import LinearParams

SAFE_SECONDS = 20.0  # of work that may have to be repeated
SAFE_EPOCHS = 16  # that the scheduler remembers to compute a state again
KIND = "cluster checkpoint"


@dataclass
class ClusterRun:
    """Training from the first pass to the stop; all of it but the rows can be saved."""

    executor: Executor
    shards: Sequence[Any]  # futures
    params: LinearParams
    mixing: str
    mixes: int  # averages per epoch
    sizes: Sequence[int]  # rows of each shard
    seed: int
    current: GlobalState
    products: Products | None = None
    mixes_done: int = 0  # of this epoch
    stats: Epoch = NO_ROWS  # of this epoch
    retries: int = 0  # how often work was repeated
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        self.stopping = StoppingCriterion.of(self.params)

    @property
    def momentum(self) -> float:
        """The share of the last step in the next one; 0 for a rule with variances."""
        second_order = self.params.update_rule.second_order
        return 1.0 - 1.0 / len(self.sizes) if self.mixing == "momentum" and not second_order else 0.0

    def run(self, *, on_epoch: Callable[[ClusterRun], None] = lambda run: None) -> None:
        """Continue until the stopping criterion holds; call `on_epoch` after each epoch."""
        executor, checkpoint, state, snapshot = self.executor, self.checkpoint, None, self._snapshot()
        retries, sent, epochs = Retries(executor.worker_timeout), 0.0, 0
        while self.stopping.stop_reason is None:
            try:
                if state is None:
                    state, sent, epochs = executor.scatter(self.current), time.monotonic(), 0
                state = self._advance(state, self.mixes if checkpoint is None else self.mixes_done + 1, on_epoch)
                epochs += self.mixes_done == 0
                is_old = epochs >= SAFE_EPOCHS or time.monotonic() - sent > SAFE_SECONDS
                is_due = checkpoint is not None and checkpoint.is_due
                if is_old or is_due or self.stopping.stop_reason is not None:
                    self.current = executor.results([state])[0]
                    snapshot, state = self._snapshot(), None if is_old else state
                if checkpoint is not None and is_due:
                    checkpoint.save(self)
                retries.succeeded()
            except WorkerLost as error:
                if executor.is_unrecoverable(self.shards):
                    raise ClusterError(
                        "a lost worker was the only one with some of the rows, and they cannot be computed again: pass "
                        "files, or collections that Dask can compute, instead of scattered data"
                    ) from None
                retries.failed(error)
                state, self.retries = None, self.retries + 1
                vars(self).update(snapshot, stopping=deepcopy(snapshot["stopping"]))

    def _snapshot(self) -> dict[str, Any]:
        names = ("current", "mixes_done", "stats")
        return {name: getattr(self, name) for name in names} | {"stopping": deepcopy(self.stopping)}

    def _advance(self, state: Any, end: int, on_epoch: Callable[[ClusterRun], None]) -> Any:
        """Average up to the `end`-th time of this epoch; no task waits for the client in between."""
        started, waiting = time.perf_counter(), []
        for part in range(self.mixes_done, end):
            state = self._average(state, part)
            waiting.append(self.executor.submit(stats_of, state))
        for stats in waiting:
            self.stats = add_stats(self.stats, self.executor.results([stats])[0])
            self.mixes_done += 1
        self.stats = self.stats._replace(seconds=self.stats.seconds + time.perf_counter() - started)
        if self.mixes_done == self.mixes:
            self.stopping.update(self.stats, lambda: self._separates(state))
            self.mixes_done, self.stats = 0, NO_ROWS
            on_epoch(self)
        return state

    def _average(self, state: Any, part: int) -> Any:
        submit = self.executor.submit
        first = shard.STREAM + (len(self.stopping.history) << 32)  # of the random streams of this epoch
        tasks = [
            shard.ShardTask(self.params, self.products, self.seed, first + k, part, self.mixes)
            for k in range(len(self.shards))
        ]
        if len(tasks) == 1:
            return submit(shard.learn_alone, self.shards[0], state, tasks[0])
        start = submit(broadcast, state)
        updates = [submit(shard.learn_shard, rows, start, task) for rows, task in zip(self.shards, tasks, strict=True)]
        return submit(average, state, self.executor.reduce(add_updates, updates), self.momentum)

    def _separates(self, state: Any) -> bool:
        """True if the weights at the end of the epoch get every row right."""
        counts = [self.executor.submit(shard.count_mistakes, rows, state, self.products) for rows in self.shards]
        return not any(self.executor.results(counts))

    def settings(self) -> dict[str, Any]:
        """The settings that must be the same for a run to be resumed; the stopping criterion may change."""
        stopping = ("max_iter", "tol", "n_iter_no_change")
        params = {name: value for name, value in self.params.to_json().items() if name not in stopping}
        return params | {"shards": len(self.sizes), "mixing": self.mixing, "mixes": self.mixes}


class Checkpoint:
    """Saves a run to a file, at most once per `every` seconds.

    The rows are not in the file: they must be the same when the run is resumed, which their checksums prove.
    """

    def __init__(self, path: str | os.PathLike[str], every: float, checksums: list[int]) -> None:
        self.path, self.every, self.checksums = path, every, checksums
        self._last = -np.inf

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._last >= self.every

    def save(self, run: ClusterRun) -> None:
        """Replace the file as a whole."""
        header = {
            "checksums": self.checksums,
            "settings": run.settings(),
            "seed": run.seed,
            "state": run.current.state.to_tree(),
            "steps": run.current.steps,
            "stopping": run.stopping.to_json(),
            "mixes_done": run.mixes_done,
            "stats": list(run.stats),
            "retries": run.retries,
        }
        write_container(self.path, KIND, header)
        self._last = time.monotonic()

    def restore(self, run: ClusterRun) -> None:
        """Let a run that has just begun continue from the file."""
        header = read_container(self.path, KIND)
        name = os.fspath(self.path)
        try:
            if header["checksums"] != self.checksums:
                raise DataError(f"{name}: the data has changed since the checkpoint was written, so it cannot continue")
            for key, value in run.settings().items():
                if header["settings"][key] != value:
                    raise ParameterError(f"{name} was written with {key}={header['settings'][key]!r}, not {value!r}")
            K, features = run.current.state.weights.shape
            state, steps = WeightState.from_tree(header["state"], features, K, run.params), header["steps"]
            for each in steps or {}:
                check_shapes(steps[each].shape == state.arrays[each].shape)
            run.current = GlobalState(state, steps)
            run.stopping.restore(header["stopping"])
            run.seed, run.mixes_done, run.retries = int(header["seed"]), int(header["mixes_done"]), header["retries"]
            run.stats = Epoch(*header["stats"])
            run.stopping.set_epochs(run.stopping.max_iter, within=run.mixes_done > 0)  # there may be more of them now
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, (DataError, ParameterError, ModelError)):
                raise
            raise ModelError(f"{name} is not a valid checkpoint: {error}") from None
