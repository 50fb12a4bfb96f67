"""The error of a line that cannot be read."""

from __future__ import annotations

from rosenblatt.errors import DataError


def bad_line(sentence: str) -> DataError:
    """The error that says so; its note is the way to go on."""
    error = DataError(sentence)
    error.add_note("skip_bad=True goes on without such lines")
    return error
