"""Parts of a run over files: how far it has come, what it learns next, and how large it may become."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.data.batches import Batch
from rosenblatt.data.blocks import VALUES, Group
from rosenblatt.data.labels import Labels
from rosenblatt.data.numbers import Numbers
from rosenblatt.data.readers import Reader
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError
from rosenblatt.learners.targets import Targets, targets_of
from rosenblatt.recipe.family import PassiveAggressiveRegressionRecipe
from rosenblatt.recipe.recipe import Recipe

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


def asked_by(rows: Batch, classes: NDArray[Any], recipe: Recipe, class_weights: NDArray[np.float64] | None) -> Targets:
    """What the rows ask for, with their weights and those of their classes."""
    labels = Labels(classes, rows.codes)
    if isinstance(recipe, PassiveAggressiveRegressionRecipe):
        labels = Numbers.of(classes[rows.codes], recipe.epsilon)
    weights = rows.weights
    if class_weights is not None:
        given = class_weights[rows.codes]
        weights = given if weights is None else weights * given
    return targets_of(labels, sample_weight=weights, tie_positive=recipe.tie_positive)[0]


def fingerprint_of(reader: Reader, classes: NDArray[Any], block: int, *, shuffle: bool) -> str:
    """What stored blocks depend on: the data, how they are read, and how they are cut."""
    made_of = [
        [source.stamp for source in reader.sources],
        reader.encoder.to_json(),
        asdict(reader.wishes),
        classes.tolist(),
        [block, shuffle, VALUES, reader.skip_bad],
    ]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
