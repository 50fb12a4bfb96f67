"""Atomic writes: model files, predictions, reports, exports, checkpoints, pictures.

Invariant: the target has the old content or the new one, complete, whatever moment the process or the machine stops at.
The new content is a hidden file beside it until it is on disk, and keeps the mode and owner of the file that it
replaces. A pipe, a device or standard output is written through. No output replaces an input (`check_outputs`).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, cast

from rosenblatt.errors import ModelError, ParameterError

STDOUT = "-"
_DESCRIPTOR = re.compile(r"/dev/fd/(\d+)|/proc/(self|thread-self|\d+)/fd/(\d+)")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes: all or nothing."""
    with writing(path) as file:
        file.write(content)


def write_folder(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write a new folder of files, by their names within it: all or nothing."""
    name = os.fspath(folder)
    target = os.path.realpath(name)
    part = _sibling(target)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        for each, content in files.items():
            path = os.path.join(part, each)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomic(path, content)
        os.rename(part, target)
        _sync_folder(os.path.dirname(target))
    except OSError as error:
        raise ModelError(f"{name} cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, renamed over its target when the block ends; after an error the target is unchanged.

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
        out: Any = getattr(sys.stdout, "buffer", None) or _TextOutput()
        yield cast(BinaryIO, out)
        out.flush()
        return
    descriptor = _descriptor_of(name)
    if descriptor is not None or _is_special(name):
        if descriptor == 1:
            sys.stdout.flush()
        with _errors_of(name):
            handle = os.dup(descriptor) if descriptor is not None else os.open(name, os.O_WRONLY)
        with io.BufferedWriter(_File(handle, name)) as file:
            yield cast(BinaryIO, file)
        return
    check_writable(name)
    target = os.path.realpath(name)
    before = os.stat(target) if os.path.exists(target) else None
    part = _sibling(target)
    try:
        with _errors_of(name):
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if before is None else 0o600)
        with io.BufferedWriter(_File(handle, name)) as file:
            yield cast(BinaryIO, file)
            file.flush()
            with _errors_of(name):
                _commit(handle, part, target, before)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _commit(handle: int, part: str, target: str, before: os.stat_result | None) -> None:
    """Flush to disk and rename."""
    if before is not None:
        if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.fchown(handle, before.st_uid, before.st_gid)
        os.fchmod(handle, stat.S_IMODE(before.st_mode))
    os.fsync(handle)
    os.replace(part, target)
    _sync_folder(os.path.dirname(target))


def _sync_folder(folder: str) -> None:
    """Put the folder on disk too: without it, a power cut could undo the renaming."""
    with contextlib.suppress(OSError):  # some file systems cannot
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise if a file cannot be written here: better before an hour of learning than after it."""
    name = os.fspath(path)
    if name == STDOUT or _descriptor_of(name) is not None:
        return
    target = os.path.realpath(name)
    folder = os.path.dirname(target)
    if os.path.islink(target):
        raise ModelError(f"{name} cannot be written: its symbolic links form a circle")
    if os.path.isdir(target):
        raise ModelError(f"{name} cannot be written: it is a folder")
    if not os.path.isdir(folder):
        raise ModelError(f"{name} cannot be written: there is no folder {os.path.dirname(name) or folder}")
    if _is_special(name):
        if not os.access(target, os.W_OK):
            raise ModelError(f"{name} cannot be written: Permission denied")
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise ModelError(f"{name} cannot be written: no permission to write to {folder}")
    elif len(os.path.basename(target).encode("utf-8", "surrogateescape")) > 255 - 40:
        raise ModelError(f"{name} cannot be written: its name is too long")


def check_outputs(outputs: Mapping[str, str | None], inputs: Iterable[str]) -> None:
    """Raise if an output is an input or another output, by any name or link.

    Parameters
    ----------
    outputs : mapping from the option of a file (``--report``) to the file; None: not requested
    inputs : the files to read; ``-`` is standard input, which may be a file too

    Examples
    --------
    >>> check_outputs({"--output": "x.csv"}, ["./x.csv"])
    Traceback (most recent call last):
        ...
    rosenblatt.errors.ParameterError: --output x.csv is an input file and would be overwritten
    """
    read = {identity for name in inputs for identity in _identities(name, 0)}
    taken: dict[Any, str] = {}
    for option, name in outputs.items():
        if name is None:
            continue
        identities = _identities(name, 1)
        if identities & read:
            raise ParameterError(f"{option} {name} is an input file and would be overwritten")
        for identity in identities:
            if identity in taken:
                raise ParameterError(f"{option} {name} and {taken[identity]} are the same file: name two")
            taken[identity] = option


def _identities(name: str, standard: int) -> set[Any]:
    """Values that two names of one regular file share; none for other files."""
    found = standard if name == STDOUT else _descriptor_of(name)
    target = os.path.realpath(name)
    try:
        status = os.stat(target) if found is None else os.fstat(found)
    except OSError:
        return {target} if found is None else set()
    if not stat.S_ISREG(status.st_mode):
        return set()
    return {(status.st_dev, status.st_ino)} | ({target} if found is None else set())


def _sibling(target: str) -> str:
    folder, own = os.path.split(target)
    return os.path.join(folder, f".{own}.rosenblatt-{secrets.token_hex(8)}")


def _is_special(name: str) -> bool:
    """Does it exist, as neither a regular file nor a folder?"""
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _descriptor_of(name: str) -> int | None:
    """The open file of a name such as ``/dev/stdout``: opened anew, it would be written from its beginning."""
    for _ in range(40):
        name = os.path.abspath(name)
        if name in _STANDARD:
            return _STANDARD[name]
        if (match := _DESCRIPTOR.fullmatch(name)) and match[2] in (None, "self", "thread-self", str(os.getpid())):
            return int(match[1] or match[3])
        if not os.path.islink(name):
            return None
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return None


@contextlib.contextmanager
def _errors_of(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ModelError(f"{name} cannot be written: {error.strerror}") from None


class _TextOutput(io.RawIOBase):
    """Standard output replaced by an object that takes text only."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        sys.stdout.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


class _File(io.FileIO):
    """A raw file whose errors name the output."""

    def __init__(self, descriptor: int, shown: str) -> None:
        super().__init__(descriptor, "wb")
        self._shown = shown

    def write(self, data: Any, /) -> int:
        with _errors_of(self._shown):
            return super().write(data)
        raise AssertionError
