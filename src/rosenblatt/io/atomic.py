"""Atomic writes: model files, predictions, reports, exports, checkpoints, pictures.

Invariant: a reader of the target finds the old content or the new one, complete, whatever moment the process or the
machine stops at. A pipe, a device or standard output is written through.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import secrets
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, BinaryIO, cast

from rosenblatt.errors import ModelError, ParameterError

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


STDOUT = "-"
_DESCRIPTOR = re.compile(r"/dev/fd/(\d+)|/proc/(self|thread-self|\d+)/fd/(\d+)")
_NAMED = {"/dev/stdout": 1, "/dev/stderr": 2}


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes: all or nothing."""
    with writing(path) as file:
        file.write(content)


def write_folder(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write a new folder of files, by their names within it: all or nothing."""
    name = os.fspath(folder)
    target = os.path.realpath(name)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with part_folder(target) as part:
            inside = {os.path.join(part, each): content for each, content in files.items()}
            for path in sorted({os.path.dirname(path) for path in inside}):
                os.makedirs(path, exist_ok=True)
            for path, content in inside.items():
                write_atomic(path, content)
            for path, _, _ in os.walk(part):
                sync_folder(path)
            os.rename(part, target)
        sync_folder(os.path.dirname(target))
    except OSError as error:
        raise ModelError(f"{name} cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, put in place when the block ends; if it ends by an error, what was there stays.

    ``-`` is standard output. Symbolic links are followed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "greeting"
    >>> with writing(path) as file:
    ...     _ = file.write(b"hello")
    ...     path.exists()
    False
    >>> path.read_bytes()
    b'hello'
    """
    name = os.fspath(path)
    if name == STDOUT:
        sys.stdout.flush()
        out: Any = getattr(sys.stdout, "buffer", None) or _Spoken()
        yield cast(BinaryIO, out)
        out.flush()
        return
    found = _descriptor_of(name)
    target = os.path.realpath(name)
    if found is not None or _is_special(name):
        with _File.through(name, found) as file:
            yield file
        return
    check_writable(name)
    remove_stale(target)
    with _place(name, target) as file:
        yield file


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise if a file could not be written here: better before an hour of learning than after it."""
    name = os.fspath(path)
    if name == STDOUT or _descriptor_of(name) is not None:
        return
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    if os.path.islink(target):
        raise ModelError(f"{name} cannot be written: its symbolic links lead in a circle")
    if os.path.isdir(target):
        raise ModelError(f"{name} cannot be written: it is a folder")
    if not os.path.isdir(folder):
        raise ModelError(f"{name} cannot be written: there is no folder {os.path.dirname(name) or folder}")
    if _is_special(name):
        if not os.access(target, os.W_OK):
            raise ModelError(f"{name} cannot be written: Permission denied")
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise ModelError(f"{name} cannot be written: the folder {folder} is not yours to write in")
    elif len(os.path.basename(target).encode("utf-8", "surrogateescape")) > 255 - 40:
        raise ModelError(f"{name} cannot be written: its name is too long")


def check_outputs(outputs: Mapping[str, str | None], inputs: Iterable[str]) -> None:
    """Raise if an output is an input or another output, by any name.

    Parameters
    ----------
    outputs : mapping from what names the file (``--report``) to the file; None: not asked for
    inputs : the files that are going to be read; ``-`` is standard input, which may be a file too

    Examples
    --------
    >>> check_outputs({"--output": "x.csv"}, ["./x.csv"])
    Traceback (most recent call last):
        ...
    rosenblatt.errors.ParameterError: --output x.csv is one of the files to be read: it would be overwritten
    """
    read = {identity for name in inputs for identity in _identities(name, 0)}
    taken: dict[Any, str] = {}
    for option, name in outputs.items():
        if name is None:
            continue
        identities = _identities(name, 1)
        if identities & read:
            raise ParameterError(f"{option} {name} is one of the files to be read: it would be overwritten")
        for identity in identities:
            if identity in taken:
                raise ParameterError(f"{option} {name} and {taken[identity]} are one file: name two")
            taken[identity] = option


def _identities(name: str, standard: int) -> set[Any]:
    """What a file has in common with another name of itself; nothing for what is no regular file."""
    found = standard if name == STDOUT else _descriptor_of(name)
    target = os.path.realpath(name)
    try:
        status = os.stat(target) if found is None else os.fstat(found)
    except OSError:
        return {target} if found is None else set()
    if not stat.S_ISREG(status.st_mode):
        return set()
    return {(status.st_dev, status.st_ino)} | ({target} if found is None else set())


def _is_special(name: str) -> bool:
    """Is it there, and neither a regular file nor a folder?"""
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _descriptor_of(name: str) -> int | None:
    """The open file that a name such as ``/dev/stdout`` stands for: to open it anew would write from its beginning."""
    for _ in range(40):
        name = os.path.abspath(name)
        if name in _NAMED:
            return _NAMED[name]
        if (match := _DESCRIPTOR.fullmatch(name)) and match[2] in (None, "self", "thread-self", str(os.getpid())):
            return int(match[1] or match[3])
        if not os.path.islink(name):
            return None
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return None


class _Spoken(io.RawIOBase):
    """Standard output where it has been replaced by something that takes text alone."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        sys.stdout.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class _File(io.FileIO):
    """A raw file whose errors name what was to be written."""

    shown: str

    @classmethod
    def of(cls, shown: str, descriptor: int) -> _File:
        file = cls(descriptor, "wb")
        file.shown = shown
        return file

    @classmethod
    @contextlib.contextmanager
    def through(cls, name: str, descriptor: int | None) -> Iterator[BinaryIO]:
        """A file that is open already, or that is no regular file."""
        try:
            handle = os.dup(descriptor) if descriptor is not None else os.open(name, os.O_WRONLY)
        except OSError as error:
            raise ModelError(f"{name} cannot be written: {error.strerror}") from None
        if descriptor == 1:
            sys.stdout.flush()
        with io.BufferedWriter(cls.of(name, handle)) as file:
            yield cast(BinaryIO, file)

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ModelError(f"{self.shown} cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def _place(name: str, target: str) -> Iterator[BinaryIO]:
    """A file beside the target that takes its place at the end."""
    with PartFile(name, target) as part:
        raw = _File.of(name, os.dup(part.handle))
        with io.BufferedWriter(raw) as file:
            yield cast(BinaryIO, file)
            file.flush()
            part.put_in_place()
