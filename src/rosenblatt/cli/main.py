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
from importlib import import_module
from types import FrameType

import click

from rosenblatt.cli.console import drop_pending_output, error_message, escaped_streams, open_standard_streams, say

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
DESCRIPTION = "The perceptron family: exact, fast, streaming, explained."
EPILOG = (
    "Start with `rosenblatt train DATA -o MODEL`, then `rosenblatt predict MODEL DATA`. DATA is a file, glob, folder "
    "or URL; - is stdin. `rosenblatt VERB --help` explains a verb."
)
_PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "safetensors", "rich", "click")
_EXTRAS = ("pandas", "polars", "matplotlib", "onnx", "python-flint", "fsspec", "distributed", "river")


class LazyGroup(click.Group):
    """Imports a verb when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        command: click.Command = import_module(f"rosenblatt.cli.{name}").command
        command.short_help = VERBS[name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    "rosenblatt",
    cls=LazyGroup,
    help=DESCRIPTION,
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
    own_handler = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if own_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        open_standard_streams()
        with escaped_streams():
            return _run(sys.argv[1:] if argv is None else argv)
    finally:
        if own_handler:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends the process at once
    raise KeyboardInterrupt


def _run(words: Sequence[str]) -> int:
    from rosenblatt.errors import ParameterError, RosenblattError

    try:
        code = _invoke(words)
        sys.stdout.flush()
        return code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "rosenblatt"
        message = " ".join(error.format_message().split()).removesuffix(".")
        print(f"{path}: {message}; see `{path} --help`", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        drop_pending_output()
        say("interrupted")
        return 130
    except (RosenblattError, OSError, MemoryError) as error:
        drop_pending_output()
        if isinstance(error, BrokenPipeError):  # the reader of our output has seen enough
            return 0
        say(error_message(error))
        return 2 if isinstance(error, ParameterError) else 1


def _invoke(words: Sequence[str]) -> int:
    if "_ROSENBLATT_COMPLETE" in os.environ:
        command.main(prog_name="rosenblatt")
    try:  # not `command.main`, which has exit codes of its own
        with command.make_context("rosenblatt", list(words)) as ctx:
            return command.invoke(ctx) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code


def render_versions() -> str:
    """What a bug report needs: versions, the engine, the machine; no name of a user or a file."""
    import platform

    from rosenblatt import __version__, engine

    lines = [
        ("rosenblatt", __version__),
        ("engine", f"{engine.ISA}, {os.cpu_count()} CPUs, {platform.machine()}, {sys.byteorder}-endian"),
        ("python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("system", f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver()) or 'no glibc'}"),
        *((name, _version(name) or "missing") for name in _PACKAGES),
        *((name, version) for name in _EXTRAS if (version := _version(name))),
    ]
    return "\n".join(f"{name:13} {text}" for name, text in lines)


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
