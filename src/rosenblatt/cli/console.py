"""Everything that the command shows: messages, JSON and errors.

Invariant: text for people holds no control character except line ends and tabs, and none that changes the writing
direction. They are escaped as in JSON, so JSON stays valid. Data that goes to a pipe or a file is not changed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import click

_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}
_BIDI = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_ESCAPES = {code: f"\\u{code:04x}" for code in _CONTROLS | _BIDI}


def escape(text: str) -> str:
    r"""Escape the characters that a terminal would act on.

    >>> escape("\x1b[31mred\x07")
    '\\u001b[31mred\\u0007'
    """
    return text.translate(_ESCAPES)


def echo(*lines: object, file: Any = None) -> None:
    """Print lines, escaped; to stdout by default. Every verb prints by this function."""
    print(*(escape(str(line)) for line in lines), sep="\n", file=file, flush=True)


def is_quiet() -> bool:
    """True if the running verb has --quiet."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.params.get("quiet"))


def say(*lines: str) -> None:
    """Print messages to stderr."""
    if lines and not is_quiet():
        echo(*(f"rosenblatt: {line}" for line in lines), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print one JSON value; dates and other labels that JSON lacks become text, and scores that are NaN null."""
    plain = json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
    echo(json.dumps(plain, ensure_ascii=False))


def open_standard_streams() -> None:
    """Reopen closed standard streams, so that the first file opened does not take their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # The lowest free descriptor is this one. The wrong mode keeps reading stdin or writing stdout an error.
            os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY)
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


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
    text = re.sub(r"^(label|weight|task)=('.*?')", r"--\1 \2", text)  # as Python names them
    text = re.sub(r"^(group|time|scoring) needs folds or 'auto'", r"--\1 needs --folds or --learner auto", text)
    return text if len(text) <= 2000 else f"{text[:1000]} … {text[-900:]}"  # the reason is at the end
