"""Files as tests write them, and models as their files give them back."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rosenblatt import load, save
from rosenblatt.models.container import read_container, write_container


def put(path: Path, content: str | bytes) -> Path:
    """Write a file, in a folder that may be new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def reloaded(model: Any, change: Callable[[Any], object] | None = None) -> Any:
    """The model that its file gives; with `change`, of a content that was altered under a right checksum."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        save(model, path)
        if change is not None:
            content = read_container(path, "model")
            change(content)
            write_container(path, "model", content)
        return load(path)
