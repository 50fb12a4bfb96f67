"""The log: every example on disk, in the order in which it is learned.

Invariant: what `append` returns is on disk (SQLite, WAL, synchronous=FULL). Entries are only added. Each carries a hash
over itself and all before it, back to the learner that the log starts from, and whoever reads entries checks it. One
process at a time can write, held by a lock on a file beside the log.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from rosenblatt.errors import DataError

VERSION = 2
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE entries (seq INTEGER PRIMARY KEY, count INTEGER, time REAL, hash_chain BLOB, examples BLOB);
CREATE TABLE keys (key TEXT PRIMARY KEY, seq INTEGER, last INTEGER, digest BLOB) WITHOUT ROWID;
CREATE INDEX keys_by_seq ON keys (seq);
CREATE TABLE predictions (number INTEGER PRIMARY KEY, id TEXT UNIQUE, time REAL, row BLOB);
"""
# One statement stores many rows: each statement releases and takes the GIL.
INSERT_BATCHES = (256, 64, 16, 4, 1)


@dataclass(frozen=True)
class Entry:
    """Examples of one request; `seq` is the number of the first."""

    seq: int
    count: int
    time: float
    hash_chain: bytes
    examples: bytes

    @property
    def last(self) -> int:
        return self.seq + self.count - 1


@dataclass(frozen=True)
class LearnerRecord:
    """The learner before the first entry: its params, its state unless it has learned nothing, and its encoder."""

    params: str
    state: bytes | None = None
    encoder: str | None = None
    lineage: str = "{}"

    def digest(self) -> bytes:
        """The start of the hash chain."""
        parts = [self.params.encode(), self.state or b"", (self.encoder or "").encode()]
        return hashlib.blake2b(b"".join(hashlib.sha256(part).digest() for part in parts), digest_size=16).digest()


def hash_chain(before: bytes, examples: bytes) -> bytes:
    """The hash over an entry and all before it."""
    return hashlib.blake2b(examples, digest_size=16, key=before).digest()


class EventLog:
    """An open log; by default for writing, by this process alone.

    Parameters
    ----------
    path : path
    create : LearnerRecord, optional
        What a new log starts with; without it, the log must exist.
    readonly : bool
        Only read; another process may be writing.
    """

    def __init__(self, path: str, *, create: LearnerRecord | None = None, readonly: bool = False) -> None:
        self.path, self.readonly = os.path.realpath(path), readonly
        if create is None and not os.path.exists(self.path):
            raise DataError(f"{path}: no such file")
        self._lock: int | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.is_new = False
        try:
            if not readonly:
                self._lock = _take_lock(self.path)
                self.is_new = not os.path.exists(self.path)
            if self.is_new:
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            self._open(create if self.is_new else None)
        except (sqlite3.Error, OSError) as error:
            self.discard()
            raise DataError(f"{path} cannot be used as a log: {error}") from None
        except BaseException:
            self.discard()
            raise

    def _open(self, create: LearnerRecord | None = None) -> None:
        self.connection = self._connect_readonly() if self.readonly else _connect(self.path, "mode=rw")
        run = self.connection.execute
        if not self.readonly:
            if run("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise DataError(f"{self.path}: the file system does not support a write-ahead log")
            run("PRAGMA synchronous = FULL")
            run("PRAGMA journal_size_limit = 16777216")
        if create is not None:
            about = {"version": VERSION, "id": uuid.uuid4().hex, **asdict(create)}
            with self.connection:
                run("BEGIN IMMEDIATE")
                for statement in SCHEMA.strip().split("\n"):
                    run(statement)
                self.connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        if not run("SELECT count(*) FROM sqlite_master WHERE name = 'about'").fetchone()[0]:
            raise DataError(f"{self.path} is not a log")
        known = dict(run("SELECT name, value FROM about").fetchall())
        if known.get("version") != VERSION:
            raise DataError(f"{self.path} is a log of version {known.get('version')!r}; this program reads {VERSION}")
        self.id: str = known["id"]
        self.record = LearnerRecord(known["params"], known["state"], known["encoder"], known["lineage"])
        self.last: int
        self.hash_chain: bytes
        newest = run("SELECT seq, count, hash_chain FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        self.last, self.hash_chain = (newest[0] + newest[1] - 1, newest[2]) if newest else (0, self.record.digest())

    def _connect_readonly(self) -> sqlite3.Connection:
        """A connection that writes nothing beside the log, even if a killed server left its newest pages in the WAL."""
        wal = f"{self.path}-wal"
        connection = _connect(self.path, "mode=ro")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError:  # SQLite needs a file beside the log, and the folder is read-only
            connection.close()
        if not os.path.exists(wal) or not os.path.getsize(wal):
            return _connect(self.path, "mode=ro&immutable=1")
        self._copy = tempfile.TemporaryDirectory(prefix="rosenblatt-log-")
        copy = os.path.join(self._copy.name, "log.sqlite")
        shutil.copy(self.path, copy)
        shutil.copy(wal, f"{copy}-wal")
        return _connect(copy, "mode=rw")

    def reopen(self) -> None:
        """After an error: what is stored is what SQLite says is stored."""
        with suppress(sqlite3.Error):
            self.connection.close()
        self._open()

    def close(self) -> None:
        if hasattr(self, "connection"):
            with suppress(sqlite3.Error):
                self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def discard(self) -> None:
        """Close; remove a log that this process has created."""
        owner = self._lock is not None
        self.close()
        if self.is_new and owner:
            for ending in ("", "-wal", "-shm", "-journal", ".lock"):
                with suppress(OSError):
                    os.remove(self.path + ending)

    # -- entries

    def append(
        self,
        requests: Sequence[tuple[int, float, bytes, str | None, bytes]],
        predictions: Sequence[tuple[str, float, bytes]] = (),
    ) -> list[Entry]:
        """Store requests in one commit, each with its count, time, examples, key and digest; and predictions.

        When this returns, all of it is on disk; when it raises, call `reopen` to find out what was stored.
        """
        seq, chain, entries, keys = self.last + 1, self.hash_chain, [], []
        for count, time, examples, key, digest in requests:
            chain = hash_chain(chain, examples)
            entries.append(Entry(seq, count, time, chain, examples))
            if key is not None:
                keys.append((key, seq, seq + count - 1, digest))
            seq += count
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        self._insert("entries", [(e.seq, e.count, e.time, e.hash_chain, e.examples) for e in entries])
        self._insert("keys", keys)
        self._insert("predictions", [(None, *each) for each in predictions])
        run("COMMIT")
        self.last, self.hash_chain = seq - 1, chain
        return entries

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
        at = 0
        while at < len(rows):
            size = next(size for size in INSERT_BATCHES if size <= len(rows) - at)
            slots = ",".join(["(" + ",".join("?" * len(rows[0])) + ")"] * size)
            values = [value for row in rows[at : at + size] for value in row]
            self.connection.execute(f"INSERT INTO {table} VALUES {slots}", values)
            at += size

    def entries(self, after: int = 0, until: int | None = None, verified: bytes | None = None) -> Iterator[Entry]:
        """The entries behind `after`, up to the one with `until`; all of them and those before are verified.

        `verified` is the hash at `after`, if those before were verified already.
        """
        expected, chain = (1, self.record.digest()) if verified is None else (after + 1, verified)
        rows = self.connection.execute(
            "SELECT seq, count, time, hash_chain, examples FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq",
            (expected, 2**62 if until is None else until),
        )
        try:
            for row in rows:
                entry = Entry(*row)
                if not isinstance(entry.examples, bytes) or not isinstance(entry.count, int) or entry.seq != expected:
                    raise self._damaged(expected)
                chain, expected = hash_chain(chain, entry.examples), entry.seq + entry.count
                if chain != entry.hash_chain or entry.count < 1:
                    raise self._damaged(entry.seq)
                if entry.seq > after:
                    yield entry
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path} is damaged at example {expected}: {error}") from None

    def _damaged(self, seq: int) -> DataError:
        return DataError(f"{self.path} is damaged: example {seq} is not what was stored")

    def chain_at(self, seq: int) -> bytes | None:
        """The hash at the end of the entry whose last example has this number; None if there is no such entry."""
        if seq == 0:
            return self.record.digest()
        row = self.connection.execute(
            "SELECT hash_chain FROM entries WHERE seq <= ? AND seq + count - 1 = ? ORDER BY seq DESC LIMIT 1",
            (seq, seq),
        ).fetchone()
        return None if row is None else bytes(row[0])

    # -- keys and predictions

    def known_keys(self, keys: Sequence[str]) -> dict[str, tuple[int, int, bytes]]:
        """Of keys that were used before: the numbers of the first and the last example, and the digest."""
        rows = self.connection.execute(
            "SELECT key, seq, last, digest FROM keys WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(keys),)
        )
        return {key: (seq, last, digest) for key, seq, last, digest in rows}

    def prediction(self, id: str) -> bytes | None:
        """The row of a stored prediction."""
        row = self.connection.execute("SELECT row FROM predictions WHERE id = ?", (id,)).fetchone()
        return None if row is None else bytes(row[0])

    def prune(self, keys: int, predictions: int, oldest: float) -> None:
        """Forget the oldest keys and predictions, and move the whole log into its main file."""
        run = self.connection.execute
        with self.connection:
            run("BEGIN IMMEDIATE")
            run("DELETE FROM keys WHERE seq <= (SELECT seq FROM keys ORDER BY seq DESC LIMIT 1 OFFSET ?)", (keys,))
            run("DELETE FROM predictions WHERE number <= (SELECT max(number) FROM predictions) - ?", (predictions,))
            run("DELETE FROM predictions WHERE time < ?", (oldest,))
        run("PRAGMA wal_checkpoint(PASSIVE)")

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(os.path.getsize(p) for p in (self.path, f"{self.path}-wal") if os.path.exists(p))


def _connect(path: str, options: str) -> sqlite3.Connection:
    address = f"file:{quote(path)}?{options}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=5)


def _take_lock(path: str) -> int:
    """A lock that ends with the process, however it ends."""
    file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise DataError(f"{path} is in use by another server: one process owns a log") from None
    return file
