"""From the log alone: the model as of any example, by the same learner or another one; learners compared; an export.

Invariant: a replay does what the server did, example by example, and verifies every entry. It never writes to the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import repeat
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.io.atomic import writing
from rosenblatt.models.model import Model
from rosenblatt.params import Params, name_of
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.decoding import RowSchema
from rosenblatt.service.event_log import Entry, EventLog
from rosenblatt.service.online_model import OnlineModel, first_model
from rosenblatt.service.schemas import ENCODER, Examples, Line, read_examples


def _entries(log: EventLog, until: int | None) -> Iterator[tuple[Entry, Examples]]:
    """The entries with their examples, up to the one with the number `until`."""
    if until is not None and not 0 < until <= log.last:
        raise DataError(f"--until {until}: {log.path} has the examples 1 to {log.last}")
    for entry in log.entries(until=until):
        found, size = read_examples(entry.examples), entry.size if until is None else until - entry.seq + 1
        yield entry, Examples(found.rows[:size], found.labels[:size], found.weights and found.weights[:size])


def _learn(path: str, until: int | None, candidates: Sequence[Params | None]) -> list[OnlineModel]:
    """The models of these learners, None for the log's own, with everything that is in the log."""
    with closing(EventLog(path, readonly=True)) as log:
        start, models = first_model(log.record), [first_model(log.record, params) for params in candidates]
        schema = RowSchema(start.names, ServiceLimits(), start.encoder)
        for entry, examples in _entries(log, until):
            rows = schema.stored_features(examples.rows)
            for model in models:
                model.learn(entry, rows, examples)
    return models


def replay(path: str, params: Params | None = None, until: int | None = None) -> Model:
    """The model that the log makes: with its own learner, bit-identical to the server's."""
    (model,) = _learn(path, until, [params])
    if not model.learner.has_learned or not model.learner.n_features_in_:
        raise DataError(f"{path} has no example to learn from")
    return model.model()


def compare(path: str, candidates: Sequence[Params], until: int | None = None) -> list[dict[str, Any]]:
    """The progressive error of each learner: every example predicted before it is learned. The best comes first."""
    pairs = zip(candidates, _learn(path, until, candidates), strict=True)
    found = [{"learner": name_of(params), **model.progress.summary()} for params, model in pairs]
    return sorted(found, key=lambda each: each["mistakes"])


def export(path: str, output: str, until: int | None = None) -> int:
    """Write the examples as NDJSON, one line per example, as `/learn` takes it; how many there are."""
    written = 0
    with closing(EventLog(path, readonly=True)) as log, writing(output) as out:
        for _, found in _entries(log, until):
            rows = zip(found.rows, found.labels, found.weights or repeat(1.0), strict=False)
            lines = [Line(*example) for example in rows]
            out.write(ENCODER.encode_lines(lines))
            written += len(lines)
    return written
