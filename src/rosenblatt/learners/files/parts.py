"""Parts of a run over files: how far it has come, what it learns next, and how large it may become."""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.data.blocks import Group
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError
from rosenblatt.learners.targets import Targets

MOST_WEIGHTS = 1 << 30  # values of all classes together: 8 GB


@dataclass
class Progress:
    """How far a run has come."""

    epoch: int = 0  # from 0
    place: int = 0  # windows or blocks of this epoch that are learned
    rows: int = 0  # of this epoch
    weight: float = 0.0  # the sample weights of these rows
    mistakes: int = 0  # of this epoch
    bytes: int = 0  # of this epoch, only while the data is being read


@dataclass(frozen=True)
class Ready:
    """A group, ready to be learned."""

    table: Table
    targets: Targets
    group: Group


def check_room(rows: int, features: int) -> None:
    """Raise if weights of so many rows and features are too many."""
    if rows * features > MOST_WEIGHTS:
        raise DataError(
            f"{features:,} features and {rows} weight rows would need {rows * features * 8 / 2**30:.0f} GB of weights: "
            "are the feature numbers right? Hashed features need fewer bits"
        )
