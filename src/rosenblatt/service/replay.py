"""From the log alone: the model as of any moment, by the same learner or another one, and learners compared.

Invariant: a replay does what the server did, example by example, and checks every entry against its digest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.models.file import encoder_from
from rosenblatt.models.model import Model, model_of
from rosenblatt.params.base import Params
from rosenblatt.service.fold import Follower
from rosenblatt.service.learning import read_entry
from rosenblatt.service.limits import Limits
from rosenblatt.service.log import Entry, Log, chained
from rosenblatt.service.opening import begin_learner
from rosenblatt.service.rows import Features, Form
from rosenblatt.service.states import new_learner, params_to

Example = tuple[Features, Any, float]


class Replay:
    """Logs, one after the other, as a stream of examples.

    Parameters
    ----------
    paths : list of paths
        A log, or several where each goes on from the one before, as rotation leaves them.
    until : int, optional
        The number of the last example.
    """

    def __init__(self, paths: Sequence[str], until: int | None = None) -> None:
        self.logs = [Log(path, readonly=True) for path in paths]
        self.until = until
        first = self.logs[0]
        for before, after in zip(self.logs, self.logs[1:], strict=False):
            if (before.id, before.last, before.chain) != (after.id, after.base, after.base_chain):
                raise DataError(f"{after.path} does not go on where {before.path} ends")
        if until is not None and not first.base <= until <= self.logs[-1].last:
            last = self.logs[-1].last
            held = f"the examples from {first.base + 1} to {last}" if last > first.base else f"none beyond {last}"
            raise DataError(f"--until {until}: {first.path} holds {held}")
        self.encoder = None if first.encoder is None else encoder_from(json.loads(first.encoder))
        self.form = Form({}, Limits(), self.encoder)

    def __enter__(self) -> Replay:
        return self

    def __exit__(self, *_: object) -> None:
        for log in self.logs:
            log.close()

    def entries(self) -> Iterator[Entry]:
        """The entries in their order, each as it was stored."""
        chain = self.logs[0].base_chain
        for log in self.logs:
            for entry in log.entries(log.base, self.until):
                chain = chained(chain, entry.examples)
                if chain != entry.chain:
                    raise DataError(f"{log.path} is damaged: example {entry.seq} is not what was stored")
                yield entry

    def examples(self) -> Iterator[Example]:
        """The features, label and weight of every example."""
        for entry in self.entries():
            rows, labels, weights = read_entry(entry, self.form)
            count = entry.count if self.until is None else min(entry.count, self.until - entry.seq + 1)
            for at in range(count):
                yield rows[at], labels[at], 1.0 if weights is None else weights[at]

    def learner(self, params: Params | None = None) -> Any:
        """The learner that answers for this log, or one of other params, as it is before the first example."""
        origins = self.logs[0].origins()
        served = next(origin for origin in self.logs[-1].origins() if origin.served)
        begun = next((origin for origin in origins if origin.name == served.name), served)
        learner = begin_learner(begun) if params is None else new_learner(params)
        names = learner.columns_by_name() if learner.has_learned else {}
        if names:  # a model that learned on knows by what its features are called
            self.form.names = names
        return learner


def replay(paths: Sequence[str], params: Params | None = None, until: int | None = None) -> Model:
    """The model that the log makes: with its own learner, to the bit what the server had."""
    with Replay(paths, until) as log:
        learner = log.learner(params)
        follower = Follower("", learner)
        for example in log.examples():
            follower.take(*example)
        if not learner.has_learned or not learner.n_features_in_:
            raise DataError(f"{paths[0]} holds no example to learn from")
        return model_of(learner, encoder=log.encoder, state=True)


def compare(paths: Sequence[str], params_list: Sequence[Params], until: int | None = None) -> list[dict[str, Any]]:
    """How each set of params would have done: every example predicted before it is learned. The best comes first."""
    with Replay(paths, until) as log:
        log.learner()
        followers = [Follower(str(params_to(params)["learner"]), new_learner(params)) for params in params_list]
        for example in log.examples():
            for follower in followers:
                follower.take(*example)
    found = [
        {
            "learner": each.name,
            "examples": each.progress.examples,
            "mistakes": each.progress.mistakes,
            "progressive_error": each.progress.error,
            "recent_error": each.progress.recent_error,
            "drift_alarms": each.progress.drift.raised,
        }
        for each in followers
    ]
    return sorted(found, key=lambda each: each["mistakes"])
