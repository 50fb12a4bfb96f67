"""The arrays of a state, declared: a rule and a keep each say which they need.

Invariant: beginning, copying, growing, saving and handing to the engine are each one loop over the declaration.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Array:
    """One array: its name, its shape and what a place begins with."""

    name: str
    # (K, features), (K,), (features,) or (1,), where K is the number of weight rows.
    shape: Literal["weights", "classes", "features", "one"]
    begin: float = 0.0  # also of features and classes that come later
    copy_of: str = ""  # it begins as a copy of that array instead
    as_rows: bool = False  # does it have the precision of the rows? Else it is float64
    inherits: bool = False  # a class that is made of another one has that one's values, unmixed

    def new(self, arrays: Arrays) -> NDArray[Any]:
        """This array for weights that are about to learn."""
        if self.copy_of:
            return arrays[self.copy_of].copy()
        K, features = arrays["weights"].shape
        sizes = {"weights": (K, features), "classes": (K,), "features": (features,), "one": (1,)}
        dtype = arrays["weights"].dtype if self.as_rows else np.float64
        return np.full(sizes[self.shape], self.begin, dtype)

    def with_features(self, values: NDArray[Any], features: int) -> NDArray[Any]:
        """The values for more features, or for fewer: the rest is cut off."""
        if self.shape not in ("weights", "features"):
            return values.copy()
        begin = 0.0 if self.copy_of else self.begin
        wider = np.full((*values.shape[:-1], features), begin, values.dtype, order="F")
        shared = min(features, values.shape[-1])
        wider[..., :shared] = values[..., :shared]
        return wider

    def with_classes(self, values: NDArray[Any], mix: NDArray[np.float64]) -> NDArray[Any]:
        """The values for other weight rows, ``mix @ values``."""
        if self.shape not in ("weights", "classes"):
            return values.copy()
        made = np.zeros((len(mix), *values.shape[1:]), values.dtype)
        if self.inherits:
            made += np.asarray(self.begin, values.dtype)
        for new, old in zip(*np.nonzero(mix), strict=True):
            made[new] = values[old] if self.inherits else made[new] + mix[new, old] * values[old]
        return made


EVERY: tuple[Array, ...] = (
    Array("weights", "weights", as_rows=True),
    Array("intercept", "classes"),
    Array("mistake_weight", "one"),  # the sample weights of all mistakes
)
OF_SECOND_ORDER = (
    Array("variances", "weights", begin=1.0, as_rows=True, inherits=True),
    Array("intercept_variances", "classes", begin=1.0, inherits=True),
)


def matrices(declared: Iterable[Array]) -> list[Array]:
    """Those with a value per feature and class."""
    return [array for array in declared if array.shape == "weights"]
