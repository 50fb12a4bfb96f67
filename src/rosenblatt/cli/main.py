"""The command's entry: finds the verb, runs it, and turns errors into one sentence and an exit code.

Invariant: a verb is a module with a click command `command`; it is imported only when it is used, and imports NumPy and
what builds on it only when it runs. Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from rosenblatt.cli.console import drop_pending_output, echo, error_message, open_standard_streams, say

VERBS = {
    "train": "learn a model from files of any size",
    "predict": "predict the label of every row of a file or a pipe",
    "evaluate": "measure a model on labeled data",
    "inspect": "show what is in a model file",
    "export": "write a model as ONNX, JSON or a C header",
    "compare": "compare the learners, and scikit-learn's, on your data",
    "tune": "try rules and parameters by cross-validation",
    "certify": "decide whether data is linearly separable, with a proof",
    "trace": "follow the perceptron step by step",
    "serve": "serve a model that predicts and learns over HTTP",
    "replay": "rebuild a model from a server's log, or compare learners on it",
    "play": "watch a perceptron learn, in the browser",
    "teach": "copy the course to a folder, or grade notebooks",
    "demo": "train and evaluate the family on real data",
}
EPILOG = (
    "Start with `rosenblatt train DATA -o MODEL`, then `rosenblatt predict MODEL DATA`. DATA is a file, glob, folder "
    "or URL; - is stdin. `rosenblatt VERB --help` explains a verb."
)


class LazyGroup(click.Group):
    """Imports a verb when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return import_module(f"rosenblatt.cli.{name}").command if name in VERBS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] not in VERBS and (near := get_close_matches(args[0], VERBS, 1)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    "rosenblatt",
    cls=LazyGroup,
    help="The perceptron family: exact, fast, streaming, explained.",
    epilog=EPILOG,
    invoke_without_command=True,
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)
@click.option("--version", is_flag=True, help="show the version")
@click.option("--verbose", is_flag=True, help="with --version: show everything a bug report needs")
@click.pass_context
def command(ctx: click.Context, version: bool, verbose: bool) -> None:
    if version:
        from rosenblatt import __version__

        click.echo(render_versions() if verbose else f"rosenblatt {__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    is_main = threading.current_thread() is threading.main_thread()
    if own_handler := is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook, report = _interrupt_again, sys.unraisablehook
    try:
        open_standard_streams()
        return _run(sys.argv[1:] if argv is None else argv)
    finally:
        if own_handler:
            sys.unraisablehook = report
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends the process at once
    raise KeyboardInterrupt


def _interrupt_again(ignored: sys.UnraisableHookArgs) -> None:
    """Send an interrupt anew that fell into a destructor or an import's callback, where Python only reports it."""
    if not isinstance(ignored.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGINT, _interrupt)
    threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()


def _run(words: Sequence[str]) -> int:
    from rosenblatt.errors import ParameterError, RosenblattError

    if "_ROSENBLATT_COMPLETE" in os.environ:
        command.main(prog_name="rosenblatt")
    try:  # not `command.main`, which has exit codes of its own
        with command.make_context("rosenblatt", list(words)) as ctx:
            code = command.invoke(ctx) or 0
        sys.stdout.flush()
        return code
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "rosenblatt"
        message = " ".join(error.format_message().split()).removesuffix(".")
        echo(f"{path}: {message}; see `{path} --help`", file=sys.stderr)
        return 2
    except (RosenblattError, OSError, MemoryError) as error:
        drop_pending_output()
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            return 0
        say(error_message(error))
        return 2 if isinstance(error, ParameterError) else 1
    except (KeyboardInterrupt, ImportError, RuntimeError) as error:
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__cause__, KeyboardInterrupt):
            raise  # a module interrupted while it loads raises one of the others from the interrupt
        drop_pending_output()
        say("interrupted")
        return 130


def render_versions() -> str:
    """The facts for a bug report: versions, engine, machine; no name of a user or a file."""
    import platform
    import re
    from importlib.metadata import PackageNotFoundError, requires, version

    from rosenblatt import __version__, engine

    lines = {
        "rosenblatt": __version__,
        "engine": f"{engine.ISA}, {os.cpu_count()} CPUs, {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
    }
    for name in re.findall(r"^[\w.-]+", "\n".join(requires("rosenblatt") or ()), re.MULTILINE):
        with suppress(PackageNotFoundError):
            lines[name] = version(name)
    return "\n".join(f"{name:18} {text}" for name, text in lines.items())


def verb_contexts() -> dict[str, click.Context]:
    """A context of each verb, for its help in the documentation."""
    group = click.Context(command, info_name="rosenblatt")
    return {verb: click.Context(command.get_command(group, verb), group, info_name=verb) for verb in VERBS}  # type: ignore[arg-type]
