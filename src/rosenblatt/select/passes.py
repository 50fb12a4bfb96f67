"""Several learners over the same rows, epoch by epoch: each row is read once for all of them.

Invariant: a learner beside others gives the same bits as alone, with any number of threads. This module works without
scikit-learn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.learners.fit import FitTask, count_threads, run_threads

VALUES_A_THREAD = 1_000_000  # below this, starting a thread costs more than it saves


class SharedRun:
    """A task that is learned beside others, an epoch at a time; `on_epoch` gets its state after each."""

    def __init__(self, task: FitTask, on_epoch: Callable[[Any], None] = lambda state: None) -> None:
        self.task, self.state, self.on_epoch = task, task.state, on_epoch
        task.begin()
        self.one = self.state.begin_pass(task.table, task.targets, task.rule, ratchet=True)

    @property
    def is_over(self) -> bool:
        return self.task.stopping.stop_reason is not None

    @property
    def order_key(self) -> Hashable:
        """Runs of equal keys draw the same order of the rows next."""
        task = self.task
        return id(task.rows), task.count, task.shuffle, task.shuffle and self.state.generator.tobytes()


def run_epoch(runs: Sequence[SharedRun], n_jobs: int | None) -> None:
    """An epoch of each run; runs that draw the same order share the reading of the rows."""
    groups: dict[Hashable, list[SharedRun]] = {}
    for run in runs:
        groups.setdefault(run.order_key, []).append(run)
    for group in groups.values():
        order = group[0].task.draw_order()
        for run in group:
            run.one.set_order(order)
            run.state.generator[:] = group[0].state.generator
        threads = min(len(group), threads_for(len(group) * group[0].task.table.stored, n_jobs))
        run_threads([partial(_run_part, group[at::threads]) for at in range(threads)], threads)


def threads_for(values: int, n_jobs: int | None) -> int:
    """The threads that pay for reading so many values."""
    return max(1, min(count_threads(n_jobs), values // VALUES_A_THREAD))


def _run_part(runs: list[SharedRun], cancel: NDArray[np.uint8]) -> None:
    started = time.perf_counter()
    engine.run_passes([run.one for run in runs], cancel)
    seconds = time.perf_counter() - started
    for run in runs if not cancel[0] else ():
        run.state.end_pass(run.one, run.task.table)
        run.task.end_epoch(seconds)
        run.on_epoch(run.state)
