"""What a model file holds beside the answer, so that learning can go on: plain values and tensors.

Invariant: nothing here knows what they mean. Learners write them and read them, and check all of them when they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import ModelError
from rosenblatt.models.container import Tensors

PREFIX = "kept."


@dataclass(frozen=True)
class Kept:
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
    def from_file(cls, header: dict[str, Any], tensors: Tensors) -> Kept:
        """What `to_file` wrote."""
        own = {name.removeprefix(PREFIX): tensor for name, tensor in tensors.items() if name.startswith(PREFIX)}
        shared = {name: tensors[twin] for name, twin in header["same"].items()}
        if not isinstance(header["state"], dict):
            raise ModelError("its learning state cannot be read")
        return cls(header["state"], own | shared)


MakeKept = Callable[[], Kept | None]


def parameter_to(value: Any) -> Any:
    """A parameter as JSON holds it, exactly; it has no keys but texts, and no infinity."""
    if isinstance(value, dict):
        return {"pairs": [[parameter_to(key), parameter_to(weight)] for key, weight in value.items()]}
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(found, float) and not math.isfinite(found):
        return {"number": str(found)}
    return found


def parameter_from(value: Any) -> Any:
    """The parameter that `parameter_to` wrote."""
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return float(value["number"])
    return {parameter_from(key): parameter_from(weight) for key, weight in value["pairs"]}


def is_plain(value: Any, *, finite: bool = False) -> bool:
    """Can a file hold the parameter? Where it must be `finite`, an infinite number has no place."""
    if isinstance(value, dict):  # the weights of classes
        return all(is_plain(key, finite=finite) and is_plain(weight, finite=finite) for key, weight in value.items())
    found = value.item() if isinstance(value, np.generic) else value
    if isinstance(found, float) and finite:
        return math.isfinite(found)
    return found is None or isinstance(found, (bool, int, float, str))


def _same_bytes(one: NDArray[Any], other: NDArray[Any]) -> bool:
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(np.array_equal(_bytes(one), _bytes(other)))


def _bytes(tensor: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(tensor).reshape(-1).view(np.uint8)


def plain_values(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a file can hold, in the order of their names."""
    return {name: value for name, value in sorted(parameters.items()) if _is_told(name, value)}


def _is_told(name: str, value: Any) -> bool:
    """Does a file name the parameter? One that came later is named only where it is used: files stay as they were."""
    return is_plain(value, finite=True) and not (name == "hash_bits" and value is None)
