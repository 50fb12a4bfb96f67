"""Sources of bytes: files, compressed or not, standard input, pipes, addresses, folders of documents.

Invariant: a source can be opened repeatedly and gives the same decompressed bytes each time; standard input and pipes
can be read once only and have `live = True`.
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from rosenblatt.errors import DataError, MissingExtraError
from rosenblatt.io.limits import DEFAULT_LIMITS, FREE_GROWTH, MOST_DOCUMENTS, Limits, format_size

_MAGIC = {
    b"\x1f\x8b": "gz",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"BZh": "bz2",
    b"PK\x03\x04": "zip",
}
_TABLES = frozenset((
    "csv", "tsv", "parquet", "feather", "arrow", "ipc", "npy", "jsonl", "ndjson", "json", "svm", "svmlight", "libsvm",
    "vw", "xlsx", "xls", "xlsb", "ods",
))  # fmt: skip
# Files beside the data: hidden ones, Spark's _SUCCESS, checksums, READMEs.
_IGNORED = re.compile(r"[._].*|(readme|licen[cs]e|summary|notes?|changelog)(\..*)?|.*\.(md|crc)", re.IGNORECASE)
_PARTITION = re.compile(r"([^=/]+)=([^/]*)")
ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://.+")
_digests: dict[tuple[int, ...], str] = {}


@dataclass
class Source:
    """One file."""

    name: str
    limits: Limits = field(default=DEFAULT_LIMITS, repr=False, compare=False)

    live = False

    @property
    def suffix(self) -> str:
        """The suffix of the name, in lower case, without that of a compression."""
        parts = Path(self.name).name.lower().split(".")
        while len(parts) > 1 and parts[-1] in _MAGIC.values():
            parts.pop()
        return parts[-1] if len(parts) > 1 else ""

    @property
    def path(self) -> str:
        """The file to open, which may differ from the name in errors."""
        return self.name

    @property
    def partitions(self) -> dict[str, str]:
        """The columns in a path such as ``sales/year=2024/part-0.parquet``, as Hive and Spark write them."""
        matches = map(_PARTITION.fullmatch, Path(self.name).parts[:-1])
        return {match[1]: match[2] for match in matches if match}

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return os.path.getsize(self.path)

    @property
    def content_key(self) -> list[Any]:
        """Changes with the content: the name, the size and a hash of all bytes."""
        return [os.path.abspath(self.path), self.size, digest_of(self.path)]

    @property
    def mtime_key(self) -> Any:
        """Changes when the file is written to."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ino

    @property
    def compression(self) -> str:
        """gz, xz, zst, bz2 or zip, by the first bytes; empty if the file is not compressed."""
        with self._raw() as raw:
            return _compression_of(raw.read(6) or b"")

    def open(self) -> BinaryIO:
        """The decompressed bytes, from the beginning."""
        raw = self._raw()
        kind = _compression_of(raw.read(6) or b"")
        if not kind:
            raw.seek(0)
            return cast(BinaryIO, raw)
        raw.close()
        if kind == "zip":
            stream: Any = _open_zip(self.path, self.name)
        elif kind == "zst":
            import pyarrow as pa

            stream = pa.CompressedInputStream(pa.OSFile(self.path), "zstd")
        else:
            openers: dict[str, Any] = {"gz": gzip.open, "xz": lzma.open, "bz2": bz2.open}
            stream = openers[kind](self.path, "rb")
        return cast(BinaryIO, _Bounded(stream, self))

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
    suffix = ""
    partitions = {}  # noqa: RUF012
    size = 0
    content_key = ["-"]  # noqa: RUF012
    mtime_key = None

    @property
    def compression(self) -> str:
        return _compression_of(self.peek())

    def peek(self) -> bytes:
        """The bytes received so far, at least one, without consuming them."""
        self._head = self._head or os.read(self._descriptor(), 1 << 16)
        return self._head

    def open(self) -> BinaryIO:
        raw = os.fdopen(self._descriptor(), "rb", buffering=0, closefd=False)
        return cast(BinaryIO, IterableStream(chain([self._head], iter(lambda: raw.read(1 << 20), b""))))

    def _descriptor(self) -> int:
        return sys.stdin.fileno()


@dataclass
class Pipe(StandardInput):
    """A named pipe, once: made by `mkfifo`, or by the ``<(command)`` of a shell."""

    _file: Any = field(default=None, repr=False, compare=False)

    @staticmethod
    def is_pipe(path: str) -> bool:
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
        """A copy of a source, decompressed."""
        with source.open() as stream:
            return cls._of(stream, source.name, source.limits)

    @classmethod
    def download(cls, address: str, limits: Limits = DEFAULT_LIMITS) -> Spooled:
        """A copy of an address: s3://, gs://, https://, hdfs://, …"""
        with _remote(address) as fsspec, fsspec.open(address, "rb") as stream:
            return cls._of(stream, address, limits)

    @classmethod
    def _of(cls, stream: Any, name: str, limits: Limits) -> Spooled:
        # An unlinked file is gone with the process, however it ends. Without /proc it needs a name.
        file: Any = tempfile.TemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
        if not os.path.exists(_path_of(file)):
            file = tempfile.NamedTemporaryFile(prefix="rosenblatt-")  # noqa: SIM115
        source = cls(name, limits, file)
        weakref.finalize(source, file.close)
        while piece := stream.read(1 << 20):
            try:
                file.write(piece)
                file.flush()
            except OSError as error:
                raise DataError(f"{name} cannot be copied to {tempfile.gettempdir()}: {error.strerror}") from None
        return source

    @property
    def path(self) -> str:
        return self.file.name if isinstance(self.file.name, str) else _path_of(self.file)

    @property
    def suffix(self) -> str:
        return super().suffix if "://" in self.name else ""


@dataclass
class Documents(Source):
    """One document per file, read as lines ``label TAB text``: the label is the name of the folder."""

    files: list[tuple[str, str]] = field(default_factory=list, repr=False)  # label and path
    encoding: str | None = None

    suffix = "documents"
    compression = ""

    @property
    def size(self) -> int:
        return sum(os.path.getsize(path) for _, path in self.files)

    @property
    def content_key(self) -> list[Any]:
        return [os.path.abspath(self.name), [[label, path, digest_of(path)] for label, path in self.files]]

    def open(self) -> BinaryIO:
        return cast(BinaryIO, IterableStream(self._lines()))

    def _lines(self) -> Iterator[bytes]:
        from rosenblatt.io.text import open_text  # which imports this module

        for label, path in self.files:
            with open_text(Source(path, self.limits), self.encoding) as stream:
                text = stream.read(self.limits.line + 1)
            if len(text) > self.limits.line:
                size = format_size(self.limits.line)
                raise DataError(f"{path} is a document longer than {size}: --read-limit line=SIZE")
            line = text.replace(b"\n", b" ").replace(b"\r", b" ")
            yield re.sub(r"[\t\r\n]", " ", label).encode("utf-8", "replace") + b"\t" + line + b"\n"


class IterableStream(io.RawIOBase):
    """Pieces of bytes as one stream, which closes `inner` too."""

    def __init__(self, pieces: Iterator[bytes], inner: Any = None) -> None:
        self._pieces, self._left, self._inner = pieces, memoryview(b""), inner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._left = memoryview(piece)
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        if not self.closed and self._inner is not None:
            self._inner.close()
        super().close()


class _Bounded(io.RawIOBase):
    """A decompressed stream with a bound on its growth."""

    def __init__(self, stream: Any, source: Source) -> None:
        self._stream, self._source, self._total = stream, source, 0
        self._most = max(FREE_GROWTH, source.limits.expansion * source.size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._stream.readinto(buffer)
        self._total += count
        if self._total > self._most:
            source = self._source
            raise DataError(
                f"{source.name} has {format_size(source.size)} and grows to more than {source.limits.expansion:,} "
                "times as much: --read-limit expansion=N"
            )
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def expand_sources(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    limits: Limits = DEFAULT_LIMITS,
    *,
    sort_documents: bool = False,
    as_documents: bool = False,
    sheet: str | None = None,
) -> list[Source]:
    """The sources of a path, a glob, a folder, an address, ``-`` or a list of these.

    Parameters
    ----------
    sort_documents : documents in the order of their names, instead of alternating classes
    as_documents : each file is one document, as for a model that was trained on documents
    sheet : the sheet of a workbook

    Examples
    --------
    >>> expand_sources("-")
    [StandardInput(name='standard input')]
    >>> expand_sources("no/such/file")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.DataError: no/such/file: there is no such file
    """
    options: dict[str, Any] = {"sort_documents": sort_documents, "as_documents": as_documents, "sheet": sheet}
    if not isinstance(data, (str, os.PathLike)):
        found = [source for each in data for source in expand_sources(each, limits, **options)]
        if not found:
            raise DataError("no file was named")
        return found
    name = os.fspath(data)
    if name == "-":
        return [StandardInput(limits=limits)]
    if ADDRESS.fullmatch(name) and not os.path.exists(name):
        return [Spooled.download(address, limits) for address in expand_address(name)]
    if os.path.isdir(name):
        return _in_folder(name, limits, sort_documents, as_documents)
    if os.path.exists(name):
        if Pipe.is_pipe(name):
            return [Pipe(name, limits)]
        if as_documents:
            return [Documents(name, limits, [("", name)])]
        return [_file(name, limits, sheet)]
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
    if not matches:
        raise DataError(f"{name}: there is no such file")
    return expand_sources(matches, limits, **options)


def local_files(data: Any) -> list[str]:
    """The files on disk of a path, a glob, a folder or a list of these; any other name is itself."""
    if not isinstance(data, (str, os.PathLike)):
        return [name for each in data for name in local_files(each)]
    from rosenblatt.io.database import Query

    name = Query(os.fspath(data)).path if Query.is_address(data) else os.fspath(data)
    if os.path.isdir(name):
        return [os.path.join(folder, each) for folder, _, files in os.walk(name) for each in files]
    return [name] if os.path.exists(name) or not glob.has_magic(name) else glob.glob(name, recursive=True)


def expand_address(name: str) -> list[str]:
    """An address, or those that one with a wildcard stands for, in the order of their names.

    >>> expand_address("http://[::1]:8000/data.csv?version=2")
    ['http://[::1]:8000/data.csv?version=2']
    """
    path = name.split("://", 1)[1].partition("/")[2]
    if not glob.has_magic(path.split("?", 1)[0] if name.startswith("http") else path):
        return [name]
    with _remote(name) as fsspec:
        files, path = fsspec.core.url_to_fs(name)
        found = sorted(files.glob(path))
        if not found:
            raise FileNotFoundError
        return [files.unstrip_protocol(each) for each in found]


class _remote:
    """fsspec, with errors of remote file systems as one sentence each."""

    def __init__(self, address: str) -> None:
        self._address = address

    def __enter__(self) -> Any:
        try:
            import fsspec
        except ImportError:
            raise MissingExtraError("fsspec", "remote") from None
        return fsspec

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataError(f"{self._address}: there is no such file") from None
        if isinstance(error, Exception) and not isinstance(error, DataError):
            why = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise DataError(f"{self._address} cannot be read: {why}") from None


def _file(name: str, limits: Limits, sheet: str | None = None) -> Source:
    from rosenblatt.io.excel import WORKBOOKS, Sheet

    source = Source(name, limits)
    return Sheet(name, limits, sheet) if source.suffix in WORKBOOKS else source


def _in_folder(name: str, limits: Limits, sort_documents: bool, as_documents: bool) -> list[Source]:
    """A document per file in folders that are classes, or tables."""
    entries = sorted(p for p in Path(name).iterdir() if not _IGNORED.fullmatch(p.name))
    files = [str(p) for p in entries if p.is_file()]
    folders = {folder.name: list(_files_in(folder)) for folder in entries if folder.is_dir()}
    inside = [path for paths in folders.values() for path in paths]
    if files and (not inside or any(Source(path).suffix in _TABLES for path in files)):
        return [Documents(name, limits, [("", path) for path in files])] if as_documents else _sources(files, limits)
    if not inside:
        raise DataError(f"{name}: the folder has no data")
    if len(inside) > MOST_DOCUMENTS:
        raise DataError(f"{name} holds {len(inside):,} documents, and the limit is {MOST_DOCUMENTS:,}")
    partitioned = all(_PARTITION.fullmatch(folder) for folder in folders)
    if partitioned or any(Source(path).suffix in _TABLES for path in inside):
        return _sources(inside, limits)
    # To learn from, the classes alternate, so that no long run of rows has the same label.
    turns = [(turn / len(paths), label, path) for label, paths in folders.items() for turn, path in enumerate(paths)]
    ordered = [(label, path) for label, paths in folders.items() for path in paths]
    return [Documents(name, limits, ordered if sort_documents else [each[1:] for each in sorted(turns)])]


def _sources(paths: Iterable[str], limits: Limits) -> list[Source]:
    return [_file(path, limits) for path in paths]


def _files_in(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith((".", "_")):
            yield str(path)


def _path_of(file: Any) -> str:
    """The path by which an unlinked file can be opened again, by other processes too, on Linux."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"


def _compression_of(head: bytes) -> str:
    return next((kind for start, kind in _MAGIC.items() if head.startswith(start)), "")


def digest_of(path: str) -> str:
    """The SHA-256 of a file; computed again only if the file has changed."""
    status = os.stat(path)
    key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if key not in _digests:
        with open(path, "rb") as file:
            _digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _digests[key]


def _open_zip(path: str, name: str) -> Any:
    """The one file of an archive."""
    archive = zipfile.ZipFile(path)
    members = [member for member in archive.infolist() if not member.is_dir() and "__MACOSX" not in member.filename]
    if any(member.filename == "[Content_Types].xml" for member in members):
        raise DataError(f"{name} is a document of an office program: rename a workbook to .xlsx")
    if len(members) != 1:
        raise DataError(f"{name} holds {len(members)} files: unpack it and name the one to be read")
    if members[0].flag_bits & 1:
        raise DataError(f"{name} is encrypted")
    return archive.open(members[0])
