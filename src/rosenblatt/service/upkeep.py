"""Care of a log whose server does not run: shortened behind a state, rotated into an archive, exported.

Invariant: a log always holds all that a start needs. Each step is one transaction, so that one that is cut off has
changed nothing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.io.atomic import writing
from rosenblatt.models.file import encoder_from
from rosenblatt.service.connection import connect
from rosenblatt.service.learning import ENCODER, EXAMPLES, read_entry
from rosenblatt.service.limits import Limits
from rosenblatt.service.log import Log
from rosenblatt.service.messages import Learnt
from rosenblatt.service.opening import restore
from rosenblatt.service.replay import Replay
from rosenblatt.service.rows import Form
from rosenblatt.service.states import to_bytes

GROUP = 10_000  # examples of a row group


def shorten(path: str, until: int | None = None) -> int:
    """Take the examples up to a number out, and keep what was learned from them instead; how many went."""
    log = Log(path)
    try:
        return _shorten(log, until)
    finally:
        log.close()


def rotate(path: str, archive: str) -> int:
    """Copy the log to an archive, which is a whole log itself, and begin it anew behind what was learned."""
    if os.path.exists(archive):
        raise DataError(f"{archive} exists already")
    log = Log(path)
    try:
        copy = connect(archive)
        with copy:
            log.connection.backup(copy)
        copy.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        copy.close()
        return _shorten(log, None)
    finally:
        log.close()


def _shorten(log: Log, until: int | None) -> int:
    encoder = None if log.encoder is None else encoder_from(json.loads(log.encoder))
    form = Form({}, Limits(), encoder)
    fold = restore(log, form, until)
    keyed, replies = log.keyed_after(fold.seq), []
    for entry in log.entries(fold.seq, until):
        if until is not None and entry.last > until:
            break
        predicted, mistaken = fold.take(*read_entry(entry, form))
        fold.chain = entry.chain
        if entry.seq in keyed:  # a request that is sent again finds its reply, though its examples are gone
            reply = Learnt(entry.seq, entry.last, sum(mistaken), predicted, mistaken)
            replies.append((entry.seq, ENCODER.encode(reply)))
    gone = fold.seq - log.base
    states = [(to_bytes(each.learner), name) for name, each in fold.followers.items()]
    about: list[tuple[str, Any]] = [
        ("base", fold.seq),
        ("chain", fold.chain),
        ("fold", json.dumps(fold.to_json())),
    ]
    run = log.connection
    try:
        with run:
            run.execute("BEGIN IMMEDIATE")
            run.executemany("UPDATE learners SET state = ? WHERE name = ?", states)
            run.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", about)
            run.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", replies)
            run.execute("DELETE FROM entries WHERE seq <= ?", (fold.seq,))
        run.execute("VACUUM")
        run.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise DataError(f"{log.path}: {error}") from None
    return gone


def export(paths: list[str], target: str, until: int | None = None) -> int:
    """Write the examples to a Parquet file; how many there were."""
    import pyarrow as pa
    from pyarrow import parquet

    with Replay(paths, until) as log:
        raw = log.encoder is not None
        row = pa.string() if raw else pa.map_(pa.string(), pa.float64())
        schema = pa.schema(
            [
                ("seq", pa.int64()),
                ("time", pa.float64()),
                ("label", pa.string()),
                ("weight", pa.float64()),
                ("row", row),
            ]
        )
        count = 0
        with writing(target) as out, parquet.ParquetWriter(out, schema) as writer:
            waiting: dict[str, list[Any]] = {name: [] for name in schema.names}
            for entry in log.entries():
                found = EXAMPLES.decode(entry.examples)
                for at in range(entry.count if until is None else min(entry.count, until - entry.seq + 1)):
                    cells = _cells(found.rows[at], raw)
                    weight = 1.0 if found.weights is None else found.weights[at]
                    values = (entry.seq + at, entry.time, _text(found.labels[at]), weight, cells)
                    for name, value in zip(schema.names, values, strict=True):
                        waiting[name].append(value)
                    count += 1
                if len(waiting["seq"]) >= GROUP:
                    writer.write_table(pa.table(waiting, schema))
                    waiting = {name: [] for name in schema.names}
            writer.write_table(pa.table(waiting, schema))
    return count


def _cells(row: Any, raw: bool) -> Any:
    if raw:
        return json.dumps(row, ensure_ascii=False)
    pairs = enumerate(row) if isinstance(row, list) else row.items()
    return [(str(name), float(value)) for name, value in pairs]


def _text(label: Any) -> str:
    return label if isinstance(label, str) else json.dumps(label)
