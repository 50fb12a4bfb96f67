"""The short form of `tools/interrupts.py`, and the interrupts that random moments rarely meet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from length import up_to

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.long
def test_ctrl_c_at_random_moments_is_one_sentence_or_silence() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOLS / "interrupts.py"), str(up_to(40, short=4))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 wrong:" in done.stdout.splitlines()[-1]


# Where the interrupt comes: upon a callback, whose exceptions Python prints and forgets; in a long call of a library;
# in code that swallows every exception; twice.
MOMENTS = {
    "callback": "class Gone:\n    def __del__(self): strike()\ngone = Gone()\ndel gone",
    "library": "import threading, hashlib\nthreading.Timer(0.2, strike).start()\n"
    "hashlib.pbkdf2_hmac('sha256', b'', b'', 1 << 30)",
    "swallowed": "try:\n    strike()\nexcept BaseException:\n    pass",
    "twice": "try:\n    strike()\nfinally:\n    strike()",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_ends_the_command_wherever_it_comes(moment: str) -> None:
    code = (
        "import os, signal, sys, time\n"
        "import rosenblatt.cli.start\n"
        "from rosenblatt.cli import interrupt, main\n"
        "interrupt.PATIENCE = 0.5\n"
        "def strike(): os.kill(os.getpid(), signal.SIGINT)\n"
        f"def run(*_):\n    exec({MOMENTS[moment]!r}, globals())\n    time.sleep(60)\n"
        "main._run = run\n"
        "sys.exit(main.main([]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "rosenblatt: interrupted\n")


def test_an_interrupt_after_the_last_line_is_silent() -> None:
    code = (
        "import os, signal, sys\n"
        "from rosenblatt.cli.start import start\n"
        "sys.argv = ['rosenblatt', 'completion', 'bash']\n"
        "assert start() == 0\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-2, "")


def test_a_job_in_the_background_does_not_hear_the_interrupts_of_its_terminal() -> None:
    code = "import rosenblatt.cli.start, signal; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    words = ["bash", "-c", f'trap "" INT; exec "{sys.executable}" -c "{code}"']
    assert subprocess.run(words, capture_output=True, text=True).stdout == "True\n"
