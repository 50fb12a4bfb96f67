"""Two threads that meet where we say: at a line of the library, another thread makes a call of its own.

Threads meet by chance, which tests nothing. Here a call is stopped before one of its lines, or before many of them,
until a call in another thread has come back, or has shown that it waits for the first.
"""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

PATIENCE = 0.05  # seconds; a call that takes longer is waiting for the one that was stopped


def run_all(*jobs: Callable[[], Any]) -> None:
    """Run each job in a thread of its own, all from the same moment on; raise what one of them raises."""
    barrier = threading.Barrier(len(jobs))
    with ThreadPoolExecutor(len(jobs)) as pool:
        for each in [pool.submit(lambda job=job: (barrier.wait(), job())) for job in jobs]:
            each.result()


def interleave(
    work: Callable[[], Any], other: Callable[[], Any], at: int | None = None, *, every: int = 5
) -> tuple[Any, list[Any], int]:
    """Do `work` in this thread, and `other` in another one before line `at` of the library, or before `every` so many.

    Returns what `work` returned, what each `other` returned or raised, and the number of lines.
    """
    found: list[Any] = []
    waiting: list[threading.Thread] = []
    lines = 0

    def meet() -> None:
        def run() -> None:
            try:
                found.append(other())
            except Exception as error:
                found.append(error)

        waiting[:] = [thread for thread in waiting if thread.is_alive()]
        if waiting:
            return
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(PATIENCE)
        waiting.append(thread)

    def follow(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        if "rosenblatt" not in frame.f_code.co_filename:
            return None
        if event == "line":
            if at == lines or (at is None and lines % every == 0):
                meet()
            lines += 1
        return follow

    before = sys.gettrace()
    sys.settrace(follow)
    try:
        result = work()
    finally:
        sys.settrace(before)
        for thread in waiting:
            thread.join()
    return result, found, lines
