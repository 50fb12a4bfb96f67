"""The manual page, made from `--help`: ``python -m rosenblatt.cli.manual`` prints it when a wheel is built.

Invariant: needs nothing but click.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from rosenblatt import __version__
from rosenblatt.cli.main import DESCRIPTION, VERBS, command


def render_manual() -> str:
    """The page in the language of man(7)."""
    lines = [
        f'.TH ROSENBLATT 1 "" "rosenblatt {__version__}" "User commands"',
        ".ad l",  # ragged right: lists of choices are long words
        ".SH NAME",
        f"rosenblatt \\- {_plain(DESCRIPTION)}",
        ".SH SYNOPSIS",
        ".B rosenblatt",
        "VERB [options]",
        ".SH VERBS",
    ]
    for verb, ctx in verb_contexts().items():
        lines += [f".SS {verb}", ".nf", *map(_plain, ctx.command.get_help(ctx).splitlines()), ".fi"]
    lines += [
        ".SH EXIT STATUS",
        "0 done, 1 failed, 2 wrong use, 130 interrupted.",
        ".SH SEE ALSO",
        "The quickstart, params and reference are in the documentation of the package.",
    ]
    return "\n".join(lines) + "\n"


def verb_contexts() -> dict[str, click.Context]:
    """A context of each verb, for its help."""
    group = click.Context(command, info_name="rosenblatt")
    found = {}
    for verb in VERBS:
        one = command.get_command(group, verb)
        assert one is not None
        found[verb] = click.Context(one, group, info_name=verb)
    return found


def options_of(verb: click.Command) -> list[Any]:
    """Its options."""
    return [param for param in verb.params if isinstance(param, click.Option)]


def _plain(text: str) -> str:
    """Text that man(7) shows as it is: hyphens stay hyphens, no line starts a request, and all letters are ASCII."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(render_manual())
