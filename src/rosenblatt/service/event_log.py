"""The log: every example on disk, in the order in which it is learned.

Invariant: when `append` returns, its entries are on disk (SQLite, WAL, synchronous=FULL). Entries are only added. Each
has a hash over itself and all entries before it, back to the learner that the log starts from; every reader checks it.
A lock on a file beside the log lets one process at a time write. A file that is not a log is not changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from rosenblatt.errors import DataError

VERSION = 5
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE entries (seq INTEGER PRIMARY KEY, count INTEGER, time REAL, key TEXT, examples BLOB, hash_chain BLOB);
CREATE UNIQUE INDEX entries_by_key ON entries (key) WHERE key IS NOT NULL;
"""


class Entry(NamedTuple):
    """Examples of one request; `seq` is the number of the first, `key` its Idempotency-Key."""

    seq: int
    size: int
    time: float
    key: str | None
    examples: bytes
    hash_chain: bytes = b""

    @property
    def last(self) -> int:
        return self.seq + self.size - 1

    def chained(self, before: bytes) -> Entry:
        """The entry with the hash over itself and all entries before it."""
        about = msgspec.json.encode([self.seq, self.size, self.time, self.key])
        return self._replace(hash_chain=hashlib.blake2b(about + self.examples, digest_size=16, key=before).digest())


@dataclass(frozen=True)
class LearnerRecord:
    """The learner before the first entry: a model file, or the params of a new learner as JSON."""

    params: str = "null"
    model: bytes | None = None
    lineage: str = "{}"

    def digest(self) -> bytes:
        """The start of the hash chain."""
        return hashlib.blake2b(self.params.encode() + (self.model or b""), digest_size=16).digest()


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
        if os.path.isdir(self.path) or (create is None and not os.path.exists(self.path)):
            raise DataError(f"{path}: no such file")
        self._lock: int | None = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        try:
            if not os.path.exists(self.path):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            self._open(create)
        except BaseException as error:
            self.close()
            if isinstance(error, sqlite3.Error):
                raise DataError(f"{path} cannot be used as a log: {error}") from None
            raise

    def _open(self, create: LearnerRecord | None = None) -> None:
        tables = "SELECT name FROM sqlite_master"
        # Only read: a file that is not a log stays as it is, with its WAL. Backups and foreign files get none beside.
        is_open = any(os.path.exists(self.path + suffix) for suffix in ("-wal", ".lock"))
        self.connection = _connect(self.path, "ro" if is_open else "ro&immutable=1")
        try:
            is_new = not self.connection.execute(tables).fetchall()
        except sqlite3.OperationalError:  # SQLite must write beside the log, and the disk is read-only: read a copy
            if not self.readonly:
                raise
            self._copy = tempfile.TemporaryDirectory(prefix="rosenblatt-log-")
            for suffix in ("", "-wal"):
                if os.path.exists(self.path + suffix):
                    shutil.copy(self.path + suffix, os.path.join(self._copy.name, "log" + suffix))
            self.connection = _connect(os.path.join(self._copy.name, "log"), "rw")
            is_new = False
        if create is None or not is_new:
            self._read_about()
            if create is not None and create.digest() != self.record.digest():
                raise DataError(
                    f"{self.path} was started with another model or learner: remove MODEL and --learner to continue "
                    "it, or use another log"
                )
        if not self.readonly:
            self._lock = _take_lock(self.path) if self._lock is None else self._lock
            self.connection.close()
            self.connection = _connect(self.path, "rw")
            if self.connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise DataError(f"{self.path}: the file system does not support a write-ahead log")
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.execute("PRAGMA journal_size_limit = 16777216")
        run = self.connection.execute
        if create is not None and is_new:
            about = {"version": VERSION, "id": uuid.uuid4().hex, **asdict(create)}
            with self.connection:
                run("BEGIN IMMEDIATE")
                for statement in SCHEMA.strip().split("\n"):
                    run(statement)
                self.connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
            self._read_about()
        self.last: int
        self.hash_chain: bytes
        newest = run("SELECT seq, count, hash_chain FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        self.last, self.hash_chain = (newest[0] + newest[1] - 1, newest[2]) if newest else (0, self.record.digest())

    def _read_about(self) -> None:
        run = self.connection.execute
        if not run("SELECT count(*) FROM sqlite_master WHERE name = 'about'").fetchone()[0]:
            raise DataError(f"{self.path} is not a log")
        known = dict(run("SELECT name, value FROM about").fetchall())
        if known.get("version") != VERSION:
            raise DataError(f"{self.path} is a log of version {known.get('version')!r}; this program reads {VERSION}")
        self.id: str = known["id"]
        self.record = LearnerRecord(**{name: known[name] for name in LearnerRecord.__dataclass_fields__})

    def reopen(self) -> None:
        """Open the database again after an error, and read the last stored entry."""
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

    def append(self, requests: Sequence[tuple[int, float, str | None, bytes]]) -> list[Entry]:
        """Store requests in one commit, each with its count, time, key and examples.

        When this returns, all of it is on disk; when it raises, call `reopen` to find the last stored entry.
        """
        seq, chain, entries = self.last + 1, self.hash_chain, []
        for request in requests:
            entry = Entry(seq, *request).chained(chain)
            entries.append(entry)
            seq, chain = entry.last + 1, entry.hash_chain
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", entries)
        self.connection.execute("COMMIT")
        self.last, self.hash_chain = seq - 1, chain
        return entries

    def entries(self, after: int = 0, until: int | None = None, verified: bytes = b"") -> Iterator[Entry]:
        """The entries behind `after`, up to the one with `until`; all of them and those before are verified.

        `verified` is the hash at `after`, if those before were verified already.
        """
        expected, chain = (after + 1, verified) if verified else (1, self.record.digest())
        rows = self.connection.execute(
            "SELECT * FROM entries WHERE seq BETWEEN ? AND ? ORDER BY seq",
            (expected, 2**62 if until is None else until),
        )
        try:
            for row in rows:
                entry = Entry(*row)
                if entry.seq != expected or type(entry.examples) is not bytes or entry != entry.chained(chain):
                    raise DataError(f"{self.path} is damaged: example {expected} was changed after it was stored")
                expected, chain = entry.last + 1, entry.hash_chain
                if entry.seq > after:
                    yield entry
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path} is damaged at example {expected}: {error}") from None

    def entry_of(self, key: str) -> Entry | None:
        """The entry of an Idempotency-Key that was used before."""
        row = self.connection.execute("SELECT * FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None else Entry(*row)

    def chain_at(self, seq: int) -> bytes | None:
        """The hash at the end of the entry whose last example has this number; None if there is no such entry."""
        query = "SELECT hash_chain FROM entries WHERE seq <= ? AND seq + count - 1 = ? ORDER BY seq DESC LIMIT 1"
        row = self.connection.execute(query, (seq, seq)).fetchone()
        return None if row is None else bytes(row[0])

    def flush(self) -> None:
        """Move the whole log into its main file."""
        self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(os.path.getsize(p) for p in (self.path, f"{self.path}-wal") if os.path.exists(p))


def _connect(path: str, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(path)}?mode={mode}"
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
