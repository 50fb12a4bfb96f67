"""What an answer can do: score rows, say what it is made of, and be written to a file."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.table import Table
from rosenblatt.models.container import Tensors


class Predictor(Protocol):
    """Weights, votes or support rows; scoring changes nothing."""

    kind: ClassVar[str]  # its name in a file

    @property
    def width(self) -> int:
        """How many scores a row gets."""

    @property
    def support_rows(self) -> int | None:
        """Rows of the training data that it holds; None for one that is only weights."""

    def scores(self, table: Table, index: NDArray[np.uint32] | None = None) -> NDArray[np.float64]:
        """Scores of shape (rows, width); of the rows named by `index` only, if it is given."""

    def to_tensors(self, prefix: str, tensors: Tensors) -> dict[str, Any]:
        """A header of plain values; its arrays go among the tensors."""

    @classmethod
    def from_tensors(cls, header: dict[str, Any], prefix: str, tensors: Tensors, features: int) -> Self:
        """The answer of a header and tensors, checked, so that the engine is never led outside of its arrays."""
