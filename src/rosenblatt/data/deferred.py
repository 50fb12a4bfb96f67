"""PyArrow, imported when it is first used: that takes a tenth of a second, and svmlight files never use it."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Deferred:
    """A module that is imported by the first look into it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)  # the next look costs nothing
        return found


pa: Any = Deferred("pyarrow")
pc: Any = Deferred("pyarrow.compute")
