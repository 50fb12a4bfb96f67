"""Pictures that verbs draw: which kinds there are, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

KINDS = ("png", "svg", "pdf", "jpg", "jpeg", "webp", "tif", "tiff", "eps", "ps")


def check_picture(path: str | None, *, also: tuple[str, ...] = ()) -> None:
    """Raise unless a picture can have this ending, and can be drawn; before anything is read."""
    from importlib.util import find_spec

    from rosenblatt.errors import MissingExtraError, ParameterError

    if path is None:
        return
    if path != "-" and Path(path).suffix.lower().removeprefix(".") not in (*KINDS, *also):
        raise ParameterError(f"--plot {path}: its name must end in .{', .'.join((*also, *KINDS))}")
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")


def save_picture(figure: Any, path: str) -> None:
    """Write a figure in the kind that its ending names."""
    from rosenblatt.io.atomic import writing

    with writing(path) as file:
        figure.savefig(file, format=Path(path).suffix.lower().removeprefix(".") or "png")
