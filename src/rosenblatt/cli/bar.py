"""What the command shows while it works: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
import time
from typing import Any


class Bar:
    """Rows and megabytes a second, mistakes and the time left."""

    def __init__(self, *, epochs: int, size: int, visible: bool) -> None:
        self._progress: Any = None
        self._epochs, self._size = epochs, size
        self._rows, self._mistakes, self._started = 0, 0, time.perf_counter()
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
        rows = sum(run.rows for _ in run.history.mistakes) + at.rows
        speed = f"{rows / seconds:,.0f} rows/s"
        if at.epoch == 0 and at.bytes:
            speed += f", {at.bytes / seconds / 1e6:,.0f} MB/s"
        share = at.rows / run.rows if run.rows else min(at.bytes / self._size, 1.0) if self._size else 0.0
        self._progress.update(
            self._task,
            description=f"epoch {at.epoch + 1} of at most {self._epochs}",
            total=self._epochs,
            completed=at.epoch + share,
            speed=speed,
            mistakes=f"{at.mistakes / max(at.rows, 1):.2%} mistakes",
        )
