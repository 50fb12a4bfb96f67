"""Arrays that are used again and again: fresh memory would cost more than what is put into it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Room:
    """Arrays by name, each as large as it was ever asked for."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, size: int, dtype: Any) -> NDArray[Any]:
        """An array of so many values, not cleared; what was taken by this name before is overwritten."""
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.empty(size + size // 4, dtype)
        return self._arrays[name][:size]
