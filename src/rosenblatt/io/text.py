"""Text in any encoding as UTF-8, in chunks of whole lines.

Invariant: the content of a line depends on the line alone, not on how the text is cut. A line that is UTF-8 stays as it
is; another is read as Windows-1252, unless an encoding is named. A chunk is full unless the stream is live.
"""

from __future__ import annotations

import codecs
import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import numpy as np

from rosenblatt.errors import DataError, ParameterError
from rosenblatt.io.limits import shown
from rosenblatt.io.source import Source

# Windows-1252 is Latin-1 but for these. Five bytes mean nothing in it, and stay the control characters of Latin-1.
_UNLIKE_LATIN_1 = {
    byte: bytes((byte,)).decode("cp1252") for byte in range(0x80, 0xA0) if byte not in b"\x81\x8d\x8f\x90\x9d"
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


_PLAIN = frozenset((*b"\t\r\n", *range(0x20, 0x7F)))


def check_encoding(name: str | None) -> None:
    """Raise if Python knows no encoding of this name for text."""
    if name is None:
        return
    try:
        if "x".encode(name).decode(name) == "x":
            return
    except (LookupError, UnicodeError, TypeError, ValueError):
        pass
    raise ParameterError(f"encoding={name!r}: there is no such encoding; write utf-8, latin-1, cp1252, utf-16, …")


def mark_of(head: bytes) -> tuple[bytes, str]:
    """The byte order mark at the beginning, and the encoding that it stands for; nothing where there is none.

    Without a mark, two plain characters with a zero byte beside each are UTF-16.
    """
    found = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", ""))
    if not found[1] and len(head) >= 4:
        for zero, plain, name in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
            if head[zero] == head[zero + 2] == 0 and all(head[k] in _PLAIN for k in (plain, plain + 2)):
                return b"", name
    return found


def as_utf8(stream: BinaryIO, name: str, encoding: str | None) -> BinaryIO:
    """A stream of bytes as one of UTF-8, without a byte order mark; `name` is for errors."""
    try:
        head = _read(stream, 4)
    except BaseException:
        stream.close()
        raise
    mark, marked = mark_of(head)
    found = encoding or marked or "utf-8"
    if marked and not encoding:
        head = head[len(mark) :]
    rest = _Rest(head, stream)
    if codecs.lookup(found).name == "utf-8":
        # By default a line that is not UTF-8 is looked after later; named, the encoding is taken at its word.
        return cast(BinaryIO, rest if encoding is None else _Decoded(rest, name, "utf-8-sig"))
    return cast(BinaryIO, _Decoded(rest, name, found))


def head_as_utf8(head: bytes, encoding: str | None) -> bytes:
    """The same for the first bytes of a text, of which the last character may be cut."""
    mark, marked = mark_of(head)
    found = encoding or marked or "utf-8"
    if marked and not encoding:
        head = head[len(mark) :]
    if codecs.lookup(found).name == "utf-8":
        return repaired(head.removeprefix(codecs.BOM_UTF8)) if b"\n" in head else head
    text = codecs.getincrementaldecoder(found)("replace").decode(head)
    return text.removeprefix("\ufeff").encode("utf-8", "replace")


def is_utf8(data: Any) -> bool:
    """Is it UTF-8?"""
    if not len(data) or not (np.frombuffer(data, np.uint8) & 0x80).any():
        return True
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def repaired(data: Any) -> bytes:
    """Lines with those that are not UTF-8 read as Windows-1252 instead."""
    whole = bytes(data)
    if is_utf8(whole):
        return whole
    return b"\n".join(line if is_utf8(line) else _from_fallback(line) for line in whole.split(b"\n"))


def _from_fallback(line: bytes) -> bytes:
    return line.decode("latin-1").translate(_UNLIKE_LATIN_1).encode()


def _read(stream: Any, size: int) -> bytes:
    """So many bytes, or what there is."""
    head = b""
    while len(head) < size:
        more = stream.read(size - len(head))
        if not more:
            break
        head += more
        if b"\n" in head:  # a live stream may have no more for now
            break
    return head


class _Rest(io.RawIOBase):
    """Bytes that were read already, and the stream that they came from."""

    def __init__(self, head: bytes, stream: Any) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            count = min(len(buffer), len(self._head))
            buffer[:count], self._head = self._head[:count], self._head[count:]
            return count
        count = self._stream.readinto(buffer)
        return count or 0

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _Decoded(io.RawIOBase):
    """A stream in another encoding as UTF-8."""

    def __init__(self, stream: Any, name: str, encoding: str) -> None:
        self._stream, self._name, self._encoding = stream, name, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._left, self._done = b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left and not self._done:
            piece = self._stream.read(1 << 18)
            self._done = not piece
            try:
                text = self._decoder.decode(piece or b"", self._done)
            except UnicodeDecodeError as error:
                shown = error.object[error.start : error.start + 1].hex() if isinstance(error.object, bytes) else ""
                raise DataError(
                    f"{self._name}: the byte 0x{shown} is not {self._encoding}: --encoding names another"
                ) from None
            self._left = text.encode("utf-8", "replace")
        count = min(len(buffer), len(self._left))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


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
            buffer = np.empty(max(size, 2 * len(rest)), np.uint8).data
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
        raise DataError(f"{source.name} has a line longer than {shown(source.limits.line)}: --read-limit line=SIZE")


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
