"""The manual page, made of what ``--help`` says: ``python -m rosenblatt.cli.manual`` prints it when a wheel is built.

Invariant: nothing is imported but the parsers, which need no other package.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator

from rosenblatt import __version__
from rosenblatt.cli.main import DESCRIPTION, VERBS, build_parser


def render_manual() -> str:
    """The page in the language of man(7)."""
    parser = build_parser()
    verbs = next(each for each in parser._actions if isinstance(each, argparse._SubParsersAction)).choices
    lines = [
        f'.TH ROSENBLATT 1 "" "rosenblatt {__version__}" "User commands"',
        ".ad l",  # no stretched lines: lists of choices are long words
        ".SH NAME",
        f"rosenblatt \\- {_plain(DESCRIPTION)}",
        ".SH SYNOPSIS",
        ".B rosenblatt",
        "VERB [options]",
        ".SH VERBS",
    ]
    for verb in VERBS:
        lines += [f".SS {verb}", *_text(verbs[verb].description or "")]
        for action in verbs[verb]._actions:
            if action.help and action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction):
                lines += list(_option(verbs[verb], action))
    lines += [
        ".SH EXIT STATUS",
        "0 done, 1 could not be done, 2 wrong use, 130 interrupted.",
        ".SH SEE ALSO",
        "The quickstart, params and reference are in the documentation of the package.",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> Iterator[str]:
    """Paragraphs as they are, indented lines as examples."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        indented = paragraph.startswith("    ")
        yield ".PP"
        if indented:
            yield from (".nf", *(_plain(line) for line in paragraph.splitlines()), ".fi")
        else:
            yield _plain(" ".join(paragraph.split()))


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> Iterator[str]:
    formatter = parser._get_formatter()
    yield ".TP"
    yield f".B {_plain(formatter._format_action_invocation(action))}"
    yield _plain(formatter._expand_help(action))


def _plain(text: str) -> str:
    """Text that man(7) takes for text: hyphens stay hyphens, no line begins a request, and all letters are ASCII."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(render_manual())
