"""The short forms of tools/kills.py and tools/interrupts.py, and interrupts that random moments rarely meet."""

import subprocess
import sys
from pathlib import Path

import pytest
from command import python
from length import up_to

TOOLS = Path(__file__).parents[3] / "tools"


@pytest.mark.long
def test_killed_runs_are_resumed_to_the_same_bytes() -> None:
    """In a process of its own, since it forks. A run counts only if it was killed with a checkpoint, before its end."""
    kills = up_to(40, short=5)
    done = subprocess.run([sys.executable, str(TOOLS / "kills.py"), str(kills)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert int(last.split()[0]) >= kills
    assert ", 0 wrong;" in last


@pytest.mark.long
def test_ctrl_c_at_random_moments_is_one_sentence_or_silence() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOLS / "interrupts.py"), str(up_to(40, short=3))], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 wrong:" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(("strikes", "code", "message"), [(1, 130, "rosenblatt: interrupted\n"), (2, -2, "")])
def test_the_first_ctrl_c_ends_with_one_line_and_the_second_at_once(strikes: int, code: int, message: str) -> None:
    program = (
        "import os, signal, sys, time\n"
        "from rosenblatt.cli.main import command, main\n"
        "def strike(*_, **__):\n"
        "    try:\n        os.kill(os.getpid(), signal.SIGINT)\n        time.sleep(60)\n"
        f"    finally:\n        [os.kill(os.getpid(), signal.SIGINT) for _ in range({strikes - 1})]\n"
        "command.invoke = strike\n"
        "sys.exit(main([]))\n"
    )
    done = python(program, check=code)
    assert (done.stdout, done.stderr) == ("", message)


def test_an_interrupt_while_a_class_is_made_is_one_line() -> None:
    program = (
        "import os, signal, sys\n"
        "from rosenblatt.cli.main import command, main\n"
        "class Strike:\n"
        "    def __set_name__(self, owner, name):\n        os.kill(os.getpid(), signal.SIGINT)\n"
        "command.invoke = lambda *_, **__: type('Owner', (), {'attribute': Strike()})\n"
        "sys.exit(main([]))\n"
    )
    assert python(program, check=130).stderr == "rosenblatt: interrupted\n"


def test_a_background_job_ignores_the_interrupts_of_its_terminal() -> None:
    code = (
        "import signal, rosenblatt.cli.main as m; m.command.invoke = lambda *_, **__: "
        "print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN); m.main([])"
    )
    words = ["bash", "-c", f'trap "" INT; exec "{sys.executable}" -c "{code}"']
    assert subprocess.run(words, capture_output=True, text=True).stdout == "True\n"
