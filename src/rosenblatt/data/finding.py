"""Which sources a path, a glob, a folder, an address or a list of these stands for."""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from rosenblatt.data.limits import USUAL, Limits, shown
from rosenblatt.data.sources import Pipe, Source, Spooled, StandardInput, digest_of
from rosenblatt.data.streams import Joined
from rosenblatt.errors import DataError

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
                raise DataError(f"{path} is a document longer than {shown(self.limits.line)}: --limit line=SIZE")
            for space in (b"\n", b"\r"):
                text = text.replace(space, b" ")
            yield re.sub(r"[\t\r\n]", " ", label).encode("utf-8", "replace") + b"\t" + text + b"\n"


def _read_up_to(stream: Any, size: int) -> bytes:
    parts = []
    while size > 0 and (piece := stream.read(min(size, 1 << 20))):
        parts.append(piece)
        size -= len(piece)
    return b"".join(parts)


def find_sources(
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    limits: Limits = USUAL,
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
    >>> find_sources("-")
    [StandardInput(name='standard input')]
    >>> find_sources("no/such/file")
    Traceback (most recent call last):
        ...
    rosenblatt.errors.DataError: no/such/file: there is no such file
    """
    if not isinstance(data, (str, os.PathLike)):
        options: dict[str, Any] = {"in_order": in_order, "as_documents": as_documents}
        found = [source for each in data for source in find_sources(each, limits, **options)]
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
    return find_sources(matches, limits, in_order=in_order, as_documents=as_documents)


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
    if not glob.has_magic(name.split("?", 1)[0] if name.startswith("http") else name):
        return [name]
    from rosenblatt.errors import MissingExtraError

    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "remote") from None
    files, path = fsspec.core.url_to_fs(name)
    found = sorted(files.glob(path))
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
            f"{name} holds {len(inside):,} documents, and the limit is {limits.documents:,}: --limit documents=N"
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
