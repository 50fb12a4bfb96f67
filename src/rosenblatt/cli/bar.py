"""What the command shows while it works: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any


def waiting(what: str, *, visible: bool) -> contextlib.AbstractContextManager[Any]:
    """Say what is going on until it is done, where there is nothing to count."""
    if not (visible and sys.stderr.isatty()):
        return contextlib.nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


class Bar:
    """Rows and megabytes a second, mistakes and the time left."""

    def __init__(self, run: Any, *, visible: bool) -> None:
        self._progress: Any = None
        self._epochs, self._size = run.recipe.max_iter, run.reader.size
        self._started, self._before = time.perf_counter(), _rows(run)  # a resumed run has learned some already
        if not (visible and sys.stderr.isatty()):
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[speed]}"),
            TextColumn("{task.fields[mistakes]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("epoch 1", total=None, speed="", mistakes="")

    def __enter__(self) -> Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, run: Any) -> None:
        """Show how far a run over files has come."""
        if self._progress is None:
            return
        at = run.progress
        seconds = max(time.perf_counter() - self._started, 1e-9)
        speed = f"{(_rows(run) - self._before) / seconds:,.0f} rows/s"
        if at.epoch == 0 and at.bytes:
            speed += f", {at.bytes / seconds / 1e6:,.0f} MB/s"
        share = at.rows / run.rows if run.rows else min(at.bytes / self._size, 1.0) if self._size else 0.0
        # Between two epochs the mistakes of the last one stay.
        mistakes = {"mistakes": f"{at.mistakes / at.rows:.2%} mistakes"} if at.rows else {}
        self._progress.update(
            self._task,
            description=f"epoch {min(at.epoch + 1, self._epochs)}/{self._epochs}",
            total=self._epochs,
            completed=at.epoch + share,
            speed=speed,
            **mistakes,
        )


def _rows(run: Any) -> int:
    """Learned so far, over all epochs."""
    rows: int = len(run.judge.history) * run.rows + run.progress.rows
    return rows
