"""Sources of bytes and text: files, compressed or not, workbooks, standard input, pipes, addresses, documents.

Invariant: a source can be read repeatedly and gives the same decompressed bytes each time; standard input and pipes
can be read once only and have `live = True`. Text is UTF-8 from here on. The content of a line depends on the line
alone, not on how the text is cut: bytes that are not UTF-8 are read as Windows-1252, unless an encoding is named.
"""

from __future__ import annotations

import codecs
import csv
import glob
import hashlib
import io
import os
import re
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from urllib.parse import unquote

from rosenblatt.data.table import collected
from rosenblatt.encode.options import DEFAULT_LIMITS, Limits, format_size
from rosenblatt.errors import DataError, MissingExtraError, ParameterError, first_line
from rosenblatt.io.formats import SUFFIXES

FREE_GROWTH = 1 << 30  # bytes that any compressed file may grow to
MOST_DOCUMENTS = 10_000_000  # files in a folder of documents
CHUNK = 2 << 20
STANDARD_INPUT = "standard input"
WORKBOOKS = ("xlsx", "xlsm", "xls", "xlsb", "ods")
ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://.+")
# Files beside the data: hidden ones, Spark's _SUCCESS, checksums, READMEs.
_IGNORED = re.compile(r"[._].*|(readme|licen[cs]e|summary|notes?|changelog)(\..*)?|.*\.(md|crc)", re.IGNORECASE)
_PARTITION = re.compile(r"([^=/]+)=([^/]*)")
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"  # a missing value


def _open_plain(path: str) -> Any:
    return open(path, "rb", buffering=0)


def _open_zip(path: str) -> Any:
    """The one file of an archive."""
    import zipfile

    archive = zipfile.ZipFile(path)
    members = [member for member in archive.infolist() if not member.is_dir() and "__MACOSX" not in member.filename]
    if any(member.filename == "[Content_Types].xml" for member in members):
        raise DataError(f"{path} is a document of an office program: rename a workbook to .xlsx")
    if len(members) != 1:
        raise DataError(f"{path} holds {len(members)} files: unpack it and name the one to be read")
    if members[0].flag_bits & 1:
        raise DataError(f"{path} is encrypted")
    return archive.open(members[0])


def _open_zst(path: str) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(path), "zstd")


# How to open files, and the first bytes of compressed ones.
_OPENERS = {
    "": f"{__name__}:_open_plain",
    "gz": "gzip:open",
    "xz": "lzma:open",
    "zst": f"{__name__}:_open_zst",
    "bz2": "bz2:open",
    "zip": f"{__name__}:_open_zip",
}
_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2", b"PK\x03\x04": "zip"}


def _compression_of(head: bytes) -> str:
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


# The first bytes of encoded text.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MARK = 4
_PLAIN = frozenset((*b"\t\r\n", *range(0x20, 0x7F)))


def detect_encoding(head: bytes) -> str:
    """The encoding by the byte order mark; two plain characters with a zero byte beside each are UTF-16; else empty."""
    found = next((name for mark, name in _MARKS if head.startswith(mark)), "")
    if not found and len(head) >= 4:
        for zero, plain, name in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
            if head[zero] == head[zero + 2] == 0 and all(head[k] in _PLAIN for k in (plain, plain + 2)):
                return name
    return found


def _from_cp1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    # Five bytes have no character in Windows-1252, and stay the control characters of Latin-1.
    return "".join(bytes((b,)).decode("latin-1" if b in b"\x81\x8d\x8f\x90\x9d" else "cp1252") for b in bad), error.end


codecs.register_error("rosenblatt-cp1252", _from_cp1252)


@dataclass
class Source:
    """One file.

    Attributes
    ----------
    sheet : of a workbook, by name or (from 1) by number
    encoding : of the text; None: as the first bytes tell
    """

    name: str
    limits: Limits = field(default=DEFAULT_LIMITS, repr=False, compare=False)
    sheet: str | None = field(default=None, repr=False, kw_only=True)
    encoding: str | None = field(default=None, repr=False, kw_only=True)

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
    def partitions(self) -> dict[str, str | None]:
        """The columns in a path such as ``sales/year=2024/part-0.parquet``, as Hive and Spark write them."""
        matches = [match for match in map(_PARTITION.fullmatch, Path(self.name).parts[:-1]) if match]
        return {match[1]: None if match[2] == _NO_PARTITION else unquote(match[2]) for match in matches}

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return os.path.getsize(self.path)

    @cached_property
    def content_key(self) -> list[Any] | None:
        """Changes with the content: the name, the size and a hash of all bytes; None if it cannot be read again."""
        return [os.path.abspath(self.path), self.size, digest_of(self.path)]

    @property
    def compression(self) -> str:
        """gz, xz, zst, bz2 or zip, by the first bytes; empty if the file is not compressed."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                return "" if self.suffix in WORKBOOKS else _compression_of(file.read(6) or b"")
        except OSError as error:
            raise DataError(f"{self.name} cannot be read: {error.strerror}") from None

    def iter_bytes(self, size: int = CHUNK) -> Iterator[bytes]:
        """The decompressed bytes, from the beginning, in blocks of at most so many."""
        compression, total = self.compression, 0
        if self.suffix in WORKBOOKS:
            yield read_sheet(self)
            return
        try:
            with resolve_name(_OPENERS[compression])(self.path) as file:
                while block := file.read(size):
                    total += len(block)
                    if compression:
                        self.check_growth(total)
                    yield block
        except DataError:
            raise
        except Exception as error:  # each library has its own
            why = getattr(error, "strerror", None) or (first_line(error) if str(error) else "it ends too early")
            raise DataError(f"{self.name} cannot be decompressed: {why}") from None

    def iter_text(self, size: int = CHUNK) -> Iterator[bytes]:
        """The text as UTF-8, without a byte order mark, in blocks of about so many bytes."""
        return self.decode(self.iter_bytes(size))

    def decode(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The bytes, from the beginning, as UTF-8."""
        head, blocks = b"", iter(blocks)
        while len(head) < (1 if self.live else _LONGEST_MARK) and (block := next(blocks, b"")):
            head += block
        encoding = codecs.lookup(self.encoding or detect_encoding(head) or "utf-8").name
        is_utf8, is_begun = encoding == "utf-8", False
        errors = "rosenblatt-cp1252" if is_utf8 and self.encoding is None else "strict"
        decoder = codecs.getincrementaldecoder(encoding)(errors)
        try:
            for block in chain([head], blocks, [b""]):
                if is_utf8 and block.isascii() and not decoder.getstate()[0]:
                    text = block  # most often, and much faster
                else:
                    text = decoder.decode(block, not block).encode("utf-8", "replace")
                if text and not is_begun:
                    text, is_begun = text.removeprefix(codecs.BOM_UTF8), True
                if text:
                    yield text
        except UnicodeError as error:  # for UTF-16 without a byte order mark, no byte is wrong
            wrong = f"0x{error.object[error.start]:02x}" if isinstance(error, UnicodeDecodeError) else "the text"
            raise DataError(f"{self.name}: {wrong} is not {encoding}: set another with --encoding") from None

    def peek(self, size: int) -> bytes:
        """The first bytes, decompressed."""
        head = b""
        for block in self.iter_bytes(size):
            head += block
            if len(head) >= size:
                break
        return head[:size]

    def on_disk(self) -> Source:
        """A file to be mapped: itself, or a decompressed copy."""
        return Spooled(self.name, self.limits, original=self) if self.live or self.compression else self

    def check_growth(self, total: int) -> None:
        """Raise if the decompressed bytes exceed the limit for this file."""
        if total > FREE_GROWTH and total > self.limits.expansion * self.size:
            raise DataError(
                f"{self.name} has {format_size(self.size)} and grows to more than {self.limits.expansion:,} times as "
                "much: --read-limit expansion=N"
            )

    def check_line(self, length: int) -> None:
        """Raise if a line has too many bytes."""
        self.limits.check_length(length, f"a line of {self.name}")


@dataclass
class Pipe(Source):
    """Standard input or a named pipe (made by `mkfifo`, or by the ``<(command)`` of a shell), once."""

    name: str = STANDARD_INPUT
    _head: bytes = field(default=b"", repr=False)

    live = True
    content_key = None

    @property
    def compression(self) -> str:
        return _compression_of(self.peek(6))

    def peek(self, size: int) -> bytes:
        """The first bytes of those received so far, which have a whole line, unless the source ends before."""
        more = self._head
        while not (b"\n" in more or b"\r" in more or len(self._head) > self.limits.line):
            if not (more := os.read(self._descriptor, 1 << 16)):
                break
            self._head += more
        return self._head[:size]

    def iter_bytes(self, size: int = 1 << 16) -> Iterator[bytes]:
        if self._head:
            yield self._head
        while block := os.read(self._descriptor, 1 << 16):
            yield block

    @cached_property
    def _descriptor(self) -> int:
        if self.name == STANDARD_INPUT:
            return sys.stdin.fileno()
        try:
            file = open(self.name, "rb", buffering=0)  # noqa: SIM115 - open as long as the source
        except OSError as error:
            raise DataError(f"{self.name} cannot be read: {error.strerror}") from None
        weakref.finalize(self, file.close)
        return file.fileno()


@dataclass
class Spooled(Source):
    """A decompressed copy in a temporary file, made when it is first needed: of a source, or of an address."""

    original: Source | None = None

    content_key = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "path"}  # another process makes its own

    @cached_property
    def path(self) -> str:
        """The path by which other processes too can open an unlinked file."""
        # An unlinked file is gone with the process, however it ends. Without /proc it needs a name.
        factory: Any = tempfile.TemporaryFile if os.path.exists("/proc/self/fd") else tempfile.NamedTemporaryFile
        file = factory(prefix="rosenblatt-")
        weakref.finalize(self, file.close)
        for block in _download(self.name) if self.original is None else self.original.iter_bytes():
            try:
                file.write(block)
                file.flush()
            except OSError as error:
                folder = tempfile.gettempdir()
                raise DataError(f"{self.name} cannot be copied to {folder}: {error.strerror}") from None
        return str(file.name if isinstance(file.name, str) else f"/proc/{os.getpid()}/fd/{file.fileno()}")


@dataclass
class Documents(Source):
    """One document per file, read as lines ``label TAB text``: the label is the name of the folder."""

    files: list[tuple[str, str]] = field(default_factory=list, repr=False)  # label and path

    suffix = "documents"
    compression = ""

    @property
    def size(self) -> int:
        return sum(os.path.getsize(path) for _, path in self.files)

    @cached_property
    def content_key(self) -> list[Any]:
        return [os.path.abspath(self.name), [[label, path, digest_of(path)] for label, path in self.files]]

    def iter_text(self, size: int = CHUNK) -> Iterator[bytes]:
        lines = bytearray()
        for label, path in self.files:
            text = bytearray()
            for block in Source(path, self.limits, encoding=self.encoding).iter_text():
                text += block
                self.limits.check_length(len(text), path)
            line = text.replace(b"\n", b" ").replace(b"\r", b" ")
            lines += re.sub(r"[\t\r\n]", " ", label).encode("utf-8", "replace") + b"\t" + line + b"\n"
            if len(lines) >= size:
                yield bytes(lines)
                lines.clear()
        yield bytes(lines)

    iter_bytes = iter_text


@dataclass
class Frame(Source):
    """Rows in memory or of a query: an object with ``__arrow_c_stream__`` or ``to_batches``."""

    name: str = "the data"
    data: Any = field(default=None, repr=False)

    content_key = None

    def check_growth(self, total: int) -> None:
        """Rows in memory do not grow."""


def iter_chunks(source: Source, size: int) -> Iterator[bytes]:
    """Chunks of whole lines of about so many bytes, from the beginning of a source."""
    rest = b""
    for block in source.iter_text(size):
        end = block.rfind(b"\n") + 1
        lines = b"".join((rest, memoryview(block)[:end])) if end else b""
        rest = block[end:] if end else rest + block
        source.check_line(len(rest))
        if len(lines) > source.limits.line:
            source.check_line(max(map(len, lines.split(b"\n"))))
        if lines:
            yield lines
    if rest:
        yield rest


def expand_sources(
    data: Any, *, query: str | None = None, sort_documents: bool = False, as_documents: bool = False
) -> list[Source]:
    """The sources of a path, a glob, a folder, an address, a database, a frame, ``-`` or a list of these.

    Parameters
    ----------
    query : of a database
    sort_documents : documents in the order of their names, instead of alternating classes
    as_documents : each file is one document, as for a model that was trained on documents

    Examples
    --------
    >>> expand_sources("-")
    [Pipe(name='standard input')]
    >>> expand_sources("no/such/file")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.DataError: no/such/file: there is no such file
    """
    options: dict[str, Any] = {"query": query, "sort_documents": sort_documents, "as_documents": as_documents}
    if isinstance(data, list | tuple) and data:
        return [source for each in data for source in expand_sources(each, **options)]
    data = collected(data)
    if is_database(data):
        from rosenblatt.io.database import Query

        return [Frame(data, data=Query(data, query))]
    if query is not None:
        raise ParameterError("query: it is for a database, such as sqlite:///file.db")
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "to_batches"):
        return [Frame(data=data)]
    if not isinstance(data, (str, os.PathLike)):
        kind = type(data).__name__
        raise DataError(f"the data must be a path, a list of paths, a frame or a database, not {kind}")
    name = os.fspath(data)
    if name == "-":
        return [Pipe()]
    if ADDRESS.fullmatch(name) and not os.path.exists(name):
        return [Spooled(address) for address in expand_address(name)]
    if os.path.isdir(name):
        return _in_folder(name, sort_documents, as_documents)
    if os.path.exists(name) and not os.path.isfile(name):
        return [Pipe(name)]
    if os.path.exists(name):
        return [Documents(name, files=[("", name)]) if as_documents else Source(name)]
    matches = sorted(glob.glob(name, recursive=True)) if glob.has_magic(name) else []
    if not matches:
        raise DataError(f"{name}: there is no such file")
    return expand_sources(matches, **options)


def is_database(data: Any) -> bool:
    """True for the address of a table of SQLite or DuckDB."""
    return isinstance(data, str) and data.startswith(("sqlite://", "duckdb://"))


def local_files(data: Any) -> list[str]:
    """The files on disk of a path, a glob, a folder or a list of these; any other name is itself."""
    if not isinstance(data, (str, os.PathLike)):
        return [name for each in data for name in local_files(each)]
    name = os.fspath(data)
    if is_database(data):
        from rosenblatt.io.database import Query

        name = Query(name).path
    if os.path.isdir(name):
        return [os.path.join(folder, each) for folder, _, files in os.walk(name) for each in files]
    return [name] if os.path.exists(name) or not glob.has_magic(name) else glob.glob(name, recursive=True)


def expand_address(name: str) -> list[str]:
    """An address, or the addresses that match a wildcard, sorted by name.

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


def _download(address: str) -> Iterator[bytes]:
    """The bytes at an address: s3://, gs://, https://, hdfs://, …"""
    with _remote(address) as fsspec, fsspec.open(address, "rb").open() as file:
        while block := file.read(CHUNK):
            yield block


@contextmanager
def _remote(address: str) -> Iterator[Any]:
    """fsspec, with errors of remote file systems as one sentence each."""
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "remote") from None
    try:
        yield fsspec
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{address}: there is no such file") from None
    except Exception as error:
        raise DataError(f"{address} cannot be read: {first_line(error)}") from None


def _in_folder(name: str, sort_documents: bool, as_documents: bool) -> list[Source]:
    """A document per file in folders that are classes, or tables."""

    def is_table(path: str) -> bool:
        suffix = Source(path).suffix
        return suffix in SUFFIXES or suffix in WORKBOOKS

    def tables(paths: list[str]) -> list[Source]:
        """The files with a suffix of data, if there are any; else all."""
        return list(map(Source, list(filter(is_table, paths)) or paths))

    entries = sorted(path for path in Path(name).iterdir() if not _IGNORED.fullmatch(path.name))
    files = [str(path) for path in entries if path.is_file()]
    folders = {folder.name: _files_in(folder) for folder in entries if folder.is_dir()}
    inside = [path for paths in folders.values() for path in paths]
    if files and (not inside or any(map(is_table, files))):
        if as_documents:
            return [Documents(name, files=[("", path) for path in files])]
        if sum(not any(map(is_table, paths)) for paths in folders.values() if paths) > 1:
            raise DataError(f"{name} has both {os.path.basename(files[0])} and folders of documents: pass one of them")
        return tables(files)
    if not inside:
        raise DataError(f"{name}: the folder has no data")
    if len(inside) > MOST_DOCUMENTS:
        raise DataError(f"{name} holds {len(inside):,} documents, and the limit is {MOST_DOCUMENTS:,}")
    if all(map(_PARTITION.fullmatch, folders)) or any(map(is_table, inside)):
        return tables(inside)
    documents = [(label, path) for label, paths in folders.items() for path in paths]
    if not sort_documents:  # to learn from, the classes alternate, so that no long run of rows has the same label
        turns = [turn / len(paths) for paths in folders.values() for turn in range(len(paths))]
        documents = [document for _, document in sorted(zip(turns, documents, strict=True))]
    return [Documents(name, files=documents)]


def _files_in(folder: Path) -> list[str]:
    paths = sorted(folder.rglob("*"))
    return [str(path) for path in paths if path.is_file() and not path.name.startswith((".", "_"))]


def digest_of(path: str) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- workbooks


def read_sheet(source: Source) -> bytes:
    """The sheet of a workbook, the first by default, as CSV."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise MissingExtraError("python_calamine", "excel") from None
    try:
        book = CalamineWorkbook.from_path(source.path)
        names, wanted = book.sheet_names, source.sheet or "1"
        name = names[int(wanted) - 1] if wanted.isdecimal() and 1 <= int(wanted) <= len(names) else wanted
        if name not in names:
            raise DataError(f"{source.name} has no sheet {wanted!r}; there are {', '.join(names)}")
        rows = book.get_sheet_by_name(name).to_python()
    except (CalamineError, OSError) as error:
        raise DataError(f"{source.name} is not a valid workbook: {first_line(error)}") from None
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell_text(cell) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8", "replace")


def _cell_text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return " ".join(str(cell).split("\n"))
