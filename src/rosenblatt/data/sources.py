"""Where bytes come from: files, globs, folders, compressed or not, and standard input.

Invariant: a source is opened as often as needed and gives the same decompressed bytes each time; standard input, which
comes once, says so by `live`.
"""

from __future__ import annotations

import glob
import gzip
import io
import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from rosenblatt.errors import DataError

TABLE_ENDINGS = (
    "csv",
    "tsv",
    "parquet",
    "feather",
    "arrow",
    "ipc",
    "jsonl",
    "ndjson",
    "json",
    "svm",
    "svmlight",
    "libsvm",
)
_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst"}


@dataclass
class Source:
    """One file, or standard input for ``-``."""

    name: str

    live = False

    @property
    def ending(self) -> str:
        """The ending of the name, in lower case, without that of a compression."""
        parts = Path(self.name).name.lower().split(".")
        while len(parts) > 1 and parts[-1] in ("gz", "xz", "zst"):
            parts.pop()
        return parts[-1] if len(parts) > 1 else ""

    @property
    def path(self) -> str:
        """Where the bytes are, which an error need not say."""
        return self.name

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return os.path.getsize(self.path)

    @property
    def stamp(self) -> list[Any]:
        """What changes when the file does."""
        status = os.stat(self.path)
        return [os.path.abspath(self.path), status.st_size, status.st_mtime_ns]

    def open(self) -> BinaryIO:
        """The decompressed bytes, from the beginning."""
        try:
            raw = open(self.path, "rb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise DataError(f"{self.name} cannot be read: {error.strerror}") from None
        magic = raw.read(6)
        kind = next((kind for start, kind in _MAGIC.items() if magic.startswith(start)), "")
        if not kind:
            raw.seek(0)
            return cast(BinaryIO, raw)
        raw.close()
        if kind == "gz":
            return cast(BinaryIO, gzip.open(self.path, "rb"))
        if kind == "xz":
            return cast(BinaryIO, lzma.open(self.path, "rb"))
        import pyarrow as pa

        return cast(BinaryIO, pa.CompressedInputStream(pa.OSFile(self.path), "zstd"))


@dataclass
class StandardInput(Source):
    """Standard input, once."""

    name: str = "standard input"
    _head: bytes = field(default=b"", repr=False)

    live = True

    @property
    def ending(self) -> str:
        return ""

    @property
    def size(self) -> int:
        return 0

    @property
    def stamp(self) -> list[Any]:
        return ["-"]

    def peek(self) -> bytes:
        """What has come so far, at least something, without taking it."""
        self._head = self._head or os.read(sys.stdin.fileno(), 1 << 16)
        return self._head

    def open(self) -> BinaryIO:
        raw = os.fdopen(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
        return cast(BinaryIO, _Joined(chain([self._head], iter(lambda: raw.read(1 << 20), b""))))


@dataclass
class Spooled(Source):
    """A copy of standard input in a temporary file, to be read more than once."""

    name: str = "standard input"
    file: Any = None

    @classmethod
    def copy(cls, source: Source) -> Spooled:
        file = tempfile.NamedTemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
        with source.open() as stream:
            shutil.copyfileobj(stream, file, 1 << 20)
        file.flush()
        return cls(file=file)

    @property
    def path(self) -> str:
        return str(self.file.name)

    @property
    def ending(self) -> str:
        return ""


@dataclass
class Documents(Source):
    """A folder with a subfolder a class and a document a file, read as lines ``label TAB text``.

    The classes take turns, so that no long run of rows has the same label.
    """

    @property
    def ending(self) -> str:
        return "documents"

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for _, path in self._files())

    @property
    def stamp(self) -> list[Any]:
        return [os.path.abspath(self.name), [[str(path), path.stat().st_mtime_ns] for _, path in self._files()]]

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_Joined(self._lines()), 1 << 20))

    def _files(self) -> list[tuple[str, Path]]:
        turns = []
        for folder in sorted(p for p in Path(self.name).iterdir() if p.is_dir() and not p.name.startswith(".")):
            files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith("."))
            turns += [(turn / len(files), folder.name, path) for turn, path in enumerate(files)]
        return [(label, path) for _, label, path in sorted(turns)]

    def _lines(self) -> Iterator[bytes]:
        for label, path in self._files():
            text = path.read_bytes()
            for space in (b"\n", b"\r"):
                text = text.replace(space, b" ")
            yield label.replace("\t", " ").encode() + b"\t" + text + b"\n"


class _Joined(io.RawIOBase):
    """Pieces of bytes as one stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._left = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = piece
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def find_sources(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Source]:
    """The sources that a path, a glob, a folder, ``-`` or a list of these names.

    Examples
    --------
    >>> find_sources("-")
    [StandardInput(name='standard input')]
    >>> find_sources("no/such/file")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.DataError: no/such/file: there is no such file
    """
    if not isinstance(data, (str, os.PathLike)):
        found = [source for each in data for source in find_sources(each)]
        if not found:
            raise DataError("no file was named")
        return found
    name = os.fspath(data)
    if name == "-":
        return [StandardInput()]
    if os.path.isdir(name):
        return _in_folder(name)
    if os.path.exists(name):
        return [Source(name)]
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
    if not matches:
        raise DataError(f"{name}: there is no such file")
    return [source for match in matches for source in find_sources(match)]


def files_of(data: Any) -> list[str]:
    """The files on disk that a path, a glob, a folder or a list of these stands for; those that are missing are not."""
    if not isinstance(data, (str, os.PathLike)):
        return [name for each in data for name in files_of(each)]
    name = os.fspath(data)
    if os.path.isdir(name):
        return [os.path.join(folder, each) for folder, _, files in os.walk(name) for each in files]
    if name == "-":
        return []
    return [name] if os.path.exists(name) or not glob.has_magic(name) else glob.glob(name, recursive=True)


def _in_folder(name: str) -> list[Source]:
    entries = sorted(p for p in Path(name).iterdir() if not p.name.startswith("."))
    files = [Source(str(p)) for p in entries if p.is_file()]
    if files:
        return files
    inside = [p for folder in entries for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith(".")]
    if not inside:
        raise DataError(f"{name}: the folder is empty")
    tables = [Source(str(p)) for p in inside]
    if any(source.ending in TABLE_ENDINGS for source in tables):
        return tables
    return [Documents(name)]
