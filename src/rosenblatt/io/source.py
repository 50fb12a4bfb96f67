"""Sources of bytes: files, compressed or not, standard input, pipes, addresses, folders of documents.

Invariant: a source is opened as often as needed and gives the same decompressed bytes each time; standard input and
pipes, which come once, say so by `live`.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from rosenblatt.errors import DataError, MissingExtraError
from rosenblatt.io.limits import DEFAULT_LIMITS, Limits, shown


class Held(io.RawIOBase):
    """A decompressing stream and the file that it reads: both are closed together."""

    def __init__(self, stream: Any, raw: Any) -> None:
        self._stream, self._held = stream, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._held.close()
        super().close()


class Bounded(io.RawIOBase):
    """A decompressed stream that may grow only so far."""

    def __init__(self, stream: Any, name: str, size: int, limits: Limits, free: int) -> None:
        self._stream, self._name, self._size, self._limits, self._total = stream, name, size, limits, 0
        self._most = max(free, limits.expansion * size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._total += count
        if self._total > self._most:
            raise DataError(
                f"{self._name} has {shown(self._size)} and grows to more than {self._limits.expansion:,} times as "
                "much: --read-limit expansion=N"
            )
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class Joined(io.RawIOBase):
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
    limits: Limits = field(default=DEFAULT_LIMITS, repr=False, compare=False)

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
    def download(cls, address: str, limits: Limits = DEFAULT_LIMITS) -> Spooled:
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
                    raise DataError(f"{name} is longer than {shown(limits.spool)}: --read-limit spool=SIZE")
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


TABLE_ENDINGS = (
    "csv",
    "tsv",
    "parquet",
    "feather",
    "arrow",
    "ipc",
    "npy",
    "jsonl",
    "ndjson",
    "json",
    "svm",
    "svmlight",
    "libsvm",
)
ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://.+")


@dataclass
class Documents(Source):
    """A document a file, read as lines ``label TAB text``: the label is the name of the folder.

    To learn from, the classes take turns, so that no long run of rows has the same label; to predict, they come in the
    order of their names.
    """

    files: list[tuple[str, str]] = field(default_factory=list, repr=False)  # label and path

    @property
    def ending(self) -> str:
        return "documents"

    @property
    def size(self) -> int:
        return sum(os.path.getsize(path) for _, path in self.files)

    @property
    def packed(self) -> str:
        return ""

    @property
    def stamp(self) -> list[Any]:
        return [os.path.abspath(self.name), [[label, path, digest_of(path)] for label, path in self.files]]

    def open(self) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(Joined(self._lines()), 1 << 20))

    def _lines(self) -> Iterator[bytes]:
        for label, path in self.files:
            with Source(path, self.limits).open() as stream:
                text = _read_up_to(stream, self.limits.line + 1)
            if len(text) > self.limits.line:
                raise DataError(f"{path} is a document longer than {shown(self.limits.line)}: --read-limit line=SIZE")
            for space in (b"\n", b"\r"):
                text = text.replace(space, b" ")
            yield re.sub(r"[\t\r\n]", " ", label).encode("utf-8", "replace") + b"\t" + text + b"\n"


def _read_up_to(stream: Any, size: int) -> bytes:
    parts = []
    while size > 0 and (piece := stream.read(min(size, 1 << 20))):
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)


def expand_sources(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    limits: Limits = DEFAULT_LIMITS,
    *,
    in_order: bool = False,
    as_documents: bool = False,
) -> list[Source]:
    """The sources that a path, a glob, a folder, an address, ``-`` or a list of these names.

    Parameters
    ----------
    in_order : documents in the order of their names, not the classes in turns
    as_documents : a file is one document, as for a model that was trained on documents

    Examples
    --------
    >>> expand_sources("-")
    [StandardInput(name='standard input')]
    >>> expand_sources("no/such/file")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.DataError: no/such/file: there is no such file
    """
    if not isinstance(data, (str, os.PathLike)):
        options: dict[str, Any] = {"in_order": in_order, "as_documents": as_documents}
        found = [source for each in data for source in expand_sources(each, limits, **options)]
        if not found:
            raise DataError("no file was named")
        return found
    name = os.fspath(data)
    if name == "-":
        return [StandardInput(limits=limits)]
    if ADDRESS.fullmatch(name) and not os.path.exists(name):
        return [Spooled.download(address, limits) for address in addresses(name)]
    if os.path.isdir(name):
        return _in_folder(name, limits, in_order, as_documents)
    if os.path.exists(name) and Pipe.is_one(name):
        return [Pipe(name, limits)]
    if os.path.exists(name):
        return [Documents(name, limits, [("", name)])] if as_documents else [Source(name, limits)]
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
    if not matches:
        raise DataError(f"{name}: there is no such file")
    return expand_sources(matches, limits, in_order=in_order, as_documents=as_documents)


def files_of(data: Any) -> list[str]:
    """The files on disk that a path, a glob, a folder or a list of these stands for; a name that is none is itself."""
    if not isinstance(data, (str, os.PathLike)):
        return [name for each in data for name in files_of(each)]
    name = os.fspath(data)
    if os.path.isdir(name):
        return [os.path.join(folder, each) for folder, _, files in os.walk(name) for each in files]
    return [name] if os.path.exists(name) or not glob.has_magic(name) else glob.glob(name, recursive=True)


def addresses(name: str) -> list[str]:
    """An address, or those that one with a wildcard stands for, in the order of their names."""
    path = name.partition("://")[2].partition("/")[2]  # not the host, which may be an IPv6 address
    if not glob.has_magic(path.split("?", 1)[0] if name.startswith("http") else path):
        return [name]
    from rosenblatt.errors import MissingExtraError

    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "remote") from None
    try:
        files, path = fsspec.core.url_to_fs(name)
        found = sorted(files.glob(path))
    except (ImportError, OSError, ValueError) as error:
        raise DataError(f"{name} cannot be read: {_first_line(error)}") from None
    if not found:
        raise DataError(f"{name}: there is no such file")
    return [files.unstrip_protocol(each) for each in found]


def _in_folder(name: str, limits: Limits, in_order: bool, as_documents: bool) -> list[Source]:
    entries = sorted(p for p in Path(name).iterdir() if not p.name.startswith("."))
    files = [str(p) for p in entries if p.is_file()]
    if files and as_documents:
        return [Documents(name, limits, [("", path) for path in files])]
    if files:
        return [Source(path, limits) for path in files]
    folders = {folder.name: _files_in(folder) for folder in entries}
    inside = [path for paths in folders.values() for path in paths]
    if not inside:
        raise DataError(f"{name}: the folder is empty")
    if len(inside) > limits.documents:
        raise DataError(
            f"{name} holds {len(inside):,} documents, and the limit is {limits.documents:,}: --read-limit documents=N"
        )
    tables = [Source(path, limits) for path in inside]
    if any(source.ending in TABLE_ENDINGS for source in tables):
        return [*tables]
    if in_order:
        return [Documents(name, limits, [(label, path) for label, paths in folders.items() for path in paths])]
    turns = [(turn / len(paths), label, path) for label, paths in folders.items() for turn, path in enumerate(paths)]
    return [Documents(name, limits, [(label, path) for _, label, path in sorted(turns)])]


def _files_in(folder: Path) -> list[str]:
    return [str(p) for p in sorted(folder.rglob("*")) if p.is_file() and not p.name.startswith(".")]
