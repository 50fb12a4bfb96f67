"""A bar on the terminal, for long work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress

    from rosenblatt.learners.stopping import History


class Bar:
    """A bar with words beside it; one that is not visible shows nothing and costs nothing.

    Parameters
    ----------
    *columns : str
        What stands behind the bar: "count", "elapsed" or "left" (the time), or a text, in which ``{task.fields[name]}``
        is what `show` says under that name.
    visible : bool
        Is it shown?
    stays : bool, default=False
        Is it left on the terminal in the end?
    """

    def __init__(self, *columns: str, visible: bool, stays: bool = False) -> None:
        self.visible = visible
        self._progress: Progress | None = None
        self._columns, self._stays = columns, stays

    def begin(self, description: str, total: float | None, **fields: Any) -> None:
        """Show it."""
        if not self.visible:
            return
        from rich import progress
        from rich.console import Console

        known: dict[str, Any] = {
            "count": progress.MofNCompleteColumn,
            "elapsed": progress.TimeElapsedColumn,
            "left": progress.TimeRemainingColumn,
        }
        behind = [known[name]() if name in known else progress.TextColumn(name) for name in self._columns]
        self._progress = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            *behind,
            console=Console(stderr=True),
            transient=not self._stays,
        )
        self._task = self._progress.add_task(description, total=total, **fields)
        self._progress.start()

    def show(self, **what: Any) -> None:
        """Say how far it has come: `completed` or `advance`, `description`, and the fields."""
        if self._progress is not None:
            self._progress.update(self._task, **what)

    @property
    def begun(self) -> bool:
        return self._progress is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()


class EpochBar(Bar):
    """Epochs and mistakes of a fit."""

    def __init__(self, name: str, epochs: int, *, visible: bool) -> None:
        super().__init__("count", "epochs", "{task.fields[mistakes]}", "elapsed", visible=visible, stays=True)
        self._name, self._epochs = name, epochs

    def __enter__(self) -> Self:
        self.begin(self._name, self._epochs, mistakes="")
        return self

    def advance(self, history: History) -> None:
        """One more epoch, the last in the history."""
        if not self.visible:
            return
        text = f"{history.mistakes[-1]:,} mistakes"
        if history.validation_score:
            text += f", validation {history.validation_score[-1]:.4f}"
        self.show(advance=1, mistakes=text)
