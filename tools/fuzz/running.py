"""Runs the command on something hostile, and says how it ended, how long it took and how much memory it held.

The command runs in a forked child: it ends alone, and need not be loaded again.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import traceback
from dataclasses import dataclass
from typing import Any

KINDS = ("tried", "refused", "crashed", "hung", "wrong")
Counts = dict[str, int]


def new_counts() -> Counts:
    return dict.fromkeys(KINDS, 0)


@dataclass
class Ended:
    """fine, refused, crashed (by a signal or a traceback) or hung; with seconds of CPU and the most bytes held."""

    how: str
    said: str
    seconds: float
    memory: int


class Running:
    """The command with these words, at work."""

    def __init__(self, *words: object) -> None:
        import rosenblatt.cli.main

        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.child = os.fork()
        if self.child == 0:
            _work(rosenblatt.cli.main.main, list(map(str, words)), self._errors.fileno())

    def end(self, seconds: float = 60.0) -> Ended:
        """Wait for its end; more than so many seconds of CPU is a hang."""
        stuck: list[bool] = []

        def kill() -> None:
            stuck.append(True)
            os.kill(self.child, 9)

        timer = threading.Timer(20 * seconds, kill)
        timer.start()
        _, status, used = os.wait4(self.child, 0)
        timer.cancel()
        with self._errors as errors:
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")
        code, spent = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        how = "fine" if code == 0 else "refused"
        if spent > seconds or stuck:
            how = "hung"
        elif code < 0 or "Traceback" in said:
            how = "crashed"
        return Ended(how, said, spent, used.ru_maxrss << 10)


def run(*words: object, seconds: float = 60.0) -> Ended:
    """The command with these words, to its end."""
    return Running(*words).end(seconds)


def _work(main: Any, words: list[str], errors: int) -> None:
    """In the child: nothing to read, answers to nowhere, errors to a file."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number, to in ((0, nowhere), (1, nowhere), (2, errors)):
        os.dup2(to, number)
    code = 1
    try:
        code = main(words)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
