"""From the log alone: the model as of any example, by the same learner or another one; learners compared; an export.

Invariant: a replay does what the server did, example by example, and verifies every entry. It never writes to the log.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.atomic import writing
from rosenblatt.models.file import save
from rosenblatt.models.model import Model
from rosenblatt.params import Params, name_of
from rosenblatt.service.config import ServiceLimits
from rosenblatt.service.decoding import RowSchema
from rosenblatt.service.event_log import Entry, EventLog
from rosenblatt.service.online_model import OnlineModel, new_learner
from rosenblatt.service.schemas import Examples
from rosenblatt.service.startup import encoder_of, first_learner
from rosenblatt.service.trainer import read_entry

ROW_GROUP = 10_000


@contextmanager
def _opened(path: str, until: int | None) -> Iterator[EventLog]:
    log = EventLog(path, readonly=True)
    try:
        if until is not None and not 0 < until <= log.last:
            raise DataError(f"--until {until}: {path} has the examples 1 to {log.last}")
        yield log
    finally:
        log.close()


def _entries(log: EventLog, until: int | None) -> Iterator[tuple[Entry, int]]:
    """The entries, and how many examples of each to take."""
    for entry in log.entries(until=until):
        yield entry, entry.count if until is None else min(entry.count, until - entry.seq + 1)


def _learn(log: EventLog, until: int | None, models: Sequence[OnlineModel], names: dict[Any, int]) -> None:
    schema = RowSchema(names, ServiceLimits(), encoder_of(log))
    for entry, count in _entries(log, until):
        rows, examples = read_entry(entry, schema)
        weights = None if examples.weights is None else examples.weights[:count]
        for model in models:
            model.learn(entry, rows[:count], Examples([], examples.labels[:count], weights))


def replay(path: str, params: Params | None = None, until: int | None = None) -> Model:
    """The model that the log makes: with its own learner, bit-identical to the server's."""
    with _opened(path, until) as log:
        model = OnlineModel(first_learner(log, params), encoder_of(log))
        _learn(log, until, [model], model.names)
        if not model.learner.has_learned or not model.learner.n_features_in_:
            raise DataError(f"{path} has no example to learn from")
        if model.skipped:
            warnings.warn(f"{model.skipped} examples were not learned; {model.skip_reason}", stacklevel=2)
        return model.model()


def save_replay(path: str, output: str, params: Params | None = None, until: int | None = None) -> Model:
    """Write the model that the log makes."""
    check_output(path, output)
    model = replay(path, params, until)
    save(model, output)
    return model


def compare(path: str, candidates: Sequence[Params], until: int | None = None) -> list[dict[str, Any]]:
    """The progressive error of each learner: every example predicted before it is learned. The best comes first."""
    with _opened(path, until) as log:
        models = [OnlineModel(new_learner(params)) for params in candidates]
        _learn(log, until, models, OnlineModel(first_learner(log)).names)
    found = [
        {
            "learner": name_of(params),
            "examples": model.tracker.examples,
            "mistakes": model.tracker.mistakes,
            "progressive_error": model.tracker.error,
            "recent_error": model.tracker.recent_error,
            "drift_alarms": model.tracker.drift_alarms,
        }
        for params, model in zip(candidates, models, strict=True)
    ]
    return sorted(found, key=lambda each: each["mistakes"])


def export(path: str, output: str, until: int | None = None) -> int:
    """Write the examples to a Parquet file; how many there are."""
    import pyarrow as pa
    from pyarrow import parquet

    check_output(path, output)
    decoder, count = msgspec.json.Decoder(Examples), 0
    with _opened(path, until) as log:
        raw = log.record.encoder is not None
        row = pa.string() if raw else pa.map_(pa.string(), pa.float64())
        types = {"seq": pa.int64(), "time": pa.float64(), "label": pa.string(), "weight": pa.float64(), "row": row}
        schema = pa.schema(list(types.items()))
        with writing(output) as out, parquet.ParquetWriter(out, schema) as writer:
            waiting: list[dict[str, Any]] = []
            for entry, number in _entries(log, until):
                found = decoder.decode(entry.examples)
                for at in range(number):
                    label = found.labels[at]
                    waiting.append({
                        "seq": entry.seq + at,
                        "time": entry.time,
                        "label": label if isinstance(label, str) else json.dumps(label),
                        "weight": 1.0 if found.weights is None else found.weights[at],
                        "row": _cells(found.rows[at], raw),
                    })  # fmt: skip
                count += number
                if len(waiting) >= ROW_GROUP:
                    writer.write_table(pa.Table.from_pylist(waiting, schema))
                    waiting = []
            writer.write_table(pa.Table.from_pylist(waiting, schema))
    return count


def _cells(row: Any, raw: bool) -> Any:
    if raw:
        return json.dumps(row, ensure_ascii=False)
    pairs = enumerate(row) if isinstance(row, list) else row.items()
    return [(str(name), float(value)) for name, value in pairs]


def check_output(path: str, output: str) -> None:
    """Raise for an output that would overwrite the log or a file that belongs to it, also by a link."""
    for ending in ("", "-wal", "-shm", ".lock"):
        mine = os.path.realpath(path) + ending
        same = os.path.exists(output) and os.path.exists(mine) and os.path.samefile(output, mine)
        if same or os.path.realpath(output) == mine:
            raise ParameterError(f"{output} is the log itself: choose another output")
