"""Pictures that verbs draw: which kinds there are, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

KINDS = ("png", "svg", "pdf", "jpg", "jpeg", "webp", "tif", "tiff", "eps", "ps")


def check_picture(path: str | None, *, also: tuple[str, ...] = ()) -> None:
    """Raise unless a picture can have this ending; before anything is read."""
    from rosenblatt.errors import ParameterError

    if path is None or Path(path).suffix.lower().removeprefix(".") in (*KINDS, *also) or path == "-":
        return
    raise ParameterError(f"--plot {path}: its name must end in .{', .'.join((*also, *KINDS))}")


def save_picture(figure: Any, path: str) -> None:
    """Write a figure in the kind that its ending names."""
    from rosenblatt.data.output import writing

    with writing(path) as file:
        figure.savefig(file, format=Path(path).suffix.lower().removeprefix(".") or "png")
