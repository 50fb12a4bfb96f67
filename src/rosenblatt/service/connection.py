"""Connections to the file of a log, and the lock that makes one process its owner.

Invariant: what is committed over `connect` is on disk. Nobody but the owner of the lock writes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from urllib.parse import quote

from rosenblatt.errors import DataError, ModelError

_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)


def connect(path: str, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection whose commits are on disk when they return."""
    connection = _opened(path, "mode=ro" if readonly else "mode=rwc")
    if not readonly:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise ModelError(f"{path} lies on a file system that cannot hold a log")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA journal_size_limit = 16777216")
        except BaseException:
            connection.close()
            raise
    return connection


def connect_to_read(path: str) -> sqlite3.Connection:
    """A connection to a log that cannot be written, since its disk is full or may only be read.

    SQLite reads a log by an index of its newest pages, in a file beside it. Where there is no room for that file the
    index is kept in memory, which nobody else can share; where nothing may be written and no newest pages are left, no
    index is needed.
    """
    ways = [("mode=rw", "PRAGMA locking_mode = EXCLUSIVE"), ("mode=ro", "")]
    if not os.path.exists(f"{path}-wal") or not os.path.getsize(f"{path}-wal"):
        ways.append(("mode=ro&immutable=1", ""))
    failure: sqlite3.Error | None = None
    for options, first in ways:
        connection = _opened(path, options)
        try:
            if first:
                connection.execute(first)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.Error as error:
            connection.close()
            failure = error
    assert failure is not None
    raise failure


def _opened(path: str, options: str) -> sqlite3.Connection:
    address = f"file:{quote(path)}?{options}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, timeout=5)


def take_lock(path: str) -> int | None:
    """A lock that ends with the process, however it ends; None where no file can be made to be locked."""
    name = f"{path}.lock"
    try:
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in _UNWRITABLE or not os.path.exists(path):
            raise DataError(f"{name}: {error.strerror}") from None
        try:
            file = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise DataError(f"{path} is in use by another server: one process owns a log") from None
    return file
