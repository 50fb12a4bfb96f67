"""What the command shows while it works: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Self

from rosenblatt.learners.epochs.bar import Bar


def waiting(what: str, *, visible: bool) -> contextlib.AbstractContextManager[Any]:
    """Say what is going on until it is done, where there is nothing to count."""
    if not (visible and sys.stderr.isatty()):
        return contextlib.nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


class FileBar(Bar):
    """Rows and megabytes a second, mistakes and the time left."""

    def __init__(self, run: Any, *, visible: bool) -> None:
        super().__init__(
            "{task.fields[speed]}", "{task.fields[mistakes]}", "left", visible=visible and sys.stderr.isatty()
        )
        self._epochs, self._size = run.params.max_iter, run.reader.size
        self._started, self._before = time.perf_counter(), _rows(run)  # a resumed run has learned some already

    def __enter__(self) -> Self:
        self.begin("epoch 1", None, speed="", mistakes="")
        return self

    def __call__(self, run: Any) -> None:
        """Show how far a run over files has come."""
        if not self.visible:
            return
        at = run.progress
        seconds = max(time.perf_counter() - self._started, 1e-9)
        speed = f"{(_rows(run) - self._before) / seconds:,.0f} rows/s"
        if at.epoch == 0 and at.bytes:
            speed += f", {at.bytes / seconds / 1e6:,.0f} MB/s"
        share = at.rows / run.rows if run.rows else min(at.bytes / self._size, 1.0) if self._size else 0.0
        # Between two epochs the mistakes of the last one stay.
        mistakes = {"mistakes": f"{at.mistakes / at.rows:.2%} mistakes"} if at.rows else {}
        self.show(
            description=f"epoch {min(at.epoch + 1, self._epochs)}/{self._epochs}",
            total=self._epochs,
            completed=at.epoch + share,
            speed=speed,
            **mistakes,
        )


class ShardBar(Bar):
    """Shards that are through, and mistakes; nothing in a pipe."""

    def __init__(self, *, visible: bool) -> None:
        columns = ("count", "passes over shards", "{task.fields[mistakes]}", "left")
        super().__init__(*columns, visible=visible and sys.stderr.isatty())

    def on_run(self, run: Any) -> None:
        """When a run begins, and after every epoch."""
        epochs, passes, history = int(run.params.max_iter), run.parts * len(run.sizes), run.stopping.history
        if not self.begun:
            self.begin("epoch 1", epochs * passes, mistakes="")
        mistakes = f"{history.mistakes[-1] / sum(run.sizes):.2%} mistakes" if len(history) else ""
        epoch = f"epoch {min(len(history) + 1, epochs)}/{epochs}"
        self.show(description=epoch, completed=len(history) * passes, mistakes=mistakes)

    def on_shard(self) -> None:
        self.show(advance=1)


def _rows(run: Any) -> int:
    """Learned so far, over all epochs."""
    rows: int = len(run.stopping.history) * run.rows + run.progress.rows
    return rows
