"""What a learner needs to go on exactly, as bytes and back.

Invariant: ``from_bytes(to_bytes(learner))`` learns and answers with the same bits as the learner itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt import engine, learners
from rosenblatt.data.labels import label_values, sorted_classes
from rosenblatt.errors import ModelError, ParameterError
from rosenblatt.learners.epochs.stopping import History
from rosenblatt.learners.kept.learner import keep_learner, learner_from
from rosenblatt.learners.learned import Learned
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.learners.spaces import LINEAR, seed_of
from rosenblatt.models.container import pack_container, unpack_container
from rosenblatt.models.file import to_parts
from rosenblatt.models.kept import Kept
from rosenblatt.models.model import Model
from rosenblatt.params.base import Params
from rosenblatt.params.family import make_params, name_of


def new_learner(params: Params, classes: list[Any] | None = None) -> Any:
    """A learner that has seen nothing, but may know the classes that will come."""
    learner = getattr(learners, params.learner)(**params.plain())
    if not isinstance(learner, LinearLearner):
        raise ParameterError(f"learner={name_of(params)!r}: it cannot be served: its memory grows with every mistake")
    if classes:
        known = sorted_classes(classes)
        params.check_classes(len(known))
        generator = engine.seed_generator(seed_of(params.random_state))
        states = LINEAR.new_states(params, None, known, generator)  # type: ignore[arg-type]
        learner.history_ = History()
        learner.learned = Learned(known, states, LINEAR.make_predictors, params.shape())
        learner.learned.begin_stream({}, params)
        learner.n_iter_, learner.converged_, learner.stop_reason_ = 1, False, "learn_one"
    return learner


def open_stream(learner: Any) -> None:
    """From now on the learner is a stream, whose names grow as features come."""
    if learner.learned.stream is None:
        learner.learned.begin_stream(learner.columns_by_name(), learner.params())


def to_bytes(learner: Any) -> bytes:
    """A learner whole: params, classes, names, counters and every array."""
    header: dict[str, Any] = {"params": params_to(learner.params()), "classes": None}
    if not learner.has_learned:
        return pack_container("state", header, {}, "the state")
    kept = keep_learner(learner)
    if kept is None:
        raise ModelError("the learner's parameters were changed since it began")
    names = list(learner.columns_by_name())
    header |= {
        "classes": label_values(learner.learned.classes),
        "features": len(names),
        "names": None if names == list(range(len(names))) else names,
        "kept": kept.header,
    }
    return pack_container("state", header, kept.tensors, "the state")


def from_bytes(data: bytes) -> Any:
    """The learner of these bytes."""
    header, tensors = unpack_container(data, "state", "the state")
    if header["classes"] is None:
        return new_learner(params_from(header["params"]))
    features = header["features"]
    names = dict(enumerate(range(features) if header["names"] is None else header["names"]))
    learner = learner_from(Kept(header["kept"], tensors), np.array(header["classes"]), features, names)
    open_stream(learner)
    return learner


def params_to(params: Params) -> dict[str, Any]:
    """Params as plain values."""
    told = {name: value for name, value in params.plain().items() if name != "variant"}
    return {"learner": name_of(params), "parameters": told}


def params_from(known: dict[str, Any]) -> Params:
    return make_params(known["learner"], **known["parameters"])


def model_bytes(model: Model) -> bytes:
    """A model as `save` writes it."""
    header, tensors = to_parts(model)
    return pack_container("model", header, tensors, "the model")
