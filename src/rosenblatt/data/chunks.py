"""A stream of bytes as chunks of whole lines.

Invariant: the chunks joined are the stream, byte for byte; none ends inside of a line (or, for CSV, inside of
quotes). A chunk is full unless the stream is live, so where a file is cut depends on nothing but the file.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from rosenblatt import engine
from rosenblatt.data.sources import Source
from rosenblatt.errors import DataError

CHUNK = 4 << 20
LONGEST_LINE = 64 << 20
_BOM = b"\xef\xbb\xbf"


def iter_chunks(source: Source, *, quoted: bool = False, size: int = CHUNK) -> Iterator[memoryview]:
    """The chunks of a source, from its beginning; a byte order mark at the start is dropped."""
    with _naming(source), source.open() as stream:
        first = True
        for chunk in _cut(stream, source, quoted, size):
            yield chunk[len(_BOM) :] if first and bytes(chunk[:3]) == _BOM else chunk
            first = False


def read_head(source: Source, size: int) -> bytes:
    """The first bytes of a source that can be opened again."""
    with _naming(source), source.open() as stream:
        return bytes(stream.read(size))


@contextmanager
def _naming(source: Source) -> Iterator[None]:
    """Say which file it was that could not be read."""
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{source.name} cannot be decompressed: {error}") from None


def _cut(stream: BinaryIO, source: Source, quoted: bool, size: int) -> Iterator[memoryview]:
    rest = b""
    while True:
        buffer = engine.make_buffer(max(size, 2 * len(rest))).data
        buffer[: len(rest)] = rest
        filled = len(rest) + _fill(stream, buffer[len(rest) :], live=source.live)
        if filled == len(rest):
            if filled:
                yield buffer[:filled]
            return
        end = _last_line_end(buffer[:filled], quoted)
        if end == 0 and filled > LONGEST_LINE:
            raise DataError(f"{source.name} has a line longer than {LONGEST_LINE >> 20} MB")
        rest = bytes(buffer[end:filled])
        if end:
            yield buffer[:end]


def _fill(stream: BinaryIO, buffer: memoryview, *, live: bool) -> int:
    """Read until the buffer is full or the stream ends; a live stream is read once."""
    filled = 0
    while filled < len(buffer):
        count = stream.readinto(buffer[filled:])  # type: ignore[attr-defined]
        if not count:
            break
        filled += count
        if live:
            break
    return filled


def _last_line_end(text: memoryview, quoted: bool) -> int:
    """Where the last whole line ends; a line may go on within quotes."""
    if quoted:
        whole = bytes(text)
        end = whole.rfind(b"\n")
        quotes = whole.count(b'"', 0, max(end, 0))
        while quotes % 2 and end >= 0:
            before = whole.rfind(b"\n", 0, end)
            quotes -= whole.count(b'"', max(before, 0), end)
            end = before
        return end + 1
    size = 1 << 16  # the end is near, where lines are short
    while True:
        begin = max(0, len(text) - size)
        end = bytes(text[begin:]).rfind(b"\n")
        if end >= 0 or begin == 0:
            return begin + end + 1 if end >= 0 else 0
        size *= 2
