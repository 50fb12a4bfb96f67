"""The command as a user runs it."""

import contextlib
import io
import json
import subprocess
import sys

from rosenblatt.cli.main import main

COMMAND = [sys.executable, "-m", "rosenblatt"]


def run(*words, check=0, input=None):
    """Run the command: in a process of its own where it reads standard input."""
    words = [str(word) for word in words]
    if input is not None:
        done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, input=input)
    else:
        out, err = (io.TextIOWrapper(io.BytesIO(), write_through=True) for _ in range(2))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words)
            except SystemExit as stop:  # argparse
                code = stop.code
        texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
        done = subprocess.CompletedProcess(words, code, *texts)
    assert done.returncode == check, done.stderr
    return done


def train(*words, **options):
    return json.loads(run("train", *words, "--json", "--quiet", **options).stdout)
