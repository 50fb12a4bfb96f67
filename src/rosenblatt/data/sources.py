"""Where bytes come from: files, compressed or not, standard input, pipes, and addresses.

Invariant: a source is opened as often as needed and gives the same decompressed bytes each time; standard input and
pipes, which come once, say so by `live`.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import stat
import sys
import tempfile
import weakref
import zipfile
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from rosenblatt.data.limits import USUAL, Limits, shown
from rosenblatt.data.streams import Bounded, Held, Joined
from rosenblatt.errors import DataError, MissingExtraError

_PACKED = ("gz", "xz", "zst", "bz2", "zip")
_MAGIC = {
    b"\x1f\x8b": "gz",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"BZh": "bz2",
    b"PK\x03\x04": "zip",
}
_FREE = 1 << 30  # bytes that any file may grow to
_digests: dict[tuple[int, ...], str] = {}


@dataclass
class Source:
    """One file."""

    name: str
    limits: Limits = field(default=USUAL, repr=False, compare=False)

    live = False

    @property
    def ending(self) -> str:
        """The ending of the name, in lower case, without that of a compression."""
        parts = Path(self.name).name.lower().split(".")
        while len(parts) > 1 and parts[-1] in _PACKED:
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
        """What changes when the content does: the name, the size and a hash of all bytes."""
        return [os.path.abspath(self.path), self.size, digest_of(self.path)]

    @property
    def moment(self) -> Any:
        """What changes when somebody writes to the file."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ino

    @property
    def packed(self) -> str:
        """How the bytes are compressed, as they say themselves; nothing if they are not."""
        with self._raw() as raw:
            return kind_of(raw.read(6) or b"")

    def open(self) -> BinaryIO:
        """The decompressed bytes, from the beginning."""
        raw = self._raw()
        kind = kind_of(raw.read(6) or b"")
        raw.seek(0)
        if not kind:
            return cast(BinaryIO, raw)
        if kind == "zip":
            try:
                return _bounded(_open_zip(raw, self.name), self)
            except BaseException:
                raw.close()
                raise
        if kind == "zst":
            import pyarrow as pa

            raw.close()
            return _bounded(pa.CompressedInputStream(pa.OSFile(self.path), "zstd"), self)
        openers: dict[str, Any] = {"gz": gzip.open, "xz": lzma.open, "bz2": bz2.open}
        return _bounded(Held(openers[kind](raw, "rb"), raw), self)

    def _raw(self) -> io.FileIO:
        try:
            return open(self.path, "rb", buffering=0)
        except OSError as error:
            raise DataError(f"{self.name} cannot be read: {error.strerror}") from None


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

    @property
    def moment(self) -> Any:
        return None

    @property
    def packed(self) -> str:
        return kind_of(self.peek())

    def peek(self) -> bytes:
        """What has come so far, at least something, without taking it."""
        self._head = self._head or os.read(self._descriptor(), 1 << 16)
        return self._head

    def open(self) -> BinaryIO:
        raw = os.fdopen(self._descriptor(), "rb", buffering=0, closefd=False)
        return cast(BinaryIO, Joined(chain([self._head], iter(lambda: raw.read(1 << 20), b""))))

    def _descriptor(self) -> int:
        return sys.stdin.fileno()


@dataclass
class Pipe(StandardInput):
    """A pipe with a name, once: made by `mkfifo`, or by the ``<(command)`` of a shell."""

    _file: Any = field(default=None, repr=False, compare=False)

    @staticmethod
    def is_one(path: str) -> bool:
        kind = os.stat(path).st_mode
        return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or stat.S_ISCHR(kind)

    def _descriptor(self) -> int:
        if self._file is None:
            self._file = self._raw()
            weakref.finalize(self, self._file.close)
        return int(self._file.fileno())


@dataclass
class Spooled(Source):
    """A copy in a temporary file, to be read more than once."""

    name: str = "standard input"
    file: Any = None

    @classmethod
    def copy(cls, source: Source) -> Spooled:
        """A copy of what a source gives, decompressed."""
        with source.open() as stream:
            return cls._of(stream, source.name, source.limits)

    @classmethod
    def download(cls, address: str, limits: Limits = USUAL) -> Spooled:
        """A copy of what is at an address: s3://, gs://, https://, hdfs://, …"""
        try:
            import fsspec
        except ImportError:
            raise MissingExtraError("fsspec", "remote") from None
        try:
            with fsspec.open(address, "rb") as stream:
                return cls._of(stream, address, limits)
        except DataError:
            raise
        except FileNotFoundError:
            raise DataError(f"{address}: there is no such file") from None
        except Exception as error:  # what a remote file system may raise is its own affair
            raise DataError(f"{address} cannot be read: {_first_line(error)}") from None

    @classmethod
    def _of(cls, stream: Any, name: str, limits: Limits) -> Spooled:
        # Without a name it is gone with the process, however that ends. Where there is no /proc it needs one.
        file: Any = tempfile.TemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
        if not os.path.exists(_path_of(file)):
            file = tempfile.NamedTemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
        source = cls(name, limits, file)
        weakref.finalize(source, file.close)
        size = 0
        try:
            while piece := stream.read(1 << 20):
                size += len(piece)
                if size > limits.spool:
                    raise DataError(f"{name} is longer than {shown(limits.spool)}: --limit spool=SIZE")
                file.write(piece)
            file.flush()
        except OSError as error:
            raise DataError(f"{name} cannot be kept in {tempfile.gettempdir()}: {error.strerror}") from None
        return source

    @property
    def path(self) -> str:
        return self.file.name if isinstance(self.file.name, str) else _path_of(self.file)

    @property
    def ending(self) -> str:
        return super().ending if "://" in self.name else ""


def _path_of(file: Any) -> str:
    """Where a file without a name can be opened again, by other processes too, on Linux."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def kind_of(head: bytes) -> str:
    """How bytes are compressed that begin so; nothing if they are not."""
    return next((kind for start, kind in _MAGIC.items() if head.startswith(start)), "")


def digest_of(path: str) -> str:
    """A hash of a file's bytes; it is taken again only if the file has changed."""
    status = os.stat(path)
    key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if key not in _digests:
        with open(path, "rb") as file:
            _digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _digests[key]


def _open_zip(raw: io.FileIO, name: str) -> Any:
    """The one file of an archive."""
    archive = zipfile.ZipFile(raw)
    members = [member for member in archive.infolist() if not member.is_dir() and "__MACOSX" not in member.filename]
    if any(member.filename == "[Content_Types].xml" for member in members):
        raise DataError(f"{name} is a workbook or a document of an office program: save the sheet as CSV")
    if len(members) != 1:
        raise DataError(f"{name} holds {len(members)} files: unpack it and name the one to be read")
    if members[0].flag_bits & 1:
        raise DataError(f"{name} is encrypted")
    return Held(archive.open(members[0]), raw)


def _bounded(stream: Any, source: Source) -> BinaryIO:
    return cast(BinaryIO, Bounded(stream, source.name, source.size, source.limits, _FREE))


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
