"""The command `rosenblatt`.

Invariant: a verb's module is imported only if it is asked for, so that ``--help`` is quick. Results go to standard output,
everything else to standard error. Exit codes: 0 done, 1 it failed and one sentence says why, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

VERBS = ("train", "predict", "evaluate", "inspect", "export", "demo")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in given if not word.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="rosenblatt", description="The perceptron family: a file in, a model and a verdict out."
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    for verb in VERBS:
        if find_spec(f"rosenblatt.cli.{verb}") is None:
            continue
        if verb != asked:
            verbs.add_parser(verb, help=_help_of(verb))
            continue
        module = import_module(f"rosenblatt.cli.{verb}")
        module.add_arguments(verbs.add_parser(verb, help=module.HELP, description=module.HELP))
    args = parser.parse_args(given)
    if args.version:
        from rosenblatt import __version__

        print(__version__)
        return 0
    if args.verb is None:
        parser.print_help()
        return 2
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    from rosenblatt.errors import RosenblattError

    try:
        code: int = import_module(f"rosenblatt.cli.{args.verb}").run(args)
        sys.stdout.flush()
        return code
    except RosenblattError as error:
        print(f"rosenblatt: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("rosenblatt: interrupted", file=sys.stderr)
        return 130
    except MemoryError:
        print("rosenblatt: there is not enough memory", file=sys.stderr)
        return 1


def _help_of(verb: str) -> str:
    """The HELP of a verb's module, without importing it."""
    for node in ast.parse((Path(__file__).parent / f"{verb}.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "HELP":
            return str(ast.literal_eval(node.value))
    return ""
