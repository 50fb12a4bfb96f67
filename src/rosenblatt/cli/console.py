"""Everything that the command shows: messages, progress, errors, pages and pictures.

Invariant: text for people holds no control character except line ends and tabs, and none that changes the writing
direction. They are escaped as in JSON, so JSON stays valid. Data that goes to a pipe or a file is not changed.
"""

from __future__ import annotations

import codecs
import contextlib
import html
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any, Self

_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}
_BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_ESCAPES = {code: f"\\u{code:04x}" for code in _CONTROLS | _BIDI}


def escape(text: str) -> str:
    r"""Escape the characters that a terminal would act on.

    >>> escape("\x1b[31mred\x07")
    '\\u001b[31mred\\u0007'
    """
    return text.translate(_ESCAPES)


def say(*lines: str, quiet: bool = False) -> None:
    """Print messages to stderr."""
    if not quiet:
        print(*(f"rosenblatt: {line}" for line in lines), sep="\n", file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON value; dates and other labels that JSON lacks become text."""
    print(json.dumps(value, ensure_ascii=False, default=str))


@contextlib.contextmanager
def escaped_streams() -> Iterator[None]:
    """Escape what is printed to stdout and stderr."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Escaped(sys.stdout), _Escaped(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Escaped:
    """A text stream that escapes what is written to it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.rich_proxied_file = stream  # rich moves the cursor, on purpose

    def write(self, text: str) -> int:
        self._stream.write(escape(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        """For data: unchanged, unless it goes to a terminal."""
        return _EscapedBytes(self) if self._stream.isatty() else self._stream.buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _EscapedBytes(io.RawIOBase):
    def __init__(self, text: _Escaped) -> None:
        self._text = text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._text.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._text.flush()


def open_standard_streams() -> None:
    """Reopen closed standard streams, so that the first file opened does not take their descriptors."""
    # The wrong way round: reading stdin or writing to stdout stays an error.
    for number, name, mode in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_RDONLY)):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                opened = os.open(os.devnull, mode)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def drop_pending_output() -> None:
    """Flush stdout; if that fails, keep Python from trying again when it exits."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def error_message(error: BaseException) -> str:
    """One line for the user."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ImportError):
        return f"{error.filename or 'stdout'}: {error.strerror}"
    notes = [note.replace("skip_bad=True", "--skip-bad") for note in getattr(error, "__notes__", [])]
    text = " ".join("; ".join([str(error), *notes]).split())
    return text if len(text) <= 2000 else f"{text[:1000]} … {text[-900:]}"  # the reason is at the end


def waiting(what: str, *, visible: bool = True) -> contextlib.AbstractContextManager[Any]:
    """Show on a terminal what is going on, if there is nothing to count."""
    if not (visible and sys.stderr.isatty()):
        return contextlib.nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(what)


class Progress:
    """A progress bar on a terminal, for a run over files or over shards; shows nothing in a pipe."""

    def __init__(self, *, visible: bool) -> None:
        from rosenblatt.learners.progress import Bar

        text = ("{task.fields[speed]}", "{task.fields[mistakes]}", "left")
        self._bar = Bar(*text, visible=visible and sys.stderr.isatty())
        self._started, self._before = time.perf_counter(), 0

    @property
    def visible(self) -> bool:
        return self._bar.visible

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.__exit__()

    def _show(self, epochs: int, completed: float, speed: str, mistakes: str) -> None:
        if not self._bar.begun:
            self._bar.begin("epoch 1", None, speed="", mistakes="")
        text = {"speed": speed} | ({"mistakes": mistakes} if mistakes else {})  # the last epoch's stay in between
        description = f"epoch {min(int(completed) + 1, epochs)}/{epochs}"
        self._bar.show(description=description, total=epochs, completed=completed, **text)

    def start_files(self, run: Any) -> None:
        """Begin to measure; a resumed run has learned some rows already."""
        self._started, self._before = time.perf_counter(), _rows_learned(run)

    def show_files(self, run: Any) -> None:
        """Show the speed and mistakes of a run over files."""
        if not self.visible:
            return
        at = run.progress
        seconds = max(time.perf_counter() - self._started, 1e-9)
        speed = f"{(_rows_learned(run) - self._before) / seconds:,.0f} rows/s"
        share = at.rows / run.rows
        mistakes = f"{at.mistakes / at.rows:.2%} mistakes" if at.rows else ""
        self._show(run.params.max_iter, at.epoch + share, speed, mistakes)

    def show_shards(self, run: Any) -> None:
        """Show the mistakes of a run over shards; called when it begins and after every epoch."""
        history = run.stopping.history
        mistakes = f"{history.mistakes[-1] / sum(run.sizes):.2%} mistakes" if len(history) else ""
        self._show(int(run.params.max_iter), len(history), "", mistakes)
        self._share = 1 / (run.parts * len(run.sizes))

    def add_shard(self) -> None:
        self._bar.show(advance=self._share)


def _rows_learned(run: Any) -> int:
    rows: int = len(run.stopping.history) * run.rows + run.progress.rows
    return rows


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }}
  pre {{ font: 14px/1.45 ui-monospace, monospace; overflow-x: auto; padding: .8rem; background: #f5f5f5; }}
</style>
<h1>{title}</h1>
<pre>{text}</pre>
</html>
"""


def write_page(path: str, title: str, text: str) -> None:
    """Write an HTML page with a heading and preformatted text."""
    from rosenblatt.io.atomic import write_atomic

    write_atomic(path, _PAGE.format(title=html.escape(title), text=html.escape(text)).encode("utf-8", "replace"))


def save_figure(figure: Any, path: str) -> None:
    """Write a figure in the format of the file's extension."""
    from rosenblatt.io.atomic import writing

    with writing(path) as file:
        figure.savefig(file, format=os.path.splitext(path)[1].lower().removeprefix(".") or "png")
