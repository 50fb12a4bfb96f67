"""Atomic writes: model files, predictions, reports, exports, checkpoints, pictures.

Invariant: the target has the complete old or new content, at whatever moment the process or the machine stops.
The new content is a hidden file beside it until it is on disk, and keeps the mode and owner of the file that it
replaces. A pipe, a device or standard output is written through. No output replaces an input (`check_outputs`).
"""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from rosenblatt.errors import ModelError, ParameterError

STDOUT = "-"


def write_atomic(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes: all or nothing."""
    with writing(path) as file:
        file.write(content)


def write_folder(folder: str | os.PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write a new folder of files, by their names within it: all or nothing."""
    target = os.path.realpath(folder)
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
        raise ModelError(f"{os.fspath(folder)} cannot be written: {error.strerror}") from None
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
    if _is_stdout(name):
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        out: Any = io.BytesIO() if buffer is None else buffer
        yield out
        out.flush()
        if buffer is None:  # replaced by an object that takes text only
            sys.stdout.write(out.getvalue().decode("utf-8", "replace"))
        return
    check_writable(name)
    target, part = os.path.realpath(name), ""
    try:
        if _is_special(name):
            with open(name, "wb") as file:
                yield file
            return
        before = os.stat(target) if os.path.exists(target) else None
        part = _sibling(target)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if before is None else 0o600)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if before is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(handle, before.st_uid, before.st_gid)
                os.fchmod(handle, stat.S_IMODE(before.st_mode))
            os.fsync(handle)
            os.replace(part, target)
            _sync_folder(os.path.dirname(target))
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        # An error of another file has its name; a broken pipe ends the program silently.
        if not isinstance(error, OSError) or isinstance(error, BrokenPipeError) or error.errno is None:
            raise
        if error.filename not in (None, name, part):
            raise
        raise ModelError(f"{name} cannot be written: {os.strerror(error.errno)}") from None


def _sync_folder(folder: str) -> None:
    """Put the folder on disk too: without it, a power cut could undo the renaming."""
    with contextlib.suppress(OSError):  # some file systems cannot
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise if a file cannot be written here, before an hour of learning and not after it."""
    name = os.fspath(path)
    if _is_stdout(name):
        return
    target, special = os.path.realpath(name), _is_special(name)
    folder = os.path.dirname(target)
    failures = {
        "its symbolic links form a circle": os.path.islink(target),
        "it is a folder": os.path.isdir(target),
        f"there is no folder {os.path.dirname(name) or folder}": not os.path.isdir(folder),
        "Permission denied": special and not os.access(target, os.W_OK),
        f"no permission to write to {folder}": not special and not os.access(folder, os.W_OK | os.X_OK),
        "its name is too long": not special and len(os.fsencode(os.path.basename(target))) > 255 - 40,
    }
    for why, failed in failures.items():
        if failed:
            raise ModelError(f"{name} cannot be written: {why}")


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
        identities = set() if name is None else _identities(name, 1)
        if identities & read:
            raise ParameterError(f"{option} {name} is an input file and would be overwritten")
        for identity in identities:
            if identity in taken:
                raise ParameterError(f"{option} {name} and {taken[identity]} are the same file: pass two names")
            taken[identity] = option


def _identities(name: str, descriptor: int) -> set[Any]:
    """Values that two names of one regular file share; none for other files. ``-`` is the file of the descriptor."""
    try:
        status = os.fstat(descriptor) if name == STDOUT else os.stat(name)
    except OSError:
        return {os.path.realpath(name)}
    return {(status.st_dev, status.st_ino)} if stat.S_ISREG(status.st_mode) else set()


def _sibling(target: str) -> str:
    folder, own = os.path.split(target)
    return os.path.join(folder, f".{own}.rosenblatt-{secrets.token_hex(8)}")


def _is_special(name: str) -> bool:
    """True for a pipe or a device."""
    return os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)


def _is_stdout(name: str) -> bool:
    """True for standard output by any name, such as /dev/stdout. Replacing the file would lose its content."""
    try:
        return name == STDOUT or os.path.samestat(os.stat(name), os.fstat(1))
    except OSError:
        return False
