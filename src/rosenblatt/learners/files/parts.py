"""Parts of a run over files: how far it has come, what it learns next, and how large it may become."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import engine
from rosenblatt.data.batch import Classes, RowBatch
from rosenblatt.data.labels import Labels, Numbers
from rosenblatt.data.row_store import UNLIMITED, VALUES, BlockStore, Group, iter_strips
from rosenblatt.data.table import Table
from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.targets import Targets, targets_of, weight_rows
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import KEEPS, Params, PassiveAggressiveRegressionParams

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


def store_strips(store: BlockStore, reader: Dataset, classes: Classes, block: int) -> Iterator[RowBatch]:
    """Store all rows as the strips of a shuffled epoch; they are handed on as they come."""
    length = engine.strips_of(UNLIMITED, block)[0]
    for strips in iter_strips(reader, classes, length):
        store.add_strips(strips, length)
        yield strips


def stored_places(group: Group, places: dict[int, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where a vote has stored the rows of a group; -1 for those that it has not."""
    known = [places.get(k, np.full(size, -1)) for k, size in zip(group.blocks, group.sizes, strict=True)]
    if [len(each) for each in known] != group.sizes:
        raise DataError("the blocks of the data are not those of the checkpoint")
    return np.concatenate(known)


def scale_of(scale: NDArray[np.float64] | None, features: int) -> NDArray[np.float64]:
    """What each of so many columns is divided by; those beyond the scale by 1."""
    known = np.ones(0) if scale is None else scale[:features]
    return known if len(known) == features else np.concatenate([known, np.ones(features - len(known))])


def check_room(rows: int, features: int) -> None:
    """Raise if weights of so many rows and features are too many."""
    if rows * features > MOST_WEIGHTS:
        raise DataError(
            f"{features:,} features and {rows} weight rows would need {rows * features * 8 / 2**30:.0f} GB of weights: "
            "are the feature numbers right? Hashed features need fewer bits"
        )


def asked_by(
    rows: RowBatch, classes: NDArray[Any], params: Params, class_weights: NDArray[np.float64] | None
) -> Targets:
    """What the rows ask for, with their weights and those of their classes."""
    labels = Labels(classes, rows.codes)
    if isinstance(params, PassiveAggressiveRegressionParams):
        labels = Numbers.of(classes[rows.codes], params.epsilon)
    weights = rows.weights
    if class_weights is not None:
        given = class_weights[rows.codes]
        weights = given if weights is None else weights * given
    return targets_of(labels, sample_weight=weights, tie_positive=params.tie_positive)[0]


def with_class_weights(params: Params, classes: NDArray[Any], weights: NDArray[np.float64] | None) -> Params:
    """The params with the weights of all classes, also where it asked for 'balanced'."""
    if weights is None:
        return params
    told = copy(params)
    told.class_weight = dict(zip(classes.tolist(), weights.tolist(), strict=True))
    return told


def new_state(params: Params, classes: int, features: int, products: Products | None) -> WeightState:
    """A state that has learned nothing yet, over the features that are known, or over products."""
    rows = 1 if params.is_regression else weight_rows(classes)
    check_room(rows, features)
    weights: NDArray[Any] = np.zeros((rows, features), order="F")
    if products is not None:
        if KEEPS[params.keep].votes or KEEPS[params.keep].checks_all_rows:
            raise ParameterError(f"keep={params.keep!r}: products of columns are learned with 'last' or 'average'")
        weights = np.zeros((rows, count_terms(len(products.columns))), np.float32)
    return WeightState.of(params, weights, np.zeros(rows), engine.seed_generator(params.random_state))


def fingerprint_of(reader: Dataset, classes: NDArray[Any], block: int, *, shuffle: bool) -> str:
    """What stored blocks depend on: the data, how they are read, and how they are cut."""
    made_of = [
        [source.stamp for source in reader.sources],
        reader.encoder.to_json(),
        asdict(reader.wishes),
        classes.tolist(),
        [block, shuffle, VALUES, reader.skip_bad],
    ]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
