"""The command's entry: finds the verb, runs it, and turns errors into one sentence and an exit code.

Invariant: a verb is a module with ``HELP``, ``add_arguments(parser)`` and ``run(args)``; it imports what it needs
inside ``run``, so that ``--help`` is quick. Exit codes: 0 done, 1 could not be done, 2 wrong use, 130 interrupted. No
file is read before it is known that none is about to be overwritten.
"""

from __future__ import annotations

import argparse
import os
import signal
import stat
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from rosenblatt.cli.interrupt import Interrupts
from rosenblatt.cli.shown import spelling

VERBS = (
    "train",
    "predict",
    "evaluate",
    "inspect",
    "export",
    "compare",
    "tune",
    "certify",
    "trace",
    "serve",
    "replay",
    "play",
    "demo",
    "completion",
)

DESCRIPTION = "The perceptron family: exact, fast, streaming, explained."
EPILOG = (
    "To begin: `rosenblatt train DATA -o MODEL`, then `rosenblatt predict MODEL DATA`. "
    "`rosenblatt VERB --help` explains a verb and its options."
)

# Arguments of the verbs that name files: what is written, and what is read.
_OUTPUTS = {"output": "-o", "report": "--report", "checkpoint": "--checkpoint", "html": "--html", "plot": "--plot"}
_INPUTS = ("model", "data", "check", "resume", "start", "valid")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without listing every option there is; options are never abbreviated."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **(options | {"allow_abbrev": False}))

    def error(self, message: str) -> NoReturn:
        begin = "unrecognized arguments: "
        if message.startswith(begin):
            from rosenblatt.cli.foreign import hint_for

            words = message.removeprefix(begin).split()
            hint = hint_for(words) or self._similar(words)
            message = hint or f"there is no option {words[0]}"
        self.exit(2, f"{self.prog}: {message}; `{self.prog} --help` explains\n")

    def _print_message(self, message: str, file: Any = None) -> None:  # argparse passes over what cannot be written
        (file or sys.stderr).write(message)

    def _similar(self, words: list[str]) -> str:
        from difflib import get_close_matches

        wrong = next((word.split("=", 1)[0] for word in words if word.startswith("-")), "")
        known = [name for action in self._actions for name in action.option_strings]
        begun = [name for name in known if wrong.startswith("--") and name.startswith(wrong)]
        close = begun[:1] or (get_close_matches(wrong, known, 1, 0.7) if wrong else [])
        return f"there is no option {wrong}; {close[0]} comes close" if close else ""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command, a sub-parser a verb."""
    return _build_parsers()[0]


def _build_parsers(only: str | None = None) -> tuple[Parser, dict[str, Parser]]:
    from rosenblatt import __version__

    parser = Parser("rosenblatt", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"rosenblatt {__version__}")
    parser.add_argument("--verbose", action="store_true", help="with --version: all that a bug report needs")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    parsers = {}
    for verb in VERBS if only is None else (only,):
        module = import_module(f"rosenblatt.cli.{verb}")
        verb_parser = verbs.add_parser(
            verb,
            help=module.HELP,
            description=module.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(verb_parser)
        verb_parser.set_defaults(run=module.run, verb=verb)
        parsers[verb] = verb_parser
    return parser, parsers


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments; options may stand before, behind and between what has no option's name."""
    if words and words[0] in VERBS:
        _, parsers = _build_parsers(words[0])
        return parsers[words[0]].parse_intermixed_args(words[1:])
    parser = _build_parsers()[0]
    if {*words} == {"--version", "--verbose"}:
        from rosenblatt.cli.version import render_versions

        print(render_versions())
        parser.exit()
    return parser.parse_args(words)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; what it returns is the exit code."""
    interrupts = Interrupts()
    try:
        if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # by cli/start.py
            interrupts.listen()
        _open_standard_files()
        with spelling():
            code = _run(sys.argv[1:] if argv is None else argv, interrupts)
        if interrupts.heard:  # and lost upon the way
            raise KeyboardInterrupt
        interrupts.stop_listening()
        return code
    except BaseException as error:
        # What is interrupted while it is being loaded may end by an error of another kind.
        if not interrupts.heard and not isinstance(error, KeyboardInterrupt):
            interrupts.stop_listening()
            raise
        _let_go_of_output()
        interrupts.say()
        return 130


def _run(words: Sequence[str], interrupts: Interrupts) -> int:
    from rosenblatt.errors import ParameterError, RosenblattError

    try:
        args = _parse_and_say(words)
        _check_files(args)
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except (RosenblattError, OSError, MemoryError) as error:
        if interrupts.heard:
            raise
        _let_go_of_output()
        if isinstance(error, BrokenPipeError):  # the reader of our output has enough: not an error
            return 0
        print(f"rosenblatt: {_sentence(error)}", file=sys.stderr)
        return 2 if isinstance(error, ParameterError) else 1


def _parse_and_say(words: Sequence[str]) -> argparse.Namespace:
    """The arguments; where they only ask for help or the version, an error if that cannot be said."""
    try:
        return parse(words)
    except SystemExit:
        sys.stdout.flush()
        raise


def _check_files(args: argparse.Namespace) -> None:
    """Refuse what would overwrite an input or another output, or could not be written."""
    outputs = {option: getattr(args, name, None) for name, option in _OUTPUTS.items()}
    redirected = _is_regular(1)
    if not redirected and not any(outputs.values()):
        return
    from rosenblatt.io.atomic import check_outputs, check_writable
    from rosenblatt.io.source import files_of

    inputs: list[str] = []
    for name in _INPUTS:
        given = getattr(args, name, None)
        inputs += files_of(given) if given is not None and (name != "resume" or not args.checkpoint) else []
    check_outputs(outputs | {"--cache": getattr(args, "cache", None)}, inputs)
    if redirected:
        check_outputs({"the file behind": "/dev/stdout"}, inputs)
    for path in outputs.values():
        if path is not None:
            check_writable(path)


def _is_regular(number: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(number).st_mode)
    except OSError:
        return False


def _sentence(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ImportError):
        return f"{error.filename or 'standard output'}: {error.strerror}"
    notes = [note.replace("skip_bad=True", "--skip-bad") for note in getattr(error, "__notes__", [])]
    text = " ".join("; ".join([str(error), *notes]).split())
    return text if len(text) <= 2000 else f"{text[:1000]} … {text[-900:]}"  # the reason stands at the end


def _open_standard_files() -> None:
    """Standard input and output that were closed must not become the first files that are opened."""
    for number, name, mode in ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_RDONLY)):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                # The wrong way round: reading and writing them stays an error.
                opened = os.open(os.devnull, mode)
                if opened != number:
                    os.dup2(opened, number)
                    os.close(opened)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def _let_go_of_output() -> None:
    """What could not be written is not tried again when Python ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
