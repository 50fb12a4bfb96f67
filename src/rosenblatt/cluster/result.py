"""What a run has learned, as the library knows it: a fitted learner, or a model as the command writes it.

Invariant: one shard gives the model that the plain learner gives, to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.hands import Hands
from rosenblatt.cluster.run import ClusterRun, Traffic
from rosenblatt.cluster.sources import Opened
from rosenblatt.encode.lines import LineEncoder
from rosenblatt.errors import DataError
from rosenblatt.io.dataset import Dataset
from rosenblatt.learners.fit import Outcome, take_over
from rosenblatt.learners.serialization import run_to_tensors
from rosenblatt.learners.stopping import History
from rosenblatt.learners.weights import WeightState
from rosenblatt.models.model import Model, model_of
from rosenblatt.models.predictors import Linear, Quadratic
from rosenblatt.params import Params
from rosenblatt.training.run import MOST_NAMES
from rosenblatt.training.select import Choice
from rosenblatt.training.train import Trained


@dataclass(frozen=True)
class ClusterTrained(Trained):
    """A model, how it came about, and what it took to mix.

    >>> import numpy as np
    >>> from rosenblatt import cluster
    >>> rows, labels = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 10), np.array([0, 0, 1, 1] * 10)
    >>> trained = cluster.train(None, (rows, labels), "averaged", shards=2, n_jobs=1)
    >>> trained.shards, trained.mixing
    (2, 'momentum')
    """

    shards: int = 1
    mixing: str = "mean"
    mixes: int = 1  # per epoch
    traffic: Traffic = field(default_factory=Traffic)
    losses: int = 0  # how often work was done again because workers were gone
    bad_lines: int = 0
    states: tuple[WeightState, ...] = ()
    names: tuple[str, ...] | None = None

    def facts(self) -> dict[str, Any]:
        traffic = self.traffic
        each, epochs = max(traffic.mixes, 1), max(len(self.history), 1)
        found = {
            "shards": self.shards,
            "mixing": self.mixing,
            "mixes": self.mixes,
            "bytes_up_per_mix": traffic.up // each,
            "bytes_down_per_mix": traffic.down // each,
            "bytes_per_epoch": (traffic.up + traffic.down) // epochs,
            "largest_message": traffic.widest,
            "bytes_measured": traffic.measured,
            "losses": self.losses,
        }
        return super().facts() | {"cluster": found}

    @property
    def learner(self) -> Any:
        """What was learned, as a fitted learner of the library, which can go on learning."""
        state = self.states[0].copy()
        return learner_of(self.params, self.model.classes, state, self.history, self.stop_reason, self.names)


def learner_of(
    params: Params,
    classes: NDArray[Any],
    state: WeightState,
    history: History,
    stop_reason: Any,
    names: tuple[str, ...] | None = None,
) -> Any:
    """A fitted learner, which can go on learning."""
    from rosenblatt import learners

    kind = getattr(learners, params.learner)
    learner = kind(**{each.name: getattr(params, each.name) for each in fields(params)})
    if names is not None:
        learner.feature_names_in_ = np.array(names, dtype=object)
    learner.n_features_in_ = state.features
    take_over(learner, classes, [Outcome(state, history, stop_reason)])
    return learner


def model_of_run(
    hands: Hands, run: ClusterRun, opened: Opened, chosen: Choice | None, names: tuple[str, ...] | None
) -> Model:
    """The model of a run that has ended."""
    why, scale, curves = (None, None, None) if chosen is None else (chosen.why, chosen.scale, chosen.calibrator)
    state, stopping = run.mixed.state, run.stopping
    reason = stopping.stop_reason or "unfinished"
    mixed = {} if run.alone else {"shards": len(run.sizes), "mixing": run.mixer.mixing, "mixes": run.parts}
    if opened.reader is None and run.products is None and scale is None:
        learner = learner_of(run.params, opened.values, state, stopping.history, reason, names)
        model = model_of(learner, state=True)
        return replace(model, history=model.history | mixed, calibrator=curves)
    answer: Any = state.predictor()
    if run.products is not None:
        answer = Quadratic(run.products, answer)
    elif scale is not None:
        answer = Linear(answer.weights / scale, answer.intercept)
    history: dict[str, Any] = {
        "mistakes": stopping.history.mistakes,
        "updates": stopping.history.updates,
        "stop_reason": reason,
        "rows": sum(run.sizes),
    }
    history |= mixed | ({} if why is None else {"choice": why})
    known: Any = {} if names is None else dict(enumerate(names))
    encoder = None
    if opened.reader is not None:
        encoder, known = opened.reader.encoder, _find_names(hands, opened.reader, answer)
    told, features = run.params.values(), opened.features
    if run.params.class_weight is not None:
        told = told | {"class_weight": run.params.class_weight}
    values = np.empty(0) if run.params.is_regression else opened.values
    saved = run_to_tensors(run.params, state, stopping.history, reason, features, scale, run.products, why)
    return Model(run.params.learner, told, values, (answer,), features, encoder, known, history, curves, saved)


def _find_names(hands: Hands, reader: Dataset, answer: Any) -> dict[int, str]:
    """The names of the columns that weigh most, as the command finds them: by the first files."""
    if isinstance(answer, Quadratic):
        columns = answer.products.columns
    elif isinstance(reader.encoder, LineEncoder) and not reader.encoder.hashed:
        return {}
    else:
        columns = answer.columns()
        if len(columns) > MOST_NAMES:
            sizes = np.abs(answer.weights[:, columns]).max(axis=0)
            columns = np.sort(columns[np.argsort(-sizes, kind="stable")[:MOST_NAMES]])
    if not reader.sources:  # frames, which are with the workers
        return {int(c): name for c, name in _plain_names(reader).items() if c in set(columns.tolist())}
    try:
        found: dict[int, str] = hands.results([hands.submit(names_in, reader, columns)])[0]
    except DataError:  # a file is gone since it was learned from: a model needs no names
        return {}
    return found


def _plain_names(reader: Dataset) -> dict[int, str]:
    return {} if isinstance(reader.encoder, LineEncoder) else reader.encoder.plain_names()


def names_in(reader: Dataset, columns: NDArray[np.intp]) -> dict[int, str]:
    """The names of these columns, as far as the beginning of the data holds them."""
    from rosenblatt.cluster.sources import fetched

    near, size = [], 0
    for source in reader.sources:
        if size > 64 << 20:
            break
        near.append(fetched(source))
        size += near[-1].size
    return replace(reader, sources=near, dialects={}, notes=[]).find_names(columns)


def conclude(hands: Hands, run: ClusterRun, opened: Opened, chosen: Choice | None, mixing: str) -> ClusterTrained:
    """What a run that has ended has to show."""
    if run.stopping.stop_reason == "converged":
        run.mixed.state.converged()
    names = next((facts.names for facts in opened.facts if facts.names is not None), None)
    return ClusterTrained(
        model_of_run(hands, run, opened, chosen, names),
        run.params,
        sum(run.sizes),
        run.stopping.history,
        run.stopping.stop_reason or "unfinished",
        None if chosen is None else chosen.why,
        {} if chosen is None else chosen.scores,
        run.products is not None,
        None if chosen is None else chosen.held,
        chosen is not None and chosen.scale is not None and run.products is None,
        shards=len(run.sizes),
        mixing=mixing,
        mixes=run.parts,
        traffic=replace(run.traffic),
        losses=run.losses,
        bad_lines=sum(facts.bad for facts in opened.facts),
        states=(run.mixed.state,),
        names=names,
    )
