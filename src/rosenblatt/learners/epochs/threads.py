"""Threads that can be interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ParameterError

Result = TypeVar("Result")
Other = TypeVar("Other")


def run_threads(tasks: Sequence[Callable[[NDArray[np.uint8]], Result]], n_jobs: int | None) -> list[Result]:
    """The results of all tasks, in their order, whatever the number of threads.

    Each task is given a flag that is set when another one failed or the user pressed Ctrl-C.
    """
    cancel = np.zeros(1, np.uint8)
    threads = min(count_threads(n_jobs), len(tasks))
    if threads == 1:
        return [task(cancel) for task in tasks]
    with ThreadPoolExecutor(threads) as pool:
        futures: list[Future[Result]] = []
        try:  # Ctrl-C may come before the last one is begun
            for task in tasks:
                futures.append(pool.submit(task, cancel))
            return [future.result() for future in futures]
        except BaseException:
            cancel[0] = 1
            for future in futures:
                future.cancel()
            raise


def run_both(first: Callable[[], Result], second: Callable[[], Other]) -> tuple[Result, Other]:
    """What both return; the second runs in a thread of its own."""
    answer: Future[Other] = Future()

    def work() -> None:
        try:
            answer.set_result(second())
        except BaseException as error:  # raised where it is asked for
            answer.set_exception(error)

    thread = Thread(target=work)
    thread.start()
    try:
        result = first()
    finally:
        thread.join()
    return result, answer.result()


def count_threads(n_jobs: int | None) -> int:
    """None is 1; negative numbers count back from the number of CPUs, as in scikit-learn."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}: must be a number of threads, -1 for all CPUs, or None")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
