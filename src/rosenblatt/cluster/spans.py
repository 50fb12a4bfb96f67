"""A long file of lines as several sources, so that several workers can read it.

Invariant: every line of the file is in exactly one span: the one in which its first byte lies.
"""

from __future__ import annotations

import io
import itertools
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, cast

from rosenblatt.io.dataset import Dataset
from rosenblatt.io.formats import LINE_FORMATS
from rosenblatt.io.source import Documents, Source
from rosenblatt.io.text import detect_mark, read_head

MOST_SPANS = 4096


@dataclass
class Span(Source):
    """The lines that begin within some bytes of a file that is not compressed."""

    file: str = ""
    begin: int = 0
    end: int = 0

    @classmethod
    def of(cls, source: Source, begin: int, end: int) -> Span:
        """A line is counted from the beginning of its span, so its name says where that is."""
        name = f"{source.name} (from byte {begin:,} on)" if begin else source.name
        return cls(name, source.limits, source.path, begin, end)

    @property
    def path(self) -> str:
        return self.file

    @property
    def size(self) -> int:
        return self.end - self.begin

    def open(self) -> BinaryIO:
        raw = self._raw()
        begin = _line_after(raw, self.begin)
        return cast(BinaryIO, _Window(raw, begin, max(begin, _line_after(raw, self.end))))


def _line_after(raw: Any, at: int) -> int:
    """Where the first line begins that does not begin before a byte."""
    if at == 0:
        return 0
    at -= 1
    raw.seek(at)
    while piece := raw.read(1 << 16):
        found = piece.find(b"\n")
        if found >= 0:
            return at + int(found) + 1
        at += len(piece)
    return at


class _Window(io.RawIOBase):
    """Some bytes of a file."""

    def __init__(self, raw: Any, begin: int, end: int) -> None:
        self._raw, self._left = raw, end - begin
        raw.seek(begin)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)[: self._left]
        count = self._raw.readinto(view) if len(view) else 0
        self._left -= count or 0
        return count or 0

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


def split_source(source: Source, reader: Dataset, size: int) -> list[Source]:
    """A source as several of about so many bytes, where it can be cut; else as it is."""
    if isinstance(source, Documents):
        pieces = min(max(1, source.size // size), len(source.files), MOST_SPANS)
        bounds = [k * len(source.files) // pieces for k in range(pieces + 1)]
        return [replace(source, files=source.files[a:b]) for a, b in itertools.pairwise(bounds) if a < b]
    whole = type(source) is not Source or reader.format not in LINE_FORMATS or source.size < 2 * size
    if whole or source.compression or reader.options.encoding or detect_mark(read_head(source, 4))[0]:
        return [source]
    pieces = min(source.size // size, MOST_SPANS)
    bounds = [k * source.size // pieces for k in range(pieces + 1)]
    return [Span.of(source, begin, end) for begin, end in itertools.pairwise(bounds)]
