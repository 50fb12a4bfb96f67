"""A stream of bytes as chunks of whole lines.

Invariant: the chunks joined are the stream, byte for byte; none ends inside of a line. A chunk is full unless the
stream is live, so where a file is cut depends on nothing but the file.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from rosenblatt import engine
from rosenblatt.data.encoding import as_utf8
from rosenblatt.data.limits import shown
from rosenblatt.data.sources import Source
from rosenblatt.errors import DataError

CHUNK = 4 << 20


@contextmanager
def open_text(source: Source, encoding: str | None = None) -> Iterator[BinaryIO]:
    """The text of a source from its beginning, as UTF-8 as far as that can be told without reading on."""
    with naming(source), as_utf8(source.open(), source.name, encoding) as stream:
        yield stream


def iter_chunks(source: Source, *, encoding: str | None = None, size: int = CHUNK) -> Iterator[memoryview]:
    """The chunks of a source, from its beginning; a byte order mark at the start is dropped."""
    with open_text(source, encoding) as stream:
        rest = b""
        while True:
            buffer = engine.make_buffer(max(size, 2 * len(rest))).data
            buffer[: len(rest)] = rest
            filled = len(rest) + fill(stream, buffer[len(rest) :], live=source.live)
            if filled == len(rest):
                check_line(source, filled)
                if filled:
                    yield buffer[:filled]
                return
            end = _last_line_end(buffer[:filled])
            check_line(source, filled - end)
            rest = bytes(buffer[end:filled])
            if end > source.limits.line:
                check_line(source, max(map(len, bytes(buffer[:end]).split(b"\n"))))
            if end:
                yield buffer[:end]


def read_head(source: Source, size: int) -> bytes:
    """The first bytes of a source that can be opened again."""
    with naming(source), source.open() as stream:
        head = bytearray(size)
        return bytes(head[: fill(stream, memoryview(head), live=False)])


def check_line(source: Source, length: int) -> None:
    """Raise if a line has become too long."""
    if length > source.limits.line:
        raise DataError(f"{source.name} has a line longer than {shown(source.limits.line)}: --limit line=SIZE")


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """Say which file it was that could not be read."""
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, NotImplementedError) as error:
        why = str(error).splitlines()[0] if str(error) else "it ends too early"
        if isinstance(error, OSError) and error.strerror:
            why = error.strerror
        raise DataError(f"{source.name} cannot be decompressed: {why}") from None


def fill(stream: Any, buffer: memoryview, *, live: bool) -> int:
    """Read until the buffer is full or the stream ends; a live stream is read once."""
    filled = 0
    while filled < len(buffer):
        count = stream.readinto(buffer[filled:])
        if not count:
            break
        filled += count
        if live:
            break
    return filled


def _last_line_end(text: memoryview) -> int:
    """Where the last whole line ends."""
    size = 1 << 16  # the end is near, where lines are short
    while True:
        begin = max(0, len(text) - size)
        end = bytes(text[begin:]).rfind(b"\n")
        if end >= 0 or begin == 0:
            return begin + end + 1 if end >= 0 else 0
        size *= 2
