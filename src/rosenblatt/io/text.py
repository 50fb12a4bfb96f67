"""Text in any encoding as UTF-8, in chunks of whole lines.

Invariant: the content of a line depends on the line alone, not on how the text is cut. Bytes that are not UTF-8 are
read as Windows-1252, unless an encoding is named. A chunk is full unless the stream is live.
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
from rosenblatt.io.limits import format_size
from rosenblatt.io.source import IterableStream, Source

CHUNK = 4 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PLAIN = frozenset((*b"\t\r\n", *range(0x20, 0x7F)))


def _from_cp1252(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    # Five bytes mean nothing in Windows-1252, and stay the control characters of Latin-1.
    return "".join(bytes((b,)).decode("latin-1" if b in b"\x81\x8d\x8f\x90\x9d" else "cp1252") for b in bad), error.end


codecs.register_error("rosenblatt-cp1252", _from_cp1252)


def check_encoding(name: str | None) -> None:
    """Raise if Python has no text encoding of this name."""
    if name is None:
        return
    try:
        if "x".encode(name).decode(name) == "x":
            return
    except (LookupError, UnicodeError, TypeError, ValueError):
        pass
    raise ParameterError(f"encoding={name!r}: there is no such encoding; write utf-8, latin-1, cp1252, utf-16, …")


def detect_mark(head: bytes) -> tuple[bytes, str]:
    """The byte order mark at the beginning and its encoding, or two empty values.

    Without a mark, two plain characters with a zero byte beside each are UTF-16.
    """
    found = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", ""))
    if not found[1] and len(head) >= 4:
        for zero, plain, name in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
            if head[zero] == head[zero + 2] == 0 and all(head[k] in _PLAIN for k in (plain, plain + 2)):
                return b"", name
    return found


@contextmanager
def open_text(source: Source, encoding: str | None = None) -> Iterator[BinaryIO]:
    """The text of a source as UTF-8, without a byte order mark; invalid bytes are left to `to_utf8`."""
    with naming(source), io.BufferedReader(cast(Any, source.open()), 1 << 16) as stream:
        mark, marked = detect_mark(stream.peek(4)[:4])
        if encoding is None:
            stream.read(len(mark))
        found = codecs.lookup(encoding or marked or "utf-8").name
        if found == "utf-8" and encoding is None:
            yield cast(BinaryIO, stream)
        else:
            pieces = _decode(stream, source.name, "utf-8-sig" if found == "utf-8" else found)
            yield cast(BinaryIO, io.BufferedReader(IterableStream(pieces), 1 << 16))


def _decode(stream: Any, name: str, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    done = False
    while not done:
        piece = stream.read1(1 << 18)
        done = not piece
        try:
            text = decoder.decode(piece, done)
        except UnicodeDecodeError as error:
            byte = error.object[error.start : error.start + 1].hex()
            raise DataError(f"{name}: the byte 0x{byte} is not {encoding}: --encoding names another") from None
        if text:
            yield text.encode("utf-8", "replace")


def iter_chunks(source: Source, *, encoding: str | None = None, size: int = CHUNK) -> Iterator[memoryview]:
    """Chunks of whole lines, from the beginning of a source."""
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


def head_as_utf8(head: bytes, encoding: str | None) -> bytes:
    """The first bytes of a text as UTF-8; the last character may be cut."""
    mark, marked = detect_mark(head)
    found = codecs.lookup(encoding or marked or "utf-8").name
    if found == "utf-8":
        return bytes(to_utf8(head.removeprefix(codecs.BOM_UTF8))) if b"\n" in head else head
    text = codecs.getincrementaldecoder(found)("replace").decode(head if encoding else head[len(mark) :])
    return text.removeprefix("\ufeff").encode("utf-8", "replace")


def to_utf8(data: bytes | memoryview) -> bytes | memoryview:
    """Text with bytes that are not UTF-8 read as Windows-1252; the same object if there are none."""
    if not len(data) or not (np.frombuffer(data, np.uint8) & 0x80).any():
        return data
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return str(data, "utf-8", "rosenblatt-cp1252").encode()
    return data


def check_line(source: Source, length: int) -> None:
    """Raise if a line is too long."""
    if length > source.limits.line:
        raise DataError(
            f"{source.name} has a line longer than {format_size(source.limits.line)}: --read-limit line=SIZE"
        )


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """Errors of decompression that name the file."""
    try:
        yield
    except (EOFError, OSError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, NotImplementedError) as error:
        why = str(error).splitlines()[0] if str(error) else "it ends too early"
        if isinstance(error, OSError) and error.strerror:
            why = error.strerror
        raise DataError(f"{source.name} cannot be decompressed: {why}") from None


def fill(stream: Any, buffer: memoryview, *, live: bool) -> int:
    """Read until the buffer is full or the stream ends; a live stream is read once."""
    if live:
        return int(stream.readinto1(buffer[: 1 << 16]))  # more than its own buffer would wait for more
    filled = 0
    while filled < len(buffer) and (count := stream.readinto(buffer[filled:])):
        filled += count
    return filled


def _last_line_end(text: memoryview) -> int:
    """The end of the last whole line."""
    size = 1 << 16  # the end is near if lines are short
    while True:
        begin = max(0, len(text) - size)
        end = bytes(text[begin:]).rfind(b"\n")
        if end >= 0 or begin == 0:
            return begin + end + 1 if end >= 0 else 0
        size *= 2
