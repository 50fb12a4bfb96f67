"""The command, run in this process; and its runs cut short after a number of checkpoints."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from unittest import mock

from rosenblatt.cli.main import main


def run(*words, expect=0):
    """What the command wrote to standard output."""
    out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(word) for word in words])
    assert code == expect, err.buffer.getvalue().decode()
    return out.buffer.getvalue().decode()


def run_piped(*words, lines):
    """The same in a process of its own, which reads these lines from standard input."""
    command = [sys.executable, "-m", "rosenblatt", *(str(word) for word in words)]
    return subprocess.run(command, input=lines, stdout=subprocess.PIPE, check=True).stdout


def run_interrupted(*words, checkpoint, after):
    """Run ``train`` and interrupt it where it is about to put checkpoint number `after` + 1 in place."""
    replace, written = os.replace, 0

    def counting(source, target, **given):
        nonlocal written
        if os.fspath(target) == os.fspath(checkpoint):
            written += 1
            if written > after:
                raise KeyboardInterrupt
        replace(source, target, **given)

    with mock.patch("os.replace", counting):
        run("train", *words, "--quiet", "--checkpoint", checkpoint, "--checkpoint-every", "0s", expect=130)
