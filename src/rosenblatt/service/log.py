"""The log: every example on disk, in the order in which it is learned.

Invariant: what `append` has returned from is on disk and stays there (SQLite, WAL, synchronous=FULL). Entries are only
added, and each carries a digest over itself and all before it, so that a snapshot can tell whether it belongs here.
One process at a time may write, held by a lock on a file beside the log.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rosenblatt.errors import DataError
from rosenblatt.service.connection import connect, connect_to_read, take_lock

VERSION = 1
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE learners (name TEXT PRIMARY KEY, place INTEGER, params TEXT, served INTEGER, state BLOB);
CREATE TABLE entries (seq INTEGER PRIMARY KEY, count INTEGER, time REAL, chain BLOB, examples BLOB);
CREATE TABLE keys (key TEXT PRIMARY KEY, seq INTEGER, digest BLOB) WITHOUT ROWID;
CREATE INDEX keys_by_seq ON keys (seq);
CREATE TABLE replies (seq INTEGER PRIMARY KEY, reply BLOB);
CREATE TABLE predictions (id TEXT PRIMARY KEY, time REAL, row BLOB) WITHOUT ROWID;
"""
# One statement stores many rows: each statement takes and gives back the interpreter's lock.
_TOGETHER = (256, 64, 16, 4, 1)


@dataclass(frozen=True)
class Entry:
    """Examples that came in one request; `seq` is the number of the first."""

    seq: int
    count: int
    time: float
    chain: bytes
    examples: bytes

    @property
    def last(self) -> int:
        return self.seq + self.count - 1


@dataclass(frozen=True)
class Origin:
    """A learner as it was before the first entry: its params, and its state unless it had learned nothing."""

    name: str
    params: str
    served: bool
    state: bytes | None


def chained(before: bytes, examples: bytes) -> bytes:
    """The digest over an entry and all before it."""
    return hashlib.blake2b(examples, digest_size=16, key=before).digest()


class Log:
    """A log that is open for writing, by this process alone.

    One whose disk is full, or may only be read, is read all the same: `unwritable` then says why nothing can be stored,
    and `reopen` finds out whether that has changed.

    Parameters
    ----------
    path : path
        Made if there is none.
    readonly : bool
        Only to be read; another process may be writing.
    """

    def __init__(self, path: str, *, readonly: bool = False) -> None:
        self.path, self.readonly = os.path.realpath(path), readonly
        if readonly and not os.path.exists(self.path):
            raise DataError(f"{path}: there is no such file")
        self.unwritable = ""
        self._lock = None if readonly else take_lock(self.path)
        try:
            self._open()
        except sqlite3.Error as error:
            try:
                self._read_only(error)
            except sqlite3.Error:
                self.close()
                raise DataError(f"{path} cannot be used as a log: {error}") from None
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        self.connection = connect(self.path, readonly=self.readonly)
        run = self.connection.execute
        made = run("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not made:
            if self.readonly:
                raise DataError(f"{self.path} is not a log")
            about = {"version": VERSION, "id": uuid.uuid4().hex, "base": 0, "chain": bytes(16)}
            with self.connection:
                run("BEGIN IMMEDIATE")
                for statement in SCHEMA.strip().split("\n"):
                    run(statement)
                self.connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        self._look()

    def _read_only(self, why: sqlite3.Error) -> None:
        """What is there can be read, though nothing can be added."""
        with suppress(sqlite3.Error, AttributeError):
            self.connection.close()
        self.connection = connect_to_read(self.path)
        self._look()
        self.unwritable = str(why)

    def _look(self) -> None:
        run = self.connection.execute
        known = dict(run("SELECT name, value FROM about").fetchall())
        if known.get("version") != VERSION:
            raise DataError(f"{self.path} is a log of version {known.get('version')!r}; this one reads {VERSION}")
        self.id: str = known["id"]
        self.base: int = known["base"]  # the entries up to this number were taken out
        self.base_chain: bytes = known["chain"]
        self.base_facts: str | None = known.get("fold")  # what was known of the learners then
        self.encoder: str | None = known.get("encoder")
        newest = run("SELECT seq, count, chain FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        self.last, self.chain = (newest[0] + newest[1] - 1, newest[2]) if newest else (self.base, self.base_chain)

    def reopen(self) -> None:
        """After an error: what is stored is what SQLite says is stored."""
        with suppress(sqlite3.Error):
            self.connection.close()
        if self._lock is None:
            self._lock = take_lock(self.path)
        self._open()
        self.unwritable = ""

    def close(self) -> None:
        if hasattr(self, "connection"):
            with suppress(sqlite3.Error):
                self.connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # -- learners

    def origins(self) -> list[Origin]:
        """The learners that follow this log, in the order in which they were named."""
        found = self.connection.execute("SELECT name, params, served, state FROM learners ORDER BY place").fetchall()
        return [Origin(name, params, bool(served), state) for name, params, served, state in found]

    def set_origins(self, origins: Sequence[Origin], encoder: str | None = None) -> None:
        """The learners from now on, as they are before the first entry."""
        rows = [(o.name, place, o.params, int(o.served), o.state) for place, o in enumerate(origins)]
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.execute("DELETE FROM learners")
            self.connection.executemany("INSERT INTO learners VALUES (?, ?, ?, ?, ?)", rows)
            if encoder is not None:
                self.connection.execute("INSERT OR REPLACE INTO about VALUES ('encoder', ?)", (encoder,))
        self.encoder = encoder if encoder is not None else self.encoder

    def serve(self, name: str) -> None:
        """From now on this learner answers."""
        with self.connection:
            self.connection.execute("UPDATE learners SET served = (name = ?)", (name,))

    # -- entries

    def append(
        self,
        groups: Sequence[tuple[int, float, bytes, str | None, bytes]],
        replies: Sequence[tuple[int, bytes]] = (),
    ) -> list[Entry]:
        """Store requests in one commit: of each the count, time, examples, key and digest.

        `replies` to earlier requests with a key go with them. When this returns, all of it is on disk; when it raises,
        call `reopen` to learn what was stored.
        """
        seq, chain, entries, keys = self.last + 1, self.chain, [], []
        for count, time, examples, key, digest in groups:
            chain = chained(chain, examples)
            entries.append(Entry(seq, count, time, chain, examples))
            if key is not None:
                keys.append((key, seq, digest))
            seq += count
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        self._insert("INTO entries", [(e.seq, e.count, e.time, e.chain, e.examples) for e in entries])
        self._insert("INTO keys", keys)
        self._insert("OR REPLACE INTO replies", replies)
        run("COMMIT")
        self.last, self.chain = seq - 1, chain
        return entries

    def _insert(self, where: str, rows: Sequence[tuple[Any, ...]]) -> None:
        at = 0
        while at < len(rows):
            size = next(size for size in _TOGETHER if size <= len(rows) - at)
            slots = ",".join(["(" + ",".join("?" * len(rows[0])) + ")"] * size)
            values = [value for row in rows[at : at + size] for value in row]
            self.connection.execute(f"INSERT {where} VALUES {slots}", values)
            at += size

    def entries(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """The entries beyond `after`, up to the one that holds `until`."""
        last = 2**62 if until is None else until
        found = self.connection.execute(
            "SELECT seq, count, time, chain, examples FROM entries WHERE seq > ? AND seq <= ? ORDER BY seq",
            (max(after, self.base), last),
        )
        for row in found:
            if not (isinstance(row[3], bytes) and isinstance(row[4], bytes)):
                raise DataError(f"{self.path} is damaged: example {row[0]} is not what was stored")
            yield Entry(*row)

    def chain_at(self, seq: int) -> bytes | None:
        """The digest at the end of the entry whose last example has this number; None if there is none such."""
        if seq == self.base:
            return self.base_chain
        row = self.connection.execute(
            "SELECT chain FROM entries WHERE seq <= ? AND seq + count - 1 = ? ORDER BY seq DESC LIMIT 1", (seq, seq)
        ).fetchone()
        return None if row is None else bytes(row[0])

    # -- keys

    def known_keys(self, keys: Sequence[str]) -> dict[str, tuple[int, bytes, bytes | None]]:
        """Of keys that were used before: the number of the first example, the digest and the reply."""
        found = self.connection.execute(
            "SELECT key, keys.seq, digest, reply FROM keys LEFT JOIN replies ON keys.seq = replies.seq "
            "WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(keys),),
        )
        return {key: (seq, digest, reply) for key, seq, digest, reply in found}

    def keyed_after(self, seq: int) -> set[int]:
        """The first numbers of requests beyond `seq` that had a key."""
        return {row[0] for row in self.connection.execute("SELECT seq FROM keys WHERE seq > ?", (seq,))}

    def settle(self, replies: Sequence[tuple[int, bytes]], keys: int) -> None:
        """Before a snapshot: store replies, forget the oldest keys, and bring the whole log into its main file."""
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self._insert("OR REPLACE INTO replies", replies)
            oldest = self.connection.execute(
                "SELECT seq FROM keys ORDER BY seq DESC LIMIT 1 OFFSET ?", (keys,)
            ).fetchone()
            if oldest is not None:
                self.connection.execute("DELETE FROM keys WHERE seq <= ?", oldest)
                self.connection.execute("DELETE FROM replies WHERE seq <= ?", oldest)
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    # -- predictions that may get feedback

    def remember(self, new: Sequence[tuple[str, float, bytes]], gone: Sequence[str]) -> None:
        """Store predictions, and forget others by their ids."""
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self._insert("OR REPLACE INTO predictions", new)
            self.connection.execute(
                "DELETE FROM predictions WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(gone),)
            )

    def remembered(self) -> list[tuple[str, float, bytes]]:
        """All of them, the oldest first."""
        return self.connection.execute("SELECT id, time, row FROM predictions ORDER BY time").fetchall()

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(os.path.getsize(p) for p in (self.path, f"{self.path}-wal") if os.path.exists(p))
