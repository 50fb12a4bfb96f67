"""What the command prints, with control characters spelled out: no label, name or file may drive a terminal.

Invariant: what people read, on standard output and standard error, holds no control character but line ends and tabs,
and none that turns the direction of writing. They are spelled as JSON spells them, so that JSON stays what it is. Data
that goes to a pipe or a file is left as it is.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any

_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}
_TURNING = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_SPELLED = {code: f"\\u{code:04x}" for code in _CONTROLS | _TURNING}


def spelled(text: str) -> str:
    r"""A text without characters that do something to a terminal.

    >>> spelled("\x1b[31mred\x07")
    '\\u001b[31mred\\u0007'
    """
    return text.translate(_SPELLED)


@contextlib.contextmanager
def spelling() -> Iterator[None]:
    """While it lasts, standard output and standard error spell control characters out."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Spelling(sys.stdout), _Spelling(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Spelling:
    """A text stream that is another one, but for what is written to it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.rich_proxied_file = stream  # where rich draws its bars, whose control characters are meant

    def write(self, text: str) -> int:
        self._stream.write(spelled(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        """For data: bytes as they are, unless a terminal gets them."""
        return _Bytes(self) if self._stream.isatty() else self._stream.buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Bytes(io.RawIOBase):
    """Bytes that become text for a terminal."""

    def __init__(self, text: _Spelling) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._text.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._text.flush()
