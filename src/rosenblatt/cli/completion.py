"""Print what lets a shell complete verbs, options and their values.

    rosenblatt completion bash > ~/.local/share/bash-completion/completions/rosenblatt
    rosenblatt completion zsh > ~/.zfunc/_rosenblatt

The script is made once, so that completing starts no Python. Make it again after an update.
"""

from __future__ import annotations

import argparse

HELP = "print a script that completes verbs and options in your shell"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"), help="the shell that you use")


def run(args: argparse.Namespace) -> int:
    from rosenblatt.cli.main import build_parser
    from rosenblatt.errors import MissingExtraError

    try:
        import shtab
    except ImportError:
        raise MissingExtraError("shtab", "completion") from None
    print(shtab.complete(build_parser(), shell=args.shell))
    return 0
