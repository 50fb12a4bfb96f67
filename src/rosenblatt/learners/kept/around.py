"""What lies around a learner in a file: the one that calibrates it, or what is done to the columns before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.models.container import Tensors
from rosenblatt.models.kept import Kept
from rosenblatt.models.predictors import Products

INSIDE = "inside."
Scaled = tuple[str, NDArray[np.float64], NDArray[np.float64]]  # its kind; what is taken off, and what it is divided by


def around(header: dict[str, Any], tensors: Tensors, within: Kept) -> Kept:
    """A learner within another one."""
    own = {f"{INSIDE}{name}": tensor for name, tensor in within.tensors.items()}
    return Kept({**header, "inside": within.header}, tensors | own)


def inside(kept: Kept) -> Kept:
    """The learner within."""
    own = {name.removeprefix(INSIDE): found for name, found in kept.tensors.items() if name.startswith(INSIDE)}
    return Kept(kept.header["inside"], own)


def prepared(
    header: dict[str, Any], tensors: Tensors, within: Kept, scaled: Scaled | None, products: Products | None
) -> Kept:
    """A learner of scaled columns, or of products."""
    header = {**header, "scaling": None if scaled is None else scaled[0]}
    if scaled is not None:
        tensors = tensors | {"scaling.center": scaled[1], "scaling.scale": scaled[2]}
    if products is not None:
        products.to_tensors("products.", tensors)
    return around(header, tensors, within)
