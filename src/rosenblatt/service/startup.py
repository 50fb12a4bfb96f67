"""From a log, a model or nothing to a trainer that is ready.

Invariant: the log decides what is learned; options that contradict it are errors. A start that fails leaves no log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rosenblatt.errors import DataError, ModelError, ParameterError
from rosenblatt.learners.linear import LinearLearner
from rosenblatt.learners.targets import check_online
from rosenblatt.models.file import encoder_from, load, sha256_of
from rosenblatt.params import KEEPS, Params, params_from_json
from rosenblatt.select.loading import revive
from rosenblatt.service.config import SNAPSHOT_EXAMPLES, ServerConfig, ServiceLimits
from rosenblatt.service.decoding import RowSchema
from rosenblatt.service.event_log import EventLog, LearnerRecord
from rosenblatt.service.online_model import (
    OnlineModel,
    learner_from_bytes,
    learner_to_bytes,
    load_snapshot,
    new_learner,
    open_stream,
)
from rosenblatt.service.trainer import Trainer

# Parameters of `fit` that a stream of examples cannot honor.
_ONLY_FIT = ("early_stopping", "warm_start", "n_init", "init", "hash_bits")
_WHY_FIXED = {
    "AutoPerceptron": "it prepares its columns with all rows",
    "Calibrated": "its probabilities are fitted on held-out rows",
    "KernelPerceptron": "it stores rows, more with every mistake",
    "PassiveAggressiveRegression": "it predicts numbers, not labels",
    "PassiveAggressiveRegressor": "it predicts numbers, not labels",
}


def new_record(params: Params, classes: Sequence[Any] = ()) -> LearnerRecord:
    """A new learner to start a log with, that may know classes; raises for one that cannot learn from a stream."""
    defaults = type(params)()
    for name in _ONLY_FIT:
        if getattr(params, name, None) != getattr(defaults, name, None):
            raise ParameterError(f"{name} has no meaning for a stream of examples: remove it")
    return _record(new_learner(params, classes))


def model_record(path: str) -> LearnerRecord:
    """A model that learns on, from the state in its file."""
    model = load(path)
    learner = revive(model)
    if not isinstance(learner, LinearLearner) or model.is_multilabel:
        why = _WHY_FIXED.get(type(learner).__name__, "it predicts several labels per row")
        raise ModelError(
            f"{path} is a model of {type(learner).__name__} and cannot learn here: {why}. Serve it without --learn, or "
            "train one with --learner averaged, pa1, arow or another single learner"
        )
    if model.classes.dtype.kind in "mM":
        raise ModelError(f"{path}: its classes are dates, which JSON does not have")
    open_stream(learner)
    lineage = {**model.lineage, "file": os.path.basename(path), "parent": sha256_of(path)}
    return _record(learner, model.encoder, lineage)


def _record(learner: Any, encoder: Any = None, lineage: dict[str, Any] | None = None) -> LearnerRecord:
    params = learner.params()
    check_online(params)
    if KEEPS[params.keep].votes:
        raise ParameterError("a vote stores every mistaken row, so its memory has no bound: serve averaged instead")
    return LearnerRecord(
        json.dumps(params.to_json(), sort_keys=True),
        learner_to_bytes(learner) if learner.has_learned else None,
        None if encoder is None else json.dumps(encoder.to_json()),
        json.dumps({"created": datetime.now(UTC).isoformat(timespec="seconds"), **(lineage or {})}),
    )


def open_trainer(
    path: str, limits: ServiceLimits, record: LearnerRecord | None = None, snapshot_every: int = SNAPSHOT_EXAMPLES
) -> Trainer:
    """A trainer that has learned everything in the log; a new log starts with the record."""
    if record is None and not os.path.exists(path):
        raise ParameterError(f"{path} is a new log: pass a MODEL or a --learner to start it with")
    log = EventLog(path, create=record)
    try:
        if record is not None and record.digest() != log.record.digest():
            raise DataError(
                f"{path} was started with another model or learner: remove MODEL and --learner to continue it, or use "
                "another log"
            )
        encoder = encoder_of(log)
        model = load_snapshot(log, encoder) or OnlineModel(first_learner(log), encoder)
        model.hash_chain = model.hash_chain or log.record.digest()
        return Trainer(log, model, RowSchema(model.names, limits, encoder), limits, snapshot_every)
    except BaseException:
        log.discard()
        raise


def encoder_of(log: EventLog) -> Any:
    """The encoder of the model that the log was started with."""
    return None if log.record.encoder is None else encoder_from(json.loads(log.record.encoder))


def first_learner(log: EventLog, params: Params | None = None) -> Any:
    """The learner before the first entry; with other params, a new one that reads the same columns."""
    record, encoder = log.record, encoder_of(log)
    if record.state is None:
        begun = new_learner(params_from_json(json.loads(record.params)))
    else:
        begun = learner_from_bytes(record.state)
    if params is None:
        return begun
    if encoder is None:
        return new_learner(params)
    return new_learner(params, begun.learned.labels_in_order, begun.n_features_in_)


def trainer_of(config: ServerConfig) -> Trainer:
    """The trainer that a server is told to start."""
    record = None
    if config.model is not None:
        record = model_record(config.model)
    elif config.params is not None:
        record = new_record(config.params, config.classes)
    return open_trainer(str(config.log), config.limits, record, config.snapshot_every)
