"""A file that is not yet in place: beside its target, locked, and gone if nobody needs it any more.

Invariant: whatever ends the process, the target is the old file or the new one; what is left beside it is recognised by
its name and its lock, and removed by the next writer.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import signal
import stat
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from rosenblatt.errors import ModelError

_MARK = ".rosenblatt-"  # in the name of a file that is not yet in place
_STALE_AFTER = 60.0  # seconds; a younger one may be about to be locked
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class PartFile:
    """A file beside its target, locked while it is written, which takes the target's place when it is whole.

    Used as a context, it is removed at the end unless it was put in place.
    """

    def __init__(self, name: str, target: str, *, readable: bool = False) -> None:
        self._name, self._target, self._placed, self.handle = name, target, False, -1
        self.path = _beside(target)
        self._guard = _unwanted.guard(self.path)
        self._before = os.stat(target) if os.path.exists(target) else None
        # A file that replaces none has the mode that the process gives to new ones.
        mode = 0o666 if self._before is None else 0o600
        self._guard.__enter__()
        try:
            self.handle = os.open(self.path, (os.O_RDWR if readable else os.O_WRONLY) | os.O_CREAT | os.O_EXCL, mode)
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # while it is held, the file is not stale
        except BaseException as error:
            self.__exit__()
            if isinstance(error, OSError):
                raise ModelError(f"{name} cannot be written: {error.strerror}") from None
            raise

    def __enter__(self) -> PartFile:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._placed:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
        self._guard.__exit__(None, None, None)
        if self.handle >= 0:
            with contextlib.suppress(OSError):
                os.close(self.handle)

    def put_in_place(self, target: str | None = None) -> None:
        """Make sure that the bytes are on disk, and give them the target's name, or another in its folder."""
        before = self._before
        try:
            if before is not None:
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    with contextlib.suppress(PermissionError):
                        os.fchown(self.handle, before.st_uid, before.st_gid)
                os.fchmod(self.handle, stat.S_IMODE(before.st_mode))
            os.fsync(self.handle)
            os.replace(self.path, target or self._target)
        except OSError as error:
            raise ModelError(f"{self._name} cannot be written: {error.strerror}") from None
        self._placed = True
        sync_folder(os.path.dirname(self._target))


def _beside(target: str) -> str:
    folder, own = os.path.split(target)
    return os.path.join(folder, f".{own}{_MARK}{secrets.token_hex(8)}")


@contextlib.contextmanager
def part_folder(target: str) -> Iterator[str]:
    """A new folder beside its target; at the end it is gone, unless it was renamed."""
    path = _beside(target)
    with _unwanted.guard(path):
        os.mkdir(path)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def sync_folder(folder: str) -> None:
    """Put the folder on disk too: without it, a power cut could undo the renaming."""
    with contextlib.suppress(OSError):  # some file systems cannot
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_stale(target: str) -> None:
    """Remove what a process that was killed has left beside the target: nobody holds its lock any more."""
    folder, own = os.path.split(target)
    begin = f".{own}{_MARK}"
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            if not entry.name.startswith(begin) or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError), open(entry.path, "rb") as left:
                fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - os.fstat(left.fileno()).st_mtime > _STALE_AFTER:
                    os.unlink(entry.path)


class _Unwanted:
    """Files to be removed if the process is told to end before they are in place."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._before: dict[signal.Signals, Any] = {}

    @contextlib.contextmanager
    def guard(self, path: str) -> Iterator[None]:
        self._paths.add(path)
        self._listen()
        try:
            yield
        finally:
            self._paths.discard(path)
            if not self._paths:
                self._stop_listening()

    def _listen(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            if number not in self._before and signal.getsignal(number) == signal.SIG_DFL:
                self._before[number] = signal.signal(number, self._end)

    def _stop_listening(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)

    def _end(self, number: int, _: FrameType | None) -> None:
        for path in list(self._paths):
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.unlink(path)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


_unwanted = _Unwanted()
