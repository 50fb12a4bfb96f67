"""What a model file holds beside the answer, so that learning can go on: plain values and tensors.

Invariant: nothing here knows what they mean. Learners write them and read them, and check all of them when they do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ModelError
from rosenblatt.models.container import Tensors

PREFIX = "kept."


@dataclass(frozen=True)
class SavedState:
    """A learning state as a file holds it."""

    header: dict[str, Any]
    tensors: Tensors = field(default_factory=dict)

    def to_file(self, tensors: Tensors) -> dict[str, Any]:
        """The header for a file; its tensors go beside those of the answer, unless one of these has the same bytes."""
        known = sorted(tensors.items())
        same = {}
        for name, tensor in sorted(self.tensors.items()):
            twin = next((other for other, held in known if _same_bytes(held, tensor)), None)
            if twin is None:
                tensors[f"{PREFIX}{name}"] = tensor
            else:
                same[name] = twin
        return {"state": self.header, "same": same}

    @classmethod
    def from_file(cls, header: dict[str, Any], tensors: Tensors) -> SavedState:
        """What `to_file` wrote."""
        own = {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items() if name.startswith(PREFIX)}
        shared = {name: tensors[twin] for name, twin in header["same"].items()}
        if not isinstance(header["state"], dict):
            raise ModelError("its learning state cannot be read")
        return cls(header["state"], own | shared)


MakeSavedState = Callable[[], SavedState | None]


def _same_bytes(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(np.array_equal(_bytes(one), _bytes(other)))


def _bytes(tensor: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(tensor).reshape(-1).view(np.uint8)
