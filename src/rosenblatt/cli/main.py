"""The command's entry: finds the verb, runs it, and turns errors into one sentence and an exit code.

Invariant: a verb is a module with ``HELP``, ``add_arguments(parser)`` and ``run(args)``; it imports what it needs
inside ``run``, so that ``--help`` is quick. Exit codes: 0 done, 1 could not be done, 2 wrong use, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

VERBS = ("train", "predict", "evaluate", "inspect", "export", "compare", "tune", "certify", "trace", "play", "demo")

DESCRIPTION = "The perceptron family: exact, fast, streaming, explained."
EPILOG = "`rosenblatt VERB --help` explains a verb and its options."


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without listing every option there is."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; `{self.prog} --help` explains\n")


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command, a sub-parser a verb."""
    from rosenblatt import __version__

    parser = Parser("rosenblatt", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"rosenblatt {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        module = import_module(f"rosenblatt.cli.{verb}")
        verb_parser = verbs.add_parser(
            verb,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(verb_parser)
        verb_parser.set_defaults(run=module.run)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; what it returns is the exit code."""
    from rosenblatt.errors import ParameterError, RosenblattError

    args = build_parser().parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except (RosenblattError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of our output has enough: not an error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        why = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename:
            why = f"{error.filename}: {error.strerror}"
        print(f"rosenblatt: {why}", file=sys.stderr)
        return 2 if isinstance(error, ParameterError) else 1
    except KeyboardInterrupt:
        print("rosenblatt: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
